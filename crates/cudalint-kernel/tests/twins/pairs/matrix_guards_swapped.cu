__global__ void k(const float* a, float* b, int rows, int cols) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < rows && y < cols) b[y * cols + x] = a[y * cols + x] + 1.0f;
    if (y < rows) b[y * cols] = a[x];
}
