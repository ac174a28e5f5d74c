// record: memcheck
// A loop that the compiler unrolls, merges and vectorizes: which line does the record name?
#include <cuda_runtime.h>
__global__ void rows(const float* __restrict__ in, float* __restrict__ out, int n) {
    float sum = 0.0f;
    for (int k = 0; k < 4; ++k) {
        sum += in[threadIdx.x * 4 + k];
    }
    for (int k = 0; k < n; ++k)
        out[threadIdx.x + k * 64] = sum;
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 1000);
    cudaMalloc(&out, 64 * 4 * sizeof(float));
    cudaMemset(in, 0, 1000);
    rows<<<1, 64>>>(in, out, 5);
    cudaDeviceSynchronize();
    return 0;
}
