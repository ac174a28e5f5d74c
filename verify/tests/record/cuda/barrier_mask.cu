// record: synccheck
#include <cuda_runtime.h>
__global__ void masked(int* out) {
    int lane = threadIdx.x;
    if (lane < 8) {
        __syncwarp(0xffff0000u);
        out[lane] = __shfl_down_sync(0xffffffffu, lane, 1);
    }
    out[lane] += 1;
}
int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    masked<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
