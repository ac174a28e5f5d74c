// record: synccheck
// Threads leave before the barrier: legal since sm_70.
#include <cuda_runtime.h>
__global__ void leave(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = i;
    __syncthreads();
    out[i] += 1;
}
int main() {
    int* out;
    cudaMalloc(&out, 1024 * sizeof(int));
    leave<<<4, 256>>>(out, 1000);
    cudaDeviceSynchronize();
    return 0;
}
