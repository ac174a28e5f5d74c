//! What executed kernels show and what does no harm is not told, or *possible* only.
#![allow(clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{findings, of};
use cudalint_engine::Engine;
use cudalint_findings::Confidence;

#[test]
fn updates_that_all_threads_make_alike_do_no_harm() {
    let kernel = |update: &str| {
        format!(
            "__global__ void k(int *out, int n) {{
    __shared__ int held;
    if (threadIdx.x == 0) held = 1000;
    __syncthreads();
    {update}
    __syncthreads();
    out[threadIdx.x] = held;
}}
void run(int *out) {{ k<<<1, 64>>>(out, 5); }}
"
        )
    };
    let sure = |update: &str| {
        let all = ["shared-memory-race", "non-atomic-read-modify-write"].map(|rule| of(rule, &kernel(update))).concat();
        all.into_iter().filter(|found| found.confidence > Confidence::Possible).count()
    };
    let alike = [
        "held = min(held, n);",
        "held |= 4;",
        "held = held & (n + 1);",
        "int most = n * 2; held = max(held, most);",
        "if (held > 10) held = 10;",
        "if (held != n) { held = n; }",
    ];
    for update in alike {
        assert_eq!(sure(update), 0, "{update}");
    }
    let different = [
        "held = min(held, n - (int)threadIdx.x);",
        "held |= 1 << threadIdx.x;",
        "held += 4;",
        "held = n - held;",
        "if (held > 10) held = threadIdx.x;",
        "if (held > 10) { held = 10; out[64] += 1; }",
        "out[64 + threadIdx.x] = held |= 4;",
    ];
    for update in different {
        assert!(sure(update) > 0, "{update}");
    }
}

#[test]
fn memory_that_nobody_looks_at_does_no_harm() {
    let program = |kernel: &str, host: &str| {
        format!(
            "__global__ void measure(long long *times, int *kept, const int *from) {{
    int sum = 3;
    long long start = clock64();
    asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(sum));
    {kernel}
    times[threadIdx.x] = clock64() - start;
}}
int use(int *values);
int main() {{
    long long times[32];
    int *kept = (int *)malloc(128 * sizeof(int));
    long long *device_times;
    int *device_kept, *from;
    cudaMalloc(&device_times, sizeof(times));
    cudaMalloc((void **)&device_kept, 128 * sizeof(int));
    cudaMalloc(&from, 128 * sizeof(int));
    measure<<<1, 32>>>(device_times, device_kept, from);
    cudaMemcpy(times, device_times, sizeof(times), cudaMemcpyDeviceToHost);
    cudaMemcpy(kept, device_kept, 128 * sizeof(*kept), cudaMemcpyDeviceToHost);
    printf(\"%lld\", times[0]);
    {host}
}}
"
        )
    };
    let sure = |kernel: &str, host: &str| {
        let rules = ["non-atomic-read-modify-write", "global-memory-race", "uninitialized-device-memory"];
        let all = rules.map(|rule| of(rule, &program(kernel, host))).concat();
        all.into_iter().filter(|found| found.confidence > Confidence::Possible).count()
    };
    let update = "kept[0] += sum;";
    let hosts = ["", "free(kept);", "if (kept == NULL) return 1; kept[0] = 0; cudaFree(device_kept);"];
    for host in hosts {
        assert_eq!(sure(update, host), 0, "{host}");
    }
    for kernel in [
        "kept = kept + blockIdx.x; int *to = kept; to[0] += sum;",
        "kept[0] = sum + threadIdx.x;",
        "int v = kept[threadIdx.x]; v += from[threadIdx.x]; kept[1] = v;",
    ] {
        assert_eq!(sure(kernel, ""), 0, "{kernel}");
    }
    let looked_at = [
        "printf(\"%d\", kept[0]);",
        "return use(kept);",
        "use(device_kept);",
        "int *same = kept; use(same);",
        "auto look = [&] { return kept[0]; }; look();",
        "measure<<<1, 32>>>(device_times, from, device_kept);",
    ];
    for host in looked_at {
        assert!(sure(update, host) > 0, "{host}");
    }
    let goes_on = [
        "kept[0] += sum; if (kept[0] > 4) times[40] = 1;",
        "int v = kept[0] += sum; times[threadIdx.x] = v;",
        "int v = from[threadIdx.x]; kept[1] = v; while (v > 4) v--;",
        "kept[0] += sum; if (blockIdx.x) kept = (int *)times; times[0] = kept[0];",
        "kept[0] += sum; times[1] = (long long)kept;",
        "int v[2]; v[0] = kept[threadIdx.x]; int *p = v; times[0] = p[0];",
    ];
    for kernel in goes_on {
        assert!(sure(kernel, "") > 0, "{kernel}");
    }
}

#[test]
fn tests_that_are_not_run_say_nothing() {
    let text = |before: &str, decorator: &str| {
        format!(
            "import pytest\nimport unittest\nfrom numba import cuda\nimport numpy as np\n{before}\n
@cuda.jit
def fill(a):
    a[cuda.grid(1)] = 1

{decorator}
def test_fill():
    fill[1, 64](cuda.to_device(np.zeros(10, np.float32)))
"
        )
    };
    let count = |before: &str, decorator: &str| {
        let text = text(before, decorator);
        let engine = Engine::new(cudalint_rules::RULES);
        match engine.lint_texts(&[("test_fill.py".to_owned(), &text)], None) {
            Ok(all) => all.iter().filter(|finding| finding.rule.name == "missing-bounds-guard").count(),
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(count("", ""), 1);
    assert_eq!(count("", "@pytest.mark.skipif(not cuda.is_available(), reason='no GPU')"), 1);
    for decorator in ["@pytest.mark.skip(reason='later')", "@unittest.skip('later')", "@pytest.mark.xfail"] {
        assert_eq!(count("", decorator), 0, "{decorator}");
    }
    assert_eq!(count("pytestmark = pytest.mark.skip(reason='later')", ""), 0);
}

#[test]
fn a_thread_that_tests_what_another_one_stores_loses_no_update() {
    let text = "__global__ void walk(const int *from, int *stack, int *out) {
    __shared__ int size;
    __shared__ int at;
    if (threadIdx.x == 0) size = 64;
    __syncthreads();
    while (size > 0) {
        if (threadIdx.x == 0) {
            size = size - 1;
            at = stack[size];
        }
        __syncthreads();
        if (from[at + threadIdx.x] < 0) stack[atomicAdd(&size, 1)] = at;
        out[at + threadIdx.x] = 1;
        __syncthreads();
    }
}
int main() {
    int *from, *stack, *out;
    cudaMalloc(&from, 4096 * sizeof(int));
    cudaMalloc(&stack, 4096 * sizeof(int));
    cudaMalloc(&out, 4096 * sizeof(int));
    cudaMemset(stack, 0, 4096 * sizeof(int));
    cudaMemset(from, 0, 4096 * sizeof(int));
    walk<<<1, 256>>>(from, stack, out);
}
";
    assert!(of("non-atomic-read-modify-write", text).is_empty());
    let races = of("shared-memory-race", text);
    assert!(races.iter().any(|race| race.message.contains("`size`")), "{races:#?}");
}

/// Where one side of `?:` has a type that nobody knows, each side is still read behind the condition alone.
#[test]
fn a_side_of_unknown_type_leaves_the_condition() {
    let text = |limit: &str| {
        format!(
            "template <class T> struct Sum {{ static const T zero = 0; }};
template <class T, template <class> class Op, int N> __device__ void reduce(T &v) {{
    const int lane = threadIdx.x & 31, warps = (blockDim.x + 31) >> 5;
    __shared__ T part[N];
    if (lane == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) v = lane < {limit} ? part[lane] : Op<T>::zero;
}}
template <class T, template <class> class Op = Sum, int N = 32> __global__ void run(T *d) {{
    T v = d[threadIdx.x];
    reduce<T, Op, N>(v);
    d[threadIdx.x] = v;
}}
int main() {{
    int *d;
    cudaMalloc(&d, 512 * sizeof(int));
    cudaMemset(d, 0, 512 * sizeof(int));
    run<int, Sum, 16><<<1, 512>>>(d);
}}
"
        )
    };
    assert_eq!(of("shared-index-out-of-range", &text("warps")).len(), 0);
    assert_eq!(of("shared-index-out-of-range", &text("2 * warps")).len(), 1);
}

/// What is read beyond an array for a shared array that nobody reads is never loaded.
#[test]
fn values_for_a_shared_array_that_nobody_reads_are_possible_only() {
    let text = |looked: &str| {
        format!(
            "__global__ void k(const float *a, float *to, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float s[256];
    s[threadIdx.x] = a[i];
    __syncthreads();
    if (i < n) to[i] = {looked};
}}
int main() {{
    float *a, *b;
    cudaMalloc(&a, 1000 * sizeof(float));
    cudaMalloc(&b, 1000 * sizeof(float));
    cudaMemset(a, 0, 1000 * sizeof(float));
    k<<<4, 256>>>(a, b, 1000);
}}
"
        )
    };
    let confidence = |text: &str| {
        findings("missing-bounds-guard", "[lint]\nmin-confidence = \"possible\"\n", text)
            .first()
            .map(|finding| finding.confidence)
    };
    assert_eq!(confidence(&text("1")), Some(Confidence::Possible));
    assert_eq!(confidence(&text("s[threadIdx.x ^ 1]")), Some(Confidence::Definite));
}

/// A value from just behind a shared array that ends in an element which nobody looks at; where somebody does, it is told.
#[test]
fn reads_behind_a_shared_array_whose_value_nobody_sees() {
    let lifting = |reader: &str| {
        format!(
            "__global__ void lift(float *out, const float *in) {{
    __shared__ float held[514];
    int t = threadIdx.x, at = 4 * t;
    held[2 * t] = in[2 * t];
    held[2 * t + 1] = in[2 * t + 1];
    if (t < 2) held[512 + t] = in[512 + t];
    __syncthreads();
    if (at <= 512) held[at] += held[at + 2] * 0.5f;
    __syncthreads();
    {reader}
}}
void run(float *out, const float *in) {{ lift<<<1, 256>>>(out, in); }}
"
        )
    };
    let told = |text: &str| of("shared-index-out-of-range", text).len();
    assert_eq!(told(&lifting("if (at < 508) out[at] = held[at];")), 0);
    for reader in [
        "if (at < 514) out[at] = held[at];",
        "if (at < 514 && held[at] > 1) out[at] = 1;",
        "if (t == 0) atomicAdd(out, held[512]);",
        "out[t] = held[2 * t + (t == 255) * 2];",
    ] {
        assert_eq!(told(&lifting(reader)), 1, "{reader}");
    }
    // Far behind it is another block's memory, or nobody's.
    let far = lifting("if (at < 508) out[at] = held[at];").replace("held[at + 2]", "held[at + 200]");
    assert_eq!(told(&far), 1);
}

/// The error of a last free at the end of `main` nobody sees, whatever other functions have done before; behind it something may be harmed.
#[test]
fn a_pointer_that_is_freed_again_at_the_end_of_main() {
    let program = |behind: &str| {
        format!(
            "float *a, *b;
__global__ void fill(float *p) {{ p[threadIdx.x] = 1; }}
void allocate() {{ cudaMalloc(&a, 400); cudaMalloc(&b, 400); }}
void move();
int main() {{
    allocate();
    move();
    cudaFree(a);
    cudaFree(b);
    cudaFree(a);
    {behind}
    return 0;
}}
void move() {{ fill<<<1, 100>>>(b); }}
"
        )
    };
    assert_eq!(of("bad-free", &program("")).len(), 0);
    assert_eq!(of("bad-free", &program("cudaMalloc(&b, 400);")).len(), 1);
}

/// A store of what lies there anyway changes nothing for those who read it meanwhile; one that changes it does.
#[test]
fn parts_of_a_record_that_are_stored_back_as_they_were() {
    let found = |change: &str, used: &str| {
        let text = format!(
            "struct Bird {{ float x; float speed; }};
__global__ void move(Bird *birds, float *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Bird own = birds[i];
    float sum = 0;
    for (int k = 0; k < n; k++) {{ sum += birds[k].{used}; }}
    {change}
    birds[i] = own;
    out[i] = sum;
}}
int main() {{
    Bird *birds;
    float *out;
    cudaMalloc(&birds, 256 * sizeof(Bird));
    cudaMalloc(&out, 256 * sizeof(float));
    load(birds);
    move<<<2, 128>>>(birds, out, 256);
    show(out, birds);
}}
"
        );
        ["global-memory-race", "cross-block-dependency"].map(|rule| of(rule, &text)).concat().len()
    };
    assert_eq!(found("own.speed = sum;", "x"), 0);
    assert_ne!(found("own.speed = sum;", "speed"), 0);
    assert_ne!(found("own.x = sum;", "x"), 0);
}

/// Red and black: a cell of the other colour is stored back as it was.
#[test]
fn cells_that_a_condition_leaves_as_they_were() {
    let found = |condition: &str| {
        let text = format!(
            "__global__ void sweep(float *u, int colour) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    float own = u[i];
    if ({condition}) own = 0.5f * (u[i - 1] + u[i + 1]);
    u[i] = own;
}}
int main() {{
    float *u;
    cudaMalloc(&u, 1026 * sizeof(float));
    load(u);
    sweep<<<8, 128>>>(u, 0);
    show(u);
}}
"
        );
        ["global-memory-race", "cross-block-dependency"].map(|rule| of(rule, &text)).concat().len()
    };
    assert_eq!(found("(i & 1) == colour"), 0);
    assert_ne!(found("colour == 0"), 0);
}

/// A program that only measures how long a kernel runs shows no race, be the memory managed; one that reads what it computed does.
#[test]
fn managed_memory_that_nobody_reads() {
    let found = |shown: &str| {
        let text = format!(
            "__global__ void step(const int c, const int n, double *u, double *before) {{
    int first = blockIdx.x * blockDim.x + threadIdx.x, stride = blockDim.x * gridDim.x;
    for (int t = 0; t < 10; t++) {{
        for (int i = first; i < n; i += stride) before[i] = u[i];
        for (int i = first + 1; i < n; i += stride) u[i] = before[i] - c * before[i - 1];
    }}
}}
int main() {{
    const int n = 2000;
    double *u, *before;
    cudaMallocManaged(&u, n * sizeof(double));
    cudaMallocManaged(&before, n * sizeof(double));
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin);
    step<<<8, 256>>>(1, n, u, before);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float elapsed = 0;
    cudaEventElapsedTime(&elapsed, begin, end);
    printf(\"%f\\n\", elapsed);
    {shown}
    cudaFree(u);
    cudaFree(before);
}}
"
        );
        of("global-memory-race", &text).len()
    };
    assert_eq!(found(""), 0);
    assert_ne!(found("printf(\"%f\\n\", u[1]);"), 0);
}

/// What a thread of a corner reads first goes into a cell that it overwrites itself: who wrote it when is nothing to anybody, be the
/// writer of another block, and be the cells records.
#[test]
fn cells_that_their_reader_stores_anew() {
    let alone = |ty: &str, guard: &str| {
        let text = format!(
            "struct Cell {{ double a, b; }};
__global__ void ghosts({ty} *u, const {ty} *inner) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    int own = j * 64 + i;
    if (j == 0 && {guard}) u[own] = u[own + 1];
    if (i < 20) u[own] = inner[own];
}}
int main() {{
    {ty} *u, *inner;
    cudaMalloc(&u, 64 * 64 * sizeof({ty}));
    cudaMalloc(&inner, 64 * 64 * sizeof({ty}));
    load(u, inner);
    ghosts<<<dim3(4, 4), dim3(16, 16)>>>(u, inner);
    show(u);
}}
"
        );
        let all = ["global-memory-race", "cross-block-dependency"].map(|rule| of(rule, &text)).concat();
        all.iter().filter(|found| found.confidence > Confidence::Possible).count()
    };
    for ty in ["float", "Cell"] {
        assert_eq!(alone(ty, "i < 19"), 0, "{ty}");
        assert_ne!(alone(ty, "i < 30"), 0, "{ty}");
    }
}
