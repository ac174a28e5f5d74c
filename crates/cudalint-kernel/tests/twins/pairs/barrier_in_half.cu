__global__ void k(float* a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 16) {
        s[t] = a[t];
        __syncthreads();
        a[t] = s[15 - t];
    } else {
        s[t] = 1;
        __syncthreads();
    }
}
