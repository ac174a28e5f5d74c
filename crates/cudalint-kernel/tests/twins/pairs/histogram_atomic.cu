__global__ void k(const int* a, int* h, int n) {
    __shared__ int s[16];
    int t = threadIdx.x;
    if (t < 16) s[t] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n) atomicAdd(&s[i % 16], 1);
    __syncthreads();
    if (t < 16) atomicAdd(&h[t], s[t]);
}
