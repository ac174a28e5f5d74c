// record: memcheck memcheck-stream
#include <cuda_runtime.h>
__global__ void fill(int* out) {
    out[threadIdx.x] = 7;
}
int main() {
    cudaStream_t a, b;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    int* out;
    cudaMallocAsync(&out, 32 * sizeof(int), a);
    fill<<<1, 32, 0, b>>>(out);
    cudaFreeAsync(out, a);
    fill<<<1, 32, 0, b>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
