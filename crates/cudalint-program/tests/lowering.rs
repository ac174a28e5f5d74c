//! What the front end makes of small sources, as pseudo-code.
#![allow(clippy::unwrap_used, clippy::panic)]

use cudalint_program::ir::{Expr, Module, ModuleId, Stmt};
use cudalint_program::{ProjectOptions, load_texts};
use std::fmt::Write as _;

fn module(text: &str) -> &'static Module {
    let program = load_texts(&[("a.cu", text)], &ProjectOptions::default()).unwrap();
    // As long as the test.
    Box::leak(Box::new(program)).project.module(ModuleId(0))
}

fn dump(text: &str) -> String {
    module(text).dump()
}

#[test]
fn declarations() {
    insta::assert_snapshot!(dump(
        r#"
namespace a::b { namespace { int hidden(); } inline namespace v1 { int shown; } }
extern "C" { void c_function(int); }
struct alignas(16) Point : public Base<int> {
    float x, y;
    int *next, table[4];
    static const int COUNT = 4;
    Point(int value) : x(value), table{1, 2} {}
    virtual ~Point();
    __host__ __device__ int operator()(int i) const { return table[i]; }
    union { int u1; float u2; };
    unsigned bits : 3;
};
Point::Point(float v) : x(v) { y = v; }
template <typename T, int N = 4, typename... Ts> struct Box { T item[N]; };
template <> struct Box<int, 2> { int one; };
typedef struct { float re, im; } Complex;
typedef void (*Callback)(int);
using Matrix = float[4][4];
enum class Color : unsigned char { Red, Green = 5, Blue };
enum { BLOCK = 1 << 8, HALF = BLOCK / 2 };
__constant__ float table[16];
__device__ int counter = 3;
__managed__ int shared_state;
static int in_file = 1;
extern int elsewhere;
dim3 launch_shape(16, 16);
template void run<float>(float*);
template <class T> __global__ void __launch_bounds__(256, 2) kernel(const T* __restrict__ in, T* out, int n);
auto trailing(int a) -> float { return a; }
"#
    ));
}

#[test]
fn statements() {
    insta::assert_snapshot!(dump(
        r#"
int f(int n, float* p) {
    for (int i = 0, j = n; i < n; ++i, j--) { if (i == 2) continue; else if (j) break; else return 1; }
    while (int x = next()) p[x] = 0;
    do { n -= 1; } while (n > 0);
    switch (n) { case 1: case 2: n++; break; default: n = 0; }
    for (auto& e : items) e += 1;
    if (int e = check(); e != 0) throw e;
    try { risky(); } catch (const std::exception& e) { log(e); } catch (...) {}
    auto [first, second] = pair();
again:
    asm volatile("mov.u32 %0, %1;" : "=r"(n) : "r"(n + 1));
    goto again;
    static_assert(sizeof(int) == 4, "int");
    { int n = 5; p[n] = 1; }
    return n;
}
"#
    ));
}

#[test]
fn expressions_and_types() {
    insta::assert_snapshot!(dump(
        r#"
void f(const unsigned char* bytes, size_t n, float4 v, float (*rows)[16]) {
    unsigned long long a = (unsigned long long)n * sizeof(float) + sizeof(*bytes);
    int b = static_cast<int>(n) + int(3.5f), c = -1, *d = nullptr;
    float* q = new float[n]; delete[] q;
    float4 w = make_float4(1.f, 2, 3, 4); v.x = w.y;
    std::vector<float> data(n, 0.f), list{1, 2};
    bool both = n > 1 && n < 10 || !a;
    a = n ? 0x10ull : 1'000; a <<= 2; b = d++ - --d;
    const char* text = "one " "two\n"; char letter = '\n';
    Complex z = {.re = 1, .im = 2}; use(Complex{1, 2}, {3, 4}, (1, 2));
    double limit = FLT_MAX; int m = INT_MAX, code = EXIT_FAILURE;
    int (*fn)(int) = g; half h; __nv_bfloat16 bf; int64_t big; decltype(n) same;
    a = p->get<3>(n) + 1;
}
"#
    ));
}

#[test]
fn launches() {
    insta::assert_snapshot!(dump(
        r"
void run(float* p, int n, cudaStream_t s) {
    dim3 grid((n + 255) / 256), block(256);
    k<<<grid, block>>>(p, n);
    ns::k<float, 4><<<1, dim3(16, 16), n * sizeof(float), s>>>(p);
    auto kernel = &k;
    kernel<<<1, 2>>>(p);
    void* args[] = {&p, &n};
    cudaLaunchKernel((const void*)k, grid, block, args, 0, s);
    cudaLaunchCooperativeKernel((void*)&k<float>, grid, block, args);
    cudaLaunchKernelEx(&config, k, p, n);
    cudaLaunchKernel(kernel, grid, block, args, 0, s);
}
"
    ));
}

#[test]
fn shared_memory_and_lambdas() {
    insta::assert_snapshot!(dump(
        r"
template <int N> __global__ void k(int* out) {
    __shared__ float tile[16][N + 1];
    extern __shared__ __align__(16) unsigned char raw[];
    __shared__ __align__(8) char small[4];
    int i = threadIdx.x;
    auto add = [=] __device__ (int x) { return x + i; };
    auto nested = [&, base = out[0]](auto y) { return [&] { return base + i + y; }; };
    out[i] = add(1);
}
"
    ));
}

#[test]
fn silent_misreadings_are_undone() {
    insta::assert_snapshot!(dump(
        r"
struct Thing { int w; };
void f(int a, int b, int c, int d, float* q, float m[4][16]) {
    dim3 one(a), two(a, b), three(a * b, grid_of(c)), four(sizeof(int));
    Thing declared(int);
    float (*rows)[16] = m;
    float (&row)[16] = m[0];
    a = (b) + (c) * d;
    a = (b) - c * (d) - 1;
    a = 2 * (b) + c;
    if (a<b && c>(d)) a = 1;
    for (int i = 0; i<size<0>(q); i++) {}
    a = (Thing)-b;
    FOR_EACH(i, a) { q[i] = 0; }
}
"
    ));
}

/// The grammar reads `void (*f)(Thing) = k` as an assignment to the result of a call.
#[test]
fn a_pointer_to_a_function_is_declared() {
    let text = dump(
        r"
struct Thing { int w; };
__global__ void k(Thing t) {}
void run(Thing t) { void (*f)(Thing) = k; f<<<1, 32>>>(t); g(*f)(t) = 3; }
",
    );
    assert!(text.contains("let f: function* = k"), "{text}");
    assert!(text.contains("launch %f"), "{text}");
}

/// A macro that makes the name of a kernel makes it where it is declared, too.
#[test]
fn a_name_that_a_macro_makes() {
    let text = dump(
        r"
#define JOIN(a, b) a##b
#define NAME(a) get_##a##_kernel
#define LONG_NAME(a) JOIN(a, _long)
__global__ void NAME(spd)(float *p) {}
__global__ void LONG_NAME(spd)(float *p) {}
__global__ void UNKNOWN(spd)(float *p) {}
",
    );
    assert!(text.contains("global get_spd_kernel(p: f32*)"), "{text}");
    assert!(text.contains("global spd_long(p: f32*)"), "{text}");
    assert!(text.contains("global spd(p: f32*)"), "{text}");
}

/// The grammar reads `(b) && (c)` as a cast of `&(&(c))`.
#[test]
fn a_name_in_parentheses_before_and_is_no_cast() {
    let text = dump(
        r"
#define IN_RANGE(x, low, high) ((x) >= (low) && (x) <= (high))
void f(int a, int b, int c, int* q) {
    if (IN_RANGE(a, 0, b)) q[a] = 0;
    if ((a) && (b) && c < 3) q[a] = 1;
    a = (b) & c;
}
",
    );
    assert_eq!(text.matches("&&").count(), 3, "{text}");
    assert!(text.contains("%a = (%b And %c)"), "{text}");
}

#[test]
fn macros() {
    insta::assert_snapshot!(dump(
        r#"
#define N 256
#define BYTES (N * sizeof(float))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \
    fprintf(stderr, "failed: %s at %d\n", #call, __LINE__); exit(EXIT_FAILURE); } } while (0)
#define LOG(fmt, ...) printf(fmt, ##__VA_ARGS__)
#define REAL double
#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define KERNEL(T) __global__ void k_##T(T* p) { p[0] = 1; }
#define DECLARE(T, name) T name = 0
#define SELF SELF + 1
#define SWAP(T, a, b) { T t = a; a = b; b = t; }
KERNEL(int)
KERNEL(float)
__global__ void fill(REAL* p, int n) { LOOP(i, n) { p[i] = MAX(i, MAX(n, 3)); } }
int main() {
    float *d, *e;
    CHECK(cudaMalloc(&d, BYTES));
    CHECK(CHECKED(1));
    LOG("a"); LOG("b %d", N);
    DECLARE(int, counter); counter = SELF;
    SWAP(float*, d, e);
    UNKNOWN_MACRO(d);
    REAL r = (REAL)N;
}
"#
    ));
}

#[test]
fn arguments_keep_their_place() {
    let text = "#define CHECK(x) do { if ((x) != 0) exit(1); } while (0)\nvoid f() { CHECK(cudaFree(p)); }\n";
    let module = module(text);
    let call = text.rfind("cudaFree").unwrap() as u32;
    let site = text.rfind("CHECK").unwrap() as u32;
    let spans: Vec<(u32, bool)> = module
        .exprs
        .iter()
        .filter(|node| matches!(node.kind, Expr::Call { .. }))
        .map(|node| (node.span.start, module.expansion(node).is_some_and(|name| *name == "CHECK")))
        .collect();
    assert_eq!(spans, [(call, true), (site, true)], "the argument's own place, and the macro's call for the rest");
}

#[test]
fn functions_that_macros_name() {
    let text = "#define CASE(name, what) static void name()
CASE(one, 3) {
    cudaFree(p);
}
void MANGLED_(two, TWO)(int *n) { cudaFree(n); }
TEST(Suite, three) { cudaFree(p); }
";
    let module = module(text);
    let names: Vec<&str> = module.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["one", "two", "TEST(Suite, three)"]);
    let calls = module.exprs.iter().filter(|node| matches!(node.kind, Expr::Call { .. })).map(|node| node.span.start);
    let written: Vec<u32> = text.match_indices("cudaFree").map(|(at, _)| at as u32).collect();
    assert_eq!(calls.collect::<Vec<_>>(), written);
    let two = module.functions.iter().find(|function| *function.name == *"two").unwrap();
    assert_eq!((two.param_count, &*two.locals.first().unwrap().name), (1, "n"));
}

#[test]
fn code_for_a_target() {
    let text = "
void of_host(float *p) { NV_IF_TARGET(NV_IS_HOST, (one(p); two(p);), (lost(p);)) }
__device__ void of_device(float *p) { NV_DISPATCH_TARGET(NV_IS_HOST, (lost(p);), NV_PROVIDES_SM_70, (one(p);), NV_IS_DEVICE, (two(p);)); }
__host__ __device__ void of_both(float *p) { NV_IF_ELSE_TARGET(NV_IS_DEVICE, (one(p);), (two(p);)) }
";
    insta::assert_snapshot!(dump(text));
}

#[test]
fn conditional_branches() {
    insta::assert_snapshot!(dump(
        r"
#ifndef GUARD_H
#define GUARD_H
#define SIZE 4
#if SIZE > 3
int big;
#else
int small;
#endif
#ifdef _WIN32
int windows;
#elif defined(__CUDACC__)
int nvcc;
#endif
void f() {
#if 0
    dropped();
#endif
#ifdef UNKNOWN_SWITCH
    first();
#else
    second();
#endif
#ifndef UNKNOWN_SWITCH
    not_with_first();
#endif
#if __CUDA_ARCH__ >= 700
    device_part();
#endif
}
__device__ void g() {
#if __CUDA_ARCH__ >= 700
    device_part();
#endif
}
#endif
"
    ));
}

#[test]
fn comments_that_stand_for_code() {
    insta::assert_snapshot!(dump(
        r"
int main() {
    float *d_in, *data;
    // ... allocate d_in and data as before ...
    cudaMemcpy(d_in, data, 4, cudaMemcpyHostToDevice);
    // allocate device memory
    cudaMalloc(&d_in, 4);
    // one thread an element: 0, 1, ..., n
    int n = 3;  // ... trailing
    // ... kernel launch ...

    // free memory
}
"
    ));
}

#[test]
fn damage_stays_local() {
    let module = module("void bad() { int x = = 3; use(x); } \nvoid good() { int y = 3; use(y); }\n");
    let flags: Vec<(String, bool)> = module.functions.iter().map(|f| (f.name.to_string(), f.damaged)).collect();
    assert_eq!(flags, [("bad".to_owned(), true), ("good".to_owned(), false)]);
}

#[test]
fn deep_and_long_code_ends_in_unknown() {
    let parens = format!("int f() {{ return {}1{}; }}", "(".repeat(900), ")".repeat(900));
    assert!(module(&parens).exprs.iter().any(|node| matches!(node.kind, Expr::Int { value: 1, .. })));
    let blocks = format!("void f() {{ {} {} }}", "{".repeat(900), "}".repeat(900));
    let deep = module(&blocks);
    assert!(deep.functions.raw[0].damaged, "what was cut off must not count as read");
    let calls = format!("int f() {{ return {}1{}; }}", "g(".repeat(900), ")".repeat(900));
    assert!(module(&calls).functions.raw[0].damaged);
    let sum = format!("int f(int a) {{ return a{}; }}", " + a".repeat(5_000));
    let long = module(&sum);
    assert!(long.exprs.iter().any(|node| matches!(&node.kind, Expr::Unknown(parts) if parts.len() == 5_001)));
    let chain = format!("void f(int a) {{ if (a == 0) g(0); {} }}", "else if (a == 1) g(1); ".repeat(3_000));
    let arms = module(&chain);
    assert!(arms.stmts.iter().any(|node| matches!(&node.kind, Stmt::Unknown { blocks, .. } if blocks.len() > 2_000)));
    let members = format!("void f() {{ a{}; }}", ".b()".repeat(5_000));
    assert!(module(&members).functions.raw[0].damaged);
    let unary = format!("int f(int a) {{ return {}a; }}", "!".repeat(5_000));
    assert!(module(&unary).functions.raw[0].damaged);
}

#[test]
fn runaway_macros_end() {
    let mut text = String::from("#define M0(x) ((x) + (x))\n");
    for i in 1..40 {
        let _ = writeln!(text, "#define M{i}(x) M{}(M{}(x))", i - 1, i - 1);
    }
    text.push_str("int f(int a) { return M39(a); }\n");
    assert!(module(&text).exprs.len() < 3_000_000);
}

#[test]
fn a_launch_behind_variable_arguments_is_whole() {
    let text = dump(
        "#define CHECK(code) assert((code) == 0)\n\
         #define LAUNCH(...) CHECK((__VA_ARGS__, cudaPeekAtLastError()))\n\
         #define WITH(name, ...) note(name, (__VA_ARGS__))\n\
         void run(int *p, int n) {\n\
             LAUNCH(kernel<<<n / 2, 128, 0>>>(p, n));\n\
             WITH(\"k\", kernel<<<1, 32>>>(p, 1));\n\
             WITH(\"k\", first(p, n), second(n));\n\
         }\n",
    );
    assert!(text.contains("(launch kernel [(%n Div 2), 128, 0] (%p, %n), cudaPeekAtLastError())"), "{text}");
    assert!(text.contains("launch kernel [1, 32] (%p, 1)"), "{text}");
    assert!(text.contains("(first(%p, %n), second(%n))"), "{text}");
}
