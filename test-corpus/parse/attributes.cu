// Attributes of functions, variables and types.
// case: launch bounds with two arguments
// expect: function_definition 1, launch_bounds 1
__global__ void __launch_bounds__(256, 2) pass(int *p) { p[0] = 1; }
// case: launch bounds with three arguments
// expect: function_definition 1, launch_bounds 1
__global__ void __launch_bounds__(256, 2, 4) pass(int *p) { p[0] = 1; }
// case: cluster dimensions
// expect: function_definition 3
__global__ void __cluster_dims__(2, 1, 1) one(int *p) { }
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128) two(int *p) { }
__global__ void __block_size__((128, 1, 1), (2, 1, 1)) three(int *p) { }
// case: registers
// expect: function_definition 1
__global__ void __maxnreg__(64) pass(int *p) { }
// case: orders of specifiers
// expect: function_definition 4
__global__ static void a() { }
static __global__ void b() { }
void __global__ c() { }
__device__ __forceinline__ int d() { return 0; }
// case: pure and noinline
// expect: function_definition 3
__device__ __noinline__ int a() { return 0; }
__device__ __nv_pure__ int b() { return 0; }
__host__ __device__ inline int c() { return 0; }
// case: device members
// expect: function_definition 5, field_declaration 1
struct S {
    __device__ S() : x(0) {}
    __host__ __device__ ~S() {}
    __device__ int operator()(int a) const { return a; }
    __device__ explicit operator bool() const { return x; }
    __host__ __device__ static S make() { return S(); }
    int x;
};
// case: aligned shared memory
// expect: declaration 6
__global__ void pass() {
    extern __shared__ __align__(16) char a[];
    extern __align__(16) __shared__ char b[];
    __align__(16) __shared__ char c[4];
    __shared__ char __align__(16) d[4];
    __shared__ __align__(16) char e[4];
    int after;
}
// case: gnu attributes
// expect: declaration 2, alias_declaration 1, type_definition 1
using v4 = __attribute__((ext_vector_type(4))) float;
typedef float v4b __attribute__((vector_size(16)));
__global__ void pass() { __shared__ char a[4] __attribute__((aligned(16))); __attribute__((unused)) int b; }
// case: aligned types
// expect: struct_specifier 3, union_specifier 1, field_declaration 6
struct __align__(8) Pair { int a; int b; };
typedef struct __align__(16) { float x, y; } Vec;
union __align__(16) Bits { int a; float b; };
struct Last { __align__(16) float a[4]; };
// case: restrict after const
// expect: declaration 1, parameter_declaration 2
void f(const float* const __restrict a, float * const __restrict__ b);
// case: calling conventions
// expect: function_definition 2
void CUDART_CB done(cudaStream_t s, cudaError_t e, void *d) { x(); }
void __stdcall other() { y(); }
// case: grid constants
// expect: function_definition 1
__global__ void pass(const __grid_constant__ Params p) { use(p); }
// case: managed and constant variables
// expect: declaration 2
__device__ __managed__ int counter;
__constant__ float table[16];
// case: device lambdas
// expect: lambda_expression 4
void run() {
    auto a = [=] __device__ (int i) { return i; };
    auto b = [] __host__ __device__ (int i) -> int { return i; };
    each(n, [x, y] __device__ (auto i) { x[i] = 0; });
    auto c = [=] __device__ { return 1; };
}
// case: noexcept device lambda
// expect: lambda_expression 1
void run() { transform(a, b, [] __device__ __host__ (int x) noexcept { return x; }); }
// case: template device lambda
// expect: lambda_expression 1
void run() { auto l = []<typename T> __device__ (T a) { return a; }; }
// case: pragma operators
// expect: for_statement 2
__global__ void pass() {
    int a;
    _Pragma("unroll 4") for (int i = 0; i < 4; i++) x += i;
    _Pragma("unroll")
    for (int i = 0; i < 4; i++) { y(); }
}
// case: pragma in the middle of a statement
// expect: for_statement 1, if_statement 1
__global__ void pass(int a) {
    if (a)
#pragma unroll
        for (int i = 0; i < 4; i++) b();
}
// case: c++ attributes
// expect: function_definition 2
[[nodiscard]] __device__ int f() { return 0; }
[[maybe_unused]] static int g() { return 0; }
