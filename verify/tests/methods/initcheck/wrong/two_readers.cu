// Only the first half of a buffer is ever written. One kernel keeps to it; the other does not.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void first_half(float *out, const float *in, int half) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < half)
        out[i] = in[i] + 1.0f;
}

__global__ void everything(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] - 1.0f;
}

int main() {
    const int n = 512;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemset(in, 0, n / 2 * sizeof(float));
    first_half<<<2, 256>>>(out, in, n / 2);
    everything<<<2, 256>>>(out, in, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
