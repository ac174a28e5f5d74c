// record: memcheck
#include <cuda_runtime.h>
__device__ float table[64];
__constant__ float weights[8];
__global__ void look_up(float* out, int far) {
    out[threadIdx.x] = table[threadIdx.x + far] + weights[(threadIdx.x + far) & 7];
}
int main() {
    float* out;
    cudaMalloc(&out, 128 * sizeof(float));
    look_up<<<1, 128>>>(out, 0);
    cudaDeviceSynchronize();
    return 0;
}
