// What `cargo xtask agree` is tried with: sizes, offsets and launches that can be computed, in a header, a macro and a loop.
#include "sizes.h"
#include <stdio.h>

#define CHECK(call)                                                                                                                  \
    do {                                                                                                                             \
        cudaError_t status = (call);                                                                                                 \
        if (status != cudaSuccess) {                                                                                                 \
            return 1;                                                                                                                \
        }                                                                                                                            \
    } while (0)

__constant__ float weights[8];

__global__ void scale(float *data, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        data[i] *= by * weights[i % 8];
    }
}

int main(int argc, char **argv) {
    int n = argc > 1 ? 7 : COUNT * 3;
    float host[8] = {1};
    float *data;
    CHECK(cudaMalloc(&data,
                     n * sizeof(float)));
    CHECK(cudaMemcpyToSymbol(weights, host, sizeof host));
    CHECK(cudaMemset(data, 0, bytes_of(n)));
    for (int round = 0; round < 3; ++round) {
        scale<<<(n + 127) / 128, 128, 64>>>(data + round, n - round, 2.0f);
    }
    CHECK(cudaMemcpy(host, data + 4, sizeof(float) * 8, cudaMemcpyDeviceToHost));
    printf("%f\n", host[0]);
    cudaFree(data);
    return 0;
}
