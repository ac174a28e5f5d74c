//! Paths of files: which file they mean, and how output shows them.

use cudalint_findings::names;
use std::path::{Component, Path, PathBuf};

/// The real path, or, where there is no such file, the one that it would have.
pub fn real_path(path: &Path) -> PathBuf {
    let in_its_folder = || {
        let whole = std::path::absolute(path)?;
        match (whole.parent(), whole.file_name()) {
            (Some(folder), Some(name)) => Ok(std::fs::canonicalize(folder).map_or(whole.clone(), |it| it.join(name))),
            _ => Ok(whole),
        }
    };
    std::fs::canonicalize(path)
        .or_else(|_: std::io::Error| in_its_folder())
        .unwrap_or_else(|_: std::io::Error| path.to_owned())
}

/// The real path of one as output shows it.
pub fn shown_path(shown: &str) -> PathBuf {
    real_path(&names::path(shown))
}

/// The path without `.` parts.
pub fn tidy(path: &Path) -> PathBuf {
    let tidy: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
    if tidy.as_os_str().is_empty() { PathBuf::from(".") } else { tidy }
}

/// A path without `.` and `..`, as it is written.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// A path as output shows it: `/` on every system.
pub fn display(path: &Path) -> String {
    let text = names::text(&tidy(path));
    if std::path::MAIN_SEPARATOR == '/' { text } else { text.replace(std::path::MAIN_SEPARATOR, "/") }
}

/// A real path as output shows it when nobody named it: as seen from `folder`, or whole when `absolute`.
pub fn display_from(real: &Path, folder: &Path, absolute: bool) -> String {
    if absolute {
        return display(real);
    }
    let mut up = PathBuf::new();
    for ancestor in folder.ancestors() {
        if let Ok(below) = real.strip_prefix(ancestor) {
            return display(&up.join(below));
        }
        up.push("..");
    }
    display(real)
}

#[cfg(test)]
mod tests {
    use super::display_from;
    use std::path::Path;

    #[test]
    fn a_path_nobody_named_is_shown_as_seen_from_here() {
        let shown = |real: &str, absolute| display_from(Path::new(real), Path::new("/home/me/code"), absolute);
        assert_eq!(shown("/home/me/code/src/a.cu", false), "src/a.cu");
        assert_eq!(shown("/home/me/lib/a.cuh", false), "../lib/a.cuh");
        assert_eq!(shown("/home/me/lib/a.cuh", true), "/home/me/lib/a.cuh");
    }
}
