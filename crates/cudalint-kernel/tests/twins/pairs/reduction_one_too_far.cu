__global__ void k(const int* a, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t + 1] = a[t];
    __syncthreads();
    for (int d = 32; d > 0; d /= 2) {
        if (t < d) s[t + 1] = s[t + 1] + s[t + 1 + d];
        __syncthreads();
    }
    if (t == 0) out[0] = s[1];
}
