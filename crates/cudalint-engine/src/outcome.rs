//! What a run gives back: findings, the texts they point into, what could not be read, and counts.

use crate::baseline::Known;
use cudalint_findings::{CellStart, FileCounts, Finding, Incomplete, Report, Sources};
use cudalint_replay::runs::Basis;
use cudalint_syntax::{Cell, FileKind};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What makes a run impossible: bad arguments or settings, in words.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Something that kept a file, or part of a run, from being linted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file or folder.
    pub path: String,
    /// What happened.
    pub message: String,
    /// Whether cudalint is to blame.
    pub internal: bool,
}

impl Fault {
    /// A file that the system would not read.
    pub fn unreadable(path: &str, error: &std::io::Error) -> Self {
        let why = match error.kind() {
            std::io::ErrorKind::NotFound => "no such file or folder".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            _ => error.to_string(),
        };
        Self { path: path.to_owned(), message: format!("cannot be read: {why}"), internal: false }
    }

    /// A fault of cudalint itself, with the words of the panic.
    pub fn internal(path: &str, said: &str) -> Self {
        Self {
            path: path.to_owned(),
            message: format!("internal fault in this file: please report it ({said}); other files are not affected"),
            internal: true,
        }
    }
}

/// A place that executions of kernels show at work: the name of a function of device code, a launch, or an allocation that
/// a kernel is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Executed {
    /// The file.
    pub path: Arc<str>,
    /// Its first byte there.
    pub start: u32,
    /// What the surest of these executions rests on.
    pub basis: Basis,
    /// Whether all of these surest ones were followed in every step; see [`cudalint_replay::runs::KernelRun::is_whole`].
    pub whole: bool,
}

/// A budget that ran out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cut {
    /// The file whose budget it was.
    pub path: Arc<str>,
    /// What was being done.
    pub phase: &'static str,
    /// What there was too much of.
    pub cause: &'static str,
}

/// Counts of a run; the same for the same input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Findings shown, by rule.
    pub by_rule: BTreeMap<String, usize>,
    /// Findings that a comment suppressed.
    pub suppressed: usize,
    /// What was cut short in the reported files.
    pub cuts: BTreeMap<Cut, u64>,
    /// How the launches of kernels in reported files were executed.
    pub kernels: cudalint_replay::runs::Counts,
    /// What of device code, launches and allocations was executed, in order, each place once.
    pub executed: Vec<Executed>,
    /// Files that were not linted, by cause.
    pub skipped: BTreeMap<String, usize>,
    /// Files read for the index, those linted included.
    pub indexed_files: usize,
    /// Their bytes.
    pub indexed_bytes: u64,
    /// Projects whose sources exceed `index.max-bytes`.
    pub capped_projects: usize,
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Findings in order, the texts they point into, and counts of files.
    pub report: Report,
    /// What could not be read, in order.
    pub faults: Vec<Fault>,
    /// What a user should know but need not act on.
    pub notes: Vec<String>,
    /// What only who asks for more wants to know.
    pub details: Vec<String>,
    /// Rules that nobody asked for by their names.
    pub unasked: Vec<&'static str>,
    /// Where the settings have the pages of the rules.
    pub rules_url: Option<String>,
    /// What baselines kept quiet, and what of them no longer occurs.
    pub known: Vec<Known>,
    /// Counts.
    pub statistics: Statistics,
    /// Real paths of the files that were read, reported or not.
    pub read: Vec<PathBuf>,
    /// What the run worked on. Taking it down takes time: a program that ends anyway may leave that to the system.
    pub remains: Remains,
}

impl Outcome {
    /// Counts findings anew, after some were taken away.
    pub(crate) fn count_rules(&mut self) {
        let by_rule = &mut self.statistics.by_rule;
        by_rule.clear();
        for finding in &self.report.findings {
            *by_rule.entry(finding.rule.name.to_owned()).or_default() += 1;
        }
    }

    /// What was not read or analysed as a whole, faults left out.
    pub fn incomplete(&self) -> impl Iterator<Item = &Incomplete> {
        let fault = |entry: &Incomplete| {
            self.faults.iter().any(|fault| fault.path == entry.path && fault.message == entry.reason)
        };
        self.report.incomplete.iter().filter(move |entry| !fault(entry))
    }
}

/// Memory that nobody reads again.
#[derive(Default)]
pub struct Remains(Vec<Box<dyn Any + Send>>);

impl Remains {
    /// Keeps something.
    pub(crate) fn keep(&mut self, thing: impl Any + Send) {
        self.0.push(Box::new(thing));
    }
}

impl std::fmt::Debug for Remains {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remains").finish_non_exhaustive()
    }
}

/// The text of a file.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    /// Its path as output shows it.
    pub path: Arc<str>,
    pub content: Arc<str>,
    /// Where its cells begin when it is a notebook.
    pub cells: Arc<[CellStart]>,
    /// The file.
    pub real: PathBuf,
    pub kind: FileKind,
}

impl Text {
    pub fn new(path: Arc<str>, content: Arc<str>, cells: &[Cell], real: &Path, kind: FileKind) -> Self {
        let cells = cells.iter().map(|cell| CellStart { start: cell.start, index: cell.index }).collect();
        Self { path, content, cells, real: real.to_owned(), kind }
    }
}

/// The result for one project; several are joined into an [`Outcome`].
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub findings: Vec<Finding>,
    pub sources: Vec<Text>,
    pub faults: Vec<Fault>,
    /// What was not read or analysed as a whole and is no fault.
    pub incomplete: Vec<Incomplete>,
    pub notes: Vec<String>,
    pub files: FileCounts,
    pub statistics: Statistics,
    pub read: Vec<PathBuf>,
    pub remains: Remains,
}

impl Part {
    /// Adds another project's result.
    pub fn absorb(&mut self, other: Self) {
        self.findings.extend(other.findings);
        self.sources.extend(other.sources);
        self.faults.extend(other.faults);
        self.incomplete.extend(other.incomplete);
        self.notes.extend(other.notes);
        self.files.checked += other.files.checked;
        self.files.skipped += other.files.skipped;
        self.files.damaged += other.files.damaged;
        self.read.extend(other.read);
        self.remains.0.extend(other.remains.0);
        let (to, from) = (&mut self.statistics, other.statistics);
        for (cut, count) in from.cuts {
            *to.cuts.entry(cut).or_default() += count;
        }
        to.kernels.add(&from.kernels);
        to.executed.extend(from.executed);
        for (cause, count) in from.skipped {
            *to.skipped.entry(cause).or_default() += count;
        }
        to.suppressed += from.suppressed;
        to.indexed_files += from.indexed_files;
        to.indexed_bytes += from.indexed_bytes;
        to.capped_projects += from.capped_projects;
    }

    /// Puts everything into its order.
    pub fn finish(mut self) -> Outcome {
        let executed = &mut self.statistics.executed;
        executed.sort_by(|a, b| (&a.path, a.start, b.basis).cmp(&(&b.path, b.start, a.basis)));
        executed.dedup_by(|later, first| {
            let same = later.path == first.path && later.start == first.start;
            if same && later.basis == first.basis {
                first.whole &= later.whole;
            }
            same
        });
        let mut sources = Sources::new();
        for Text { path, content, cells, .. } in self.sources {
            sources.insert_notebook(path, content, cells);
        }
        self.faults.sort_by(|a, b| a.path.cmp(&b.path).then_with(|| a.message.cmp(&b.message)));
        self.faults.dedup();
        self.notes.sort();
        self.notes.dedup();
        let faults =
            self.faults.iter().map(|fault| Incomplete { path: fault.path.clone(), reason: fault.message.clone() });
        self.incomplete.extend(faults);
        let mut report = Report::new(self.findings, self.files, sources);
        report.set_incomplete(self.incomplete);
        let mut outcome = Outcome {
            report,
            faults: self.faults,
            notes: self.notes,
            statistics: self.statistics,
            read: self.read,
            remains: self.remains,
            ..Outcome::default()
        };
        outcome.count_rules();
        outcome
    }
}
