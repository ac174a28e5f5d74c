// record: memcheck
#include <cuda_runtime.h>
#include <cstdlib>
__global__ void fill(int* out) {
    out[threadIdx.x] = 7;
}
int main() {
    int* out = static_cast<int*>(std::malloc(32 * sizeof(int)));
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
