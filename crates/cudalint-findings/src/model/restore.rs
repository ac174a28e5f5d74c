//! Entries of the findings document as findings again, so that a document written elsewhere can be shown in every format:
//! lines and columns become byte ranges of the texts that are here.

use super::{Document, FindingEntry, Position, Range, Verification};
use crate::finding::{self, Edit, Finding, Fix, Label, Place, RuleInfo, Witness};
use crate::report::{FileCounts, Report};
use crate::sources::Sources;

impl Document {
    /// The report that this document was made of, as far as it tells: labels and help are not part of a document.
    /// `rule` gives what is known of a rule by its entry; findings in files whose text is not in `sources` are placed at the file's start.
    pub fn restore(&self, sources: Sources, rule: &dyn Fn(&FindingEntry) -> &'static RuleInfo) -> Report {
        let findings = self.findings.iter().map(|entry| entry.restore(&sources, rule(entry))).collect();
        let files =
            FileCounts { checked: self.files.checked, skipped: self.files.skipped, damaged: self.files.damaged };
        Report { findings, files, sources, incomplete: self.incomplete.clone() }
    }
}

impl FindingEntry {
    /// The finding of this entry.
    pub fn restore(&self, sources: &Sources, rule: &'static RuleInfo) -> Finding {
        let place = |path: &str, range: Range| Place {
            path: path.into(),
            range: offset(sources, path, range.start)..offset(sources, path, range.end),
        };
        let line = |path: &str, cell: Option<u32>, line: u32| Place {
            path: path.into(),
            range: whole_line(sources, path, cell, line),
        };
        Finding {
            rule,
            severity: self.severity,
            confidence: self.confidence,
            message: self.message.clone(),
            place: place(&self.path, self.range),
            label: String::new(),
            function: self.function.clone().unwrap_or_default(),
            related: self
                .related
                .iter()
                .map(|related| Label { place: place(&related.path, related.range), message: related.message.clone() })
                .collect(),
            method: Some(self.verification.method).filter(|method| *method != rule.method),
            claim: self.claim.map(&|site| place(&site.path, site.range)),
            witness: self.witness.as_ref().map(|witness| Witness {
                bindings: witness.bindings.clone(),
                assumptions: witness.assumptions.clone(),
                path: witness
                    .path
                    .iter()
                    .map(|step| Label { place: line(&step.path, step.cell, step.line), message: step.note.clone() })
                    .collect(),
            }),
            help: None,
            fix: self.fix.as_ref().map(|fix| Fix {
                applicability: fix.applicability,
                message: fix.message.clone(),
                edits: fix
                    .edits
                    .iter()
                    .map(|edit| Edit { place: place(&edit.path, edit.range), text: edit.text.clone() })
                    .collect(),
            }),
            done_elsewhere: false,
            fingerprint: self.fingerprint.clone(),
            verification: self.verification.restore(),
        }
    }
}

impl Verification {
    /// What a run said, without its reason, which a document does not hold; none after a check alone.
    pub fn restore(&self) -> Option<finding::Verification> {
        let verdict = self.verdict?;
        let evidence = self.evidence.clone().unwrap_or_default();
        Some(finding::Verification { verdict, reason: String::new(), evidence })
    }
}

/// The byte of a position; the start of the file when its text is not here.
fn offset(sources: &Sources, path: &str, at: Position) -> usize {
    let Some(source) = sources.get(path) else { return 0 };
    let range = source.lines().range(source.text(), source.whole_line(at.cell, at.line));
    let line = source.text().get(range.clone()).unwrap_or("");
    let column = (at.column as usize).saturating_sub(1);
    range.start + line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte)
}

/// The bytes of a line without its line break and indentation.
fn whole_line(sources: &Sources, path: &str, cell: Option<u32>, line: u32) -> std::ops::Range<usize> {
    let Some(source) = sources.get(path) else { return 0..0 };
    let range = source.lines().range(source.text(), source.whole_line(cell, line));
    let text = source.text().get(range.clone()).unwrap_or("");
    range.start + (text.len() - text.trim_start().len())..range.end
}
