//! The least and the greatest value of each subscript: of blocks that were executed, and shown for all others.

use super::support::kernel;
use cudalint_kernel::Contents;

const AXPY: &str = "__global__ void k(const float *x, float *y, int n) {\n\
                    int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) y[i] = 2.0f * x[i + 1]; }";

#[test]
fn what_all_blocks_do_holds_for_the_launch() {
    let small = kernel(AXPY).grid(4).buffer(4096).buffer(4000).int(1000);
    assert_eq!(small.indices(), ["y[i] 0…999 of 1000", "x[i + 1] 1…1000 of 1024"]);
    // Most blocks of a large grid are not executed: that none of them goes beyond is shown.
    let large = kernel(AXPY).grid(4096).buffer(4 << 20).buffer(4 << 20).int(1_048_576 - 5);
    assert_eq!(large.indices(), ["y[i] 0…1048570 of 1048576", "x[i + 1] 1…1048571 of 1048576"]);
}

#[test]
fn what_only_blocks_show_that_are_not_executed_is_not_said() {
    // The greatest index is that of a block in the middle, which nobody looks at.
    let text = "__global__ void k(float *y) { int b = blockIdx.x; y[(b * (1000 - b)) / 7 + threadIdx.x] = 1; }";
    assert_eq!(kernel(text).grid(1000).buffer(1 << 20).indices(), ["y[(b * (1000 - b)) / 7 + threadIdx.x] -"]);
    let text = "__global__ void k(float *y) { int b = blockIdx.x == 517 ? 9000 : blockIdx.x; y[b] = 1; }";
    assert_eq!(kernel(text).grid(1000).buffer(1 << 20).indices(), ["y[b] -"]);
    let text = "__global__ void k(float *y) { y[blockIdx.x % 100] = 1; }";
    assert_eq!(kernel(text).grid(1000).buffer(400).indices().len(), 1);
    // Where a function is called from such a block alone, too.
    let text = "__device__ void put(float *y, int i) { y[i] = 1; }\n\
                __global__ void k(float *y) { if (blockIdx.x == 517) put(y, 77); else put(y, 3); }";
    assert_eq!(kernel(text).grid(1000).buffer(400).indices(), ["y[i] -"]);
    assert_eq!(kernel(text).grid(5).buffer(400).indices(), ["y[i] 3…3 of 100"]);
}

#[test]
fn each_subscript_has_its_own() {
    let text = "__global__ void k(float *in, float *out) { __shared__ float t[32][33];\n\
                t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x]; __syncthreads();\n\
                out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y]; }";
    let all = kernel(text).block2(32, 8).buffer(1024).buffer(2048).indices();
    assert_eq!(
        all,
        [
            "t[threadIdx.y] 0…7 of 32",
            "t[threadIdx.y][threadIdx.x] 0…31 of 33",
            "in[threadIdx.y * 32 + threadIdx.x] 0…255 of 256",
            "out[threadIdx.y * 32 + threadIdx.x] 0…255 of 512",
            "t[threadIdx.x] 0…31 of 32",
            "t[threadIdx.x][threadIdx.y] 0…7 of 33",
        ]
    );
    // A pointer into an array has no extent, and a member is no row.
    let text = "struct P { int a[4]; int b[4]; };\n__global__ void k(float *in, P *p) { float *row = in + 32 * threadIdx.y;\n\
                row[threadIdx.x] = 1; p[threadIdx.y].a[threadIdx.x & 3] = 1; }";
    let all = kernel(text).block2(32, 4).buffer(512).buffer(128).indices();
    assert_eq!(all, ["row[threadIdx.x] 0…31", "p[threadIdx.y] 0…3 of 4", "p[threadIdx.y].a[threadIdx.x & 3] 0…3"]);
}

#[test]
fn what_is_not_known_of_one_thread_is_not_said() {
    let text = "__global__ void k(const int *index, float *out) { int i = threadIdx.x; out[index[i]] = 1; }";
    assert_eq!(kernel(text).buffer(1024).buffer(1024).indices(), ["out[index[i]] -", "index[i] 0…255 of 256"]);
    // Who comes there is open.
    let text = "__global__ void k(const int *in, float *out, int n) { int i = threadIdx.x;\n\
                if (in[i]) out[i] = 1; if (i < n) out[i + 1] = 1; out[i + 2] = 1; }";
    let all = kernel(text).buffer(1024).buffer(4096).unknown().indices();
    assert_eq!(all, ["in[i] 0…255 of 256", "out[i] -", "out[i + 1] -", "out[i + 2] 2…257 of 1024"]);
    // A thread may have left before.
    let text = "__global__ void k(const int *in, float *out) { int i = threadIdx.x; if (in[i]) return; out[i] = 1; }";
    assert_eq!(kernel(text).buffer(1024).buffer(1024).indices(), ["in[i] 0…255 of 256", "out[i] -"]);
    // A loop that is not followed to its end.
    let text = "__global__ void k(float *out, int n) { for (int i = 0; i < n; i++) out[i * threadIdx.x] = 1; }";
    assert_eq!(kernel(text).buffer(1 << 20).int(100_000).indices(), ["out[i * threadIdx.x] -"]);
    assert_eq!(kernel(text).buffer(1 << 20).int(4).indices(), ["out[i * threadIdx.x] 0…765 of 262144"]);
    // Code that is not understood as a whole, and a grid that nobody knows.
    let text = "void unknown(float *); __global__ void k(float *out) { unknown(out); out[threadIdx.x] = 1; }";
    assert_eq!(kernel(text).buffer(1024).indices(), ["out[threadIdx.x] -"]);
    assert_eq!(kernel(AXPY).grid(0).buffer(4096).buffer(4096).int(1000).indices(), ["y[i] -", "x[i + 1] -"]);
}

#[test]
fn only_who_comes_there_counts() {
    let text = "__global__ void k(const float *in, float *out, int n) { int i = threadIdx.x;\n\
                float left = i > 0 ? in[i - 1] : 0; float right = i + 1 < n && in[i + 1] > 0 ? 1 : 0;\n\
                if (i % 2) out[i] = left + right; }";
    let zeros = Contents::Filled(0);
    let all = kernel(text).holding(1024, zeros).buffer(1024).int(256).indices();
    assert_eq!(all, ["in[i - 1] 0…254 of 256", "in[i + 1] 1…255 of 256", "out[i] 1…255 of 256"]);
}
