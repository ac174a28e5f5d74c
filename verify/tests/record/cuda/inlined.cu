// record: memcheck racecheck memcheck-kernel
// The access stands in a header's function: inlined, and called.
#include "inlined.cuh"
#include <cuda_runtime.h>
__global__ void through_inline(float* data) {
    data[0] = take(data, threadIdx.x + 100);
}
__global__ void through_call(float* data) {
    put(data, threadIdx.x + 100);
}
__global__ void through_two(float* data) {
    outer(data, threadIdx.x + 100);
}
int main() {
    float* data;
    cudaMalloc(&data, 32 * sizeof(float));
    cudaMemset(data, 0, 32 * sizeof(float));
    through_inline<<<1, 4>>>(data);
    cudaDeviceSynchronize();
    through_call<<<1, 4>>>(data);
    cudaDeviceSynchronize();
    through_two<<<1, 4>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
