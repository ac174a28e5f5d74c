// record: memcheck racecheck initcheck synccheck memcheck-kernel
#include <cuda_runtime.h>
__global__ void scale(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i % 8] = 2.0f *
        in[i];
}
int main() {
    int n = 1000;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMemset(in, 0, n * sizeof(float));
    cudaMalloc(&out, 64 * sizeof(float));
    scale<<<4, 256>>>(in, out);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    return 0;
}
