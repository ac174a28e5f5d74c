// A barrier on each side of a branch: the border between the sides lies inside a warp.
__global__ void two_sides(float *data, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    tile[t] = data[t];
    if (t < n) {
        __syncthreads();
        data[t] = tile[n - 1 - t];
    } else {
        __syncthreads();
        data[t] = 0.0f;
    }
}
