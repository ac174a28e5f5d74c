// record: memcheck initcheck
#include <cuda_runtime.h>
__global__ void fill(int* out) { out[threadIdx.x] = 7; }
int main() {
    int* out = reinterpret_cast<int*>(0x10);
    fill<<<1, 32>>>(out);
    cudaDeviceSynchronize();
    fill<<<1, 32>>>(nullptr);
    cudaDeviceSynchronize();
    return 0;
}
