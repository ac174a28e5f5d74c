// record: memcheck memcheck-explicit memcheck-nodebug
#include <cuda_runtime.h>
#include <cstdio>
__global__ void nothing(int*) {}
__constant__ float weights[8];
static void allocate(int** where) {
    cudaError_t status = cudaMalloc(where,
                                    size_t(1) << 50);
    std::printf("malloc %d\n", status);
}
int main() {
    static float host[4096];
    float* data;
    int* huge = nullptr;
    cudaMalloc(&data, 1024 * sizeof(float));
    cudaMemcpy(data, host, 4096 * sizeof(float) * 1024, cudaMemcpyHostToDevice);
    cudaMemcpy(data, host, 1024, cudaMemcpyDeviceToHost);
    cudaMemcpy(host, data, 1024, cudaMemcpyHostToDevice);
    cudaMemcpyAsync(data, host, 8192 * 1024, cudaMemcpyHostToDevice, 0);
    cudaMemcpy2D(data, 16, host, 8, 16, 4, cudaMemcpyHostToDevice);
    cudaMemset(data, 0, 1 << 30);
    cudaMemcpyToSymbol(weights, host, 4096);
    allocate(&huge);
    nothing<<<1, 2048>>>(huge);
    nothing<<<0, 32>>>(huge);
    nothing<<<dim3(1, 70000, 1), 32>>>(huge);
    nothing<<<1, 32, 100 << 20>>>(huge);
    cudaFree(data);
    cudaFree(data);
    cudaFree(host);
    cudaSetDevice(99);
    cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(0x1234));
    cudaEventRecord(nullptr, 0);
    cudaGetLastError();
    std::printf("end\n");
    return 0;
}
