__global__ void k(float* a) {
    float v[8];
    int t = threadIdx.x;
    for (int i = 0; i < 8; ++i) v[i] = i;
    for (int i = 0; i <= 8; ++i) a[t] += v[i];
}
