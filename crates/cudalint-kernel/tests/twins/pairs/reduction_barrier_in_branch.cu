__global__ void k(const float* a, float* out) {
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int d = 64; d > 0; d /= 2) {
        if (t < d) {
            s[t] += s[t + d];
            __syncthreads();
        }
    }
    if (t == 0) out[0] = s[0];
}
