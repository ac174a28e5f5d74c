//! Folders whose names say that a project keeps them for reference.

use crate::others::{Other, Others, words_at};
use crate::roles::Role;
use std::path::Path;

/// The folder of a file whose name says that it is kept for reference.
pub(crate) fn kept_folder(path: &str) -> Option<&str> {
    const NAMES: [&str; 12] = [
        "archive",
        "archived",
        "archives",
        "attic",
        "backup",
        "deprecated",
        "depricated",
        "legacy",
        "obsolete",
        "old",
        "outdated",
        "unused",
    ];
    // These are said of nothing else, whatever stands beside them.
    const WORDS: [&str; 6] = ["archived", "deprecated", "depricated", "obsolete", "outdated", "unused"];
    let (folders, _) = path.rsplit_once('/')?;
    folders.split('/').find(|folder| {
        let name = folder.to_ascii_lowercase();
        NAMES.contains(&name.trim_matches('_')) || name.split(['_', '-', ' ', '.']).any(|word| WORDS.contains(&word))
    })
}

/// The folder of a file that its project keeps for reference, by the folder's name, where no build file and no script names the file or
/// takes all of its kind. `real`: where it lies, if that is known.
pub(crate) fn archive<'f>(path: &'f str, real: Option<&Path>, others: &Others<'_>) -> Option<&'f str> {
    let folder = kept_folder(path)?;
    let (_, name) = path.rsplit_once('/')?;
    let (stem, kind) = name.rsplit_once('.')?;
    // What is kept for reference is kept with its build.
    let is_kept = |text: &Other| text.path.iter().any(|part| part.eq_ignore_ascii_case(folder));
    // A build elsewhere says where a file lies that it takes from there. The word may be a part of an option, too.
    let names_folder = |text: &str| {
        words_at(text, folder)
            .any(|at| !text[..at].ends_with('-') && !text[at + folder.len()..].starts_with(['-', '=']))
    };
    // Settings of tools that only read name all files of a kind, too.
    let compiles = |text: &Other| {
        let is_settings =
            text.path.extension().is_some_and(|ending| ["yml", "yaml", "toml"].iter().any(|it| ending == *it));
        text.role == Role::Build || !is_settings || text.text.contains("nvcc")
    };
    // All files of a kind are those around the build, or of a folder that it names. What leads upwards leads to all that lies there, or
    // down again by the name of the next folder.
    let may_lead_here = |text: &Other| {
        let Some(real) = real else { return true };
        if real.starts_with(text.folder()) || names_folder(&text.text) {
            return true;
        }
        let shared = real.components().zip(text.folder().components()).take_while(|(a, b)| a == b).count();
        let next = real.components().nth(shared).and_then(|next| next.as_os_str().to_str());
        let takes_all = || ["RECURSE", "**", "find "].iter().any(|word| text.text.contains(word));
        text.text.contains("..") && (next.is_none_or(|next| words_at(&text.text, next).next().is_some()) || takes_all())
    };
    let takes = |text: &Other| {
        matches!(text.role, Role::Build | Role::Script)
            && !is_kept(text)
            && (words_at(&text.text, stem).next().is_some() && names_folder(&text.text)
                || compiles(text)
                    && may_lead_here(text)
                    && ["*.", "%."].iter().any(|star| text.text.contains(&format!("{star}{kind}"))))
    };
    // Without a build that leaves it out, a folder of this name is one like others.
    let is_weak = ["backup", "old"].contains(&folder.to_ascii_lowercase().trim_matches('_'));
    let builds = |texts: &[Other]| texts.iter().any(|text| text.role == Role::Build && !is_kept(text));
    let is_left_out = |texts: &[Other]| !texts.iter().any(takes) && (!is_weak || builds(texts));
    others.texts().is_some_and(is_left_out).then_some(folder)
}
