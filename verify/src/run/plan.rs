//! Which findings are verified, under which names, in which order, and which of them have an outcome already.

use super::request::Request;
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::receipt::hash;
use cudalint_findings::model::{FindingEntry, Verdict};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Characters of a fingerprint in a scenario's name; more when two would be the same.
pub const SHORT: usize = 8;

/// One finding to verify.
#[derive(Clone, Debug)]
pub(super) struct Task {
    /// Its place among the request's findings.
    pub index: usize,
    /// Name of its scenario.
    pub id: String,
    /// Hash of what its outcome depends on.
    pub basis: String,
}

/// The findings that the request selects.
pub(super) fn of(request: &Request<'_>) -> Vec<Task> {
    let tools = tools(&request.machine);
    let mut sources = HashMap::new();
    // Names are given before the selection, so that a selection does not change them.
    let ids = ids(request.findings);
    let tasks = request.findings.iter().zip(ids).enumerate();
    tasks
        .filter(|(_, (finding, _))| selected(&request.only, finding))
        .map(|(index, (finding, id))| {
            let source = sources.entry(finding.path.as_str()).or_insert_with(|| {
                let bytes =
                    cudalint_files::read_file(request.root.join(&finding.path).as_std_path()).unwrap_or_default();
                let flags = (request.flags_for)(&finding.path).join("\0");
                let project = (request.project_for)(&finding.path).map(|it| format!("{it:?}")).unwrap_or_default();
                hash([String::from_utf8_lossy(&bytes).as_ref(), &flags, &project])
            });
            let basis = hash([env!("CARGO_PKG_VERSION"), &tools, source, &said(finding)]);
            Task { index, id, basis }
        })
        .collect()
}

/// What of a finding a verdict depends on: no word that is written for people.
pub(super) fn said(finding: &FindingEntry) -> String {
    let FindingEntry { path, range, function, confidence, claim, verification, fix, .. } = finding;
    let edits = fix.as_ref().map(|fix| &fix.edits);
    serde_json::to_string(&(path, range, function, confidence, claim, verification.method, edits)).unwrap_or_default()
}

/// The tools that a verdict depends on. Free memory and places of programs do not matter.
fn tools(machine: &Machine) -> String {
    let programs = [&machine.nvcc, &machine.nvrtc, &machine.compute_sanitizer, &machine.addr2line];
    let mut words: Vec<String> = vec![machine.driver.clone().unwrap_or_default()];
    words.extend(programs.iter().map(|program| program.as_ref().map_or(String::new(), |found| found.version.clone())));
    words.extend(machine.devices.iter().map(|device| format!("{} {}", device.name, device.architecture)));
    if let Some(python) = &machine.python {
        words.push(python.program.version.clone());
        words.extend(
            python
                .packages
                .iter()
                .map(|package| format!("{} {:?} {}", package.name, package.version, package.problem.is_some())),
        );
    }
    words.join("\n")
}

/// Whether the user wants this one.
fn selected(only: &[String], finding: &FindingEntry) -> bool {
    only.is_empty() || only.iter().any(|word| names(word, finding))
}

/// Whether a word of [`Request::only`] names this finding: its rule, or its fingerprint or that one's beginning.
pub fn names(word: &str, finding: &FindingEntry) -> bool {
    word == finding.rule
        || word == finding.fingerprint
        || (word.len() >= SHORT && finding.fingerprint.starts_with(word))
}

/// Names of the scenarios: the rule and the fingerprint's beginning, no two the same.
fn ids(findings: &[FindingEntry]) -> Vec<String> {
    let mut taken = HashSet::new();
    findings
        .iter()
        .map(|finding| {
            let print: Vec<char> = finding.fingerprint.chars().filter(char::is_ascii_alphanumeric).collect();
            let short = |length: usize| {
                let begin: String = print.iter().take(length).collect();
                format!("{}-{begin}", name(&finding.rule))
            };
            let longer = (SHORT..=print.len().max(SHORT)).map(short);
            let numbered = (2..).map(|number: usize| format!("{}-{number}", short(print.len())));
            let id = longer.chain(numbered).find(|id| !taken.contains(id)).unwrap_or_default();
            taken.insert(id.clone());
            id
        })
        .collect()
}

/// A rule's name as a part of a folder's: findings may come from a file that anyone wrote.
fn name(rule: &str) -> String {
    rule.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '_').take(100).collect()
}

/// The outcomes of an earlier run that still hold, by the findings' places.
pub(super) fn taken_over(request: &Request<'_>, plan: &[Task], earlier: Vec<Outcome>) -> BTreeMap<usize, Outcome> {
    let mut known: HashMap<(String, String), Outcome> =
        earlier.into_iter().map(|outcome| ((outcome.id.clone(), outcome.basis.clone()), outcome)).collect();
    plan.iter()
        .filter_map(|task| {
            let outcome = known.remove(&(task.id.clone(), task.basis.clone()))?;
            let finding = request.findings.get(task.index)?;
            (outcome.fingerprint == finding.fingerprint && holds(request, finding, &outcome))
                .then_some((task.index, outcome))
        })
        .collect()
}

/// Whether a run of now would give the same.
fn holds(request: &Request<'_>, finding: &FindingEntry, outcome: &Outcome) -> bool {
    let more_time = request.limits.run.as_secs_f64() > outcome.limit_seconds;
    let wants_fix = request.fixed.is_some() && outcome.fixed.is_none() && finding.fix.is_some();
    let ran_out = outcome.verification.verdict == Some(Verdict::Timeout);
    let again = ran_out && more_time;
    !wants_fix && !again
}

/// Tasks in an order in which those of one file, which wait for one build, do not begin together.
pub(super) fn spread<'plan>(
    tasks: impl Iterator<Item = &'plan Task>,
    path: impl Fn(&Task) -> &'plan str,
) -> Vec<&'plan Task> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut ranked: Vec<(usize, &Task)> = Vec::new();
    for task in tasks {
        let rank = seen.entry(path(task)).or_default();
        ranked.push((*rank, task));
        *rank += 1;
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, task)| task).collect()
}
