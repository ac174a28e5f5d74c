__global__ void k(int* a, int n) {
    if (threadIdx.x == 0) {
        for (int i = n - 1; i > 0; --i) a[i] = a[i - 1];
    }
}
