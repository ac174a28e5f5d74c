//! The workflow in `docs/ci`, step by step as a runner would take it: the lint job in a checkout, the verify job on
//! another machine, which has the scripts and what the first job uploaded.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod tools;

use common::EMPTY_GRID;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use tools::{command, git, must, program, root, run};

/// The workflow as data. The key `on` is `true` there, as YAML has it.
fn workflow() -> Option<Value> {
    let python = program("pre-commit")?.with_file_name("python");
    let script = "import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1], encoding='utf-8'))))";
    let text = must(command(python, &root()).args(["-c", script]).arg(root().join("docs/ci/cudalint.yml")));
    Some(serde_json::from_str(&text).unwrap())
}

/// A machine that runs one job.
struct Runner {
    folder: PathBuf,
    /// In front of the path.
    fakes: Option<PathBuf>,
}

/// What a job did.
struct Job {
    /// Exit code of each step with a script, by its name; steps after a failed one run only `if: !cancelled()`.
    steps: Vec<(String, i32, String)>,
    outputs: String,
    summary: String,
}

impl Runner {
    fn new(folder: PathBuf) -> Self {
        for name in ["work", "temp"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let scripts = folder.join("work/.github/cudalint");
        fs::create_dir_all(&scripts).unwrap();
        for entry in fs::read_dir(root().join("docs/ci")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "sh") {
                fs::copy(&path, scripts.join(path.file_name().unwrap())).unwrap();
            }
        }
        Self { folder, fakes: None }
    }

    /// A path of the workflow.
    fn path(&self, text: &str) -> PathBuf {
        let text = text.replace("${{ runner.temp }}", &self.folder.join("temp").display().to_string());
        assert!(!text.contains("${{"), "{text}");
        self.folder.join("work").join(text)
    }

    fn run(&self, job: &Value, environment: &Value) -> Job {
        let [outputs, summary, path] = ["outputs", "summary", "path"].map(|name| self.folder.join(name));
        for file in [&outputs, &summary, &path] {
            fs::write(file, "").unwrap();
        }
        let mut steps: Vec<(String, i32, String)> = Vec::new();
        for step in job["steps"].as_array().unwrap() {
            let Some(script) = step["run"].as_str() else { continue };
            assert!(!script.contains("${{"), "an expression in a script can be made to run anything: {script}");
            let failed = steps.iter().any(|(_, code, _)| *code != 0);
            if failed && step["if"].as_str() != Some("${{ !cancelled() }}") {
                continue;
            }
            let mut ahead: Vec<String> = self.fakes.iter().map(|fakes| fakes.display().to_string()).collect();
            ahead.extend(fs::read_to_string(&path).unwrap().lines().map(str::to_owned));
            ahead.push(std::env::var("PATH").unwrap());
            let mut shell = command("bash", &self.folder.join("work"));
            for (name, value) in environment.as_object().unwrap() {
                shell.env(name, value.as_str().unwrap());
            }
            shell
                .args(["-e", "-c", script])
                .env("GITHUB_ACTIONS", "true")
                .env("GITHUB_OUTPUT", &outputs)
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_PATH", &path)
                .env("RUNNER_TEMP", self.folder.join("temp"))
                .env("CUDALINT_SARIF", "")
                .env("PATH", ahead.join(":"));
            let (code, said) = run(&mut shell);
            steps.push((step["name"].as_str().unwrap().to_owned(), code, said));
        }
        Job { steps, outputs: fs::read_to_string(outputs).unwrap(), summary: fs::read_to_string(summary).unwrap() }
    }
}

impl Job {
    fn codes(&self) -> Vec<(&str, i32)> {
        self.steps.iter().map(|(name, code, _)| (name.as_str(), *code)).collect()
    }
}

/// The settings of the first step of a job that uses an action.
fn with<'w>(job: &'w Value, action: &str) -> &'w Value {
    let uses = |step: &&Value| step["uses"].as_str().is_some_and(|uses| uses.starts_with(action));
    &job["steps"].as_array().unwrap().iter().find(uses).unwrap_or_else(|| panic!("no step uses {action}"))["with"]
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    must(command("cp", from).arg("-R").arg(".").arg(to));
}

/// A `cudalint` that confirms everything, where findings and sources are.
fn fake(folder: &Path) -> PathBuf {
    let fakes = folder.join("fakes");
    fs::create_dir_all(&fakes).unwrap();
    let program = fakes.join("cudalint");
    let text = r#"#!/bin/sh
case $1 in
doctor) echo "no GPU" ;;
verify)
    test -f "$4/src/a.cu" || exit 2
    mkdir -p "$6" && echo report >"$6/report.html"
    sed 's/"verdict": null/"verdict": "confirmed"/' "$2"
    exit 1
    ;;
*) exit 78 ;;
esac
"#;
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fakes
}

#[test]
fn findings_go_from_the_lint_job_to_a_gpu_and_back() {
    let Some(workflow) = workflow() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (lint, verify) = (&workflow["jobs"]["lint"], &workflow["jobs"]["verify"]);

    // A wheel in the cache spares the build.
    let linter = Runner::new(folder.path().join("linter"));
    let cache = linter.path(with(lint, "actions/cache@")["path"].as_str().unwrap());
    fs::create_dir_all(&cache).unwrap();
    tools::wheel(&cache);
    let checkout = linter.folder.join("work");
    fs::create_dir(checkout.join("src")).unwrap();
    fs::write(checkout.join("src/a.cu"), EMPTY_GRID).unwrap();
    git(&checkout, &["init", "--quiet"]);
    git(&checkout, &["add", "."]);
    git(&checkout, &["commit", "--quiet", "--message", "all"]);

    let linted = linter.run(lint, &workflow["env"]);
    assert_eq!(linted.codes(), [("Install", 0), ("Lint", 0), ("Pack findings and sources", 0)], "{:?}", linted.steps);
    assert_eq!(linted.outputs, "findings=1\n");
    assert_eq!(lint["outputs"]["findings"], "${{ steps.lint.outputs.findings }}");
    assert!(verify["if"].as_str().unwrap().starts_with("needs.lint.outputs.findings != '0' &&"));
    assert_eq!(git(&checkout, &["status", "--short"]), "", "the job leaves nothing in the checkout");

    let uploaded = linter.path(with(lint, "actions/upload-artifact@")["path"].as_str().unwrap());
    assert_eq!(
        with(lint, "actions/upload-artifact@")["name"],
        with(verify, "actions/download-artifact@")["name"],
        "one job downloads what the other uploads"
    );
    let mut verifier = Runner::new(folder.path().join("verifier"));
    copy_tree(&uploaded, &verifier.path(with(verify, "actions/download-artifact@")["path"].as_str().unwrap()));
    verifier.fakes = Some(fake(&verifier.folder));
    let verified = verifier.run(verify, &workflow["env"]);
    // The job has failed, and says why all the same.
    assert_eq!(verified.codes(), [("Install", 0), ("Verify", 1), ("Report", 0)], "{:?}", verified.steps);
    assert!(verified.summary.starts_with("## cudalint: Findings were confirmed on a GPU\n"), "{}", verified.summary);
    assert!(verified.steps[2].2.contains("::error file=src/a.cu,line=4"), "{:?}", verified.steps[2]);
    let published = verifier.path(with(verify, "actions/upload-artifact@")["path"].as_str().unwrap());
    for file in ["outcome/report.html", "verified.json", "doctor.txt", "status", "sources/src/a.cu"] {
        assert!(published.join(file).is_file(), "{file}");
    }
}

#[test]
fn strangers_get_no_run_on_a_gpu_and_jobs_no_rights() {
    let Some(workflow) = workflow() else { return };
    assert_eq!(workflow["permissions"], serde_json::json!({ "contents": "read" }));
    let verify = &workflow["jobs"]["verify"];
    let condition = verify["if"].as_str().unwrap();
    assert!(condition.contains("github.event.pull_request.head.repo.full_name == github.repository"), "{condition}");
    for job in ["lint", "verify"] {
        assert_eq!(with(&workflow["jobs"][job], "actions/checkout@")["persist-credentials"], false);
        assert!(workflow["jobs"][job]["timeout-minutes"].is_u64());
    }
}
