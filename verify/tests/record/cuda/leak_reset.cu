// record: leakcheck
#include <cuda_runtime.h>
int main() {
    float *a, *c;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMalloc(&a, 1000);
    cudaMallocAsync(&c, 2000, stream);
    cudaStreamSynchronize(stream);
    cudaDeviceReset();
    return 0;
}
