//! Which file a build file means where several have the name: the one beside it, unless it leads to another folder. And makefiles that lie
//! where they cannot work: the sources that they name by a way are not there, but below another folder, from which they were copied.

use crate::others::{Other, words_at};
use crate::paths::without_dots;
use crate::roles::{COMPILED, Role};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Words with which a build looks for sources in other folders than it says beside their names.
const ELSEWHERE: [&str; 8] = ["vpath", "VPATH", "addprefix", "cd ", "chdir", "pushd", "-C ", "WORKING_DIRECTORY"];

/// Whether a byte belongs to a way that is spelled out, be it with the marks of Windows.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+./\\".contains(&byte)
}

/// The way as it is spelled, made one of slashes.
fn way(text: &str) -> String {
    text.replace('\\', "/")
}

/// Whether a build file's text means another file than the one of this name in a folder: one lies beside the build file, which does not
/// lead to that folder. `sources`: the real paths of the project's sources.
pub(crate) fn means_another(build: &Other, folder: &Path, name: &str, sources: &FxHashSet<&Path>) -> bool {
    let (own, text) = (build.folder(), &*build.text);
    let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
    if build.role != Role::Build || folder == own || !sources.contains(&*own.join(name)) {
        return false;
    }
    let last = folder.file_name().and_then(|last| last.to_str()).unwrap_or("");
    let leads_there = |at: usize| {
        let before = text.get(..at).unwrap_or("").as_bytes();
        let length = before.iter().rev().take_while(|byte| is_plain(**byte)).count();
        let spelled = text.get(at - length..at).unwrap_or("");
        let rest = before.get(..at - length).unwrap_or_default();
        let filled_in = spelled.starts_with(['/', '\\']) && (rest.ends_with(b")") || rest.ends_with(b"}"));
        filled_in || without_dots(&own.join(way(spelled))) == folder
    };
    // A folder of that name beside the build is the one that it names.
    let has_own = || sources.iter().any(|source| source.parent() == Some(&*own.join(last)));
    !ELSEWHERE.iter().any(|word| text.contains(word))
        && (words_at(text, last).next().is_none() || has_own())
        && !words_at(text, stem).any(leads_there)
}

/// The folders of makefiles that cannot work where they lie. `sources`: the real paths of the project's sources.
pub(crate) fn displaced<'t>(texts: &'t [Other], sources: &FxHashSet<&Path>) -> Vec<&'t Other> {
    let is_makefile = |text: &&Other| {
        let name = text.path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        text.role == Role::Build && name.to_ascii_lowercase().contains("makefile") && !name.contains('.')
    };
    texts.iter().filter(is_makefile).filter(|text| lacks_sources(text, texts, sources)).collect()
}

fn lacks_sources(makefile: &Other, texts: &[Other], sources: &FxHashSet<&Path>) -> bool {
    let (own, text) = (makefile.folder(), &*makefile.text);
    if ELSEWHERE.iter().any(|word| text.contains(word)) {
        return false;
    }
    let is_lost = |word: &str| {
        let word = way(word);
        let word = word.strip_prefix("./").unwrap_or(&word);
        if !word.contains('/')
            || !COMPILED.iter().any(|ending| word.ends_with(ending))
            || word.starts_with('/')
            || word.contains("..")
            || !word.bytes().all(is_plain)
        {
            return false;
        }
        // It may be called from a folder around it.
        let is_there = own.ancestors().any(|around| sources.contains(&*around.join(word)));
        !is_there && sources.iter().any(|source| source.ends_with(word))
    };
    let words = text.split(|letter: char| letter.is_whitespace() || "\"'=:;,()".contains(letter));
    words.into_iter().any(is_lost) && !is_called(makefile, texts)
}

/// Whether another text names a makefile by its folder, and may call it from anywhere.
fn is_called(makefile: &Other, texts: &[Other]) -> bool {
    let Some((folder, name)) = makefile.folder().file_name().zip(makefile.path.file_name()) else { return true };
    let spelled: PathBuf = [folder, name].iter().collect();
    let spelled = spelled.to_string_lossy();
    let others = texts.iter().filter(|text| text.path != makefile.path);
    others.into_iter().any(|text| text.text.contains(&*spelled))
}
