// record: memcheck
#include <cuda_runtime.h>
__global__ void vectors(float* in, float* out) {
    float4 v = *reinterpret_cast<float4*>(in + threadIdx.x);
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}
int main() {
    float *in, *out;
    cudaMalloc(&in, 256 * sizeof(float));
    cudaMalloc(&out, 256 * sizeof(float));
    cudaMemset(in, 0, 256 * sizeof(float));
    vectors<<<1, 32>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
