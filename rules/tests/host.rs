//! What host code does with what lies on the device: what it reads, and what it launches.
#![allow(clippy::panic)]

mod common;

use common::of;
use cudalint_engine::Engine;
use cudalint_findings::Confidence;

/// Naming an object on the device reads nothing: a reference, an address, a part that is an array.
#[test]
fn what_host_code_only_names_is_not_read() {
    let body = |statements: &str| {
        format!(
            "#include <functional>
#include <memory>
struct Inner {{ int n; float values[4]; }};
struct Part {{ int a; float values[4]; Inner inner; void set(int); }};
struct Holder {{ Part &part; Holder(Part &x) : part(x) {{}} }};
void take(Part &part);
void take_value(const float &value);
void by_value(float value);
void by_pointer(const float *values);
template <typename... A> void all(A &&...a) {{ take(std::forward<A>(a)...); }}
Part &same(Part *part) {{ return *part; }}
void run() {{
    Part *d;
    if (cudaMalloc((void **)&d, sizeof(Part)) != cudaSuccess) return;
    {statements}
}}
"
        )
    };
    for statements in [
        "take(*d); take_value(d->values[1]); take_value((*d).values[2]); take_value(d[0].inner.values[1]);",
        "auto &part = *d; take(part); Part &other = d[1]; take(other);",
        "float *values = d->values; by_pointer(d->inner.values); by_pointer(&d->values[2]); by_pointer((*d).values);",
        "auto r = std::ref(*d); auto *p = std::addressof(*d); all(*d); take(same(d)); d->set(1); (*d).set(2);",
        "Holder holder(*d); Holder braces{*d}; auto owned = std::make_unique<Holder>(*d);",
        "auto local = [&](Part &part) { take(part); }; local(*d); auto size = sizeof(*d) + sizeof(d->values);",
    ] {
        assert_eq!(of("wrong-address-space", &body(statements)).len(), 0, "{statements}");
    }
    for statements in [
        "int a = d->a;",
        "int n = d->inner.n;",
        "int n = (*d).inner.n + 1;",
        "by_value(d->values[1]);",
        "float x = d->values[1];",
        "Part copy = *d;",
        "d->a = 1;",
        "d[0].inner.n = 1;",
        "if (d[1].a > 0) take(*d);",
    ] {
        assert_eq!(of("wrong-address-space", &body(statements)).len(), 1, "{statements}");
    }
}

#[test]
fn a_launch_that_several_rounds_make_too_large_is_one_mistake() {
    let text = "__global__ void add(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }
void run(float *p) {
    int blocks[] = {1, 4, 8, 16};
    for (int i = 0; i < 4; i++) add<<<blocks[i], 100000 / blocks[i]>>>(p, 100);
}
";
    assert_eq!(of("launch-exceeds-device-limit", text).len(), 1);
}

/// A function for both sides is on the host what the host's pass of the compiler reads.
#[test]
fn each_side_has_its_branch_of_a_function_for_both() {
    let text = |first: &str, second: &str| {
        format!(
            "#include <cuda_runtime.h>
struct Number {{ unsigned limb[2]; }};
__constant__ const Number ON_DEVICE = {{{{1, 2}}}};
__host__ __device__ const Number &modulus() {{
#if defined(__CUDA_ARCH__) && BITS == 64
    return ON_DEVICE;
#elif defined(__CUDA_ARCH__)
    {first}
#else
    static const Number on_host = {{{{1, 2}}}};
    {second}
#endif
}}
__host__ __device__ int compare(const Number &a, const Number &b) {{
    for (int i = 1; i >= 0; i--) if (a.limb[i] > b.limb[i]) return 1;
    return 0;
}}
__global__ void kernel(int *to) {{
    __shared__ int s[32];
    Number a = {{{{1, 1}}}};
    s[threadIdx.x] = compare(a, modulus());
    __syncthreads();
    to[threadIdx.x] = s[31 - threadIdx.x];
}}
int main() {{
    int *d;
    if (cudaMalloc(&d, 128) != cudaSuccess) return 1;
    kernel<<<1, 32>>>(d);
    Number own = {{{{3, 4}}}};
    return compare(own, modulus());
}}
"
        )
    };
    let right = text("return ON_DEVICE;", "return on_host;");
    assert!(of("wrong-address-space", &right).is_empty(), "{right}");
    let wrong = text("return ON_DEVICE;", "return ON_DEVICE;");
    assert_eq!(of("wrong-address-space", &wrong).len(), 1, "{wrong}");
}

/// One of several functions of a name is followed where one alone takes arguments of just these types.
#[test]
fn overloaded_functions_are_followed() {
    let text = |iterations: i32| {
        format!(
            "#include <string>
struct Settings {{ int iterations = 500; }};
inline bool fail(const char *why, const char **error) {{ if (error) *error = why; return false; }}
inline bool fail(const char *why, std::string *error) {{ if (error) *error = why; return false; }}
template <class Error> inline bool check(const Settings &settings, Error error) {{
    if (settings.iterations <= 0) return fail(\"iterations\", error);
    return true;
}}
inline bool is_valid(const Settings &settings, const char **error) {{ return check(settings, error); }}
inline bool is_valid(const Settings &settings, std::string *error) {{ return check(settings, error); }}
bool render(const Settings &settings, int n, int *out, const int *from, const char **error) {{
    if (!is_valid(settings, error)) return false;
    cudaMemcpy(out, from, n * sizeof(int), cudaMemcpyDeviceToHost);
    return true;
}}
int main() {{
    Settings settings{{}};
    settings.iterations = {iterations};
    int one = 0;
    const char *error;
    int *from;
    cudaMalloc(&from, 4096);
    return render(settings, 1024, &one, from, &error);
}}
"
        )
    };
    assert_eq!(of("copy-exceeds-allocation", &text(0)).len(), 0);
    assert_eq!(of("copy-exceeds-allocation", &text(1)).len(), 1);
}

/// Elements of a local array begin as their class says.
#[test]
fn elements_of_arrays_begin_as_their_class_says() {
    let text = |init: &str, array: &str| {
        format!(
            "template <class T> class Buffer {{
public:
    Buffer() = default;
    void alloc(size_t n) {{ free(); cudaMalloc(reinterpret_cast<void **>(&p), n * sizeof(T)); }}
    void free() {{ if (p) {{ cudaFree(p); p = nullptr; }} }}
private:
    T *p{init};
}};
int main() {{
    const int COUNT = 2;
    Buffer<float> all{array};
    for (int s = 0; s < COUNT; ++s) all[s].alloc(100);
}}
"
        )
    };
    for array in ["[COUNT]", "[2]", "[2][1]"] {
        let text = text(" = nullptr", array).replace(
            "all[s].alloc",
            if array.len() > 4 && array.ends_with("[1]") { "all[s][0].alloc" } else { "all[s].alloc" },
        );
        assert_eq!(of("uninitialized-device-pointer", &text).len(), 0, "{array}");
    }
    assert_eq!(of("uninitialized-device-pointer", &text("", "[2]")).len(), 1);
}

/// An allocation that is too small for each size is told, though for the smallest sizes it would have less than no bytes; one that has less
/// than none for each size is huge as a number without a sign.
#[test]
fn allocations_that_the_smallest_sizes_make_negative() {
    let told = |count: &str| {
        let text = format!(
            "#include <cuda_runtime.h>
void send(const int *from, unsigned n) {{
    unsigned none = 0;
    int *to;
    cudaMalloc(&to, sizeof(int) * ({count}));
    cudaMemcpy(to, from, sizeof(int) * n, cudaMemcpyHostToDevice);
    cudaFree(to);
}}
"
        );
        of("copy-exceeds-allocation", &text).len()
    };
    assert_eq!(told("n - 2"), 1);
    assert_eq!(told("none - n"), 0);
}

/// A library leaves the status of what it computes in memory: what was there before is seen by nobody.
#[test]
fn memory_for_the_status_of_a_solver_may_hold_anything_before() {
    let text = |call: &str| {
        format!(
            "#include <cusolverDn.h>
void use(const int *);
void factor(cusolverDnHandle_t h, int m, float **a, int *info, int n) {{
    int *d_info;
    cudaMalloc(&d_info, n * sizeof(int));
    cudaMemset(d_info, 7, n * sizeof(int));
    {call}
    cudaMemcpy(info, d_info, n * sizeof(int), cudaMemcpyDeviceToHost);
}}
"
        )
    };
    let told = |call: &str| of("memset-value-truncated", &text(call)).len();
    assert_eq!(told("cusolverDnSpotrfBatched(h, CUBLAS_FILL_MODE_LOWER, m, a, m, d_info, n);"), 0);
    assert_eq!(told("use(d_info);"), 1);
}

/// A macro of a header raises the limit of a kernel's dynamic shared memory.
#[test]
fn a_limit_that_a_macro_of_a_header_raises() {
    let told = |body: &str, limits: &str| {
        let text = format!(
            "#include \"limits.h\"
__global__ void stage(float *values) {{ extern __shared__ float staged[]; staged[threadIdx.x] = values[threadIdx.x]; }}
void run(float *values) {{
    cudaError_t status;
    {body}
    stage<<<1, 256, 72 * 1024>>>(values);
}}
"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        match engine.lint_texts(&[("a.cu".to_owned(), &*text), ("limits.h".to_owned(), limits)], None) {
            Ok(all) => all.iter().filter(|finding| finding.rule.name == "shared-memory-over-limit").count(),
            Err(error) => panic!("{error}"),
        }
    };
    let room = "#define ROOM(BYTES, KERNEL) \\
    status = cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, BYTES);
";
    assert_eq!(told("ROOM(72 * 1024, stage)", room), 0);
    assert_eq!(told("", ""), 1);
}

/// Whether a function comes by a call may hang on what it was given: sizes that its callers chose are facts only where nothing that is
/// not followed stands between.
#[test]
fn sizes_behind_a_condition_that_nobody_follows_are_an_assumption() {
    let program = |condition: &str, allocated: &str| {
        format!(
            "int ask();
void move(float *to, const float *from, int n, bool odd) {{
    {condition} cudaMemcpy(to, from, n * sizeof(float), cudaMemcpyHostToDevice);
}}
int main() {{
    float host[60];
    float *device;
    {allocated}
    move(device, host, 32, ask() > 0);
}}
"
        )
    };
    let found = |condition: &str| {
        let all = of("copy-exceeds-allocation", &program(condition, "cudaMalloc(&device, 100);"));
        all.iter().map(|finding| finding.confidence).collect::<Vec<_>>()
    };
    assert_eq!(found(""), [Confidence::Definite]);
    assert_eq!(found("if (n > 4)"), [Confidence::Definite]);
    assert_eq!(found("if (odd)"), [Confidence::Likely]);
    assert_eq!(found("if (!odd) return; "), [Confidence::Likely]);
    // What the function itself states stays as it is.
    let own = "void run(bool odd) {
    float host[60];
    float *device;
    cudaMalloc(&device, 100);
    if (odd) cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice);
}
int main(int argc, char **argv) { run(argc > 1); }
";
    let own: Vec<_> = of("copy-exceeds-allocation", own).iter().map(|finding| finding.confidence).collect();
    assert_eq!(own, [Confidence::Definite]);
}

/// A size that was divided out again is no factor: neither in a quotient nor in a sum.
#[test]
fn sizes_that_are_divided_out_are_no_factors() {
    let found = |count: &str| {
        let text = format!(
            "void run(const float *from, size_t bytes, int n) {{
    float *to;
    size_t count = {count};
    cudaMalloc(&to, count * sizeof(float));
    cudaMemcpy(to, from, count * sizeof(float), cudaMemcpyHostToDevice);
}}
"
        );
        of("element-count-as-bytes", &text).len()
    };
    for right in [
        "(bytes + sizeof(float) - 1) / sizeof(float)",
        "n * sizeof(float) / 4",
        "n * sizeof(float) % 4",
        "bytes + sizeof(float)",
        "n * sizeof(float) >> 2",
        "n",
    ] {
        assert_eq!(found(right), 0, "{right}");
    }
    for twice in ["n * sizeof(float)", "(n + 1) * sizeof(float)", "n * sizeof(float) + 2 * sizeof(float)"] {
        assert_eq!(found(twice), 1, "{twice}");
    }
}

/// A launch that a loop gives one part of the arrays after the other covers the whole with the others together.
#[test]
fn launches_on_parts_of_an_array_need_not_cover_it() {
    let found = |first: &str| {
        let text = format!(
            "__global__ void twice(float *p, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= 2;
}}
int main() {{
    float *p;
    cudaMalloc(&p, 1024 * sizeof(float));
    cudaMemset(p, 0, 1024 * sizeof(float));
    for (int i = 0; i < 4; i++) twice<<<2, 128>>>({first}, 1024);
}}
"
        );
        of("grid-under-coverage", &text).len()
    };
    assert_eq!(found("p"), 1);
    assert_eq!(found("p + i * 256"), 0);
}

/// Two launches of one function, the second on what lies behind: the kernel's bound is the length of a row, and the rows are shared.
#[test]
fn launches_beside_each_other_share_an_array() {
    let found = |second: &str| {
        let text = format!(
            "__global__ void odd(const uint4 *from, float *to, int width, int height) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) return;
    to[y * width + x] = from[y * width + x].x;
}}
void run(uint4 *from, float *to) {{
    odd<<<dim3(60, 540), 16>>>(from, to, 1920, 540);
    {second}
}}
"
        );
        of("grid-under-coverage", &text).len()
    };
    assert_eq!(found(""), 1);
    assert_eq!(found("odd<<<dim3(60, 540), 16>>>(from + 960, to, 1920, 540);"), 0);
}

/// Of a single record its first number may be meant; of many records, or of a number, it is not.
#[test]
fn the_first_member_of_a_record() {
    let found = |elements: &str, count: &str| {
        let text = format!(
            "struct Found {{ unsigned count; unsigned long long keys[64]; }};
void run() {{
    Found *found;
    cudaMalloc(&found, {elements}sizeof(Found));
    cudaMemset(found, 0, {count});
}}
"
        );
        of("element-count-as-bytes", &text).len()
    };
    assert_eq!(found("", "sizeof(unsigned)"), 0);
    assert_eq!(found("100 * ", "100 * sizeof(unsigned)"), 1);
}

/// What becomes of a pattern of bytes in a member is to be seen elsewhere; in memory that the function itself hands on it is not.
#[test]
fn bytes_that_a_member_is_filled_with() {
    let found = |memory: &str| {
        let text = format!(
            "__global__ void add(float *to) {{ to[threadIdx.x] += 1; }}
constexpr int FIRST = 0xfe;
struct View {{ float *depth; }};
void clear(View *view, int n) {{
    {memory}
}}
"
        );
        let all = of("memset-value-truncated", &text);
        all.iter().map(|found| found.confidence).collect::<Vec<_>>()
    };
    let member = "cudaMalloc(&view->depth, n * sizeof(float)); cudaMemset(view->depth, FIRST, n * sizeof(float));";
    assert!(found(member).is_empty());
    let own =
        "float *own, first; cudaMalloc(&own, n * sizeof(float)); cudaMemset(own, 1, n * sizeof(float)); add<<<1, n>>>(own);
    cudaMemcpy(&first, own, sizeof(float), cudaMemcpyDeviceToHost); if (first > 2) show(first);";
    assert_eq!(found(own), [Confidence::Definite]);
}

/// `CuPy` hands a short integer over with zeros behind it: a longer parameter reads the number, unless that is negative.
#[test]
fn short_integers_for_longer_ones() {
    let told = |parameter: &str, given: &str| {
        let text = format!(
            "import cupy as cp
import numpy as np

k = cp.RawKernel(r'''
extern \"C\" __global__ void k(float *p, {parameter} n) {{ p[0] = n; }}
''', 'k')
k((1,), (1,), (cp.zeros(4, dtype=cp.float32), {given}))
"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        let settings = Some("[lint]\nmin-confidence = \"possible\"\n");
        let all = match engine.lint_texts(&[("example.py".to_owned(), &text)], settings) {
            Ok(all) => all,
            Err(error) => panic!("{error}"),
        };
        let all = all.into_iter().filter(|finding| finding.rule.name == "kernel-argument-type-mismatch");
        all.map(|finding| finding.confidence).collect::<Vec<_>>()
    };
    assert_eq!(told("long long", "np.int64(3)"), []);
    assert_eq!(told("long long", "np.intc(3)"), [Confidence::Possible]);
    assert_eq!(told("float", "np.float64(3)"), [Confidence::Definite]);
    assert_eq!(told("double", "np.int32(3)"), [Confidence::Definite]);
    let text = "import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

k = SourceModule('''
__global__ void k(float *p, long long n) { p[0] = n; }
''').get_function('k')
k(drv.Out(np.zeros(4, dtype=np.float32)), np.int32(3), block=(1, 1, 1))
";
    let engine = Engine::new(cudalint_rules::RULES);
    let found = engine.lint_texts(&[("example.py".to_owned(), text)], None).unwrap_or_default();
    let found = found.iter().filter(|finding| finding.rule.name == "kernel-argument-type-mismatch");
    assert_eq!(found.map(|finding| finding.confidence).collect::<Vec<_>>(), [Confidence::Definite]);
}

/// The runtime takes a variable of the device by its address on the host, which a `const void *` may hold.
#[test]
fn symbols_that_a_parameter_holds() {
    let told = |parameter: &str, given: &str, count: &str| {
        let text = format!(
            "#include <cuda_runtime.h>
#include <cstdlib>
#define CHECK(call) if ((call) != cudaSuccess) exit(1)
__device__ unsigned long long counter;
__device__ int table[5];
static void get(void *to, {parameter} symbol, size_t size) {{
    void *from = NULL;
    CHECK(cudaGetSymbolAddress(&from, symbol));
    CHECK(cudaMemcpy(to, from, size, cudaMemcpyDeviceToHost));
}}
int main() {{
    int host[8];
    get(host, {given}, {count} * sizeof(int));
    return host[0];
}}
"
        );
        of("wrong-copy-direction", &text).len() + of("copy-exceeds-allocation", &text).len()
    };
    assert_eq!(told("const void *", "table", "5"), 0);
    assert_eq!(told("const void *", "&counter", "2"), 0);
    assert_eq!(told("const void *", "table", "6"), 1);
}

/// A row of an array has its own length.
#[test]
fn counts_of_rows() {
    let told = |copy: &str| {
        let text = format!(
            "#include <cuda_runtime.h>
int main() {{
    float rows[4][64], one[64];
    float *d;
    for (int i = 0; i < 64; ++i) rows[0][i] = rows[1][i] = one[i] = i;
    if (cudaMalloc(&d, 256) != cudaSuccess) return 1;
    {copy}
    return cudaFree(d) != cudaSuccess;
}}
"
        );
        of("element-count-as-bytes", &text).len()
    };
    assert_eq!(told("if (cudaMemcpy(d, rows[1], 256, cudaMemcpyHostToDevice) != cudaSuccess) return 1;"), 0);
    assert_eq!(told("if (cudaMemcpy(d, &rows[0][0], 256, cudaMemcpyHostToDevice) != cudaSuccess) return 1;"), 0);
    assert_eq!(told("if (cudaMemcpy(d, one, 64, cudaMemcpyHostToDevice) != cudaSuccess) return 1;"), 1);
}

/// `&object` may mean an operator of its class.
#[test]
fn addresses_that_a_class_gives_itself() {
    let told = |operator: &str| {
        let text = format!(
            "#include <cuda_runtime.h>
struct Buffer {{
    float *data = nullptr;
    {operator}
}};
__global__ void fill(float *to) {{ to[threadIdx.x] = 1; }}
int main() {{
    Buffer buffer;
    if (cudaMalloc(&buffer.data, 128) != cudaSuccess) return 1;
    fill<<<1, 32>>>((float *)&buffer);
    return cudaDeviceSynchronize() != cudaSuccess;
}}
"
        );
        of("wrong-address-space", &text).len()
    };
    assert_eq!(told("float *operator&() { return data; }"), 0);
    assert_eq!(told(""), 1);
}

/// A kernel keeps a pointer in a variable of the device; later ones write through that what nobody gives them.
#[test]
fn memory_that_a_kernel_has_put_a_pointer_to_somewhere() {
    let told = |first: &str| {
        let text = format!(
            "__device__ float *kept;
__global__ void keep(float *memory) {{ {first} }}
__global__ void fill() {{ kept[threadIdx.x] = threadIdx.x; }}
int main() {{
    float *memory, all[32];
    cudaMalloc(&memory, sizeof(all));
    keep<<<1, 1>>>(memory);
    fill<<<1, 32>>>();
    cudaMemcpy(all, memory, sizeof(all), cudaMemcpyDeviceToHost);
    return all[3] > 0;
}}
"
        );
        of("uninitialized-device-memory", &text).len() + of("partial-initialization", &text).len()
    };
    assert_eq!(told("kept = memory;"), 0);
    assert_ne!(told(""), 0);
}

/// What is computed of something out of sight may be an array: nothing is known of how long that is.
#[test]
fn arrays_made_of_what_is_out_of_sight() {
    let found = |made: &str| {
        let text = format!(
            "import numpy as np
import cupy as cp

kernel = cp.RawKernel(r'''
extern \"C\" __global__ void go(const unsigned char *solid, float *f, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && !solid[i]) f[i] = 1;
}}''', 'go')
y, x = np.meshgrid(np.arange(50), np.arange(100), indexing='ij')
solid = cp.asarray({made}, dtype=cp.uint8)
f = cp.zeros(5000, dtype=cp.float32)
kernel((20,), (256,), (solid, f, 5000))
print(f)
"
        );
        let engine = Engine::new(cudalint_rules::RULES);
        let found = engine.lint_texts(&[("example.py".to_owned(), &*text)], None).unwrap_or_default();
        found.iter().filter(|finding| finding.rule.name == "guard-does-not-cover-access").count()
    };
    assert_eq!(found("(x - 3) ** 2 + (y - 4) ** 2 <= 100"), 0);
    assert_eq!(found("x * 2"), 0);
    assert_ne!(found("3"), 0);
}
