// record: memcheck
#include <cuda_runtime.h>
__global__ void vectors(float* out) {
    __shared__ float s[256];
    s[threadIdx.x] = 1.0f;
    __syncthreads();
    *reinterpret_cast<float2*>(s + threadIdx.x) = make_float2(1.0f, 2.0f);
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
int main() {
    float* out;
    cudaMalloc(&out, 256 * sizeof(float));
    vectors<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
