//! Headers that nothing includes, and which include a file of the project by a path that it no longer has: no compiler takes them as they
//! are, so that they are left over from before the files were moved.

use crate::others::Others;
use crate::roles::COMPILED;
use cudalint_program::Project;
use cudalint_program::ir::{Include, ModuleId};
use cudalint_syntax::Span;
use std::path::Path;

/// The place of such an include, and what it names. To be asked where all files of the project are known.
pub(crate) fn moved(project: &Project, id: ModuleId, others: &Others<'_>) -> Option<(Span, String)> {
    let path: &str = project.path(id);
    let texts = others.texts()?;
    let name = path.rsplit('/').next()?;
    if COMPILED.iter().any(|ending| path.ends_with(ending)) || texts.iter().any(|text| text.text.contains(name)) {
        return None;
    }
    let mut modules = project.modules().filter(|other| *other != id);
    if modules.any(|other| project.source(other).contains(name)) {
        return None;
    }
    let is_moved = |include: &&Include| {
        let target = &*include.target;
        let Some((folders, name)) = target.rsplit_once('/') else { return false };
        if include.system || folders.split('/').any(|part| part.starts_with('.')) {
            return false;
        }
        let has = |with: &str| {
            project.modules().any(|other| Path::new(&**project.path(other)).ends_with(with))
                || texts.iter().any(|text| text.path.ends_with(with))
        };
        !has(target) && has(name)
    };
    let include = project.module(id).includes.iter().find(is_moved)?;
    Some((include.span, format!("`{}`, which lies in another folder,", include.target)))
}
