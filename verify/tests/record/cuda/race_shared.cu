// record: memcheck racecheck racecheck-all synccheck
#include <cuda_runtime.h>
__global__ void reduce(const int* in, int* out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    for (int k = 128; k > 0; k /= 2) {
        if (t < k) {
            s[t] +=
                s[t + k];
        }
    }
    if (t == 0) out[0] = s[0];
}
int main() {
    int *in, *out;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(in, 1, 256 * sizeof(int));
    reduce<<<1, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
