//! A condition has one answer, wherever it stands: in `#if`, in a statement that `#if` splits, in a macro's body, in a
//! constant, in a kernel; whoever says what the macros are.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Sandbox;

/// Kernels that write beyond an allocation where the condition holds: one for each way to ask it.
fn program(condition: &str) -> String {
    format!(
        "#include <cuda_runtime.h>
#if {condition}
#define IN_IF 1
#else
#define IN_IF 0
#endif
#define IN_MACRO (({condition}) ? 1 : 0)
constexpr int constant = ({condition}) ? 1 : 0;
__global__ void in_if(int *p) {{ p[IN_IF] = 1; }}
__global__ void in_macro(int *p) {{ p[IN_MACRO] = 1; }}
__global__ void in_constant(int *p) {{ p[constant] = 1; }}
__global__ void in_kernel(int *p) {{
  if ({condition}) p[1] = 1;
}}
__global__ void split(int *p) {{
  p[
#if {condition}
    1
#else
    0
#endif
  ] = 1;
}}
int main() {{
  int *p;
  cudaMalloc(&p, sizeof(int));
  in_if<<<1, 1>>>(p);
  in_macro<<<1, 1>>>(p);
  in_constant<<<1, 1>>>(p);
  in_kernel<<<1, 1>>>(p);
  split<<<1, 1>>>(p);
  cudaFree(p);
}}
"
    )
}

/// Lints a program for each condition, with other files beside it, and holds all five places to the answer.
fn check(files: &[(&str, &str)], args: &[&str], conditions: &[(&str, bool)]) {
    for (condition, expected) in conditions {
        let sandbox = Sandbox::new(files);
        sandbox.write("a.cu", program(condition).as_bytes());
        let mut all = vec!["--select", "missing-bounds-guard", "--output-format", "concise", "a.cu"];
        all.extend(args);
        let ran = sandbox.run(&all);
        let found = ran.stdout.matches("writes element 1 of `p`").count();
        assert_eq!(found, if *expected { 5 } else { 0 }, "{condition} with {files:?} and {args:?}: {ran:?}");
    }
}

#[test]
fn by_default() {
    check(
        &[],
        &[],
        &[
            ("__CUDA_ARCH__ == 800", true),
            ("CUDART_VERSION == 12040 && CUDA_VERSION == 12040", true),
            ("__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ == 4", true),
            ("__cplusplus == 201703L", true),
            ("__GNUC__ >= 9 && __CUDACC__ && __NVCC__", true),
            ("__linux__ && __x86_64__ && __LP64__", true),
            ("__CUDA_ARCH__ >= 900 || CUDART_VERSION >= 12080", false),
        ],
    );
}

#[test]
fn by_the_command_line() {
    let args = ["--arch", "sm_90,sm_120", "-D", "WIDE", "-D", "CUDART_VERSION=11080", "-DDEPTH=3"];
    let conditions = [
        ("__CUDA_ARCH__ == 900", true),
        ("CUDART_VERSION == 11080", true),
        ("WIDE == 1 && DEPTH * 2 == 6", true),
        ("WIDE && DEPTH > 3", false),
    ];
    // They stand above the settings.
    check(&[], &args, &conditions);
    check(&[("cudalint.toml", "arch = [\"sm_75\"]\n[parse]\ndefines = [\"DEPTH=9\"]\n")], &args, &conditions);
}

#[test]
fn by_the_settings() {
    let settings = "arch = [\"sm_75\"]\n[parse]\ntoolkit = \"11.8\"\nstandard = \"c++14\"\ndefines = [\"DEPTH=9\"]\n\
                    undefines = [\"__GNUC__\"]\n";
    let commands = "[{\"directory\": \"/p\", \"file\": \"a.cu\", \"command\": \
                    \"/usr/local/cuda-12.8/bin/nvcc -std=c++20 -arch=sm_90 -DDEPTH=3 -DOTHER=2 a.cu\"}]";
    let mut conditions = vec![
        ("__CUDA_ARCH__ == 750", true),
        ("CUDART_VERSION == 11080 && __CUDACC_VER_MAJOR__ == 11", true),
        ("__cplusplus == 201402L", true),
        ("DEPTH == 9", true),
        ("DEPTH < 9 || __cplusplus > 201402L", false),
    ];
    check(&[("cudalint.toml", settings)], &[], &conditions);
    // They stand above the build's commands, which say the rest.
    conditions.push(("OTHER == 2", true));
    check(&[("cudalint.toml", settings), ("compile_commands.json", commands)], &[], &conditions);
}

#[test]
fn by_the_commands_of_the_build() {
    let commands = "[{\"directory\": \"/p\", \"file\": \"a.cu\", \"arguments\": \
                    [\"/usr/local/cuda-12.8/bin/nvcc\", \"-std=c++20\", \"-gencode\", \"arch=compute_90,code=sm_90\", \
                    \"-DDEPTH=3\", \"-UNVCC_ONLY\", \"a.cu\"]}, {\"directory\": \"/p\", \"file\": \"b.cu\", \"command\": \
                    \"/usr/local/cuda-12.9/bin/nvcc -std=c++20 -arch=sm_100 -DDEPTH=3 b.cu\"}]";
    let conditions = [
        ("__CUDA_ARCH__ == 900", true),
        ("CUDART_VERSION == 12080 && __CUDACC_VER_MINOR__ == 8", true),
        ("__cplusplus == 202002L", true),
        ("DEPTH == 3", true),
        ("DEPTH != 3 || __CUDA_ARCH__ >= 1000", false),
    ];
    check(&[("compile_commands.json", commands)], &[], &conditions);
}

/// How often a program is said to write beyond its allocation.
fn writes_beyond(file: &str, text: &str) -> usize {
    let sandbox = Sandbox::new(&[]);
    sandbox.write(file, text.as_bytes());
    let ran = sandbox.run(&["--select", "missing-bounds-guard", "--output-format", "concise", file]);
    ran.stdout.matches("writes element 1 of").count()
}

#[test]
fn a_program_in_a_string_is_what_its_compiler_reads() {
    for (package, condition, expected) in [
        ("cupy", "defined(__CUDACC_RTC__) && !defined(__NVCC__)", 1),
        ("cupy", "__CUDACC_RTC__ == 1 && __CUDA_ARCH__ == 800", 1),
        // Somebody calls nvcc here.
        ("cupy  # as nvcc does", "defined(__CUDACC_RTC__)", 0),
        ("cupy  # as nvcc does", "__NVCC__", 1),
    ] {
        let text = format!(
            "import {package}\nkernel = cupy.RawKernel(r'''\n#if {condition}\n#define AT 1\n#else\n#define AT 0\n#endif\n\
             extern \"C\" __global__ void f(int *p) {{\n  p[\n#if {condition}\n    AT\n#else\n    0\n#endif\n  ] = 1;\n}}\n\
             ''', 'f')\np = cupy.zeros(1, dtype=cupy.int32)\nkernel((1,), (1,), (p,))\n"
        );
        assert_eq!(writes_beyond("a.py", &text), expected, "{package}: {condition}");
    }
}

#[test]
fn code_of_the_host_alone_knows_no_architecture() {
    let program = |specifiers: &str| {
        format!(
            "#include <cuda_runtime.h>\n__global__ void f(int *p, int at) {{ p[at] = 1; }}\n{specifiers} int at() {{\n\
             #ifdef __CUDA_ARCH__\n  return 0;\n#else\n  return 1;\n#endif\n}}\nint main() {{\n  int *p;\n  \
             cudaMalloc(&p, sizeof(int));\n  f<<<1, 1>>>(p, at());\n  cudaFree(p);\n}}\n"
        )
    };
    assert_eq!(writes_beyond("a.cu", &program("")), 1);
    assert_eq!(writes_beyond("a.cu", &program("static")), 1);
    // Its body has two meanings: the host calls its own.
    assert_eq!(writes_beyond("a.cu", &program("__host__ __device__")), 1);
    // Also through a macro, in a project that has a word for other compilers.
    let macros = "#ifndef __CUDACC__\n#define __device__\n#endif\n#define HD __host__ __device__\nHD";
    assert_eq!(writes_beyond("a.cu", &program(macros)), 1);
    // Nobody knows what the macro stands for.
    assert_eq!(writes_beyond("a.cu", &program("API_SPECIFIERS")), 0);
}

#[test]
fn mistakes_in_the_settings_are_told() {
    let sandbox = Sandbox::new(&[("cudalint.toml", "[parse]\ntoolkit = \"new\"\n"), ("a.cu", "int a;\n")]);
    let ran = sandbox.run(&["a.cu"]);
    assert!(ran.code == 2 && ran.stderr.contains("`parse.toolkit`: not a version"), "{ran:?}");
    sandbox.write("cudalint.toml", b"[parse]\nstandard = \"c99\"\n");
    let ran = sandbox.run(&["a.cu"]);
    assert!(ran.code == 2 && ran.stderr.contains("`parse.standard`: not a standard of C++"), "{ran:?}");
}

/// What nobody defines is not defined. Where there is no program for a GPU without it, it is an assumption.
#[test]
fn what_nobody_defines_is_not_defined() {
    let kernel = |open: &str, close: &str| {
        format!(
            "__global__ void k(int *o) {{
  __shared__ int t[64];
  t[threadIdx.x] = 1;
  __syncthreads();
{open}
  t[threadIdx.x + 1] = 3;
{close}
  o[threadIdx.x] = 4;
}}
"
        )
    };
    let main = |launch: &str| {
        format!(
            "int main() {{ int *o; if (cudaMalloc(&o, 256) != cudaSuccess) return 1;\n{launch}\nreturn cudaDeviceSynchronize(); }}\n"
        )
    };
    let run = "k<<<1, 64>>>(o);";
    let chosen = format!("#ifdef WITH_GPU\n{run}\n#else\no = 0;\n#endif");
    for (text, args, said) in [
        (kernel("", "") + &main(run), &[][..], "error"),
        (kernel("#ifdef TRACE_ALL", "#endif") + &main(run), &[], ""),
        (kernel("#ifdef TRACE_ALL", "#endif") + &main(run), &["-D", "TRACE_ALL"], "error"),
        (kernel("#ifndef QUIET", "#endif") + &main(run), &[], "error"),
        (kernel("#ifdef WITH_ROOM", "#else\n  o[0] = 3;\n#endif") + &main(run), &[], ""),
        (kernel("#ifdef WITH_ROOM\n  o[0] = 3;\n#else", "#endif") + &main(run), &[], "error"),
        (kernel("#ifdef __CUDA_ARCH__", "#endif") + &main(run), &[], "error"),
        (kernel("#ifndef TILE\n#error\n#endif\n#ifdef TILE", "#endif") + &main(run), &[], "error"),
        // The whole program for the GPU; and one of two programs.
        (format!("#ifdef WITH_GPU\n{}{}#endif\n", kernel("", ""), main(run)), &[], "error"),
        (kernel("#ifdef WITH_GPU", "#endif") + &main(&chosen), &[], "warning"),
        (kernel("#ifdef WITH_GPU", "#endif") + &main(&chosen), &["-D", "WITH_GPU=1"], "error"),
    ] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", text.as_bytes());
        let select = ["--select", "shared-index-out-of-range", "--output-format", "concise", "a.cu"];
        let ran = sandbox.run(&[&select, args].concat());
        let found =
            ["error", "warning"].into_iter().find(|level| ran.stdout.contains(&format!(" {level}[shared-index")));
        assert_eq!(found.unwrap_or(""), said, "{args:?}\n{text}\n{ran:?}");
    }
}

/// Each file of a program is read as the compiler meets it: headers where they are included, with what is defined up to there.
#[test]
fn directives_count_in_their_order() {
    let program = |before: &str, after: &str| {
        format!(
            "#include <cuda_runtime.h>\n{before}#include \"size.h\"\n{after}__global__ void k(int *p) {{ p[SIZE - 1] = 1; }}\n\
             int main() {{\n  int *p;\n  cudaMalloc(&p, 4);\n  k<<<1, 1>>>(p);\n  cudaFree(p);\n}}\n"
        )
    };
    let nested = "#pragma once\n#ifdef LARGE\n#define SIZE 2\n#else\n#define SIZE 1\n#endif\n";
    for (header, before, after, found) in [
        (nested, "", "", false),
        (nested, "#define LARGE\n", "", true),
        (nested, "", "#define LARGE\n", false),
        (nested, "#define LARGE\n#undef LARGE\n", "", false),
        (nested, "", "#undef SIZE\n#define SIZE 2\n", true),
        ("#define SIZE 2\n", "#define SIZE 1\n", "#undef SIZE\n#define SIZE 1\n", false),
        ("#ifndef SIZE\n#define SIZE 2\n#endif\n", "", "", true),
        ("#ifndef SIZE\n#define SIZE 2\n#endif\n", "#define SIZE 1\n", "", false),
        (
            "#ifndef SIZE\n#define SIZE 1\n#define TWICE 1\n#else\n#define TWICE 0\n#endif\n",
            "",
            "#if TWICE\n#undef SIZE\n#define SIZE 2\n#endif\n",
            true,
        ),
    ] {
        let sandbox = Sandbox::new(&[("size.h", header)]);
        sandbox.write("a.cu", program(before, after).as_bytes());
        let ran = sandbox.run(&["--select", "missing-bounds-guard", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("writes element 1 of"), found, "{header} {before} {after}: {ran:?}");
    }
}

/// A program for AMD's compiler is read with its macros, and one for both with nvcc's.
#[test]
fn a_program_for_hip_has_its_macros() {
    let text = |include: &str| {
        format!(
            "{include}
__global__ void k(int *o) {{
  __shared__ int t[64];
  t[threadIdx.x] = 1;
  __syncthreads();
#if !defined(__HIP_DEVICE_COMPILE__)
  t[threadIdx.x + 1] = 3;
#endif
  o[threadIdx.x] = t[threadIdx.x];
}}
void run(int *o) {{ k<<<1, 64>>>(o); }}
"
        )
    };
    for (include, found) in [
        ("#include <hip/hip_runtime.h>", false),
        ("#include <cuda_runtime.h>", true),
        ("#ifdef USE_HIP\n#include <hip/hip_runtime.h>\n#else\n#include <cuda_runtime.h>\n#endif", true),
    ] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", text(include).as_bytes());
        let ran = sandbox.run(&["--select", "shared-index-out-of-range", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("writes element 64"), found, "{include}: {ran:?}");
    }
}

#[test]
fn flags_of_build_files_make_the_heap_the_devices() {
    let text = "#include <cstdlib>
__global__ void twice(float *x) { x[threadIdx.x] *= 2; }
int main() {
    float *x = (float *)malloc(64 * sizeof(float));
    twice<<<1, 64>>>(x);
    return 0;
}
";
    for (name, flags, found) in [
        ("Makefile", "FLAGS = -O2 -gpu=cc80,managed\n", false),
        ("Makefile", "FLAGS = -O2 -gpu=cc80 # -gpu=managed\n", true),
        ("CMakeLists.txt", "target_compile_options(a PRIVATE -stdpar=gpu)\n", false),
    ] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", text.as_bytes());
        sandbox.write(name, flags.as_bytes());
        let ran = sandbox.run(&["--select", "wrong-address-space", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("points to host memory"), found, "{flags}: {ran:?}");
    }
}

#[test]
fn lanes_of_devices_that_a_makefile_names() {
    let text = "__global__ void sum(int *to) {
    __shared__ volatile int parts[64];
    int t = threadIdx.x;
    parts[t] = to[t];
    __syncthreads();
    if (t < 16) parts[t] += parts[t + 16];
    if (t < 8) parts[t] += parts[t + 8];
    to[t] = parts[0];
}
void run(int *to) { sum<<<1, 64>>>(to); }
";
    for (flags, found) in [("-arch=sm_75", true), ("-arch=sm_35", false), ("-code=sm_35 -arch=compute_35", false)] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", text.as_bytes());
        sandbox.write("Makefile", format!("a: a.cu\n\tnvcc {flags} a.cu\n").as_bytes());
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("in step"), found, "{flags}: {ran:?}");
    }
    // A script that compiles by hand, where no build file names a device.
    for (makefile, found) in [("a: a.cu\n\tnvcc a.cu\n", false), ("a: a.cu\n\tnvcc -arch=sm_80 a.cu\n", true)] {
        let sandbox =
            Sandbox::new(&[("a.cu", text), ("Makefile", makefile), ("run.sh", "nvcc -arch=sm_30 a.cu\n./a.out\n")]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{makefile}: {ran:?}");
    }
    // A makefile of another name, and projects of Visual Studio.
    for (flags, found) in [("-arch sm_11", false), ("-arch sm_80", true)] {
        let makefile = format!("FLAGS = {flags}\na: a.cu\n\tnvcc $(FLAGS) a.cu\n");
        let sandbox = Sandbox::new(&[("a.cu", text), ("Makefile.LIN", &makefile)]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{flags}: {ran:?}");
    }
    let project = |device: &str| {
        format!(
            "<Project><ItemGroup><CudaCompile Include=\"a.cu\" /></ItemGroup><CudaCompile><CodeGeneration>compute_{device},sm_{device}</CodeGeneration></CudaCompile></Project>\n"
        )
    };
    let cmake = "add_executable(a a.cu)\nset(CMAKE_CUDA_ARCHITECTURES 80)\n";
    for (devices, cmake, found) in
        [(["30", "50"], "", false), (["30", "75"], "", true), (["75", "30"], "", true), (["30", "30"], cmake, true)]
    {
        let [one, other] = devices.map(project);
        let mut files = vec![("a.cu", text), ("one.vcxproj", &one), ("other.vcxproj", &other)];
        files.extend((!cmake.is_empty()).then_some(("CMakeLists.txt", cmake)));
        let ran = Sandbox::new(&files).run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{devices:?} {cmake}: {ran:?}");
    }
    let script = "import subprocess\nsubprocess.run([\"nvcc\", \"-O3\",\n                \"-arch=sm_61\", \"a.cu\"])\n";
    let sandbox = Sandbox::new(&[("a.cu", text), ("tune.py", script)]);
    let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
    assert!(!ran.stdout.contains("in step"), "{ran:?}");
    for (device, found) in [("sm_30", false), ("sm_80", true)] {
        let project = format!("CUDA_ARCH = {device} # the device\ncuda.commands = nvcc -arch=$$CUDA_ARCH a.cu\n");
        let sandbox = Sandbox::new(&[("a.cu", text), ("cut.pro", &*project)]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{device}: {ran:?}");
    }
    // What `configure` takes where nobody gives another device.
    let chosen = "[CUDA_ARCH=\" -arch=sm_11\"],[CUDA_ARCH=\" -arch=$enableval\"]";
    for (name, text_of_it, makefile, found) in [
        ("configure.ac", format!("AS_IF([test x],{chosen})\n"), "AC_OUTPUT\n", false),
        ("configure.in", format!("AS_IF([test x],{chosen})\n"), "AC_OUTPUT\n", false),
        ("configure.ac", format!("AS_IF([test x],{chosen})\nNEW=sm_80\n"), "AC_OUTPUT\n", true),
        ("configure.ac", format!("dnl AS_IF([test x],{chosen})\n"), "AC_OUTPUT\n", true),
        ("m4/cuda.m4", format!("AS_IF([test x],{chosen})\n"), "AC_OUTPUT\n", false),
        ("configure.ac", format!("AS_IF([test x],{chosen})\n"), "NVCCFLAGS = -arch=sm_80\n", true),
    ] {
        let more = if name == "m4/cuda.m4" { ("configure.ac", "m4_include([m4/cuda.m4])\n") } else { ("x.txt", "") };
        let sandbox = Sandbox::new(&[("a.cu", text), (name, &*text_of_it), ("Makefile.am", makefile), more]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{name} {text_of_it} {makefile}: {ran:?}");
    }
    // The lines that somebody pastes, under a name of their own.
    for (name, line, found) in [
        ("compile.txt", "nvcc -arch=sm_20 a.cu\n", false),
        ("makeOld", "a:\n\tnvcc -arch=sm_20 a.cu\n", false),
        ("makeNew", "a:\n\tnvcc -arch=sm_75 a.cu\n", true),
        ("notes.md", "nvcc -arch=sm_20 a.cu\n", true),
    ] {
        let sandbox = Sandbox::new(&[("a.cu", text), (name, line)]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "."]);
        assert_eq!(ran.stdout.contains("in step"), found, "{name}: {ran:?}");
    }
    // A header that the last SDK had which knew only such devices.
    for (header, found) in [("cutil_inline.h", false), ("cuda_runtime.h", true)] {
        let text = format!("#include <{header}>\n{text}");
        let sandbox = Sandbox::new(&[("a.cu", &*text)]);
        let ran = sandbox.run(&["--select", "implicit-warp-sync", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("in step"), found, "{header}: {ran:?}");
    }
}

/// Where a header is out of sight, names may come from a neighbour; but not what the file has a default for.
#[test]
fn defaults_beside_headers_out_of_sight() {
    let told = |own: &str| {
        let text = format!(
            "#include \"../far/away.cuh\"\n{own}__global__ void k(int *to) {{\n    __shared__ int all[1 << BITS];\n    \
             all[threadIdx.x] = 1;\n    to[threadIdx.x] = all[0];\n}}\n"
        );
        let sandbox = Sandbox::new(&[("a.cu", &*text), ("kernel.cuh", "#define BITS 14\n__device__ int f();\n")]);
        let ran = sandbox.run(&["--select", "shared-memory-over-limit", "--output-format", "concise", "."]);
        ran.stdout.contains("65536 bytes")
    };
    assert!(told(""));
    assert!(!told("#ifndef BITS\n#define BITS 11\n#endif\n"));
}

#[test]
fn macros_in_front_of_kernels_hide_none() {
    let body = "{ __shared__ float s[256]; int t = threadIdx.x; s[t] = d[t]; d[t] = s[255 - t]; }";
    let cases = [
        "#define X // comment\n__global__ void k(float *d) BODY",
        "#ifdef A\n#define X a(1)\n#else\n#define X // nothing\n#endif\nstatic __device__ int f(int a) { return a; }\n\
         __global__ void k(float *d) BODY",
        "#if CUDART_VERSION >= 12000\n#define K __global__ __launch_bounds__(256) void\n#else\n#define K __global__ void\n\
         #endif\nK k(float *d) BODY",
        "#ifdef __CUDACC__\n#define K extern \"C\" __global__ void\n#else\n#define K void\n#endif\nK k(float *d) BODY",
        "#ifdef HIDE\n#define K __attribute__((visibility(\"hidden\"))) static __global__ void\n#else\n\
         #define K static __global__ void\n#endif\ntemplate <typename T> K k(T *d) BODY",
    ];
    for text in cases {
        let sandbox = Sandbox::new(&[("a.cu", &text.replace("BODY", body))]);
        let ran = sandbox.run(&["--select", "shared-memory-race", "--output-format", "concise", "a.cu"]);
        assert!(ran.stdout.contains("thread 255 writes element 255 of `s`"), "{text}: {ran:?}");
    }
}

/// A branch that nobody decides is read as a whole: a look at the last error counts where what it found is kept in a variable, too.
#[test]
fn variables_of_a_branch_that_nobody_decides_belong_to_it() {
    let look = "cudaDeviceSynchronize();\n    cudaError_t status = cudaGetLastError();\n    if (status != cudaSuccess) return false;\n";
    for behind in ["return true;", "int other = 0; return !other;"] {
        let text = format!(
            "__global__ void k(float *p);\nbool run(float *p) {{\n    cudaError_t before = cudaGetLastError();\n    if (before) return false;\n#ifdef CAREFUL\n    {look}#endif\n    {behind}\n}}\n"
        );
        let sandbox = Sandbox::new(&[("a.cu", &text), ("Makefile", "all:\n\tnvcc -DCAREFUL a.cu\n")]);
        let ran = sandbox.run(&["--select", "unchecked-api-call", "--output-format", "concise", "."]);
        assert!(!ran.stdout.contains("unchecked-api-call"), "{behind}: {ran:?}");
    }
}

/// What a header that is not here, or a build file, may define is not known: neither branch is the program.
#[test]
fn names_that_somebody_out_of_sight_may_define_are_not_known() {
    let main = "__global__ void k(float *d) { __shared__ float s[N]; s[threadIdx.x] = 1; __syncthreads(); d[threadIdx.x] = s[0]; }
int main() { float *d; cudaMalloc(&d, 512); k<<<1, 128>>>(d); return cudaDeviceSynchronize(); }
";
    let sized = |condition: &str| format!("#{condition}\n#define N 32\n#else\n#define N 128\n#endif\n");
    let usual = "#ifndef N\n#define N 32\n#endif\n";
    let run = "N = 128\nrun:\n\tnvcc -DTILE=4 -DN=$(N) a.cu\n";
    for (before, build, found) in [
        ("#include <vector>\n".to_owned() + &sized("ifndef WIDE"), "", true),
        ("#include \"../common.h\"\n".to_owned() + &sized("ifndef WIDE"), "", false),
        (sized("ifndef WIDE") + "#include \"../common.h\"\n", "", true),
        ("#ifdef OTHER\n#include \"../common.h\"\n#endif\n".to_owned() + &sized("ifndef WIDE"), "", true),
        ("#include <tools/base.h>\n".to_owned() + &sized("ifndef WIDE"), "", true),
        ("#include <tools/base.h>\n".to_owned() + &sized("ifndef TOOLS_WIDE"), "", false),
        ("#include <tools/config.h>\n".to_owned() + &sized("ifndef WIDE"), "", false),
        ("#include \"../common.h\"\n".to_owned() + &sized("if !WIDE"), "", false),
        ("#include \"../common.h\"\nconstexpr int WIDE = 0;\n".to_owned() + &sized("if !WIDE"), "", true),
        ("#include SETTINGS\n".to_owned() + usual, "", false),
        ("#define SETTINGS \"size.h\"\n#include SETTINGS\n".to_owned() + usual, "", false),
        (usual.to_owned(), "", true),
        (usual.to_owned(), run, false),
        (sized("ifdef TILE"), run, false),
        (sized("ifndef OTHER"), run, true),
        // The narrow one is only kept for a while.
        (
            "#define N 128\n#pragma push_macro(\"N\")\n#undef N\n#define N 32\n#pragma pop_macro(\"N\")\n".to_owned(),
            "",
            false,
        ),
        (
            "#define N 32\n#pragma push_macro(\"N\")\n#undef N\n#define N 128\n#pragma pop_macro(\"N\")\n".to_owned(),
            "",
            true,
        ),
        ("#include \"first.h\"\n".to_owned(), "", false),
    ] {
        let sandbox = Sandbox::new(&[
            ("size.h", "#define N 128\n"),
            ("first.h", "#pragma once\n#include \"second.h\"\n#define WIDE\n"),
            (
                "second.h",
                "#pragma once\n#include \"first.h\"\n#ifdef WIDE\n#define N 32\n#else\n#define N 128\n#endif\n",
            ),
        ]);
        sandbox.write("a.cu", (before.clone() + main).as_bytes());
        if !build.is_empty() {
            sandbox.write("Makefile", build.as_bytes());
        }
        let ran = sandbox.run(&["--select", "shared-index-out-of-range", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("thread 32 writes element 32"), found, "{before}{build}: {ran:?}");
    }
}

/// A name that stands alone is a macro. What a header that is not here makes of it may check the launch before it.
#[test]
fn a_macro_that_nobody_knows_may_check() {
    let program = |before: &str, check: &str| {
        format!(
            "{before}__global__ void k(float *d) {{ d[threadIdx.x] = 1; }}\nvoid run(float *d) {{ k<<<1, 128>>>(d); {check} }}\n"
        )
    };
    let two = "#include \"base.h\"\n#ifdef NO_GPU\n#define STUB\n#else\n#define CHECK_LAST {}\n#endif\n";
    for (before, check, found) in [
        ("#include \"base.h\"\n".to_owned(), "SYNC_AND_CHECK;", false),
        ("#define SYNC_AND_CHECK\n".to_owned(), "SYNC_AND_CHECK;", true),
        (two.replace("{}", "if (cudaGetLastError()) throw 1"), "CHECK_LAST;", false),
        (two.replace("{}", ""), "CHECK_LAST;", true),
        (two.replace("{}", "if (cudaGetLastError()) throw 1").replace("ifdef", "ifndef"), "CHECK_LAST;", false),
        ("static int COUNT;\n".to_owned(), "COUNT++;", true),
    ] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(&before, check).as_bytes());
        let ran = sandbox.run(&["--select", "unchecked-launch", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("does not check the launch"), found, "{before}{check}: {ran:?}");
    }
}

/// Statements of which nobody knows whether they are compiled are not taken for done.
#[test]
fn statements_that_nobody_knows_of_decide_nothing() {
    let program = |size: &str| {
        format!(
            "#include <cuda_runtime.h>\n#include \"base.h\"\n__global__ void k(float *d) {{ d[threadIdx.x] = 1; }}\n\
             int main() {{\n  float *d;\n  int n = 128;\n{size}\n  cudaMalloc(&d, 4 * n);\n  k<<<1, 128>>>(d);\n  return cudaFree(d);\n}}\n"
        )
    };
    for (size, found) in [
        ("n = 32;", true),
        ("#ifdef NARROW\nn = 32;\n#endif", false),
        ("#ifndef WIDE\nn = 32;\n#endif", false),
        ("#ifdef NARROW\nn = 32;\n#else\nn = 128;\n#endif", false),
        ("#ifdef NARROW\nn = 32;\n#else\nn = 16;\n#endif\n", false),
        ("#ifdef WIDE\nn = 256;\n#elif defined(NARROW)\nn = 32;\n#endif", false),
        ("#ifdef WIDE\nn = 256;\n#endif\nn = 32;", true),
        ("#ifdef NARROW\nint m = 32;\n#else\nint m = 128;\n#endif\nn = m;", false),
        ("#ifdef NARROW\nn = 32; int m = 4;\n#else\nint m = 128;\n#endif\nn *= m / m;", false),
        ("#ifdef NARROW\n#ifdef __CUDACC__\nn = 32;\n#endif\n#endif", false),
    ] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(size).as_bytes());
        let ran = sandbox.run(&["--select", "missing-bounds-guard", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("no condition keeps it out"), found, "{size}: {ran:?}");
    }
}

/// What an object holds that only such a branch makes is not lost where nobody knows the object any more.
#[test]
fn objects_of_a_branch_that_nobody_decides_lose_nothing() {
    let program = "#include <cuda_runtime.h>\n#include <cstdio>\n\
                   struct Timer {\n  cudaEvent_t start, stop;\n  Timer() { cudaEventCreate(&start); cudaEventCreate(&stop); }\n  \
                   ~Timer() { cudaEventDestroy(start); cudaEventDestroy(stop); }\n  float read() { float time = 0; cudaEventRecord(stop); \
                   cudaEventSynchronize(stop); cudaEventElapsedTime(&time, start, stop); return time; }\n};\n\
                   void one(int n) {\n#ifdef VERBOSE\n  Timer timer;\n#endif\n  void *a;\n  cudaMalloc(&a, 12);\n  \
                   if (n > 3) cudaMemset(a, 0, 12);\n  cudaFree(a);\n#ifdef VERBOSE\n  printf(\"%f\\n\", timer.read());\n#endif\n}\n\
                   int main(int argc, char **) { for (int i = 0; i < argc; i++) one(i); }\n";
    for build in ["", "list(APPEND CUDA_NVCC_FLAGS \"-O2;-DVERBOSE\")\n"] {
        let sandbox = Sandbox::new(&[("CMakeLists.txt", build)]);
        sandbox.write("a.cu", program.as_bytes());
        let ran = sandbox.run(&["--select", "device-resource-leak", "--output-format", "concise", "."]);
        assert!(!ran.stdout.contains("device-resource-leak"), "{build}: {ran:?}");
    }
}

/// What a header declares hangs on the build of what includes it, wherever that lies.
#[test]
fn names_that_the_build_of_another_folder_may_define() {
    let size = "#pragma once\n#ifndef N\n#define N 32\n#endif\n";
    let kernel = "#pragma once\n#include \"size.h\"\n__global__ void k(float *d) { __shared__ float s[N]; s[threadIdx.x] = 1; __syncthreads(); d[threadIdx.x] = s[0]; }\n";
    let main = "#include \"../include/kernel.cuh\"\nint main() { float *d; cudaMalloc(&d, 512); k<<<1, 128>>>(d); return cudaDeviceSynchronize(); }\n";
    let told = |folder: &str| {
        let makefile = (&*format!("{folder}/Makefile"), "run:\n\tnvcc -I../include -DN=128 main.cu\n");
        let files = [("include/size.h", size), ("include/kernel.cuh", kernel), ("examples/main.cu", main), makefile];
        let ran = Sandbox::new(&files).run(&["--select", "shared-index-out-of-range", "."]);
        ran.stdout.contains("shared-index-out-of-range")
    };
    assert!(!told("examples"));
    assert!(told("other"));
}

/// Of a variable that two branches declare with several types, where nobody knows which is the program, the size is not known either.
#[test]
fn variables_that_branches_declare_with_several_types() {
    let program = |other: &str| {
        format!(
            "#include \"settings.h\"\n__constant__ double kept[12];\nint update(double g) {{\n#ifdef NARROW\n    float own[12];\n#else\n    {other}\n#endif\n    own[0] = g;\n    return cudaMemcpyToSymbol(kept, &own[0], 12 * sizeof(double));\n}}\n"
        )
    };
    for (other, found) in [("double own[12];", false), ("double  more[4], own[12];", false), ("float own[12];", true)] {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(other).as_bytes());
        let ran = sandbox.run(&["--select", "copy-exceeds-allocation", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("holds 48"), found, "{other}: {ran:?}");
    }
}

/// Macros of test and log libraries, whose headers are out of sight, evaluate what is streamed into them only where they fail.
#[test]
fn messages_of_checks_are_made_on_failure() {
    let program = |check: &str, message: &str| {
        format!(
            "#include <gtest/gtest.h>\nTEST(Frees, Once) {{\n    float *p;\n    cudaMalloc(&p, 4);\n    {check}(cudaFree(p), cudaSuccess) << \"failed: \" << cudaGetErrorString({message});\n}}\n"
        )
    };
    for (check, message, found) in
        [("ASSERT_EQ", "cudaFree(p)", false), ("CHECK_EQ", "cudaFree(p)", false), ("compared", "cudaFree(p)", true)]
    {
        let sandbox = Sandbox::new(&[]);
        sandbox.write("a.cu", program(check, message).as_bytes());
        let ran = sandbox.run(&["--select", "bad-free", "--output-format", "concise", "a.cu"]);
        assert_eq!(ran.stdout.contains("bad-free"), found, "{check}: {ran:?}");
    }
}
