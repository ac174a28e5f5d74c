//! Calls: overloads, templates, methods, conversions, lambdas.

use crate::support::{code, text};
use insta::assert_snapshot;

#[test]
fn overloads_and_templates() {
    assert_snapshot!(text(
        "__device__ int f(int a) { return a; }\n__device__ float f(float a) { return a; }\n\
         template <class T> __device__ T twice(const T& x) { return x + x; }\n\
         template <int N, class T> __device__ T scaled(T x, int by = N) { return x * by; }\n\
         template <class T, int N> __device__ int count(T (&a)[N]) { return N; }\n\
         __device__ void two(int a, int b = 4) {}\n\
         __device__ float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }\n\
         __global__ void k(float* p, int n) {\n  p[0] = f(1) + f(2.0f);\n  p[1] = twice(n) + twice(p[2]);\n\
           p[2] = scaled<3>(n) + scaled<4, double>(p[1]);\n  __shared__ float s[7];\n  n = count(s);\n  two(n);\n\
           float2 v = make_float2(1, 2) + make_float2(3, 4);\n}\n"
    ));
}

#[test]
fn recursion_ends() {
    let found = code(
        "template <int N> __device__ int down(int x) { if (N > 0) return down<N - 1>(x) + 1; return x; }\n\
         __device__ int fact(int n) { return n < 2 ? 1 : n * fact(n - 1); }\n\
         __global__ void k(int* p) { p[0] = down<4>(1) + fact(5); }\n",
    );
    assert!(found.functions.len() <= 64);
    assert!(found.functions.iter().filter(|function| function.name == "fact").count() == 1);
    let stopped = code(
        "template <int N> __device__ int down(int x) { if constexpr (N > 0) return down<N - 1>(x) + 1; else return x; }\n\
         __global__ void k(int* p) { p[0] = down<4>(1); }\n",
    );
    assert_eq!(stopped.functions.len(), 6);
    assert!(stopped.gaps.is_empty(), "{:?}", stopped.gaps);
}

#[test]
fn methods_constructors_and_operators() {
    assert_snapshot!(text(
        "struct Base { int b; __device__ int base() const { return b; } };\n\
         template <class T> struct Span : Base {\n  T* data; int n = 3;\n\
           __device__ Span(T* d, int m) : data(d), n(m) { b = 1; }\n\
           __device__ T& operator[](int i) { return data[i]; }\n  __device__ int size() const { return n; }\n\
           static __device__ int one() { return 1; }\n  __device__ operator bool() const { return n > 0; }\n};\n\
         struct Add { __device__ float operator()(float a, float b) const { return a + b; } };\n\
         template <class Op> __device__ float apply(Op op, float x) { return op(x, 1); }\n\
         __global__ void k(float* p) {\n  Span<float> s(p, 4);\n  s[2] = s.size() + s.base();\n  if (s) s[0] = s.one();\n\
           p[1] = apply(Add(), p[2]);\n  Add add;\n  p[3] = add(1, 2);\n}\n"
    ));
}

#[test]
fn the_samples_wrapper_around_dynamic_shared_memory() {
    assert_snapshot!(text(
        "template <class T> struct SharedMemory {\n\
           __device__ inline operator T*() { extern __shared__ int __smem[]; return (T*)__smem; }\n\
           __device__ inline operator const T*() const { extern __shared__ int __smem[]; return (T*)__smem; }\n};\n\
         template <> struct SharedMemory<double> {\n\
           __device__ inline operator double*() { extern __shared__ double __smem_d[]; return (double*)__smem_d; }\n};\n\
         __global__ void k(float* p) {\n  float* s = SharedMemory<float>();\n  s[threadIdx.x] = p[0];\n}\n"
    ));
}

#[test]
fn lambdas_and_functions_by_name() {
    assert_snapshot!(text(
        "__device__ int inc(int x) { return x + 1; }\n\
         template <class F> __device__ int run(F f, int x) { return f(x); }\n\
         template <int (*F)(int)> __device__ int fixed(int x) { return F(x); }\n\
         __device__ int through(int (*g)(int), int x) { return g(x); }\n\
         __global__ void k(int* p, int n) {\n  __shared__ int s[4];\n  int m = 2;\n\
           auto copy = [=](int i) { return i + n + s[0]; };\n  auto change = [&](int i) { m += i; };\n\
           change(copy(1));\n  p[0] = run(copy, 2) + run(inc, 3) + fixed<inc>(4) + through(inc, 5);\n\
           auto any = [](auto x) { return x * 2; };\n  p[1] = any(1.5f) + any(2);\n  p[2] = m;\n}\n"
    ));
}

#[test]
fn what_is_out_of_sight_may_do_anything() {
    assert_snapshot!(text(
        "__device__ int elsewhere(int*);\n\
         __global__ void k(float* p, int n) {\n  p[0] = sinf(p[1]) + __expf(2) + pow(p[2], 2);\n  n = elsewhere(&n);\n\
           p[1] = unknown(p, n);\n  p[2] = max(n, 3u) + fminf(p[0], 1) + abs(n);\n}\n"
    ));
}

#[test]
fn what_may_be_another_function_is_none() {
    assert_snapshot!(text(
        "struct V { int n; __device__ virtual int get() { return n; } __device__ int plain() { return n; } };\n\
         __device__ float max(float a, float b) { return a > b ? a : b; }\n\
         template <class T> __device__ T pick() { return 1; }\ntemplate <> __device__ float pick<float>() { return 2; }\n\
         template <class T> __device__ T same(T x) { return x; }\ntemplate <> __device__ float same(float x) { return x + 1; }\n\
         __global__ void k(V* v, int* p, float f) {\n  p[0] = v->get();\n  V own;\n  p[1] = own.get();\n\
           p[2] = max(p[0], p[1]) + max(f, 1.0f);\n  p[3] = pick<float>();\n  p[4] = same(f) + same(p[0]);\n}\n"
    ));
}

#[test]
fn conversions_that_need_each_other_end() {
    let found = code(
        "struct B;\nstruct A { __device__ A(B b); int x; };\nstruct B { __device__ B(A a) {} int y; };\n\
         __device__ A::A(B b) {}\n__device__ void f(A a) {}\n__global__ void k(int n) { f(n); }\n",
    );
    assert!(!found.gaps.is_empty());
}
