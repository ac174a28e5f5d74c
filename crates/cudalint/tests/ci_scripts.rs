//! The steps of the CI job in `docs/ci`: lint and pack with the real program, and how `verify.sh` and `report.sh` treat
//! whatever `cudalint verify` says.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod tools;

use common::{EMPTY_GRID, Sandbox};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use tools::{command, git, must, program, root, run};

const SCRIPTS: [&str; 6] = ["install.sh", "lint.sh", "pack.sh", "verify.sh", "report.sh", "relocate.sh"];

fn script(name: &str) -> PathBuf {
    root().join("docs/ci").join(name)
}

/// A script as a step of a job would run it, with the program under test on the path.
fn step(name: &str, folder: &Path) -> Command {
    let program = Path::new(env!("CARGO_BIN_EXE_cudalint")).parent().unwrap();
    let mut step = command("sh", folder);
    step.arg(script(name)).env("PATH", format!("{}:{}", program.display(), std::env::var("PATH").unwrap()));
    step
}

/// A git checkout with these files.
fn checkout(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(files);
    fs::remove_dir(sandbox.path().join(".git")).unwrap();
    git(sandbox.path(), &["init", "--quiet"]);
    git(sandbox.path(), &["add", "."]);
    git(sandbox.path(), &["commit", "--quiet", "--allow-empty", "--message", "all"]);
    sandbox
}

/// The names of the files in a packed hand-over.
fn packed(handover: &Path) -> Vec<String> {
    let folder = handover.parent().unwrap();
    // A name with a line break is written with an escape.
    let mut names: Vec<String> = must(command("tar", folder).args(["--list", "--file"]).arg(handover))
        .lines()
        .filter(|name| !name.ends_with('/'))
        .map(str::to_owned)
        .collect();
    names.sort();
    names
}

#[test]
fn the_scripts_are_what_shellcheck_asks_for() {
    for name in SCRIPTS {
        must(command("sh", &root()).arg("-n").arg(script(name)));
        let mode = fs::metadata(script(name)).unwrap().permissions().mode();
        assert!(mode & 0o111 != 0, "{name} cannot be run");
    }
    let Some(shellcheck) = program("shellcheck") else { return };
    must(command(&shellcheck, &root()).arg("--shell=sh").args(SCRIPTS.map(script)));
    must(command(shellcheck, &root()).args([".ci/run", ".ci/tools"]));
}

#[test]
fn install_builds_and_puts_the_program_on_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let package = tools::package(folder.path());
    let paths = folder.path().join("path");
    let install = || {
        let mut install = command("sh", folder.path());
        install.arg(script("install.sh")).arg("wheels").arg(&package);
        run(install.env("RUNNER_TEMP", folder.path()).env("GITHUB_PATH", &paths))
    };
    let (code, said) = install();
    assert_eq!(code, 0, "{said}");
    assert_eq!(fs::read_dir(folder.path().join("wheels")).unwrap().count(), 1);
    let added = fs::read_to_string(&paths).unwrap();
    let version = must(command(Path::new(added.trim_end()).join("cudalint"), folder.path()).arg("--version"));
    assert_eq!(version, concat!("cudalint ", env!("CARGO_PKG_VERSION"), "\n"));

    // A package that cannot be built fails the step, although the program of the run before is there.
    fs::remove_dir_all(&package).unwrap();
    fs::remove_dir_all(folder.path().join("wheels")).unwrap();
    assert_ne!(install().0, 0);
}

#[test]
fn lint_writes_findings_and_tells_how_many() {
    let sandbox = checkout(&[("src/a.cu", EMPTY_GRID), ("src/b.cu", "int b;\n")]);
    let (code, said) = run(step("lint.sh", sandbox.path()).args(["findings.json", "src"]));
    assert_eq!(code, 0, "{said}");
    assert!(said.starts_with("src/a.cu:4:17: error[empty-grid] "), "{said}");
    assert!(said.ends_with("cudalint: 1 finding(s) to verify, in findings.json\n"), "{said}");
    let findings: serde_json::Value =
        serde_json::from_slice(&fs::read(sandbox.path().join("findings.json")).unwrap()).unwrap();
    assert_eq!(findings["findings"][0]["rule"], "empty-grid");
    assert_eq!(findings["findings"][0]["path"], "src/a.cu");

    let output = sandbox.path().join("output");
    let mut github = step("lint.sh", sandbox.path());
    let (_, said) = run(github.arg("f.json").env("GITHUB_ACTIONS", "true").env("GITHUB_OUTPUT", &output));
    assert!(said.starts_with("::error "), "{said}");
    assert_eq!(fs::read_to_string(&output).unwrap(), "findings=1\n");

    sandbox.write("src/a.cu", b"int a;\n");
    let (code, said) = run(step("lint.sh", sandbox.path()).arg("f.json").env("GITHUB_OUTPUT", &output));
    assert_eq!((code, said.as_str()), (0, "cudalint: 0 finding(s) to verify, in f.json\n"));
    assert_eq!(fs::read_to_string(&output).unwrap(), "findings=1\nfindings=0\n");
}

#[test]
fn lint_fails_when_it_could_not_lint() {
    let sandbox = checkout(&[("a.cu", EMPTY_GRID), ("cudalint.toml", "selct = []\n")]);
    let output = sandbox.path().join("output");
    let (code, said) = run(step("lint.sh", sandbox.path()).arg("findings.json").env("GITHUB_OUTPUT", &output));
    assert!(code == 2 && said.contains("unknown key"), "{code}: {said}");
    assert!(!output.exists(), "no later step may think that there is nothing to verify");
    assert_eq!(run(&mut step("lint.sh", sandbox.path())).0, 2);
}

#[test]
fn pack_takes_what_git_takes() {
    let sandbox = checkout(&[
        ("a.cu", EMPTY_GRID),
        ("inc/with space.h", "int b;\n"),
        ("inc/with\nbreak.h", "int c;\n"),
        ("inc/findings.json", "{}\n"),
        ("gone.cu", "int d;\n"),
        (".gitignore", "build/\n"),
        ("build/compile_commands.json", "[]\n"),
        ("build/a.o", "object\n"),
    ]);
    fs::remove_file(sandbox.path().join("gone.cu")).unwrap();
    sandbox.write("new.cu", b"int e;\n");
    std::os::unix::fs::symlink("a.cu", sandbox.path().join("link.cu")).unwrap();
    must(step("lint.sh", sandbox.path()).arg("findings.json"));
    for _ in 0..2 {
        let said = must(step("pack.sh", sandbox.path()).args(["findings.json", "handover.tar.gz"]));
        assert_eq!(said, "cudalint: 8 source files in handover.tar.gz\n");
        let names = packed(&sandbox.path().join("handover.tar.gz"));
        let wanted = [
            "findings.json",
            "root",
            "sources/.gitignore",
            "sources/a.cu",
            "sources/build/compile_commands.json",
            "sources/inc/findings.json",
            "sources/inc/with space.h",
            "sources/inc/with\\nbreak.h",
            "sources/link.cu",
            "sources/new.cu",
        ];
        assert_eq!(names, wanted);
    }
    must(step("pack.sh", sandbox.path()).args(["findings.json", "part.tar.gz", "inc"]));
    let names = packed(&sandbox.path().join("part.tar.gz"));
    assert!(names.len() == 6 && !names.iter().any(|name| name.contains(".cu")), "{names:?}");
}

#[test]
fn pack_takes_submodules() {
    let library = checkout(&[("lib.cuh", "int lib;\n")]);
    let sandbox = checkout(&[("a.cu", "#include \"lib/lib.cuh\"\n")]);
    let mut add = command("git", sandbox.path());
    must(add.args(["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"]).arg(library.path()).arg("lib"));
    sandbox.write("findings.json", b"{}");
    must(step("pack.sh", sandbox.path()).args(["findings.json", "handover.tar.gz"]));
    let names = packed(&sandbox.path().join("handover.tar.gz"));
    assert!(names.contains(&"sources/lib/lib.cuh".to_owned()), "{names:?}");
}

#[test]
fn pack_says_what_is_missing() {
    let sandbox = checkout(&[("a.cu", EMPTY_GRID)]);
    let (code, said) = run(step("pack.sh", sandbox.path()).args(["findings.json", "handover.tar.gz"]));
    assert!(code == 2 && said.contains("findings.json: no such file"), "{said}");
    let bare = tempfile::tempdir().unwrap();
    fs::write(bare.path().join("findings.json"), "{}").unwrap();
    let (code, said) = run(step("pack.sh", bare.path()).args(["findings.json", "handover.tar.gz"]));
    assert!(code == 2 && said.contains("no git checkout"), "{said}");
}

/// The findings of [`EMPTY_GRID`], packed, and a `cudalint` that says whatever a test wants.
struct Handed {
    sandbox: Sandbox,
    fakes: tempfile::TempDir,
}

impl Handed {
    fn new() -> Self {
        let sandbox = checkout(&[("a.cu", EMPTY_GRID)]);
        // Beside names that are no files of the checkout.
        let here = sandbox.path().display();
        let database = format!("[\"{here}\", \"-I{here}/inc\", \"{here}-other\"]");
        sandbox.write("compile_commands.json", database.as_bytes());
        must(step("lint.sh", sandbox.path()).arg("findings.json"));
        must(step("pack.sh", sandbox.path()).args(["findings.json", "handover.tar.gz"]));
        fs::remove_file(sandbox.path().join("a.cu")).unwrap();
        let fakes = tempfile::tempdir().unwrap();
        let fake = fakes.path().join("cudalint");
        // `--sources` is looked at while it is there.
        let text = r##"#!/bin/sh
printf '%s\n' "$*" >>"$FAKES/calls"
case $1 in
doctor) echo "GPU: | none"; exit 3 ;;
verify)
    [ -f "$2" ] && [ -f "$4/a.cu" ] || exit 77
    mkdir -p "$6/one" && echo report >"$6/report.html"
    echo "#include \"$4/a.cu\"" >"$6/one/harness.cu"
    cat "$FAKES/verified.json"
    if [ "$FAKE_STATUS" = killed ]; then kill -9 $$; fi
    exit "$FAKE_STATUS"
    ;;
esac
exit 78
"##;
        fs::write(&fake, text).unwrap();
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let handed = Self { sandbox, fakes };
        handed.verified("confirmed");
        handed
    }

    /// What `cudalint verify` will print.
    fn verified(&self, verdict: &str) {
        let text = fs::read_to_string(self.sandbox.path().join("findings.json")).unwrap();
        let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let finding = &mut document["findings"][0];
        finding["message"] = "a | b\n100%".into();
        finding["verification"]["verdict"] = verdict.into();
        finding["verification"]["evidence"] = serde_json::json!({
            "back_end": "driver", "device": "NVIDIA H200", "records": [], "command": null, "log": null,
            "reproducer": "one/harness.cu"
        });
        fs::write(self.fakes.path().join("verified.json"), document.to_string()).unwrap();
    }

    fn step(&self, name: &str, status: &str) -> Command {
        let mut step = command("sh", self.sandbox.path());
        let path = format!("{}:{}", self.fakes.path().display(), std::env::var("PATH").unwrap());
        step.arg(script(name)).env("PATH", path).env("FAKES", self.fakes.path()).env("FAKE_STATUS", status);
        step
    }

    fn verify(&self, status: &str) -> (i32, String) {
        run(self.step("verify.sh", status).args(["handover.tar.gz", "result"]))
    }

    fn result(&self, name: &str) -> String {
        fs::read_to_string(self.sandbox.path().join("result").join(name)).unwrap()
    }
}

#[test]
fn verify_fails_on_confirmed_and_says_what_each_status_means() {
    let handed = Handed::new();
    let cases = [
        ("0", 0, "no finding was confirmed"),
        ("1", 1, "findings were confirmed on a GPU"),
        ("2", 2, "could not be done as asked"),
        ("3", 3, "nothing could be decided"),
        ("130", 2, "interrupted"),
        ("killed", 2, "ended with status 137"),
        ("101", 2, "ended with status 101"),
    ];
    for (status, wanted, words) in cases {
        let (code, said) = handed.verify(status);
        assert_eq!(code, wanted, "{status}: {said}");
        assert!(said.contains(words) && said.contains("GPU: | none"), "{status}: {said}");
        for (_, _, others) in cases.iter().filter(|case| case.2 != words) {
            assert!(!said.contains(others), "{status}: {said}");
        }
        assert_eq!(handed.result("doctor.txt"), "GPU: | none\n");
        assert_eq!(handed.result("outcome/report.html"), "report\n");
        assert!(handed.result("verified.json").contains("\"confirmed\""));
    }
    let calls = fs::read_to_string(handed.fakes.path().join("calls")).unwrap();
    let last = calls.lines().last().unwrap();
    let at = fs::canonicalize(handed.sandbox.path().join("result")).unwrap().display().to_string();
    let wanted = "verify @/findings.json --sources @/sources --out @/outcome --report @/outcome/report.html --output-format json";
    assert_eq!(last, wanted.replace('@', &at));
    assert_eq!(calls.lines().count(), 2 * cases.len());
}

#[test]
fn paths_become_those_of_the_machine() {
    let handed = Handed::new();
    assert_eq!(handed.verify("1").0, 1);
    let was = handed.sandbox.path().display().to_string();
    let at = handed.sandbox.path().join("result");
    let database = handed.result("sources/compile_commands.json");
    let sources = at.join("sources").display().to_string();
    assert_eq!(database, format!("[\"{sources}\", \"-I{sources}/inc\", \"{was}-other\"]"));

    // Somebody downloads it: the reproducer includes a file that is there.
    let elsewhere = handed.fakes.path().join("with & in [it]");
    fs::rename(&at, &elsewhere).unwrap();
    let harness = || fs::read_to_string(elsewhere.join("outcome/one/harness.cu")).unwrap();
    assert!(harness().contains(&at.display().to_string()));
    for _ in 0..2 {
        must(command("sh", handed.fakes.path()).arg(script("relocate.sh")).arg(&elsewhere));
        let included = harness().replace("#include \"", "").replace("\"\n", "");
        assert_eq!(fs::read_to_string(&included).unwrap(), EMPTY_GRID);
    }
    assert_eq!(run(command("sh", handed.fakes.path()).arg(script("relocate.sh")).arg(".")).0, 2);
}

#[test]
fn an_undecided_run_passes_only_where_that_is_asked_for() {
    let handed = Handed::new();
    let verify = |status: &str, undecided: &str| {
        let mut step = handed.step("verify.sh", status);
        run(step.args(["handover.tar.gz", "result"]).env("CUDALINT_UNDECIDED", undecided).env("GITHUB_ACTIONS", "true"))
    };
    let (code, said) = verify("3", "pass");
    assert!(code == 0 && said.contains("::warning title=cudalint verify::nothing could be decided"), "{code}: {said}");
    assert_eq!(handed.result("status"), "3\n");
    let (code, said) = verify("3", "fail");
    assert!(code == 3 && said.contains("::error title=cudalint verify::nothing could be decided"), "{code}: {said}");
    assert_eq!(verify("1", "pass").0, 1);
    assert_eq!(verify("2", "pass").0, 2);
    let (code, said) = verify("0", "maybe");
    assert!(code == 2 && said.contains("CUDALINT_UNDECIDED is `maybe`"), "{code}: {said}");
}

#[test]
fn options_go_on_to_verify_and_code_scanning_is_asked_for() {
    let handed = Handed::new();
    let mut step = handed.step("verify.sh", "1");
    let step = step.args(["handover.tar.gz", "result", "--jobs", "4"]).env("CUDALINT_SARIF", "true");
    assert_eq!(run(step).0, 1);
    let calls = fs::read_to_string(handed.fakes.path().join("calls")).unwrap();
    let calls: Vec<&str> = calls.lines().skip(1).collect();
    assert!(calls[0].ends_with("--output-format json --jobs 4"), "{calls:?}");
    assert!(calls[1].ends_with("--resume --output-format sarif --jobs 4"), "{calls:?}");
    assert!(handed.sandbox.path().join("result/verified.sarif").is_file());
}

#[test]
fn verify_refuses_what_it_cannot_use() {
    let handed = Handed::new();
    let verify = |handover: &str, result: &str| run(handed.step("verify.sh", "0").args([handover, result]));
    let (code, said) = verify("gone.tar.gz", "result");
    assert!(code == 2 && said.contains("gone.tar.gz: no such file"), "{code}: {said}");
    handed.sandbox.write("garbage.tar.gz", b"no archive");
    let (code, said) = verify("garbage.tar.gz", "result");
    assert!(code == 2 && said.contains("not what pack.sh writes"), "{code}: {said}");
    assert_eq!(handed.result("status"), "2\n");
    handed.sandbox.write("mine/precious", b"");
    let (code, said) = verify("handover.tar.gz", "mine");
    assert!(code == 2 && said.contains("not written by verify.sh"), "{code}: {said}");
    assert!(handed.sandbox.path().join("mine/precious").is_file());
    assert!(!handed.fakes.path().join("calls").exists(), "nothing was run");
    assert_eq!(verify("handover.tar.gz", "result").0, 0);
}

#[test]
fn the_report_counts_verdicts_and_names_reproducers() {
    let handed = Handed::new();
    handed.verify("1");
    let page = must(handed.step("report.sh", "").arg("result"));
    assert!(page.starts_with("## cudalint: Findings were confirmed on a GPU\n"), "{page}");
    assert!(page.contains("| confirmed | 1 |"), "{page}");
    assert!(page.contains("| a.cu:4 | empty-grid | a \\| b 100% | NVIDIA H200 | one/harness.cu |"), "{page}");

    let mut github = handed.step("report.sh", "");
    let summary = handed.sandbox.path().join("summary.md");
    let said = must(github.arg("result").env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary));
    let wanted = "::error file=a.cu,line=4,col=17,title=empty-grid%3A confirmed on NVIDIA H200::a | b%0A100%25\n";
    assert_eq!(said, wanted);
    assert_eq!(fs::read_to_string(summary).unwrap(), page);
}

#[test]
fn the_report_says_clearly_that_nothing_was_decided() {
    let handed = Handed::new();
    handed.verified("unsupported");
    handed.verify("3");
    let page = must(handed.step("report.sh", "").arg("result"));
    assert!(page.starts_with("## cudalint: Nothing could be decided\n"), "{page}");
    assert!(page.contains("| unsupported | 1 |") && page.contains("GPU: | none"), "{page}");
    assert!(!page.contains("confirmed on"), "{page}");

    // A run that ended before it wrote findings.
    fs::write(handed.fakes.path().join("verified.json"), "").unwrap();
    handed.verify("2");
    let page = must(handed.step("report.sh", "").arg("result"));
    assert!(page.starts_with("## cudalint: The verification could not be done\n"), "{page}");
    assert_eq!(run(handed.step("report.sh", "").arg("nowhere")).0, 2);
}

#[test]
fn without_a_gpu_nothing_is_decided_and_nothing_confirmed() {
    let handed = Handed::new();
    // Also where there is one.
    let mut verify = step("verify.sh", handed.sandbox.path());
    let verify =
        verify.args(["handover.tar.gz", "result"]).env("CUDA_VISIBLE_DEVICES", "").env("CUDALINT_SARIF", "true");
    let (code, said) = run(verify);
    assert_eq!(code, 3, "{said}");
    let verified: serde_json::Value = serde_json::from_str(&handed.result("verified.json")).unwrap();
    assert_ne!(verified["findings"][0]["verification"]["verdict"], "confirmed");
    assert!(handed.sandbox.path().join("result/outcome/report.html").is_file());
    let sarif: serde_json::Value = serde_json::from_str(&handed.result("verified.sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 1);
    let page = must(step("report.sh", handed.sandbox.path()).arg("result"));
    assert!(page.starts_with("## cudalint: Nothing could be decided\n"), "{page}");
}
