// record: synccheck
// Whole warps miss a barrier and live on.
#include <cuda_runtime.h>
__global__ void some_warps(int* out) {
    __shared__ int s[128];
    s[threadIdx.x] = 1;
    if (threadIdx.x < 64)
        __syncthreads();
    out[threadIdx.x] = s[127 - threadIdx.x];
    if (threadIdx.x >= 64) __syncthreads();
    out[threadIdx.x] += 1;
}
int main() {
    int* out;
    cudaMalloc(&out, 128 * sizeof(int));
    some_warps<<<1, 128>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
