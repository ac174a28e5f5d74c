// A histogram is counted into memory that nobody has set to zero. There is no `main`: `count` is called by others.
#include <cuda_runtime.h>

__global__ void histogram(int *bins, const unsigned char *text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int bin = text[i] % 64;
        bins[bin] = bins[bin] + 1;
    }
}

void count(int *result) {
    const int n = 512;
    unsigned char *text;
    int *bins;
    cudaMalloc(&text, n);
    cudaMalloc(&bins, 64 * sizeof(int));
    cudaMemset(text, 0, n);
    histogram<<<2, 256>>>(bins, text, n);
    cudaMemcpy(result, bins, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    cudaFree(text);
    cudaFree(bins);
}
