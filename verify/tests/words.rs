//! Words decide nothing: findings whose every sentence is another get the same verdicts from the recorded reports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod recorded_support;

use cudalint_findings::model::{Document, FindingEntry, Verdict};
use cudalint_verify::experiment::sanitizer::{Judged, Reach, Seen, judge};
use cudalint_verify::lab::End;
use cudalint_verify::matching::{Target, fit};
use recorded_support::{all, joined};
use std::path::{Path, PathBuf};

/// A sentence that says something else, with words that readers of words might look for.
const OTHER: &str = "the grid of `cudaFree` raises a `TypeError`: `n` is 7, and shared memory is fine";

/// The document in other words.
fn reworded(document: &Document) -> Document {
    let mut other = document.clone();
    for finding in &mut other.findings {
        let mut words: Vec<&mut String> = vec![&mut finding.message, &mut finding.url];
        words.extend(finding.related.iter_mut().map(|related| &mut related.message));
        if let Some(witness) = &mut finding.witness {
            words.extend(witness.assumptions.iter_mut());
            words.extend(witness.path.iter_mut().map(|step| &mut step.note));
        }
        words.extend(finding.fix.iter_mut().map(|fix| &mut fix.message));
        for words in words {
            OTHER.clone_into(words);
        }
        // Neither does a rule's name.
        "another-rule".clone_into(&mut finding.rule);
    }
    other
}

/// Findings of the recorded programs, as linting them gives them, and those that were written for recordings and methods.
fn documents() -> Vec<Document> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let json = |folder: &str| -> Vec<PathBuf> {
        let files = std::fs::read_dir(tests.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|file| file.extension().is_some_and(|word| word == "json")).collect()
    };
    let mut files = json("record/cuda");
    files.push(tests.join("recorded/findings.json"));
    files.sort();
    files.iter().map(|file| serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()).collect()
}

fn judged(finding: &FindingEntry, report: &cudalint_verify::tools::sanitizer::SanitizerReport) -> Judged {
    let seen = Seen { report, end: &End::Exit(0), reach: Reach::Reached, tool: "the tool" };
    judge(&Target::new(finding), &seen)
}

#[test]
fn other_words_get_the_same_verdicts() {
    let mut confirmed = 0;
    let reports: Vec<(String, _)> = all().into_iter().map(|name| (name.clone(), joined(&name))).collect();
    for document in documents() {
        let other = reworded(&document);
        assert_ne!(document, other);
        for (finding, reworded) in document.findings.iter().zip(&other.findings) {
            for (name, report) in &reports {
                let said = judged(finding, report);
                assert_eq!(said, judged(reworded, report), "{name}: {}", finding.message);
                for record in &report.records {
                    assert_eq!(fit(&Target::new(finding), record), fit(&Target::new(reworded), record), "{name}");
                }
                confirmed += u32::from(said.verdict == Verdict::Confirmed);
            }
        }
    }
    assert!(confirmed > 20, "{confirmed} pairs of a finding and a report are confirmed");
}
