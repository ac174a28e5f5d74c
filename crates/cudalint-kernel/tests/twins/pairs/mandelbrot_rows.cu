__device__ int steps(double x, double y, int most) {
    double re = x, im = y;
    for (int i = 0; i < most; ++i) {
        if (re * re + im * im >= 4) return i;
        double next = re * re - im * im + x;
        im = 2 * re * im + y;
        re = next;
    }
    return most;
}
__global__ void k(int* out, int rows, int cols, int most) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y < rows)
        for (int x = 0; x < cols; ++x) out[y * cols + x] = steps(x * 0.1 - 1, y * 0.1 - 1, most);
}
