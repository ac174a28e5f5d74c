// Half of a warp waits at a barrier that the other half walks past; all of them live on.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void halves(int *out) {
    __shared__ int values[64];
    int t = threadIdx.x;
    values[t] = t;
    if (t % 32 < 16) {
        values[t] *= 2;
        __syncthreads();
    }
    values[t] += 1;
    __syncthreads();
    out[t] = values[63 - t];
}

int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof(int));
    halves<<<1, 64>>>(out);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(out);
    return 0;
}
