//! What a program and all that it starts take: memory, processes, and space in the folders that are watched.

use super::order::Bounds;
use super::processes::descendants;
use camino::Utf8Path;
use nix::unistd::Pid;
use std::os::unix::fs::MetadataExt;

/// Looks at processes between two looks at the disk, which takes longer.
const LOOKS: u32 = 5;
/// Files below a folder; more are as bad as too many bytes.
const FILES: usize = 100_000;

/// How far a program is from its bounds.
#[derive(Debug)]
pub(super) struct Usage<'order> {
    bounds: &'order Bounds,
    /// What lay in the folders when the program began.
    before: u64,
    looks: u32,
}

impl<'order> Usage<'order> {
    pub fn of(bounds: &'order Bounds) -> Self {
        Self { bounds, before: space(bounds).unwrap_or_default(), looks: 0 }
    }

    /// Which bound the program goes beyond, in words that follow its name.
    pub fn beyond(&mut self) -> Option<String> {
        let processes = descendants();
        if processes.len() > self.bounds.processes {
            return Some(format!("had more than {} processes at one time and was ended", self.bounds.processes));
        }
        if memory(&processes) > self.bounds.memory_bytes {
            return Some(format!("took more than {} of memory and was ended", amount(self.bounds.memory_bytes)));
        }
        self.looks += 1;
        if !self.looks.is_multiple_of(LOOKS) {
            return None;
        }
        match space(self.bounds) {
            None => Some(format!("left more than {FILES} files in its folder and was ended")),
            Some(now) if now.saturating_sub(self.before) > self.bounds.disk_bytes => {
                Some(format!("wrote more than {} into its folder and was ended", amount(self.bounds.disk_bytes)))
            }
            Some(_) => None,
        }
    }
}

/// Bytes of memory that these processes hold: what is their own, and the largest part that they may share. The address
/// space says nothing here: CUDA reserves far more than there is.
fn memory(processes: &[Pid]) -> u64 {
    let (mut own, mut shared) = (0, 0);
    for process in processes {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let bytes = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).map_or(0, |kib| kib << 10)
        };
        own += bytes("RssAnon") + bytes("VmSwap");
        shared = shared.max(bytes("RssShmem"));
    }
    own + shared
}

/// Bytes that the folders take on the disk; none when they hold too many files to look at. Links are not followed.
fn space(bounds: &Bounds) -> Option<u64> {
    let mut open: Vec<_> = bounds.folders.clone();
    let (mut bytes, mut files) = (0, 0);
    while let Some(folder) = open.pop() {
        for entry in Utf8Path::read_dir_utf8(&folder).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES {
                return None;
            }
            let Ok(about) = entry.path().symlink_metadata() else { continue };
            if about.is_dir() {
                open.push(entry.into_path());
            } else {
                // Blocks, not the length: a file with holes takes less.
                bytes += about.blocks() * 512;
            }
        }
    }
    Some(bytes)
}

/// A number of bytes for people.
fn amount(bytes: u64) -> String {
    match bytes {
        0..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
