// record: initcheck memcheck
#include <cuda_runtime.h>
__global__ void add(const float* in, float* out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1.0f;
}
int main() {
    float host[512] = {};
    float *in, *out;
    cudaMalloc(&in, 1024 * sizeof(float));
    cudaMalloc(&out, 1024 * sizeof(float));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    add<<<4, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
