#define TPB 8
__global__ void k(const float* A, const float* B, float* C, int n) {
    __shared__ float sA[TPB][TPB];
    __shared__ float sB[TPB][TPB];
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    float acc = 0;
    for (int i = 0; i < n / TPB; ++i) {
        sA[ty][tx] = A[y * n + tx + i * TPB];
        sB[ty][tx] = B[(ty + i * TPB) * n + x];
        __syncthreads();
        for (int j = 0; j < TPB; ++j) acc += sA[ty][j] * sB[j][tx];
        
    }
    C[y * n + x] = acc;
}
