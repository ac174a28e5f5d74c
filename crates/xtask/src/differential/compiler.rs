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
pub fn run(command: Command, source: &Path, binary: &Path) -> Result<String, String> {
    build(command, source, binary)?;
    let printed = start(source, binary, None);
    let _ = std::fs::remove_file(binary);
    printed
}

/// Builds a program.
///
/// # Errors
/// When there is no compiler, or the program does not build.
pub fn build(mut command: Command, source: &Path, binary: &Path) -> Result<(), String> {
    let built =
        command.arg(source).arg("-o").arg(binary).output().map_err(|error| format!("g++ is needed: {error}"))?;
    if built.status.success() { Ok(()) } else { fail(source, "does not build", &built.stderr) }
}

/// Runs what was built of a source; what it printed.
///
/// # Errors
/// When it does not start, or does not end as it should.
pub fn start(source: &Path, binary: &Path, argument: Option<usize>) -> Result<String, String> {
    let mut command = Command::new(binary);
    command.args(argument.map(|argument| argument.to_string())).stdin(Stdio::null());
    match command.output() {
        Ok(ran) if ran.status.success() => Ok(String::from_utf8_lossy(&ran.stdout).into_owned()),
        Ok(ran) => fail(source, &format!("ended with {}", ran.status), &ran.stderr),
        Err(error) => fail(source, "does not start", error.to_string().as_bytes()),
    }
}

fn fail<T>(source: &Path, what: &str, error: &[u8]) -> Result<T, String> {
    let error = String::from_utf8_lossy(error);
    Err(format!("{}: {what}: {}", source.display(), error.lines().take(3).collect::<Vec<_>>().join(" / ")))
}
