// record: memcheck
#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(call) \
    do { \
        cudaError_t status = (call); \
        if (status != cudaSuccess) std::printf("%s at %d\n", cudaGetErrorString(status), __LINE__); \
    } while (0)
#define AT(p, i) (p)[(i)]
__global__ void fill(int* p) {
    AT(p,
       threadIdx.x + 100) = 1;
}
int main() {
    int* p;
    CHECK(cudaMalloc(&p, 32 * sizeof(int)));
    CHECK(cudaMemset(
        p,
        0,
        1 << 20));
    fill<<<1,
           32>>>(p);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    return 0;
}
