//! The probe in real programs, where nvcc is on the path: built by nvcc, linked with a runtime that needs no GPU, run, and
//! judged. Without nvcc there is nothing to test, and the tests say so.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod fault_support;
mod lab_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::claim::{Call, Difference, User};
use cudalint_findings::model::{FindingEntry, Method, Range, Site, Verdict};
use cudalint_findings::{Fault, Shows};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::lab::Limits;
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use fault_support::range;
use lab_support::Place;
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

    /// Judges the finding at the text that stands between `⟦` and `⟧` in a program.
    fn judge(&self, name: &str, code: &str, change: impl Fn(&mut FindingEntry)) -> Judgement {
        let (code, place) = marked(code);
        let lab = self.place.lab(self.machine.clone(), Limits::default());
        let bench = lab.bench(name).unwrap();
        let unit = Utf8PathBuf::from("program.cu");
        let program = Program::Cuda(CudaProgram {
            origin: Origin::AsWritten,
            unit: unit.clone(),
            files: vec![ScenarioFile { path: unit, text: format!("#line 1 \"program.cu\"\n{code}") }],
            flags: ["-cudart", "none", self.runtime.as_str()]
                .into_iter()
                .chain(code.contains("nvrtc").then_some("-lnvrtc"))
                .map(str::to_owned)
                .collect(),
            arguments: Vec::new(),
            reproducer: None,
            project: None,
        });
        let mut finding = fault_support::finding(Fault::Status, (1, 1), (1, 1));
        finding.range = place;
        change(&mut finding);
        experiment::perform(&finding, &program, &bench)
    }

    fn verdict(&self, name: &str, fault: Fault, code: &str) -> Verdict {
        let judgement = self.judge(name, code, |finding| finding.claim = Shows::UnreadStatus { fault }.into());
        eprintln!("{name}: {}", judgement.reason);
        judgement.verdict
    }
}

/// A program without the marks around the finding's text, and the range of that.
fn marked(code: &str) -> (String, Range) {
    let (before, rest) = code.split_once('⟦').unwrap();
    let (inside, after) = rest.split_once('⟧').unwrap();
    let position = |text: &str| {
        let line = text.matches('\n').count() as u32 + 1;
        (line, text.rsplit('\n').next().unwrap().chars().count() as u32 + 1)
    };
    let range = range(position(before), position(&format!("{before}{inside}")));
    (format!("{before}{inside}{after}"), range)
}

const HEAD: &str = "#include <cstdio>\n#include <cstdlib>\n#include <cuda_runtime.h>\n";

#[test]
fn statuses_of_calls() {
    let Some(bench) = Bench::new() else { return };
    let verdict = |name, code: &str| bench.verdict(name, Fault::Status, &format!("{HEAD}{code}"));
    assert_eq!(verdict("dropped", "int main() { void *p; ⟦cudaMalloc(&p, 8)⟧; cudaFree(p); }"), Verdict::Confirmed);
    // The second of two calls on one line is looked at; the first one alone is dropped.
    let two = "int main() {\n void *p, *q;\n cudaMalloc(&p, 8); if (⟦cudaMalloc(&q, 8)⟧) exit(1);\n}";
    assert_eq!(verdict("compared", two), Verdict::Refuted);
    assert_eq!(
        verdict(
            "of-a-function",
            "template <typename T> cudaError_t\nmake(T **p) { return cudaMalloc(p, sizeof(T)); }\n\
             struct Pool { cudaError_t take(int **p) { return make(p); } };\n\
             int main() {\n int *p; Pool pool;\n pool.take(&p);\n ⟦make<int>(&p)⟧;\n}"
        ),
        Verdict::Confirmed
    );
    assert_eq!(
        verdict(
            "of-a-method",
            "struct Pool { cudaError_t take(int **p) { return cudaMalloc(p, 4); } };\n\
             int main() {\n int *p; Pool pool;\n ⟦pool.take(&p)⟧;\n return pool.take(&p) != cudaSuccess;\n}"
        ),
        Verdict::Confirmed
    );
    assert_eq!(
        verdict(
            "last-error",
            "int main() { int *p;\n ⟦cudaMalloc(&p, 4)⟧;\n if (cudaGetLastError() != cudaSuccess) return 1;\n}"
        ),
        Verdict::NotObserved
    );
    assert_eq!(
        verdict("never-there", "int main(int count, char **) { if (count > 9)\n ⟦cudaFree(nullptr)⟧;\n}"),
        Verdict::Unviable
    );
}

#[test]
fn launches_and_kernels_that_fail() {
    let Some(bench) = Bench::new() else { return };
    let kernel = "template <typename T> __global__ void set(T *p) { *p = 1; }\n";
    let verdict = |name, fault, code: &str| bench.verdict(name, fault, &format!("{HEAD}{kernel}{code}"));
    let dropped = "int main() { int *p;\n cudaMalloc(&p, 4);\n ⟦set<<<1,\n  32>>>(p)⟧;\n}";
    assert_eq!(verdict("launch", Fault::Launch, dropped), Verdict::Confirmed);
    let asked = "int main() { int *p;\n cudaMalloc(&p, 4);\n ⟦set<<<1, 32>>>(p)⟧;\n\
                 return cudaGetLastError();\n}";
    assert_eq!(verdict("launch-checked", Fault::Launch, asked), Verdict::Refuted);
    assert_eq!(verdict("kernel", Fault::Asynchronous, asked), Verdict::Confirmed);
    let waits = "static void go(int *p) { set<<<1, 32>>>(p); }\n\
                 int main() { int *p;\n cudaMalloc(&p, 4);\n ⟦go(p)⟧;\n\
                 if (cudaDeviceSynchronize() != cudaSuccess) { fprintf(stderr, \"no\\n\"); }\n}";
    assert_eq!(verdict("kernel-waited-for", Fault::Asynchronous, waits), Verdict::Refuted);
}

#[test]
fn checkers() {
    let Some(bench) = Bench::new() else { return };
    let verdict = |name, code: &str| {
        let fault = if name == "twice" { Fault::RepeatedCall } else { Fault::DroppedCall };
        bench.verdict(name, fault, &format!("{HEAD}#include <cassert>\n{code}"))
    };
    let twice = "#define ⟦CHECK⟧(call) \\\n if ((call) != cudaSuccess) printf(\"%s\\n\", cudaGetErrorString(call))\n\
                 int main() { void *p;\n for (int i = 0; i < 3; ++i) CHECK(cudaMalloc(&p, 4));\n}";
    assert_eq!(verdict("twice", twice), Verdict::Confirmed);
    let asserts = "#define ⟦CHECK⟧(call) assert((call) == cudaSuccess)\n#define ALL(call) CHECK(call)\n\
                   int main() { void *p;\n ALL(cudaMalloc(&p, 4));\n}";
    assert_eq!(verdict("asserts", asserts), Verdict::Confirmed);
    let keeps = "#define ⟦CHECK⟧(call) do { cudaError_t s = (call); assert(s == cudaSuccess); } while (0)\n\
                 int main() { void *p;\n CHECK(cudaMalloc(&p, 4));\n}";
    assert_eq!(verdict("keeps", keeps), Verdict::NotObserved);
    let compiled_out = "#ifdef CAREFUL\n#define CHECK(call) if ((call) != cudaSuccess) abort()\n#else\n\
                        #define ⟦CHECK⟧(call)\n#endif\nint main() { void *p = nullptr;\n CHECK(cudaMalloc(&p, 4));\n}";
    assert_eq!(verdict("compiled-out", compiled_out), Verdict::Confirmed);
    let read = "#define LAST() if (cudaGetLastError() != cudaSuccess) \\\n puts(cudaGetErrorString(⟦cudaGetLastError()⟧))\n\
                int main() {\n LAST();\n}";
    let judgement = bench.judge("read-twice", &format!("{HEAD}{read}"), |finding| {
        finding.claim = Shows::UnreadStatus { fault: Fault::ClearedError }.into();
        finding.claim.sites = vec![fault_support::site((4, 20), (4, 38))];
    });
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
}

#[test]
fn memory_that_calls_leave() {
    let Some(bench) = Bench::new() else { return };
    let output = |name, difference: Difference<Site>, code: &str| {
        let judgement = bench.judge(name, &format!("{HEAD}{code}"), |finding| {
            finding.verification.method = Method::Output;
            finding.claim = Shows::Memory { difference: difference.clone() }.into();
        });
        eprintln!("{name}: {}", judgement.reason);
        judgement.verdict
    };
    let program = |arguments: &str| {
        format!(
            "int main() {{ float *p; int n = 1000;\n cudaMalloc(&p, n * sizeof(float));\n cudaMemset(p, {arguments});\n}}"
        )
    };
    assert_eq!(output("value", Difference::Value { value: 1 }, &program("⟦1⟧, n * sizeof(float)")), Verdict::Confirmed);
    assert_eq!(output("zero", Difference::Value { value: 0 }, &program("⟦0⟧, n * sizeof(float)")), Verdict::Refuted);
    assert_eq!(output("quarter", Difference::Extent, &program("0, ⟦n⟧")), Verdict::Confirmed);
    assert_eq!(output("all", Difference::Extent, &program("0, ⟦n * sizeof(float)⟧")), Verdict::Refuted);
    let launch = |grid: &str| {
        format!(
            "__global__ void negate(float *values, int n) {{\n int i = blockIdx.x * blockDim.x + threadIdx.x;\n\
             if (i < n) values[i] = -values[i];\n}}\nint main() {{ float *p, *q; int n = 1000;\n\
             cudaMalloc(&q, 64); cudaMalloc(&p, n * sizeof(float));\n negate<<<⟦{grid}, 256⟧>>>(p, n);\n}}"
        )
    };
    let few = Difference::Coverage { threads: 768, elements: 1000 };
    let enough = Difference::Coverage { threads: 1024, elements: 1000 };
    assert_eq!(output("few-threads", few, &launch("n / 256")), Verdict::Confirmed);
    assert_eq!(output("enough-threads", enough, &launch("(n + 255) / 256")), Verdict::NotObserved);
}

#[test]
fn launches_that_read_behind_what_is_no_address() {
    let Some(bench) = Bench::new() else { return };
    let kernel = "__global__ void negate(float *values, int n) { if (threadIdx.x < n) values[threadIdx.x] *= -1; }\n";
    let program = |entry: &str, list: &str| {
        format!(
            "{HEAD}{kernel}int main() {{\n float *p; int n = 32;\n cudaMalloc(&p, n * sizeof(float));\n \
             void *args[] = {{{entry}, &n}};\n \
             cudaLaunchKernel((void *)negate, dim3(1), dim3(32), {list}, 0, 0);\n}}"
        )
    };
    let judge = |name, code: &str| {
        bench.judge(name, code, |finding| {
            finding.verification.method = Method::Memcheck;
            finding.claim = Shows::BadAddress { name: "args".to_owned(), user: User::Host }.into();
        })
    };
    let judgement = judge("packed-values", &program("(void *)64", "⟦args⟧"));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let judgement = judge("packed-elsewhere", &program("(void *)64, ⟦nullptr⟧", "args"));
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
}

/// NVRTC compiles without a GPU; where the toolkit has it under the name of its version alone, it is found all the same.
#[test]
fn names_that_the_runtime_compiler_refuses() {
    let Some(bench) = Bench::new() else { return };
    let toolkit = on_path("nvcc").unwrap();
    if !toolkit.parent().and_then(Utf8Path::parent).unwrap().join("include/nvrtc.h").is_file() {
        eprintln!("no nvrtc.h beside nvcc: nothing is tested");
        return;
    }
    let program = |first: &str, second: &str| {
        format!(
            "#include <nvrtc.h>\nint main() {{\n const char *source = \"template <typename T> __global__ void f(T *) {{}}\";\n \
             nvrtcProgram program;\n nvrtcCreateProgram(&program, source, \"f.cu\", 0, nullptr, nullptr);\n \
             {first};\n {second};\n nvrtcDestroyProgram(&program);\n}}"
        )
    };
    let judge = |name, code: &str| {
        let judgement = bench.judge(name, code, |finding| {
            finding.verification.method = Method::ApiError;
            finding.claim = Shows::FailedCall { call: Call::of("nvrtcAddNameExpression") }.into();
        });
        eprintln!("{name}: {}", judgement.reason);
        judgement.verdict
    };
    let (compiles, adds) =
        ("nvrtcCompileProgram(program, 0, nullptr)", "⟦nvrtcAddNameExpression(program, \"f<float>\")⟧");
    assert_eq!(judge("name-late", &program(compiles, adds)), Verdict::Confirmed);
    assert_eq!(judge("name-in-time", &program(adds, compiles)), Verdict::Refuted);
}
