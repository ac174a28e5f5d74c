// record: memcheck racecheck memcheck-kernel
#include <cuda_runtime.h>
#include <cstdio>
__global__ void stop(int* p) {
    p[0] = 1;
    __trap();
}
int main() {
    int* p;
    cudaMalloc(&p, 4);
    stop<<<1, 1>>>(p);
    std::printf("%d\n", cudaDeviceSynchronize());
    std::printf("%d\n", cudaFree(p));
    return 0;
}
