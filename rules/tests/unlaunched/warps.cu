//// tail_without_warp_barrier: implicit-warp-sync
__global__ void total(const int *in, int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        s[t] += s[t + 16];
        s[t] += s[t + 8];
        s[t] += s[t + 4];
        s[t] += s[t + 2];
        s[t] += s[t + 1];
    }
    if (t == 0) *out = s[0];
}

//// tail_with_warp_barrier: clean
__global__ void total(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        int v = s[t] + s[t + 32];
        for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
        if (t == 0) *out = v;
    }
}

//// shuffle_mask_in_half_a_warp: warp-mask-mismatch
__global__ void half(const int *in, int *out) {
    int v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16) v += __shfl_down_sync(0xffffffffu, v, 8);
    out[threadIdx.x] = v;
}

//// shuffle_mask_of_half_a_warp: clean
__global__ void half(const int *in, int *out) {
    int v = in[threadIdx.x];
    if (threadIdx.x % 32 < 16) v += __shfl_down_sync(0x0000ffffu, v, 8);
    out[threadIdx.x] = v;
}

//// warp_sums_without_barrier: shared-memory-race
__global__ void total(const float *in, float *out) {
    __shared__ float sums[32];
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

//// warp_sums_with_barrier: clean
__global__ void total(const float *in, float *out) {
    __shared__ float sums[32];
    float v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int k = 16; k > 0; k /= 2) v += __shfl_xor_sync(0xffffffff, v, k);
        if (threadIdx.x == 0) out[blockIdx.x] = v;
    }
}

//// neighbour_in_warp_without_sync: implicit-warp-sync shared-memory-race
__global__ void swap(int *a) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    a[t] = s[31 - t];
}

//// neighbour_in_warp_with_sync: clean
__global__ void swap(int *a) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    a[t] = s[31 - t];
}
