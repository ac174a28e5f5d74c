//! Reading the sources of a project: which of them matter, and the headers that they include from elsewhere.

use crate::lint::{ProjectInput, Source};
use crate::outcome::{Fault, Part};
use cudalint_syntax::{Directives, FileKind, SourceText, Span, contains_cuda, contains_gpu_python, scan_directives};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source with its text.
pub(crate) struct Loaded {
    pub source: Source,
    pub text: Arc<str>,
    /// Macros and includes; empty for other languages than C++.
    pub directives: Directives,
    /// The project's files that it includes, by the path as written.
    pub includes: Vec<(String, PathBuf)>,
}

/// What became of one file.
enum Read {
    Taken(Box<Loaded>, bool),
    /// Of no concern to the GPU.
    Irrelevant(Source),
    Refused(Source, String, bool),
}

/// Reads everything; the result is sorted by path.
pub(crate) fn load(input: &ProjectInput<'_>, part: &mut Part) -> Vec<Loaded> {
    let mut taken: Vec<Loaded> = Vec::new();
    let mut known: FxHashSet<PathBuf> = input.sources.iter().map(|source| source.real.clone()).collect();
    let mut irrelevant: FxHashMap<PathBuf, Source> = FxHashMap::default();
    let mut round: Vec<(Source, bool)> = input.sources.iter().map(|source| (source.clone(), false)).collect();
    let budget = input.settings.index.max_bytes;
    let mut bytes = 0;
    while !round.is_empty() {
        let results: Vec<Read> = round.par_drain(..).map(|(source, included)| read(source, included, input)).collect();
        let mut wanted: Vec<(Source, bool)> = Vec::new();
        for result in results {
            match result {
                Read::Taken(loaded, lossy) => {
                    bytes += loaded.text.len() as u64;
                    if loaded.source.reported && lossy {
                        part.notes.push(format!("{}: bytes that are not UTF-8 are read as `?`", loaded.source.path));
                    }
                    for (_, real) in &loaded.includes {
                        if let Some(source) = irrelevant.remove(real) {
                            wanted.push((Source { reported: false, ..source }, true));
                        } else if !known.contains(real) && bytes < budget {
                            known.insert(real.clone());
                            let path = (input.shown)(real).into();
                            let kind = FileKind::of(real).unwrap_or(FileKind::CFamily);
                            wanted.push((
                                Source { path, real: real.clone(), kind, explicit: false, reported: false },
                                true,
                            ));
                        }
                    }
                    taken.push(*loaded);
                }
                Read::Irrelevant(source) => {
                    // A file that was met before its includer is not asked for again: the includer finds it here.
                    if taken.iter().any(|other| other.includes.iter().any(|(_, real)| *real == source.real)) {
                        wanted.push((Source { reported: false, ..source }, true));
                    } else {
                        irrelevant.insert(source.real.clone(), source);
                    }
                }
                Read::Refused(source, why, refused_by_system) => {
                    if !source.reported {
                        continue;
                    }
                    if source.explicit || refused_by_system {
                        part.faults.push(Fault { path: source.path.to_string(), message: why, internal: false });
                    } else {
                        part.notes.push(format!("{}: not linted: {why}", source.path));
                    }
                    part.files.skipped += 1;
                    *part.statistics.skipped.entry("no source text".to_owned()).or_default() += 1;
                }
            }
        }
        wanted.sort_by(|a, b| a.0.real.cmp(&b.0.real));
        wanted.dedup_by(|a, b| a.0.real == b.0.real);
        round = wanted;
    }
    let quiet = irrelevant.values().filter(|source| source.reported).count();
    if quiet > 0 {
        part.files.skipped += quiet;
        *part.statistics.skipped.entry("without GPU code".to_owned()).or_default() += quiet;
    }
    taken.sort_by(|a, b| a.source.path.cmp(&b.source.path).then_with(|| a.source.real.cmp(&b.source.real)));
    part.statistics.indexed_files = taken.len();
    part.statistics.indexed_bytes = bytes;
    taken
}

fn read(source: Source, included: bool, input: &ProjectInput<'_>) -> Read {
    let bytes = match input.provider.read(&source.real) {
        Ok(bytes) => bytes,
        Err(error) => {
            let fault = Fault::unreadable(&source.path, &error);
            return Read::Refused(source, fault.message, true);
        }
    };
    let text = match SourceText::from_bytes(bytes) {
        Ok(text) => text,
        Err(problem) => return Read::Refused(source, problem.to_string(), false),
    };
    let relevant = included
        || match source.kind {
            FileKind::Cuda | FileKind::Markdown => true,
            FileKind::CFamily => contains_cuda(text.text()),
            FileKind::Python => contains_gpu_python(text.text()),
        };
    if !relevant {
        return Read::Irrelevant(source);
    }
    let mut directives = Directives::default();
    let mut includes = Vec::new();
    if matches!(source.kind, FileKind::Cuda | FileKind::CFamily) {
        directives = scan_directives(text.text(), Span::new(0, text.text().len()));
        let folder = source.real.parent().unwrap_or(Path::new(""));
        for include in &directives.includes {
            let beside = (!include.system).then(|| folder.join(&include.path));
            let found = beside
                .into_iter()
                .chain(input.includes.iter().map(|base| base.join(&include.path)))
                .find_map(|path| input.provider.resolve(&path));
            if let Some(real) = found {
                includes.push((include.path.clone(), real));
            }
        }
    }
    let lossy = text.is_lossy();
    Read::Taken(Box::new(Loaded { source, text: text.shared(), directives, includes }), lossy)
}
