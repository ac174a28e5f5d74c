//! Launches that are there and not plain to see: in lambdas that code out of sight gets, behind macros, of objects whose copies free.
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

#[test]
fn a_copy_whose_destructor_frees_under_conditions_that_hold() {
    let told = |fields: &str, methods: &str, before: &str| {
        let text = format!(
            "bool ask();
struct Vec {{ int n; int *p; {fields} {methods} }};
__global__ void use(const Vec v) {{ if (threadIdx.x < v.n) v.p[threadIdx.x] = 1; }}
void run(int n, bool some) {{ {before} use<<<1, 64>>>(v); cudaDeviceSynchronize(); }}
"
        );
        count("non-trivial-kernel-argument", &text)
    };
    let on_device = "Vec(int n_, bool d) : n(n_), onDevice(d) { if (onDevice) cudaMalloc(&p, n * 4); else p = (int *)malloc(n * 4); }
~Vec() { if (onDevice) { cudaFree(p); } else { free(p); } }";
    assert_eq!(told("bool onDevice;", on_device, "Vec v(n, true);"), 1);
    let guarded =
        "void alloc() { cudaMalloc((void **)&p, n * 4); owned = true; } ~Vec() { if (!owned) return; cudaFree(p); }";
    assert_eq!(told("bool owned = false;", guarded, "Vec v; v.n = n; v.alloc();"), 1);
    let null = "Vec(int n_) : n(n_) { cudaMalloc(&p, n * 4); } ~Vec() { if (p) cudaFree(p); }";
    assert_eq!(told("", null, "Vec v(n);"), 1);
    // Nothing is freed, nobody knows, or it is not the copy's.
    assert_eq!(told("bool onDevice;", on_device, "Vec v(n, some);"), 0);
    assert_eq!(told("bool onDevice;", on_device, "Vec v(n, ask());"), 0);
    assert_eq!(told("bool owned = false;", guarded, "int *q; cudaMalloc(&q, n * 4); Vec v; v.n = n; v.p = q;"), 0);
    assert_eq!(told("bool owned = false;", guarded, "Vec v; v.n = n; v.alloc(); v.owned = false;"), 0);
    assert_eq!(told("bool owned = false;", guarded, "Vec v; v.n = n; v.alloc(); v.owned = ask();"), 0);
    let copies = "Vec(int n_) : n(n_), owned(true) { cudaMalloc(&p, n * 4); } Vec(const Vec &o) : n(o.n), p(o.p), owned(false) {}
~Vec() { if (owned) cudaFree(p); }";
    assert_eq!(told("bool owned;", copies, "Vec v(n);"), 0);
    let counted = "Vec(int n_) : n(n_) { cudaMalloc(&p, n * 4); live++; } ~Vec() { if (--live == 0) cudaFree(p); } static int live;";
    assert_eq!(told("", counted, "Vec v(n);"), 0);
    let asked = "Vec(int n_) : n(n_) { cudaMalloc(&p, n * 4); } ~Vec() { if (ask()) cudaFree(p); }";
    assert_eq!(told("", asked, "Vec v(n);"), 0);
    assert_eq!(told("", null, "Vec v(*(Vec *)nullptr);"), 0);
    let given = "void run2(const Vec &v) { use<<<1, 64>>>(v); }";
    let text =
        format!("struct Vec {{ int n; int *p; {null} }};\n__global__ void use(const Vec v) {{ v.p[0] = 1; }}\n{given}");
    assert_eq!(count("non-trivial-kernel-argument", &text), 0);
}
