// record: memcheck
// asan: yes
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
int main() {
    float* data;
    float* host = static_cast<float*>(std::malloc(256));
    cudaMalloc(&data, 4096);
    cudaMemcpy(host, data, 256, cudaMemcpyDeviceToHost);
    std::printf("%f\n", host[64]);
    std::printf("%f\n", data[0]);
    return 0;
}
