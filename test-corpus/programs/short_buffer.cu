// Scales an array on the GPU. The device buffer was made a little too small, and nobody reads what the calls return.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

__global__ void scale(float *data, int size) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size) {
        data[i] *= 2.0f;                                                             //~ guard-does-not-cover-access
    }
}

int main() {
    const int size = 1024 * 1024;
    float *host = (float *)malloc(size * sizeof(float));
    float *device;
    for (int i = 0; i < size; ++i) host[i] = i;

    cudaMalloc((void **)&device, size * sizeof(float) - 1024);                       //~ unchecked-api-call
    cudaMemcpy(device, host, size * sizeof(float), cudaMemcpyHostToDevice);          //~ copy-exceeds-allocation
    scale<<<size / 256, 256>>>(device, size);                                        //~ unchecked-launch
    cudaMemcpy(host, device, size * sizeof(float) - 1024, cudaMemcpyDeviceToHost);

    printf("%f\n", host[1]);
    cudaFree(device);
    free(host);
    return 0;
}
