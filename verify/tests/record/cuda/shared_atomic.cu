// record: memcheck
#include <cuda_runtime.h>
__global__ void histogram(int* out) {
    __shared__ int bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], 1);
    __syncthreads();
    if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}
int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    histogram<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
