#include <cuda_runtime.h>
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) exit(1); } while (0)
__global__ void scale(float *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i] = 2.0f;
}
int main() {
    const int n = 1000;
    float *d;
    CHECK(cudaMalloc(&d, n * sizeof(float)));
    scale<<<4, 256>>>(d, n);
    cudaDeviceSynchronize();
    cudaFree(d);
}
