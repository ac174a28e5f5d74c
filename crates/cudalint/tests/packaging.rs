//! `pip install .` and the hook for pre-commit.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod tools;

use common::{EMPTY_GRID, Sandbox};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tools::{command, git, must, program, root, run};

#[test]
fn maturin_makes_a_wheel_of_the_program() {
    let Some(python) = program("maturin").and_then(|_| program("python")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = "import maturin, sys; print(maturin.prepare_metadata_for_build_wheel(sys.argv[1]))";
    let mut prepare = command(&python, &root());
    let path = format!("{}:{}", python.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let said = must(prepare.env("PATH", path).args(["-c", script]).arg(folder.path()));
    assert!(said.contains("Found bin bindings"), "{said}");
    let info = folder.path().join(format!("cudalint-{}.dist-info", env!("CARGO_PKG_VERSION")));
    let metadata = fs::read_to_string(info.join("METADATA")).unwrap();
    for line in [
        "Name: cudalint\n",
        concat!("Version: ", env!("CARGO_PKG_VERSION"), "\n"),
        concat!("Summary: ", env!("CARGO_PKG_DESCRIPTION"), "\n"),
        concat!("License-Expression: ", env!("CARGO_PKG_LICENSE"), "\n"),
        "Description-Content-Type: text/markdown",
        "\n# cudalint\n",
    ] {
        assert!(metadata.contains(line), "{line:?} is missing:\n{metadata}");
    }
    for license in ["LICENSE", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"] {
        assert!(info.join("licenses").join(license).is_file(), "{license}");
    }
}

#[test]
#[ignore = "builds the program anew, which takes minutes: cargo test -p cudalint --test packaging -- --ignored"]
fn pip_installs_the_program() {
    let folder = tempfile::tempdir().unwrap();
    must(command("python3", folder.path()).args(["-m", "venv", "environment"]));
    let environment = folder.path().join("environment/bin");
    // All of the way but the optimizations; maturin comes from PyPI, as it does for users.
    let mut pip = command(environment.join("pip"), &root());
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    pip.env_remove("PIP_NO_INDEX").env("CARGO_TARGET_DIR", target);
    must(pip.args(["install", "--config-settings", "build-args=--profile dev", "."]));
    let said = must(command(environment.join("cudalint"), folder.path()).arg("--version"));
    assert_eq!(said, concat!("cudalint ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn the_settings_of_the_package_are_none_of_the_linter() {
    let sandbox = Sandbox::new(&[("src/a.cu", EMPTY_GRID)]);
    let before = sandbox.run(&["src", "--statistics"]);
    sandbox.write("pyproject.toml", &fs::read(root().join("pyproject.toml")).unwrap());
    let after = sandbox.run(&["src", "--statistics"]);
    assert_eq!((before.code, before.stdout, before.stderr), (after.code, after.stdout, after.stderr));
}

/// A git repository with the project's own hook, which installs the program under test.
fn hook_repository(folder: &Path) -> PathBuf {
    let hook = tools::package(folder);
    fs::copy(root().join(".pre-commit-hooks.yaml"), hook.join(".pre-commit-hooks.yaml")).unwrap();
    git(&hook, &["init", "--quiet"]);
    git(&hook, &["add", "."]);
    git(&hook, &["commit", "--quiet", "--message", "hook"]);
    hook
}

/// A git repository whose commits go through pre-commit.
struct Project {
    folder: tempfile::TempDir,
    path: String,
}

impl Project {
    fn new() -> Option<Self> {
        let pre_commit = program("pre-commit")?;
        let folder = tempfile::tempdir().unwrap();
        let hook = hook_repository(folder.path());
        let revision = git(&hook, &["rev-parse", "HEAD"]);
        let path = format!("{}:{}", pre_commit.parent().unwrap().display(), std::env::var("PATH").unwrap());
        let project = Self { folder, path };
        fs::create_dir(project.folder()).unwrap();
        let config = format!(
            "repos:\n  - repo: file://{}\n    rev: {}    hooks:\n      - id: cudalint\n",
            hook.display(),
            revision
        );
        project.write(".pre-commit-config.yaml", &config);
        git(&project.folder(), &["init", "--quiet"]);
        must(project.command("pre-commit").arg("install"));
        Some(project)
    }

    fn folder(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn command(&self, program: &str) -> std::process::Command {
        let mut command = command(program, &self.folder());
        command.env("PATH", &self.path).env("PRE_COMMIT_HOME", self.folder.path().join("pre-commit"));
        command
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder().join(name), text).unwrap();
    }

    fn commit(&self) -> (i32, String) {
        git(&self.folder(), &["add", "."]);
        run(self.command("git").args(["commit", "--message", "change"]))
    }
}

#[test]
fn the_hook_stops_a_commit_until_the_defect_is_repaired() {
    let Some(project) = Project::new() else { return };
    let launch = "20 / 32, 32";
    let user = EMPTY_GRID.replace("#include <cuda_runtime.h>", "#include \"sizes.cuh\"").replace(launch, "BLOCKS, 32");
    project.write("bad.cu", EMPTY_GRID);
    project.write("clean.cu", &user.replace("increment", "decrement").replace("run", "run_clean"));
    project.write("sizes.cuh", "#include <cuda_runtime.h>\n#define BLOCKS 20\n");
    project.write("plain.py", "import os\n\nprint(os.getcwd())\n");
    project.write("plain.cpp", "int main() { return 0; }\n");
    // To pre-commit both are Python.
    project.write("wscript", "def build(context):\n    pass\n");
    project.write("tool", "#!/usr/bin/env python3\nprint(1)\n");
    fs::set_permissions(project.folder().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();

    let (code, said) = project.commit();
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("error[empty-grid]") && said.contains("bad.cu:4:"), "{said}");
    // One process for all files: CUDA, C++ and Python ones, and none that cudalint does not read.
    assert_eq!(said.matches("Found 1 error, 0 warnings in 3 files.").count(), 1, "{said}");

    project.write("bad.cu", &EMPTY_GRID.replace(launch, "20, 32"));
    let (code, said) = project.commit();
    assert!(code == 0 && said.contains("Passed"), "{code}: {said}");

    // A commit of a header and of files without GPU code.
    project.write("plain.py", "print(1)\n");
    project.write("notes.txt", "notes\n");
    let (code, said) = project.commit();
    assert!(code == 0 && said.contains("Passed"), "{code}: {said}");
    project.write("notes.txt", "more notes\n");
    let (code, said) = project.commit();
    assert!(code == 0 && said.contains("Skipped"), "{code}: {said}");

    // What another file defines counts, although that file is not part of the commit.
    project.write("user.cu", &user.replace("BLOCKS", "BLOCKS / 32").replace("increment", "third"));
    let (code, said) = project.commit();
    assert!(code == 1 && said.contains("user.cu:4:") && said.contains("in 1 file."), "{code}: {said}");
    project.write("cudalint.toml", "exclude = [\"user.cu\"]\n");
    let (code, said) = project.commit();
    assert!(code == 0 && said.contains("Passed"), "{code}: {said}");
}

#[test]
fn the_hook_starts_one_process_for_many_files() {
    let Some(project) = Project::new() else { return };
    for number in 0..40 {
        let name = format!("kernel_{number}");
        let text = EMPTY_GRID.replace("increment", &name).replace("run", &format!("run_{number}"));
        project.write(&format!("{name}.cu"), &text);
    }
    let (code, said) = project.commit();
    assert_eq!(code, 1, "{said}");
    assert_eq!(said.matches("Found ").count(), 1, "{said}");
    assert!(said.contains("Found 40 errors, 0 warnings in 40 files."), "{said}");
}
