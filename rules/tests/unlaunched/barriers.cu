//// barrier_in_branch_of_thread: barrier-in-divergent-branch
__global__ void halves(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    if (t < 32) {
        s[t] += 1;
        __syncthreads();
    }
    a[t] = s[63 - t];
}

//// barrier_in_both_branches: barrier-in-divergent-branch
__global__ void halves(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 32) {
        s[t] = a[t];
        __syncthreads();
    } else {
        s[t] = -a[t];
        __syncthreads();
    }
    a[t] = s[63 - t];
}

//// barrier_behind_branch: clean
__global__ void halves(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    if (t < 32) s[t] += 1;
    __syncthreads();
    a[t] = s[63 - t];
}

//// barrier_in_guard_that_ends_the_kernel: barrier-in-divergent-branch early-exit-before-barrier
__global__ void guarded(const float *in, float *out, int n) {
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        s[threadIdx.x] = in[i];
        __syncthreads();
        out[i] = s[(threadIdx.x + 1) % 256];
    }
}

//// barrier_in_uniform_branch: clean
__global__ void modes(const float *in, float *out, int mode) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    if (mode == 1) {
        __syncthreads();
        out[t] = s[255 - t];
    } else {
        out[t] = s[t];
    }
}

//// barrier_in_loop_of_thread_dependent_length: barrier-in-divergent-branch
__global__ void rounds(float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    for (int i = 0; i < t; i++) {
        s[t] += 1;
        __syncthreads();
    }
    a[t] = s[127 - t];
}

//// barrier_in_loop_over_a_size_that_may_fit: open barrier-in-divergent-branch
__global__ void strided(const float *in, float *out, int n) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int i = t; i < n; i += blockDim.x) {
        s[t] = in[i];
        __syncthreads();
        out[i] = s[127 - t];
        __syncthreads();
    }
}

//// barrier_in_loop_of_uniform_length: clean
__global__ void rounds(float *a, int k) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    for (int i = 0; i < k; i++) {
        __syncthreads();
        float x = s[(t + 1) % 128];
        __syncthreads();
        s[t] = x;
    }
    a[t] = s[t];
}

//// barrier_in_branch_on_data: open barrier-in-divergent-branch
__global__ void chosen(const int *flags, float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    if (flags[t] > 0) {
        s[t] *= 2;
        __syncthreads();
    }
    a[t] = s[127 - t];
}

//// barrier_in_branch_on_common_data: clean
__global__ void chosen(const int *flags, float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    if (flags[0] > 0) {
        s[t] *= 2;
        __syncthreads();
    }
    a[t] = s[127 - t];
}

//// early_return_before_barrier_is_legal: clean
__global__ void chosen(const int *flags, float *a) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t >= 100) return;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[99 - t];
}

//// barrier_in_switch: barrier-in-divergent-branch
__global__ void ways(float *a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    switch (t % 2) {
    case 0:
        __syncthreads();
        break;
    default:
        s[t] += 1;
        break;
    }
    a[t] = s[t ^ 1];
}

//// barrier_in_callee_in_branch: barrier-in-divergent-branch
__device__ void publish(float *s, float v) {
    s[threadIdx.x] = v;
    __syncthreads();
}
__global__ void calls(float *a) {
    __shared__ float s[64];
    if (threadIdx.x % 2) publish(s, a[threadIdx.x]);
    else s[threadIdx.x] = 0;
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}

//// break_out_of_barrier_loop: open barrier-in-divergent-branch
__global__ void search(const int *a, int *found, int key) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        s[t] = a[i * 128 + t];
        __syncthreads();
        if (s[(t + 1) % 128] == key) break;
        __syncthreads();
    }
    found[t] = s[t];
}

//// vote_out_of_barrier_loop: clean
__global__ void search(const int *a, int *found, int key) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int i = 0; i < 8; i++) {
        s[t] = a[i * 128 + t];
        if (__syncthreads_or(s[t] == key)) break;
        found[t] = s[(t + 1) % 128];
        __syncthreads();
    }
}

//// fixpoint_with_shared_flag: clean
__global__ void relax(float *a) {
    __shared__ float s[128];
    __shared__ int again;
    int t = threadIdx.x;
    s[t] = a[t];
    do {
        __syncthreads();
        if (t == 0) again = 0;
        __syncthreads();
        float x = s[(t + 1) % 128];
        __syncthreads();
        if (x > s[t]) { s[t] = x; again = 1; }
        __syncthreads();
    } while (again);
    a[t] = s[t];
}

//// fixpoint_flag_reset_too_early: shared-memory-race shared-memory-race-across-iterations
__global__ void relax(float *a) {
    __shared__ float s[128];
    __shared__ int again;
    int t = threadIdx.x;
    s[t] = a[t];
    do {
        if (t == 0) again = 0;
        __syncthreads();
        float x = s[(t + 1) % 128];
        __syncthreads();
        if (x > s[t]) { s[t] = x; again = 1; }
        __syncthreads();
    } while (again);
    a[t] = s[t];
}

//// group_barrier_in_branch: barrier-in-divergent-branch
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void halves(float *a) {
    __shared__ float s[64];
    cg::thread_block block = cg::this_thread_block();
    int t = block.thread_rank();
    s[t] = a[t];
    if (t < 32) {
        s[t] += 1;
        block.sync();
    }
    a[t] = s[63 - t];
}

//// group_barrier: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void halves(float *a) {
    __shared__ float s[64];
    cg::thread_block block = cg::this_thread_block();
    int t = block.thread_rank();
    s[t] = a[t];
    cg::sync(block);
    a[t] = s[63 - t];
}

//// tile_barrier_for_a_block: shared-memory-race
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void halves(float *a) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int t = block.thread_rank();
    s[t] = a[t];
    warp.sync();
    a[t] = s[63 - t];
}

//// tile_barrier_for_a_warp: clean
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void halves(float *a) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int t = block.thread_rank();
    s[t] = a[t];
    warp.sync();
    a[t] = s[t ^ 1];
}

//// early_return_of_rows_is_legal: clean
__global__ void edges(const float *in, float *out, int w, int h) {
    __shared__ float s[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= w || y >= h) return;
    s[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    out[y * w + x] = s[threadIdx.y][15 - threadIdx.x];
}

//// barrier_in_loop_over_data: open barrier-in-divergent-branch
__global__ void lists(const int *rows, const float *values, float *out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int e = rows[t]; e < rows[t + 1]; e++) {
        s[t] = values[e];
        __syncthreads();
        out[e] = s[t ^ 1];
        __syncthreads();
    }
}

//// barrier_in_loop_as_long_for_all: clean
__global__ void lists(const float *values, float *out, int first, int last) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int e = first + t; e < last + t; e += 128) {
        s[t] = values[e];
        __syncthreads();
        out[e] = s[t ^ 1];
        __syncthreads();
    }
}

//// barrier_that_nobody_misses_the_absent_at: clean
__global__ void listed(const int *flags, float *a, const int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (flags[i] > 0) {
        float own = a[i];
        __syncthreads();
        a[to[i]] = own;
    }
}

//// halving_with_the_barrier_inside: clean
__global__ void halving(float *sums) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = sums[t];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (t < half) {
            s[t] += s[t + half];
            __syncthreads();
        }
    }
    if (t == 0) sums[0] = s[0];
}
