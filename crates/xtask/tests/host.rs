//! Random host programs, replayed, and run against a header that stands for the CUDA runtime: what the replay holds for a fact
//! is what ran.
#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn facts_of_random_host_programs_are_what_ran() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--host", "--count", "300", "--jobs", "2", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("300 host programs"), "{said}");
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
