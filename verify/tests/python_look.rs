//! Verdicts of what the driver sees of a Python script by itself. Python is a shell script here, which writes what the driver
//! would have written.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_pass_by_value)]

mod claim_support;
mod lab_support;

use claim_support::{memory, refused_launch};
use cudalint_findings::Shows;
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{FindingEntry, Method, Verdict};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{Origin, Program, PythonProgram, ScenarioFile};
use lab_support::{Place, device, limits};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A finding at line 5 of `k.py`, with what it claims or with a witness from which that follows.
fn finding(method: &str, given: Value) -> FindingEntry {
    let (shows, witness) = if given.get("kind").is_some() { (given, Value::Null) } else { (Value::Null, given) };
    claim_support::entry(json!({
        "rule": "some-rule", "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "it fails", "path": "k.py",
        "range": {"start": {"line": 5, "column": 9}, "end": {"line": 5, "column": 15}},
        "function": "Solver.count", "related": [], "witness": witness, "shows": shows,
        "verification": {"method": method, "verdict": null},
        "fix": null, "fingerprint": "0", "url": ""
    }))
}

/// What an experiment says where the driver leaves these files. The shell finds their folder in `$seen`.
fn judge(finding: &FindingEntry, files: &[(&str, String)], ends: &str) -> Judgement {
    let place = Place::new();
    let mut body = "test \"$2\" = --look || exit 9\nseen=$3\n".to_owned();
    for (name, text) in files {
        std::fs::write(place.path.join(name), text).unwrap();
        writeln!(body, "cp {}/{name} $seen/{name}", place.path).unwrap();
    }
    writeln!(body, "echo \"$4 $5 $6 $8 $7\" > {}/arguments\n{ends}", place.path).unwrap();
    let judgement = run(finding, &place, &body);
    let arguments = std::fs::read_to_string(place.path.join("arguments")).unwrap();
    assert!(arguments.starts_with("5-5"), "{arguments}");
    assert_eq!(
        arguments.trim_end().ends_with(" 768:1000"),
        finding.verification.method == Method::Output && of_cover(finding)
    );
    judgement
}

fn of_cover(finding: &FindingEntry) -> bool {
    matches!(finding.claim.shows, Shows::Memory { difference: Difference::Coverage { .. } })
}

/// What an experiment says of a run of Python that is this shell script.
fn run(finding: &FindingEntry, place: &Place, body: &str) -> Judgement {
    run_of("import numba\n", finding, place, body)
}

/// The same, of this script.
fn run_of(text: &str, finding: &FindingEntry, place: &Place, body: &str) -> Judgement {
    let python = json!({
        "program": {"path": place.script("python", body), "version": "3.12.3"},
        "packages": [{"name": "numba", "version": "0.68.0", "problem": null}],
    });
    let machine = Machine {
        python: Some(serde_json::from_value(python).unwrap()),
        devices: vec![device(0)],
        ..Machine::default()
    };
    let lab = place.lab(machine, limits());
    let bench = lab.bench("one").unwrap();
    let program = Program::Python(PythonProgram {
        origin: Origin::AsWritten,
        script: "k.py".into(),
        files: vec![ScenarioFile { path: "k.py".into(), text: text.to_owned() }],
        packages: vec!["numba".to_owned()],
        reproducer: None,
        raises: None,
        control: None,
        made_up: Vec::new(),
        beside: None,
        project: None,
    });
    experiment::perform(finding, &program, &bench)
}

fn compared(facts: &[Value]) -> (&'static str, String) {
    let lines: Vec<String> = facts.iter().map(Value::to_string).collect();
    ("compare.log", lines.join("\n"))
}

#[test]
fn memory_that_differs_confirms_and_equal_memory_does_not() {
    let fact = |differs: bool| json!({"kind": "argument", "line": 5, "differs": differs, "text": "argument 3 of `axpy` is 0.5", "kernel": "axpy"});
    let own = finding("output", memory(json!({"kind": "extent"})));
    let judgement = judge(&own, &[compared(&[json!({"reached": 5}), fact(false), fact(true)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!(
        (record.kind.as_str(), record.line, record.kernel.as_deref()),
        ("memory differs", Some(5), Some("axpy"))
    );
    assert_eq!(judgement.evidence.back_end, "Python 3.12.3, numba 0.68.0");
    // A script that ends badly later has shown it all the same.
    let judgement = judge(&own, &[compared(&[json!({"reached": 5}), fact(true)])], "exit 1");
    assert_eq!(judgement.verdict, Verdict::Confirmed);
    let judgement = judge(&own, &[compared(&[json!({"reached": 5}), fact(false)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.evidence.records.is_empty());
}

#[test]
fn what_was_not_compared_decides_nothing() {
    let own = finding("output", memory(json!({"kind": "extent"})));
    let says = |files: &[(&str, String)], ends: &str| {
        let judgement = judge(&own, files, ends);
        assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
        judgement.reason
    };
    assert!(says(&[], "exit 0").contains("without coming to line 5"));
    assert!(says(&[compared(&[json!({"reached": 5})])], "exit 0").contains("nothing that could be compared"));
    assert!(says(&[], "echo 'NameError: x' >&2; exit 1").contains("NameError: x"));
    let problem = json!({"kind": "argument", "line": 5, "problem": "the parameters of `k` are not in sight"});
    assert!(says(&[compared(&[problem])], "exit 0").contains("not in sight"));
}

/// A call that the driver looked at.
fn called(change: Value) -> (&'static str, String) {
    let mut memory = json!({
        "does": "copy", "count": 1000, "allocation": 4000, "offset": 0, "compared": true, "behind": 3000, "changed": 0,
        "source": 0, "value": 0, "element": 4, "floating": false, "bytes": "",
    });
    let mut real = json!(0);
    for (key, value) in change.as_object().unwrap() {
        if key == "real" { real = value.clone() } else { memory[key] = value.clone() }
    }
    compared(&[json!({"reached": 5}), json!({"line": 5, "function": "memset", "real": real, "memory": memory})])
}

#[test]
fn a_copy_or_memset_is_judged_by_what_it_leaves_in_memory() {
    let own = finding("output", memory(json!({"kind": "extent"})));
    let judgement = judge(&own, &[called(json!({}))], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!((record.kind.as_str(), record.line), ("memory read back", Some(5)));
    assert!(record.text.contains("copies 1000 of the 4000 bytes"), "{}", record.text);
    let verdict = |change: Value| judge(&own, &[called(change)], "exit 0").verdict;
    assert_eq!(verdict(json!({"count": 4000, "behind": 0, "source": 4000})), Verdict::Refuted);
    // What its source has nobody knows.
    assert_eq!(verdict(json!({"count": 4000, "behind": 0})), Verdict::NotObserved);
    assert_eq!(verdict(json!({"changed": 3})), Verdict::NotObserved);
    // One that fails for its size has shown it, whatever becomes of the script.
    let judgement = judge(&own, &[called(json!({"count": 16000, "real": 1}))], "exit 1");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let of_value = finding("output", memory(json!({"kind": "value", "value": 1})));
    let set = json!({"does": "set", "count": 4000, "behind": 0, "value": 1, "bytes": "01010101"});
    let judgement = judge(&of_value, &[called(set)], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("element 0 holds 16843009"), "{}", judgement.reason);
}

#[test]
fn shared_arrays_that_begin_at_one_address_are_evidence() {
    let used = json!({"path": "k.py", "range": {"start": {"line": 6, "column": 1}, "end": {"line": 6, "column": 2}}});
    let own = finding("output", memory(json!({"kind": "same-address", "names": ["a", "b"], "used": used})));
    let pair = |line: u32, second: u64| {
        let pair = json!({"line": line, "function": "both", "arrays": ["a", "b"], "addresses": [4096, second]});
        judge(&own, &[("pairs.log", format!("{pair}\n"))], "exit 0")
    };
    let judgement = pair(5, 4096);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].kernel.as_deref(), Some("both"));
    assert_eq!(pair(5, 4352).verdict, Verdict::Refuted);
    assert_eq!(pair(6, 4096).verdict, Verdict::Unviable);
}

#[test]
fn a_grid_is_judged_by_what_more_blocks_write() {
    let own = finding("output", memory(json!({"kind": "coverage", "threads": 768, "elements": 1000})));
    let fact = |kind: &str, differs: bool| json!({"kind": kind, "line": 5, "differs": differs, "text": "it leaves 232 elements", "kernel": "scale"});
    let judgement = judge(&own, &[compared(&[json!({"reached": 5}), fact("cover", true)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].kernel.as_deref(), Some("scale"));
    let judgement = judge(&own, &[compared(&[fact("cover", false)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    // What else is wrong with the launch is no evidence of it, and it is none of anything else.
    let judgement = judge(&own, &[compared(&[json!({"reached": 5}), fact("argument", true)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    let other = finding("output", memory(json!({"kind": "extent"})));
    let judgement = judge(&other, &[compared(&[json!({"reached": 5}), fact("cover", true)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    // An access that is logged beside it decides nothing about the grid.
    let judgement = judge(&own, &[sites(), log(&[]), compared(&[fact("cover", true)])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
}

const RAW: &str = "\
import cupy
count = cupy.RawKernel(r'''
extern \"C\" __global__ void count(int *n)
{
    n[0] += 1;
}
''', 'count')
count((1,), (64,), (cupy.zeros(1, 'i'),))
";

#[test]
fn a_program_in_a_string_is_watched_where_the_script_launches_it() {
    let mut own = finding("watchpoint", Value::Null);
    own.function = Some("count".to_owned());
    let access = |thread: u64| format!("access 0 3 0 7f00 4 7f00 4 0 0 0 {thread} 0 0 0 0 1 1");
    let place = Place::new();
    // The driver finds the program with watchpoints beside itself.
    let body = format!(
        "cp $(dirname $1)/cudalint_strings.json {0}/strings; cp $(dirname $1)/cudalint_watch.cuh {0}/header\n\
         printf 'launch 1 1 1 1 64 1 1\\n{1}\\n{2}\\nend 1 0 2\\n' > $3/watch.log",
        place.path,
        access(0),
        access(1)
    );
    let judgement = run_of(RAW, &own, &place, &body);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].line, Some(5));
    let strings: Value = serde_json::from_str(&place.read("strings")).unwrap();
    let program = &strings["programs"][0];
    assert_eq!(program["line"], 2);
    assert!(program["original"].as_str().unwrap().contains("    n[0] += 1;\n"), "{program}");
    let watched = program["watched"].as_str().unwrap();
    assert!(
        watched.contains("{ cudalint_kernel(1);") && watched.contains("cudalint_touch(0, 3, n[0], n) += 1;"),
        "{watched}"
    );
    assert!(!watched.contains("import") && !watched.contains("RawKernel"), "{watched}");
    assert!(place.read("header").contains("cudalint_watch"));
    // One that is put together when the script runs is launched as it is.
    let judgement = run_of(RAW, &own, &Place::new(), "exit 0");
    assert_eq!(judgement.verdict, Verdict::Unviable);
    assert!(judgement.reason.contains("put together when the script runs"), "{}", judgement.reason);
}

#[test]
fn a_launch_that_cannot_be_compared_is_told() {
    let own = finding("output", memory(json!({"kind": "extent"})));
    let reached = json!({"reached": 5, "kernels": ["ElementwiseKernel"]});
    let judgement = judge(&own, &[compared(std::slice::from_ref(&reached))], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Unviable);
    assert!(judgement.reason.contains("calls of ElementwiseKernel are not compared"), "{}", judgement.reason);
    let launched = json!({"launched": 5, "kernel": "scale", "grid": [3, 1, 1], "block": [256, 1, 1], "arguments": ["float32[1000]", "int 3"]});
    let judgement = judge(&own, &[compared(&[reached, launched])], "exit 0");
    assert!(
        judgement.reason.contains("launched `scale` [(3, 1, 1), (256, 1, 1)] with (float32[1000], int 3)"),
        "{}",
        judgement.reason
    );
}

/// A finding with a launch of no blocks, and the end of a script that fails so.
fn refused(grid: u64, of: &str, function: &str, words: &str) -> Judgement {
    let launch = json!({"path": "k.py", "line": 5, "grid": [grid, 1, 1], "block": [256, 1, 1], "shared_bytes": 0});
    let witness = json!({"launch": launch, "bindings": {}, "accesses": [], "assumptions": [], "path": []});
    let mut own = finding("api-error", witness);
    own.claim.shows = serde_json::from_value(refused_launch(of)).unwrap();
    own.function = Some(function.to_owned());
    let place = Place::new();
    let frames = format!(
        "Traceback (most recent call last):\n  File \"%s\", line 5, in <module>\n  File \"/lib/dispatcher.py\", line 9, in launch\n{words}\n"
    );
    run(&own, &place, &format!("shift\nprintf '{}' \"$1\" >&2\nexit 1", frames.replace('\'', "'\\''")))
}

#[test]
fn a_launch_that_a_package_refuses_is_an_error_of_the_call() {
    let words = "ValueError: LaunchConfig.grid values must be >= 1 (got (0, 1, 1))";
    let judgement = refused(0, "blocks", "", words);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!((record.line, record.kind.as_str()), (Some(5), "refused launch"));
    // Another launch, or another exception.
    for words in [words.replace("(0, 1, 1)", "(0, 2, 1)"), "ValueError: must specify at least the griddim".to_owned()] {
        let judgement = refused(0, "blocks", "", &words);
        assert_ne!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    }
}

#[test]
fn a_kernel_that_does_not_link_for_its_shared_memory_is_told() {
    let words = "cuda.bindings.nvjitlink.nvJitLinkError: ERROR_INTERNAL (6)\nnvJitLink error log: error   : Entry function '_ZN8__main__4fillB2v1B1aE5ArrayIfLi1E' uses too much shared data (0x40000 bytes, 0xc000 max)";
    let judgement = refused(1, "shared-memory", "fill", words);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("`fill` uses too much shared data (0x40000 bytes"), "{}", judgement.reason);
    assert_ne!(refused(1, "shared-memory", "other", words).verdict, Verdict::Confirmed);
}

/// Sites on lines 5 and 6 of the kernel.
fn sites() -> (&'static str, String) {
    let site = |line: u32, text: &str, kind: u32| json!({"line": line, "text": text, "kind": kind, "function": "count", "array": "n", "memory": 0, "shape": null, "object": 0});
    let all =
        json!({"sites": [site(5, "n[0]", 3), site(6, "n[i - 1]", 1)], "kernels": ["count"], "unfollowed": [null]});
    ("sites.json", all.to_string())
}

fn log(accesses: &[&str]) -> (&'static str, String) {
    let lines: Vec<String> = accesses.iter().map(|access| format!("access {access}")).collect();
    ("watch.log", format!("launch 1 1 1 1 64 1 1\n{}\nend 1 0 {}\n", lines.join("\n"), accesses.len()))
}

#[test]
fn races_of_numba_kernels_are_judged_like_those_of_cuda() {
    let access = |kind: &str, thread: u64| json!({"block": [0, 0, 0], "thread": [thread, 0, 0], "kind": kind, "index": 0, "extent": 1, "line": 5});
    let witness = json!({
        "launch": {"path": "k.py", "line": 9, "grid": [1, 1, 1], "block": [64, 1, 1], "shared_bytes": 0},
        "bindings": {}, "accesses": [access("read", 0), access("write", 1)], "assumptions": [], "path": []
    });
    let own = finding("watchpoint", witness);
    let one = "0 3 0 7f00 4 7f00 4 0 0 0 0 0 0 0 0 1 1";
    let other = "0 3 0 7f00 4 7f00 4 0 0 0 1 0 0 0 0 1 1";
    let judgement = judge(&own, &[sites(), log(&[one, other])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records.len(), 2);
    // With a barrier between them.
    let later = "0 3 0 7f00 4 7f00 4 0 0 0 1 0 0 1 0 1 1";
    let judgement = judge(&own, &[sites(), log(&[one, later])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    // Something may order them that is not followed.
    let unfollowed = sites().1.replace("[null]", "[\"threadfence\"]");
    let judgement = judge(&own, &[("sites.json", unfollowed), log(&[one, other])], "exit 0");
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    // A kernel that is not one of Numba's.
    let judgement = judge(&own, &[], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Unviable);
    let refused = ("watch.log", "off the copy of `count` cannot be compiled: TypingError\n".to_owned());
    let judgement = judge(&own, &[refused], "exit 0");
    assert_eq!((judgement.verdict, judgement.reason.contains("TypingError")), (Verdict::Unviable, true));
}

#[test]
fn a_read_of_shared_memory_that_nobody_wrote_is_evidence() {
    let witness = json!({
        "launch": {"path": "k.py", "line": 9, "grid": [2, 1, 1], "block": [64, 1, 1], "shared_bytes": 0},
        "bindings": {}, "assumptions": [], "path": [],
        "accesses": [{"block": [1, 0, 0], "thread": [2, 0, 0], "kind": "read", "index": 2, "extent": 64, "line": 5}]
    });
    let own = finding("watchpoint", witness);
    let place = Place::new();
    let site = |line: u32, kind: u32| json!({"line": line, "text": "part[t]", "kind": kind, "function": "count"});
    let sites = json!({"sites": [site(4, 2), site(5, 1)], "kernels": ["count"], "unfollowed": [null]});
    std::fs::write(place.path.join("sites.json"), sites.to_string()).unwrap();
    let says = |writes: u64| {
        let body = format!(
            "cp {0}/sites.json $3/sites.json; echo \"$6 $8\" > {0}/arguments\n\
             printf 'launch 1 2 1 1 64 1 1\\naccess 0 2 1 {1:x} 8 0 512 1 0 0 {writes} 0 0 0 0 1 1\\n' > $3/watch.log\n\
             printf 'access 1 1 1 10 8 0 512 1 0 0 2 0 0 1 0 1 1\\nend 1 0 2\\n' >> $3/watch.log",
            place.path,
            8 * writes,
        );
        run(&own, &place, &body)
    };
    let judgement = says(1);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!((judgement.evidence.records[0].line, judgement.evidence.records[0].thread), (Some(5), Some([2, 0, 0])));
    // The driver is told the block, and of no thread anything is left out.
    assert_eq!(place.read("arguments"), "- 1,0,0\n");
    assert_eq!(says(2).verdict, Verdict::NotObserved);
}

#[test]
fn an_index_below_zero_is_evidence_of_wrapping() {
    let object = json!({"name": "n", "space": "global", "bytes": null});
    let shows = json!({"kind": "access", "fault": "negative-index", "object": object, "accesses": []});
    let mut own = finding("output", shows);
    let negative = json!({"site": 0, "indices": [-1], "shape": [500], "block": [0, 0, 0], "thread": [0, 0, 0]});
    let facts = ("negative.log", format!("{negative}\n"));
    let judgement = judge(&own, &[sites(), log(&[]), facts.clone()], "exit 0");
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("takes for element 499 of 500"), "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].thread, Some([0, 0, 0]));
    // On another line it is none of the finding's.
    let other = json!({"site": 1, "indices": [-1], "shape": [500], "block": [0, 0, 0], "thread": [0, 0, 0]});
    let judgement = judge(&own, &[sites(), log(&[]), ("negative.log", format!("{other}\n"))], "exit 0");
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    own.function = None;
    assert_eq!(judge(&own, &[sites(), log(&[])], "exit 0").verdict, Verdict::NotObserved);
}
