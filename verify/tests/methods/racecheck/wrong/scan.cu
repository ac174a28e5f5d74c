// Two kernels. The first is right: its barrier stands between write and read. The second has lost its barrier.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void reverse(int *data) {
    __shared__ int copy[128];
    int t = threadIdx.x;
    copy[t] = data[t];
    __syncthreads();
    data[t] = copy[127 - t];
}

__global__ void rotate(int *data) {
    __shared__ int copy[128];
    int t = threadIdx.x;
    copy[t] = data[t];
    data[t] = copy[(t + 32) % 128];
}

int main() {
    int *data;
    cudaMalloc(&data, 128 * sizeof(int));
    cudaMemset(data, 0, 128 * sizeof(int));
    reverse<<<1, 128>>>(data);
    rotate<<<1, 128>>>(data);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(data);
    return 0;
}
