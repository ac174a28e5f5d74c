//! Random kernels in all of the device's language, replayed, and run by the host's compiler: what is told of a thread's access
//! is what that thread did.
#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn accesses_in_random_kernels_are_what_ran() {
    let out = tempfile::tempdir().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .args(["differential", "--device", "--count", "40", "--jobs", "2", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{said}{}", String::from_utf8_lossy(&run.stderr));
    assert!(said.contains("40 programs of kernels"), "{said}");
    // It compares something: of the arrays that are too short by far the most are not passed over.
    let told = said.split(" accesses told of").next().and_then(|before| before.rsplit(' ').next()).unwrap();
    assert!(told.parse::<u32>().unwrap() > 1000, "{said}");
}
