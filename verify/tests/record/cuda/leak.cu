// record: leakcheck memcheck
#include <cuda_runtime.h>
static float* make(size_t n) {
    float* p;
    cudaMalloc(&p, n * sizeof(float));
    return p;
}
int main() {
    float* a = make(256);
    float* b = make(1024);
    void* pinned;
    void* managed;
    cudaMallocHost(&pinned, 4096);
    cudaMallocManaged(&managed, 8192);
    cudaFree(b);
    (void)a;
    return 0;
}
