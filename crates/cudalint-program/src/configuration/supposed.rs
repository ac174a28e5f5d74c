//! Names that nobody defines and without which there is no program: what stands under them is the program all the same.

use super::libraries::may_be_of_a_library;
use super::tables::{Configuration, ConfiguredFile, Supposition};
use super::view::{Sight, View};
use crate::ir::LoneBranch;
use crate::project::DefiningFolder;
use cudalint_syntax::preprocessor::{Meaning, evaluate, names_in};
use cudalint_syntax::{BuildMacros, IfBranch, IfGroup, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::sync::Arc;

/// Branches of a group, and names in their conditions, that are looked at.
const MAX_BRANCHES: usize = 16;
const MAX_NAMES: usize = 8;

/// The configuration of some files. `folders` are the `-I` folders, and `defining` those whose build files define macros, in the
/// form of the files' paths.
///
/// A name that nobody defines is not defined. But where `#ifndef TILE` leads into `#error`, whoever compiles the file
/// defines `TILE`; where a file has code for the GPU under `#ifdef USE_GPU` alone, it is compiled with `USE_GPU`; and where it
/// has such code there and none in `#else`, the program that runs on a GPU is that with `USE_GPU`: what needs it has to say so. Not so where
/// other groups have such code without it, or where somebody has switched it off: `//#define USE_GPU`.
pub fn configure<'a>(
    files: Vec<ConfiguredFile<'a>>,
    folders: &[String],
    build: &Arc<BuildMacros>,
    defining: &'a [DefiningFolder],
) -> Configuration<'a> {
    let mut program = Configuration::new(files, folders, build, defining);
    let mut supposed: FxHashMap<&'a str, Supposition> = FxHashMap::default();
    let switched_off = OnceCell::new();
    for (number, file) in program.files.iter().enumerate() {
        let mut marks: Option<Vec<u32>> = None;
        let mut view = None;
        for group in &file.directives.groups {
            let open: Vec<&'a str> = open_names(&program, number as u32, group);
            if open.is_empty() {
                continue;
            }
            let marks = marks.get_or_insert_with(|| marks_of_gpu(file.text));
            let has_gpu = |branch: &IfBranch| !within(marks, branch.body).is_empty();
            if !group.branches.iter().any(|branch| branch.is_error || has_gpu(branch)) {
                continue;
            }
            let view = view.get_or_insert_with(|| View::new(&program, number));
            let Ok(usual) = chosen(view, group, &open, &[], Meaning::Absent) else { continue };
            let is_error = usual.is_some_and(|branch| branch.is_error);
            let lone = usual.is_none() && within(marks, whole(group)).len() == marks.len();
            // `__global__` in one branch and `__device__` in the other: both are code for the GPU.
            let is_of_device =
                |branch: &IfBranch| file.text.get(branch.body.range()).is_some_and(|text| text.contains("__device__"));
            let rival = usual.is_some_and(|branch| !branch.is_error && !has_gpu(branch) && !is_of_device(branch));
            let has_rivals = || {
                let others = file.directives.groups.iter().filter(|other| {
                    let asked = other.branches.iter().filter_map(|branch| branch.text.as_deref()).take(MAX_BRANCHES);
                    asked.flat_map(names_in).any(|name| open.contains(&name))
                });
                let mut without = others.map(|other| chosen(view, other, &open, &[], Meaning::Absent));
                without.any(|branch| matches!(branch, Ok(Some(branch)) if has_gpu(branch)))
            };
            let is_off = || open.iter().any(|name| names_switched_off(&program, &switched_off).contains(name));
            if !(is_error || lone || rival && !has_rivals() && !is_off()) {
                continue;
            }
            // One name where one is enough.
            let sets = open.chunks(1).chain([open.as_slice()]);
            let tries = sets.flat_map(|names| [(names, Meaning::Opaque), (names, Meaning::Defined("1"))]);
            let found = tries.into_iter().find(|(names, value)| match chosen(view, group, &open, names, *value) {
                Ok(Some(branch)) => !branch.is_error && (is_error || has_gpu(branch)),
                Ok(None) => is_error,
                Err(Undecided) => false,
            });
            let Some((names, value)) = found else { continue };
            let is_one = value != Meaning::Opaque;
            let named = rival || is_error && open.len() > 1;
            for name in names {
                let entry = supposed.entry(*name).or_insert(Supposition { named, is_one, lone, required: false });
                entry.named &= named;
                entry.lone |= lone;
                entry.required |= is_error;
                entry.is_one |= is_one;
            }
        }
    }
    program.supposed = supposed;
    program
}

/// The branches of a view's file that are the program only because the file has nothing for a GPU without a name that nobody
/// defines.
pub fn lone_branches(view: &View<'_>) -> Vec<LoneBranch> {
    let program = view.program;
    let Some(file) = program.files.get(view.file as usize).filter(|_| !program.supposed.is_empty()) else {
        return Vec::new();
    };
    let is_lone = |name: &&str| program.supposed.get(name).is_some_and(|it| it.lone && !it.named && !it.required);
    let mut found = Vec::new();
    for branch in file.directives.groups.iter().flat_map(|group| &group.branches) {
        let Some(text) = &branch.text else { continue };
        let names: Vec<Arc<str>> = names_in(text).filter(is_lone).take(MAX_NAMES).map(Arc::from).collect();
        let plain = |name: &str| view.plain_meaning(name, branch.at);
        let needs = || evaluate(text, &plain) == Some(branch.negated);
        if !names.is_empty() && view.decide(text, branch.at, false).holds != branch.negated && needs() {
            found.push(LoneBranch { span: branch.body, names });
        }
    }
    found
}

/// The names that somebody has defined and then made a comment of: `//#define USE_GPU`.
fn names_switched_off<'a, 'n>(
    program: &Configuration<'a>,
    found: &'n OnceCell<FxHashSet<&'a str>>,
) -> &'n FxHashSet<&'a str> {
    found.get_or_init(|| program.files.iter().flat_map(|file| commented_defines(file.text)).collect())
}

/// The names of definitions that are all that stands in a comment of a line.
fn commented_defines(text: &str) -> impl Iterator<Item = &str> {
    const DEFINE: &str = "#define";
    memchr::memmem::find_iter(text.as_bytes(), DEFINE).filter_map(move |at| {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let before = text[line..at].trim();
        let is_comment = before.starts_with("//") && before.bytes().all(|byte| byte == b'/' || byte == b' ');
        let rest = text[at + DEFINE.len()..].trim_start_matches([' ', '\t']);
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        (is_comment && end > 0).then(|| &rest[..end])
    })
}

/// The names that a group asks for and that nothing defines.
fn open_names<'a>(program: &Configuration<'a>, file: u32, group: &'a IfGroup) -> Vec<&'a str> {
    let texts = group.branches.iter().filter_map(|branch| branch.text.as_deref());
    let mut names: Vec<&'a str> = Vec::new();
    for name in texts.take(MAX_BRANCHES).flat_map(names_in) {
        if names.len() < MAX_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    let build = &program.compiler(file).build;
    names.retain(|name| {
        program.events(name).is_none() && build.meaning(name) == Meaning::Unknown && !may_be_of_a_library(name)
    });
    names
}

/// Other names decide which branch is taken.
struct Undecided;

/// The branch of a group that is the program where some of its open names mean one thing and the others are not defined.
fn chosen<'g>(
    view: &View<'_>,
    group: &'g IfGroup,
    open: &[&str],
    names: &[&str],
    value: Meaning<'static>,
) -> Result<Option<&'g IfBranch>, Undecided> {
    for branch in &group.branches {
        let Some(text) = &branch.text else { return Ok(Some(branch)) };
        let holds = evaluate(text, &|name| match name {
            _ if names.contains(&name) => value,
            _ if open.contains(&name) => Meaning::Absent,
            _ => view.plain_meaning(name, branch.at),
        });
        if holds.ok_or(Undecided)? != branch.negated {
            return Ok(Some(branch));
        }
    }
    Ok(None)
}

/// Where code for the GPU is written.
fn marks_of_gpu(text: &str) -> Vec<u32> {
    let mut marks: Vec<u32> = ["__global__", "<<<"]
        .iter()
        .flat_map(|mark| memchr::memmem::find_iter(text.as_bytes(), mark).map(|at| at as u32))
        .collect();
    marks.sort_unstable();
    marks
}

fn within(marks: &[u32], span: Span) -> &[u32] {
    let at = |place: u32| marks.partition_point(|mark| *mark < place);
    marks.get(at(span.start)..at(span.end)).unwrap_or(&[])
}

/// From a group's first branch to the end of its last.
fn whole(group: &IfGroup) -> Span {
    let start = group.branches.first().map_or(0, |branch| branch.at);
    Span { start, end: group.branches.last().map_or(start, |branch| branch.body.end) }
}
