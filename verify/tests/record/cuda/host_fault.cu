// record: memcheck racecheck
#include <cuda_runtime.h>
#include <cstdio>
int main() {
    int* data;
    cudaMalloc(&data, 64);
    cudaMemset(data, 0, 64);
    std::printf("before\n");
    std::fflush(stdout);
    data[3] = 5;
    std::printf("after\n");
    return 0;
}
