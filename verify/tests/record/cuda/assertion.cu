// record: memcheck synccheck
#include <cassert>
#include <cuda_runtime.h>
__global__ void demand(int n) {
    assert(int(threadIdx.x) < n);
}
int main() {
    demand<<<1, 32>>>(8);
    cudaDeviceSynchronize();
    return 0;
}
