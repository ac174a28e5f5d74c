//! Findings as they are inside of a run, kept for a later run of the same program: with the bytes of their places, and nothing
//! lost. Documents for others are those of [`crate::model`].

use crate::claim::Claim;
use crate::finding::{
    Applicability, Confidence, Edit, Finding, Fix, Label, Method, Place, RuleInfo, Severity, Witness,
};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

/// Findings that are kept.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    paths: Vec<String>,
    findings: Vec<StoredFinding>,
}

/// A place: the number of its path, its first byte, and the one behind its last.
type Spot = (usize, usize, usize);
/// A [`Label`] or an [`Edit`].
type Words = (Spot, String);

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFinding {
    rule: String,
    severity: Severity,
    confidence: Confidence,
    message: String,
    place: Spot,
    label: String,
    function: String,
    related: Vec<Words>,
    claim: Claim<Spot>,
    /// Those of the claim: a document names each once.
    inputs: Vec<(String, i64)>,
    witness: Option<StoredWitness>,
    method: Option<Method>,
    help: Option<String>,
    fix: Option<StoredFix>,
    done_elsewhere: bool,
    fingerprint: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredWitness {
    bindings: Vec<(String, i64)>,
    assumptions: Vec<String>,
    path: Vec<Words>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFix {
    applicability: Applicability,
    message: String,
    edits: Vec<Words>,
}

/// The paths of places, each once.
#[derive(Default)]
struct Paths {
    listed: Vec<String>,
    numbers: HashMap<Arc<str>, usize>,
}

impl Paths {
    fn spot(&mut self, place: &Place) -> Spot {
        let number = *self.numbers.entry(Arc::clone(&place.path)).or_insert_with(|| {
            self.listed.push(place.path.to_string());
            self.listed.len() - 1
        });
        (number, place.range.start, place.range.end)
    }
}

impl Stored {
    /// Findings to be kept; none where one has a verdict of a GPU, which a run by itself has not.
    pub fn of(findings: &[Finding]) -> Option<Self> {
        let paths = RefCell::new(Paths::default());
        let spot = |place: &Place| paths.borrow_mut().spot(place);
        let labels = |labels: &[Label]| -> Vec<Words> {
            labels.iter().map(|label| (spot(&label.place), label.message.clone())).collect()
        };
        let one = |finding: &Finding| {
            // Whoever adds a field decides here what becomes of it.
            let Finding {
                rule,
                severity,
                confidence,
                message,
                place,
                label,
                function,
                related,
                claim,
                witness,
                method,
                help,
                fix,
                done_elsewhere,
                fingerprint,
                verification,
            } = finding;
            verification.is_none().then(|| StoredFinding {
                rule: rule.name.to_owned(),
                severity: *severity,
                confidence: *confidence,
                message: message.clone(),
                place: spot(place),
                label: label.clone(),
                function: function.clone(),
                related: labels(related),
                claim: Claim { inputs: Vec::new(), ..claim.map(&spot) },
                inputs: claim.inputs.clone(),
                witness: witness.as_ref().map(|Witness { bindings, assumptions, path }| StoredWitness {
                    bindings: bindings.clone(),
                    assumptions: assumptions.clone(),
                    path: labels(path),
                }),
                method: *method,
                help: help.clone(),
                fix: fix.as_ref().map(|Fix { applicability, message, edits }| StoredFix {
                    applicability: *applicability,
                    message: message.clone(),
                    edits: edits.iter().map(|edit| (spot(&edit.place), edit.text.clone())).collect(),
                }),
                done_elsewhere: *done_elsewhere,
                fingerprint: fingerprint.clone(),
            })
        };
        let findings: Option<Vec<StoredFinding>> = findings.iter().map(one).collect();
        findings.map(|findings| Self { paths: paths.into_inner().listed, findings })
    }

    /// The findings again, of these rules; none where one is of no such rule, or at no place.
    pub fn restore(self, rule: &dyn Fn(&str) -> Option<&'static RuleInfo>) -> Option<Vec<Finding>> {
        let paths: Vec<Arc<str>> = self.paths.into_iter().map(Arc::from).collect();
        let lost = Cell::new(false);
        let place = |(path, start, end): &Spot| {
            let path = paths.get(*path).filter(|_| start <= end).map_or_else(
                || {
                    lost.set(true);
                    Arc::from("")
                },
                Arc::clone,
            );
            Place { path, range: *start..*end }
        };
        let labels = |labels: Vec<Words>| -> Vec<Label> {
            labels.into_iter().map(|(spot, message)| Label { place: place(&spot), message }).collect()
        };
        let one = |stored: StoredFinding| {
            Some(Finding {
                rule: rule(&stored.rule)?,
                severity: stored.severity,
                confidence: stored.confidence,
                message: stored.message,
                place: place(&stored.place),
                label: stored.label,
                function: stored.function,
                related: labels(stored.related),
                claim: Claim { inputs: stored.inputs, ..stored.claim.map(&place) },
                witness: stored.witness.map(|it| Witness {
                    bindings: it.bindings,
                    assumptions: it.assumptions,
                    path: labels(it.path),
                }),
                method: stored.method,
                help: stored.help,
                fix: stored.fix.map(|it| Fix {
                    applicability: it.applicability,
                    message: it.message,
                    edits: it.edits.into_iter().map(|(spot, text)| Edit { place: place(&spot), text }).collect(),
                }),
                done_elsewhere: stored.done_elsewhere,
                fingerprint: stored.fingerprint,
                verification: None,
            })
        };
        let findings: Option<Vec<Finding>> = self.findings.into_iter().map(one).collect();
        findings.filter(|_| !lost.get())
    }
}
