__global__ void k(float* a, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        float v = s[(t + 1) % 64];
        s[t] = v + 1;
        __syncthreads();
    }
    a[t] = s[t];
}
