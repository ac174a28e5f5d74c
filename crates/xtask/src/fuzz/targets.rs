//! What is fed: a kind of input, the seeds it is made from, and the code that reads it.

use cudalint_engine::{Configuration, Engine, Outcome, Request};
use cudalint_findings::format::{Format, Options};
use cudalint_findings::model::Document;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};

/// A reader of what others wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// CUDA C++.
    Cuda,
    /// A project of CUDA C++: two sources, a header of theirs and a build file.
    Project,
    /// Python.
    Python,
    /// Jupyter notebooks.
    Notebook,
    /// Markdown with fences.
    Markdown,
    /// `cudalint.toml` and `pyproject.toml`.
    Settings,
    /// `compile_commands.json`.
    CompileCommands,
    /// Findings documents.
    Document,
    /// Reports of the tools that `verify` runs.
    Report,
}

/// A source for the targets that lint beside what is fed.
const BESIDE: &str = "__global__ void k(float *p, int n) { p[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n\
                      int main() { float *p; cudaMalloc(&p, 400); k<<<1, 128>>>(p, 100); cudaFree(p); }\n";

impl Target {
    pub const ALL: [Self; 9] = [
        Self::Cuda,
        Self::Project,
        Self::Python,
        Self::Notebook,
        Self::Markdown,
        Self::Settings,
        Self::CompileCommands,
        Self::Document,
        Self::Report,
    ];

    /// How much of the time it gets, in parts of the sum of all.
    pub const fn share(self) -> u32 {
        match self {
            Self::Cuda => 10,
            Self::Python | Self::Project => 6,
            Self::Notebook => 2,
            _ => 1,
        }
    }

    /// The name that the input has as a file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Cuda => "input.cu",
            Self::Project => "input.txt",
            Self::Python => "input.py",
            Self::Notebook => "input.ipynb",
            Self::Markdown => "input.md",
            Self::Settings => "cudalint.toml",
            Self::CompileCommands => "compile_commands.json",
            Self::Document => "findings.json",
            Self::Report => "report.txt",
        }
    }

    /// Whether a file found below the folders of sources is a seed.
    pub fn wants(self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        match self {
            Self::Cuda | Self::Project => ends(&[".cu", ".cuh"]),
            Self::Python => ends(&[".py"]),
            Self::Notebook => ends(&[".ipynb"]),
            Self::Markdown => ends(&[".md"]),
            Self::Settings => ends(&[".toml"]),
            Self::CompileCommands => name == "compile_commands.json",
            Self::Document => false,
            Self::Report => ends(&[".log", ".xml", ".txt", ".trace"]),
        }
    }

    /// Whether there are inputs to change in a folder without a file of this kind.
    pub const fn has_own_seeds(self) -> bool {
        !matches!(self, Self::Python | Self::Notebook | Self::Markdown | Self::Report)
    }

    /// Seeds of our own, where other people's folders hold none or few.
    pub fn own_seeds(self, engine: &Engine, work: &Path) -> Vec<Vec<u8>> {
        match self {
            Self::Cuda | Self::Project => vec![BESIDE.into()],
            Self::Settings => vec![
                b"[lint]\nselect = [\"all\"]\nignore = [\"empty-grid\"]\n[lint.per-file-ignores]\n\"a/**\" = [\"all\"]\n".to_vec(),
                b"exclude = [\"a\", \"b/*.cu\"]\n[parse]\ndefines = [\"A=1\", \"B\"]\ninclude-dirs = [\"inc\"]\ndeclaration-macros = [\"API\"]\n[index]\nmax-bytes = 1000\n".to_vec(),
            ],
            Self::CompileCommands => vec![
                br#"[{"directory": ".", "file": "input.cu", "command": "nvcc -DX=1 -Iinc -arch=sm_90 -gencode arch=compute_80,code=sm_80 -c input.cu"}]"#.to_vec(),
                br#"[{"directory": "/a", "file": "../b.cu", "arguments": ["nvcc", "-D", "X", "-isystem", "y", "--gpu-architecture=sm_75"], "output": "b.o"}]"#.to_vec(),
            ],
            Self::Document => {
                let _ = fs::write(work.join(Self::Cuda.file()), BESIDE);
                let report = lint(engine, work).map(|outcome| outcome.report);
                report.iter().map(|report| Format::Json.render(report, &Options::default()).into_bytes()).collect()
            }
            Self::Python | Self::Notebook | Self::Markdown | Self::Report => Vec::new(),
        }
    }

    /// Writes the input where it can be found if the process does not come back, feeds it, and gives what it did: marks
    /// of behaviour, which tell inputs that do something new.
    pub fn run(self, engine: &Engine, work: &Path, input: &[u8]) -> Vec<u64> {
        let path = work.join(self.file());
        if fs::write(&path, input).is_err() {
            return Vec::new();
        }
        match self {
            Self::Document => document(&String::from_utf8_lossy(input)),
            Self::Report => report(&String::from_utf8_lossy(input)),
            Self::Project => project(engine, work, input),
            Self::Settings | Self::CompileCommands => {
                let _ = fs::write(work.join(Self::Cuda.file()), BESIDE);
                linted(engine, work)
            }
            _ => linted(engine, work),
        }
    }
}

fn lint(engine: &Engine, work: &Path) -> Result<Outcome, String> {
    let request =
        Request { paths: vec![PathBuf::from(work)], configuration: Configuration::Nearest, ..Request::default() };
    engine.check(&request, &|_| {}).map_err(|error| error.0)
}

/// Lints a project that the input is cut into, as long as no part is missing: what callers, includers and builds say of a file.
fn project(engine: &Engine, work: &Path, input: &[u8]) -> Vec<u64> {
    let folder = work.join("project");
    let cut = |part: usize| {
        let from = input.len() * part / 3;
        input[from..].iter().position(|byte| *byte == b'\n').map_or(input.len(), |line| from + line + 1)
    };
    let (first, second) = (cut(1), cut(2));
    let parts: [(&str, Vec<u8>); 4] = [
        ("head.cuh", input[..first].to_vec()),
        ("one.cu", [b"#include \"head.cuh\"\n", &input[first..second]].concat()),
        ("two.cu", [b"#include \"head.cuh\"\n", &input[second..]].concat()),
        ("CMakeLists.txt", b"add_executable(one one.cu)\n".to_vec()),
    ];
    let written = fs::create_dir_all(&folder).is_ok()
        && parts.iter().all(|(name, text)| fs::write(folder.join(name), text).is_ok());
    if written { linted(engine, &folder) } else { Vec::new() }
}

/// Lints the folder of the input and writes the findings in every format.
fn linted(engine: &Engine, work: &Path) -> Vec<u64> {
    let outcome = match lint(engine, work) {
        Ok(outcome) => outcome,
        Err(message) => return vec![mark(&("refused", words(&message)))],
    };
    if let Some(fault) = outcome.faults.iter().find(|fault| fault.internal) {
        // What the program tells and survives is a defect all the same.
        eprintln!("{}: {}", fault.path, fault.message);
        std::process::abort();
    }
    for format in Format::all() {
        format.render(&outcome.report, &Options::default());
    }
    let statistics = &outcome.statistics;
    let mut marks: Vec<u64> = Vec::new();
    let mut count = |what: &str, number: u64| marks.push(mark(&(what, number.checked_ilog2())));
    for (cut, number) in &statistics.cuts {
        count(cut.cause, *number);
    }
    for (cause, number) in statistics.kernels.causes.iter().chain(&statistics.kernels.not_executed) {
        count(cause, *number);
    }
    for (rule, number) in &statistics.by_rule {
        count(rule, *number as u64);
    }
    count("launches", statistics.kernels.launches as u64);
    count("accesses", statistics.kernels.accesses as u64);
    count("damaged", outcome.report.files.damaged as u64);
    for finding in &outcome.report.findings {
        marks.push(mark(&(finding.rule.name, finding.confidence as u8, finding.related.len(), finding.fix.is_some())));
    }
    for note in outcome.notes.iter().chain(outcome.faults.iter().map(|fault| &fault.message)) {
        marks.push(mark(&words(note)));
    }
    marks
}

fn document(text: &str) -> Vec<u64> {
    let document: Document = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(error) => return vec![mark(&words(&error.to_string()))],
    };
    let rules = cudalint_rules::RULES;
    let report = document.restore(cudalint_findings::Sources::new(), &|entry| {
        let rule = rules.iter().find(|rule| rule.info.name == entry.rule).or(rules.first());
        rule.map_or_else(|| unreachable!("there are rules"), |rule| &rule.info)
    });
    let texts = Format::all().map(|format| format.render(&report, &Options::default()).len());
    vec![mark(&(report.findings.len(), texts.sum::<usize>().checked_ilog2()))]
}

fn report(text: &str) -> Vec<u64> {
    use cudalint_verify::{tools, watch};
    let report = tools::sanitizer::SanitizerReport::read(Some(text), "");
    let printed = tools::sanitizer::SanitizerReport::read(None, text);
    let raised = tools::traceback::read(text);
    let trace = tools::probe_log::read(text);
    let places = tools::probe_log::places(text);
    let log = watch::log::Log::read(text);
    vec![
        mark(&(report.records.len(), report.problems.len(), report.complete)),
        mark(&(printed.records.len(), printed.complete, raised.len())),
        mark(&(trace.calls().count(), trace.launches().count(), places.len())),
        mark(&format!("{log:?}").len().checked_ilog2()),
    ]
}

fn mark(thing: &impl std::hash::Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

/// A message without names and numbers in it.
fn words(message: &str) -> String {
    message.split_whitespace().filter(|word| word.chars().all(|c| c.is_ascii_lowercase())).collect()
}
