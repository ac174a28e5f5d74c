//! What the tests of packaging and of the CI scripts need beside the program: tools from `PyPI`, git, a wheel.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A program of the virtual environment `test-tools` in the target folder, which `.ci/run` fills. Without it a test is
/// skipped, except where `CI` is `true`: there it fails.
pub fn program(name: &str) -> Option<PathBuf> {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("test-tools");
    let program = environment.join("bin").join(name);
    if program.is_file() {
        return Some(program);
    }
    let message = format!("{} is missing: `.ci/tools` installs it", program.display());
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
    eprintln!("skipped: {message}");
    None
}

/// A program that the system has, where `.ci/tools` has installed it if nobody else did. Without it a test is skipped, except
/// where `CI` is `true`: there it fails.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|program| program.is_file());
    if found.is_none() {
        let message = format!("{name} is missing: `.ci/tools` installs it");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{message}");
        eprintln!("skipped: {message}");
    }
    found
}

/// A command with no settings of whoever runs the tests: no git configuration, no virtual environment, no CI of its own.
pub fn command(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["GIT_", "GITHUB_", "PRE_COMMIT", "RUNNER_", "CUDALINT_", "VIRTUAL_ENV", "PYTHON"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        {
            command.env_remove(&*name);
        }
    }
    command
        .current_dir(folder)
        .stdin(Stdio::null())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_AUTHOR_NAME", "author")
        .env("GIT_AUTHOR_EMAIL", "author@example.invalid")
        .env("GIT_COMMITTER_NAME", "author")
        .env("GIT_COMMITTER_EMAIL", "author@example.invalid")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        // Nothing is fetched: a test that asks an index for a package fails.
        .env("PIP_NO_INDEX", "1");
    command
}

/// Runs a command and gives its exit code and all that it printed, standard error last.
pub fn run(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.code().unwrap_or(-1), text)
}

/// Runs a command that has to succeed and gives what it printed.
pub fn must(command: &mut Command) -> String {
    let (code, text) = run(command);
    assert_eq!(code, 0, "{command:?}:\n{text}");
    text
}

/// Runs git in a folder.
pub fn git(folder: &Path, args: &[&str]) -> String {
    must(command("git", folder).args(args))
}

/// Makes a wheel of the program under test, without a build, in a folder.
pub fn wheel(folder: &Path) -> PathBuf {
    let name = format!("cudalint-{}-py3-none-any.whl", env!("CARGO_PKG_VERSION"));
    let script = r#"
import sys, zipfile
path, program, version = sys.argv[1:]
info = f"cudalint-{version}.dist-info"
with zipfile.ZipFile(path, "w") as wheel:
    entry = zipfile.ZipInfo(f"cudalint-{version}.data/scripts/cudalint")
    entry.external_attr = 0o100755 << 16
    with open(program, "rb") as file:
        wheel.writestr(entry, file.read())
    wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: cudalint\nVersion: {version}\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n")
    wheel.writestr(f"{info}/RECORD", "")
"#;
    let path = folder.join(name);
    let version = env!("CARGO_PKG_VERSION");
    must(command("python3", folder).args(["-c", script]).arg(&path).args([env!("CARGO_BIN_EXE_cudalint"), version]));
    path
}

/// Makes a folder that pip can install: what it builds is a wheel of the program under test.
pub fn package(folder: &Path) -> PathBuf {
    let wheel = wheel(folder);
    let package = folder.join("package");
    fs::create_dir(&package).unwrap();
    let project = "[build-system]\nrequires = []\nbuild-backend = \"prebuilt\"\nbackend-path = [\".\"]\n";
    fs::write(package.join("pyproject.toml"), project).unwrap();
    let backend = format!(
        "import os, shutil\n\n\ndef build_wheel(folder, config_settings=None, metadata_directory=None):\n    \
         return os.path.basename(shutil.copy({:?}, folder))\n",
        wheel.display().to_string()
    );
    fs::write(package.join("prebuilt.py"), backend).unwrap();
    package
}
