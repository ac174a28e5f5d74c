// record: memcheck initcheck
#include <cuda_runtime.h>
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
int main() {
    int* p;
    cudaMallocManaged(&p, 32 * sizeof(int));
    fill<<<1, 64>>>(p);
    int early = p[0];
    cudaDeviceSynchronize();
    return early == 12345;
}
