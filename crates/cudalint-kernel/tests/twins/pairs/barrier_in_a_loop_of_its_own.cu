__global__ void k(float* a) {
    int t = threadIdx.x;
    for (int i = 0; i < t % 2 + 1; ++i) {
        a[t] += 1;
        __syncthreads();
    }
    __syncthreads();
}
