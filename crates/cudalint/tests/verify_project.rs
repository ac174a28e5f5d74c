//! `cudalint verify` in a project's own build, with the real program: a Makefile and a `CMake` project are built and run with
//! tools that stand for nvcc, compute-sanitizer and the driver (`toolkit/`). Kernels do not run there; calls and launches
//! do, and the probe that sees them is the real one.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
mod tools;

use common::{Ran, Sandbox, finished};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A header in a folder of its own.
const API: &str = "#pragma once\nnamespace project {\nvoid run(int blocks);\n}\n";
/// The host's part, with a macro of a name that is short.
const MAIN: &str = r#"#include "api.h"
#include <cuda_runtime.h>
#include <cstdio>
#define CU(call) check((call), #call)

static int failures = 0;
static void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) failures += printf("%s failed\n", what) > 0;
}

int main(int argc, char **argv) {
    FILE *input = argc > 1 ? fopen(argv[1], "r") : nullptr;
    int blocks = 0;
    if (!input || fscanf(input, "%d", &blocks) != 1) return 2;
    CU(cudaSetDevice(0));
    project::run(blocks);
    CU(cudaDeviceSynchronize());
    return failures;
}
"#;
/// The device's part: a write beyond an allocation (line 6), a launch without blocks (line 16), calls whose statuses nobody
/// reads (line 19).
const KERNELS: &str = r#"#include "api.h"
#include <cuda_runtime.h>
#define CU(call) (call)

__global__ void fill(float *values) {
    values[threadIdx.x] = 1.0f; // writes beyond: fill
}

namespace project {
using real = float;

void run(int blocks) {
    real *values = nullptr;
    CU(cudaMalloc(&values, 32 * sizeof(real)));
    fill<<<1, 64>>>(values);
    fill<<<20 / 32, 32>>>(values);
    (void)cudaGetLastError();
    real *more = nullptr;
    cudaMalloc(&more, 128);
    cudaMemset(more, 0, 128);
    cudaFree(more);
    cudaFree(values);
}
} // namespace project
"#;
/// Warnings are errors, the GPU is one that is no more, and nvcc is the toolkit's. `run` reads a file of the folder above.
const MAKEFILE: &str = "CUDA_PATH ?= /usr/local/cuda\n\
    NVCC := $(CUDA_PATH)/bin/nvcc\n\
    NVCCFLAGS := -std=c++11 -rdc=true -Werror all-warnings -Xcompiler -Wall,-Werror -Iinclude \\\n\
    \x20            -gencode arch=compute_35,code=sm_35\n\
    app: main.o kernels.o\n\
    \tg++ $^ -o $@ -L$(CUDA_PATH)/lib64 -lcudart\n\
    main.o: src/main.cpp include/api.h\n\
    \tg++ -std=c++11 -Wall -Werror -Iinclude -I$(CUDA_PATH)/include -c $< -o $@\n\
    kernels.o: src/kernels.cu include/api.h\n\
    \t$(NVCC) $(NVCCFLAGS) -c $< -o $@\n\
    run: app\n\
    \t./app ../data/input.txt\n";

/// A folder with a project and the tools that stand for others.
struct Project {
    sandbox: Sandbox,
    tools: PathBuf,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let sandbox = Sandbox::new(files);
        let tools = sandbox.path().join("../tools");
        let tools = std::path::absolute(tools).unwrap();
        let tools = tools.with_file_name(format!("{}-tools", sandbox.path().file_name().unwrap().to_string_lossy()));
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["bin", "include", "lib64", "driver"] {
            std::fs::create_dir_all(tools.join(folder)).unwrap();
        }
        let of = here.join("tests/toolkit");
        for (from, to) in [
            ("nvcc", "bin/nvcc"),
            ("compute-sanitizer", "bin/compute-sanitizer"),
            ("include/cuda_runtime.h", "include/cuda_runtime.h"),
            ("include/cuda_runtime_api.h", "include/cuda_runtime_api.h"),
        ] {
            std::fs::copy(of.join(from), tools.join(to)).unwrap();
        }
        let runtime = here.join("../../verify/tests/fake_runtime/fake_runtime.cpp");
        let object = tools.join("runtime.o");
        let compiled = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
        compiled(
            Command::new("g++").arg("-c").arg("-I").arg(tools.join("include")).arg(runtime).arg("-o").arg(&object),
        );
        compiled(Command::new("ar").arg("rc").arg(tools.join("lib64/libcudart.a")).arg(&object));
        let driver = tools.join("driver/libcuda.so.1");
        compiled(Command::new("g++").args(["-shared", "-fPIC"]).arg(of.join("driver.cpp")).arg("-o").arg(&driver));
        std::fs::copy(&driver, driver.with_file_name("libcuda.so")).unwrap();
        Self { sandbox, tools }
    }

    fn verify(&self, folder: &str, args: &[&str]) -> Ran {
        let path = format!("{}:{}", self.tools.join("bin").display(), std::env::var("PATH").unwrap());
        let args: Vec<&str> = ["verify", "--output-format", "json", "--quiet"].iter().chain(args).copied().collect();
        let mut command = self.sandbox.command(&args);
        command.env("PATH", path).env("LD_LIBRARY_PATH", self.tools.join("driver"));
        command.env_remove("CUDA_VISIBLE_DEVICES").env_remove("CUDA_PATH");
        finished(command.current_dir(self.sandbox.path().join(folder)))
    }

    /// How often a tool was called.
    fn calls(&self, tool: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.tools.join(format!("{tool}.calls"))).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The files of the project with what they hold.
    fn files(&self, folder: &str) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.sandbox.path().join(folder)];
        while let Some(next) = open.pop() {
            for entry in std::fs::read_dir(next).unwrap().flatten() {
                if entry.file_name() == "cudalint-out" {
                } else if entry.path().is_dir() {
                    open.push(entry.path());
                } else {
                    found.insert(entry.path(), std::fs::read(entry.path()).unwrap());
                }
            }
        }
        found
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.tools));
    }
}

/// Rule, verdict and reason of each finding.
fn verdicts(ran: &Ran, folder: &Path) -> BTreeMap<String, (String, String)> {
    let document: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let outcomes = std::fs::read_to_string(folder.join("cudalint-out/outcomes.jsonl")).unwrap();
    let reasons: BTreeMap<String, String> = outcomes
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|it| (it["fingerprint"].as_str().unwrap().to_owned(), format!("{}", it["attempts"])))
        .collect();
    let findings = document["findings"].as_array().unwrap();
    let of = |finding: &Value| {
        let verdict = finding["verification"]["verdict"].as_str().unwrap_or("none").to_owned();
        let reason = reasons.get(finding["fingerprint"].as_str().unwrap()).cloned().unwrap_or_default();
        (finding["rule"].as_str().unwrap().to_owned(), (verdict, reason))
    };
    findings.iter().map(of).collect()
}

fn makefile_project() -> Project {
    Project::new(&[
        ("app/Makefile", MAKEFILE),
        ("app/include/api.h", API),
        ("app/src/main.cpp", MAIN),
        ("app/src/kernels.cu", KERNELS),
        ("data/input.txt", "20\n"),
    ])
}

/// Every finding of the project confirmed in its own build.
fn all_confirmed(ran: &Ran, folder: &Path) {
    let verdicts = verdicts(ran, folder);
    assert_eq!(
        verdicts.keys().map(String::as_str).collect::<Vec<_>>(),
        ["empty-grid", "missing-bounds-guard", "unchecked-api-call", "unchecked-launch"],
        "{ran:?}"
    );
    for (rule, (verdict, attempts)) in &verdicts {
        assert_eq!(verdict, "confirmed", "{rule}: {attempts}");
        assert!(attempts.contains("in the project's build"), "{rule}: {attempts}");
    }
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn one_build_and_one_run_of_each_tool_serve_all_findings() {
    let project = makefile_project();
    let before = project.files("app");
    let ran = project.verify("app", &["--build", "make", "--run", "make run"]);
    all_confirmed(&ran, &project.sandbox.path().join("app"));
    assert_eq!(project.files("app"), before, "the project's own files stay as they are");
    assert_eq!(
        project.calls("compute-sanitizer").len() + project.calls("sanitizer").len(),
        1,
        "one run under memcheck"
    );
    let compiled = project.calls("nvcc").into_iter().filter(|line| line.contains("kernels.cu"));
    let compiled: Vec<String> = compiled.collect();
    assert_eq!(compiled.len(), 1, "{compiled:?}");
    let line = &compiled[0];
    assert!(line.contains("arch=compute_90,code=sm_90") && line.contains("-lineinfo"), "{line}");
    assert!(!line.contains("-Werror") && line.contains("-include"), "{line}");
}

#[test]
fn a_run_under_a_tool_is_ended_when_all_its_findings_are_shown() {
    let project = makefile_project();
    project.sandbox.write("app/src/kernels.cu", format!("{KERNELS}// goes on and on\n").as_bytes());
    let ran = project.verify("app", &["--build", "make", "--run", "make run"]);
    all_confirmed(&ran, &project.sandbox.path().join("app"));
    assert_eq!(project.calls("sanitizer").len(), 1);
    assert!(project.calls("sanitizer-ends").is_empty(), "the run came to its end");
}

#[test]
fn what_a_build_has_left_is_made_anew() {
    let project = makefile_project();
    let app = project.sandbox.path().join("app");
    // As an earlier `make` leaves it: an object that no source is newer than, without the probe.
    let mut build = Command::new("g++");
    build.args(["-std=c++11", "-c", "-x", "c++", "-", "-o"]).arg(app.join("kernels.o"));
    build.stdin(std::process::Stdio::null());
    assert!(build.status().unwrap().success());
    let ran = project.verify("app", &["--build", "make", "--run", "make run"]);
    all_confirmed(&ran, &app);
}

#[test]
fn settings_say_how_a_folder_is_built() {
    let project = makefile_project();
    let settings = "[[verify.folder]]\npath = \"app\"\nbuild = \"make\"\nrun = [\"./app ../data/input.txt\"]\n";
    project.sandbox.write("cudalint.toml", settings.as_bytes());
    let ran = project.verify(".", &["app"]);
    all_confirmed(&ran, project.sandbox.path());
}

#[test]
fn a_makefile_is_tried_without_being_told() {
    let project = makefile_project();
    let ran = project.verify(".", &["app"]);
    all_confirmed(&ran, project.sandbox.path());
}

#[test]
fn a_build_that_fails_is_said_with_its_error() {
    let project = makefile_project();
    project.sandbox.write("app/src/main.cpp", b"#include \"gone.h\"\n");
    let ran = project.verify("app", &["--build", "make", "--run", "make run", "--only", "empty-grid"]);
    let (verdict, attempts) = verdicts(&ran, &project.sandbox.path().join("app")).remove("empty-grid").unwrap();
    assert_ne!(verdict, "refuted", "{attempts}");
    assert!(attempts.contains("the project's build fails: `make`: ") && attempts.contains("gone.h"), "{attempts}");
}

#[test]
fn a_run_that_does_not_come_to_the_place_decides_nothing() {
    let project = makefile_project();
    let args = ["--build", "make app", "--run", "./app nowhere.txt", "--only", "empty-grid"];
    let ran = project.verify("app", &args);
    let (_, attempts) = verdicts(&ran, &project.sandbox.path().join("app")).remove("empty-grid").unwrap();
    let attempts: Value = serde_json::from_str(&attempts).unwrap();
    let first = &attempts[0];
    assert_eq!(
        (&first["program"], &first["verdict"]),
        (&"in the project's build".into(), &"unviable".into()),
        "{first}"
    );
    assert!(first["reason"].as_str().unwrap().contains("never came to src/kernels.cu:16"), "{first}");
}

#[test]
fn a_run_of_a_file_without_the_probe_is_not_said_to_miss_the_place() {
    let project = makefile_project();
    project.sandbox.write("app/src/kernels.cu", format!("{KERNELS}// refuses the probe\n").as_bytes());
    let args = ["--build", "make app", "--run", "./app nowhere.txt", "--only", "unchecked-api-call,empty-grid"];
    let ran = project.verify("app", &args);
    for (rule, (_, attempts)) in verdicts(&ran, &project.sandbox.path().join("app")) {
        let attempts: Value = serde_json::from_str(&attempts).unwrap();
        let first = &attempts[0];
        assert_eq!(first["program"], "in the project's build", "{rule}: {first}");
        assert_eq!((&first["verdict"], &first["reached"]), (&"unviable".into(), &Value::Null), "{rule}: {first}");
        let reason = first["reason"].as_str().unwrap();
        assert!(reason.contains("not seen to come to src/kernels.cu:1"), "{rule}: {reason}");
        assert!(reason.contains("the probe could not be put into all of it: "), "{rule}: {reason}");
    }
}

/// `CMake`, from `PATH` or as `.ci/tools` has installed it.
fn cmake() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("cmake")).find(|file| file.is_file());
    on_path.or_else(|| tools::program("cmake"))
}

#[test]
fn cmake_builds_in_a_folder_of_its_own() {
    let Some(cmake) = cmake() else { return };
    let lists = "cmake_minimum_required(VERSION 3.17)\nproject(app LANGUAGES CXX)\nfind_program(NVCC nvcc)\n\
        add_custom_command(OUTPUT kernels.o DEPENDS src/kernels.cu COMMAND ${NVCC} -I${CMAKE_SOURCE_DIR}/include -c \
        ${CMAKE_SOURCE_DIR}/src/kernels.cu -o kernels.o)\n\
        add_executable(app src/main.cpp ${CMAKE_BINARY_DIR}/kernels.o)\n\
        target_include_directories(app PRIVATE include $ENV{CUDA_PATH}/include)\n\
        target_link_libraries(app $ENV{CUDA_PATH}/lib64/libcudart.a)\n";
    let project = makefile_project();
    project.sandbox.write("app/CMakeLists.txt", lists.as_bytes());
    std::fs::remove_file(project.sandbox.path().join("app/Makefile")).unwrap();
    let before = project.files("app");
    let cmake = cmake.display().to_string();
    let build = format!("{cmake} -S . -B {{build}} && {cmake} --build {{build}}");
    let ran = project.verify("app", &["--build", &build, "--run", "{build}/app ../data/input.txt"]);
    all_confirmed(&ran, &project.sandbox.path().join("app"));
    assert_eq!(project.files("app"), before, "the project's own files stay as they are");
}

#[test]
fn a_ledger_shows_the_proof_where_there_is_no_gpu_while_the_sources_are_the_same() {
    let project = makefile_project();
    let app = project.sandbox.path().join("app");
    let args = ["--build", "make", "--run", "make run", "--ledger", "../proof.jsonl"];
    let first = project.verify("app", &args);
    all_confirmed(&first, &app);
    let without_gpu = || {
        let mut command = project.sandbox.command(&["verify", "--output-format", "json", "--ledger", "../proof.jsonl"]);
        finished(command.current_dir(&app).env("CUDA_VISIBLE_DEVICES", ""))
    };
    let ran = without_gpu();
    assert_eq!(ran.code, 1, "{ran:?}");
    let found = verdicts(&ran, &app);
    assert!(found.values().all(|(verdict, _)| verdict == "confirmed"), "{found:?}");
    let outcomes = std::fs::read_to_string(app.join("cudalint-out/outcomes.jsonl")).unwrap();
    assert!(outcomes.contains("as the ledger says)") && outcomes.contains("Stand-in GPU"), "{outcomes}");
    // A header that the flagged file includes.
    project.sandbox.write("app/include/api.h", format!("{API}// changed\n").as_bytes());
    let ran = without_gpu();
    let found = verdicts(&ran, &app);
    assert!(found.values().all(|(verdict, _)| verdict != "confirmed"), "{found:?}");
}

/// Kernels in strings: one that the tests launch, which writes beyond its array (line 5), and one that they do not.
const OPS: &str = r#"import cupy

SOURCE = r"""
extern "C" __global__ void scale(float* x) {
    x[threadIdx.x] = 2.0f; // writes beyond: scale
}
extern "C" __global__ void clear(float* x) {
    x[threadIdx.x] = 0.0f;
}
"""


def scale():
    x = cupy.zeros(32, dtype=cupy.float32)
    cupy.RawKernel(SOURCE, "scale")((1,), (64,), (x,))


def clear():
    x = cupy.zeros(32, dtype=cupy.float32)
    cupy.RawKernel(SOURCE, "clear")((1,), (64,), (x,))
"#;
/// Stands for cupy: its kernels do nothing.
const CUPY: &str = "class RawKernel:\n    def __init__(self, code, name, options=(), **others):\n        \
    self.code, self.name = code, name\n\n    def __call__(self, grid, block, args):\n        pass\n\n\n\
    class RawModule:\n    pass\n\n\nclass cuda:\n    set_allocator = set_pinned_memory_allocator = print\n\n\n\
    float32 = 'float32'\n\n\ndef zeros(count, dtype):\n    return [0.0] * count\n";

#[test]
fn tests_in_python_come_under_the_driver_and_say_what_they_reach() {
    let project = Project::new(&[
        ("app/ops.py", OPS),
        ("app/tests/run.py", "import ops\n\nops.scale()\n"),
        ("app/stand_ins/cupy.py", CUPY),
    ]);
    let app = project.sandbox.path().join("app");
    let before = project.files("app");
    // Several commands, of which one starts Python by a shell.
    let args = ["--run", "true", "--run", "PYTHONPATH=$PYTHONPATH:.:stand_ins python3 tests/run.py", "ops.py"];
    let ran = project.verify("app", &args);
    assert_eq!(project.files("app"), before, "the project's own files stay as they are");
    let outcomes = std::fs::read_to_string(app.join("cudalint-out/outcomes.jsonl")).unwrap();
    let of_line = |line: u32| -> Value {
        let outcomes = outcomes.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let place = format!("ops.py:{line}");
        outcomes.into_iter().find(|it| it["place"] == place.as_str()).unwrap_or_else(|| panic!("{place}: {ran:?}"))
    };
    let (scale, clear) = (of_line(5), of_line(8));
    assert_eq!(scale["verification"]["verdict"], "confirmed", "{scale}");
    assert_eq!(scale["attempts"][0]["program"], "in the project's build", "{scale}");
    assert_eq!(scale["attempts"][0]["reached"], true, "{scale}");
    assert_eq!(clear["attempts"][0]["reached"], false, "{clear}");
    assert!(clear["attempts"][0]["reason"].as_str().unwrap().contains("never came to ops.py:8"), "{clear}");
    assert!(clear["reason"].as_str().unwrap().contains("one more command in `[verify] run`"), "{clear}");
}

#[test]
fn tests_that_cannot_be_imported_say_so() {
    let project = Project::new(&[
        ("app/ops.py", OPS),
        ("app/tests/run.py", "import not_here\nimport ops\n\nops.scale()\n"),
        ("app/stand_ins/cupy.py", CUPY),
    ]);
    let app = project.sandbox.path().join("app");
    let run = "PYTHONPATH=$PYTHONPATH:.:stand_ins python3 tests/run.py";
    let ran = project.verify("app", &["--run", run, "ops.py"]);
    let outcomes =
        std::fs::read_to_string(app.join("cudalint-out/outcomes.jsonl")).unwrap_or_else(|_| panic!("{ran:?}"));
    for outcome in outcomes.lines() {
        let outcome: Value = serde_json::from_str(outcome).unwrap();
        let first = &outcome["attempts"][0];
        assert_eq!(first["reached"], false, "{outcome}");
        let reason = first["reason"].as_str().unwrap();
        assert!(reason.contains("it ended with exit status 1: ModuleNotFoundError"), "{reason}");
    }
}
