//! Random host programs, replayed, and run against a header that stands for the CUDA runtime: what the replay holds for a fact
//! is what ran.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

#[test]
fn facts_of_random_host_programs_are_what_ran() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--host", "--count", "400", "--jobs", "2", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("400 host programs"), "{said}");
}

#[test]
fn facts_of_random_host_programs_in_python_are_what_ran() {
    // `.ci/tools` fills this virtual environment; only CI insists on it.
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("test-tools");
    let interpreter = tools.join("bin/python3");
    if !interpreter.is_file() && std::env::var("CI").as_deref() != Ok("true") {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--host", "--python", "--count", "600", "--jobs", "2", "--interpreter"])
        .arg(interpreter)
        .arg("--out")
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("600 host programs"), "{said}");
}

#[test]
fn conditions_macros_and_headers_mean_what_the_compiler_reads() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--host", "--headers", "--count", "60", "--seed", "8", "--jobs", "2", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("60 host programs"), "{said}");
}
