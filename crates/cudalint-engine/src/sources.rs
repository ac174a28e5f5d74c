//! Reading the sources of a project: which of them matter, and the headers that they include from elsewhere.

use crate::callers::{Callers, Calls};
use crate::outcome::{Fault, Part};
use crate::partners::{Partners, is_script};
use crate::project::{ProjectInput, Source};
use crate::provider::Provider;
use cudalint_findings::Incomplete;
use cudalint_program::SourceFile;
use cudalint_syntax::{FileKind, FileText, contains_cuda, contains_gpu_python, notebook_may_use_gpu};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source with its text.
pub(crate) struct Loaded {
    pub source: Source,
    pub file: SourceFile,
    why: Why,
    /// The files that it includes, system headers out of sight left out.
    includes: Vec<Included>,
}

/// Why a file is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Why {
    /// It is one of the project's, and read as far as it has GPU code.
    Listed,
    /// It belongs to a source of the other language, and is read as far as it has GPU code.
    Partner,
    /// A file that is taken includes it.
    Included,
    /// It calls what launches kernels.
    Calls,
    /// A file that is only read for what it calls includes it.
    IncludedByCaller,
}

impl AsRef<SourceFile> for Loaded {
    fn as_ref(&self) -> &SourceFile {
        &self.file
    }
}

impl Loaded {
    /// Whether it has no GPU code and is read for what functions with GPU code are given.
    pub fn is_of_callers(&self) -> bool {
        matches!(self.why, Why::Calls | Why::IncludedByCaller)
    }

    /// Whether it is there for a source of the other language.
    pub fn is_partner(&self) -> bool {
        self.why == Why::Partner
    }
}

/// An `#include`.
enum Included {
    /// Of this file.
    At(PathBuf),
    /// Of a file that is neither beside the includer nor in an include folder: the path as written.
    Somewhere(String),
}

/// What became of one file.
enum Read {
    Taken(Box<Loaded>, bool),
    /// Without GPU code; hashes of what it calls.
    Irrelevant(Source, Box<[u32]>),
    /// Why, and whether the system refused it.
    Refused(Source, String, bool),
}

/// Most calls from a file without GPU code to a launch that lead through others of the kind.
const MAX_CALLERS: usize = 4;

/// Reads everything; the result is sorted by path. With it comes what files call which were not read.
pub(crate) fn read_all(input: &ProjectInput<'_>, part: &mut Part) -> (Vec<Loaded>, Calls) {
    let mut taken: Vec<Loaded> = Vec::new();
    let mut known: FxHashSet<PathBuf> = input.sources.iter().map(|source| source.real.clone()).collect();
    // Files without GPU code: a header among them is read again when somebody includes it.
    let mut irrelevant: FxHashMap<PathBuf, Source> = FxHashMap::default();
    let mut by_name: FxHashMap<OsString, Vec<PathBuf>> = FxHashMap::default();
    let mut round: Vec<(Source, Why)> = input.sources.iter().map(|source| (source.clone(), Why::Listed)).collect();
    let partners = Partners::of(input);
    round.extend(partners.scripts.iter().map(|source| (Source::clone(source), Why::Partner)));
    let mut callers = Callers::default();
    let mut bytes = 0;
    let mut rounds = 0;
    let mut of_callers = 0;
    while !round.is_empty() {
        let results: Vec<Read> = round.par_drain(..).map(|(source, why)| read(source, why, input)).collect();
        let mut fresh: Vec<Loaded> = Vec::new();
        for result in results {
            match result {
                Read::Taken(loaded, lossy) => {
                    let length = loaded.file.text.len() as u64;
                    bytes += length;
                    if loaded.why == Why::IncludedByCaller {
                        callers.spend(length);
                    }
                    if matches!(loaded.source.kind, FileKind::Cuda | FileKind::CFamily) {
                        callers.take(&loaded.source.real, &loaded.file.text, loaded.why == Why::Calls);
                    }
                    if loaded.source.reported && lossy {
                        part.notes.push(format!("{}: bytes that are not UTF-8 are read as `?`", loaded.source.path));
                    }
                    fresh.push(*loaded);
                }
                Read::Irrelevant(source, calls) => {
                    callers.leave(&source.real, calls);
                    let name = source.real.file_name().unwrap_or_default().to_owned();
                    by_name.entry(name).or_default().push(source.real.clone());
                    irrelevant.insert(source.real.clone(), source);
                }
                Read::Refused(source, why, by_system) => {
                    refuse(&source, why, by_system, rounds > 0, part);
                }
            }
        }
        for (includer, include) in fresh.iter().flat_map(|loaded| loaded.includes.iter().map(move |i| (loaded, i))) {
            let of_caller = includer.is_of_callers();
            if of_caller && !callers.have_room(bytes, 0) {
                continue;
            }
            let why = if of_caller { Why::IncludedByCaller } else { Why::Included };
            match include {
                Included::At(real) if !input.bounds.hold(real) => {
                    let name = real.file_name().unwrap_or_default().to_string_lossy();
                    let reason = format!("an `#include` of `{name}` is not followed: it leads out of the project");
                    part.incomplete.push(Incomplete { path: includer.source.path.to_string(), reason });
                }
                Included::At(real) => {
                    if let Some(source) = irrelevant.remove(real) {
                        round.push((Source { reported: false, ..source }, why));
                    } else if bytes < input.settings.index.max_bytes && known.insert(real.clone()) {
                        let path = (input.shown)(real).into();
                        let kind = FileKind::of(real).unwrap_or(FileKind::CFamily);
                        let source = Source { path, real: real.clone(), kind, explicit: false, reported: false };
                        round.push((source, why));
                    }
                }
                // Found by its end, as the index does where no include folder is known.
                Included::Somewhere(target) => {
                    let target = Path::new(target.trim_start_matches("../"));
                    let candidates = target.file_name().and_then(|name| by_name.get(name));
                    for real in candidates.into_iter().flatten().filter(|real| real.ends_with(target)) {
                        round.extend(irrelevant.remove(real).map(|source| (Source { reported: false, ..source }, why)));
                    }
                }
            }
        }
        for loaded in fresh.iter().filter(|loaded| is_script(loaded.source.kind)) {
            let named = partners.named_in(&loaded.file.text).filter(|source| known.insert(source.real.clone()));
            round.extend(named.map(|source| (source.clone(), Why::Partner)));
        }
        taken.extend(fresh);
        rounds += 1;
        if round.is_empty() && of_callers < MAX_CALLERS {
            of_callers += 1;
            let text = |real: &Path| {
                let text = FileText::from_bytes(FileKind::CFamily, input.provider.read(real).ok()?).ok()?;
                Some(text.source.text().to_owned())
            };
            let found = callers.next(bytes, text).into_iter().filter_map(|real| irrelevant.remove(&real));
            round.extend(found.map(|source| (Source { reported: false, ..source }, Why::Calls)));
        }
    }
    let quiet = irrelevant.values().filter(|source| source.reported).count();
    if quiet > 0 {
        part.files.skipped += quiet;
        *part.statistics.skipped.entry("without GPU code".to_owned()).or_default() += quiet;
    }
    taken.sort_by(|a, b| a.source.path.cmp(&b.source.path).then_with(|| a.source.real.cmp(&b.source.real)));
    part.statistics.indexed_files = taken.len();
    part.statistics.indexed_bytes = bytes;
    (taken, callers.into_calls())
}

/// The kinds of the files that will be linted. Files found below a folder are taken to have GPU code, so that none is
/// read twice there; of those that were named, the text decides. What cannot be read has to be reported.
pub(crate) fn kinds_to_lint(sources: &[Source], provider: &dyn Provider) -> Vec<FileKind> {
    let linted = |source: &Source| {
        if !source.explicit || matches!(source.kind, FileKind::Cuda | FileKind::Markdown) {
            return true;
        }
        let text = provider.read(&source.real).ok().and_then(|bytes| FileText::from_bytes(source.kind, bytes).ok());
        text.is_none_or(|text| mentions_gpu(source.kind, &text))
    };
    [FileKind::Cuda, FileKind::CFamily, FileKind::Python, FileKind::Notebook, FileKind::Markdown]
        .into_iter()
        .filter(|kind| sources.iter().any(|source| source.kind == *kind && linted(source)))
        .collect()
}

/// Whether a file has code for the GPU; one that cannot be read is taken for one that has.
pub(crate) fn is_linted(source: &Source, provider: &dyn Provider) -> bool {
    let Ok(bytes) = provider.read(&source.real) else { return true };
    if source.kind == FileKind::Notebook && !source.explicit && !notebook_may_use_gpu(&bytes) {
        return false;
    }
    FileText::from_bytes(source.kind, bytes).is_ok_and(|text| mentions_gpu(source.kind, &text))
}

fn mentions_gpu(kind: FileKind, text: &FileText) -> bool {
    match kind {
        FileKind::Cuda | FileKind::Markdown => true,
        FileKind::CFamily => contains_cuda(text.source.text()),
        FileKind::Python => contains_gpu_python(text.source.text()),
        FileKind::Notebook => text.has_cuda_cells() || contains_gpu_python(text.source.text()),
    }
}

/// Tells why a file was not read, when anybody asked for it.
fn refuse(source: &Source, why: String, by_system: bool, included: bool, part: &mut Part) {
    if !source.reported {
        // What it would have said of the files that include it is missing there.
        if included {
            part.incomplete.push(Incomplete { path: source.path.to_string(), reason: format!("not read: {why}") });
        }
        return;
    }
    part.files.skipped += 1;
    *part.statistics.skipped.entry("no source text".to_owned()).or_default() += 1;
    if source.explicit || by_system {
        part.faults.push(Fault { path: source.path.to_string(), message: why, internal: false });
    } else {
        part.incomplete.push(Incomplete { path: source.path.to_string(), reason: format!("not linted: {why}") });
    }
}

fn read(source: Source, why: Why, input: &ProjectInput<'_>) -> Read {
    if input.steps.are_over() {
        return Read::Irrelevant(source, Box::default());
    }
    let bytes = match input.provider.read(&source.real) {
        Ok(bytes) => bytes,
        Err(error) => {
            let fault = Fault::unreadable(&source.path, &error);
            return Read::Refused(source, fault.message, true);
        }
    };
    // Outputs of a notebook may be long: one that says nothing of the GPU anywhere is not taken apart.
    if source.kind == FileKind::Notebook && !source.explicit && !notebook_may_use_gpu(&bytes) {
        return Read::Irrelevant(source, Box::default());
    }
    let text = match FileText::from_bytes(source.kind, bytes) {
        Ok(text) => text,
        Err(problem) => return Read::Refused(source, problem.to_string(), false),
    };
    if matches!(why, Why::Listed | Why::Partner) && !mentions_gpu(source.kind, &text) {
        let calls = Callers::calls_of(source.kind, text.source.text());
        return Read::Irrelevant(source, calls);
    }
    let file = SourceFile { reported: source.reported, ..SourceFile::new(Arc::clone(&source.path), &text) };
    let mut includes = Vec::new();
    // The fences of a document stand for themselves.
    if matches!(source.kind, FileKind::Cuda | FileKind::CFamily) {
        let folder = source.real.parent().unwrap_or(Path::new(""));
        for include in file.pieces.iter().flat_map(|piece| &piece.directives.includes) {
            let beside = (!include.system).then(|| folder.join(&include.path));
            let found = beside
                .into_iter()
                .chain(input.reading.includes.iter().map(|base| base.join(&include.path)))
                .find_map(|path| input.provider.resolve(&path));
            includes.push(found.map_or_else(|| Included::Somewhere(include.path.clone()), Included::At));
        }
    }
    Read::Taken(Box::new(Loaded { source, file, why, includes }), text.is_lossy())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::levels::{Choices, Levels};
    use crate::lint::lint_project;
    use crate::project::{ProjectInput, Source};
    use crate::provider::{Memory, Provider};
    use crate::reading::Reading;
    use crate::rule::RuleTable;
    use crate::settings::Settings;
    use crate::steps::{Steps, Stop};
    use cudalint_files::Bounds;
    use cudalint_syntax::FileKind;
    use std::io;
    use std::path::{Path, PathBuf};

    /// Refuses one file.
    struct Refusing(Memory);

    impl Provider for Refusing {
        fn read(&self, real: &Path) -> io::Result<Vec<u8>> {
            if real == Path::new("locked.cu") {
                return Err(io::ErrorKind::PermissionDenied.into());
            }
            self.0.read(real)
        }

        fn resolve(&self, path: &Path) -> Option<PathBuf> {
            self.0.resolve(path)
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_and_the_others_are_linted() {
        let settings = Settings::default();
        let levels = Levels::new(&RuleTable { rules: &[], unproven: &[] }, &settings, &Choices::default()).unwrap();
        let mut provider = Refusing(Memory::default());
        provider.0.files.insert("a.cu".into(), b"int a;\xff\n".to_vec());
        let sources = ["a.cu", "locked.cu"].map(|path| Source {
            path: path.into(),
            real: path.into(),
            kind: FileKind::Cuda,
            explicit: false,
            reported: true,
        });
        let part = lint_project(&ProjectInput {
            rules: &[],
            levels: &levels,
            settings: &settings,
            overrides: Vec::new(),
            only_local: Vec::new(),
            bounds: Bounds::everywhere(),
            reading: Reading::default(),
            sources: sources.to_vec(),
            partners: Vec::new(),
            others: None,
            look: None,
            kept: None,
            shown: &|path| path.display().to_string(),
            provider: &provider,
            in_work: &|_| true,
            steps: &Steps::new(&|_| {}, Stop::default()),
        });
        assert_eq!((part.files.checked, part.files.skipped), (1, 1));
        assert_eq!(part.faults.len(), 1);
        assert_eq!(part.faults[0].path, "locked.cu");
        assert_eq!(part.faults[0].message, "cannot be read: permission denied");
        assert_eq!(part.notes, ["a.cu: bytes that are not UTF-8 are read as `?`"]);
    }
}
