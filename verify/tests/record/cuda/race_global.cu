// record: racecheck memcheck initcheck
#include <cuda_runtime.h>
__global__ void accumulate(int* out) { out[0] += 1; }
int main() {
    int* out;
    cudaMalloc(&out, sizeof(int));
    cudaMemset(out, 0, sizeof(int));
    accumulate<<<4, 256>>>(out);
    cudaDeviceSynchronize();
    return 0;
}
