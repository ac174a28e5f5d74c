// record: racecheck racecheck-all
#include <cuda_runtime.h>
__global__ void last_wins(int* out) {
    __shared__ int s;
    s = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s;
}
int main() {
    int* out;
    cudaMalloc(&out, 256 * sizeof(int));
    last_wins<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
