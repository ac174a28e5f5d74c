// Transposes a matrix in tiles, correctly: every call is checked, the grid covers the matrix, the tile is padded.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>

constexpr int TILE = 32;

static void check(cudaError_t status, const char *what) {
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
    exit(EXIT_FAILURE);
}

__global__ void transpose(float *out, const float *in, int width, int height) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

int main(int argc, char **argv) {
    int width = argc > 1 ? atoi(argv[1]) : 1000;
    int height = argc > 2 ? atoi(argv[2]) : 700;
    size_t bytes = sizeof(float) * width * height;
    float *in, *out;
    float *host = new float[width * height];
    for (int i = 0; i < width * height; ++i) host[i] = i;

    check(cudaMalloc(&in, bytes), "allocate input");
    check(cudaMalloc(&out, bytes), "allocate output");
    check(cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice), "upload");
    dim3 block(TILE, TILE);
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    transpose<<<grid, block>>>(out, in, width, height);
    check(cudaGetLastError(), "launch");
    check(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost), "download");
    printf("%f\n", host[1]);
    check(cudaFree(in), "free");
    check(cudaFree(out), "free");
    delete[] host;
    return 0;
}
