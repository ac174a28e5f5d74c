// record: memcheck
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
__global__ void fill(int* p) { p[threadIdx.x] = 1; }
int main() {
    pid_t child = fork();
    int* p;
    cudaMalloc(&p, 64);
    fill<<<1, child == 0 ? 32 : 16>>>(p);
    cudaDeviceSynchronize();
    if (child == 0) return 0;
    int status = 0;
    waitpid(child, &status, 0);
    return 0;
}
