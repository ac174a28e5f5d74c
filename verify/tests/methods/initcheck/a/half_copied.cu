// Half of a buffer is copied to the device, and all of it is read.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scale(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] * 2.0f;
}

int main() {
    const int n = 1024;
    float *host = static_cast<float *>(calloc(n, sizeof(float)));
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    cudaMemcpy(in, host, n / 2 * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<4, 256>>>(out, in, n);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    free(host);
    return 0;
}
