// record: memcheck memcheck-limit
#include <cuda_runtime.h>
__global__ void fill(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
int main() {
    int* p;
    cudaMalloc(&p, 4);
    fill<<<8, 256>>>(p);
    cudaDeviceSynchronize();
    for (int k = 0; k < 300; ++k) cudaMemset(p, 0, 1 << 30);
    return 0;
}
