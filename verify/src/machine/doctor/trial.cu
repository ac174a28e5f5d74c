// Writes within its memory, and with any argument beyond it.
#include <cstdio>

template <typename T>
__global__ void write(T *cells, int cell) {
    cells[cell] = 1;
}

int main(int count, char **) {
    int *cells = nullptr;
    cudaError_t status = cudaMalloc(&cells, 256 * sizeof(int));
    if (status == cudaSuccess) {
        write<<<1, 1>>>(cells, count > 1 ? 256 : 255);
        status = cudaGetLastError();
    }
    if (status == cudaSuccess) status = cudaDeviceSynchronize();
    printf("%s\n", status == cudaSuccess ? "cudalint works" : cudaGetErrorString(status));
    return status != cudaSuccess;
}
