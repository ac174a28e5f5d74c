//! What needs no tool to be seen, in real programs, where nvcc is on the path: calls that fail, copies that overrun the
//! host's side, a host that touches device memory. Built by nvcc, linked with a runtime that needs no GPU. Without nvcc
//! there is nothing to test, and the tests say so.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod lab_support;
mod recorded_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Position, Range, Verdict};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::lab::Limits;
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use lab_support::Place;
use recorded_support::claim_support::{bad_address, failed_call, refused_launch};
use std::process::Command;

fn on_path(name: &str) -> Option<Utf8PathBuf> {
    let path = std::env::var("PATH").ok()?;
    path.split(':').map(|folder| Utf8Path::new(folder).join(name)).find(|file| file.is_file())
}

/// A machine with real compilers and an imagined GPU, and the object of the runtime that stands in for it.
struct Bench {
    place: Place,
    machine: Machine,
    runtime: Utf8PathBuf,
}

impl Bench {
    fn new() -> Option<Self> {
        let (Some(nvcc), Some(addr2line), Some(compiler)) = (on_path("nvcc"), on_path("addr2line"), on_path("g++"))
        else {
            eprintln!("no nvcc, g++ and addr2line on the path: nothing is tested");
            return None;
        };
        let place = Place::new();
        let runtime = place.path.join("fake_runtime.o");
        let include = nvcc.parent()?.parent()?.join("include");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_runtime/fake_runtime.cpp");
        let mut build = Command::new(compiler);
        build.args(["-c", &format!("-I{include}"), source, "-o", runtime.as_str()]);
        assert!(build.status().unwrap().success());
        let machine = Machine {
            nvcc: Some(lab_support::program(nvcc)),
            addr2line: Some(lab_support::program(addr2line)),
            devices: vec![lab_support::device(0)],
            ..Machine::default()
        };
        Some(Self { place, machine, runtime })
    }

    /// Judges a finding with this method and claim at the text between `⟦` and `⟧` of a program.
    fn judge(&self, name: &str, method: &str, shows: &serde_json::Value, code: &str) -> Judgement {
        let (code, place) = marked(code);
        let lab = self.place.lab(self.machine.clone(), Limits::default());
        let bench = lab.bench(name).unwrap();
        let unit = Utf8PathBuf::from("program.cu");
        let program = Program::Cuda(CudaProgram {
            origin: Origin::AsWritten,
            unit: unit.clone(),
            files: vec![ScenarioFile { path: unit, text: format!("#line 1 \"program.cu\"\n{code}") }],
            flags: vec!["-cudart".to_owned(), "none".to_owned(), self.runtime.to_string()],
            arguments: Vec::new(),
            reproducer: None,
            project: None,
        });
        let more = serde_json::json!({"shows": shows, "function": "main"});
        let finding = FindingEntry { range: place, ..recorded_support::finding(method, "program.cu", 1, more) };
        let judgement = experiment::perform(&finding, &program, &bench);
        eprintln!("{name}: {}", judgement.reason);
        judgement
    }
}

/// A program without the marks around the finding's text, and the range of that.
fn marked(code: &str) -> (String, Range) {
    let (before, rest) = code.split_once('⟦').unwrap();
    let (inside, after) = rest.split_once('⟧').unwrap();
    let position = |text: &str| Position {
        cell: None,
        line: text.matches('\n').count() as u32 + 1,
        column: text.rsplit('\n').next().unwrap().chars().count() as u32 + 1,
    };
    let range = Range { start: position(before), end: position(&format!("{before}{inside}")) };
    (format!("{before}{inside}{after}"), range)
}

const HEAD: &str = "#include <cstdio>\n#include <cstdlib>\n#include <vector>\n#include <cuda_runtime.h>\n";

#[test]
fn launches_that_are_refused_and_taken() {
    let Some(bench) = Bench::new() else { return };
    let kernel = "__global__ void set(int *p) { *p = 1; }\n";
    let judge = |name, launch: &str| {
        let code = format!("{HEAD}{kernel}int main() {{ int *p;\n cudaMalloc(&p, 4);\n {launch}\n}}");
        bench.judge(name, "api-error", &refused_launch("threads"), &code)
    };
    let refused = judge("refused", "⟦set<<<1,\n  2048>>>(p)⟧;");
    assert_eq!(refused.verdict, Verdict::Confirmed, "{}", refused.reason);
    assert_eq!(refused.evidence.records[0].line, Some(8));
    assert_eq!(judge("block-alone", "set<<<1,\n  ⟦2048⟧>>>(p);").verdict, Verdict::Confirmed);
    assert_eq!(judge("taken", "⟦set<<<1, 32>>>(p)⟧;").verdict, Verdict::Refuted);
    let other = judge("another", "set<<<1, 2048>>>(p);\n ⟦set<<<1, 32>>>(p)⟧;");
    assert_eq!(other.verdict, Verdict::Refuted, "{}", other.reason);
}

#[test]
fn copies_that_overrun_the_host() {
    let Some(bench) = Bench::new() else { return };
    let copy = failed_call("cudaMemcpy");
    let judge = |name, body: &str| {
        let code = format!(
            "{HEAD}void fetch(const float *device) {{\n std::vector<float> some(20);\n float few[16];\n float *heap = new float[4];\n{body}\n}}\n\
             int main() {{ float *device;\n cudaMalloc(&device, 512);\n fetch(device);\n}}"
        );
        bench.judge(name, "api-error", &copy, &code)
    };
    let stack = judge("stack", "⟦cudaMemcpy(few, device, 32 * sizeof(float),\n   cudaMemcpyDeviceToHost)⟧;");
    assert_eq!(stack.verdict, Verdict::Confirmed, "{}", stack.reason);
    let text = &stack.evidence.records[0].text;
    assert!(text.contains("cudaMemcpy writes 128 bytes") && text.contains("only 64 belong to the object"), "{text}");
    let vector = judge("vector", "⟦cudaMemcpy(some.data(), device, 128, cudaMemcpyDefault)⟧;");
    assert_eq!(vector.verdict, Verdict::Confirmed, "{}", vector.reason);
    let fits = judge("fits", "⟦cudaMemcpy(some.data(), device, 80, cudaMemcpyDeviceToHost)⟧;");
    assert_eq!(fits.verdict, Verdict::Refuted, "{}", fits.reason);
    let two = "cudaMemcpy(heap, device, 64, cudaMemcpyDeviceToHost);\n ⟦cudaMemcpy(some.data(), device, 80, cudaMemcpyDeviceToHost)⟧;";
    let other = judge("another", two);
    assert_ne!(other.verdict, Verdict::Confirmed, "{}", other.reason);
}

#[test]
fn a_host_that_touches_what_it_cannot() {
    let Some(bench) = Bench::new() else { return };
    let judge = |name, body: &str| {
        let code = format!(
            "{HEAD}int main() {{\n volatile int *count = reinterpret_cast<int *>(16);\n cudaFree(nullptr);\n{body}\n return 0;\n}}"
        );
        bench.judge(name, "memcheck", &bad_address(serde_json::json!({"kind": "host"})), &code)
    };
    let own = judge("own", " printf(\"%d\\n\",\n  ⟦*count⟧);");
    assert_eq!(own.verdict, Verdict::Confirmed, "{}", own.reason);
    assert_eq!(own.evidence.records[0].kind, "SIGSEGV");
    let called =
        judge("called", " ⟦snprintf(const_cast<char *>(reinterpret_cast<volatile char *>(count)), 9, \"%d\", 7)⟧;");
    assert_eq!(called.verdict, Verdict::Unviable, "{}", called.reason);
    let earlier = judge("earlier", " *count = 1;\n printf(\"%d\\n\", ⟦*count⟧);");
    assert_eq!(earlier.verdict, Verdict::Unviable, "{}", earlier.reason);
    assert!(earlier.reason.contains("program.cu:8, before"), "{}", earlier.reason);
}
