__global__ void k(int* a, int v) {
    a[0] = v;
    if (threadIdx.x > 3) a[1] = threadIdx.x;
}
