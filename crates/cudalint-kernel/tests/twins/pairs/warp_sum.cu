__global__ void k(const float* a, float* out) {
    int t = threadIdx.x;
    float v = a[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0) out[t / 32] = v;
}
