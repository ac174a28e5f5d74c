//// counter_under_spin_lock: clean
__global__ void add(int *lock, volatile int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *count = *count + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

//// counter_under_lock_of_block: global-memory-race non-atomic-read-modify-write
__global__ void add(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS_block(lock, 0, 1) != 0) {}
        __threadfence();
        *count = *count + blockIdx.x;
        __threadfence();
        atomicExch_block(lock, 0);
    }
}

//// counter_under_lock_without_fence: global-memory-race non-atomic-read-modify-write
__global__ void add(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        *count = *count + blockIdx.x;
        atomicExch(lock, 0);
    }
}

//// counter_under_lock_of_each_block: global-memory-race non-atomic-read-modify-write
__global__ void add(int *locks, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&locks[blockIdx.x], 0, 1) != 0) {}
        __threadfence();
        *count = *count + blockIdx.x;
        __threadfence();
        atomicExch(&locks[blockIdx.x], 0);
    }
}

//// lock_released_by_plain_store: non-atomic-read-modify-write
__global__ void add(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *count = *count + 1;
        *lock = 0;
    }
}

//// fence_of_block_between_blocks: non-atomic-read-modify-write
__global__ void add(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence_block();
        *count = *count + blockIdx.x;
        __threadfence_block();
        atomicExch(lock, 0);
    }
}

//// block_atomics_between_blocks: global-memory-race
__global__ void count(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) atomicAdd_block(out, 1);
}

//// block_atomics_for_each_block: clean
__global__ void count(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) atomicAdd_block(&out[blockIdx.x], 1);
}

//// block_atomics_in_shared: clean
__global__ void count(const int *in, int *out, int n) {
    __shared__ int c;
    if (threadIdx.x == 0) c = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0) atomicAdd_block(&c, 1);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(out, c);
}

//// scoped_reference_of_block: global-memory-race
#include <cuda/atomic>
__global__ void count(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_block> c(*out);
    if (i < n && in[i] > 0) c.fetch_add(1);
}

//// scoped_reference_of_device: clean
#include <cuda/atomic>
__global__ void count(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_device> c(*out);
    if (i < n && in[i] > 0) c.fetch_add(1);
}

//// last_block_without_fence: open cross-block-dependency global-memory-race
__device__ unsigned done;
__global__ void sum(const float *in, float *parts, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float s = 0;
        for (int i = 0; i < gridDim.x; i++) s += parts[i];
        *out = s;
    }
}

//// last_block_with_fence: clean
__device__ unsigned done;
__global__ void sum(const float *in, volatile float *parts, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float s = 0;
        for (int i = 0; i < gridDim.x; i++) s += parts[i];
        *out = s;
    }
}

//// last_block_flag_without_barrier: shared-memory-race
__device__ unsigned done;
__global__ void sum(const float *in, volatile float *parts, float *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc(&done, gridDim.x) == gridDim.x - 1;
    }
    if (last && threadIdx.x < 32) out[threadIdx.x] = parts[threadIdx.x];
}

//// message_without_fence: open global-memory-race cross-block-dependency
__global__ void send(int *data, volatile int *flag, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        *flag = 1;
    } else {
        while (*flag == 0) {}
        out[blockIdx.x] = *data;
    }
}

//// message_with_fence: clean
__global__ void send(volatile int *data, volatile int *flag, int *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        out[blockIdx.x] = *data;
    }
}

//// election_cleared_without_barrier: open shared-memory-race shared-memory-race-across-iterations
__global__ void elect(const int *in, int *out, int rounds) {
    __shared__ int leader;
    int t = threadIdx.x;
    if (t == 0) leader = -1;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (atomicCAS(&leader, -1, t) == -1) out[r] = in[t];
        if (t == 0) leader = -1;
        __syncthreads();
    }
}

//// election_cleared_behind_barrier: clean
__global__ void elect(const int *in, int *out, int rounds) {
    __shared__ int leader;
    int t = threadIdx.x;
    if (t == 0) leader = -1;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (atomicCAS(&leader, -1, t) == -1) out[r] = in[t];
        __syncthreads();
        if (t == 0) leader = -1;
        __syncthreads();
    }
}

//// two_fields_under_one_lock_one_outside: global-memory-race non-atomic-read-modify-write
__global__ void update(int *lock, int *balance, int *log) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *balance += 1;
        __threadfence();
        atomicExch(lock, 0);
        *log += 1;
    }
}

//// locks_of_two_names: cross-block-dependency non-atomic-read-modify-write
__global__ void update(int *a_lock, int *b_lock, int *balance) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x % 2 == 0) {
        while (atomicCAS(a_lock, 0, 1) != 0) {}
        __threadfence();
        *balance += blockIdx.x;
        __threadfence();
        atomicExch(a_lock, 0);
    } else {
        while (atomicCAS(b_lock, 0, 1) != 0) {}
        __threadfence();
        *balance -= blockIdx.x;
        __threadfence();
        atomicExch(b_lock, 0);
    }
}
