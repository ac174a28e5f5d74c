//! Reads files that somebody else put there: regular files only, never waiting, never more than a source may have.
//!
//! A source tree that comes from elsewhere may hold a pipe that is called `a.cu`, or a link to a device, to a file that the
//! kernel makes up, or out of the tree. Whoever reads a file of a project comes through here.

use cudalint_syntax::{MAX_SOURCE_BYTES, SourceProblem};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Reads a file.
///
/// # Errors
/// When it cannot be read, is no regular file, is one that the kernel makes up, or is too large.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let (file, meta) = open(path)?;
    let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
    // What it holds may be more than its size says.
    file.take(MAX_SOURCE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_SOURCE_BYTES { Err(too_large(bytes.len())) } else { Ok(bytes) }
}

/// As [`read_file`], as text.
///
/// # Errors
/// As [`read_file`], and when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_file(path)?).map_err(|_| io::Error::other("not UTF-8"))
}

/// Whether [`read_file`] would read it, as far as can be told without reading.
///
/// # Errors
/// As [`read_file`].
pub fn can_be_read(path: &Path) -> io::Result<()> {
    open(path).map(drop)
}

/// Opens a file without waiting for who may be at its other end, and looks at what was opened: by its name it may have been
/// another a moment before.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((nix::fcntl::OFlag::O_NONBLOCK | nix::fcntl::OFlag::O_NOCTTY).bits());
    }
    // Opening a device may already do something: a tape rewinds.
    let regular = |meta: &Metadata| if meta.is_file() { Ok(()) } else { Err(not_regular()) };
    regular(&std::fs::metadata(path)?)?;
    let file = options.open(path)?;
    let meta = file.metadata()?;
    regular(&meta)?;
    if meta.len() > MAX_SOURCE_BYTES as u64 {
        return Err(too_large(meta.len() as usize));
    }
    if holds_nothing(&meta) && std::fs::canonicalize(path).is_ok_and(|real| is_made_up(&real)) {
        return Err(not_regular());
    }
    Ok((file, meta))
}

fn not_regular() -> io::Error {
    io::Error::other("not a regular file")
}

fn too_large(bytes: usize) -> io::Error {
    io::Error::other(SourceProblem::TooLarge { bytes })
}

/// Whether a file has no place on a disk, as those that are made up have none, whatever their size says.
fn holds_nothing(meta: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        meta.blocks() == 0
    }
    #[cfg(not(unix))]
    {
        meta.len() == 0
    }
}

/// Whether a real path is where the kernel makes files up when they are read.
fn is_made_up(real: &Path) -> bool {
    cfg!(unix) && ["/proc", "/sys", "/dev"].iter().any(|folder| real.starts_with(folder))
}

/// The folders that files of a project may be read from: its own, and those that its build includes from.
#[derive(Clone, Debug, Default)]
pub struct Bounds(Vec<PathBuf>);

impl Bounds {
    /// The bounds of a project with its root, where one is known, and its include folders. All are real paths.
    pub fn new(root: Option<&Path>, includes: &[PathBuf]) -> Self {
        // A part of a repository that is a project by itself includes from the whole of it.
        let whole = root.map(|root| root.ancestors().find(|above| above.join(".git").exists()).unwrap_or(root));
        Self(whole.map(Path::to_owned).into_iter().chain(includes.iter().cloned()).collect())
    }

    /// Bounds that hold every path, for texts that are no files of a disk.
    pub fn everywhere() -> Self {
        Self(vec![PathBuf::new()])
    }

    /// Whether a real path is inside.
    pub fn hold(&self, real: &Path) -> bool {
        self.0.iter().any(|folder| real.starts_with(folder))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read_file(folder.path()).unwrap_err().to_string(), "not a regular file");
        let file = folder.path().join("a.cu");
        std::fs::write(&file, "int a;").unwrap();
        assert_eq!(read_file(&file).unwrap(), b"int a;");
        std::fs::write(&file, b"\xff").unwrap();
        assert_eq!(read_text(&file).unwrap_err().to_string(), "not UTF-8");
        File::create(&file).unwrap().set_len(MAX_SOURCE_BYTES as u64 + 1).unwrap();
        assert!(read_file(&file).unwrap_err().to_string().contains("larger than the limit"));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_what_the_kernel_makes_up_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("a.cu");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let link = folder.path().join("b.cu");
        std::os::unix::fs::symlink("/proc/self/environ", &link).unwrap();
        for path in [&pipe, &link, Path::new("/dev/zero"), Path::new("/proc/self/maps")] {
            if path.exists() {
                assert_eq!(read_file(path).unwrap_err().to_string(), "not a regular file", "{path:?}");
                assert!(can_be_read(path).is_err());
            }
        }
    }

    #[test]
    fn bounds_are_the_whole_repository_and_the_include_folders() {
        let folder = tempfile::tempdir().unwrap();
        let (all, part) = (folder.path(), folder.path().join("part"));
        std::fs::create_dir_all(all.join(".git")).unwrap();
        let bounds = Bounds::new(Some(&part), &["/opt/include".into()]);
        assert!(bounds.hold(&all.join("include/a.h")) && bounds.hold(Path::new("/opt/include/a/b.h")));
        assert!(!bounds.hold(Path::new("/opt/includes/a.h")));
        assert!(!Bounds::default().hold(all) && Bounds::everywhere().hold(all));
    }
}
