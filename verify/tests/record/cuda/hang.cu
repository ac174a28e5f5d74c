// record: memcheck racecheck
// limit: 6
// An error, then a kernel that never ends.
#include <cuda_runtime.h>
#include <cstdio>
__global__ void spoil(int* p) { p[threadIdx.x + 100] = 1; }
__global__ void forever(volatile int* p) {
    while (p[0] == 0) {}
}
int main() {
    int* p;
    cudaMalloc(&p, 32 * sizeof(int));
    cudaMemset(p, 0, 32 * sizeof(int));
    cudaMemset(p, 0, 1 << 20);
    std::printf("before\n");
    std::fflush(stdout);
    forever<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    spoil<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return 0;
}
