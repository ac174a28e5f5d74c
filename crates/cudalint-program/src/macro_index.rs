//! The macros of all files, and which definition each file sees.

use crate::cuda::passes_on;
use crate::includes::{IncludeGraph, IncludingFile};
use crate::ir::MacroDefinition;
use crate::name::Name;
use cudalint_syntax::preprocessor::{Meaning, names_asked};
use cudalint_syntax::{BuildMacros, Define, Directives, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The parameter that stands for `...`; its uses are `__VA_ARGS__`.
pub const VARIADIC: &str = "...";

/// A `#define` in the form that the program keeps: a negated condition is written `!(…)`, and a variadic macro's last
/// parameter is [`VARIADIC`].
pub fn macro_definition(define: &Define) -> MacroDefinition {
    let mut params: Option<Vec<Name>> =
        define.params.as_ref().map(|names| names.iter().map(|name| Name::from(name.as_str())).collect());
    if define.variadic
        && let Some(params) = &mut params
    {
        params.push(Name::from(VARIADIC));
    }
    MacroDefinition {
        name: Name::from(define.name.as_str()),
        params,
        body: define.body.as_str().into(),
        span: define.span,
        name_span: define.name_span,
        conditions: written(define),
    }
}

fn written(define: &Define) -> Vec<Box<str>> {
    define
        .conditions
        .iter()
        .map(|condition| {
            if condition.negated {
                ["!(", &condition.text, ")"].concat().into()
            } else {
                condition.text.as_str().into()
            }
        })
        .collect()
}

/// One file before lowering: what decides which macros others see.
#[derive(Clone, Copy, Debug)]
pub struct MacroFile<'a> {
    /// Path, as for [`IncludeGraph`].
    pub path: &'a str,
    /// Its directives.
    pub directives: &'a Directives,
    /// Whether it stands for itself (a fence in a document).
    pub alone: bool,
}

/// A form of a macro definition that the index can hold.
pub trait Definition: Sized {
    /// The macro's name.
    fn name(&self) -> &str;
    /// What it stands for.
    fn body(&self) -> &str;
    /// Whether two definitions say the same.
    fn same(&self, other: &Self) -> bool;
    /// Whether it is an object-like macro that stands for something.
    fn is_constant(&self) -> bool;
    /// Conditions that must hold, a negated one as `!(…)`.
    fn conditions(&self) -> Vec<Box<str>>;
    /// An object-like macro that the build defines.
    fn from_build(name: &str, value: &str) -> Self;
}

impl Definition for Define {
    fn name(&self) -> &str {
        &self.name
    }

    fn body(&self) -> &str {
        &self.body
    }

    fn same(&self, other: &Self) -> bool {
        self.body == other.body && self.params == other.params && self.variadic == other.variadic
    }

    fn is_constant(&self) -> bool {
        self.params.is_none() && !self.body.is_empty()
    }

    fn conditions(&self) -> Vec<Box<str>> {
        written(self)
    }

    fn from_build(name: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            params: None,
            variadic: false,
            named_rest: false,
            body: value.to_owned(),
            span: Span::default(),
            name_span: Span::default(),
            body_span: Span::default(),
            conditions: [].into(),
        }
    }
}

impl Definition for MacroDefinition {
    fn name(&self) -> &str {
        &self.name
    }

    fn body(&self) -> &str {
        &self.body
    }

    fn same(&self, other: &Self) -> bool {
        self.body == other.body && self.params == other.params
    }

    fn is_constant(&self) -> bool {
        self.params.is_none() && !self.body.is_empty()
    }

    fn conditions(&self) -> Vec<Box<str>> {
        self.conditions.clone()
    }

    fn from_build(name: &str, value: &str) -> Self {
        Self {
            name: Name::from(name),
            params: None,
            body: value.into(),
            span: Span::default(),
            name_span: Span::default(),
            conditions: Vec::new(),
        }
    }
}

/// The macros of a project by name.
#[derive(Debug)]
pub struct MacroIndex<D> {
    graph: IncludeGraph,
    by_name: FxHashMap<Box<str>, Vec<Entry<D>>>,
    /// What the build defines: the compiler, the command line, the settings.
    from_build: FxHashMap<Box<str>, D>,
    build: Arc<BuildMacros>,
    /// Files that NVRTC compiles, and what it defines.
    nvrtc: FxHashSet<u32>,
    nvrtc_build: Arc<BuildMacros>,
}

impl<D> Default for MacroIndex<D> {
    fn default() -> Self {
        Self {
            graph: IncludeGraph::default(),
            by_name: FxHashMap::default(),
            from_build: FxHashMap::default(),
            build: Arc::default(),
            nvrtc: FxHashSet::default(),
            nvrtc_build: Arc::default(),
        }
    }
}

#[derive(Debug)]
struct Entry<D> {
    file: u32,
    /// Whether its conditions are surely false.
    dead: bool,
    /// Whether it only passes on a name that some builds define.
    passes_on: bool,
    /// Whether it is a default: it stands under `!defined` of its own name.
    fallback: bool,
    conditions: Vec<Box<str>>,
    definition: D,
}

impl MacroIndex<Define> {
    /// Indexes all files before they are lowered. `folders` are the `-I` folders in the form of the files' paths.
    pub fn build(files: &[MacroFile<'_>], folders: &[String], build: &Arc<BuildMacros>) -> Self {
        let including: Vec<IncludingFile> = files
            .iter()
            .map(|file| IncludingFile {
                path: file.path.to_owned(),
                includes: file.directives.includes.iter().map(|i| (i.path.clone(), i.system)).collect(),
                alone: file.alone,
            })
            .collect();
        let definitions = files.iter().enumerate().flat_map(|(file, source)| {
            source.directives.defines.iter().map(move |define| (file as u32, define.clone()))
        });
        let nvrtc =
            files.iter().enumerate().filter(|(_, file)| file.directives.nvrtc).map(|(at, _)| at as u32).collect();
        Self::assemble(IncludeGraph::build(&including, folders), definitions, build, nvrtc)
    }
}

/// Whether a condition is `!(defined(NAME))`, with or without blanks.
fn is_default_of(condition: &str, name: &str) -> bool {
    let mut rest = condition.bytes().filter(|byte| *byte != b' ');
    let own = b"!(defined(".iter().chain(name.as_bytes()).chain(b"))");
    own.into_iter().all(|byte| rest.next() == Some(*byte)) && rest.next().is_none()
}

impl<D: Definition> MacroIndex<D> {
    /// From definitions, each with the position of its file in the graph.
    pub(crate) fn assemble(
        graph: IncludeGraph,
        definitions: impl Iterator<Item = (u32, D)>,
        build: &Arc<BuildMacros>,
        nvrtc: FxHashSet<u32>,
    ) -> Self {
        let nvrtc_build = if nvrtc.is_empty() { Arc::clone(build) } else { Arc::new(build.for_nvrtc()) };
        let mut index = Self { graph, build: Arc::clone(build), nvrtc, nvrtc_build, ..Self::default() };
        // The same conditions stand around many definitions.
        let mut known: [FxHashMap<Box<str>, Option<bool>>; 2] = Default::default();
        let mut holds_in = |nvrtc: bool, text: &str| {
            let known = &mut known[usize::from(nvrtc)];
            match known.get(text) {
                Some(holds) => *holds,
                None => {
                    // A macro is used by code for the host and for the device.
                    let build = if nvrtc { &index.nvrtc_build } else { build };
                    let holds = build.holds_in_both_passes(text, &|_| None);
                    known.insert(text.into(), holds);
                    holds
                }
            }
        };
        for (file, definition) in definitions {
            let conditions = definition.conditions();
            let nvrtc = index.nvrtc.contains(&file);
            let mut holds = |text: &str| holds_in(nvrtc, text);
            let entry = Entry {
                file,
                dead: conditions.iter().any(|text| holds(text) == Some(false)),
                passes_on: conditions
                    .iter()
                    .any(|text| passes_on(definition.body(), text) && holds(text) != Some(true)),
                fallback: conditions.iter().any(|text| is_default_of(text, definition.name())),
                conditions,
                definition,
            };
            match index.by_name.get_mut(entry.definition.name()) {
                Some(list) => list.push(entry),
                None => {
                    index.by_name.insert(entry.definition.name().into(), vec![entry]);
                }
            }
        }
        for (name, value) in build.defined() {
            index.from_build.insert(name.into(), D::from_build(name, value));
        }
        index
    }

    /// Whether a condition holds in the build, with some more names defined, as nothing, and some not defined. What the
    /// command line gives stays.
    fn supposing(&self, condition: &str, present: &[&str], absent: &[&str]) -> Option<bool> {
        self.build.holds_in_both_passes(condition, &|name| match self.build.meaning(name) {
            _ if present.contains(&name) => Some(Meaning::Defined("")),
            Meaning::Unknown if absent.contains(&name) => Some(Meaning::Absent),
            _ => None,
        })
    }

    /// The include graph of the files.
    pub fn graph(&self) -> &IncludeGraph {
        &self.graph
    }

    /// The macros that the file at this position of the list sees.
    pub fn visible(&self, file: usize) -> VisibleMacros<'_, D> {
        VisibleMacros { index: self, file: file as u32 }
    }
}

/// The macros of one file: its own, then the command line's, then those of the headers it includes, then those of the
/// files that include it, then one that neighbouring files define in one way only.
#[derive(Debug)]
pub struct VisibleMacros<'a, D> {
    index: &'a MacroIndex<D>,
    file: u32,
}

impl<'a, D: Definition> VisibleMacros<'a, D> {
    /// The definition that a use of `name` means; `None` when there is none, or several that differ.
    pub fn lookup(&self, name: &str) -> Option<&'a D> {
        let entries = self.entries(name);
        let own = entries.iter().filter(|entry| entry.file == self.file);
        if own.clone().any(|entry| !entry.dead) {
            return choose(own.clone()).or_else(|| self.by_default(own));
        }
        self.elsewhere(name, entries)
    }

    /// As [`Self::lookup`], for one who knows the file's own definitions and their order: these are left out. Other
    /// files say nothing of a name that this file defines too, unless as a constant: where it is defined as nothing it
    /// may be an include guard, and a function-like macro goes with the code around it.
    pub fn outside(&self, name: &str) -> Option<&'a D> {
        let entries = self.entries(name);
        if entries.iter().any(|entry| entry.file == self.file && !entry.definition.is_constant()) {
            return self.index.from_build.get(name);
        }
        self.elsewhere(name, entries)
    }

    /// Whether the file's own definitions of `name` are defaults, and the files around it define it in ways that
    /// differ.
    pub fn contested(&self, name: &str) -> bool {
        let entries = self.entries(name);
        let mut own = entries.iter().filter(|entry| entry.file == self.file).peekable();
        if own.peek().is_none() || !own.all(|entry| entry.fallback && entry.definition.is_constant()) {
            return false;
        }
        let graph = &self.index.graph;
        if self.index.from_build.contains_key(name) || graph.is_alone(self.file) {
            return false;
        }
        let reach = graph.reach(self.file);
        let firm: Vec<&Entry<D>> = entries.iter().filter(|entry| !entry.dead && !entry.fallback).collect();
        let within = |set: &[u32]| -> Vec<&Entry<D>> {
            firm.iter().copied().filter(|entry| set.binary_search(&entry.file).is_ok()).collect()
        };
        let included = within(&reach.included);
        if !included.is_empty() {
            return choose(included.into_iter()).is_none();
        }
        let around = within(&reach.context);
        if around.is_empty() {
            return false;
        }
        // A file that is compiled by itself and brings no definition of its own uses the default.
        let plain = reach.context.iter().any(|file| {
            let seen = &graph.reach(*file).included;
            graph.is_root(*file)
                && seen.binary_search(&self.file).is_ok()
                && !around.iter().any(|entry| entry.file == *file || seen.binary_search(&entry.file).is_ok())
        });
        plain || choose(around.into_iter()).is_none()
    }

    fn entries(&self, name: &str) -> &'a [Entry<D>] {
        self.index.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Where a file picks one of several settings itself (`#if !defined(SMALL) && !defined(LARGE)`, `#define MEDIUM`),
    /// the definition that holds when nobody else picks one.
    fn by_default<'e>(&self, entries: impl Iterator<Item = &'e Entry<D>>) -> Option<&'e D>
    where
        D: 'e,
    {
        let mut held = entries.filter(|entry| !entry.dead && !entry.passes_on && self.is_picked(entry));
        let first = held.next()?;
        held.all(|other| other.definition.same(&first.definition)).then_some(&first.definition)
    }

    /// Whether a definition stands under a name that its own file defines where none of certain others is defined, and
    /// none of them is defined in sight.
    fn is_picked(&self, entry: &Entry<D>) -> bool {
        let mut picked = false;
        entry.conditions.iter().all(|text| {
            if self.index.supposing(text, &[], &[]) == Some(true) {
                return true;
            }
            let (mut present, mut absent) = (Vec::new(), Vec::new());
            for name in names_asked(text) {
                if !self.reaches(name) {
                    absent.push(name);
                } else if self.is_own_pick(entry.file, name) {
                    picked = true;
                    present.push(name);
                } else {
                    return false;
                }
            }
            self.index.supposing(text, &present, &absent) == Some(true)
        }) && picked
    }

    /// Whether one file alone of those in reach defines the name, as nothing and where names that none of them defines
    /// are not defined.
    fn is_own_pick(&self, file: u32, name: &str) -> bool {
        let mut entries = self.entries(name).iter().filter(|entry| self.is_in_reach(entry.file));
        entries.clone().all(|entry| entry.file == file && entry.definition.body().is_empty())
            && entries.any(|entry| {
                !entry.conditions.is_empty()
                    && entry.conditions.iter().all(|text| {
                        let asked = names_asked(text);
                        !asked.iter().any(|other| self.reaches(other))
                            && self.index.supposing(text, &[], &asked) == Some(true)
                    })
            })
    }

    /// Whether this file, one that it includes, or one that includes it defines the name.
    fn reaches(&self, name: &str) -> bool {
        self.entries(name).iter().any(|entry| self.is_in_reach(entry.file))
    }

    fn is_in_reach(&self, file: u32) -> bool {
        let reach = self.index.graph.reach(self.file);
        file == self.file || reach.included.binary_search(&file).is_ok() || reach.context.binary_search(&file).is_ok()
    }

    fn elsewhere(&self, name: &str, entries: &'a [Entry<D>]) -> Option<&'a D> {
        let from_build = self.index.from_build.get(name);
        let graph = &self.index.graph;
        if from_build.is_some() || entries.is_empty() || graph.is_alone(self.file) {
            return from_build;
        }
        let reach = graph.reach(self.file);
        for set in [&reach.included, &reach.context] {
            let within = |entry: &&Entry<D>| set.binary_search(&entry.file).is_ok();
            if entries.iter().filter(within).any(|entry| !entry.dead) {
                let here = entries.iter().filter(within);
                return choose(here.clone()).or_else(|| self.by_default(here));
            }
        }
        // A name that comes from a header out of sight may be another than the project's.
        if !reach.missing {
            return None;
        }
        choose(entries.iter().filter(|entry| {
            entry.file != self.file && !graph.is_alone(entry.file) && graph.are_neighbours(self.file, entry.file)
        }))
    }
}

impl<D> VisibleMacros<'_, D> {
    /// What the build defines.
    pub fn build_macros(&self) -> &BuildMacros {
        if self.index.nvrtc.contains(&self.file) { &self.index.nvrtc_build } else { &self.index.build }
    }

    /// Whether any definition of `name` may be in sight, under whatever conditions.
    pub fn has(&self, name: &str) -> bool {
        if self.index.from_build.contains_key(name) {
            return true;
        }
        let Some(entries) = self.index.by_name.get(name) else { return false };
        let alone = self.index.graph.is_alone(self.file);
        let reach = self.index.graph.reach(self.file);
        entries.iter().any(|entry| {
            entry.file == self.file
                || !alone
                    && (reach.missing
                        || reach.included.binary_search(&entry.file).is_ok()
                        || reach.context.binary_search(&entry.file).is_ok())
        })
    }
}

/// The definition that holds, where conditions leave one, or several that exclude each other (then the first).
fn choose<'e, D: Definition>(entries: impl Iterator<Item = &'e Entry<D>>) -> Option<&'e D> {
    let mut live: Vec<&Entry<D>> = entries.filter(|entry| !entry.dead).collect();
    if live.iter().any(|entry| !entry.passes_on) {
        live.retain(|entry| !entry.passes_on);
    }
    // A default counts only where nothing else defines the name.
    let firm: Vec<&Entry<D>> = live.iter().copied().filter(|entry| !entry.fallback).collect();
    let candidates = if firm.is_empty() { live } else { firm };
    let (first, rest) = candidates.split_first()?;
    for other in rest {
        let same = other.definition.same(&first.definition);
        let later_default = other.fallback && first.fallback && other.file == first.file;
        if !same && !later_default && !exclude(&first.conditions, &other.conditions) {
            return None;
        }
    }
    Some(&first.definition)
}

/// Whether two definitions can never both be active.
fn exclude(a: &[Box<str>], b: &[Box<str>]) -> bool {
    let opposed = |x: &str, y: &str| x.strip_prefix("!(").and_then(|rest| rest.strip_suffix(')')) == Some(y);
    a.iter().any(|x| b.iter().any(|y| opposed(x, y) || opposed(y, x)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons, clippy::unnecessary_wraps)]
    use super::*;
    use cudalint_syntax::scan_directives;

    fn bodies(files: &[(&str, &str)], defines: &[&str], file: usize, names: &[&str]) -> Vec<Option<String>> {
        let directives: Vec<Directives> =
            files.iter().map(|(_, text)| scan_directives(text, Span::new(0, text.len()))).collect();
        let list: Vec<MacroFile<'_>> = files
            .iter()
            .zip(&directives)
            .map(|((path, _), directives)| MacroFile { path, directives, alone: path.ends_with(".md") })
            .collect();
        let index = MacroIndex::build(&list, &[], &Arc::new(BuildMacros::with_defines(defines.iter().copied())));
        let visible = index.visible(file);
        names.iter().map(|name| visible.lookup(name).map(|m| m.body.clone())).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn own_file_then_headers_then_includers() {
        let files = [
            ("a.cu", "#include \"a.h\"\n#define N 1\n#include \"k.cu\"\n"),
            ("a.h", "#pragma once\n#define N 2\n#define M 3\n"),
            ("k.cu", "int x;\n"),
            ("other.cu", "#define P 4\n"),
        ];
        assert_eq!(bodies(&files, &[], 0, &["N", "M", "P"]), [some("1"), some("3"), None]);
        // `k.cu` is text of `a.cu`; there N is 1 or 2, so nothing is said of it.
        assert_eq!(bodies(&files, &[], 2, &["N", "M", "P"]), [None, some("3"), None]);
    }

    #[test]
    fn a_name_from_a_header_out_of_sight_may_be_the_projects_own() {
        let files =
            [("a.cu", "#include \"gone.h\"\n"), ("b.cu", "#define N 1\n#define Q 1\n"), ("c.cu", "#define Q 2\n")];
        assert_eq!(bodies(&files, &[], 0, &["N", "Q"]), [some("1"), None]);
    }

    #[test]
    fn conditions_choose() {
        let text = "#ifdef NDEBUG\n#define C(x)\n#else\n#define C(x) check(x)\n#endif\n\
                    #ifdef BIG\n#define N 1000\n#else\n#define N 10\n#endif\n\
                    #ifndef T\n#define T 16\n#endif\n#define D 1\n#undef D\n#define D 2\n";
        let names = ["C", "N", "T", "D"];
        assert_eq!(bodies(&[("a.cu", text)], &[], 0, &names), [some("check(x)"), some("1000"), some("16"), None]);
        let given = ["NDEBUG", "T=32"];
        assert_eq!(bodies(&[("a.cu", text)], &given, 0, &names), [some(""), some("1000"), some("32"), None]);
    }

    #[test]
    fn a_file_picks_its_own_setting() {
        let header = "#ifndef H\n#define H\n#if !defined(SMALL) && !defined(LARGE)\n#define MEDIUM\n#endif\n\
                      #ifndef N\n#ifdef SMALL\n#define M 1\n#endif\n#ifdef MEDIUM\n#define M 2\n#endif\n\
                      #ifdef LARGE\n#define M 3\n#endif\n#endif\n#endif\n";
        let files = [("a.cu", "#include \"s.h\"\n"), ("s.h", header)];
        assert_eq!(bodies(&files, &[], 0, &["M"]), [some("2")]);
        // Somebody picks another.
        let other = [("a.cu", "#define LARGE\n#include \"s.h\"\n"), ("s.h", header)];
        assert_eq!(bodies(&other, &[], 0, &["M"]), [None]);
        // Nobody picks: nothing is said.
        let header = "#ifdef SMALL\n#define M 1\n#endif\n#ifdef LARGE\n#define M 3\n#endif\n";
        assert_eq!(bodies(&[("a.cu", "#include \"s.h\"\n"), ("s.h", header)], &[], 0, &["M"]), [None]);
    }

    #[test]
    fn fences_see_only_themselves() {
        let files =
            [("d.md", "#define A 1\n#include \"x.h\"\n"), ("x.h", "#define B 1\n"), ("e.cu", "#include \"no.h\"\n")];
        assert_eq!(bodies(&files, &[], 0, &["A", "B"]), [some("1"), None]);
        assert_eq!(bodies(&files, &[], 2, &["A", "B"]), [None, some("1")]);
    }

    #[test]
    fn variadic_macros_end_in_dots() {
        let text = "#define LOG(f, ...) printf(f, __VA_ARGS__)\n";
        let directives = scan_directives(text, Span::new(0, text.len()));
        let definition = macro_definition(directives.defines.first().unwrap());
        assert_eq!(definition.params.unwrap(), ["f", "..."].map(Name::from));
    }
}
