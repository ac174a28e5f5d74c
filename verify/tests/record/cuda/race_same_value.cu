// record: racecheck racecheck-all
#include <cuda_runtime.h>
__global__ void all_agree(int* out) {
    __shared__ int s;
    s = 5;
    __syncthreads();
    out[threadIdx.x] = s;
}
int main() {
    int* out;
    cudaMalloc(&out, 256 * sizeof(int));
    all_agree<<<1, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
