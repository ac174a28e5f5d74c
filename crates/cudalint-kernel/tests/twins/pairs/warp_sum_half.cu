__global__ void k(float* a, int n) {
    int t = threadIdx.x;
    if (t < n) {
        float v = a[t];
        v += __shfl_xor_sync(0xffffffff, v, 1);
        a[t] = v;
    }
}
