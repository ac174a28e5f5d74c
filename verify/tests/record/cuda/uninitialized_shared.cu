// record: initcheck memcheck
#include <cuda_runtime.h>
__global__ void sum(float* out) {
    __shared__ float s[64];
    if (threadIdx.x < 32) s[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
int main() {
    float* out;
    cudaMalloc(&out, 64 * sizeof(float));
    sum<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
