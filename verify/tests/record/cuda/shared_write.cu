// record: memcheck racecheck
#include <cuda_runtime.h>
__global__ void stage(float* out) {
    __shared__ float s[100];
    s[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x / 4];
}
int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    stage<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
