__global__ void k(const float* a, float* b, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    float v = 0;
    for (int i = 0; i < n; i += 64) {
        s[t] = a[i + t];
        __syncthreads();
        v += s[63 - t];
    }
    b[t] = v;
}
