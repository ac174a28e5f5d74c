// Blurs an image of unknown size. The block is larger than any device allows, and the statuses are stored and forgotten.
#include <cuda_runtime.h>

__global__ void blur(unsigned char *out, const unsigned char *in, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) sum += in[(y + dy) * width + x + dx];
        out[y * width + x] = sum / 9;
    }
}

cudaError_t blur_image(unsigned char *host, int width, int height) {
    unsigned char *in = nullptr, *out = nullptr;
    size_t bytes = (size_t)width * height;
    cudaError_t status = cudaMalloc(&in, bytes);
    if (status != cudaSuccess) return status;
    status = cudaMalloc(&out, bytes);                                                  //~ unchecked-api-call
    status = cudaMemcpy(in, host, bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess) {
        dim3 block(64, 32);
        dim3 grid((width + block.x - 1) / block.x, (height + block.y - 1) / block.y);
        blur<<<grid, block>>>(out, in, width, height);                                 //~ launch-exceeds-device-limit
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost);
    cudaFree(out);
    cudaFree(in);
    return status;
}
