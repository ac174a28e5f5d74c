//// assertions_of_a_prover: shared-memory-race
__global__ void shift(int *a, int n) {
    __requires(n == 64);
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __assert(s[t] == a[t]);
    a[t] = s[(t + 1) % 64];
}

//// assertions_of_a_prover_with_barrier: clean
__global__ void shift(int *a, int n) {
    __requires(n == 64);
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    __assert(s[t] == a[t]);
    a[t] = s[(t + 1) % 64];
}

//// loop_invariants: shared-memory-race
__global__ void reduce(int *a, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 64; __invariant(d >= 0), d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
    }
    a[t] = s[t];
}

//// loop_invariants_with_barrier: clean
__global__ void reduce(int *a, int n) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 64; __invariant(d >= 0), d > 0; d /= 2) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    a[t] = s[t];
}

//// empty_macros: shared-memory-race
#define REQUIRES(x)
#define ENSURES(x)
#define BARRIER_INVARIANT(x, y)
__global__ void copy(float *to, const float *from) {
    REQUIRES(blockDim.x == 128);
    __shared__ float s[128];
    s[threadIdx.x] = from[threadIdx.x];
    BARRIER_INVARIANT(s, threadIdx.x);
    to[threadIdx.x] = s[127 - threadIdx.x];
    ENSURES(to[0] == from[127]);
}

//// assert_header: shared-memory-race
#include <assert.h>
__global__ void copy(float *to, const float *from, int n) {
    __shared__ float s[128];
    assert(n <= 128);
    s[threadIdx.x] = from[threadIdx.x];
    assert(s[threadIdx.x] >= 0);
    to[threadIdx.x] = s[127 - threadIdx.x];
}

//// unknown_function_of_numbers: shared-memory-race
__device__ float weight(int i);
__global__ void copy(float *to, const float *from) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = from[t] * weight(t);
    to[t] = s[127 - t];
}

//// unknown_function_of_numbers_with_barrier: clean
__device__ float weight(int i);
__global__ void copy(float *to, const float *from) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = from[t] * weight(t);
    __syncthreads();
    to[t] = s[127 - t];
}

//// unknown_log_of_thread_zero: shared-memory-race
__device__ void report(int code);
__global__ void copy(float *to, const float *from) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t == 0) report(1);
    s[t] = from[t];
    __syncthreads();
    s[t] += s[(t + 1) % 128];
    __syncthreads();
    to[t] = s[t];
}

//// unknown_function_of_pointer: clean
__device__ void load(float *to, const float *from);
__global__ void copy(float *to, const float *from) {
    __shared__ float s[128];
    load(s, from);
    to[threadIdx.x] = s[127 - threadIdx.x];
}

//// unknown_function_of_other_pointer_then_barrier: shared-memory-race
__device__ void record(int *log, int value);
__global__ void copy(float *to, const float *from, int *log) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t == 0) record(log, 1);
    __syncthreads();
    s[t] = from[t];
    to[t] = s[127 - t];
}

//// nested_uniform_conditions: shared-memory-race
__global__ void deep(float *a, int m, int n, bool forward) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (m > 4) {
            if (forward) {
                s[t] = a[i * 128 + t];
                a[i * 128 + t] = s[127 - t];
            }
            __syncthreads();
        }
    }
}

//// nested_uniform_conditions_with_barrier: clean
__global__ void deep(float *a, int m, int n, bool forward) {
    __shared__ float s[128];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (m > 4) {
            if (forward) {
                s[t] = a[i * 128 + t];
                __syncthreads();
                a[i * 128 + t] = s[127 - t];
            }
            __syncthreads();
        }
    }
}

//// guard_of_member: shared-memory-race
struct Params { int n; int stride; float *data; };
__global__ void run(Params p) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t < p.n) s[t] = p.data[t * p.stride];
    if (t < p.n) p.data[t] = s[p.n - 1 - t];
}

//// guard_of_member_with_barrier: clean
struct Params { int n; int stride; float *data; };
__global__ void run(Params p) {
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t < p.n) s[t] = p.data[t * p.stride];
    __syncthreads();
    if (t < p.n) p.data[t] = s[p.n - 1 - t];
}

//// device_function_without_kernel: open shared-memory-race
__device__ float sum_of_block(float v) {
    __shared__ float s[256];
    s[threadIdx.x] = v;
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    return s[0];
}

//// device_function_without_kernel_with_barrier: clean
__device__ float sum_of_block(float v) {
    __shared__ float s[256];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    return s[0];
}

//// long_loop_before_race: shared-memory-race
__global__ void simulate(float *a, int steps) {
    __shared__ float s[256];
    int t = threadIdx.x;
    float x = a[t];
    for (int i = 0; i < 100000; i++) x = x * 0.5f + 1;
    s[t] = x;
    a[t] = s[255 - t];
}

//// long_loop_with_barriers_before_race: shared-memory-race
__global__ void simulate(float *a) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 0; i < 100000; i++) {
        float x = s[(t + 1) % 256];
        __syncthreads();
        s[t] = x;
        __syncthreads();
    }
    s[t] *= 2;
    a[t] = s[255 - t];
}

//// long_loop_with_barriers: clean
__global__ void simulate(float *a) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 0; i < 100000; i++) {
        float x = s[(t + 1) % 256];
        __syncthreads();
        s[t] = x;
        __syncthreads();
    }
    s[t] *= 2;
    __syncthreads();
    a[t] = s[255 - t];
}

//// last_round_of_long_loop: shared-memory-race
__global__ void simulate(float *a) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 0; i < 20000; i++) {
        float x = s[(t + 1) % 256];
        __syncthreads();
        s[t] = x;
        if (i != 19999) __syncthreads();
    }
    a[t] = s[255 - t];
}

//// update_of_one_element_on_data: non-atomic-read-modify-write global-memory-race
__global__ void scan(const int *keys, int *best, int n) {
    int i = threadIdx.x;
    if (i < n) {
        int k = keys[i];
        if (k > best[0]) best[0] = k;
    }
}
