//! Applies the fixes of findings until none is left, and takes back what did not do what it promised: a fix that leaves its
//! finding, or brings a new one. Everything happens in memory; nothing is written before it is known to help.

use crate::baseline::BaselineChoice;
use crate::engine::Engine;
use crate::ignoring;
use crate::outcome::{Outcome, UsageError};
use crate::paths::shown_path;
use crate::request::Request;
use crate::steps::Progress;
use cudalint_findings::{Applicability, Edit, Finding, edits};
use cudalint_syntax::FileKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs over the project at most: each applies fixes, or finds out which of them do harm.
const MAX_ROUNDS: usize = 16;

/// A file that fixes change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MendedFile {
    /// As output shows it.
    pub path: String,
    /// The file itself.
    pub real: PathBuf,
    /// Its text as it was linted.
    pub before: String,
    /// Its text with the fixes.
    pub after: String,
}

/// What fixes did.
#[derive(Clone, Debug, Default)]
pub struct Mended {
    /// Files that change, by path.
    pub files: Vec<MendedFile>,
    /// Findings that are gone, by rule; of one that stands for several places, some places may be left.
    pub fixed: BTreeMap<&'static str, usize>,
    /// Findings whose fix was taken back, since it left them or brought another.
    pub taken_back: usize,
    /// Findings with a fix that needs review, which nobody asked for.
    pub needs_review: usize,
}

/// What a finding is for whoever compares two runs: places move, but not what is said of a function.
type Key = (&'static str, Arc<str>, String);

fn key(finding: &Finding) -> Key {
    (finding.rule.name, Arc::clone(&finding.place.path), finding.function.clone())
}

/// Places that findings stand for, by what they are.
fn weights(findings: &[Finding]) -> FxHashMap<Key, usize> {
    let mut weights: FxHashMap<Key, usize> = FxHashMap::default();
    for finding in findings {
        *weights.entry(key(finding)).or_default() += 1 + finding.related.len();
    }
    weights
}

fn counts(findings: &[Finding]) -> FxHashMap<Key, usize> {
    let mut counts: FxHashMap<Key, usize> = FxHashMap::default();
    for finding in findings {
        *counts.entry(key(finding)).or_default() += 1;
    }
    counts
}

impl Engine {
    /// Applies the safe fixes of what a run reports, or those that need review, too.
    ///
    /// # Errors
    /// When arguments or a settings file are wrong.
    pub fn mend(
        &self,
        request: &Request,
        unsafe_too: bool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Mended, UsageError> {
        // What is reported says what may be fixed; all findings say whether a fix did harm.
        let reported = self.check(request, progress)?;
        let wanted: FxHashSet<String> =
            reported.report.findings.iter().map(|finding| finding.fingerprint.clone()).collect();
        let mut request = Request { since: None, baseline: BaselineChoice::None, ..request.clone() };
        let mut now = self.check(&request, progress)?;
        let mut mended = Mended::default();
        let mut files: BTreeMap<String, MendedFile> = BTreeMap::new();
        let mut refused: FxHashSet<String> = FxHashSet::default();
        for _ in 0..MAX_ROUNDS {
            let may =
                |finding: &Finding| wanted.contains(&finding.fingerprint) && !refused.contains(&finding.fingerprint);
            let chosen = choose(&now, unsafe_too, &may);
            if chosen.is_empty() {
                break;
            }
            let (changed, unfit) = apply(&now, &chosen);
            refused.extend(unfit.iter().map(|finding| finding.fingerprint.clone()));
            if changed.is_empty() {
                continue;
            }
            let mut next = request.clone();
            for (path, text) in &changed {
                next.overlay.insert(shown_path(path), text.as_bytes().into());
            }
            let after = self.check(&next, progress)?;
            let harmful = harmful(&now, &after, &chosen);
            if !harmful.is_empty() {
                refused.extend(harmful);
                continue;
            }
            let (before, left) = (weights(&now.report.findings), weights(&after.report.findings));
            let gone = |finding: &&&Finding| left.get(&key(finding)) < before.get(&key(finding));
            for finding in chosen.iter().filter(gone) {
                *mended.fixed.entry(finding.rule.name).or_default() += 1;
            }
            for (path, text) in changed {
                let original = now.report.sources.get(&path).map_or("", |source| source.text()).to_owned();
                let real = shown_path(&path);
                let file = files.entry(path.clone());
                file.or_insert_with(|| MendedFile { path, real, before: original, after: String::new() }).after = text;
            }
            request = next;
            now = after;
        }
        mended.taken_back = refused.len();
        mended.needs_review = if unsafe_too {
            0
        } else {
            now.report.findings.iter().filter(|finding| applies(finding, true) && !applies(finding, false)).count()
        };
        mended.files = files.into_values().filter(|file| file.before != file.after).collect();
        Ok(mended)
    }
}

fn applies(finding: &Finding, unsafe_too: bool) -> bool {
    finding.fix.as_ref().is_some_and(|fix| match fix.applicability {
        Applicability::Safe => true,
        Applicability::Unsafe => unsafe_too,
        Applicability::Display => false,
    })
}

/// Findings whose fixes are applied together: the safe and the sure first, none that touches what another changes, and each as
/// a whole.
fn choose<'f>(outcome: &'f Outcome, unsafe_too: bool, may: &dyn Fn(&Finding) -> bool) -> Vec<&'f Finding> {
    let sources = &outcome.report.sources;
    let reported: FxHashSet<&str> = outcome.report.findings.iter().map(|finding| &*finding.place.path).collect();
    let mut taken: FxHashMap<&str, Vec<Range<usize>>> = FxHashMap::default();
    let mut chosen = Vec::new();
    let safe = |finding: &&Finding| applies(finding, false);
    let (first, second): (Vec<&Finding>, Vec<&Finding>) = outcome.report.by_importance().into_iter().partition(safe);
    for finding in first.into_iter().chain(second) {
        let Some(fix) = finding.fix.as_ref().filter(|_| applies(finding, unsafe_too) && may(finding)) else { continue };
        let free = |edit: &Edit| {
            // The text of a notebook is that of its cells, which its file holds as JSON.
            let text = sources.get(&edit.place.path).is_some_and(|source| !source.is_notebook());
            let range = &edit.place.range;
            let apart = |other: &Range<usize>| other.end < range.start || range.end < other.start;
            let others = taken.get(&*edit.place.path);
            text && reported.contains(&*edit.place.path) && others.is_none_or(|others| others.iter().all(apart))
        };
        if !fix.edits.is_empty() && fix.edits.iter().all(free) {
            for edit in &fix.edits {
                taken.entry(&edit.place.path).or_default().push(edit.place.range.clone());
            }
            chosen.push(finding);
        }
    }
    chosen
}

/// Texts with the fixes of findings applied, by path, and findings whose edits fit no text.
fn apply<'f>(outcome: &Outcome, chosen: &[&'f Finding]) -> (BTreeMap<String, String>, Vec<&'f Finding>) {
    let mut by_path: BTreeMap<&str, Vec<(&Edit, &'f Finding)>> = BTreeMap::new();
    for finding in chosen {
        for edit in finding.fix.iter().flat_map(|fix| &fix.edits) {
            by_path.entry(&edit.place.path).or_default().push((edit, finding));
        }
    }
    let mut texts = BTreeMap::new();
    let mut unfit = Vec::new();
    for (path, edits) in by_path {
        let Some(source) = outcome.report.sources.get(path) else { continue };
        match edits::apply(source.text(), edits.iter().map(|(edit, _)| *edit)) {
            Ok(text) if text != source.text() => {
                texts.insert(path.to_owned(), text);
            }
            _ => unfit.extend(edits.into_iter().map(|(_, finding)| finding)),
        }
    }
    (texts, unfit)
}

/// Fingerprints of the applied findings that are to blame: their fix left them as they were, or something new is said where they
/// were applied. Of what nobody is to blame for, all are.
fn harmful(before: &Outcome, after: &Outcome, chosen: &[&Finding]) -> Vec<String> {
    let mut blamed: FxHashSet<String> = FxHashSet::default();
    let (was, is) = (weights(&before.report.findings), weights(&after.report.findings));
    for finding in chosen {
        if is.get(&key(finding)) >= was.get(&key(finding)) && is.contains_key(&key(finding)) {
            blamed.insert(finding.fingerprint.clone());
        }
    }
    let edits = |finding: &Finding, path: &str| {
        finding.fix.iter().flat_map(|fix| &fix.edits).any(|edit| *edit.place.path == *path)
    };
    let mut blame = |candidates: Vec<&&Finding>| {
        blamed.extend(candidates.iter().map(|finding| finding.fingerprint.clone()));
        !candidates.is_empty()
    };
    let (was, is) = (counts(&before.report.findings), counts(&after.report.findings));
    for ((rule, path, function), count) in is {
        if was.get(&(rule, Arc::clone(&path), function.clone())).copied().unwrap_or(0) >= count {
            continue;
        }
        let here = |finding: &&&Finding| edits(finding, &path) && finding.function == function;
        let _ = blame(chosen.iter().filter(here).collect())
            || blame(chosen.iter().filter(|finding| edits(finding, &path)).collect())
            || blame(chosen.iter().collect());
    }
    // What the parser loses behind an edit says nothing any more, which is no cure.
    if after.report.files.damaged > before.report.files.damaged || after.faults.len() > before.faults.len() {
        blame(chosen.iter().collect());
    }
    blamed.into_iter().collect()
}

/// What comments keep quiet.
#[derive(Clone, Debug, Default)]
pub struct Ignored {
    /// Files with comments, by path.
    pub files: Vec<MendedFile>,
    /// Findings that are quiet then.
    pub quiet: usize,
    /// Places of findings, `path:line:column`, beside which no comment can stand.
    pub left: Vec<String>,
}

impl Engine {
    /// Writes a suppression comment with a reason for each finding of a run.
    pub fn ignore(&self, outcome: &Outcome, reason: &str) -> Ignored {
        let mut ignored = Ignored::default();
        let sources = &outcome.report.sources;
        for findings in outcome.report.findings.chunk_by(|a, b| a.place.path == b.place.path) {
            let Some(first) = findings.first() else { continue };
            let path = &*first.place.path;
            let left = |finding: &Finding| format!("{path}:{}", sources.start(&finding.place));
            let kind = FileKind::of(Path::new(path)).unwrap_or(FileKind::CFamily);
            let Some(source) = sources.get(path).filter(|source| !source.is_notebook()) else {
                ignored.left.extend(findings.iter().map(left));
                continue;
            };
            let mut text = source.text().to_owned();
            let mut rest: Vec<Finding> = findings.to_vec();
            // From the end, so that the places before stay true; what stands on one line moves along.
            while let Some(finding) = rest.pop() {
                if self.is_quiet(kind, &text, &finding) {
                    ignored.quiet += 1;
                    continue;
                }
                let Some((range, written)) = ignoring::ignore(self.rules(), kind, &text, &finding, reason) else {
                    ignored.left.push(left(&finding));
                    continue;
                };
                for other in &mut rest {
                    for at in [&mut other.place.range.start, &mut other.place.range.end] {
                        if *at >= range.start {
                            *at = *at + written.len() - range.len();
                        }
                    }
                }
                text.replace_range(range, &written);
                ignored.quiet += 1;
            }
            if text != source.text() {
                let (before, real) = (source.text().to_owned(), shown_path(path));
                ignored.files.push(MendedFile { path: path.to_owned(), real, before, after: text });
            }
        }
        ignored
    }

    /// Whether a comment of a text keeps a finding in it quiet already.
    fn is_quiet(&self, kind: FileKind, text: &str, finding: &Finding) -> bool {
        let Some(rule) = self.rules().iter().position(|rule| rule.info.name == finding.rule.name) else { return false };
        ignoring::suppressions(self.rules(), kind, text).is_some_and(|mut comments| comments.suppresses(rule, finding))
    }
}

/// Writes files, each at once and as a whole: who reads one sees the old text or the new one. Those that are not as they were
/// linted, or not in UTF-8, are left alone; what went wrong is given back in words.
pub fn write(files: &[MendedFile]) -> Vec<String> {
    let mut problems = Vec::new();
    for file in files {
        if let Err(problem) = write_one(file) {
            problems.push(format!("{}: not written: {problem}", file.path));
        }
    }
    problems
}

fn write_one(file: &MendedFile) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    let now = cudalint_files::read_file(&file.real).map_err(said)?;
    if now != file.before.as_bytes() {
        return Err("it is not UTF-8, or has changed while it was linted".to_owned());
    }
    let folder = file.real.parent().unwrap_or(Path::new("."));
    let permissions = std::fs::metadata(&file.real).map_err(said)?.permissions();
    let mut new = tempfile::Builder::new().prefix(".cudalint-").tempfile_in(folder).map_err(said)?;
    new.write_all(file.after.as_bytes()).map_err(said)?;
    new.as_file().set_permissions(permissions).map_err(said)?;
    new.as_file().sync_all().map_err(said)?;
    new.persist(&file.real).map_err(|error| error.error.to_string())?;
    Ok(())
}
