// record: racecheck racecheck-all
#include <cuda_runtime.h>
__global__ void shift(int* data) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    int left = t > 0 ? s[t - 1] : 0;
    s[t] = left;
    __syncthreads();
    data[t] = s[t];
}
int main() {
    int* data;
    cudaMalloc(&data, 256 * sizeof(int));
    cudaMemset(data, 0, 256 * sizeof(int));
    shift<<<2, 256, 256 * sizeof(int)>>>(data);
    cudaDeviceSynchronize();
    return 0;
}
