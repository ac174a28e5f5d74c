// record: memcheck initcheck memcheck-kernel
// Lines as a harness renames them: a document's path, with characters that XML must escape.
#include <cuda_runtime.h>
#line 112 "/docs/a & b <notes>/guide.md"
__global__ void fenced(int* p) {
    p[threadIdx.x + 100] = 1;
}
#line 40 "src/relative.cu"
__global__ void elsewhere(int* p) {
    p[threadIdx.x + 100] = 1;
}
#line 212 "/docs/a & b <notes>/guide.md"
void run(int* p) {
    fenced<<<1, 32>>>(p);
    cudaMemset(p, 0, 1 << 20);
    elsewhere<<<1, 32>>>(p);
}
#line 21 "renamed_lines.cu"
int main() {
    int* p;
    int host[32];
    cudaMalloc(&p, 32 * sizeof(int));
    cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost);
    run(p);
    cudaDeviceSynchronize();
    return 0;
}
