#include <cuda/pipeline>
#include <cuda_runtime.h>

__global__ void reverse(const int *values, int *to) {
    __shared__ int staged[256];
    cuda::pipeline<cuda::thread_scope_thread> copies = cuda::make_pipeline();
    copies.producer_acquire();
    cuda::memcpy_async(&staged[threadIdx.x], &values[threadIdx.x], sizeof(int), copies);
    copies.producer_commit();
    cuda::pipeline_consumer_wait_prior<0>(copies);
    to[threadIdx.x] = staged[255 - threadIdx.x];
    copies.consumer_release();
}

int main() {
    int *values, *to;
    cudaMalloc(&values, 256 * sizeof(int));
    cudaMalloc(&to, 256 * sizeof(int));
    cudaMemset(values, 0, 256 * sizeof(int));
    reverse<<<1, 256>>>(values, to);
    cudaDeviceSynchronize();
    cudaFree(values);
    cudaFree(to);
}
