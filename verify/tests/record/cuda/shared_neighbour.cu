// record: memcheck racecheck
// An overrun of one shared array into the next one of the same block.
#include <cuda_runtime.h>
__global__ void overrun(float* out) {
    __shared__ float a[100];
    __shared__ float b[400];
    b[threadIdx.x] = 2.0f;
    a[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = b[threadIdx.x] + a[threadIdx.x / 4];
}
int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    overrun<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
