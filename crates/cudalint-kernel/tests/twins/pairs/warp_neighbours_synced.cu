__global__ void k(float* a) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncwarp();
    a[t] = s[t ^ 1];
}
