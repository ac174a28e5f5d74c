// record: memcheck initcheck racecheck synccheck
#include <cuda_runtime.h>
__global__ void scale(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}
int main() {
    static float host[1 << 20];
    int n = 1 << 20;
    float* data;
    cudaMalloc(&data, n * sizeof(float) - 1024);
    cudaMemcpy(data, host, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<4096, 256>>>(data, n);
    cudaDeviceSynchronize();
    return 0;
}
