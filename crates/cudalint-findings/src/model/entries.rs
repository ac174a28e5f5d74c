//! Findings as entries of the findings document: byte ranges become lines and columns.

use super::{
    Document, Edit, Files, FindingEntry, Fix, Range, Related, Site, Step, Tool, VERSION, Verification, Witness,
    WitnessAccess, WitnessLaunch,
};
use crate::finding::{self, Finding, Place};
use crate::report::{FileCounts, Report};
use crate::sources::Sources;

impl Document {
    /// The document of a report. Pages of rules lie below `rules_url`.
    pub fn new(report: &Report, rules_url: &str) -> Self {
        Self {
            version: VERSION,
            tool: Tool { name: crate::TOOL.to_owned(), version: crate::TOOL_VERSION.to_owned() },
            findings: report
                .findings
                .iter()
                .map(|finding| FindingEntry::new(finding, &report.sources, rules_url))
                .collect(),
            files: Files::of(report),
            summary: report.summary(),
            incomplete: report.incomplete.clone(),
        }
    }
}

impl Files {
    /// Counts of a report.
    pub fn of(report: &Report) -> Self {
        let FileCounts { checked, skipped, damaged } = report.files;
        Self { checked, skipped, damaged, incomplete: report.incomplete_files() }
    }
}

impl FindingEntry {
    /// One finding. Its rule's page lies below `rules_url`.
    pub fn new(finding: &Finding, sources: &Sources, rules_url: &str) -> Self {
        Self {
            rule: finding.rule.name.to_owned(),
            group: finding.rule.group,
            severity: finding.severity,
            confidence: finding.confidence,
            message: finding.message.clone(),
            path: finding.place.path.to_string(),
            range: range(&finding.place, sources),
            function: Some(finding.function.clone()).filter(|name| !name.is_empty()),
            related: finding
                .related
                .iter()
                .map(|label| Related {
                    path: label.place.path.to_string(),
                    range: range(&label.place, sources),
                    message: label.message.clone(),
                })
                .collect(),
            claim: finding.claim.map(&|place| Site { path: place.path.to_string(), range: range(place, sources) }),
            witness: finding.witness.as_ref().map(|witness| Witness::new(finding, witness, sources)),
            verification: Verification::new(finding),
            fix: finding.fix.as_ref().map(|fix| Fix {
                applicability: fix.applicability,
                message: fix.message.clone(),
                edits: fix
                    .edits
                    .iter()
                    .map(|edit| Edit {
                        path: edit.place.path.to_string(),
                        range: range(&edit.place, sources),
                        text: edit.text.clone(),
                    })
                    .collect(),
            }),
            fingerprint: finding.fingerprint.clone(),
            url: crate::rule_url(rules_url, finding.rule),
        }
    }
}

impl Witness {
    fn new(finding: &Finding, witness: &finding::Witness, sources: &Sources) -> Self {
        Self {
            launch: finding.claim.launch.as_ref().map(|launch| WitnessLaunch {
                path: launch.site.path.to_string(),
                cell: sources.start(&launch.site).cell,
                line: sources.start(&launch.site).line,
                grid: launch.grid,
                block: launch.block,
                shared_bytes: launch.shared_bytes,
            }),
            bindings: witness.bindings.clone(),
            accesses: finding
                .claim
                .accesses()
                .iter()
                .map(|access| WitnessAccess {
                    block: access.block,
                    thread: access.thread,
                    kind: access.kind,
                    index: access.index,
                    extent: access.extent,
                    cell: sources.start(&access.site).cell,
                    line: sources.start(&access.site).line,
                })
                .collect(),
            assumptions: witness.assumptions.clone(),
            path: witness
                .path
                .iter()
                .map(|step| Step {
                    path: step.place.path.to_string(),
                    cell: sources.start(&step.place).cell,
                    line: sources.start(&step.place).line,
                    note: step.message.clone(),
                })
                .collect(),
        }
    }
}

impl Verification {
    fn new(finding: &Finding) -> Self {
        let done = finding.verification.as_ref();
        let method = finding.method.unwrap_or(finding.rule.method);
        Self { method, verdict: done.map(|done| done.verdict), evidence: done.map(|done| done.evidence.clone()) }
    }
}

/// A place as lines and columns.
fn range(place: &Place, sources: &Sources) -> Range {
    let (start, end) = sources.positions(place);
    Range { start, end }
}
