//! `cudalint verify` and `doctor` where there is no GPU: what they say, what they leave, how they end.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{EMPTY_GRID, Ran, Sandbox, finished};
use serde_json::Value;

/// A launch with no blocks whose status nobody asks for: findings of two rules.
const UNCHECKED: &str = "#include <cuda_runtime.h>\n\
                         __global__ void increment(float *values) { values[blockIdx.x] = 1; }\n\
                         void run(float *values) {\n    increment<<<20 / 32, 32>>>(values);\n}\n";

/// Runs with all GPUs hidden, so that the outcome is the same on a machine that has some.
fn without_gpu(sandbox: &Sandbox, args: &[&str]) -> Ran {
    finished(sandbox.command(args).env("CUDA_VISIBLE_DEVICES", ""))
}

fn read(sandbox: &Sandbox, name: &str) -> String {
    std::fs::read_to_string(sandbox.path().join(name)).unwrap()
}

#[test]
fn without_a_gpu_nothing_is_confirmed_and_the_status_is_three() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let ran = without_gpu(&sandbox, &["verify", "a.cu"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(!ran.stdout.contains("confirmed"), "{ran:?}");
    assert!(ran.stdout.contains("verified: unsupported"), "{ran:?}");
    assert!(ran.stdout.contains("evaluated again on the CPU, shows the defect"), "{ran:?}");
    assert!(ran.stderr.contains("no GPU has confirmed anything"), "{ran:?}");
    assert!(ran.stderr.contains("verify compiles and runs code from these files"), "{ran:?}");
    let outcomes = read(&sandbox, "cudalint-out/outcomes.jsonl");
    let outcome: Value = serde_json::from_str(outcomes.lines().next().unwrap()).unwrap();
    assert_eq!((&outcome["rule"], &outcome["verification"]["verdict"]), (&"empty-grid".into(), &"unsupported".into()));
}

#[test]
fn programs_for_devices_of_amd_are_not_run() {
    let hip = EMPTY_GRID.replace("<cuda_runtime.h>", "<hip/hip_runtime.h>").replace("cuda", "hip");
    let sandbox = Sandbox::new(&[("a.hip", &hip)]);
    let ran = without_gpu(&sandbox, &["verify", "a.hip"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let outcomes = read(&sandbox, "cudalint-out/outcomes.jsonl");
    let outcome: Value = serde_json::from_str(outcomes.lines().next().unwrap()).unwrap();
    assert_eq!((&outcome["rule"], &outcome["verification"]["verdict"]), (&"empty-grid".into(), &"unsupported".into()));
    assert!(outcome["reason"].as_str().unwrap().starts_with("the program is written for devices of AMD"), "{outcome}");
}

#[test]
fn findings_of_another_machine_are_verified_with_the_sources_beside_them() {
    let sandbox = Sandbox::new(&[("there/src/a.cu", EMPTY_GRID)]);
    let args = ["check", "src", "--output-format", "json", "--output-file", "f.json"];
    let written = finished(sandbox.command(&args).current_dir(sandbox.path().join("there")));
    assert_eq!(written.code, 1, "{written:?}");
    let ran = without_gpu(&sandbox, &["verify", "there/f.json", "--output-format", "json", "--report", "r.html"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let verification = &document["findings"][0]["verification"];
    assert_eq!((&verification["method"], &verification["verdict"]), (&"api-error".into(), &"unsupported".into()));
    assert_eq!(verification["evidence"]["device"], Value::Null);
    let report = read(&sandbox, "r.html");
    assert!(report.contains("empty-grid") && !report.contains("<<<"), "{report}");
    assert!(report.contains("class=\"flagged\""), "{report}");
}

#[test]
fn a_finding_that_its_source_no_longer_gives_is_told() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    sandbox.run(&["check", "a.cu", "--output-format", "json", "--output-file", "f.json"]);
    sandbox.write("a.cu", EMPTY_GRID.replace("20 / 32", "64 / 32").as_bytes());
    let ran = without_gpu(&sandbox, &["verify", "f.json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("linting the source again does not give this finding"), "{ran:?}");
}

#[test]
fn what_to_verify_and_what_to_show_can_be_chosen() {
    let sandbox = Sandbox::new(&[("a.cu", UNCHECKED)]);
    let all = without_gpu(&sandbox, &["verify", "a.cu", "--output-format", "concise"]);
    let lines = |text: &str| text.lines().filter(|line| line.starts_with("a.cu:")).count();
    assert!(lines(&all.stdout) > 1, "the launch is unchecked too: {all:?}");
    let one = without_gpu(&sandbox, &["verify", "a.cu", "--only", "empty-grid", "--output-format", "concise"]);
    assert_eq!(lines(&one.stdout), 1, "{one:?}");
    let confirmed = without_gpu(&sandbox, &["verify", "a.cu", "--only-confirmed", "--output-format", "concise"]);
    assert_eq!(lines(&confirmed.stdout), 0, "{confirmed:?}");
    let resumed = without_gpu(&sandbox, &["verify", "a.cu", "--resume", "--output-format", "concise"]);
    assert!(resumed.stdout.contains("in an earlier run"), "{resumed:?}");
}

#[test]
fn words_that_choose_nothing_are_told() {
    let sandbox = Sandbox::new(&[("a.cu", EMPTY_GRID)]);
    let ran = |only: &str| without_gpu(&sandbox, &["verify", "a.cu", "--only", only, "--output-format", "json"]);
    let verified = |ran: &Ran| -> usize {
        serde_json::from_str::<Value>(&ran.stdout).unwrap()["findings"].as_array().unwrap().len()
    };
    // What the other words choose is verified.
    let gone = ran("empty-grid,0123456789abcdef,0123456789abcdef");
    assert_eq!((gone.code, verified(&gone)), (2, 1), "{gone:?}");
    let told = "error: --only 0123456789abcdef: there is no finding of such a rule, or with such a fingerprint";
    assert_eq!(gone.stderr.matches(told).count(), 1, "{gone:?}");
    let misspelt = ran("empty-gird");
    assert_eq!((misspelt.code, verified(&misspelt)), (2, 0), "{misspelt:?}");
    assert!(misspelt.stderr.contains("did you mean `empty-grid`?"), "{misspelt:?}");
    // A rule that finds nothing is no mistake.
    let none = ran("copy-exceeds-allocation");
    assert_eq!((none.code, verified(&none)), (0, 0), "{none:?}");
    assert!(none.stderr.contains("note: --only copy-exceeds-allocation: there is no finding of this rule"), "{none:?}");
    let print = without_gpu(&sandbox, &["verify", "a.cu", "--output-format", "json"]);
    let print: Value = serde_json::from_str(&print.stdout).unwrap();
    let print = print["findings"][0]["fingerprint"].as_str().unwrap().to_owned();
    let short = ran(print.get(..5).unwrap());
    assert_eq!(short.code, 2, "{short:?}");
    assert!(short.stderr.contains("give 8 characters at least"), "{short:?}");
    assert_eq!(ran(print.get(..8).unwrap()).code, 3);
}

#[test]
fn nothing_to_verify_is_success() {
    let sandbox = Sandbox::new(&[("a.cu", "__global__ void k() {}\n")]);
    let ran = without_gpu(&sandbox, &["verify", "a.cu"]);
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn bad_input_is_told_and_ends_with_two() {
    let sandbox = Sandbox::new(&[
        ("a.cu", EMPTY_GRID),
        ("bad.json", "{}"),
        ("old.json", "{\"version\": 1}"),
        ("full/thing.txt", "mine"),
    ]);
    let said = |args: &[&str], words: &str| {
        let ran = without_gpu(&sandbox, args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(words), "{args:?}: {ran:?}");
    };
    said(&["verify", "gone.json"], "gone.json: cannot be read");
    said(&["verify", "bad.json"], "bad.json: not a findings document");
    said(&["verify", "old.json"], "of version 1, and this cudalint reads version 2: lint again with this cudalint");
    said(&["verify", "bad.json", "a.cu"], "verified alone");
    said(&["verify", "a.cu", "--out", "full"], "no outcome folder of cudalint");
    sandbox.run(&["check", "a.cu", "--output-format", "json", "--output-file", "f.json"]);
    said(&["verify", "f.json", "--sources", "nowhere"], "no such folder");
    std::fs::remove_file(sandbox.path().join("a.cu")).unwrap();
    said(&["verify", "f.json"], "name their folder with --sources");
    assert_eq!(read(&sandbox, "full/thing.txt"), "mine");
}

#[test]
fn doctor_says_what_is_missing_and_how_to_get_it() {
    let sandbox = Sandbox::new(&[]);
    let ran = without_gpu(&sandbox, &["doctor"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("Nothing can be verified here"), "{ran:?}");
    let json = without_gpu(&sandbox, &["doctor", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&json.stdout).is_ok(), "{json:?}");
}
