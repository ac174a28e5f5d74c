// record: memcheck
#include <cuda_runtime.h>
__global__ void count(int* bins) { atomicAdd(&bins[threadIdx.x], 1); }
int main() {
    int* bins;
    cudaMalloc(&bins, 100 * sizeof(int));
    cudaMemset(bins, 0, 100 * sizeof(int));
    count<<<1, 128>>>(bins);
    cudaDeviceSynchronize();
    return 0;
}
