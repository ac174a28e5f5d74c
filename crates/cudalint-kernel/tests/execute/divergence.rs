//! What is unknown stays silent.

use crate::support::kernel;

#[test]
fn under_a_condition_on_data_nothing_is_said() {
    kernel("__global__ void k(int* a, int n) { int i = threadIdx.x; if (a[i] > 0) { a[i + n] = 1; } }")
        .buffer(1024)
        .int(1000)
        .clean();
    kernel("__global__ void k(int* a, int* b) { int i = threadIdx.x; if (a[i] > 0) return; b[i + 300] = 1; }")
        .buffer(1024)
        .buffer(1024)
        .clean();
}

#[test]
fn what_a_doubtful_branch_assigns_is_not_known_afterwards() {
    kernel("__global__ void k(int* a) { int i = threadIdx.x, j = i; if (a[i] > 0) j = i + 1000; a[j] = 1; }")
        .buffer(1024)
        .clean();
    kernel("__global__ void k(int* a, int m) { int j = threadIdx.x; while (true) { if (a[j] > m) break; j += 100; if (j > 200) break; } a[j + 400] = 1; }")
        .buffer(1024)
        .unknown()
        .clean();
    // Both sides say the same.
    kernel("__global__ void k(int* a, int* b) { int i = threadIdx.x, j; if (b[i] > 0) j = i + 1; else j = 1 + i; a[j] = 1; }")
        .buffer(1024)
        .buffer(1024)
        .sees(&["outside a[j] at 1024 by 0.255 x1"]);
}

#[test]
fn after_a_doubtful_loop_what_it_did_not_touch_is_known() {
    kernel("__global__ void k(int* a, int* b) { int i = threadIdx.x, s = 0; for (int j = b[i]; j < b[i + 1]; j++) s += b[j]; a[i] = s; }")
        .buffer(1020)
        .buffer(4096)
        .sees(&["outside a[i] at 1020 by 0.255 x1"]);
}

#[test]
fn a_switch_on_data() {
    kernel("__global__ void k(int* a) { int i = threadIdx.x, j = 0; switch (a[i]) { case 0: j = 1; break; case 1: j = 2; default: j = 1000; } a[j] = 1; }")
        .buffer(1024)
        .clean();
    kernel("__global__ void k(int* a, int m) { int i = threadIdx.x, j = 0; switch (m) { case 0: j = 1; break; case 1: j = 2; case 5: j = j + 254; break; default: j = 1000; } a[j + i] = 1; }")
        .block(2)
        .buffer(1024)
        .int(1)
        .sees(&["outside a[j+i] at 1024 by 0.0 x2"]);
}

#[test]
fn an_unknown_index_forgets_the_values() {
    kernel("__global__ void k(int* a, int* b) { __shared__ int s[2]; if (threadIdx.x == 0) { s[0] = 3; s[b[0] & 1] = 400; } __syncthreads(); a[s[0]] = 1; }")
        .block(32)
        .buffer(16)
        .buffer(64)
        .clean();
}

#[test]
fn a_call_out_of_sight_may_be_a_barrier() {
    kernel("__device__ void other(float*); __global__ void k(float* a) { __shared__ float s[256]; s[threadIdx.x] = 1; other(s); a[threadIdx.x] = s[255 - threadIdx.x]; a[threadIdx.x + 9999] = 0; }")
        .buffer(1024)
        .sees(&["outside a[threadIdx.x+9999] at 39996 by 0.0 x256"]);
}

#[test]
fn pointers_that_loops_move_stay_in_their_objects() {
    // The store through `p` may be to any element, but to none of `b`.
    kernel("__global__ void k(int* a, int* b, int m) { int* p = a; int t = threadIdx.x; if (t == 0) { b[0] = 260; for (int i = 0; i < m; i++) { *p = i; p += 2; } } __syncthreads(); b[b[0]] = 1; }")
        .buffer(4096)
        .buffer(1024)
        .unknown()
        .sees(&["outside b[b[0]] at 1040 by 0.0 x256"]);
    // Two that take turns may be anywhere in both.
    kernel("__global__ void k(int* a, int* b, int m) { int *p = a, *q = b; int t = threadIdx.x; if (t == 0) { b[0] = 260; for (int i = 0; i < m; i++) { p[i] = i; int* o = p; p = q; q = o; } } __syncthreads(); b[b[0]] = 1; }")
        .buffer(4096)
        .buffer(1024)
        .unknown()
        .clean();
}
