// A tree reduction whose levels nothing separates: a thread reads what another warp is still writing.
#include <cstdio>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void sum(const int *in, int *out) {
    __shared__ int partial[THREADS];
    int t = threadIdx.x;
    partial[t] = in[t];
    __syncthreads();
    for (int step = THREADS / 2; step > 0; step /= 2) {
        if (t < step)
            partial[t] += partial[t + step];
        // A barrier belongs here.
    }
    if (t == 0)
        *out = partial[0];
}

int main() {
    int ones[THREADS];
    for (int &one : ones)
        one = 1;
    int *in, *out, result = 0;
    cudaMalloc(&in, sizeof ones);
    cudaMalloc(&out, sizeof *out);
    cudaMemcpy(in, ones, sizeof ones, cudaMemcpyHostToDevice);
    sum<<<1, THREADS>>>(in, out);
    cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
    printf("%d of %d\n", result, THREADS);
    cudaFree(in);
    cudaFree(out);
    return 0;
}
