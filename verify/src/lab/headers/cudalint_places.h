// Calls that name a device by its number, where the toolkit takes a `cudaMemLocation` since CUDA 13.
#pragma once
#if defined(__cplusplus)
#include <cuda_runtime.h>
#if CUDART_VERSION >= 13000
static inline cudaMemLocation cudalint_place(int device) {
    cudaMemLocation place;
    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    return place;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *memory, size_t bytes, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(memory, bytes, cudalint_place(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void *memory, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(memory, bytes, advice, cudalint_place(device));
}
#endif
#endif
