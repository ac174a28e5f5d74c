#include <cuda_runtime.h>

int main() {
    const int n = 1 << 20;
    float *host = new float[n], *device;
    if (cudaMalloc(&device, n) != cudaSuccess) return 1;
    const size_t bytes = n * sizeof(float);
    if (cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice) != cudaSuccess) return 1;
}
