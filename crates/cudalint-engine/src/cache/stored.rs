//! The result of one project as text.

use super::recording::Texts;
use crate::outcome::{Cut, Executed, Fault, Part, Statistics, Text};
use crate::rule::RuleTable;
use cudalint_findings::{FileCounts, Incomplete, Stored, names};
use cudalint_replay::runs::{Basis, Counts};
use cudalint_syntax::{FileKind, FileText};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// A [`Part`] without the texts, which are read again.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StoredPart {
    findings: Stored,
    /// Paths as they are shown, the files, and whether they are notebooks.
    texts: Vec<(String, String, bool)>,
    faults: Vec<(String, String)>,
    incomplete: Vec<Incomplete>,
    notes: Vec<String>,
    /// Checked, skipped, damaged.
    files: [usize; 3],
    suppressed: usize,
    cuts: Vec<(String, String, String, u64)>,
    kernels: StoredCounts,
    executed: Vec<(String, u32, u8, bool)>,
    skipped: BTreeMap<String, usize>,
    indexed_files: usize,
    indexed_bytes: u64,
    read: Vec<String>,
}

/// [`Counts`], the numbers in the order of its fields.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCounts {
    numbers: [u64; 10],
    not_executed: BTreeMap<String, u64>,
    causes: BTreeMap<String, u64>,
}

/// A word that the program has, or had in an earlier life, as one of its own: each is kept once.
fn word(text: &str) -> &'static str {
    static WORDS: Mutex<Option<FxHashSet<&'static str>>> = Mutex::new(None);
    let mut words = WORDS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let words = words.get_or_insert_default();
    if let Some(known) = words.get(text) {
        return known;
    }
    let new: &'static str = Box::leak(text.into());
    words.insert(new);
    new
}

const BASES: [Basis; 4] = [Basis::GuessedBlock, Basis::Assumption, Basis::FirstBlock, Basis::Facts];

impl StoredCounts {
    fn of(counts: &Counts) -> Self {
        let Counts {
            launches,
            with_facts,
            first_block,
            assumed,
            guessed,
            not_executed,
            unlaunched,
            unlaunched_executed,
            accesses,
            known_accesses,
            operations,
            causes,
        } = counts;
        let owned =
            |causes: &BTreeMap<&'static str, u64>| causes.iter().map(|(it, n)| ((*it).to_owned(), *n)).collect();
        Self {
            numbers: [
                *launches,
                *with_facts,
                *first_block,
                *assumed,
                *guessed,
                *unlaunched,
                *unlaunched_executed,
                *accesses,
                *known_accesses,
                *operations,
            ],
            not_executed: owned(not_executed),
            causes: owned(causes),
        }
    }

    fn restore(self) -> Counts {
        let known = |causes: BTreeMap<String, u64>| causes.into_iter().map(|(cause, n)| (word(&cause), n)).collect();
        let [
            launches,
            with_facts,
            first_block,
            assumed,
            guessed,
            unlaunched,
            unlaunched_executed,
            accesses,
            known_accesses,
            operations,
        ] = self.numbers;
        Counts {
            launches,
            with_facts,
            first_block,
            assumed,
            guessed,
            not_executed: known(self.not_executed),
            unlaunched,
            unlaunched_executed,
            accesses,
            known_accesses,
            operations,
            causes: known(self.causes),
        }
    }
}

impl StoredPart {
    fn of(part: &Part) -> Option<Self> {
        // Whoever adds a field decides here what becomes of it.
        let Part { findings, sources, faults, incomplete, notes, files, statistics, read, remains: _ } = part;
        let Statistics {
            by_rule: _, // Counted at the end of a run.
            suppressed,
            cuts,
            kernels,
            executed,
            skipped,
            indexed_files,
            indexed_bytes,
            capped_projects: _, // Counted before a project is linted.
        } = statistics;
        let FileCounts { checked, skipped: left, damaged } = *files;
        let basis = |basis: Basis| BASES.iter().position(|it| *it == basis).map(|at| at as u8);
        let executed: Option<Vec<_>> =
            executed.iter().map(|it| Some((it.path.to_string(), it.start, basis(it.basis)?, it.whole))).collect();
        let text = |text: &Text| (text.path.to_string(), names::text(&text.real), text.kind == FileKind::Notebook);
        Some(Self {
            findings: Stored::of(findings)?,
            texts: sources.iter().map(text).collect(),
            faults: faults.iter().map(|fault| (fault.path.clone(), fault.message.clone())).collect(),
            incomplete: incomplete.clone(),
            notes: notes.clone(),
            files: [checked, left, damaged],
            suppressed: *suppressed,
            cuts: cuts
                .iter()
                .map(|(Cut { path, phase, cause }, count)| {
                    (path.to_string(), (*phase).to_owned(), (*cause).to_owned(), *count)
                })
                .collect(),
            kernels: StoredCounts::of(kernels),
            executed: executed?,
            skipped: skipped.clone(),
            indexed_files: *indexed_files,
            indexed_bytes: *indexed_bytes,
            read: read.iter().map(|path| names::text(path)).collect(),
        })
    }

    /// The result again, with texts of the bytes that were read; none where something of it cannot be.
    pub fn restore(mut self, table: &RuleTable, bytes: &Texts) -> Option<Part> {
        let text = |(path, real, notebook): (String, String, bool)| {
            let real = names::path(&real);
            let kind = if notebook { FileKind::Notebook } else { FileKind::CFamily };
            let file = FileText::from_bytes(kind, bytes.get(&real)?.clone()).ok()?;
            Some(Text::new(path.into(), file.source.shared(), &file.cells, &real, kind))
        };
        let sources: Option<Vec<Text>> = std::mem::take(&mut self.texts).into_iter().map(text).collect();
        Some(Part { sources: sources?, ..self.without_texts(table)? })
    }

    fn without_texts(self, table: &RuleTable) -> Option<Part> {
        let rule = |name: &str| table.rules.iter().find(|rule| rule.info.name == name).map(|rule| &rule.info);
        let executed = |(path, start, basis, whole): (String, u32, u8, bool)| {
            Some(Executed { path: path.into(), start, basis: *BASES.get(usize::from(basis))?, whole })
        };
        let executed: Option<Vec<Executed>> = self.executed.into_iter().map(executed).collect();
        let [checked, skipped, damaged] = self.files;
        let cuts = self.cuts.into_iter().map(|(path, phase, cause, count)| {
            (Cut { path: path.into(), phase: word(&phase), cause: word(&cause) }, count)
        });
        Some(Part {
            findings: self.findings.restore(&rule)?,
            faults: self.faults.into_iter().map(|(path, message)| Fault { path, message, internal: false }).collect(),
            incomplete: self.incomplete,
            notes: self.notes,
            files: FileCounts { checked, skipped, damaged },
            statistics: Statistics {
                suppressed: self.suppressed,
                cuts: cuts.collect(),
                kernels: self.kernels.restore(),
                executed: executed?,
                skipped: self.skipped,
                indexed_files: self.indexed_files,
                indexed_bytes: self.indexed_bytes,
                ..Statistics::default()
            },
            read: self.read.iter().map(|path| names::path(path)).collect(),
            ..Part::default()
        })
    }
}

/// What a text holds.
pub(super) fn read(text: &str) -> Option<StoredPart> {
    serde_json::from_str(text).ok()
}

/// A result as text in one line; none where not all of it comes back.
pub(super) fn text(table: &RuleTable, part: &Part) -> Option<String> {
    let text = serde_json::to_string(&StoredPart::of(part)?).ok()?;
    let back = read(&text)?.without_texts(table)?;
    let same = back.findings == part.findings
        && back.statistics == part.statistics
        && back.faults == part.faults
        && back.incomplete == part.incomplete
        && back.notes == part.notes
        && back.files == part.files
        && back.read == part.read;
    same.then_some(text)
}
