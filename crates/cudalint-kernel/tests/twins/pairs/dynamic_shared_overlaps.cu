__global__ void k(float* a) {
    extern __shared__ float s[];
    float* u = s;
    float* v = s + 32;
    int t = threadIdx.x;
    u[t] = a[t];
    v[t] = a[t];
    __syncthreads();
    a[t] = u[t] + v[t];
}
