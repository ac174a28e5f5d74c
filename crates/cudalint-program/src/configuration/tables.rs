//! What all files define and take away, by name; and what the build does.

use super::libraries::LostHeaders;
use crate::file_set::FileSet;
use crate::includes::{IncludeGraph, IncludingFile};
use crate::project::{DefiningFolder, is_below};
use cudalint_syntax::{BuildMacros, Condition, Define, Directives, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// One file before it is parsed.
#[derive(Clone, Copy, Debug)]
pub struct ConfiguredFile<'a> {
    /// Path, as for [`IncludeGraph`].
    pub path: &'a str,
    /// Text of the whole file.
    pub text: &'a str,
    /// Its directives.
    pub directives: &'a Directives,
    /// Whether it stands for itself (a fence in a document).
    pub alone: bool,
}

/// A `#define` or `#undef`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    pub file: u32,
    pub at: u32,
    pub conditions: &'a [Condition],
    /// The definition; `None` for `#undef` and `#pragma pop_macro`.
    pub define: Option<&'a Define>,
    /// Of a `pop_macro`, the place in the file whose meaning comes back.
    pub restores: Option<u32>,
}

/// What the configuration of a program goes by.
#[derive(Debug)]
pub struct Configuration<'a> {
    pub(super) files: Vec<ConfiguredFile<'a>>,
    pub(super) graph: IncludeGraph,
    pub(super) lost: LostHeaders,
    /// By name, in the order of files and places.
    events: FxHashMap<&'a str, Vec<Event<'a>>>,
    nvcc: Compiler,
    /// Where some files are for it.
    nvrtc: Option<Compiler>,
    /// Names that nobody defines and without which there is no program of the GPU: see [`configure`](super::configure).
    pub(super) supposed: FxHashMap<&'a str, Supposition>,
    defining: &'a [DefiningFolder],
}

/// A name that nobody defines and that is taken for defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Each is so by itself.
pub(super) struct Supposition {
    /// What stands behind it has a rival: a finding that needs it has to say so.
    pub named: bool,
    /// Whether the number 1 is supposed, and not only that it is defined.
    pub is_one: bool,
    /// Whether a file has nothing for a GPU without it.
    pub lone: bool,
    /// Whether a file cannot be compiled without it.
    pub required: bool,
}

/// What a compiler defines before any file is read.
#[derive(Debug)]
pub(super) struct Compiler {
    pub build: Arc<BuildMacros>,
    /// The same as definitions that a use means.
    pub definitions: FxHashMap<Box<str>, Define>,
}

impl Compiler {
    fn new(build: Arc<BuildMacros>) -> Self {
        let definitions = build.defined().map(|(name, value)| (name.into(), definition(name, value))).collect();
        Self { build, definitions }
    }
}

/// An object-like macro that stands in no file.
fn definition(name: &str, value: &str) -> Define {
    Define {
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

impl<'a> Configuration<'a> {
    /// Collects. `folders` are the `-I` folders in the form of the files' paths.
    pub(super) fn new(
        files: Vec<ConfiguredFile<'a>>,
        folders: &[String],
        build: &Arc<BuildMacros>,
        defining: &'a [DefiningFolder],
    ) -> Self {
        let including: Vec<IncludingFile> = files
            .iter()
            .map(|file| IncludingFile {
                path: file.path.to_owned(),
                includes: file.directives.includes.iter().map(|i| (i.path.clone(), i.system)).collect(),
                alone: file.alone,
            })
            .collect();
        let mut events: FxHashMap<&str, Vec<Event<'_>>> = FxHashMap::default();
        for (number, file) in files.iter().enumerate() {
            let file_number = number as u32;
            for define in &file.directives.defines {
                let (at, conditions) = (define.span.start, &define.conditions);
                let event = Event { file: file_number, at, conditions, define: Some(define), restores: None };
                events.entry(&define.name).or_default().push(event);
            }
            for undef in &file.directives.undefs {
                let (at, conditions, restores) = (undef.span.start, &undef.conditions, undef.restores);
                let event = Event { file: file_number, at, conditions, define: None, restores };
                events.entry(&undef.name).or_default().push(event);
            }
        }
        for list in events.values_mut() {
            list.sort_by_key(|event| (event.file, event.at));
        }
        let nvrtc = files.iter().any(|file| file.directives.nvrtc);
        let nvrtc = nvrtc.then(|| Compiler::new(Arc::new(build.for_nvrtc())));
        let graph = IncludeGraph::build(&including, folders);
        let lost = LostHeaders::of((0..).zip(&files).map(|(number, file)| (file.directives, graph.lost(number))));
        let nvcc = Compiler::new(Arc::clone(build));
        Self { files, graph, lost, events, nvcc, nvrtc, supposed: FxHashMap::default(), defining }
    }

    /// What is supposed, to be compared with another time.
    pub(crate) const fn suppositions(&self) -> &(impl std::fmt::Debug + use<'a>) {
        &self.supposed
    }

    /// The compiler of a file.
    pub(super) fn compiler(&self, file: u32) -> &Compiler {
        let for_nvrtc = self.files.get(file as usize).is_some_and(|file| file.directives.nvrtc);
        self.nvrtc.as_ref().filter(|_| for_nvrtc).unwrap_or(&self.nvcc)
    }

    /// Whether some build of a file may define a name.
    pub(super) fn may_be_made(&self, file: u32, name: &str) -> bool {
        let mut makers = self.defining.iter().filter(|it| it.names.contains(name)).peekable();
        if makers.peek().is_none() {
            return false;
        }
        // A header is built with what includes it, which may lie elsewhere.
        let reach = self.graph.reach(file);
        let built =
            |file: u32, folder: &str| self.files.get(file as usize).is_some_and(|file| is_below(file.path, folder));
        makers.any(|it| {
            built(file, &it.folder)
                || reach
                    .context
                    .iter()
                    .any(|other| built(*other, &it.folder) && self.graph.reach(*other).included.has(file))
        })
    }

    /// What all files do to a name, with the name as it is kept.
    pub(super) fn events(&self, name: &str) -> Option<(&'a str, &[Event<'a>])> {
        self.events.get_key_value(name).map(|(name, events)| (*name, events.as_slice()))
    }

    /// Whether one of some sorted files, or this one, is among those that an event stands in.
    pub(super) fn touches(events: &[Event<'_>], file: u32, others: &FileSet) -> bool {
        let has = |file: u32| {
            let first = events.partition_point(|event| event.file < file);
            events.get(first).is_some_and(|event| event.file == file)
        };
        if has(file) {
            return true;
        }
        if others.len() <= events.len() {
            return others.iter().any(|other| has(*other));
        }
        events.iter().any(|event| others.has(event.file))
    }
}
