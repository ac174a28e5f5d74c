//! Conditions, places and arguments that nobody knows: the answers that an execution is given for them, as assumptions.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;
use common::{rests_on, runs};

#[test]
fn a_condition_that_is_uniform_over_a_block_gets_an_answer() {
    let found = runs(
        r"
__global__ void k(float* out, const int* flag) {
    __shared__ float s[64];
    if (*flag) {
        s[threadIdx.x] = out[threadIdx.x];
        out[threadIdx.x] = s[63 - threadIdx.x];
    }
}
void run(float* out, const int* flag) { k<<<1, 64>>>(out, flag); }",
    );
    let answers: Vec<String> = found.iter().filter(|run| !run.report.events.is_empty()).map(rests_on).collect();
    assert_eq!(answers, ["`*flag` holds"], "{found:#?}");
}

/// What the executions that show something rest on.
fn shown(text: &str) -> Vec<String> {
    runs(text).iter().filter(|run| !run.report.events.is_empty()).map(rests_on).collect()
}

#[test]
fn some_threads_pass_a_condition_on_data() {
    let text = r"
__global__ void k(float* out, const float* in) {
    __shared__ float s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    if ((in[threadIdx.x] > 0) == (in[63 - threadIdx.x] > 0)) s[threadIdx.x] = 1;
    out[threadIdx.x] = s[63 - threadIdx.x];
}
void run(float* out, const float* in) { k<<<1, 64>>>(out, in); }";
    assert_eq!(shown(text), ["`(in[threadIdx.x] > 0) == (in[63 - threadIdx.x] > 0)` holds in some threads"]);
}

#[test]
fn places_that_hang_on_data_are_tried_with_zeros() {
    let text = r"
__global__ void count(int* out, const unsigned char* in, int n) {
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    BARRIER
    for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&s[in[i]], 1);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
void run(int* out, const unsigned char* in) { count<<<1, 256>>>(out, in, 1024); }";
    let with = |barrier: &str| shown(&text.replace("BARRIER", barrier));
    assert_eq!(with(""), ["the memory that the kernel is given holds zeros"]);
    assert_eq!(with("__syncthreads();"), [""; 0]);
    // Two places that hang on data may be apart by what the program knows of them.
    let permuted = text.replace("atomicAdd(&s[in[i]], 1)", "s[in[i]] = i").replace("1024", "256");
    assert_eq!(shown(&permuted.replace("BARRIER", "__syncthreads();")), [""; 0]);
    // A finding rests on one assumption at most: not on a size that is chosen and on what is in memory besides.
    let sized = text
        .replace("out[threadIdx.x] = s[threadIdx.x]", "atomicAdd(&out[threadIdx.x], s[threadIdx.x])")
        .replace("in) { count<<<1, 256>>>(out, in, 1024)", "in, int n) { count<<<(n + 255) / 256, 256>>>(out, in, n)");
    assert_eq!(shown(&sized.replace("BARRIER", "")), [""; 0]);
}

#[test]
fn a_kernel_nobody_launches_is_given_arguments_that_keep_it_going() {
    let text = r"
__global__ void sums(float* out, const float* in, int tiles) {
    __shared__ float tile[256];
    float sum = 0;
    for (int t = 0; t < tiles; t++) {
        tile[threadIdx.x] = in[t * 256 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 256; j += 64) sum += tile[j];
        BARRIER
    }
    out[threadIdx.x] = sum;
}";
    let said = "the kernel is launched with 256 threads per block and `tiles` is at least 2";
    assert_eq!(shown(&text.replace("BARRIER", "")), [said]);
    assert_eq!(shown(&text.replace("BARRIER", "__syncthreads();")), [""; 0]);
    // Types that nobody knows are not part of such a launch.
    let template = text.replace("BARRIER", "").replace("__global__", "template <class T> __global__");
    assert_eq!(shown(&template), [""; 0]);
}

#[test]
fn conditions_one_inside_another_are_answered_together() {
    let text = r"
__global__ void k(float* out, const float* in, int* flags) {
    __shared__ float s[64];
    if (threadIdx.x == 0) flags[2] = 1;
    if (flags[0] > 0) {
        for (int t = 0; t < flags[1]; t++) {
            s[threadIdx.x] = in[t * 64 + threadIdx.x];
            BARRIER
            out[threadIdx.x] += s[63 - threadIdx.x];
            __syncthreads();
        }
    }
}
void run(float* out, const float* in, int* flags) { k<<<1, 64>>>(out, in, flags); }";
    assert_eq!(shown(&text.replace("BARRIER", "")), ["`flags[0] > 0` holds and `t < flags[1]` holds 3 times"]);
    assert_eq!(shown(&text.replace("BARRIER", "__syncthreads();")), [""; 0]);
}
