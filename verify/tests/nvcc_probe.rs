//! The probe in real programs, where nvcc is on the path: built by nvcc, linked with a runtime that needs no GPU, run, and
//! judged. Without nvcc there is nothing to test, and the tests say so.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod fault_support;
mod lab_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::claim::{Call, Cost, Difference, Then, User};
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

#[test]
fn launches_whose_results_nobody_reads() {
    let Some(bench) = Bench::new() else { return };
    let verdict = |name, rest: &str| {
        let code = format!(
            "{HEAD}__global__ void negate(float *values, int n) {{ if (threadIdx.x < n) values[threadIdx.x] *= -1; }}\n\
             int main() {{ float *p, host[32] = {{1}};\n cudaMalloc(&p, 128); cudaMemcpy(p, host, 128, cudaMemcpyHostToDevice);\n \
             ⟦negate<<<1, 32>>>(p, 32)⟧;\n {rest} cudaFree(p);\n}}"
        );
        bench.verdict(name, Fault::Skipped, &code)
    };
    assert_eq!(verdict("never-read", ""), Verdict::Confirmed);
    assert_eq!(verdict("copied", "cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost);\n"), Verdict::NotObserved);
    let rows = "cudaMemcpy2D(host, 128, p, 128, 128, 1, cudaMemcpyDeviceToHost);\n";
    assert_eq!(verdict("copied-in-rows", rows), Verdict::NotObserved);
}

#[test]
fn kernels_with_and_without_their_promise() {
    let Some(bench) = Bench::new() else { return };
    let code = format!(
        "{HEAD}__global__ void negate(float *__restrict__ values, int n) {{ if (threadIdx.x < n) values[threadIdx.x] *= -1; }}\n\
         int main() {{ float *p;\n cudaMalloc(&p, 128);\n negate<<<1, 32>>>(⟦p⟧, 32);\n cudaFree(p);\n}}"
    );
    let judgement = bench.judge("promise", &code, |finding| {
        finding.verification.method = Method::Output;
        let difference = Difference::Promise { parameter: "values".to_owned() };
        finding.claim = Shows::Memory { difference }.into();
    });
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("leaves the same"), "{}", judgement.reason);
}

/// The work, which is between `⟨` and `⟩`, waits in its stream.
#[test]
fn what_comes_before_the_end_of_work() {
    let Some(bench) = Bench::new() else { return };
    let kernel = "__global__ void negate(float *values, int n) { if (threadIdx.x < n) values[threadIdx.x] *= -1; }\n\
                  int main() { float *p, *q; cudaStream_t one, two;\n cudaStreamCreate(&one); cudaStreamCreate(&two);\n \
                  cudaMalloc(&p, 128); cudaMallocHost(&q, 128);\n";
    let judge = |name: &str, then: Then, memory: &str, code: &str| {
        let code = format!("{HEAD}#include <chrono>\n{kernel}{code}\n}}");
        let work = marked(&code.replace(['⟦', '⟧'], "").replace('⟨', "⟦").replace('⟩', "⟧")).1;
        let judgement = bench.judge(name, &code.replace(['⟨', '⟩'], ""), |finding| {
            finding.verification.method = Method::Delay;
            let work = Site { path: finding.path.clone(), range: work };
            finding.claim = Shows::TooEarly { work, then, memory: Some(memory.to_owned()) }.into();
        });
        eprintln!("{name}: {}", judgement.reason);
        judgement.verdict
    };
    let fetch = "⟨cudaMemcpyAsync(q, p, 128, cudaMemcpyDeviceToHost, one)⟩;\n ";
    let set = "cudaMemset(p, 3, 128);\n ";
    let read = "float got = ⟦q[1]⟧;\n return got > 5;";
    assert_eq!(judge("read", Then::Read, "q", &format!("{set}{fetch}{read}")), Verdict::Confirmed);
    let waits = "cudaStreamSynchronize(one);\n ";
    assert_eq!(judge("read-behind", Then::Read, "q", &format!("{set}{fetch}{waits}{read}")), Verdict::NotObserved);
    let other = "cudaStreamSynchronize(two);\n ";
    assert_eq!(judge("other-stream", Then::Read, "q", &format!("{set}{fetch}{other}{read}")), Verdict::Confirmed);
    let send = "⟨cudaMemcpyAsync(p, q, 128, cudaMemcpyHostToDevice, one)⟩;\n ";
    let write = "⟦q[1] = 7⟧;\n cudaDeviceSynchronize();";
    assert_eq!(judge("write", Then::Write, "q", &format!("{send}{write}")), Verdict::Confirmed);
    assert_eq!(judge("write-behind", Then::Write, "q", &format!("{send}{waits}{write}")), Verdict::NotObserved);
    let first = "⟨negate<<<1, 32, 0, one>>>(p, 32)⟩;\n ";
    let second = "⟦cudaMemsetAsync(p, 5, 64, two)⟧;\n cudaDeviceSynchronize();";
    assert_eq!(judge("streams", Then::Work, "p", &format!("{set}{first}{second}")), Verdict::Confirmed);
    assert_eq!(judge("streams-behind", Then::Work, "p", &format!("{set}{first}{waits}{second}")), Verdict::NotObserved);
    let fetched = "float host[32]; ⟦cudaMemcpy(host, p, 128, cudaMemcpyDeviceToHost)⟧;\n return host[0] > 5;";
    assert_eq!(judge("default", Then::Work, "p", &format!("{set}{first}{fetched}")), Verdict::NotObserved);
    let pooled = "float *r; cudaMallocAsync(&r, 128, one);\n cudaMemsetAsync(r, 1, 128, one);\n \
                  ⟨negate<<<1, 32, 0, one>>>(r, 32)⟩;\n ";
    let free = "⟦cudaFreeAsync(r, two)⟧;\n cudaDeviceSynchronize();";
    assert_eq!(judge("free", Then::Free, "r", &format!("{pooled}{free}")), Verdict::Confirmed);
    let free = "⟦cudaFreeAsync(r, one)⟧;\n cudaDeviceSynchronize();";
    assert_eq!(judge("free-in-order", Then::Free, "r", &format!("{pooled}{free}")), Verdict::NotObserved);
    let clock = "⟦std::chrono::steady_clock::now()⟧;\n cudaDeviceSynchronize();";
    assert_eq!(judge("clock", Then::Clock, "", &format!("{first}{clock}")), Verdict::Confirmed);
    assert_eq!(judge("clock-behind", Then::Clock, "", &format!("{first}{waits}{clock}")), Verdict::NotObserved);
}

/// Calls that do nothing but cost: each is left out of a second build. What time is measured here says nothing, since the imagined GPU has
/// one clock for all.
#[test]
fn what_only_costs_time() {
    let Some(bench) = Bench::new() else { return };
    let kernel = "__global__ void negate(float *values, int n) {\n __syncthreads(); int i = threadIdx.x;\n ⟦__syncthreads()⟧;\n \
                  if (i < n) values[i] *= -1; }\n int main() { float *p;\n cudaMalloc(&p, 128); cudaMemset(p, 3, 128);\n \
                  negate<<<1, 32>>>(p, 32);\n cudaFree(p);\n}";
    let judgement = bench.judge("barrier", &format!("{HEAD}{kernel}"), |finding| {
        finding.verification.method = Method::Time;
        finding.claim = Shows::Cost { of: Cost::Barrier }.into();
        finding.claim.kernel = Some("negate".to_owned());
    });
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(
        judgement.reason.contains("leaves the same in memory") && judgement.reason.contains("1000.0 µs"),
        "{}",
        judgement.reason
    );
    let judge = |name: &str, code: &str| {
        let code = format!(
            "{HEAD}__global__ void negate(float *values, int n) {{ if (threadIdx.x < n) values[threadIdx.x] *= -1; }}\n\
             int main() {{ float *p, *q; cudaStream_t one;\n cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);\n \
             cudaMalloc(&p, 128); cudaMallocHost(&q, 128); cudaMemset(p, 3, 128);\n negate<<<1, 32>>>(p, 32);\n {code}\n return q[0] > 5;\n}}"
        );
        let copy = marked(&code.replace(['⟦', '⟧'], "").replace('⟨', "⟦").replace('⟩', "⟧")).1;
        let judgement = bench.judge(name, &code.replace(['⟨', '⟩'], ""), |finding| {
            finding.verification.method = Method::Time;
            finding.claim = Shows::Cost { of: Cost::Wait }.into();
            finding.claim.sites.push(Site { path: finding.path.clone(), range: copy });
        });
        eprintln!("{name}: {}", judgement.reason);
        judgement
    };
    let found = judge("waits", "⟦cudaDeviceSynchronize()⟧;\n ⟨cudaMemcpy(q, p, 128, cudaMemcpyDeviceToHost)⟩;");
    assert!(found.reason.contains("brings the same without `cudaDeviceSynchronize`"), "{}", found.reason);
    assert_ne!(found.verdict, Verdict::Refuted, "{}", found.reason);
    let looked_at =
        "if (⟦cudaDeviceSynchronize()⟧ != cudaSuccess) return 3;\n ⟨cudaMemcpy(q, p, 128, cudaMemcpyDeviceToHost)⟩;";
    assert!(judge("looked-at", looked_at).reason.contains("brings the same without"));
    let needed = "⟦cudaDeviceSynchronize()⟧;\n ⟨cudaMemcpyAsync(q, p, 128, cudaMemcpyDeviceToHost, one)⟩;\n cudaDeviceSynchronize();";
    assert_eq!(judge("needed", needed).verdict, Verdict::Refuted);
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
    let log = |name, rest: &str| {
        let fails = format!("if (⟦{compiles}⟧ != NVRTC_SUCCESS) {{ {rest} return 1; }}");
        bench.verdict(name, Fault::Log, &program(&fails, "(void)0"))
    };
    assert_eq!(log("unread-log", ""), Verdict::Confirmed);
    assert_eq!(log("read-log", "char words[999]; nvrtcGetProgramLog(program, words);"), Verdict::NotObserved);
}
