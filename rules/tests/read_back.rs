//! What kernels leave unwritten: what a copy to the host, or the next kernel, reads of it.
#![allow(clippy::indexing_slicing)]

mod common;

use common::of;
use cudalint_findings::Confidence;

const TWICE: &str = "__global__ void twice(const double *a, double *c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    if (row < n && col < n) c[row * n + col] = 2 * a[row * n + col];
}
";

/// A program that doubles 100 × 100 numbers with such a grid, and statements between the launch and the copy back.
fn doubled(grid: &str, before: &str, between: &str) -> String {
    format!(
        "{TWICE}void run(const double *a, double *c) {{
    const int n = 100;
    double *da, *dc;
    size_t size = n * n * sizeof(double);
    if (cudaMalloc(&da, size) != cudaSuccess || cudaMalloc(&dc, size) != cudaSuccess) return;
    if (cudaMemcpy(da, a, size, cudaMemcpyHostToDevice) != cudaSuccess) return;
    {before}
    twice<<<dim3({grid}, {grid}), dim3(16, 16)>>>(da, dc, n);
    {between}
    double *host = new double[n * n];
    if (cudaMemcpy(host, dc, size, cudaMemcpyDeviceToHost) != cudaSuccess) return;
    c[0] = host[n * n - 1];
}}
"
    )
}

#[test]
fn a_copy_reads_what_too_small_a_grid_left_out() {
    let found = of("partial-initialization", &doubled("n / 16", "", ""));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].confidence, Confidence::Definite);
    assert_eq!(
        found[0].message,
        "`cudaMemcpy` copies 10000 elements of `dc` to the host, but nothing has written the last 404"
    );
    for clean in [
        doubled("(n + 15) / 16", "", ""),
        // Somebody else writes there, before or after, or nobody knows.
        doubled("n / 16", "if (cudaMemset(dc, 0, size) != cudaSuccess) return;", ""),
        doubled("n / 16", "", "if (cudaMemset(dc + 9000, 0, 1000 * sizeof(double)) != cudaSuccess) return;"),
        doubled("n / 16", "", "finish(dc, n);"),
        doubled("n / 16", "", "twice<<<dim3(7, 7), dim3(16, 16)>>>(da, dc, n);"),
        doubled("n / 16", "keep(&dc);", ""),
    ] {
        assert!(of("partial-initialization", &clean).is_empty(), "{clean}");
    }
}

/// A border that is left out all around mostly nobody looks at.
#[test]
fn borders_are_not_told() {
    let text = "__global__ void inner(const float *a, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) o[i] = a[i - 1] + a[i + 1];
}
void run(const float *a, float *o) {
    float *da, *d;
    if (cudaMalloc(&da, 1000 * 4) != cudaSuccess || cudaMalloc(&d, 1000 * 4) != cudaSuccess) return;
    if (cudaMemcpy(da, a, 1000 * 4, cudaMemcpyHostToDevice) != cudaSuccess) return;
    inner<<<4, 256>>>(da, d, 1000);
    float host[1000];
    if (cudaMemcpy(host, d, 1000 * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return;
    o[0] = host[1];
}
";
    assert!(of("partial-initialization", text).is_empty());
}

#[test]
fn what_a_kernel_never_touches_is_told() {
    let text = |body: &str| {
        format!(
            "__global__ void fill(int *out, bool on) {{ {body} }}
void run(int *o) {{
    int *d, host[64];
    if (cudaMalloc(&d, sizeof host) != cudaSuccess) return;
    fill<<<1, 64>>>(d, false);
    if (cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return;
    o[0] = host[0];
}}
"
        )
    };
    assert_eq!(of("uninitialized-device-memory", &text("if (on) out[threadIdx.x] = 1;")).len(), 1);
    assert!(of("uninitialized-device-memory", &text("out[threadIdx.x] = 1;")).is_empty());
    // What no kernel was given is copied to measure the copy.
    let measured = "void run(int *host) {
    int *d;
    if (cudaMalloc(&d, 64 * 4) != cudaSuccess) return;
    if (cudaMemcpy(host, d, 64 * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return;
}
";
    assert!(of("uninitialized-device-memory", measured).is_empty());
}

#[test]
fn the_next_kernel_reads_what_the_one_before_left_out() {
    let text = |condition: &str| {
        format!(
            "__global__ void diagonal(float *e, int n) {{
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n && c < n && {condition}) e[r * n + c] = 1;
}}
__global__ void take(const float *e, float *o, int n) {{
    int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n && c < n) o[r * n + c] = e[r * n + c];
}}
void run(float *h) {{
    const int n = 64;
    float *e, *o;
    if (cudaMalloc(&e, n * n * 4) != cudaSuccess || cudaMalloc(&o, n * n * 4) != cudaSuccess) return;
    dim3 block(16, 16), grid(4, 4);
    diagonal<<<grid, block>>>(e, n);
    take<<<grid, block>>>(e, o, n);
    if (cudaMemcpy(h, o, n * n * 4, cudaMemcpyDeviceToHost) != cudaSuccess) return;
}}
"
        )
    };
    let found = of("partial-initialization", &text("r == c"));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].confidence, Confidence::Definite);
    assert!(of("partial-initialization", &text("r >= 0")).is_empty());
}

/// Memory that a kernel is given and only reads stays unwritten, however long the kernel's loops are.
#[test]
fn a_kernel_that_writes_through_another_parameter_leaves_memory_unwritten() {
    let program = |body: &str| {
        format!(
            "__device__ void store(double &to, double value);
void outside(double *f);
__global__ void forces(const double *x, double *sums, double *f, int n) {{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    double s = 0;
    for (int j = 0; j < n; j++) s += x[j];
    {body}
    sums[i] = s;
}}
__global__ void update(double *x, const double *f, int n) {{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] += f[i];
}}
void run(double *host) {{
    const int n = 1000;
    double *x, *f, *sums;
    if (cudaMalloc(&x, n * 8) != cudaSuccess || cudaMalloc(&f, n * 8) != cudaSuccess) return;
    if (cudaMalloc(&sums, n * 8) != cudaSuccess) return;
    if (cudaMemcpy(x, host, n * 8, cudaMemcpyHostToDevice) != cudaSuccess) return;
    forces<<<8, 128>>>(x, sums, f, n);
    update<<<8, 128>>>(x, f, n);
    if (cudaMemcpy(host, x, n * 8, cudaMemcpyDeviceToHost) != cudaSuccess) return;
}}
"
        )
    };
    let told = |body: &str| of("uninitialized-device-memory", &program(body)).len();
    assert_eq!(told(""), 1);
    for written in [
        "f[i] = s;",
        "f[i] += s;",
        "*(f + i) = s;",
        "double *own = f; own[i] = s;",
        "double &own = f[i]; own = s;",
        "auto &own = f[i]; own = s;",
        "atomicExch((int *)&f[i], 0);",
        "store(f[i], s);",
        "auto set = [&](int at) { f[at] = s; }; set(i);",
        "asm(\"st.global.f64 [%0], %1;\" : : \"l\"(f), \"d\"(s));",
        "(i > 4 ? f : sums)[i] = s;",
    ] {
        assert_eq!(told(written), 0, "{written}");
    }
}

/// What stands behind the members of an element nobody writes, and nobody reads.
#[test]
fn padding_is_no_content() {
    let program = |threads: u32| {
        format!(
            "struct Row {{ unsigned long long key; unsigned count; }};
__global__ void fill(Row *rows) {{ rows[threadIdx.x].key = 1; rows[threadIdx.x].count = 2; }}
int main() {{
    Row host[5], *rows;
    if (cudaMalloc(&rows, 5 * sizeof(Row)) != cudaSuccess) return 1;
    fill<<<1, {threads}>>>(rows);
    if (cudaMemcpy(host, rows, 5 * sizeof(Row), cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    return host[4].count;
}}
"
        )
    };
    assert_eq!(of("partial-initialization", &program(5)).len(), 0);
    assert_eq!(of("partial-initialization", &program(4)).len(), 1);
}
