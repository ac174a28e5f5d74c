__global__ void k(const float* a, float* parts, int* count, float* out) {
    __shared__ int last;
    int t = threadIdx.x;
    if (t == 0) {
        parts[blockIdx.x] = a[blockIdx.x * blockDim.x];
        __threadfence();
        int before = atomicAdd(&count[0], 1);
        last = before == gridDim.x - 1;
    }
    __syncthreads();
    if (last == 1 && t == 0) {
        float v = 0;
        for (int i = 0; i < gridDim.x; ++i) v += parts[i];
        out[0] = v;
    }
}
