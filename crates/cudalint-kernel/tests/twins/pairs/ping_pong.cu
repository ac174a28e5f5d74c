__global__ void k(float* a, int n) {
    __shared__ float s[2][64];
    int t = threadIdx.x;
    s[0][t] = a[t];
    __syncthreads();
    for (int i = 0; i < n; ++i) {
        s[(i + 1) & 1][t] = s[i & 1][63 - t] + 1;
        __syncthreads();
    }
    a[t] = s[n & 1][t];
}
