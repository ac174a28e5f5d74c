// record: synccheck memcheck racecheck
// Half of a warp waits at a barrier, the other half lives on.
#include <cuda_runtime.h>
__global__ void half(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    if (threadIdx.x < 16) {
        __syncthreads();
    }
    s[threadIdx.x] += 1;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    half<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
