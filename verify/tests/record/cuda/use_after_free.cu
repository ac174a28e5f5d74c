// record: memcheck
#include <cuda_runtime.h>
__global__ void fill(int* out) {
    out[threadIdx.x] = 7;
}
int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaFree(out);
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
