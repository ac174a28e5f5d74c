//! Launches that are there and not plain to see: in lambdas that code out of sight gets, behind macros.
#![allow(clippy::panic)]

mod common;

use common::of;

const HEAD: &str = "#include <cuda_runtime.h>
#include <cstdlib>
#include <functional>
#include <thread>
__global__ void fill(int *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] = i; }
void go(std::function<void (cudaStream_t)> f);
template <typename F> void later(F f);
struct Pool { void add(std::function<void ()> f); };
";

fn count(rule: &str, text: &str) -> usize {
    of(rule, &format!("{HEAD}{text}")).len()
}

#[test]
fn a_lambda_that_code_out_of_sight_gets_may_run() {
    let launch = "fill<<<100, dim3(100, 100)>>>(p, 10000);";
    for handed in [
        format!("auto f = [=](cudaStream_t s) {{ {launch} }}; go(f);"),
        format!("go([=](cudaStream_t s) {{ {launch} }});"),
        format!("later([&] {{ {launch} }});"),
        format!("Pool pool; pool.add([=] {{ {launch} }});"),
        format!("std::thread t([=] {{ {launch} }}); t.join();"),
        format!("std::function<void (cudaStream_t)> f = [=](cudaStream_t s) {{ {launch} }}; go(f);"),
        format!("later([=] {{ if (p == nullptr) exit(1); {launch} }}); "),
    ] {
        let text = format!("void run(int *p) {{ {handed} }}");
        assert_eq!(count("launch-exceeds-device-limit", &text), 1, "{handed}");
    }
    // Nobody gets it.
    let text = format!("void run(int *p) {{ auto f = [=] {{ {launch} }}; }}");
    assert_eq!(count("launch-exceeds-device-limit", &text), 0);
}

#[test]
fn what_a_lambda_captures_may_have_changed_when_it_runs() {
    for text in [
        "void run(int *p) { int n = 2048; later([&] { fill<<<1, n>>>(p, 64); }); n = 64; }",
        "void run() { int *p; cudaMalloc(&p, 256); later([&] { fill<<<1, 64>>>(p, 128); }); }",
        "int threads = 2048; void run(int *p) { later([=] { fill<<<1, threads>>>(p, 64); }); }",
    ] {
        for rule in ["launch-exceeds-device-limit", "global-out-of-bounds", "use-after-free"] {
            assert_eq!(count(rule, text), 0, "{rule}: {text}");
        }
    }
    // It may run any number of times, or never: nothing of it is sure behind the call.
    for text in [
        "void run() { int *p; cudaMalloc(&p, 256); later([=] { cudaFree(p); }); fill<<<1, 64>>>(p, 64); cudaFree(p); }",
        "void run() { int *p; cudaMalloc(&p, 256); later([&] { cudaFree(p); }); later([&] { cudaFree(p); }); }",
        "void run(int n) { int *p; cudaMalloc(&p, 256); later([&] { if (n > 64) exit(1); fill<<<1, 64>>>(p, n); });
cudaFree(p); }",
    ] {
        for rule in ["use-after-free", "double-free", "bad-free", "memory-leak", "lost-allocation"] {
            assert_eq!(count(rule, text), 0, "{rule}: {text}");
        }
    }
}

#[test]
fn a_macro_may_be_what_configures_a_launch() {
    let program = |define: &str, launch: &str| {
        format!("{define}\nvoid run(int *p) {{\n    dim3 grid(4), block(64, 64);\n    {launch}\n}}\n")
    };
    let plain = "#define ARGS(grid, block) <<< grid, block >>>";
    for (define, launch) in [
        (plain, "fill ARGS(grid, block) (p, 64);"),
        (plain, "fill ARGS(grid, block)(p, 64);"),
        (plain, "fill ARGS(dim3(2, 2), dim3(64, 64)) (p, 64);"),
        (plain, "do fill ARGS(4, 2048) (p, 64); while (false);"),
        (plain, "::fill ARGS(4, 2048) (p, 64);"),
        (
            "#ifdef __CUDACC__\n#define ARGS(grid, block) <<<grid,block>>>\n#else\n#define ARGS(grid, block)\n#endif",
            "fill ARGS(4, 2048) (p, 64);",
        ),
        ("#define ARGS3(grid, block, bytes) <<< grid, block, bytes >>>", "fill ARGS3(grid, block, 64) (p, 64);"),
        ("#define CONF(g, b, m, s) <<<g, b, m, s>>>", "fill CONF(grid, block, 0, 0) (p, 64);"),
    ] {
        assert_eq!(count("launch-exceeds-device-limit", &program(define, launch)), 1, "{launch}");
    }
    let template = "template <typename T> __global__ void put(T *p) { p[threadIdx.x] = 1; }";
    let text = program(&format!("{plain}\n{template}"), "put<int> ARGS(grid, block) (p);");
    assert_eq!(count("launch-exceeds-device-limit", &text), 1);
    // Other launches are well, and so are other macros.
    for (define, launch) in [
        (plain, "fill ARGS(grid, 64) (p, 64);"),
        ("#define ARGS(block, grid) <<< grid, block >>>", "fill ARGS(block, 4) (p, 64);"),
        ("#define ARGS(a, b)", "fill ARGS(4, 2048) (p, 64);"),
    ] {
        assert_eq!(count("launch-exceeds-device-limit", &program(define, launch)), 0, "{launch}");
    }
}
