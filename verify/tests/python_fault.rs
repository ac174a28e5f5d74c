//! Fault injection in Python: scripts are really run, with stand-ins for NVIDIA's bindings, so that no GPU is needed.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod claim_support;
mod lab_support;

use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_findings::{Fault, Shows};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::harness;
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{Origin, Program, PythonProgram, ScenarioFile};
use cudalint_verify::subject::Subject;
use lab_support::{Place, device, limits};
use serde_json::{Value, json};

/// Where a text stands in a script, from 1.
fn range(script: &str, text: &str) -> Value {
    let (index, line) = script.lines().enumerate().find(|(_, line)| line.contains(text)).unwrap();
    let column = line.find(text).unwrap() + 1;
    json!({"start": {"line": index + 1, "column": column}, "end": {"line": index + 1, "column": column + text.len()}})
}

/// A finding at the first of these calls, with the others beside it.
fn finding(script: &str, calls: &[&str]) -> FindingEntry {
    let related: Vec<Value> =
        calls.iter().skip(1).map(|call| json!({"path": "k.py", "range": range(script, call), "message": ""})).collect();
    claim_support::entry(json!({
        "rule": "some-rule", "group": "suspicious", "severity": "warning", "confidence": "definite", "message": "",
        "path": "k.py", "range": range(script, calls[0]), "function": "upload", "related": related, "witness": null,
        "verification": {"method": "fault-injection", "verdict": null}, "fix": null, "fingerprint": "0", "url": "",
    }))
}

fn machine(place: &Place) -> Machine {
    let fakes = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver/fakes");
    let python = json!({
        "program": {
            "path": place.script("python", &format!("PYTHONPATH='{fakes}' PYTHONDONTWRITEBYTECODE=1 exec python3 \"$@\"")),
            "version": "3.12.3"
        },
        "packages": [{"name": "cuda-python", "version": "13.0.1", "problem": null}],
    });
    Machine { python: Some(serde_json::from_value(python).unwrap()), devices: vec![device(0)], ..Machine::default() }
}

fn perform(finding: &FindingEntry, program: &Program, place: &Place) -> Judgement {
    let lab = place.lab(machine(place), limits());
    experiment::perform(finding, program, &lab.bench("one").unwrap())
}

fn judge_with(script: &str, calls: &[&str], change: impl Fn(&mut FindingEntry)) -> Judgement {
    let program = Program::Python(PythonProgram {
        origin: Origin::AsWritten,
        script: "as_written.py".into(),
        files: vec![ScenarioFile { path: "as_written.py".into(), text: script.to_owned() }],
        packages: vec!["cuda-python".to_owned()],
        reproducer: None,
        raises: None,
        control: None,
        made_up: Vec::new(),
        beside: None,
        project: None,
    });
    let mut finding = finding(script, calls);
    change(&mut finding);
    perform(&finding, &program, &Place::new())
}

fn judge(script: &str, calls: &[&str]) -> Judgement {
    judge_with(script, calls, |_| {})
}

const DROPS: &str = "\
from cuda.bindings import runtime as cudart

def upload(count):
    stream = cudart.cudaStreamCreate()[1]
    status, device = cudart.cudaMalloc(count)
    cudart.cudaMemset(device, 0, count)
    return device

print(upload(64))
";

#[test]
fn statuses_that_nobody_reads_confirm() {
    let calls = ["cudart.cudaStreamCreate()", "cudart.cudaMalloc(count)", "cudart.cudaMemset(device, 0, count)"];
    let judgement = judge(DROPS, &calls);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let [records @ .., twin] = judgement.evidence.records.as_slice() else { panic!("{:?}", judgement.evidence) };
    let told: Vec<_> = records.iter().map(|record| (record.path.as_deref(), record.line)).collect();
    assert_eq!(told, [4, 5, 6].map(|line| (Some("k.py"), Some(line))));
    assert!(records[1].text.contains("`cudaMalloc`") && records[1].text.contains("no memory is left"), "{records:?}");
    assert!(twin.kind == "checked twin" && twin.line == Some(4), "{twin:?}");
    assert!(judgement.evidence.back_end.ends_with("Python 3.12.3, cuda-python 13.0.1"), "{:?}", judgement.evidence);
    assert!(judgement.evidence.log.as_deref().is_some_and(|log| log.contains("injected")), "{:?}", judgement.evidence);
}

#[test]
fn an_exception_words_and_calls_left_out_refute() {
    let checks = [
        "if status: raise RuntimeError(status)",
        "if status: print('out of memory')",
        "if status: return None",
        "assert status == 0",
    ];
    for check in checks {
        let script = DROPS.replace("    cudart.cudaMemset", &format!("    {check}\n    cudart.cudaMemset"));
        let judgement = judge(&script, &["cudart.cudaMalloc(count)"]);
        assert_eq!(judgement.verdict, Verdict::Refuted, "{check}: {}", judgement.reason);
        assert_eq!(judgement.evidence.records[0].line, Some(5));
    }
}

#[test]
fn of_several_calls_the_one_that_is_noticed_is_named() {
    let script = DROPS.replace("    return device", "    assert status == 0\n    return device");
    let judgement = judge(&script, &["cudart.cudaStreamCreate()", "cudart.cudaMalloc(count)"]);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("`cudaMalloc` failed at k.py:5"), "{}", judgement.reason);
}

#[test]
fn a_look_at_the_last_error_decides_nothing() {
    let script = format!("{DROPS}print(cudart.cudaGetLastError()[0].name)\n");
    let judgement = judge(&script, &["cudart.cudaMalloc(count)"]);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("last error"), "{}", judgement.reason);
}

#[test]
fn a_place_that_the_script_does_not_come_to_decides_nothing() {
    let judgement = judge(&DROPS.replace("print(upload(64))", ""), &["cudart.cudaMalloc(count)"]);
    assert_eq!(judgement.verdict, Verdict::Unviable);
    assert!(judgement.reason.contains("does not come to k.py:5"), "{}", judgement.reason);
    let judgement = judge(&DROPS.replace("upload(64)", "1 / 0"), &["cudart.cudaMalloc(count)"]);
    assert!(judgement.reason.contains("ZeroDivisionError"), "{}", judgement.reason);
}

#[test]
fn a_function_under_another_name_is_known_by_its_place() {
    let script = "from cuda.bindings.runtime import cudaMalloc as make\n\nmake(64)\nprint('done')\n";
    let judgement = judge(script, &["make(64)"]);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
}

#[test]
fn launches_and_packages_that_are_not_there_are_not_supported() {
    let judgement = judge_with(DROPS, &["cudart.cudaStreamCreate()"], |finding| {
        finding.claim = Shows::UnreadStatus { fault: Fault::Launch }.into();
    });
    assert_eq!(judgement.verdict, Verdict::Unsupported, "{}", judgement.reason);
}

#[test]
fn a_function_that_nothing_calls_is_called() {
    let script = DROPS.replace("print(upload(64))\n", "");
    let place = Place::new();
    std::fs::write(place.path.join("k.py"), &script).unwrap();
    let subject = Subject::read(&place.path, "k.py", &[]).unwrap();
    let finding = finding(&script, &["cudart.cudaStreamCreate()"]);
    let candidates = harness::candidates(&finding, &subject);
    let program = candidates.into_iter().next().unwrap().unwrap();
    let judgement = perform(&finding, &program, &place);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
}
