//! What is taken for a project where nothing marks one, and what its builds say against a finding.

#![allow(clippy::unwrap_used)]

mod common;

use common::Sandbox;

/// A kernel that a function launches which nobody calls, in a file that the build lists, beside one that is launched.
const KERNELS: &str = "#include <cuda_runtime.h>
__global__ void left(float *p) {
    __shared__ float s[64];
    s[threadIdx.x] = p[threadIdx.x];
    p[threadIdx.x] = s[63 - threadIdx.x];
}
void idle(float *p) { left<<<1, 64>>>(p); }
__global__ void used(float *p) { p[threadIdx.x] = 1; }
int main() {
    float *p;
    if (cudaMalloc(&p, 64 * sizeof(float)) != cudaSuccess) return 1;
    used<<<1, 64>>>(p);
    return cudaGetLastError() != cudaSuccess;
}
";

/// Files in a folder that nothing marks as a project.
fn unmarked(files: &[(&str, &str)]) -> Sandbox {
    let sandbox = Sandbox::new(files);
    std::fs::remove_dir(sandbox.path().join(".git")).unwrap();
    sandbox
}

fn races(sandbox: &Sandbox, args: &[&str]) -> usize {
    let ran = sandbox.run(&[&["--select", "shared-memory-race", "--output-format", "concise"], args].concat());
    ran.stdout.matches("shared-memory-race]").count()
}

#[test]
fn an_unpacked_archive_is_a_project() {
    let sandbox = unmarked(&[("app/main.cu", KERNELS), ("app/Makefile", "app: main.cu\n\tnvcc -o app main.cu\n")]);
    // The folder itself, one around it, and one of sources in it.
    assert_eq!(races(&sandbox, &["app"]), 0);
    assert_eq!(races(&sandbox, &["."]), 0);
    // A file that is named is looked at by itself, as far as nothing marks a project around it.
    assert_eq!(races(&sandbox, &["app/main.cu"]), 1);
    sandbox.write("app/cudalint.toml", b"");
    assert_eq!(races(&sandbox, &["app/main.cu"]), 0);
}

const RACING: &str = "#include <cuda_runtime.h>
__global__ void k(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[63 - threadIdx.x];
}
int main() { int *d; cudaMalloc(&d, 256); k<<<1, 64>>>(d); return 0; }
";

/// What a tool has put there is somebody else's; named itself, it is read.
#[test]
fn folders_that_a_tool_fills_are_left_out() {
    let others = ["build/_deps/other-src/a.cu", "build/CMakeFiles/a.cu", "env/lib/a.cu", "lib/site-packages/x/a.cu"];
    let mut files: Vec<(&str, &str)> = others.iter().map(|path| (*path, RACING)).collect();
    files.extend([("env/pyvenv.cfg", "home = /usr\n"), ("src/a.cu", RACING)]);
    let sandbox = Sandbox::new(&files);
    assert_eq!(races(&sandbox, &["."]), 1);
    assert_eq!(races(&sandbox, &[others[0]]), 1);
    assert_eq!(races(&sandbox, &["build/_deps"]), 1);
}

#[test]
fn a_folder_of_sources_belongs_to_what_stands_around_it() {
    let test = "void idle(float *p);\nint main() { idle(nullptr); }\n";
    let files = [
        ("app/src/kernels.cu", KERNELS),
        ("app/tests/run.cu", test),
        ("app/README.md", "An app."),
        ("app/Makefile", "app: src/kernels.cu tests/run.cu\n\tnvcc -o app $^\n"),
    ];
    // The call in the folder beside it counts.
    assert_eq!(races(&unmarked(&files), &["app/src"]), 1);
    assert_eq!(races(&unmarked(&files[..1]), &["app/src"]), 0);
}

#[test]
fn projects_in_a_folder_are_told_apart() {
    let caller = "void idle(float *p);\nint main() { idle(nullptr); }\n";
    let make = "app: *.cu\n\tnvcc -o app $^\n";
    let files =
        [("all/a/main.cu", KERNELS), ("all/a/Makefile", make), ("all/b/run.cu", caller), ("all/b/Makefile", make)];
    assert_eq!(races(&unmarked(&files), &["all"]), 0);
    // With words at its top the folder is one project, and the call is in it.
    let mut one = files.to_vec();
    one.push(("all/README.md", "Apps."));
    assert_eq!(races(&unmarked(&one), &["all"]), 1);
}

/// What nobody overlooks is *possible* where the project builds it, or ships it as a package.
#[test]
fn what_nobody_overlooks_is_no_news() {
    let launch = |look: &str| {
        format!(
            "#include <cuda_runtime.h>\n__global__ void k(float *p) {{ p[threadIdx.x] = 1; }}\n\
             int run(float *p) {{ k<<<1, 2048>>>(p); {look} }}\nint main() {{ return run(nullptr); }}\n"
        )
    };
    let finds = |look: &str, build: &str, rule: &str| {
        let sandbox = unmarked(&[("main.cu", &launch(look)), (build, "app: main.cu\n\tnvcc -o app main.cu\n")]);
        let ran = sandbox.run(&["--select", rule, "--output-format", "concise", "."]);
        ran.stdout.contains(rule)
    };
    let rule = "launch-exceeds-device-limit";
    assert!(!finds("return cudaGetLastError() != cudaSuccess;", "Makefile", rule));
    // Nobody looks, or a wait does, which reports no refused launch, or nothing builds it.
    assert!(finds("return 0;", "Makefile", rule));
    assert!(finds("return cudaDeviceSynchronize() != cudaSuccess;", "Makefile", rule));
    assert!(finds("return cudaGetLastError() != cudaSuccess;", "notes.txt", rule));
    // That the allocation is looked at says nothing of the launch.
    let pointer = |look: &str| {
        format!(
            "#include <cuda_runtime.h>\n__global__ void k(float *p, float *q) {{ p[threadIdx.x] = q[threadIdx.x]; }}\n\
             int main() {{ float *p, *q; if (cudaMalloc(&p, 128) != cudaSuccess) return 1; k<<<1, 32>>>(p, q); {look} }}\n"
        )
    };
    let finds_pointer = |look: &str| {
        let sandbox = Sandbox::new(&[("main.cu", &pointer(look)), ("Makefile", "app: main.cu\n")]);
        let rule = "uninitialized-device-pointer";
        sandbox.run(&["--select", rule, "--output-format", "concise", "."]).stdout.contains(rule)
    };
    assert!(finds_pointer("return 0;"));
    assert!(!finds_pointer("return cudaGetLastError() != cudaSuccess;"));
    assert!(!finds_pointer("return cudaDeviceSynchronize() != cudaSuccess;"));
    // Who names the file is at work on it.
    let sandbox =
        unmarked(&[("main.cu", &launch("return cudaGetLastError() != cudaSuccess;")), ("Makefile", "app: main.cu\n")]);
    let ran = sandbox.run(&["--select", rule, "--output-format", "concise", "main.cu"]);
    assert!(ran.stdout.contains(rule), "{ran:?}");
    // What a compiler refuses.
    assert!(!finds("__syncthreads(); return 0;", "Makefile", "execution-space-mismatch"));
    assert!(finds("__syncthreads(); return 0;", "notes.txt", "execution-space-mismatch"));
    let script = "import cupy as cp\nx = cp.linalg.solve_triangular(cp.eye(3), cp.ones(3))\n";
    for (package, found) in [("setup.py", false), ("notes.txt", true)] {
        let sandbox = unmarked(&[("pack/solve.py", script), (package, "")]);
        let ran = sandbox.run(&["--select", "nonexistent-gpu-api", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("nonexistent-gpu-api"), found, "{package}: {ran:?}");
    }
}

/// A compiler takes a file for plain C++ by its name, unless it is told otherwise.
#[test]
fn cuda_under_a_name_of_plain_cpp() {
    let text = KERNELS.replace("used<<<1, 64>>>(p)", "idle(p)");
    for (script, found) in [("g++ main.cpp", 0), ("nvcc -x cu main.cpp", 1)] {
        let sandbox = unmarked(&[("main.cpp", &text), ("build.sh", script)]);
        assert_eq!(races(&sandbox, &["."]), found, "{script}");
    }
}
