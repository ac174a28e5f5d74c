// record: memcheck
// flags: -rdc=true separate_other.cu_
#include <cuda_runtime.h>
__device__ void store(int* p, int i);
__global__ void fill(int* p) {
    store(p, threadIdx.x);
}
int main() {
    int* p;
    cudaMalloc(&p, 32 * sizeof(int));
    fill<<<1, 64>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
