__device__ void fill(float* s, int t, float v) { s[t] = v; }
__device__ float mirrored(const float* s, int t) { return s[63 - t]; }
__global__ void k(float* a) {
    __shared__ float s[64];
    int t = threadIdx.x;
    fill(s, t, a[t]);
    a[t] = mirrored(s, t);
}
