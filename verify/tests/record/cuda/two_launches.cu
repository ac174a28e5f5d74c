// record: memcheck memcheck-kernel
// The first launch is in bounds, the second is not: which one does the report's host stack name?
#include <cuda_runtime.h>
__global__ void fill(int* p, int n) {
    if (int(threadIdx.x) < n) p[threadIdx.x] = 1;
}
int main() {
    int* p;
    cudaMalloc(&p, 32 * sizeof(int));
    fill<<<1, 64>>>(p, 32);
    fill<<<1, 64>>>(p, 40);
    cudaDeviceSynchronize();
    return 0;
}
