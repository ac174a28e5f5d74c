// record: memcheck
#include <cuda_runtime.h>
__global__ void scatter(float* out, int at) {
    float a[8];
    for (int k = 0; k < 8; ++k) a[k] = k;
    a[at + threadIdx.x] = 1.0f;
    out[threadIdx.x] = a[(at + threadIdx.x) & 7];
}
int main(int argc, char**) {
    float* out;
    cudaMalloc(&out, 32 * sizeof(float));
    scatter<<<1, 32>>>(out, 1 << (19 + argc));
    cudaDeviceSynchronize();
    return 0;
}
