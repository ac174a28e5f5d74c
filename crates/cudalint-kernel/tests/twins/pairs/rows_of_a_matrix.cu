__device__ float total(const float* row, int n) {
    float v = 0;
    for (int j = 0; j < n; ++j) v += row[j];
    return v;
}
__global__ void k(const float* a, float* out, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows) out[i] = total(a + i * cols, cols);
}
