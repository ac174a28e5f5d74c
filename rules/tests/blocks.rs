//! Which blocks of a launch show a defect: the last that work, the last of many large ones, and each that is full.
#![allow(clippy::indexing_slicing)]

mod common;

use common::of;
use cudalint_findings::Confidence;

/// Of a grid of which the last blocks do nothing, the last that work are executed: there what is stored leaves the array.
#[test]
fn blocks_at_the_end_of_what_is_worked_on() {
    let crop = |width: u32, height: u32, stride: &str| {
        format!(
            "__global__ void crop(const int *in, int *out, int w, int h) {{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < h - 2 && c < w - 2) out[r * {stride} + c] = in[r * w + c];
}}
void run(const int *host) {{
    const int w = {width}, h = {height};
    int *in, *out;
    if (cudaMalloc(&in, w * h * 4) != cudaSuccess || cudaMalloc(&out, (w - 2) * (h - 2) * 4) != cudaSuccess) return;
    if (cudaMemcpy(in, host, w * h * 4, cudaMemcpyHostToDevice) != cudaSuccess) return;
    dim3 b(32, 32), g(w / b.x + 1, h / b.y + 1);
    crop<<<g, b>>>(in, out, w, h);
}}
"
        )
    };
    for (width, height) in [(640, 480), (96, 96), (128, 128), (320, 320), (650, 490)] {
        assert_eq!(of("guard-does-not-cover-access", &crop(width, height, "w")).len(), 1, "{width} {height}");
        assert_eq!(of("guard-does-not-cover-access", &crop(width, height, "(w - 2)")).len(), 0, "{width} {height}");
    }
}

/// The last of many large blocks sums up what nobody has written; that somebody sees it shows where it is executed alone. The size of
/// the blocks is the largest that a device takes, which is the same on all.
#[test]
fn the_rest_of_a_block_that_nobody_writes() {
    let sums = |block: &str, fill: &str| {
        format!(
            "__global__ void sums(const double *x, int n, double *out) {{
    __shared__ double t[1024];
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    {fill}
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {{
        if (threadIdx.x < s) t[threadIdx.x] += t[threadIdx.x + s];
        __syncthreads();
    }}
    if (threadIdx.x == 0) out[blockIdx.x] = t[0];
}}
void run(const double *host) {{
    const int n = 10000;
    cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return;
    int threads = {block}, blocks = (n + threads - 1) / threads;
    double *x, *out;
    if (cudaMalloc(&x, n * 8) != cudaSuccess || cudaMalloc(&out, blocks * 8) != cudaSuccess) return;
    if (cudaMemcpy(x, host, n * 8, cudaMemcpyHostToDevice) != cudaSuccess) return;
    sums<<<blocks, threads>>>(x, n, out);
}}
"
        )
    };
    for block in ["1024", "256", "device.maxThreadsPerBlock"] {
        let found = of("uninitialized-shared-read", &sums(block, "if (i < n) t[threadIdx.x] = x[i];"));
        assert_eq!(found.len(), 1, "{block}");
        assert_eq!(found[0].confidence, Confidence::Definite, "{block}");
        let filled = sums(block, "t[threadIdx.x] = i < n ? x[i] : 0;");
        assert_eq!(of("uninitialized-shared-read", &filled).len(), 0, "{block}");
    }
}

/// What a full block does behind the usual guard it does for any number of elements that fills one; a table that only a large number
/// overruns is the callers' to keep to.
#[test]
fn shared_arrays_that_a_full_block_overruns() {
    let program = |size: &str, index: &str, launch: &str| {
        format!(
            "__global__ void k(float *r, int n) {{
    __shared__ float s[{size}];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) {{ s[{index}] = x; r[x] = s[{index}]; }}
}}
void run(float *r, int n) {{ k<<<{launch}>>>(r, n); }}
"
        )
    };
    for (size, index, launch, told) in [
        ("64", "threadIdx.x + 32", "(n + 63) / 64, 64", 1),
        ("96", "threadIdx.x + 32", "(n + 63) / 64, 64", 0),
        ("32", "threadIdx.x", "(n + 63) / 64, 64", 1),
        // The number of elements decides how far they come, or how many threads there are.
        ("64", "x", "(n + 63) / 64, 64", 0),
        ("64", "threadIdx.x", "1, n", 0),
        ("64", "threadIdx.x", "2, n", 0),
    ] {
        let found = of("shared-index-out-of-range", &program(size, index, launch));
        assert_eq!(found.len(), told, "{size} {index} {launch}");
    }
}

/// A guard that chooses among the elements below a bound says nothing of how many there are.
#[test]
fn elements_that_a_guard_chooses_among() {
    let sweep = |guard: &str| {
        format!(
            "__global__ void sweep(int *a, int step, int len) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = step - i;
    if ({guard}) a[i] = j;
}}
void run(int *a) {{ sweep<<<1, 256>>>(a, 1, 32000); }}
"
        )
    };
    for (guard, told) in [
        ("i <= len", 1),
        ("i % 2 == 0 && i <= len", 1),
        ("step == 1 && i <= len", 1),
        ("j == 0 && i <= len", 0),
        ("j >= 0 && i <= len", 0),
        ("i == step && i <= len", 0),
    ] {
        assert_eq!(of("grid-under-coverage", &sweep(guard)).len(), told, "{guard}");
    }
}

/// The block's extent and an argument that are one number, whatever it is, are not chosen apart; two numbers are. What shows with one
/// number for both is told.
#[test]
fn numbers_that_a_launch_ties_together() {
    let told = |work: &str, sizes: &str| {
        let text = format!(
            "#include \"tool.h\"
__global__ void turn(float *p, int n) {{
    extern __shared__ float s[];
    float *from = s, *to = s + blockDim.x;
    from[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    {work}
    p[threadIdx.x] = to[threadIdx.x] + from[threadIdx.x];
}}
void Tool::run(float *p, int g) {{ {sizes} turn<<<unknown(g), b, 2 * b * sizeof(float)>>>(p, n); }}
"
        );
        of("shared-memory-race", &text).len()
    };
    // What is read behind the first half is written by others where `n` is more than the threads.
    let two_halves = "for (int i = threadIdx.x; i + 1 < n; i += blockDim.x) to[i] = from[i + 1]; __syncthreads();";
    let no_barrier = "for (int step = 1; step < n; step *= 2) \
                      if (threadIdx.x + step < n) from[threadIdx.x] += from[threadIdx.x + step];";
    let (one, two) = ("int n = m_size, b = m_size;", "int n = m_size, b = m_threads;");
    assert_eq!([told(two_halves, one), told(two_halves, two)], [0, 1]);
    assert_eq!([told(no_barrier, one), told(no_barrier, two)], [1, 1]);
    // Somebody may have written it meanwhile.
    assert_eq!(told(two_halves, "int n = m_size; resize(); int b = m_size;"), 1);
}

/// A block that begins as a number and is halved where the work is small: that number is tried, and no other.
#[test]
fn blocks_that_are_written_and_may_be_others() {
    let text = |first: u32| {
        format!(
            "__global__ void most(int *m) {{
    int t = threadIdx.x + blockIdx.x * blockDim.x;
    for (int s = 128; s > 0; s >>= 1) if (t * s < 1024) m[t * s] = m[t * s] < m[t] ? m[t] : m[t * s];
}}
int size();
void run(int *m) {{
    int threads = {first};
    while (size() < threads) threads >>= 1;
    most<<<size() / threads, threads>>>(m);
}}
"
        )
    };
    for first in [64, 128] {
        let found = of("non-atomic-read-modify-write", &text(first));
        let assumed = |finding: &cudalint_findings::Finding| format!("{:?}", finding.witness);
        assert!(!found.is_empty() && assumed(&found[0]).contains(&format!("{first} threads")), "{first}: {found:?}");
    }
}
