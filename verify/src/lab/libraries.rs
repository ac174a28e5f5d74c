//! Libraries that are there under the name of their version alone: packages of Python have `libnvrtc.so.13`, a driver without
//! its development files `libcuda.so.1`, and the linker asks for `libnvrtc.so` and `libcuda.so`.

use camino::{Utf8Path, Utf8PathBuf};

/// Where a system has its libraries.
const SYSTEM: [&str; 4] = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];

/// The flags with which the linker finds the libraries that `flags` ask for (`-lnvrtc`) and has no name for, and the program
/// finds those of the toolkit's `folder` when it runs. Their names are put into a folder of the lab's.
pub(super) fn named(flags: &[String], folder: Option<&Utf8Path>, lab: &Utf8Path) -> Vec<String> {
    let names = lab.join("libraries");
    let places: Vec<Utf8PathBuf> =
        folder.map(Utf8Path::to_owned).into_iter().chain(SYSTEM.map(Utf8PathBuf::from)).collect();
    let mut added = Vec::new();
    for library in flags.iter().filter_map(|flag| flag.strip_prefix("-l")) {
        let Some(file) = versioned(library, &places) else { continue };
        let name = names.join(format!("lib{library}.so"));
        // Another build may have put it there.
        if link(&file, &name).is_err() && !name.exists() {
            continue;
        }
        let own = file.parent().filter(|own| folder == Some(*own));
        // NVRTC opens a library of its own beside it, which only the older kind of path is looked through for.
        let path = own.map(|own| ["--disable-new-dtags".to_owned(), format!("-rpath={own}")]);
        let path = path.into_iter().flatten().flat_map(|word| ["-Xlinker".to_owned(), word]);
        added.extend(std::iter::once(format!("-L{names}")).chain(path));
    }
    added
}

/// The file of a library that has no name for the linker in any of the folders.
fn versioned(library: &str, places: &[Utf8PathBuf]) -> Option<Utf8PathBuf> {
    let known = |place: &Utf8PathBuf| ["so", "a"].iter().any(|end| place.join(format!("lib{library}.{end}")).exists());
    if places.iter().any(known) {
        return None;
    }
    let start = format!("lib{library}.so.");
    let beside = |place: &Utf8PathBuf| {
        let entries = place.read_dir_utf8().ok()?.flatten().filter(|entry| entry.file_name().starts_with(&start));
        // The shortest is the one that programs ask for: `libcuda.so.1`, and not `libcuda.so.580.65.06`.
        entries.map(camino::Utf8DirEntry::into_path).min_by_key(|file| (file.as_str().len(), file.clone()))
    };
    places.iter().find_map(beside)
}

#[cfg(unix)]
fn link(from: &Utf8Path, to: &Utf8Path) -> std::io::Result<()> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn link(_: &Utf8Path, _: &Utf8Path) -> std::io::Result<()> {
    Err(std::io::Error::other("links of files need Unix"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::named;
    use camino::Utf8Path;

    #[test]
    fn a_library_of_a_version_gets_a_name_and_one_with_a_name_does_not() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
        let root = Utf8Path::from_path(folder.path()).unwrap_or(Utf8Path::new(""));
        for file in ["libmine-of-a-test.so.13", "libmine-of-a-test.so.13.0.88", "libother-of-a-test.a"] {
            assert!(std::fs::write(root.join(file), "").is_ok());
        }
        let flags = ["-lmine-of-a-test", "-lother-of-a-test", "-lnowhere-of-a-test"].map(str::to_owned);
        let lab = root.join("lab");
        let added = named(&flags, Some(root), &lab);
        let path = format!("-rpath={root}");
        assert_eq!(added, [&format!("-L{lab}/libraries"), "-Xlinker", "--disable-new-dtags", "-Xlinker", &path]);
        let name = lab.join("libraries/libmine-of-a-test.so");
        assert_eq!(name.read_link_utf8().ok(), Some(root.join("libmine-of-a-test.so.13")));
        // A second build finds it there.
        assert_eq!(named(&flags, Some(root), &lab).len(), 5);
    }
}
