// record: memcheck
#include <cuda_runtime.h>
#include <cstdlib>
int main() {
    int* data;
    cudaMalloc(&data, 64);
    std::abort();
}
