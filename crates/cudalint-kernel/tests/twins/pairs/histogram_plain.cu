__global__ void k(int* h, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) h[i % 16] += 1;
}
