__global__ void k(int* a, int n) {
    int t = threadIdx.x;
    int half = (t - 8) < 0 ? (t - 9) / 2 : (t - 8) / 2;
    a[half + 4] = t;
}
