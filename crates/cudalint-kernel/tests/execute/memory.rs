use crate::support::kernel;
use cudalint_kernel::Contents;

#[test]
fn what_a_thread_stored_it_reads_back() {
    kernel("__global__ void k(int* a) { __shared__ int n; int t[4] = {7, 8, 9, 10}; if (threadIdx.x == 0) n = t[2] + 248; __syncthreads(); a[n - threadIdx.x - 1] = 1; a[n] = t[1]; }")
        .buffer(1024)
        .sees(&["outside a[n-threadIdx.x-1] at 1024 by 0.0 x1", "outside a[n] at 1028 by 0.0 x256"]);
}

#[test]
fn pieces_of_several_sizes_are_followed() {
    let counted = "struct S { int* p; int n; __device__ bool has(int i) const { return i <= n; } __device__ int& at(int i) { return p[i]; } };";
    kernel(&format!("{counted} __global__ void k(int* a, int n) {{ S s; s.n = n; s.p = a; if (s.has(threadIdx.x)) s.at(threadIdx.x) = 1; s.n = 300; s.p[s.n] = 2; }}"))
        .buffer(400)
        .int(100)
        .sees(&["outside s.at(threadIdx.x) at 400 by 0.100 x1", "outside s.p[s.n] at 1200 by 0.0 x256"]);
    // What is stored over a part of a value is no longer that value.
    kernel("__global__ void k(int* a) { long long v[2]; v[0] = 1000; ((int*)v)[0] = threadIdx.x; a[v[0]] = 1; a[((int*)v)[0] + 1] = 2; }")
        .buffer(1024)
        .sees(&["outside a[((int*)v)[0]+1] at 1024 by 0.255 x1"]);
    // Pieces of which some lanes stored some.
    kernel("struct P { long long at; int n; }; __device__ void put(P* p, int t) { if (t & 1) p->at = 2 * t; else p->at = t; p->n = t; } __global__ void k(const int* a, int* b) { P p; put(&p, threadIdx.x); b[threadIdx.x] = a[p.at]; }")
        .buffer(2000)
        .buffer(1024)
        .sees(&["outside a[p.at] at 2008 by 0.251 x3"]);
}

#[test]
fn the_bits_of_a_float_are_not_its_value() {
    // A bin by a float's exponent, as people write it; nobody computes with the bits here.
    for bin in [
        "int e = (*(int*)&f >> 23) - 127;",
        "int e = (reinterpret_cast<int&>(f) >> 23) - 127;",
        "int e; memcpy(&e, &f, 4); e = (e >> 23) - 127;",
        "union { float v; int i; } u; u.v = f; int e = (u.i >> 23) - 127;",
    ] {
        kernel(&format!("__global__ void k(int* a) {{ float f = 1.0f * blockDim.x; {bin} a[e] = 1; }}"))
            .buffer(64)
            .clean();
    }
    // Zero is zero, and an integer is read back as the other type says.
    kernel("__global__ void k(int* a) { float f = 0.0f; a[*(int*)&f + 16] = 1; int m = -1; a[*(unsigned*)&m] = 1; }")
        .buffer(64)
        .sees(&["outside a[*(int*)&f+16] at 64 by 0.0 x256", "outside a[*(unsigned*)&m] at 17179869180 by 0.0 x256"]);
}

#[test]
fn a_store_through_what_operators_give_is_kept() {
    let view = "struct V { float* d; int w; __device__ float operator()(int y, int x) const { return d[y * w + x]; } \
        __device__ float& operator()(int y, int x) { return d[y * w + x]; } };";
    kernel(&format!("{view} __global__ void k(float* a) {{ __shared__ float s[256]; V v{{s, 16}}; int t = threadIdx.x; v(t / 16, t % 16) = a[t]; __syncthreads(); a[t] = v(t % 16, t / 16); }}"))
        .buffer(1024)
        .clean_and_complete();
}

#[test]
fn destructors_and_copy_constructors_do_their_work() {
    let guard = "struct G { int* p; __device__ G(int* q) : p(q) {} __device__ ~G() { *p = 64; } };";
    kernel(&format!("{guard} __global__ void k(int* a) {{ int m = 1; {{ G g(&m); }} a[m] = 1; }}"))
        .buffer(256)
        .sees(&["outside a[m] at 256 by 0.0 x256"]);
    let copy = "struct C { int n; __device__ C(int k) : n(k) {} __device__ C(const C& o) : n(o.n + 1) {} };";
    kernel(&format!(
        "{copy} __device__ int f(C c) {{ return c.n; }} __global__ void k(int* a) {{ C c(62); C d = c; a[f(d)] = 1; }}"
    ))
    .buffer(256)
    .sees(&["outside a[f(d)] at 256 by 0.0 x256"]);
    // What is not followed may have written anything.
    kernel(&format!("{guard} __global__ void k(int* a) {{ int m = 300; G* g = new G(&m); delete g; a[m] = 1; }}"))
        .buffer(256)
        .clean();
    // A block-wide object that each thread closes at its end: reads behind it see what it wrote.
    kernel("struct L { int* s; int t; __device__ L(int* p, int i) : s(p), t(i) {} __device__ ~L() { s[t] = t; __syncthreads(); } }; __global__ void k(int* a) { __shared__ int s[256]; int t = threadIdx.x; { L l(s, t); } a[t] = s[255 - t]; }")
        .buffer(1024)
        .clean_and_complete();
}

#[test]
fn an_object_that_is_called_touches_what_it_was_given() {
    // The class is out of sight. Without a value the object knows of no memory.
    let called =
        |given: &str| format!("__global__ void k(int* a) {{ int m = 300; other::Op f{given}; f(2, 3); a[m] = 1; }}");
    kernel(&called("")).buffer(1024).sees(&["outside a[m] at 1200 by 0.0 x256"]);
    kernel(&called(" = other::over(&m)")).buffer(1024).clean();
    kernel("__global__ void k(int* a) { int m = 300; auto f = [&r = m] { r = 5; }; f(); a[m] = 1; }")
        .buffer(1024)
        .clean();
}

#[test]
fn shared_memory_begins_empty() {
    kernel("__global__ void k(float* a) { __shared__ float s[256]; int t = threadIdx.x; if (t < 200) s[t] = a[t]; __syncthreads(); a[t] = s[t]; }")
        .buffer(1024)
        .sees(&["unwritten Read s[t] at 800 partly"]);
    kernel("__global__ void k(int* a) { __shared__ int c[64]; atomicAdd(&c[threadIdx.x & 63], 1); __syncthreads(); if (threadIdx.x < 64) a[threadIdx.x] = c[threadIdx.x]; }")
        .buffer(1024)
        .sees(&["unwritten UpdateRead atomicAdd(&c[threadIdx.x&63],1) at 0"]);
}

#[test]
fn buffers_that_nobody_wrote() {
    let text =
        "__global__ void k(const float* x, float* y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] OP x[i]; }";
    let fresh = Contents::WrittenOnly(Vec::new());
    kernel(&text.replace("OP", "=")).grid(100).buffer(102_400).holding(102_400, fresh.clone()).clean();
    kernel(&text.replace("OP", "+="))
        .grid(100)
        .buffer(102_400)
        .holding(102_400, fresh.clone())
        .sees(&["unwritten UpdateRead y[i] at 0"]);
    kernel(&text.replace("OP", "="))
        .grid(100)
        .holding(102_400, fresh)
        .buffer(102_400)
        .sees(&["unwritten Read x[i] at 0"]);
    let half = Contents::WrittenOnly(std::iter::once(0..51_200).collect());
    kernel(&text.replace("OP", "="))
        .grid(100)
        .holding(102_400, half)
        .buffer(102_400)
        .sees(&["unwritten Read x[i] at 101376 partly"]);
}

#[test]
fn tables_that_the_host_wrote_are_followed() {
    let table = Contents::Integers { bytes: 4, values: vec![3, 300, -1].into() };
    kernel("__global__ void k(const int* t, float* a) { a[t[0]] = 1; a[t[1]] = 2; a[t[2]] = 3; }")
        .block(1)
        .holding(12, table)
        .buffer(1024)
        .sees(&["outside a[t[1]] at 1200 by 0.0 x1", "outside a[t[2]] at -4 by 0.0 x1"]);
}

#[test]
fn large_buffers_cost_nothing() {
    kernel("__global__ void k(char* a, size_t n) { size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; a[i * 4096] = 1; }")
        .grid(4096)
        .buffer(4 << 30)
        .int(4 << 30)
        .clean();
}

#[test]
fn what_became_of_the_buffers() {
    let report = kernel(
        "__global__ void k(const int* a, int* b, int* c, int* d) { b[threadIdx.x] = a[threadIdx.x]; c[a[0]] = 1; }",
    )
    .buffer(1024)
    .buffer(1024)
    .buffer(1024)
    .buffer(1024)
    .run();
    let seen: Vec<_> = report.buffers.iter().map(|b| (b.read, b.written, b.exact)).collect();
    assert_eq!(seen, [(true, false, true), (false, true, true), (false, true, false), (false, false, true)]);
}

#[test]
fn static_members_of_a_class_template_know_its_arguments() {
    let text = "template <int N> struct Tile {
  enum { PAD = __CUDA_ARCH__ >= 700 ? 1 : 2, SIZE = N + PAD };
  float data[SIZE];
  static constexpr int last = SIZE - 1;
  __device__ float& at(int i) { return data[i]; }
  __device__ static void run(float* a) {
    __shared__ Tile<N> t;
    t.at(threadIdx.x) = 1;
    a[threadIdx.x] = t.at(threadIdx.x);
  }
};
__global__ void k(float* a) { Tile<31>::run(a); if (threadIdx.x == 0) a[Tile<40>::last] = 2; }
";
    kernel(text).block(32).buffer(41 * 4).clean_and_complete();
    kernel(text).block(33).buffer(40 * 4).sees(&[
        "outside t.at(threadIdx.x) at 128 by 0.32 x1",
        "outside t.at(threadIdx.x) at 128 by 0.32 x1",
        "outside a[Tile<40>::last] at 160 by 0.0 x1",
    ]);
}
