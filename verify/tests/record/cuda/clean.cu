// record: memcheck racecheck initcheck synccheck leakcheck
#include <cuda_runtime.h>
__global__ void fill(int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
int main() {
    int* out;
    cudaMalloc(&out, 1000 * sizeof(int));
    fill<<<4, 256>>>(out, 1000);
    cudaDeviceSynchronize();
    cudaFree(out);
    return 0;
}
