#pragma once
#include "cuda_runtime_api.h"

template <typename Element>
inline cudaError_t cudaMalloc(Element **pointer, size_t size) {
    return cudaMalloc(reinterpret_cast<void **>(pointer), size);
}
// What the stand-in for nvcc makes of `kernel<<<grid, block>>>(…)`.
inline unsigned stand_in_push(dim3 grid, dim3 block) { return __cudaPushCallConfiguration(grid, block, 0, nullptr); }
inline void stand_in_launch(const void *kernel) {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
    __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
    cudaLaunchKernel(kernel, grid, block, nullptr, shared, stream);
}
struct stand_in_kernel {
    stand_in_kernel(const void *kernel, const char *name) {
        __cudaRegisterFunction(nullptr, static_cast<const char *>(kernel), nullptr, name, -1, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
    }
};
struct stand_in_index {
    unsigned x, y, z;
};
static stand_in_index threadIdx __attribute__((unused)), blockIdx __attribute__((unused)),
    blockDim __attribute__((unused)), gridDim __attribute__((unused));
