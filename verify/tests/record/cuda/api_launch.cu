// record: memcheck synccheck
#include <cuda_runtime.h>
template <typename T>
__global__ void nothing(T*) {}
void start(int* p, int threads) {
    nothing<int><<<1, threads>>>(p);
}
int main() {
    int* p;
    cudaMalloc(&p, 4);
    start(p, 64);
    start(p, 2048);
    void* args[] = {&p};
    cudaLaunchKernel(reinterpret_cast<const void*>(&nothing<int>), dim3(1), dim3(4096), args, 0, nullptr);
    cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(&nothing<int>), dim3(100000), dim3(1024), args, 0, nullptr);
    cudaDeviceSynchronize();
    cudaFree(p);
    return 0;
}
