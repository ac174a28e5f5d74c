//! A program of several files, built with clang and run against what stands for the CUDA runtime: what the replay holds for a fact is
//! what ran, and where it reads another program than was built, that shows.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The headers of a toolkit, which `.ci/tools` unpacks. Without them a test is skipped, except where `CI` is `true`: there it fails.
fn toolkit() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("test-tools/toolkit");
    if folder.join("include/cuda_runtime_api.h").is_file() {
        return Some(folder);
    }
    let message = format!("{} is missing: `.ci/tools` installs it", folder.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("skipped: {message}");
    None
}

fn agree(toolkit: &Path, more: &[&str]) -> (bool, String) {
    let out = tempfile::tempdir().unwrap();
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agree");
    let mut command = Command::new(env!("CARGO_BIN_EXE_xtask"));
    let run = command.arg("agree").arg(project).arg("--toolkit").arg(toolkit).arg("--out").arg(out.path()).args(more);
    let run = run.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    (run.status.success(), said)
}

#[test]
fn facts_of_a_real_program_are_what_ran() {
    let Some(toolkit) = toolkit() else { return };
    let (agreed, said) = agree(&toolkit, &[]);
    assert!(agreed, "{said}");
    assert!(said.contains("1 programs found, 1 built, 1 run, 1 compared: 8 calls, 100.0 % with an event"), "{said}");
    assert!(said.contains("launch: 3 ran, 3 where the replay holds facts"), "{said}");
}

#[test]
fn a_program_that_is_read_as_another_one_is_told() {
    let Some(toolkit) = toolkit() else { return };
    let (agreed, said) = agree(&toolkit, &["--misread", "COUNT=900"]);
    assert!(!agreed, "{said}");
    assert!(said.contains("program.cu:26: bytes 12000, not 10800: allocate 12000 bytes"), "{said}");
    assert!(said.contains("program.cu:29: bytes 12000, not 10800: set 12000 bytes"), "{said}");
    assert!(said.contains("program.cu:31: grid 24, not 22: launch <<<24 x 1 x 1, 128 x 1 x 1, 64>>>"), "{said}");
}
