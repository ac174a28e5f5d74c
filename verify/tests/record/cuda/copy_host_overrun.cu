// record: memcheck
// asan: yes
// A copy back that overruns a host buffer.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
int main() {
    float* data;
    float* host = static_cast<float*>(std::malloc(256));
    cudaMalloc(&data, 4096);
    cudaMemset(data, 0, 4096);
    cudaError_t status = cudaMemcpy(host, data, 4096, cudaMemcpyDeviceToHost);
    std::printf("%d %f\n", status, host[0]);
    std::free(host);
    return 0;
}
