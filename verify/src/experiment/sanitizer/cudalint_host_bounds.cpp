// Asks AddressSanitizer, before each copy between host and device, whether the host's side stays within its object, and
// says where it does not. Link with --wrap=<call> for each call below, and compile all of the program's host code with
// -fsanitize=address.
#include <cuda_runtime.h>

#include <stddef.h>
#include <stdio.h>

extern "C" {
void *__asan_region_is_poisoned(void *begin, size_t size);
void __asan_describe_address(void *address);
void __sanitizer_print_stack_trace(void);
}

namespace {

// Whether a pointer is one of the host's: pageable memory is unknown to CUDA.
bool is_host(const void *pointer) {
    cudaPointerAttributes attributes = {};
    cudaError_t status = cudaPointerGetAttributes(&attributes, pointer);
    if (status != cudaSuccess) {
        cudaGetLastError();
        return true;
    }
    return attributes.type == cudaMemoryTypeUnregistered || attributes.type == cudaMemoryTypeHost;
}

// How many of the bytes can be touched; says so when they are not all.
size_t within(const char *call, const char *does, const void *pointer, size_t bytes) {
    if (pointer == nullptr || bytes == 0 || !is_host(pointer)) return bytes;
    char *begin = static_cast<char *>(const_cast<void *>(pointer));
    char *bad = static_cast<char *>(__asan_region_is_poisoned(begin, bytes));
    if (bad == nullptr) return bytes;
    size_t good = static_cast<size_t>(bad - begin);
    fflush(stdout);
    fprintf(stderr, "\ncudalint host range: %s %s %zu bytes of host memory at %p, of which only %zu belong to the object\n",
            call, does, bytes, pointer, good);
    __sanitizer_print_stack_trace();
    __asan_describe_address(bad);
    fprintf(stderr, "cudalint host range ends\n");
    return good;
}

// Bytes of a copy that both sides hold on the host.
size_t checked(const char *call, void *to, const void *from, size_t bytes) {
    size_t writes = within(call, "writes", to, bytes);
    size_t reads = within(call, "reads", from, bytes);
    return writes < reads ? writes : reads;
}

// Rows of a copy of pitched memory.
size_t checked_rows(const char *call, const char *does, const void *pointer, size_t pitch, size_t width, size_t height) {
    for (size_t row = 0; row < height; ++row)
        if (within(call, does, static_cast<const char *>(pointer) + row * pitch, width) != width) return row;
    return height;
}

} // namespace

#define CUDALINT_COPY(name, parameters, arguments)                                                                     \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        count = checked(#name, to, from, count);                                                                       \
        return __real_##name arguments;                                                                                \
    }
#define CUDALINT_TO_SYMBOL(name, parameters, arguments)                                                                \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        count = within(#name, "reads", from, count);                                                                   \
        return __real_##name arguments;                                                                                \
    }
#define CUDALINT_FROM_SYMBOL(name, parameters, arguments)                                                              \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        count = within(#name, "writes", to, count);                                                                    \
        return __real_##name arguments;                                                                                \
    }
#define CUDALINT_ROWS(name, parameters, arguments)                                                                     \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        size_t writes = checked_rows(#name, "writes", to, to_pitch, width, height);                                    \
        size_t reads = checked_rows(#name, "reads", from, from_pitch, width, height);                                  \
        height = writes < reads ? writes : reads;                                                                      \
        return __real_##name arguments;                                                                                \
    }

extern "C" {
CUDALINT_COPY(cudaMemcpy, (void *to, const void *from, size_t count, cudaMemcpyKind kind), (to, from, count, kind))
CUDALINT_COPY(cudaMemcpy_ptds, (void *to, const void *from, size_t count, cudaMemcpyKind kind), (to, from, count, kind))
CUDALINT_COPY(cudaMemcpyAsync, (void *to, const void *from, size_t count, cudaMemcpyKind kind, cudaStream_t stream),
              (to, from, count, kind, stream))
CUDALINT_COPY(cudaMemcpyAsync_ptsz, (void *to, const void *from, size_t count, cudaMemcpyKind kind, cudaStream_t stream),
              (to, from, count, kind, stream))
CUDALINT_TO_SYMBOL(cudaMemcpyToSymbol,
                   (const void *symbol, const void *from, size_t count, size_t offset, cudaMemcpyKind kind),
                   (symbol, from, count, offset, kind))
CUDALINT_FROM_SYMBOL(cudaMemcpyFromSymbol,
                     (void *to, const void *symbol, size_t count, size_t offset, cudaMemcpyKind kind),
                     (to, symbol, count, offset, kind))
CUDALINT_TO_SYMBOL(cudaMemcpyToSymbolAsync,
                   (const void *symbol, const void *from, size_t count, size_t offset, cudaMemcpyKind kind,
                    cudaStream_t stream),
                   (symbol, from, count, offset, kind, stream))
CUDALINT_FROM_SYMBOL(cudaMemcpyFromSymbolAsync,
                     (void *to, const void *symbol, size_t count, size_t offset, cudaMemcpyKind kind,
                      cudaStream_t stream),
                     (to, symbol, count, offset, kind, stream))
CUDALINT_ROWS(cudaMemcpy2D,
              (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
               cudaMemcpyKind kind),
              (to, to_pitch, from, from_pitch, width, height, kind))
CUDALINT_ROWS(cudaMemcpy2DAsync,
              (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
               cudaMemcpyKind kind, cudaStream_t stream),
              (to, to_pitch, from, from_pitch, width, height, kind, stream))
}
