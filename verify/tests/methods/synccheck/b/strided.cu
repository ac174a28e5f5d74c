// A barrier in a loop of which the threads make different numbers of turns: in the last one part of a warp is missing.
__global__ void strided(float *data, int n) {
    __shared__ float tile[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        tile[threadIdx.x] = data[i];
        __syncthreads();
        sum += tile[(threadIdx.x + 1) % 256];
    }
    tile[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < n)
        data[threadIdx.x] = tile[255 - threadIdx.x];
}
