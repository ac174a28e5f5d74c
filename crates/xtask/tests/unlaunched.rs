//! Random kernels without their launches: what is told of them is what some launch that it describes shows.
#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn what_is_told_without_a_launch_shows_with_one() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--unlaunched", "--count", "40", "--seed", "3", "--jobs", "2", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(!said.contains("WRONG"), "{said}");
    // It compares something.
    let told = said.split("shared race: told without a launch ").nth(1).and_then(|behind| behind.split(';').next());
    assert!(told.unwrap().parse::<u32>().unwrap() > 10, "{said}");
}
