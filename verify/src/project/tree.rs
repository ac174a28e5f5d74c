//! The copy of a project that is built.

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_file;
use std::fs::{File, FileTimes};
use std::io::Read as _;
use std::time::{Duration, SystemTime};

/// Files that are copied.
const FILES: usize = 50_000;
/// Bytes that are copied.
const BYTES: u64 = 4 << 30;
/// A larger file is data, and stays where it is: a link stands for it.
const LARGE: u64 = 32 << 20;
/// Folders below one another.
const DEPTH: usize = 64;

/// Folders that no build reads.
const SKIPPED: &[&str] = &[".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".cudalint_cache"];

/// How far a copy has come.
#[derive(Default)]
struct Copied {
    files: usize,
    bytes: u64,
}

/// Copies a project. What an earlier build has left is older than every source then, so that `make` makes it anew; folders
/// that `CMake` has configured are left out.
///
/// # Errors
/// Which file cannot be copied and why, or that there is too much.
pub(super) fn copy(from: &Utf8Path, to: &Utf8Path, except: &Utf8Path) -> Result<(), String> {
    drop(std::fs::remove_dir_all(to));
    std::fs::create_dir_all(to).map_err(|error| format!("{to}: {error}"))?;
    let mut copied = Copied::default();
    let mut open = vec![(from.to_owned(), to.to_owned(), 0)];
    while let Some((from_folder, to_folder, depth)) = open.pop() {
        let entries = from_folder.read_dir_utf8().map_err(|error| format!("{from_folder}: {error}"))?;
        for entry in entries.flatten() {
            let (source, target) = (entry.path().to_owned(), to_folder.join(entry.file_name()));
            let broken = |error: std::io::Error| format!("{source} cannot be copied: {error}");
            let about = source.symlink_metadata().map_err(broken)?;
            if about.is_symlink() {
                link(&source, &target, from).map_err(broken)?;
            } else if about.is_dir() {
                let skipped = SKIPPED.contains(&entry.file_name()) || source == except || is_made(&source);
                if !skipped && depth < DEPTH {
                    std::fs::create_dir(&target).map_err(broken)?;
                    open.push((source, target, depth + 1));
                }
            } else if about.is_file() && about.len() > LARGE && !is_object(&source) {
                link_to(&source, &target).map_err(broken)?;
            } else if about.is_file() {
                copied.files += 1;
                copied.bytes += about.len();
                if copied.files > FILES || copied.bytes > BYTES {
                    return Err(format!(
                        "{from} is too large to be copied (more than {FILES} files or {} GiB): give it a build folder of \
                         its own, as in `--build \"cmake -S . -B {{build}} && cmake --build {{build}}\"`",
                        BYTES >> 30
                    ));
                }
                std::fs::copy(&source, &target).map_err(broken)?;
                let old = SystemTime::UNIX_EPOCH + Duration::from_secs(24 * 3600);
                let time = if is_object(&source) { old } else { about.modified().unwrap_or(SystemTime::now()) };
                // A file that may not be written keeps the time of its copy.
                if let Ok(file) = File::options().append(true).open(&target) {
                    drop(file.set_times(FileTimes::new().set_modified(time)));
                }
            }
        }
    }
    Ok(())
}

/// A link to the same, in the copy where it leads to a file of the project.
#[cfg(unix)]
fn link(source: &Utf8Path, target: &Utf8Path, from: &Utf8Path) -> std::io::Result<()> {
    let leads = std::fs::read_link(source)?;
    let whole = source.parent().unwrap_or(from).as_std_path().join(&leads);
    let inside = std::fs::canonicalize(&whole).is_ok_and(|path| path.starts_with(from));
    std::os::unix::fs::symlink(if inside && leads.is_relative() { &leads } else { &whole }, target)
}

#[cfg(unix)]
fn link_to(source: &Utf8Path, target: &Utf8Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(source, target)
}

#[cfg(not(unix))]
fn link(_: &Utf8Path, _: &Utf8Path, _: &Utf8Path) -> std::io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
fn link_to(source: &Utf8Path, target: &Utf8Path) -> std::io::Result<()> {
    std::fs::copy(source, target).map(drop)
}

/// Whether a folder is what cudalint, `CMake` or Python's `venv` has made.
fn is_made(folder: &Utf8Path) -> bool {
    let ours = || {
        let run = read_file(folder.join("run.json").as_std_path()).ok();
        run.is_some_and(|text| String::from_utf8_lossy(&text).contains("\"tool\": \"cudalint\""))
    };
    ["CMakeCache.txt", "pyvenv.cfg"].iter().any(|name| folder.join(name).is_file()) || ours()
}

/// Whether a file is a program, a library or an object.
fn is_object(path: &Utf8PathBuf) -> bool {
    let mut head = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok()
        && (head == *b"\x7fELF" || head == *b"!<ar")
}
