// record: memcheck
#include <cuda_runtime.h>
__global__ void fill(double* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 1.0;
}
int main() {
    double* out;
    cudaMalloc(&out, 1000 * sizeof(double));
    fill<<<4, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
