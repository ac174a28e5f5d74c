//! The other half of a program that is part Python and part CUDA C++, where a run is about one language alone: a script that reads a
//! kernel's file launches what is in it, and its name in the script's text is what binds the two.

use crate::project::{ProjectInput, Source};
use cudalint_syntax::{FileKind, FileText, contains_gpu_python};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::OsStr;
use std::path::Path;

/// The partners of a run's sources.
pub(crate) struct Partners<'a> {
    /// Scripts that name a source of the run.
    pub scripts: Vec<&'a Source>,
    /// Programs, by the name of their file.
    programs: FxHashMap<&'a OsStr, Vec<&'a Source>>,
}

impl<'a> Partners<'a> {
    /// Reads the scripts among the candidates; of programs the name is enough.
    pub fn of(input: &'a ProjectInput<'_>) -> Self {
        let of_run: FxHashSet<&OsStr> = input
            .sources
            .iter()
            .filter(|source| is_program(source.kind))
            .filter_map(|it| it.real.file_name())
            .collect();
        let names_a_source = |source: &&Source| {
            let bytes = input.provider.read(&source.real).ok();
            let text = bytes.and_then(|bytes| FileText::from_bytes(source.kind, bytes).ok());
            text.is_some_and(|text| {
                let text = text.source.text();
                contains_gpu_python(text) && programs_named_in(text).any(|name| of_run.contains(name))
            })
        };
        let scripts = input.partners.par_iter().filter(|it| is_script(it.kind)).filter(names_a_source);
        let mut programs: FxHashMap<&OsStr, Vec<&Source>> = FxHashMap::default();
        for source in input.partners.iter().filter(|source| is_program(source.kind)) {
            if let Some(name) = source.real.file_name() {
                programs.entry(name).or_default().push(source);
            }
        }
        Self { scripts: scripts.collect(), programs }
    }

    /// The programs that the text of a script names.
    pub fn named_in(&self, text: &str) -> impl Iterator<Item = &'a Source> {
        let names = if self.programs.is_empty() { "" } else { text };
        programs_named_in(names).filter_map(|name| self.programs.get(name)).flatten().copied()
    }
}

/// Whether files of a kind are programs in Python.
pub(crate) fn is_script(kind: FileKind) -> bool {
    matches!(kind, FileKind::Python | FileKind::Notebook)
}

fn is_program(kind: FileKind) -> bool {
    matches!(kind, FileKind::Cuda | FileKind::CFamily)
}

/// The names of C++ files that stand in quotes, in a notebook behind backslashes, each without its folders.
fn programs_named_in(text: &str) -> impl Iterator<Item = &OsStr> {
    let quoted = text.split(['"', '\'', '\\']).map(Path::new);
    quoted.filter(|path| FileKind::of(path).is_some_and(is_program)).filter_map(Path::file_name)
}
