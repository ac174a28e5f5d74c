//! Findings written by hand for the methods that no rule uses yet: for each three files, of which one is wrong. Whether a
//! GPU says of them what `expected.toml` says is tried where there is one; here they must be what they claim to be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{Document, FindingEntry, Method, Verdict};
use cudalint_verify::harness;
use cudalint_verify::scenario::{Origin, Program};
use cudalint_verify::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};

fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/methods")
}

fn expected() -> BTreeMap<String, BTreeMap<String, String>> {
    toml::from_str(&std::fs::read_to_string(folder().join("expected.toml")).unwrap()).unwrap()
}

/// Every case: its method, its name, its folder and its document.
fn cases() -> Vec<(String, String, Utf8PathBuf, Document)> {
    let mut found = Vec::new();
    for (method, cases) in expected() {
        for case in cases.into_keys() {
            let folder = folder().join(&method).join(&case);
            let text = std::fs::read_to_string(folder.join("findings.json")).unwrap();
            let document: Document =
                serde_json::from_str(&text).unwrap_or_else(|problem| panic!("{folder}: {problem}"));
            found.push((method.clone(), case, folder, document));
        }
    }
    found
}

fn only_finding<'d>(document: &'d Document, folder: &Utf8Path) -> &'d FindingEntry {
    assert_eq!(document.findings.len(), 1, "{folder}");
    &document.findings[0]
}

#[test]
fn each_method_has_three_of_which_the_wrong_one_must_not_be_confirmed() {
    let expected = expected();
    let methods: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
    assert_eq!(methods, ["initcheck", "racecheck", "synccheck", "watchpoint"].into());
    for (method, cases) in &expected {
        let names: Vec<&str> = cases.keys().map(String::as_str).collect();
        assert_eq!(names, ["a", "b", "wrong"], "{method}");
        for (case, verdict) in cases {
            let verdict: Verdict = serde_json::from_value(verdict.clone().into()).unwrap();
            assert_eq!(verdict == Verdict::Confirmed, case != "wrong", "{method}/{case}");
        }
        let there: BTreeSet<String> = std::fs::read_dir(folder().join(method))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        assert_eq!(there, cases.keys().cloned().collect(), "{method}: folders and expectations");
    }
}

#[test]
fn places_name_what_the_messages_say() {
    for (method, case, folder, document) in cases() {
        let finding = only_finding(&document, &folder);
        let wanted: Method = serde_json::from_value(method.clone().into()).unwrap();
        assert_eq!(finding.verification.method, wanted, "{method}/{case}");
        assert_eq!(finding.verification.verdict, None);
        assert_eq!(document.version, cudalint_findings::model::VERSION);
        let text = std::fs::read_to_string(folder.join(&finding.path)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let (start, end) = (finding.range.start, finding.range.end);
        assert_eq!(start.line, end.line, "{method}/{case}");
        let line = lines[start.line as usize - 1];
        let flagged = &line[start.column as usize - 1..end.column as usize - 1];
        assert!(!flagged.trim().is_empty() && flagged.trim() == flagged, "{method}/{case}: `{flagged}`");
        let function = finding.function.as_deref().unwrap();
        assert!(text.contains(&format!("__global__ void {function}(")), "{method}/{case}: {function}");
        let witness = finding.witness.as_ref().unwrap();
        assert_eq!(
            witness.assumptions.is_empty(),
            finding.confidence == cudalint_findings::model::Confidence::Definite
        );
        if witness.accesses.len() == 2 {
            let thread = |index: usize| (witness.accesses[index].block, witness.accesses[index].thread);
            assert_ne!(thread(0), thread(1), "{method}/{case}: a race has two threads");
        }
        for access in &witness.accesses {
            assert!(access.line as usize <= lines.len() && access.index < access.extent, "{method}/{case}");
        }
    }
}

#[test]
fn every_source_is_read_and_has_a_program() {
    for (method, case, folder, document) in cases() {
        let finding = only_finding(&document, &folder);
        let subject = Subject::read(&folder, &finding.path, &[]).unwrap();
        let stretch = subject.stretch_of(finding).unwrap();
        assert!(stretch.parsed.damage.is_empty(), "{method}/{case}: {:?}", stretch.parsed.damage);
        let programs = harness::candidates(finding, &subject);
        let Some(Ok(Program::Cuda(program))) = programs.first() else { panic!("{method}/{case}: {programs:?}") };
        let has_main = subject.text.contains("int main()");
        assert_eq!(program.origin == Origin::AsWritten, has_main, "{method}/{case}");
    }
}
