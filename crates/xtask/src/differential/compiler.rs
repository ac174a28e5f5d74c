//! The host's compiler, and what it builds.

use std::path::Path;
use std::process::{Command, Stdio};

/// Flags of the compiler: what C++ does not define ends the run, so that nothing is compared with it.
const FLAGS: &[&str] = &[
    "-std=c++20",
    "-O0",
    "-w",
    "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",
];

/// The compiler, with the flags of all programs.
pub fn compiler() -> Command {
    let mut compiler = Command::new("g++");
    compiler.args(FLAGS);
    compiler
}

/// Builds and runs a program whose sources `build` has; what it printed.
///
/// # Errors
/// When there is no compiler, or the program does not build or run.
pub fn run(mut build: Command, source: &Path, binary: &Path) -> Result<String, String> {
    let fail = |what: &str, error: &[u8]| {
        let error = String::from_utf8_lossy(error);
        Err(format!("{}: {what}: {}", source.display(), error.lines().take(3).collect::<Vec<_>>().join(" / ")))
    };
    let built = build.arg(source).arg("-o").arg(binary).output().map_err(|error| format!("g++ is needed: {error}"))?;
    if !built.status.success() {
        return fail("does not build", &built.stderr);
    }
    let ran = match Command::new(binary).stdin(Stdio::null()).output() {
        Ok(ran) => ran,
        Err(error) => return fail("does not start", error.to_string().as_bytes()),
    };
    let _ = std::fs::remove_file(binary);
    if !ran.status.success() {
        return fail(&format!("ended with {}", ran.status), &ran.stderr);
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}
