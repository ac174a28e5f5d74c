// record: memcheck
#include <cuda_runtime.h>
__global__ void gather(float* out, int far) {
    __shared__ float s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x + far];
}
int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    gather<<<1, 256>>>(out, 1);
    cudaDeviceSynchronize();
    return 0;
}
