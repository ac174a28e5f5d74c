//! What the build files around the sources say of the heap: flags of `nvc++` make its memory the device's, too.

use crate::compile_commands::makes_heap_shared;
use crate::project::Source;
use cudalint_files::read_text;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Build files whose text says what they do.
const NAMES: [&str; 4] = ["Makefile", "makefile", "GNUmakefile", "CMakeLists.txt"];

/// The folders whose build files give such flags, among those of the sources and, within a project, the folders above them.
pub fn sharing_folders(root: Option<&Path>, sources: &[Source]) -> Vec<PathBuf> {
    let mut seen: FxHashSet<&Path> = FxHashSet::default();
    let mut found = Vec::new();
    for folder in sources.iter().filter_map(|source| source.real.parent()) {
        let above = folder.ancestors().skip(1).take_while(|above| root.is_some_and(|root| above.starts_with(root)));
        for folder in std::iter::once(folder).chain(above) {
            if !seen.insert(folder) {
                break;
            }
            if NAMES.iter().any(|name| says_so(&folder.join(name))) {
                found.push(folder.to_owned());
            }
        }
    }
    found
}

/// Whether a build file gives such a flag in a line that is no comment.
fn says_so(file: &Path) -> bool {
    let Ok(text) = read_text(file) else { return false };
    let ends = |letter: char| letter.is_whitespace() || "\"'();>".contains(letter);
    text.lines()
        .map(|line| line.split('#').next().unwrap_or(""))
        .any(|line| (line.contains("-stdpar") || line.contains("-gpu=")) && line.split(ends).any(makes_heap_shared))
}
