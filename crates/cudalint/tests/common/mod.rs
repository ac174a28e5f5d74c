//! Runs the real program in a folder of its own.

#![allow(clippy::unwrap_used, dead_code)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// A kernel launched with no blocks: one definite finding of a correctness rule, at line 4, and nothing else.
pub const EMPTY_GRID: &str = "#include <cuda_runtime.h>\n\
                              __global__ void increment(float *values) { values[blockIdx.x] = 1; }\n\
                              cudaError_t run(float *values) {\n    increment<<<20 / 32, 32>>>(values);\n    \
                              return cudaGetLastError();\n}\n";

/// A folder that is a project.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run gave.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Sandbox {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(sandbox.path().join(".git")).unwrap();
        for (name, text) in files {
            sandbox.write(name, text.as_bytes());
        }
        sandbox
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.args(args).current_dir(self.path());
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "COLUMNS", "TERM"] {
            command.env_remove(name);
        }
        // What a test finds is found by its run; the tests of the cache ask for one.
        command.env("CUDALINT_NO_CACHE", "1");
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        finished(&mut self.command(args))
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        ran(&child.wait_with_output().unwrap())
    }
}

pub fn finished(command: &mut Command) -> Ran {
    ran(&command.stdin(Stdio::null()).output().unwrap())
}

fn ran(output: &std::process::Output) -> Ran {
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// The functions of which a run over a project says that they drop a status; those of *possible* findings with `?`.
pub fn told(sandbox: &Sandbox) -> Vec<String> {
    let args = ["--select", "unchecked-api-call", "--min-confidence", "possible", "--output-format", "json", "."];
    let ran = sandbox.run(&args);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let finding = |finding: &serde_json::Value| {
        let doubt = if finding["confidence"] == "possible" { "?" } else { "" };
        format!("{}{doubt}", finding["function"].as_str().unwrap())
    };
    let mut all: Vec<String> = report["findings"].as_array().unwrap().iter().map(finding).collect();
    all.sort();
    all
}

/// A function that drops a status.
pub fn dropping(name: &str) -> String {
    format!("void {name}(void **p) {{\n    cudaMalloc(p, 4);\n}}\n")
}

/// A project whose `main.cu` calls what `a.cu` to `d.cu` define, with more files.
pub fn project(build: (&str, &str), more: &[(&str, &str)]) -> Sandbox {
    let names = ["a", "b", "c", "d"];
    let header = names.map(|name| format!("void {name}(void **p);\n")).concat();
    let calls = names.map(|name| format!("{name}(&p); ")).concat();
    let main = format!("#include \"all.h\"\nint main() {{ void *p; {calls}return 0; }}\n");
    let sandbox = Sandbox::new(&[("all.h", &header), ("main.cu", &main), build]);
    for name in names {
        sandbox.write(&format!("{name}.cu"), format!("#include \"all.h\"\n{}", dropping(name)).as_bytes());
    }
    for (name, text) in more {
        sandbox.write(name, text.as_bytes());
    }
    sandbox
}

/// Lines of a file at which something is told, with its confidence.
pub fn at_lines(text: &str, rule: &str, name: &str) -> Vec<String> {
    let sandbox = Sandbox::new(&[(name, text)]);
    let ran = sandbox.run(&["--select", rule, "--min-confidence", "possible", "--output-format", "json", "."]);
    let report: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let finding = |finding: &serde_json::Value| {
        format!("{} {}", finding["range"]["start"]["line"], finding["confidence"].as_str().unwrap())
    };
    report["findings"].as_array().unwrap().iter().map(finding).collect()
}
