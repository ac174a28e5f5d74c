__global__ void k(int* h) {
    __shared__ int s[16];
    int t = threadIdx.x;
    atomicAdd(&s[t % 16], 1);
    __syncthreads();
    if (t < 16) h[t] = s[t];
}
