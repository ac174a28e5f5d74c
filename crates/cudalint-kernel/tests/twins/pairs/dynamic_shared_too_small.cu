__global__ void k(float* a) {
    extern __shared__ float s[];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    a[t] = s[t ^ 3];
}
