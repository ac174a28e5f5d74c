// record: memcheck memcheck-kernel
#include <cuda_runtime.h>
__device__ __noinline__ int deep(volatile int* p, int n) {
    int keep[64];
    for (int k = 0; k < 64; ++k) keep[k] = p[k & 7];
    if (n == 0) return keep[p[0] & 63];
    return deep(p, n - 1) + keep[n & 63];
}
__global__ void recurse(int* p, int n) { p[0] = deep(p, n); }
int main() {
    int* p;
    cudaMalloc(&p, 64);
    cudaMemset(p, 0, 64);
    recurse<<<1, 1>>>(p, 100000);
    cudaDeviceSynchronize();
    return 0;
}
