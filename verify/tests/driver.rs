//! The driver that runs Python scripts: its own tests, in Python, with stand-ins for numba and `CuPy`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

#[test]
fn the_driver_passes_its_tests() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new("python3")
        .arg(folder.join("tests/driver/driver_test.py"))
        .arg(folder.join("src/experiment/driver"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}
