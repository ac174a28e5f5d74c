// record: initcheck initcheck-unused
#include <cuda_runtime.h>
#include <cstdio>
int main() {
    float host[256];
    float *data, *other;
    cudaMalloc(&data, sizeof host);
    cudaMalloc(&other, sizeof host);
    cudaMemcpy(host, data, sizeof host,
               cudaMemcpyDeviceToHost);
    cudaMemset(data, 0, 512);
    cudaMemcpy(other, data, sizeof host, cudaMemcpyDeviceToDevice);
    std::printf("%f\n", host[0]);
    return 0;
}
