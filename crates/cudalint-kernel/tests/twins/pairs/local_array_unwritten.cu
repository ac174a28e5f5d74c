__global__ void k(float* a) {
    float v[8];
    int t = threadIdx.x;
    v[0] = 1;
    a[t] = v[0] + v[1];
}
