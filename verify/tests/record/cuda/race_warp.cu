// record: racecheck
// Lanes of one warp, without __syncwarp.
#include <cuda_runtime.h>
__device__ int sum_of(volatile int* s, int lane) {
    if (lane < 16) s[lane] += s[lane + 16];
    if (lane < 8) s[lane] += s[lane + 8];
    return s[0];
}
__global__ void warp_sum(int* out) {
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = lane;
    out[lane] = sum_of(s, lane);
}
int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    warp_sum<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
