//! What programs compute, judged from what their probes wrote down: programs here are scripts that leave such logs.
#![cfg(unix)]
#![allow(clippy::unwrap_used)]

mod fault_support;
mod lab_support;

use camino::Utf8PathBuf;
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{FindingEntry, Method, Site, Verdict};
use cudalint_findings::{Claim, Shows};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use cudalint_verify::tools::probe_log::{self, Event};
use fault_support::{addr2line, calls, launch, range, site};
use lab_support::{Place, compiler, limits};
use serde_json::{Value, json};

const SOURCE: &str = "\
#include <cuda_runtime.h>
__global__ void set(int *value) {
    extern __shared__ int one[];
    extern __shared__ int two[]; one[0] = two[0];
    two[1] = one[1]; }
void run(int *value, int n) { set<<<n / 256, 256>>>(value);
    cudaMemset(value, 1, n * sizeof(int));
}
";

/// Memory differs in this.
fn differs(difference: Difference<Site>) -> Claim<Site> {
    Shows::Memory { difference }.into()
}

/// Judges a finding of a place of the source by a log.
fn judge(log: &[String], change: impl Fn(&mut FindingEntry)) -> Judgement {
    let place = Place::new();
    let file = place.path.join("log");
    std::fs::write(&file, log.join("\n") + "\n").unwrap();
    let mut machine = place.machine(&compiler(&format!("cat {file} > \"$CUDALINT_PROBE_LOG\"")), "exit 1");
    machine.addr2line = Some(lab_support::program(place.script("addr2line", addr2line())));
    let lab = place.lab(machine, limits());
    let bench = lab.bench("one").unwrap();
    let unit = Utf8PathBuf::from("program.cu");
    let program = Program::Cuda(CudaProgram {
        origin: Origin::AsWritten,
        unit: unit.clone(),
        files: vec![ScenarioFile { path: unit, text: format!("#line 1 \"program.cu\"\n{SOURCE}") }],
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: None,
        project: None,
    });
    let mut finding = fault_support::finding(cudalint_findings::Fault::Status, (7, 23), (7, 24));
    finding.verification.method = Method::Output;
    finding.claim = differs(Difference::Extent);
    change(&mut finding);
    experiment::perform(&finding, &program, &bench)
}

/// A memset on line 7 that did this to memory.
fn memset(real: i64, memory: &Value) -> Vec<String> {
    let mut all = json!({
        "does": "set", "count": 4000, "allocation": 4000, "offset": 0, "compared": true, "behind": 0, "changed": 0,
        "source": 0, "sets": true, "value": 1, "element": 4, "floating": false, "bytes": "01010101",
    });
    for (key, value) in memory.as_object().unwrap() {
        all[key] = value.clone();
    }
    let call = json!({
        "event": "call", "sequence": 1, "thread": 0, "function": "cudaMemset", "file": "program.cu", "line": 7, "id": 0,
        "kind": 1, "real": real, "handed": real, "memory": all,
    });
    calls(&[call.to_string()])
}

fn with_value(finding: &mut FindingEntry) {
    finding.claim = differs(Difference::Value { value: 1 });
}

fn verdict_of_value(memory: &Value) -> Verdict {
    judge(&memset(0, memory), with_value).verdict
}

#[test]
fn elements_that_do_not_hold_the_value_confirm() {
    let judgement = judge(&memset(0, &json!({})), with_value);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = judgement.evidence.records.first().unwrap();
    assert_eq!((record.path.as_deref(), record.line), (Some("program.cu"), Some(7)));
    assert!(record.text.contains("16843009"), "{}", record.text);
    let float = json!({"floating": true, "value": -999, "bytes": "19191919"});
    assert_eq!(verdict_of_value(&float), Verdict::Confirmed);
}

#[test]
fn elements_that_hold_the_value_refute() {
    assert_eq!(verdict_of_value(&json!({"element": 1, "bytes": "01"})), Verdict::Refuted);
    assert_eq!(verdict_of_value(&json!({"value": -1, "bytes": "ffffffff"})), Verdict::Refuted);
    assert_eq!(verdict_of_value(&json!({"value": 255, "element": 1, "bytes": "ff"})), Verdict::Refuted);
    assert_eq!(verdict_of_value(&json!({"value": 0, "floating": true, "bytes": "00000000"})), Verdict::Refuted);
}

#[test]
fn elements_of_an_unknown_type_or_bytes_that_are_missing_decide_nothing() {
    assert_eq!(verdict_of_value(&json!({"element": 0})), Verdict::Unviable);
    assert_eq!(verdict_of_value(&json!({"bytes": ""})), Verdict::Unviable);
    assert_eq!(verdict_of_value(&json!({"bytes": "zz010101"})), Verdict::Unviable);
    assert_eq!(judge(&memset(1, &json!({})), with_value).verdict, Verdict::Unviable);
}

#[test]
fn a_memset_of_a_quarter_confirms_and_one_of_all_refutes() {
    let quarter = judge(&memset(0, &json!({"count": 1000, "behind": 3000})), |_| {});
    assert_eq!(quarter.verdict, Verdict::Confirmed, "{}", quarter.reason);
    assert_eq!(judge(&memset(0, &json!({})), |_| {}).verdict, Verdict::Refuted);
}

#[test]
fn a_memset_of_some_other_part_or_of_memory_that_changed_beside_confirms_nothing() {
    assert_eq!(judge(&memset(0, &json!({"count": 1200, "behind": 2800})), |_| {}).verdict, Verdict::NotObserved);
    let changed = json!({"count": 1000, "behind": 3000, "changed": 4});
    assert_eq!(judge(&memset(0, &changed), |_| {}).verdict, Verdict::NotObserved);
    let unseen = json!({"count": 1000, "behind": 0, "compared": false});
    assert_eq!(judge(&memset(0, &unseen), |_| {}).verdict, Verdict::NotObserved);
}

#[test]
fn a_memset_of_too_much_is_confirmed_by_its_error() {
    let judgement = judge(&memset(1, &json!({"count": 16000})), |_| {});
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("returns 1"), "{}", judgement.reason);
}

#[test]
fn a_copy_that_fills_its_destination_may_leave_something_of_its_source() {
    let copy = |source: u64| json!({"does": "copy", "source": source});
    // Of the host nobody knows how much there is.
    let of_host = judge(&memset(0, &copy(0)), |_| {});
    assert_eq!(of_host.verdict, Verdict::NotObserved, "{}", of_host.reason);
    assert_eq!(judge(&memset(0, &copy(4000)), |_| {}).verdict, Verdict::Refuted);
    let twice = judge(&memset(0, &copy(8000)), |_| {});
    assert_eq!(twice.verdict, Verdict::Confirmed, "{}", twice.reason);
    assert!(twice.reason.contains("4000 of the 8000 bytes of its source"), "{}", twice.reason);
    assert_eq!(judge(&memset(0, &copy(5000)), |_| {}).verdict, Verdict::NotObserved);
}

fn cover(different: &Value, problem: &str) -> Vec<String> {
    let line = json!({
        "event": "cover", "kernel": "set(int*)", "at": 4096, "different": different, "unstable": 0, "compared": 4096,
        "grid": [3, 1, 1], "wider": [7, 1, 1], "block": [256, 1, 1], "problem": problem,
    });
    calls(&[line.to_string(), launch(0, 0)])
}

fn at_grid(finding: &mut FindingEntry) {
    finding.range = range((6, 38), (6, 50));
    finding.claim = differs(Difference::Coverage { threads: 768, elements: 1000 });
}

#[test]
fn memory_that_more_threads_would_have_written_confirms() {
    let log = cover(&json!([{"allocation": 4000, "first": 3072, "last": 3999, "bytes": 928}]), "");
    let judgement = judge(&log, at_grid);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = judgement.evidence.records.first().unwrap();
    assert_eq!((record.kernel.as_deref(), record.line), (Some("set"), Some(6)));
}

#[test]
fn memory_that_differs_before_the_end_of_the_launch_or_not_at_all_confirms_nothing() {
    let before = cover(&json!([{"allocation": 4000, "first": 16, "last": 19, "bytes": 4}]), "");
    assert_eq!(judge(&before, at_grid).verdict, Verdict::NotObserved);
    assert_eq!(judge(&cover(&json!([]), ""), at_grid).verdict, Verdict::NotObserved);
    assert_eq!(judge(&cover(&json!([]), "the kernel failed"), at_grid).verdict, Verdict::Unviable);
    assert_eq!(judge(&calls(&[]), at_grid).verdict, Verdict::Unviable);
}

fn pair(addresses: [u64; 2], line: u32) -> Vec<String> {
    calls(&[json!({"event": "pair", "kernel": "set(int*)", "addresses": addresses, "line": line}).to_string()])
}

fn at_array(finding: &mut FindingEntry) {
    finding.range = range((4, 27), (4, 30));
    let names = ["one", "two"].map(str::to_owned);
    finding.claim = differs(Difference::SameAddress { names, used: site((5, 5), (5, 11)) });
}

#[test]
fn two_arrays_at_one_address_confirm_and_at_two_refute() {
    let judgement = judge(&pair([1024, 1024], 5), at_array);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("`one` and `two`"), "{}", judgement.reason);
    assert_eq!(judge(&pair([1024, 1056], 5), at_array).verdict, Verdict::Refuted);
    assert_eq!(judge(&pair([1024, 1024], 99), at_array).verdict, Verdict::Unviable);
    assert_eq!(judge(&calls(&[]), at_array).verdict, Verdict::Unviable);
}

#[test]
fn a_log_is_read_as_far_as_it_is_one() {
    let mut lines = calls(&[launch(0, 0), fault_support::call("cudaFree", 8, 2, 0, 0)]);
    lines.insert(2, "{\"event\":\"launch\",\"sequence\":".to_owned());
    lines.insert(3, "{\"event\":\"something new\"}".to_owned());
    lines.push("\u{fffd}\u{fffd}".to_owned());
    let trace = probe_log::read(&lines.join("\r\n"));
    assert!(trace.began && trace.ended);
    assert_eq!((trace.events.len(), trace.unread), (2, 3));
    assert!(matches!(trace.events.first(), Some(Event::Launch(launch)) if launch.at == Some(4096)));
    assert_eq!(trace.offsets(), [4096, 4098, 8192]);
}

#[test]
fn places_are_read_with_what_is_not_known() {
    let text = "main\n/a b/c.cu:17 (discriminator 3)\n??\n??:0\nf\nc.cu:?\nlast line alone\n";
    let places = probe_log::places(text);
    let place = places.first().unwrap().as_ref().unwrap();
    assert_eq!((place.function.as_str(), place.file.as_str(), place.line), ("main", "/a b/c.cu", 17));
    assert_eq!(places.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
}
