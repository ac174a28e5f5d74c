__global__ void k(const float* a, int* found, int n) {
    int t = threadIdx.x;
    for (int i = t; i < n; i += 8) {
        if (i > 40) {
            found[0] = i;
            break;
        }
    }
}
