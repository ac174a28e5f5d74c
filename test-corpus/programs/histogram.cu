// Counts bytes. Each block counts in dynamic shared memory, which the launch forgets to ask for, and the last bytes are
// never counted.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                     \
    do {                                                                                \
        cudaError_t status = (call);                                                    \
        if (status != cudaSuccess) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
            exit(1);                                                                    \
        }                                                                               \
    } while (0)

__global__ void count(const unsigned char *text, int length, unsigned int *bins) {
    extern __shared__ unsigned int local[];
    for (int b = threadIdx.x; b < 256; b += blockDim.x) local[b] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) atomicAdd(&local[text[i]], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], local[b]);
}

int main() {
    const int length = 100000;
    std::vector<unsigned char> text(length, 'a');
    unsigned char *device_text;
    unsigned int *device_bins, bins[256];

    CHECK(cudaMalloc(&device_text, text.size()));
    CHECK(cudaMalloc(&device_bins, sizeof(bins)));
    CHECK(cudaMemset(device_bins, 0, 256));                                            //~ element-count-as-bytes
    CHECK(cudaMemcpy(device_text, text.data(), text.size(), cudaMemcpyHostToDevice));
    count<<<(length + 255) / 256, 256>>>(device_text, length, device_bins);            //~ dynamic-shared-size-too-small
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(bins, device_bins, sizeof(bins), cudaMemcpyHostToDevice));        //~ wrong-copy-direction
    printf("%u\n", bins['a']);
    CHECK(cudaFree(device_text));
    CHECK(cudaFree(device_bins));
    return 0;
}
