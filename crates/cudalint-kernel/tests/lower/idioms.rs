//! Idioms of real kernels.

use crate::support::{code, text};
use insta::assert_snapshot;

#[test]
fn reinterpreted_memory() {
    assert_snapshot!(text(
        "#define FETCH(x) (reinterpret_cast<float4*>(&(x))[0])\n\
         __global__ void k(float* a, int i) {\n  __shared__ float s[4][8];\n  float4* p4 = reinterpret_cast<float4*>(&s[0][0]);\n\
           p4[1] = *(float4*)&a[4 * i];\n  FETCH(s[i][0]) = FETCH(a[i * 4]);\n  float4 v = p4[0];\n  a[0] = (&v.x)[i] + ((float*)&v)[1];\n\
           reinterpret_cast<float2&>(a[2]) = make_float2(1, 2);\n  float reg[2][4];\n  *(float4*)&reg[1][0] = v;\n\
           size_t bytes = (size_t)a;\n  float* back = (float*)(bytes & ~15ull);\n  *back = 0;\n}\n"
    ));
}

#[test]
fn records_of_the_program_as_in_libraries() {
    assert_snapshot!(text(
        "template <class T, int N> struct alignas(16) Packed {\n  static constexpr int size = N;\n  T v[N];\n\
           __device__ T& operator[](int i) { return v[i]; }\n  __device__ const T& operator[](int i) const { return v[i]; }\n\
           __device__ Packed& operator+=(const Packed& o) { for (int i = 0; i < N; ++i) v[i] += o.v[i]; return *this; }\n};\n\
         using x4 = Packed<float, 4>;\n\
         template <class T> __device__ Packed<T, 4> load(const T* p) { return *reinterpret_cast<const Packed<T, 4>*>(p); }\n\
         struct It { int i; __device__ bool operator!=(const It& o) const { return i != o.i; } __device__ It& operator++() { ++i; return *this; } __device__ int operator*() const { return i; } };\n\
         __global__ void k(float* p) {\n  x4 a = load(p + threadIdx.x * x4::size), b{};\n  a += b;\n  p[0] = a[1];\n\
           for (int i = 0; i < a.size; ++i) b[i] = 1;\n  It it{3};\n  ++it;\n  p[*it] = 1;\n}\n"
    ));
}

#[test]
fn pointers_to_pointers_and_parameters_by_record() {
    assert_snapshot!(text(
        "struct Args { float* in; float* out[2]; int n; };\n\
         __global__ void k(Args args, float** rows, const Args* list, float* __restrict__ w) {\n\
           int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= args.n) return;\n  args.out[1][i] = args.in[i];\n\
           rows[i][2] = (*list).in[0] + list->out[0][i];\n  float* cur = rows[0];\n  while (*cur++) w[0] += *cur;\n\
           auto [a, b] = make_float2(1, 2);\n}\n"
    ));
}

#[test]
fn damage_never_ends_in_a_panic() {
    let source = "template <class T> struct B { T x; __device__ B(T v) : x(v) {} __device__ operator T() { return x; } };\n\
         __constant__ int c[4];\n__device__ float4 operator*(float4 a, float b) { return make_float4(a.x * b, 0, 0, 0); }\n\
         template <class T, int N> __global__ void k(T* p, const float4* q, int n) {\n  __shared__ T s[N][N + 1];\n\
           extern __shared__ int dyn[];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  auto f = [&](int j) { return s[j][i] + n; };\n\
           for (int j = 0; j < N; j += 2) { if (j & 1) continue; s[j][threadIdx.x] = p[i + j * n]; }\n  __syncthreads();\n\
           float4 v = q[i] * 2.0f;\n  B<T> b(v.x);\n  switch (c[i & 3]) { case 1: p[i] = b; break; default: p[i] = f(1); }\n\
           atomicAdd(&dyn[0], __shfl_down_sync(0xffffffffu, i, 1));\n  do { n >>= 1; } while (n > 0 && p[n] != 0);\n}\n\
         template __global__ void k<float, 16>(float*, const float4*, int);\n";
    let mut seed = 12345_u64;
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for _ in 0..300 {
        let from = next(source.len());
        let to = (from + 1 + next(12)).min(source.len());
        let cut = format!("{}{}", &source[..from], &source[to..]);
        if cut.contains("__global__ void k(") {
            let found = std::panic::catch_unwind(|| crate::support::try_code(&cut));
            assert!(found.is_ok(), "{cut}");
        }
    }
    assert!(code(source).gaps.is_empty(), "{:?}", code(source).gaps);
}

#[test]
fn ranges_of_the_program() {
    assert_snapshot!(text(
        "template <class T> struct View { T* p; int n; __device__ T* begin() { return p; } __device__ T* end() { return p + n; } };\n\
         struct Steps {\n  struct It { int i, by; __device__ int operator*() const { return i; }\n\
             __device__ It& operator++() { i += by; return *this; } __device__ bool operator!=(const It& o) const { return i < o.i; } };\n\
           int from, to; __device__ Steps(int a, int b) : from(a), to(b) {}\n\
           __device__ It begin() const { return It{from, 1}; } __device__ It end() const { return It{to, 0}; } };\n\
         __global__ void k(View<float> v, float* out, int n) {\n  for (float x : v) out[0] += x;\n\
           for (int i : Steps(threadIdx.x, n)) out[i] = i;\n  for (auto& x : v) x = 1;\n}\n"
    ));
}
