__global__ void k(const int* a, int* count, int* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && a[i] > 0) {
        int slot = atomicAdd(&count[0], 1);
        out[slot] = a[i];
    }
}
