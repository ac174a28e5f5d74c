// record: memcheck
// flags: -arch=sm_75
// No code for this device: the launch fails.
#include <cuda_runtime.h>
__global__ void nothing() {}
int main() {
    nothing<<<1, 1>>>();
    cudaDeviceSynchronize();
    return 0;
}
