// Macros of declarations and statements, defined in the case or not.
// case: defined attribute before a function
// expect: function_definition 4
#define MY_DEVICE __device__ __forceinline__
MY_DEVICE float a(float x) { return x; }
MY_DEVICE void b(float x) { a(x); }
MY_DEVICE static void c(float x) { a(x); }
template <class T> MY_DEVICE T d(T x) { return x; }
// case: defined kernel attribute
// expect: function_definition 1
#define MY_KERNEL __global__ void
MY_KERNEL pass(int *p) { p[threadIdx.x] = 1; }
// case: attribute in two steps
// expect: function_definition 1
#define INNER __host__ __device__
#define OUTER INNER inline
OUTER int f() { return 1; }
// case: conditional attribute
// expect: function_definition 1
#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH int f() { return 1; }
// case: unknown attribute before a function
// expect: function_definition 5
SOME_DEVICE float a(float x) { return x; }
SOME_DEVICE void b(float x) { a(x); }
SOME_DEVICE static void c(float x) { a(x); }
SOME_HOST SOME_DEVICE void d(float x) { a(x); }
static inline SOME_DEVICE void e(float x) { a(x); }
// case: unknown attribute on its own line
// expect: function_definition 1
SOME_DEVICE
void f(float x) { g(x); }
// case: unknown attribute of members
// expect: function_definition 5, field_initializer_list 1
struct S {
    SOME_DEVICE S(int a) : x(a) {}
    SOME_DEVICE ~S() {}
    SOME_DEVICE int operator()(int a) const { return a; }
    SOME_DEVICE operator bool() const { return true; }
    SOME_DEVICE static void h() { }
    int x;
};
// case: unknown kernel macro with bounds
// expect: function_definition 1, launch_bounds 1
SOME_KERNEL void __launch_bounds__(256) pass(int *p) { p[threadIdx.x] = 1; }
// case: launch bounds by a macro
// expect: function_definition 1
#define BOUNDS(n, m) __launch_bounds__(n, m)
__global__ void BOUNDS(256, 2) pass(int *p) { p[0] = 1; }
// case: launch bounds by an empty macro on its own line
// expect: function_definition 1
#define LIMITS(n, m)
template <class T>
__global__ void
LIMITS (A_THREADS, A_BLOCKS)
pass(const T *p) { use(p); }
// case: class macros
// expect: class_specifier 2, struct_specifier 1, function_definition 0
class SOME_API Foo { int a; };
struct SOME_ALIGN Bar { int b; };
class SOME_API Baz : public Foo { int c; };
// case: function macros
// expect: declaration 3
SOME_API Tensor f(const Tensor& x);
SOME_CPP_API void g();
extern SOME_API int z;
// case: namespace macros
// expect: function_definition 2, struct_specifier 1
#define BEGIN_SPACE namespace a { namespace b {
#define END_SPACE } }
BEGIN_SPACE
void f() { g(); }
__global__ void k(int *p) { g(); }
template <class T> struct S { int a; };
END_SPACE
// case: unroll macros
// expect: for_statement 3
#define UNROLL _Pragma("unroll")
__global__ void k() {
    UNROLL
    for (int i = 0; i < 4; i++) { x += i; }
    SOME_UNROLL for (int i = 0; i < size(t); ++i) { x += i; }
    SOME_UNROLL
    for (int i = 0; i < size<0>(t); ++i) { x += i; }
}
// case: restrict macros
// expect: function_definition 1, parameter_declaration 2
void f(const float* SOME_RESTRICT x, float * SOME_RESTRICT y) { const float * SOME_RESTRICT z = y; }
// case: lambda macros
// expect: lambda_expression 2
void run() {
    kernel(iter, [] SOME_LAMBDA (scalar_t a) -> scalar_t { return a; });
    auto loop = [=]SOME_DEVICE(int i) { x = i; };
}
// case: calls without semicolon
// expect: call_expression 5, assignment_expression 1, declaration 1
void f() {
    CHECK_IT( cudaMalloc(&p, n) )
    CHECK_IT( cudaFree(p) )
    int x;
    CHECK_LAST()
    x = 1;
}
// case: statements on one line without semicolon
// expect: for_statement 1, expression_statement 3
#define STEP s = v - s;
#define STEP2 STEP STEP
void f() { for (;;) { STEP2 STEP2 STEP } }
// case: registrations
// expect: function_definition 1, call_expression 3
REGISTER(first_stub, &b)
REGISTER(second_stub, &d)
void f() { x(); }
// case: instantiations with types
// expect: function_definition 1
INSTANTIATE(float, 16, half)
INSTANTIATE(double, 16, int)
INSTANTIATE(unsigned int, 8, float*);
void f() { x(); }
// case: instantiations declared extern
// expect: function_definition 1
#define DECLARE(a, b) template void run<a, b>(int)
extern DECLARE(64, 64);
extern DECLARE(96, 96);
void f() { x(); }
// case: types as arguments
// expect: call_expression 6
void f() { SWAP(int, a, b); g(sizeof(int), (float)a); FOO(unsigned int, x); BAR(float*, y); BAZ(const char *, z); QUX(int64_t, new, w); }
// case: operators as arguments
// expect: call_expression 2
void f() { FOLD(a, +, b); COMPARE(<, a); }
// case: statements as arguments
// expect: call_expression 3, declaration 1
void f() { DISPATCH(t, T, g<T>(x); h();); y(); DISPATCH(t, U, int z = 1;); }
// case: a block as argument
// expect: call_expression 3, for_statement 1
void f() { DISPATCH(t, "name", { for (;;) g(); h(); }); y(); }
// case: a lambda as argument
// expect: call_expression 3, lambda_expression 1
void f() { DISPATCH(t, "name", ([&] { g(); })); y(); }
// case: test headers
// expect: function_definition 2, call_expression 1
TEST_CASE("adds", "[sum]") { y(); }
TEST_F(Fixture, Name) { int a; }
// case: sections
// expect: call_expression 2
void f() { SECTION("x") { y(); } z(); }
// case: loop macros keep their bodies
// expect: call_expression 1
#define LOOP(i, n) for (int i = 0; i < (n); ++i)
__global__ void k(int n) { LOOP(i, n) { use(i); } }
// case: strings next to macros
// expect: call_expression 4
void f() { printf("a" FMT "b\n", x); printf("%" PRIu64 "\n", y); printf("v: "fID" w: %d\n", z); puts(PREFIX "text"); }
// case: asm with a macro in its text
// expect: gnu_asm_expression 1
__device__ void f() { asm volatile("ld" WIDTH ".x %0;" : "=r"(a) : "l"(p)); }
// case: a macro that defines kernels
// expect: function_definition 1
#define MAKE(T) __global__ void k_##T(T* p) { p[0] = 1; }
MAKE(int)
MAKE(float)
void f() { x(); }
// case: a comment inside a definition
// expect: function_definition 1, preproc_function_def 1
#define SUM(a, b) /* both
                     together */ ((a) + \
                     /* last */ (b))
void f() { x = SUM(1, 2); }
// case: checker macros stay
// expect: call_expression 5, preproc_function_def 1
#define TRY(call) { cudaError_t err = call; if (err != cudaSuccess) { fail(err); } }
void f() { TRY(cudaMalloc(&p, 4)); TRY(cudaFree(p)) x = 1; g(); }
// case: exception specification macro
// expect: declaration 1
extern __host__ __device__ int f(int a) __MY_THROW;
// case: two macros around a type
// expect: function_definition 1
static SOME_ATTR Bool32 SOME_CALL callback(int a, void *d) { return 0; }
// case: an unknown macro on its own line among declarations
// expect: declaration 2, call_expression 1
void f() {
    SOME_LOCALS

    const int a = 1;
    SOME_LOCALS
    stream_t s = g();
}
// case: a checker switched off stays a call
// expect: call_expression 2
#define SAFE
void f() { SAFE(cudaFree(p)); }
// case: a calling convention in a function pointer
// expect: type_definition 1
#define MY_CALL __stdcall
typedef void (MY_CALL *Callback)(int status, void *data);
// case: macros without a body, with blanks or a comment behind
// expect: preproc_def 5, preproc_function_def 2, function_definition 5, ERROR 0
#define A // comment
static int a(int x) { return x; }
#define B /* comment */
static int b(int x) { return x; }
#ifdef A
#define C 1
#else
#define C   
#endif
static int c(int x) { return x; }
#define D(x) // comment
#define E(x) \

static int d(int x) { return x; }
#define F \
    // comment
static int e(int x) { return x; }
// case: attributes side by side
// expect: function_definition 1, ERROR 0
[[nodiscard]] [[maybe_unused]] [[gnu::always_inline]] static int f(int x) { [[maybe_unused]] [[a]] int y = x; return y; }
