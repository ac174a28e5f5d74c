// A histogram whose bins are counted atomically, and a sum that is not.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void histogram(int *bins, int *sum, const unsigned char *text, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&bins[text[i]], 1);
        *sum += text[i];
    }
}

int main() {
    const int n = 1000;
    unsigned char *text;
    int *bins, *sum;
    cudaMalloc(&text, n);
    cudaMalloc(&bins, 256 * sizeof(int));
    cudaMalloc(&sum, sizeof(int));
    cudaMemset(text, 0, n);
    cudaMemset(bins, 0, 256 * sizeof(int));
    cudaMemset(sum, 0, sizeof(int));
    histogram<<<4, 256>>>(bins, sum, text, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(text);
    cudaFree(bins);
    cudaFree(sum);
    return 0;
}
