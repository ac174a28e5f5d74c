// record: initcheck
#include <cuda_runtime.h>
__global__ void slow(float* out) {
    long long start = clock64();
    while (clock64() - start < 100000000) {}
    out[threadIdx.x] = 1.0f;
}
int main() {
    float* host;
    cudaMallocHost(&host, 256 * sizeof(float));
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    float* data;
    cudaMalloc(&data, 256 * sizeof(float));
    slow<<<1, 256, 0, a>>>(data);
    cudaMemcpyAsync(host, data, 256 * sizeof(float), cudaMemcpyDeviceToHost, b);
    cudaDeviceSynchronize();
    return 0;
}
