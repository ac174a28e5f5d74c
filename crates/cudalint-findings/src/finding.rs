//! The finding: data only. Positions are byte ranges of a file until a format turns them into lines.

use crate::claim::{self, Claim};
use crate::spelled::spelled;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

spelled! {
    /// How bad it is.
    pub enum Severity {
        /// Good to know.
        Info = "info",
        /// Should be looked at.
        Warning = "warning",
        /// A defect.
        Error = "error",
    }
}

spelled! {
    /// How sure it is.
    pub enum Confidence {
        /// Off by default.
        Possible = "possible",
        /// Rests on exactly the assumptions listed in the witness.
        Likely = "likely",
        /// The witness follows from facts in the source.
        Definite = "definite",
    }
}

spelled! {
    /// The group of a rule, which sets the level of its findings.
    pub enum Group {
        /// Wrong on every machine: definite findings are errors.
        Correctness = "correctness",
        /// Very probably wrong: warnings.
        Suspicious = "suspicious",
        /// Wrong on some architectures or settings: warnings.
        Portability = "portability",
        /// Slow: off until asked for.
        Performance = "performance",
        /// A matter of taste: off until asked for.
        Pedantic = "pedantic",
        /// New: off until asked for.
        Preview = "preview",
    }
}

spelled! {
    /// How a GPU run would show the defect.
    #[allow(missing_docs)]
    pub enum Method {
        Memcheck = "memcheck",
        Racecheck = "racecheck",
        Initcheck = "initcheck",
        Synccheck = "synccheck",
        Leakcheck = "leakcheck",
        ApiError = "api-error",
        Exception = "exception",
        Output = "output",
        Watchpoint = "watchpoint",
        FaultInjection = "fault-injection",
        Delay = "delay",
        Compile = "compile",
        Counters = "counters",
        Time = "time",
        None = "none",
    }
}

/// A place: a byte range of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Path as given on the command line, joined with what was found below it; `/` on every system.
    pub path: Arc<str>,
    /// Byte range.
    pub range: Range<usize>,
}

/// A place with words.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// Where.
    pub place: Place,
    /// What is there.
    pub message: String,
}

/// A kernel launch of this run.
pub type LaunchWitness = claim::Launch<Place>;
/// One access by one thread of this run.
pub type AccessWitness = claim::Access<Place>;

/// Why the finding is true, for people: the numbers and the way there. Launch and accesses are part of the claim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Witness {
    /// Names and the values they have.
    pub bindings: Vec<(String, i64)>,
    /// What is assumed, in words: empty for a definite finding.
    pub assumptions: Vec<String>,
    /// The way there.
    pub path: Vec<Label>,
}

spelled! {
    /// Whether a fix keeps the meaning of a correct program.
    pub enum Applicability {
        /// It does.
        Safe = "safe",
        /// It needs review.
        Unsafe = "unsafe",
        /// For reading only.
        Display = "display",
    }
}

/// A change of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// What is replaced.
    pub place: Place,
    /// By what.
    pub text: String,
}

/// A proposed change.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    /// How far it can be trusted.
    pub applicability: Applicability,
    /// What it does, in the imperative.
    pub message: String,
    /// The edits; they do not overlap.
    pub edits: Vec<Edit>,
}

/// What a rule is, as far as output needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleInfo {
    /// Its name.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// One sentence.
    pub summary: &'static str,
    /// The whole page, Markdown.
    pub page: &'static str,
    /// How a GPU run shows it.
    pub method: Method,
    /// The guidelines of NVIDIA's CUDA C++ Guidelines for Robust and Safety Critical Programming that it checks: `CUDA-1.4`.
    pub guidelines: &'static [&'static str],
    /// CWE number.
    pub cwe: Option<u32>,
}

spelled! {
    /// What a GPU run said about a finding.
    pub enum Verdict {
        /// Evidence of this kind at this kernel and line.
        Confirmed = "confirmed",
        /// It ran, and nothing was seen.
        NotObserved = "not-observed",
        /// The witness's own access ran and was in bounds, or its call succeeded. Never for races and orderings.
        Refuted = "refuted",
        /// No program could be built.
        Unviable = "unviable",
        /// It ran out of time.
        Timeout = "timeout",
        /// No device, tool or architecture for it.
        Unsupported = "unsupported",
    }
}

/// What a verdict rests on. Paths are relative to the outcome folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Tool and version.
    pub back_end: String,
    /// The GPU; null where nothing ran.
    pub device: Option<String>,
    /// What the tool reported.
    pub records: Vec<EvidenceRecord>,
    /// The command that ran.
    pub command: Option<String>,
    /// File with its output.
    pub log: Option<String>,
    /// Program that shows the defect again.
    pub reproducer: Option<String>,
}

/// One report of a tool about a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceRecord {
    /// What the tool calls it.
    pub kind: String,
    /// The kernel, where the tool names one.
    pub kernel: Option<String>,
    /// The file, relative to the outcome folder.
    pub path: Option<String>,
    /// Its cell, in a notebook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<u32>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Block index.
    pub block: Option<[u64; 3]>,
    /// Thread index.
    pub thread: Option<[u64; 3]>,
    /// The tool's words.
    pub text: String,
}

impl EvidenceRecord {
    /// What was seen at a line of a file.
    pub fn at(kind: &str, path: &str, line: u32, text: impl Into<String>) -> Self {
        Self {
            kind: kind.to_owned(),
            path: Some(path.to_owned()),
            line: Some(line),
            text: text.into(),
            ..Self::default()
        }
    }

    /// The same, in a kernel.
    #[must_use]
    pub fn in_kernel(self, kernel: impl Into<Option<String>>) -> Self {
        Self { kernel: kernel.into(), ..self }
    }
}

/// A verdict with its evidence: filled by a verifying run only.
#[derive(Clone, Debug, PartialEq)]
pub struct Verification {
    /// The verdict.
    pub verdict: Verdict,
    /// In one sentence, why; empty where it is not known any more.
    pub reason: String,
    /// What it rests on.
    pub evidence: Evidence,
}

impl Verification {
    /// `confirmed on NVIDIA H200`, `not-observed on NVIDIA H200`, `unsupported`.
    pub fn words(&self) -> String {
        match &self.evidence.device {
            Some(device) => format!("{} on {device}", self.verdict.name()),
            None => self.verdict.name().to_owned(),
        }
    }
}

/// One defect, reported.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static RuleInfo,
    /// How bad, after settings.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// One sentence that names the things involved.
    pub message: String,
    /// Where.
    pub place: Place,
    /// Words for the primary place; empty to show the place alone.
    pub label: String,
    /// The function around it; empty at file scope.
    pub function: String,
    /// Other places that matter.
    pub related: Vec<Label>,
    /// What a run has to show.
    pub claim: Claim<Place>,
    /// Why it is true.
    pub witness: Option<Witness>,
    /// How a GPU run shows this one, where not as its rule says: what a package of Python refuses ends in an exception.
    pub method: Option<Method>,
    /// What to do, in words.
    pub help: Option<String>,
    /// A change that mends it.
    pub fix: Option<Fix>,
    /// Whether the same function does elsewhere what is missing here: it checks other statuses.
    pub done_elsewhere: bool,
    /// Stable identity (see `fingerprint`); filled by the engine.
    pub fingerprint: String,
    /// What a GPU run said; none after a check alone.
    pub verification: Option<Verification>,
}

impl Finding {
    /// All words for people, and what its fix writes.
    pub fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let path = self.witness.iter_mut().flat_map(|witness| &mut witness.path);
        let labels = self.related.iter_mut().chain(path).map(|label| &mut label.message);
        let fix = self
            .fix
            .iter_mut()
            .flat_map(|fix| std::iter::once(&mut fix.message).chain(fix.edits.iter_mut().map(|edit| &mut edit.text)));
        [&mut self.message, &mut self.label].into_iter().chain(&mut self.help).chain(labels).chain(fix)
    }
}
