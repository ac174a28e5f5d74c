// record: memcheck leakcheck
#include <cuda_runtime.h>
__global__ void heap(int** keep) {
    int* p = static_cast<int*>(malloc(16));
    p[8] = 1;
    free(p);
    free(p);
    keep[0] = static_cast<int*>(malloc(32));
}
int main() {
    int** keep;
    cudaMalloc(&keep, 8);
    heap<<<1, 1>>>(keep);
    cudaDeviceSynchronize();
    return 0;
}
