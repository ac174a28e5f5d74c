use crate::support::kernel;

#[test]
fn a_barrier_in_a_branch_that_part_of_the_block_takes_and_another_later() {
    kernel(
        "__global__ void k(float* a) { __shared__ float s[256]; int t = threadIdx.x; s[t] = a[t];
        if (t < 100) { __syncthreads(); a[t] = s[99 - t]; } __syncthreads(); a[t + 256] = s[255 - t]; }",
    )
    .buffer(2048)
    .sees(&["divergent 0.96 not 0.100 if t<100 goes __syncthreads() one warp"]);
    kernel("__global__ void k(float* a) { int t = threadIdx.x; if (t < 128) { __syncthreads(); a[t] = 1; } else { __syncthreads(); a[t] = 2; } }")
        .buffer(2048)
        .sees(&["divergent 0.0 not 0.128 if t<128 goes __syncthreads()"]);
}

#[test]
fn threads_that_leave_the_kernel_leave_the_barrier() {
    kernel("__global__ void k(float* a) { if (threadIdx.x < 128) { a[threadIdx.x] = 1; __syncthreads(); } }")
        .buffer(1024)
        .sees(&["divergent 0.0 not 0.128 if threadIdx.x<128 goes "]);
    kernel(
        "__global__ void k(float* a, int n) { __shared__ float s[256]; int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n) return; s[threadIdx.x] = a[i]; __syncthreads(); a[i] = s[255 - threadIdx.x]; }",
    )
    .grid(4)
    .buffer(4000)
    .int(1000)
    .sees(&[
        "exit return; of 3.232 waits 3.224 unwritten s[255-threadIdx.x]",
        "unwritten Read s[255-threadIdx.x] at 1020 partly",
    ]);
}

#[test]
fn uniform_conditions_are_none() {
    kernel("__global__ void k(float* a, int n) { __shared__ float s[256]; s[threadIdx.x] = a[threadIdx.x];
        if (n > 3) __syncthreads(); for (int i = 0; i < n; i++) { __syncthreads(); s[(threadIdx.x + i) % 256] += 1; __syncthreads(); }
        if (blockIdx.x == 0) { __syncthreads(); a[threadIdx.x] = s[0]; } }")
    .buffer(1024)
    .int(5)
    .clean_and_complete();
}

#[test]
fn a_loop_that_threads_leave_one_by_one() {
    kernel("__global__ void k(float* a, int n) { __shared__ float s[256]; for (int i = threadIdx.x; i < n; i += blockDim.x) {
        s[threadIdx.x] = a[i]; __syncthreads(); a[i] = s[threadIdx.x]; __syncthreads(); } }")
    .buffer(4000)
    .int(1000)
    .sees(&["divergent 0.224 not 0.232 if i<n goes  one warp", "divergent 0.224 not 0.232 if i<n goes  one warp"]);
}

#[test]
fn a_grid_barrier_needs_a_cooperative_launch() {
    let text = "#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* a) { cg::grid_group g = cg::this_grid(); int i = blockIdx.x; if (threadIdx.x == 0) a[i] = 1; g.sync(); if (threadIdx.x == 0) a[i + 4] = a[(i + 1) % 4]; }";
    kernel(text).grid(4).buffer(64).sees(&["grid sync"]);
    let mut cooperative = kernel(text).grid(4).buffer(64);
    cooperative.launch.cooperative = Some(true);
    cooperative.clean();
}
