__global__ void k(const float* a, float* out, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 0;
    for (int j = 0; j <= cols; ++j) v += a[i * cols + j];
    out[i] = v;
}
