__global__ void k(float* a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[t] + s[t + 1];
}
