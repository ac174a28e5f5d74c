//! Sources in a folder such as `old` that no compiler takes where they lie: a header that they include stands in another folder, and nothing
//! in the project builds them or says where it is. (Elsewhere somebody who builds by hand may name the folder of the headers.)

use crate::others::{Other, Others};
use crate::paths::without_dots;
use crate::roles::Role;
use crate::unlisted::{COMPILED, kept_folder};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// Whether something tells compilers where headers are: a build, or an option that a script or a document spells.
pub(crate) fn is_told(others: &Others<'_>, includes: &[PathBuf]) -> bool {
    const OPTIONS: [&str; 3] = ["-I", "/I", "isystem"];
    let tells = |texts: &[Other]| {
        texts.iter().any(|text| text.role == Role::Build || OPTIONS.iter().any(|option| text.text.contains(option)))
    };
    !includes.is_empty() || others.texts().is_none_or(tells)
}

/// A header that a source includes from its own folder, where it is not: others of the project are called so. `reals`: where files lie, by
/// their paths.
pub(crate) fn astray(project: &Project, id: ModuleId, reals: &FxHashMap<&str, &Path>) -> Option<String> {
    let path = &**project.path(id);
    let module = project.module(id);
    kept_folder(path)?;
    let is_part = !project.includes().includers(id.index() as u32).is_empty();
    if is_part || module.inside.is_some() || !COMPILED.iter().any(|ending| path.ends_with(ending)) {
        return None;
    }
    let folder = reals.get(path)?.parent()?;
    let lost =
        module.includes.iter().filter(|include| !include.system).map(|include| &*include.target).find(|target| {
            let beside = without_dots(&folder.join(target));
            let ends = |real: &&&Path| real.ends_with(target.trim_start_matches(['.', '/']));
            let mut all = reals.values().filter(ends).peekable();
            all.peek().is_some() && all.all(|real| **real != *beside)
        })?;
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(format!("a compiler that takes `{name}` finds `{lost}`, which is not in its folder"))
}
