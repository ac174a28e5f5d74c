//! A machine whose tools are shell scripts, so that every way in which a tool can fail is at hand without a GPU.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

#[path = "../claim_support/mod.rs"]
pub mod claim_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_verify::lab::{Build, Lab, Launcher, Limits, Run, Watcher};
use cudalint_verify::machine::{Device, Machine, Program};
use std::time::{Duration, Instant};

/// A folder that goes away with the test.
pub struct Place {
    _folder: tempfile::TempDir,
    /// Where it is.
    pub path: Utf8PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir(path.join("out")).unwrap();
        Self { _folder: folder, path }
    }

    /// Writes an executable script.
    pub fn script(&self, name: &str, text: &str) -> Utf8PathBuf {
        let path = self.path.join(name);
        script(&path, text);
        path
    }

    /// Text of a file, empty where there is none.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path.join(name)).unwrap_or_default()
    }

    /// A lab in `out`.
    pub fn lab(&self, machine: Machine, limits: Limits) -> Lab {
        Lab::new(machine, self.path.join("out"), limits, launcher())
    }

    /// A machine with a compiler and compute-sanitizer made of these scripts, and one GPU.
    pub fn machine(&self, nvcc: &str, sanitizer: &str) -> Machine {
        Machine {
            nvcc: Some(program(self.script("nvcc", nvcc))),
            compute_sanitizer: Some(program(self.script("compute-sanitizer", sanitizer))),
            devices: vec![device(0)],
            ..Machine::default()
        }
    }
}

/// An executable script.
pub fn script(path: &Utf8Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The launcher of these tests.
pub fn launcher() -> Launcher {
    Launcher { program: env!("CARGO_BIN_EXE_cudalint-launch").into(), arguments: Vec::new() }
}

pub fn program(path: Utf8PathBuf) -> Program {
    Program { path, version: "13.0.88".to_owned() }
}

/// A GPU of which all is free.
pub fn device(index: u32) -> Device {
    Device {
        index,
        name: format!("GPU {index}"),
        architecture: 90,
        memory: 1 << 37,
        free_memory: 1 << 37,
        threads_per_block: 1024,
        shared_bytes_per_block: 49152,
        shared_bytes_per_block_opt_in: 232_448,
    }
}

/// What must not wait for a time limit takes less, however busy the machine is.
pub const AT_ONCE: Duration = Duration::from_secs(15);

/// Limits under which a test need not wait long, and longer than [`AT_ONCE`].
pub fn limits() -> Limits {
    Limits { run: Duration::from_secs(20), build: Duration::from_secs(20), ..Limits::default() }
}

/// A run of a command.
pub fn run(label: &str, command: &[&str]) -> Run {
    Run {
        label: label.to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        watcher: None,
        device: false,
        kernels: Vec::new(),
    }
}

/// The same under memcheck, on a GPU.
pub fn watched(label: &str, command: &[&str]) -> Run {
    Run { watcher: Some(Watcher::Memcheck), device: true, ..run(label, command) }
}

/// A build of a file.
pub fn build(label: &str, unit: &str, flags: &[&str]) -> Build {
    Build {
        label: label.to_owned(),
        units: vec![unit.into()],
        flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
    }
}

/// A compiler that writes a script as its program: `$out` is the file, `body` what the program does.
pub fn compiler(body: &str) -> String {
    format!(
        "while [ $# -gt 0 ]; do case $1 in -o) out=$2; shift;; esac; shift; done\n\
         cat > $out <<'END'\n#!/bin/sh\n{body}\nEND\nchmod +x $out"
    )
}

/// Whether any living process has this in its command line.
pub fn alive(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        !stat.contains(") Z ") && String::from_utf8_lossy(&command).contains(mark)
    })
}

/// Whether no process has this in its command line, or soon none has.
pub fn gone(mark: &str) -> bool {
    let asked = Instant::now();
    while alive(mark) {
        if asked.elapsed() > AT_ONCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// A source with a kernel, and a `main`.
pub const SOURCE: &str = "__global__ void k(float *p) { p[threadIdx.x] = 1.0f; }\n\nint main() { return 0; }\n";

/// A finding in a file at a line, by rule and fingerprint.
pub fn finding(rule: &str, fingerprint: &str, path: &str) -> cudalint_findings::model::FindingEntry {
    claim_support::entry(serde_json::json!({
        "rule": rule, "group": "correctness", "severity": "error", "confidence": "definite",
        "message": "`p` is written beyond its end", "path": path,
        "range": {"start": {"line": 1, "column": 31}, "end": {"line": 1, "column": 45}},
        "function": "k", "related": [], "witness": null,
        "verification": {"method": "memcheck", "verdict": null},
        "fix": null, "fingerprint": fingerprint, "url": ""
    }))
}

/// So many findings, each in a file of its own below `place`.
pub fn findings(place: &Place, count: usize) -> Vec<cudalint_findings::model::FindingEntry> {
    (0..count)
        .map(|number| {
            let path = format!("file{number}.cu");
            std::fs::write(place.path.join(&path), SOURCE).unwrap();
            finding("some-rule", &format!("{number:032x}").chars().rev().collect::<String>(), &path)
        })
        .collect()
}

/// The one program of every finding: a file in its scenario's folder.
pub fn one_program() -> cudalint_verify::scenario::Program {
    use cudalint_verify::scenario::{CudaProgram, Origin, Program, ScenarioFile};
    Program::Cuda(CudaProgram {
        origin: Origin::Cut,
        unit: "harness.cu".into(),
        files: vec![ScenarioFile { path: "harness.cu".into(), text: "// build: nvcc harness.cu\n".to_owned() }],
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: Some("harness.cu".into()),
        project: None,
    })
}
