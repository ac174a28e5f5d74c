// Every thread adds to one number in global memory, in two steps.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void total(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[0] += in[i];
}

int main() {
    const int n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    cudaMemset(out, 0, sizeof(float));
    total<<<4, 256>>>(out, in, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
