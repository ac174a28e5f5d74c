// Stands for the CUDA runtime where a host program is run without a GPU: every call writes its line, and what it was given, to
// standard output. One line of text a call: a letter for what it is, the line in the source, and its values.
//   A line number bytes space             an allocation, counted from 0; space is d, h (pinned) or m (managed)
//   F line pointer                        a free
//   C line to from bytes kind             a copy
//   R line to from width height pitch pitch kind   a copy of rows
//   S line to value bytes                 a set
//   L line kernel gx gy gz bx by bz shared arguments…   a launch
// A pointer is written as `number+offset` of the allocation that it leads into, `null`, or `?`. An argument is an integer, a pointer,
// or `-` for all else.
#pragma once
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__
#define __managed__
#define __forceinline__ inline
#define __restrict__
#define __launch_bounds__(...)
struct uint3 { unsigned x, y, z; };
struct int2 { int x, y; };
struct float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorNotReady = 600 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

namespace stand_in {
struct Memory { char *start; size_t bytes; };
inline Memory allocations[1 << 14];
inline int count = 0;

struct Pointer {
    char text[32];
    explicit Pointer(const void *of) {
        const char *at = static_cast<const char *>(of);
        std::strcpy(text, of ? "?" : "null");
        for (int i = 0; at && i < count; ++i) {
            const Memory &memory = allocations[i];
            if (memory.start && at >= memory.start && at <= memory.start + memory.bytes) {
                std::snprintf(text, sizeof text, "%d+%lld", i, static_cast<long long>(at - memory.start));
            }
        }
    }
};

inline cudaError_t allocate(int line, void **to, size_t bytes, char space) {
    if (bytes > (size_t{1} << 30) || count >= (1 << 14)) {
        return cudaErrorMemoryAllocation;
    }
    char *start = static_cast<char *>(std::calloc(bytes + 64, 1));
    allocations[count] = {start, bytes};
    std::printf("A %d %d %zu %c\n", line, count++, bytes, space);
    *to = start;
    return cudaSuccess;
}

// Memory that is freed stays where it is, so that no later allocation gets its address.
inline cudaError_t release(int line, void *pointer) {
    std::printf("F %d %s\n", line, Pointer(pointer).text);
    return cudaSuccess;
}

inline cudaError_t copy(int line, void *to, const void *from, size_t bytes, int kind) {
    std::printf("C %d %s %s %zu %d\n", line, Pointer(to).text, Pointer(from).text, bytes, kind);
    return cudaSuccess;
}

inline cudaError_t set(int line, void *to, int value, size_t bytes) {
    std::printf("S %d %s %d %zu\n", line, Pointer(to).text, value, bytes);
    return cudaSuccess;
}

inline cudaError_t rows(int line, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind) {
    std::printf("R %d %s %s %zu %zu %zu %zu %d\n", line, Pointer(to).text, Pointer(from).text, width, height, to_pitch, from_pitch, kind);
    return cudaSuccess;
}

template <typename T> void argument(const T &value) {
    using Plain = std::decay_t<T>;
    if constexpr (std::is_same_v<Plain, std::nullptr_t>) {
        std::printf(" null");
    } else if constexpr (std::is_pointer_v<Plain>) {
        std::printf(" %s", Pointer(static_cast<const void *>(value)).text);
    } else if constexpr (std::is_integral_v<Plain> || std::is_enum_v<Plain>) {
        std::printf(" %lld", static_cast<long long>(value));
    } else {
        std::printf(" -");
    }
}

struct Launch {
    int line;
    const char *kernel;
    dim3 grid, block;
    size_t shared;
    template <typename... Arguments> void operator()(const Arguments &...arguments) const {
        std::printf("L %d %s %u %u %u %u %u %u %zu", line, kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
        (argument(arguments), ...);
        std::printf("\n");
    }
};

inline Launch launch(int line, const char *kernel, dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) {
    return {line, kernel, grid, block, shared};
}
} // namespace stand_in

template <typename T> cudaError_t cudaMalloc(T **to, size_t bytes, int line = __builtin_LINE()) {
    return stand_in::allocate(line, reinterpret_cast<void **>(to), bytes, 'd');
}
template <typename T> cudaError_t cudaMallocManaged(T **to, size_t bytes, unsigned = 1, int line = __builtin_LINE()) {
    return stand_in::allocate(line, reinterpret_cast<void **>(to), bytes, 'm');
}
template <typename T> cudaError_t cudaMallocHost(T **to, size_t bytes, unsigned = 0, int line = __builtin_LINE()) {
    return stand_in::allocate(line, reinterpret_cast<void **>(to), bytes, 'h');
}
template <typename T> cudaError_t cudaHostAlloc(T **to, size_t bytes, unsigned, int line = __builtin_LINE()) {
    return stand_in::allocate(line, reinterpret_cast<void **>(to), bytes, 'h');
}
template <typename T> cudaError_t cudaMallocAsync(T **to, size_t bytes, cudaStream_t, int line = __builtin_LINE()) {
    return stand_in::allocate(line, reinterpret_cast<void **>(to), bytes, 'd');
}
inline cudaError_t cudaFreeAsync(void *pointer, cudaStream_t, int line = __builtin_LINE()) { return stand_in::release(line, pointer); }
inline cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind, int line = __builtin_LINE()) {
    return stand_in::rows(line, to, to_pitch, from, from_pitch, width, height, kind);
}
inline cudaError_t cudaFree(void *pointer, int line = __builtin_LINE()) { return stand_in::release(line, pointer); }
inline cudaError_t cudaFreeHost(void *pointer, int line = __builtin_LINE()) { return stand_in::release(line, pointer); }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, int line = __builtin_LINE()) {
    return stand_in::copy(line, to, from, bytes, kind);
}
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t = nullptr,
                                   int line = __builtin_LINE()) {
    return stand_in::copy(line, to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void *to, int value, size_t bytes, int line = __builtin_LINE()) {
    return stand_in::set(line, to, value, bytes);
}
inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t = nullptr, int line = __builtin_LINE()) {
    return stand_in::set(line, to, value, bytes);
}
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamCreate(cudaStream_t *stream) { *stream = nullptr; return cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventCreate(cudaEvent_t *event) { *event = nullptr; return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { *ms = 1.5f; return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int *count) { *count = 1; return cudaSuccess; }
inline cudaError_t cudaGetDevice(int *device) { *device = 0; return cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline const char *cudaGetErrorString(cudaError_t) { return "no error"; }
