//! The Python cases that are tried where there is a GPU (`python/check.py`): each is a finding as rules make them, and each
//! has a program.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Method, Verdict};
use cudalint_verify::harness;
use cudalint_verify::scenario::Program;
use cudalint_verify::subject::Subject;
use std::collections::BTreeSet;
use std::process::Command;

const LIST: &str = "\
import json, pathlib, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import check
for name, text, case, finding in check.cases(pathlib.Path(sys.argv[1])):
    print(json.dumps([case['verdict'], finding]))
";

fn folder() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python")
}

fn cases() -> Vec<(Verdict, FindingEntry)> {
    let run = Command::new("python3").args(["-c", LIST, folder().as_str()]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let text = String::from_utf8(run.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_case_has_a_program_and_names_what_stands_there() {
    let mut methods = BTreeSet::new();
    for (_, finding) in cases() {
        let subject = Subject::read(&folder(), &finding.path, &[]).unwrap();
        let place = format!("{}:{}", finding.path, finding.range.start.line);
        let flagged = subject.slice(subject.span_of(&finding));
        assert!(!flagged.is_empty() && flagged.trim() == flagged, "{place}: `{flagged}`");
        if let Some(function) = &finding.function {
            assert!(subject.text.contains(&format!("{function}(")), "{place}: {function}");
        }
        let programs = harness::candidates(&finding, &subject);
        assert!(matches!(programs.first(), Some(Ok(Program::Python(_)))), "{place}: {programs:?}");
        // A kernel in a string has programs of CUDA C++, too.
        let in_string = subject.in_string(&finding).is_some();
        let cuda = programs.iter().any(|program| matches!(program, Ok(Program::Cuda(_))));
        assert_eq!(in_string, cuda, "{place}");
        methods.insert(format!("{:?}", finding.verification.method));
    }
    let wanted = [Method::Memcheck, Method::Racecheck, Method::Initcheck, Method::Synccheck, Method::Watchpoint];
    let wanted =
        wanted.into_iter().chain([Method::Output, Method::Exception, Method::ApiError, Method::FaultInjection]);
    assert_eq!(methods, wanted.map(|method| format!("{method:?}")).collect());
}

#[test]
fn what_is_right_must_not_be_confirmed() {
    let verdicts: Vec<Verdict> = cases().into_iter().map(|(verdict, _)| verdict).collect();
    assert!(verdicts.iter().filter(|verdict| **verdict != Verdict::Confirmed).count() >= 8, "{verdicts:?}");
}
