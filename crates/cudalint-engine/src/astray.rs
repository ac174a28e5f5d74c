//! Sources that no compiler takes where they lie. In a folder such as `old`: a header that they include stands in another folder, and
//! nothing in the project builds them or says where it is. (Elsewhere somebody who builds by hand may name the folder of the headers.)
//! Anywhere: they include another source, or a file by a way out of their folder, and the project has no file of that name.

use crate::archive::kept_folder;
use crate::exports::common;
use crate::others::{Other, Others};
use crate::paths::without_dots;
use crate::roles::{COMPILED, Role};
use cudalint_program::Project;
use cudalint_program::ir::{Include, ModuleId};
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

/// A part that a source includes and the project does not have: another source, or a file by a way out of the source's folder and into
/// another one of the project. Headers by their bare names may be those of a library. The same of a header that nobody includes.
/// `reals`: where files lie, by their paths.
pub(crate) fn without_part(
    project: &Project,
    id: ModuleId,
    others: &Others<'_>,
    reals: &FxHashMap<&str, &Path>,
) -> Option<String> {
    // What tools make while a project is built.
    const MADE: [&str; 5] = ["moc_", "ui_", "qrc_", "gen", "_generated"];
    // Headers of libraries that are included by their bare names.
    const KNOWN: [&str; 6] = ["cub", "cuda_helper", "cutil", "helper_", "thrust", "util"];
    let path = &**project.path(id);
    let module = project.module(id);
    let texts = others.texts()?;
    let is_part = !project.includes().includers(id.index() as u32).is_empty();
    let is_source = COMPILED.iter().any(|ending| path.ends_with(ending));
    if is_part || module.inside.is_some() {
        return None;
    }
    let file_name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let is_known = |name: &str| {
        project.modules().any(|other| file_name(project.path(other)) == name)
            || others.lists(name)
            || texts.iter().any(|text| text.role == Role::Build && text.text.contains(name))
    };
    // What stands around the project is not known.
    let folder = reals.get(path)?.parent()?;
    let root = reals.values().filter_map(|real| real.parent()).reduce(common)?;
    // A folder of which nothing is here may be another repository.
    let is_inside = |target: &str| {
        let whole = without_dots(&folder.join(target));
        let Some(around) = whole.parent().filter(|around| around.starts_with(root)) else { return false };
        reals.values().any(|real| real.starts_with(around)) || others.has_folder(around)
    };
    // Of a header that nobody includes also a file of a folder that the project has, by the way from the root of its headers; others are
    // made while it is built.
    let is_left_behind = |target: &str, name: &str| {
        let is_made = ["config", "version", ".pb."].iter().any(|mark| name.contains(mark));
        let Some((folder, _)) = target.rsplit_once('/').filter(|_| !is_source && !is_made) else { return false };
        let mut folders = reals.values().filter_map(|real| real.parent()).filter(|it| it.ends_with(folder)).peekable();
        let has =
            |folder: &Path| [name.to_owned(), format!("{name}.in")].iter().any(|it| others.can_read(&folder.join(it)));
        folders.peek().is_some() && !folders.any(has)
    };
    let decided = |include: &&Include| !module.passed_over.iter().any(|branch| branch.contains(include.span));
    // Code for a GPU that stands beside its headers: whoever includes those finds them there.
    let own_headers = || {
        let reached = project.includes().reach(id.index() as u32).included.iter().map(|file| ModuleId(*file));
        std::iter::once(id).chain(reached).find_map(|part| {
            let at = reals.get(&**project.path(part))?.parent()?;
            let part = project.module(part);
            let is_beside = |include: &&Include| {
                !include.system && !include.target.contains('/') && include.target.ends_with(".cuh")
            };
            let has = |include: &Include| reals.values().any(|real| **real == *at.join(&*include.target));
            let live = |include: &&Include| !part.passed_over.iter().any(|branch| branch.contains(include.span));
            let mut all = part.includes.iter().filter(is_beside).filter(live);
            let lost = all.clone().find(|include| !has(include) && !is_known(&file_name(&include.target)))?;
            let name = &*lost.target;
            let of_others = KNOWN.iter().any(|known| name.starts_with(known));
            (all.any(has) && !of_others && !MADE.iter().any(|mark| name.contains(mark))).then(|| lost.target.clone())
        })
    };
    if is_source
        && !root.ancestors().take(3).any(|folder| others.can_read(&folder.join(".gitmodules")))
        && let Some(lost) = own_headers()
    {
        return Some(format!(
            "a compiler that takes `{}` finds `{lost}`, which this project does not have",
            file_name(path)
        ));
    }
    let lost = module.includes.iter().filter(|include| !include.system).filter(decided).find(|include| {
        let (target, name) = (&*include.target, file_name(&include.target));
        let is_own = is_source && (COMPILED.iter().any(|ending| target.ends_with(ending)) || target.contains("../"));
        (is_own && is_inside(target) || is_left_behind(target, &name))
            && !MADE.iter().any(|mark| name.contains(mark))
            && !is_known(&name)
    })?;
    Some(format!(
        "a compiler that takes `{}` finds `{}`, which this project does not have",
        file_name(path),
        lost.target
    ))
}
