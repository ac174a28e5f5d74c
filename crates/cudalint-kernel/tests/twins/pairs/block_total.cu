__global__ void k(int* out) {
    int n = __syncthreads_count(threadIdx.x % 3 == 0);
    if (threadIdx.x == 0) out[0] = n;
}
