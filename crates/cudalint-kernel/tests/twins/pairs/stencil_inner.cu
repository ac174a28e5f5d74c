__global__ void k(const double* a, double* b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (0 < i && i < n - 1) b[i] = a[i - 1] - 2 * a[i] + a[i + 1];
}
