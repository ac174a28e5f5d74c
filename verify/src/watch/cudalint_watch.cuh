// cudalint's watchpoints. A copy of a program's source includes this first; the copy's flagged accesses are wrapped in
// cudalint_touch. Each access is logged with its address, thread and barrier interval; what it does stays the same.
//
// The environment says what to do:
//   CUDALINT_WATCH_LOG    file of the log; without it nothing is written
//   CUDALINT_WATCH_FOCUS  threads whose accesses must not be lost, as bx,by,bz,tx,ty,tz with semicolons between them
//
// With CUDALINT_WATCH_BLOCK defined as three numbers only the threads of that block are followed, and none of their accesses
// is left out but for want of room, which the log tells.
//
// Launches run one after the other, so that an access belongs to the launch that runs. Link with --wrap for the functions
// of the runtime at the end of this file.
#ifndef CUDALINT_WATCH_CUH
#define CUDALINT_WATCH_CUH

// The run-time compiler knows all of this by itself. The host's half is then whoever launches: the driver of Python scripts.
#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
// These declare further forms of the functions that are macros below.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdio.h>
#include <stdlib.h>
#endif

namespace cudalint_watch {

const unsigned READ = 1, WRITE = 2, ATOMIC = 4;
const unsigned GLOBAL = 0, SHARED = 1, OTHER = 2;

const unsigned THREADS = 1u << 20; // threads of a launch that are followed
const unsigned FOCUS = 8;          // and these, wherever they are
const unsigned GENERAL_RECORDS = 1u << 17, FOCUS_RECORDS = 1u << 14; // of one launch
const unsigned GENERAL_EACH = 64, FOCUS_EACH = 2048;                 // of one thread of a launch
const unsigned long MOST_LINES = 300000;                             // of the log

struct Record {
    unsigned launch; // written last: the launch whose record this is
    unsigned site, kind, space, size, kernel, interval, warp;
    unsigned block[3], thread[3];
    unsigned long long address, base, extent;
};

struct Thread {
    unsigned launch, kernel, interval, warp, logged, arrived;
};

struct Control {
    Record *records; // null: nothing is logged
    unsigned launch, focused;
    unsigned block[FOCUS][3], thread[FOCUS][3];
};

__device__ Control control;
__device__ Thread threads[THREADS + FOCUS];
__device__ unsigned long long counts[2];

#ifdef __CUDA_ARCH__

// The thread's own entry; none when it is not followed. A launch begins with fresh entries.
__device__ inline Thread *self(unsigned *focus) {
    if (control.records == nullptr) return nullptr;
#ifdef CUDALINT_WATCH_BLOCK
    const unsigned only[3] = {CUDALINT_WATCH_BLOCK};
    if (only[0] != blockIdx.x || only[1] != blockIdx.y || only[2] != blockIdx.z) return nullptr;
    unsigned long long block = 0;
#else
    unsigned long long block = blockIdx.x + gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
#endif
    unsigned of_block = blockDim.x * blockDim.y * blockDim.z;
    unsigned long long id = block * of_block + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    *focus = 0;
    for (unsigned i = 0; i < control.focused; ++i) {
        const unsigned *b = control.block[i], *t = control.thread[i];
        if (b[0] == blockIdx.x && b[1] == blockIdx.y && b[2] == blockIdx.z && t[0] == threadIdx.x &&
            t[1] == threadIdx.y && t[2] == threadIdx.z) {
            *focus = 1;
            id = THREADS + i;
            break;
        }
    }
    if (id >= THREADS + FOCUS || (id >= THREADS && !*focus)) return nullptr;
    Thread *thread = &threads[id];
    if (thread->launch != control.launch) {
        thread->launch = control.launch;
        thread->kernel = thread->interval = thread->warp = thread->logged = thread->arrived = 0;
    }
    return thread;
}

__device__ inline void enter(unsigned kernel) {
    unsigned focus;
    if (Thread *thread = self(&focus)) thread->kernel = kernel;
}

// A barrier of the block: orders what the block's threads did before against what they do after.
__device__ inline void next_interval() {
    unsigned focus;
    if (Thread *thread = self(&focus)) {
        ++thread->interval;
        thread->warp = 0;
    }
}

// A barrier of lanes: the lowest bit says that some barrier since the block's did not take all lanes.
__device__ inline void next_warp_interval(unsigned mask) {
    unsigned focus;
    if (Thread *thread = self(&focus)) thread->warp = (thread->warp + 2) | (mask != 0xffffffffu);
}

__device__ inline unsigned long long in_space(const volatile void *pointer, unsigned space) {
    if (space == SHARED) return __cvta_generic_to_shared(const_cast<const void *>(pointer));
    return (unsigned long long)pointer;
}

__device__ inline void note(unsigned site, unsigned kind, const volatile void *place, unsigned size,
                            const volatile void *base, unsigned long long extent) {
    const void *pointer = const_cast<const void *>(place);
    if (control.records == nullptr) return;
    // What is a thread's own matters to nobody else, but where it leaves its object.
    const volatile char *first = (const volatile char *)place, *object = (const volatile char *)base;
    bool leaves = object != nullptr && extent != 0 && (first < object || first + size > object + extent);
    if (__isLocal(pointer) && !leaves) return;
    unsigned focus;
    Thread *thread = self(&focus);
    if (thread == nullptr) return;
#ifndef CUDALINT_WATCH_BLOCK
    if (thread->logged >= (focus ? FOCUS_EACH : GENERAL_EACH)) return;
#endif
    ++thread->logged;
    unsigned long long at = atomicAdd(&counts[focus], 1ull);
    if (at >= (focus ? FOCUS_RECORDS : GENERAL_RECORDS)) return;
    Record *record = control.records + (focus ? GENERAL_RECORDS + at : at);
    unsigned space = __isShared(pointer) ? SHARED : __isGlobal(pointer) ? GLOBAL : OTHER;
    record->site = site;
    record->kind = kind;
    record->space = space;
    record->size = size;
    record->kernel = thread->kernel;
    record->interval = thread->interval;
    record->warp = thread->warp;
    record->block[0] = blockIdx.x;
    record->block[1] = blockIdx.y;
    record->block[2] = blockIdx.z;
    record->thread[0] = threadIdx.x;
    record->thread[1] = threadIdx.y;
    record->thread[2] = threadIdx.z;
    record->address = in_space(place, space);
    record->base = base == nullptr ? 0 : in_space(base, space);
    record->extent = extent;
    __threadfence_system();
    *(volatile unsigned *)&record->launch = control.launch;
}

// A flagged barrier is come to; and the kernel's end, where the thread says how often that was, in place of a size.
__device__ inline void arrive() {
    unsigned focus;
    if (Thread *thread = self(&focus)) ++thread->arrived;
}
__device__ inline void tell_arrivals(unsigned site) {
    unsigned focus;
    if (Thread *thread = self(&focus)) note(site, READ, control.records, thread->arrived, nullptr, 0);
}

__device__ inline unsigned dynamic_shared() {
    unsigned bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

#endif // __CUDA_ARCH__

template <typename T>
struct IsPlace {
    static const bool value = false;
};
template <typename T>
struct IsPlace<T &> {
    static const bool value = true;
};

} // namespace cudalint_watch

#ifdef __CUDA_ARCH__
#define CUDALINT_WATCH_ON_DEVICE(...) __VA_ARGS__
#else
#define CUDALINT_WATCH_ON_DEVICE(...)
#endif

// `place` itself, after the access to it has been noted. `base` and `extent` are the object that the source names.
template <typename T>
__host__ __device__ __forceinline__ T &&cudalint_touch(unsigned site, unsigned kind, T &&place,
                                                       const volatile void *base = nullptr,
                                                       unsigned long long extent = 0) {
    CUDALINT_WATCH_ON_DEVICE(if (cudalint_watch::IsPlace<T>::value) cudalint_watch::note(
        site, kind, &reinterpret_cast<const volatile char &>(place), sizeof(place), base, extent);)
    return static_cast<T &&>(place);
}
// As above, for the pointer that an atomic function is given.
template <typename T>
__host__ __device__ __forceinline__ T *cudalint_touch_at(unsigned site, unsigned kind, T *place) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::note(site, kind, place, sizeof(*place), nullptr, 0);)
    return place;
}
__host__ __device__ __forceinline__ void cudalint_kernel(unsigned kernel) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::enter(kernel);)
}
__host__ __device__ __forceinline__ void cudalint_arrive() {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::arrive();)
}
__host__ __device__ __forceinline__ void cudalint_tell_arrivals(unsigned site) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::tell_arrivals(site);)
}
__host__ __device__ __forceinline__ unsigned long long cudalint_dynamic_shared() {
    unsigned bytes = 0;
    CUDALINT_WATCH_ON_DEVICE(bytes = cudalint_watch::dynamic_shared();)
    return bytes;
}

__device__ __forceinline__ void cudalint_syncthreads() {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_interval();)
    __syncthreads();
}
__device__ __forceinline__ int cudalint_syncthreads_count(int predicate) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_interval();)
    return __syncthreads_count(predicate);
}
__device__ __forceinline__ int cudalint_syncthreads_and(int predicate) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_interval();)
    return __syncthreads_and(predicate);
}
__device__ __forceinline__ int cudalint_syncthreads_or(int predicate) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_interval();)
    return __syncthreads_or(predicate);
}
// What a cooperative group of the block waits with.
__device__ __forceinline__ void cudalint_barrier_sync(unsigned id) {
    CUDALINT_WATCH_ON_DEVICE(if (id == 0) cudalint_watch::next_interval();)
    __barrier_sync(id);
}
__device__ __forceinline__ void cudalint_syncwarp(unsigned mask = 0xffffffffu) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_warp_interval(mask);)
    __syncwarp(mask);
}
__device__ __forceinline__ unsigned cudalint_lanes(unsigned mask) {
    CUDALINT_WATCH_ON_DEVICE(cudalint_watch::next_warp_interval(mask);)
    return mask;
}

#define __syncthreads() cudalint_syncthreads()
#define __syncthreads_count(predicate) cudalint_syncthreads_count(predicate)
#define __syncthreads_and(predicate) cudalint_syncthreads_and(predicate)
#define __syncthreads_or(predicate) cudalint_syncthreads_or(predicate)
#define __barrier_sync(id) cudalint_barrier_sync(id)
#define __syncwarp(...) cudalint_syncwarp(__VA_ARGS__)
// Exchanges and votes of lanes wait for each other too.
#define __shfl_sync(mask, ...) __shfl_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __shfl_up_sync(mask, ...) __shfl_up_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __shfl_down_sync(mask, ...) __shfl_down_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __shfl_xor_sync(mask, ...) __shfl_xor_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __ballot_sync(mask, ...) __ballot_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __any_sync(mask, ...) __any_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __all_sync(mask, ...) __all_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __match_any_sync(mask, ...) __match_any_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __match_all_sync(mask, ...) __match_all_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_add_sync(mask, ...) __reduce_add_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_min_sync(mask, ...) __reduce_min_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_max_sync(mask, ...) __reduce_max_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_and_sync(mask, ...) __reduce_and_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_or_sync(mask, ...) __reduce_or_sync(cudalint_lanes(mask), __VA_ARGS__)
#define __reduce_xor_sync(mask, ...) __reduce_xor_sync(cudalint_lanes(mask), __VA_ARGS__)

#ifndef __CUDA_ARCH__

// The host's half: before a launch the device is told its number, after it the records are written down.
namespace cudalint_watch {

struct Host {
    FILE *log;
    Record *records;
    Control control;
    unsigned launches;
    unsigned long lines;
    bool begun, off;
};

inline Host &host() {
    static Host host;
    return host;
}

inline void begin(Host &host) {
    if (host.begun) return;
    host.begun = true;
    const char *path = getenv("CUDALINT_WATCH_LOG");
    host.log = path ? fopen(path, "w") : nullptr;
    host.off = host.log == nullptr;
    const char *focus = getenv("CUDALINT_WATCH_FOCUS");
    while (focus && *focus && host.control.focused < FOCUS) {
        unsigned *b = host.control.block[host.control.focused], *t = host.control.thread[host.control.focused];
        if (sscanf(focus, "%u,%u,%u,%u,%u,%u", b, b + 1, b + 2, t, t + 1, t + 2) != 6) break;
        ++host.control.focused;
        while (*focus && *focus++ != ';') {}
    }
}

inline void stop(Host &host, const char *why) {
    fprintf(host.log, "off %s\n", why);
    fflush(host.log);
    host.off = true;
}

inline void allocated(const void *pointer, size_t bytes) {
    Host &here = host();
    begin(here);
    if (!here.off && pointer) fprintf(here.log, "allocation %llx %llu\n", (unsigned long long)pointer, (unsigned long long)bytes);
}

inline void freed(const void *pointer) {
    Host &here = host();
    begin(here);
    if (!here.off && pointer) fprintf(here.log, "free %llx\n", (unsigned long long)pointer);
}

inline bool is_captured(cudaStream_t stream) {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

inline void before_launch(dim3 grid, dim3 block, cudaStream_t stream) {
    Host &here = host();
    begin(here);
    if (here.off) return;
    if (is_captured(stream)) return stop(here, "launches of graphs are not followed");
    if (cudaDeviceSynchronize() != cudaSuccess) return stop(here, "an earlier error");
    if (here.records == nullptr) {
        size_t bytes = (GENERAL_RECORDS + FOCUS_RECORDS) * sizeof(Record);
        void *records = nullptr;
        if (cudaHostAlloc(&records, bytes, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess)
            return stop(here, "no memory for the log");
        here.records = static_cast<Record *>(records);
        for (size_t i = 0; i < GENERAL_RECORDS + FOCUS_RECORDS; ++i) here.records[i].launch = 0;
        void *device = nullptr;
        if (cudaHostGetDevicePointer(&device, records, 0) != cudaSuccess) return stop(here, "no memory for the log");
        here.control.records = static_cast<Record *>(device);
    }
    here.control.launch = ++here.launches;
    unsigned long long zeros[2] = {0, 0};
    if (cudaMemcpyToSymbol(control, &here.control, sizeof here.control) != cudaSuccess ||
        cudaMemcpyToSymbol(counts, zeros, sizeof zeros) != cudaSuccess)
        return stop(here, "the device takes no numbers");
    fprintf(here.log, "launch %u %u %u %u %u %u %u\n", here.launches, grid.x, grid.y, grid.z, block.x, block.y, block.z);
    fflush(here.log);
}

inline void write_down(Host &here, size_t first, size_t count) {
    for (size_t i = first; i < first + count && here.lines < MOST_LINES; ++i) {
        const Record &r = here.records[i];
        if (r.launch != here.launches) continue;
        fprintf(here.log, "access %u %u %u %llx %u %llx %llu %u %u %u %u %u %u %u %u %u %u\n", r.site, r.kind, r.space,
                r.address, r.size, r.base, r.extent, r.block[0], r.block[1], r.block[2], r.thread[0], r.thread[1],
                r.thread[2], r.interval, r.warp, r.kernel, r.launch);
        ++here.lines;
    }
}

inline void after_launch(cudaError_t status) {
    Host &here = host();
    if (here.off || status != cudaSuccess || here.records == nullptr) return;
    unsigned long long seen[2] = {GENERAL_RECORDS, FOCUS_RECORDS}; // after an error all places may hold records
    cudaError_t end = cudaDeviceSynchronize();
    if (end == cudaSuccess) cudaMemcpyFromSymbol(seen, counts, sizeof seen);
    write_down(here, GENERAL_RECORDS, seen[1] < FOCUS_RECORDS ? seen[1] : FOCUS_RECORDS);
    write_down(here, 0, seen[0] < GENERAL_RECORDS ? seen[0] : GENERAL_RECORDS);
    fprintf(here.log, "end %u %d %llu\n", here.launches, static_cast<int>(end), seen[0] + seen[1]);
    fflush(here.log);
    if (here.lines >= MOST_LINES) stop(here, "the log is full");
}

} // namespace cudalint_watch

#define CUDALINT_WATCH_LAUNCH(name, kernel_type)                                                                       \
    extern "C" cudaError_t __real_##name(kernel_type, dim3, dim3, void **, size_t, cudaStream_t) __attribute__((weak)); \
    extern "C" cudaError_t __wrap_##name(kernel_type kernel, dim3 grid, dim3 block, void **arguments, size_t shared,    \
                                         cudaStream_t stream) {                                                        \
        cudalint_watch::before_launch(grid, block, stream);                                                            \
        cudaError_t status = __real_##name(kernel, grid, block, arguments, shared, stream);                            \
        cudalint_watch::after_launch(status);                                                                          \
        return status;                                                                                                 \
    }
CUDALINT_WATCH_LAUNCH(cudaLaunchKernel, const void *)
CUDALINT_WATCH_LAUNCH(cudaLaunchKernel_ptsz, const void *)
CUDALINT_WATCH_LAUNCH(cudaLaunchCooperativeKernel, const void *)
CUDALINT_WATCH_LAUNCH(cudaLaunchCooperativeKernel_ptsz, const void *)
CUDALINT_WATCH_LAUNCH(__cudaLaunchKernel, void *)
CUDALINT_WATCH_LAUNCH(__cudaLaunchKernel_ptsz, void *)

#if CUDART_VERSION >= 11060
#define CUDALINT_WATCH_LAUNCH_EX(name)                                                                                 \
    extern "C" cudaError_t __real_##name(const cudaLaunchConfig_t *, const void *, void **) __attribute__((weak));     \
    extern "C" cudaError_t __wrap_##name(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {     \
        cudalint_watch::before_launch(config->gridDim, config->blockDim, config->stream);                              \
        cudaError_t status = __real_##name(config, kernel, arguments);                                                 \
        cudalint_watch::after_launch(status);                                                                          \
        return status;                                                                                                 \
    }
CUDALINT_WATCH_LAUNCH_EX(cudaLaunchKernelExC)
CUDALINT_WATCH_LAUNCH_EX(cudaLaunchKernelExC_ptsz)
#endif

#define CUDALINT_WATCH_ALLOCATE(name, parameters, arguments, bytes)                                                    \
    extern "C" cudaError_t __real_##name parameters __attribute__((weak));                                             \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        cudaError_t status = __real_##name arguments;                                                                  \
        if (status == cudaSuccess) cudalint_watch::allocated(*pointer, bytes);                                         \
        return status;                                                                                                 \
    }
CUDALINT_WATCH_ALLOCATE(cudaMalloc, (void **pointer, size_t size), (pointer, size), size)
CUDALINT_WATCH_ALLOCATE(cudaMallocManaged, (void **pointer, size_t size, unsigned flags), (pointer, size, flags), size)
CUDALINT_WATCH_ALLOCATE(cudaMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height),
                        (pointer, pitch, width, height), (*pitch) * height)
CUDALINT_WATCH_ALLOCATE(cudaMallocAsync, (void **pointer, size_t size, cudaStream_t stream), (pointer, size, stream), size)
CUDALINT_WATCH_ALLOCATE(cudaMallocAsync_ptsz, (void **pointer, size_t size, cudaStream_t stream),
                        (pointer, size, stream), size)

#define CUDALINT_WATCH_FREE(name, parameters, arguments)                                                               \
    extern "C" cudaError_t __real_##name parameters __attribute__((weak));                                             \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        cudalint_watch::freed(pointer);                                                                                \
        return __real_##name arguments;                                                                                \
    }
CUDALINT_WATCH_FREE(cudaFree, (void *pointer), (pointer))
CUDALINT_WATCH_FREE(cudaFreeAsync, (void *pointer, cudaStream_t stream), (pointer, stream))
CUDALINT_WATCH_FREE(cudaFreeAsync_ptsz, (void *pointer, cudaStream_t stream), (pointer, stream))

// All memory goes with the context, the log's too.
extern "C" cudaError_t __real_cudaDeviceReset() __attribute__((weak));
extern "C" cudaError_t __wrap_cudaDeviceReset() {
    cudalint_watch::host().records = nullptr;
    return __real_cudaDeviceReset();
}

#endif // __CUDA_ARCH__
#endif // CUDALINT_WATCH_CUH
