//! What one run has to say: findings, counts of files, and the texts they point into.

use crate::claim::{Fault, Shows};
use crate::finding::{Finding, Group, Method, RuleInfo, Severity};
use crate::sources::Sources;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// How many files a run met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Files read and linted.
    pub checked: usize,
    /// Files found but not linted.
    pub skipped: usize,
    /// Linted files of which a part could not be parsed.
    pub damaged: usize,
}

/// A file, or a part of one, of which findings may be missing, and why. Every format says it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incomplete {
    /// The file or folder, as findings name it.
    pub path: String,
    /// What was not read or not analysed, in words.
    pub reason: String,
}

/// How many findings a report has at each level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct Summary {
    pub error: usize,
    pub warning: usize,
    pub info: usize,
}

/// What one run has to say.
#[derive(Debug, Default)]
pub struct Report {
    /// Sorted by path, offset, rule.
    pub findings: Vec<Finding>,
    /// What was read.
    pub files: FileCounts,
    /// The texts findings point into.
    pub sources: Sources,
    /// What was not read or not analysed as a whole, sorted, each once; see [`Report::set_incomplete`].
    pub incomplete: Vec<Incomplete>,
}

impl Report {
    /// Puts findings into their order and gives those without a fingerprint one.
    pub fn new(mut findings: Vec<Finding>, files: FileCounts, sources: Sources) -> Self {
        sort(&mut findings);
        crate::fingerprint::fill(&mut findings, &sources);
        Self { findings, files, sources, incomplete: Vec::new() }
    }

    /// Says what was not read or not analysed as a whole, in any order.
    pub fn set_incomplete(&mut self, mut incomplete: Vec<Incomplete>) {
        incomplete.sort();
        incomplete.dedup();
        self.incomplete = incomplete;
    }

    /// How many files and folders that is.
    pub fn incomplete_files(&self) -> usize {
        self.incomplete.chunk_by(|a, b| a.path == b.path).count()
    }

    /// Findings by level.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for finding in &self.findings {
            match finding.severity {
                Severity::Error => summary.error += 1,
                Severity::Warning => summary.warning += 1,
                Severity::Info => summary.info += 1,
            }
        }
        summary
    }

    /// The order for people: what is surely wrong comes first, so that the first screen shows it. Error-handling
    /// findings (those that only an injected fault can show: an ignored status) come last however many there are and
    /// whatever level the settings give them; within each part by level, then group, then confidence, then path,
    /// offset and rule.
    pub fn by_importance(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by_key(|finding| {
            (is_error_handling(finding), Reverse(finding.severity), finding.rule.group, Reverse(finding.confidence))
        });
        findings
    }
}

impl Finding {
    /// Whether it says that a status, a launch or an asynchronous error is not looked at: what a program has by the
    /// hundred or not at all, and what does no harm until something else fails.
    pub fn is_unread_status(&self) -> bool {
        let asks = Shows::UnreadStatus { fault: Fault::Status };
        let [launch, later] = [Fault::Launch, Fault::Asynchronous].map(|fault| Shows::UnreadStatus { fault });
        is_error_handling(self) && [asks, launch, later].contains(&self.claim.shows)
    }
}

/// Whether a finding is about an ignored status rather than a wrong program: nothing but an injected fault shows it,
/// and it is not a defect of group *correctness*.
fn is_error_handling(finding: &Finding) -> bool {
    finding.rule.is_error_handling()
}

impl RuleInfo {
    /// Whether it is about error handling: its findings are shown by an injected fault alone, and are no defects of group
    /// *correctness*.
    pub fn is_error_handling(&self) -> bool {
        self.method == Method::FaultInjection && self.group != Group::Correctness
    }
}

/// The order for machines: path, offset, rule; then what else tells two findings apart, so that the order never
/// depends on who found them first.
pub fn sort(findings: &mut [Finding]) {
    let key = |finding: &Finding| (finding.place.range.start, finding.rule.name, finding.place.range.end);
    findings.sort_by(|a, b| {
        let order = a.place.path.cmp(&b.place.path).then_with(|| key(a).cmp(&key(b)));
        // Few findings of one rule stand at one place.
        order.then_with(|| format!("{:?}", a.claim).cmp(&format!("{:?}", b.claim)))
    });
}
