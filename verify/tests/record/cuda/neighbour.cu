// record: memcheck memcheck-nopadding
// The array ends exactly where the next one begins: seen with padding only.
#include <cuda_runtime.h>
__global__ void sum(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) out[0] = in[i];
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    sum<<<2, 256>>>(in, out, 256);
    cudaDeviceSynchronize();
    return 0;
}
