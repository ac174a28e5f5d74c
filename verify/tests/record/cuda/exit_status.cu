// record: memcheck racecheck
#include <cuda_runtime.h>
#include <cstdio>
int main() {
    int* data;
    cudaMalloc(&data, 64);
    cudaFree(data);
    std::printf("========= Invalid __global__ read of size 4 bytes\n=========     at nothing() in fake.cu:3\n");
    std::fprintf(stderr, "the program's own words\n");
    return 3;
}
