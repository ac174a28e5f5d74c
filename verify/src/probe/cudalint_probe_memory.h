// cudalint's probe, the half that looks at device memory: what a memset or copy has written, what is left of the memory
// behind it, and how a launch compares with one of more threads. cudalint_probe.cpp includes it, and says how it is asked.
#pragma once
#include "cudalint_probe_internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {
cudaError_t __real_cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind) __attribute__((weak));
cudaError_t __real_cudaFree(void *) __attribute__((weak));
cudaError_t __real_cudaMemset(void *, int, size_t) __attribute__((weak));
}

namespace cudalint_probe {
namespace {

struct Allocation {
    char *base;
    size_t bytes;
};
Allocation allocations[4096];
int allocation_count = 0;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

thread_local unsigned element_bytes = 0;
thread_local int element_floating = 0;

const size_t MOST_COMPARED = size_t(256) << 20;

bool looks() { return plan.mode == Mode::Memory || plan.mode == Mode::Cover || plan.mode == Mode::Delay || plan.mode == Mode::Time; }

// Nothing may wait for work that is delayed.
bool may_fill();

// Fresh memory holds what the program cannot know. Words of 1 are told from what a memset writes, and harm no program that
// uses them as an index.
void fill(char *base, size_t bytes) {
    const size_t piece = size_t(1) << 20;
    char *ones = static_cast<char *>(calloc(1, piece));
    if (!ones) return;
    for (size_t i = 0; i < piece; i += 4) ones[i] = 1;
    for (size_t done = 0; done < bytes; done += piece)
        if (__real_cudaMemcpy(base + done, ones, bytes - done < piece ? bytes - done : piece, cudaMemcpyDefault)) break;
    free(ones);
}

void allocated(int status, void *base, size_t bytes, bool fresh) {
    if (!looks() || status != 0 || !base || !bytes) return;
    pthread_mutex_lock(&lock);
    if (allocation_count < 4096) allocations[allocation_count++] = {static_cast<char *>(base), bytes};
    pthread_mutex_unlock(&lock);
    if (fresh && may_fill()) fill(static_cast<char *>(base), bytes);
}

void freed(void *base) {
    if (!looks()) return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < allocation_count; ++i)
        if (allocations[i].base == base) {
            allocations[i] = allocations[--allocation_count];
            break;
        }
    pthread_mutex_unlock(&lock);
}

// The allocation around an address: one that was seen, else what the driver knows.
bool around(const void *pointer, Allocation *found) {
    const char *address = static_cast<const char *>(pointer);
    bool known = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < allocation_count && !known; ++i)
        if (address >= allocations[i].base && address < allocations[i].base + allocations[i].bytes) {
            *found = allocations[i];
            known = true;
        }
    pthread_mutex_unlock(&lock);
    if (known) return true;
    typedef int (*Range)(unsigned long long *, size_t *, unsigned long long);
    static void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    static Range range = driver ? reinterpret_cast<Range>(dlsym(driver, "cuMemGetAddressRange_v2")) : nullptr;
    unsigned long long base = 0;
    size_t bytes = 0;
    if (!range || range(&base, &bytes, reinterpret_cast<unsigned long long>(pointer)) != 0) return false;
    *found = {reinterpret_cast<char *>(base), bytes};
    return true;
}

char *copy_of(const void *device, size_t bytes) {
    char *host = static_cast<char *>(malloc(bytes ? bytes : 1));
    if (host && __real_cudaMemcpy(host, device, bytes, cudaMemcpyDefault) != cudaSuccess) {
        free(host);
        return nullptr;
    }
    return host;
}

void hexadecimal(const unsigned char *bytes, size_t count, char *text) {
    for (size_t i = 0; i < count; ++i) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[2 * count] = 0;
}

// What a memset or copy is about to overwrite, and what it has left.
struct Watched {
    bool in_allocation = false;
    Allocation allocation = {nullptr, 0};
    size_t offset = 0, count = 0;
    char *before = nullptr;
};

Watched before(const void *destination, size_t count) {
    Watched watched;
    watched.count = count;
    if (plan.mode != Mode::Memory) return watched;
    watched.in_allocation = around(destination, &watched.allocation);
    if (!watched.in_allocation || watched.allocation.bytes > MOST_COMPARED) return watched;
    watched.offset = static_cast<size_t>(static_cast<const char *>(destination) - watched.allocation.base);
    watched.before = copy_of(watched.allocation.base, watched.allocation.bytes);
    return watched;
}

void after(Watched &watched, const char *does, const void *source, int value, bool sets) {
    if (plan.mode != Mode::Memory) return;
    char json[900], hex[65] = "";
    size_t behind = 0, changed = 0;
    bool compared = false;
    Allocation origin = {nullptr, 0};
    size_t origin_rest = 0;
    if (watched.before) {
        char *now = copy_of(watched.allocation.base, watched.allocation.bytes);
        if (now) {
            compared = true;
            size_t end = watched.offset + watched.count;
            for (size_t i = end; i < watched.allocation.bytes; ++i, ++behind) changed += now[i] != watched.before[i];
            size_t shown = watched.allocation.bytes - watched.offset;
            if (shown > watched.count) shown = watched.count;
            hexadecimal(reinterpret_cast<unsigned char *>(now + watched.offset), shown < 32 ? shown : 32, hex);
            free(now);
        }
        free(watched.before);
    }
    if (source && around(source, &origin))
        origin_rest = origin.bytes - static_cast<size_t>(static_cast<const char *>(source) - origin.base);
    snprintf(json, sizeof json,
             "{\"does\":\"%s\",\"count\":%zu,\"allocation\":%zu,\"offset\":%zu,\"compared\":%s,\"behind\":%zu,"
             "\"changed\":%zu,\"source\":%zu,\"sets\":%s,\"value\":%d,\"element\":%u,\"floating\":%s,\"bytes\":\"%s\"}",
             does, watched.count, watched.in_allocation ? watched.allocation.bytes : 0, watched.offset,
             compared ? "true" : "false", behind, changed, origin_rest, sets ? "true" : "false", value,
             sets ? element_bytes : 0, element_floating ? "true" : "false", hex);
    set_details(json);
    element_bytes = 0;
    element_floating = 0;
}

// Of memory of the host that a copy has filled: what it holds. Others are waited for, which changes no order of them.
void bring(const void *to, size_t bytes, cudaStream_t stream) {
    cudaPointerAttributes attributes = {};
    if (plan.mode != Mode::Skip || cudaPointerGetAttributes(&attributes, to) != cudaSuccess ||
        attributes.type == cudaMemoryTypeDevice || cudaStreamSynchronize(stream) != cudaSuccess)
        return;
    unsigned long long hash = 0xcbf29ce484222325ULL;
    const unsigned char *at = static_cast<const unsigned char *>(to);
    for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 0x100000001b3ULL;
    set_brought(hash);
}

cudaStream_t stream_of(const char *entry, cudaStream_t stream) {
    return !stream && (ends_with(entry, "_ptsz") || ends_with(entry, "_ptds")) ? cudaStreamPerThread : stream;
}

struct Snapshot {
    Allocation *of = nullptr;
    char **bytes = nullptr;
    int count = 0;
};

void drop(Snapshot &snapshot) {
    for (int i = 0; i < snapshot.count; ++i) free(snapshot.bytes[i]);
    free(snapshot.bytes);
    snapshot.bytes = nullptr;
    snapshot.count = 0;
}

bool take(const Allocation *of, int count, Snapshot *snapshot) {
    snapshot->of = const_cast<Allocation *>(of);
    snapshot->bytes = static_cast<char **>(calloc(static_cast<size_t>(count) + 1, sizeof(char *)));
    for (int i = 0; snapshot->bytes && i < count; ++i) {
        snapshot->bytes[i] = copy_of(of[i].base, of[i].bytes);
        snapshot->count = i + 1;
        if (!snapshot->bytes[i]) return false;
    }
    return snapshot->bytes != nullptr;
}

bool put_back(const Snapshot &snapshot) {
    for (int i = 0; i < snapshot.count; ++i)
        if (__real_cudaMemcpy(snapshot.of[i].base, snapshot.bytes[i], snapshot.of[i].bytes, cudaMemcpyDefault)) return false;
    return true;
}

// What two snapshots differ in, where a third, of the same launch as the first, does not.
void compare(const Snapshot &first, const Snapshot &again, const Snapshot &wide, Line *line) {
    unsigned long long unstable = 0, total = 0;
    char json[6000] = "[";
    size_t used = 1;
    for (int i = 0; i < first.count; ++i) {
        unsigned long long from = 0, to = 0, count = 0;
        size_t bytes = first.of[i].bytes;
        total += bytes;
        for (size_t at = 0; at < bytes; ++at) {
            if (first.bytes[i][at] != again.bytes[i][at]) {
                ++unstable;
            } else if (first.bytes[i][at] != wide.bytes[i][at]) {
                if (!count++) from = at;
                to = at;
            }
        }
        if (count && used + 200 < sizeof json)
            used += static_cast<size_t>(snprintf(
                json + used, sizeof json - used, "%s{\"allocation\":%zu,\"first\":%llu,\"last\":%llu,\"bytes\":%llu}",
                used > 1 ? "," : "", bytes, from, to, count));
    }
    snprintf(json + used, sizeof json - used, "]");
    line->raw("different", json);
    line->number("unstable", static_cast<long long>(unstable));
    line->number("compared", static_cast<long long>(total));
}

} // namespace

int launch_and_compare(const Launch &launch, const char *kernel, unsigned long long at) {
    Line line("cover");
    line.text("kernel", kernel);
    line.number("at", static_cast<long long>(at));
    const char *problem = "";
    static Allocation of[4096];
    int count = 0;
    size_t total = 0;
    pthread_mutex_lock(&lock);
    for (; count < allocation_count; ++count) {
        of[count] = allocations[count];
        total += of[count].bytes;
    }
    pthread_mutex_unlock(&lock);
    auto wider = [](unsigned size, unsigned block) { return size > 1 || block > 1 ? 2 * size + 1 : size; };
    dim3 grid(wider(launch.grid.x, launch.block.x), wider(launch.grid.y, launch.block.y),
              wider(launch.grid.z, launch.block.z));
    unsigned long needed = (plan.threads + launch.block.x - 1) / (launch.block.x ? launch.block.x : 1);
    if (needed > grid.x && needed < 0x7fffffff) grid.x = static_cast<unsigned>(needed);
    if (grid.y > 65535) grid.y = launch.grid.y;
    if (grid.z > 65535) grid.z = launch.grid.z;

    Snapshot start, first, again, wide;
    int status = 0;
    bool ready = count > 0 && total <= MOST_COMPARED && cudaDeviceSynchronize() == cudaSuccess && take(of, count, &start);
    status = launch.go(launch, launch.grid, launch.block);
    if (count == 0) problem = "no device memory was allocated";
    else if (total > MOST_COMPARED) problem = "too much device memory is in use to compare it";
    else if (!ready) problem = "the device memory cannot be read before the launch";
    else if (status != 0) problem = "the launch itself was refused";
    else if (cudaDeviceSynchronize() != cudaSuccess || !take(of, count, &first)) problem = "the kernel failed";
    else if (!put_back(start) || launch.go(launch, launch.grid, launch.block) != 0 ||
             cudaDeviceSynchronize() != cudaSuccess || !take(of, count, &again))
        problem = "the kernel failed the second time";
    else if (!put_back(start) || launch.go(launch, grid, launch.block) != 0 || cudaDeviceSynchronize() != cudaSuccess ||
             !take(of, count, &wide))
        problem = "the launch with more threads failed";
    else {
        compare(first, again, wide, &line);
        if (!put_back(first)) problem = "the device memory could not be put back";
    }
    const unsigned long long as_is[] = {launch.grid.x, launch.grid.y, launch.grid.z};
    const unsigned long long more[] = {grid.x, grid.y, grid.z};
    const unsigned long long block[] = {launch.block.x, launch.block.y, launch.block.z};
    line.numbers("grid", as_is, 3);
    line.numbers("wider", more, 3);
    line.numbers("block", block, 3);
    line.text("problem", problem);
    line.write();
    drop(start);
    drop(first);
    drop(again);
    drop(wide);
    return status;
}

} // namespace cudalint_probe

#include "cudalint_probe_delay.h"
#include "cudalint_probe_time.h"

namespace cudalint_probe {
namespace {
bool may_fill() { return !delaying; }
} // namespace

int launch_in_order(const Launch &launch, unsigned long *number) {
    Working work = work_begins("", launch.entry, launch.stream, nullptr, 0);
    bool measured = plan.mode == Mode::Time && work.place, ready = false;
    Snapshot start;
    static Allocation of[4096];
    if (measured) {
        int count = 0;
        size_t total = 0;
        pthread_mutex_lock(&lock);
        for (; count < allocation_count; ++count) {
            of[count] = allocations[count];
            total += of[count].bytes;
        }
        pthread_mutex_unlock(&lock);
        ready = total <= MOST_COMPARED && cudaDeviceSynchronize() == cudaSuccess && take(of, count, &start);
    }
    int status = launch.go(launch, launch.grid, launch.block);
    work_ends(work);
    if (measured && status == 0) measure_launch(launch, start, ready);
    drop(start);
    *number = work.number;
    return status;
}
} // namespace cudalint_probe

extern "C" void cudalint_probe_element(unsigned bytes, int floating) {
    element_bytes = bytes;
    element_floating = floating;
}

// Allocating and freeing.
#define CUDALINT_PROBE_ALLOCATES(name, fresh, bytes, parameters, arguments)                                            \
    extern "C" cudaError_t __real_##name parameters __attribute__((weak));                                             \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        cudaError_t status = __real_##name arguments;                                                                  \
        allocated(status, status == cudaSuccess ? *pointer : nullptr, bytes, fresh);                                   \
        return status;                                                                                                 \
    }
CUDALINT_PROBE_ALLOCATES(cudaMalloc, true, size, (void **pointer, size_t size), (pointer, size))
CUDALINT_PROBE_ALLOCATES(cudaMallocManaged, true, size, (void **pointer, size_t size, unsigned flags),
                         (pointer, size, flags))
CUDALINT_PROBE_ALLOCATES(cudaMallocPitch, true, *pitch *height,
                         (void **pointer, size_t *pitch, size_t width, size_t height), (pointer, pitch, width, height))
CUDALINT_PROBE_ALLOCATES(cudaMallocAsync, false, size, (void **pointer, size_t size, cudaStream_t stream),
                         (pointer, size, stream))
CUDALINT_PROBE_ALLOCATES(cudaMallocAsync_ptsz, false, size, (void **pointer, size_t size, cudaStream_t stream),
                         (pointer, size, stream))

extern "C" cudaError_t __wrap_cudaFree(void *pointer) {
    settle_delay();
    freed(pointer);
    return __real_cudaFree(pointer);
}
#define CUDALINT_PROBE_FREES(name, function)                                                                           \
    extern "C" cudaError_t __real_##name(void *, cudaStream_t) __attribute__((weak));                                  \
    extern "C" cudaError_t __wrap_##name(void *pointer, cudaStream_t stream) {                                         \
        Working work = work_begins(function, #name, stream, nullptr, 0);                                               \
        Allocation allocation = {nullptr, 0};                                                                          \
        if (work.place && !around(pointer, &allocation)) trouble = "the size of what is freed is not known";           \
        freed(pointer);                                                                                                \
        cudaError_t status = __real_##name(pointer, stream);                                                           \
        if (work.place && allocation.bytes) own_again(pointer, allocation.bytes, work);                                \
        work_ends(work);                                                                                               \
        return status;                                                                                                 \
    }
CUDALINT_PROBE_FREES(cudaFreeAsync, "cudaFreeAsync")
CUDALINT_PROBE_FREES(cudaFreeAsync_ptsz, "cudaFreeAsync")

// Locked memory of the host, which matters where work is delayed alone.
#define CUDALINT_PROBE_LOCKS(name, parameters, arguments)                                                              \
    extern "C" cudaError_t __real_##name parameters __attribute__((weak));                                             \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        cudaError_t status = __real_##name arguments;                                                                  \
        if (plan.mode == Mode::Delay && status == cudaSuccess) {                                                       \
            allocated(status, *pointer, size, false);                                                                  \
            char *bytes = static_cast<char *>(*pointer);                                                               \
            for (size_t i = 0; i < size; ++i) bytes[i] = i % 4 == 0;                                                   \
        }                                                                                                              \
        return status;                                                                                                 \
    }
CUDALINT_PROBE_LOCKS(cudaMallocHost, (void **pointer, size_t size), (pointer, size))
CUDALINT_PROBE_LOCKS(cudaHostAlloc, (void **pointer, size_t size, unsigned flags), (pointer, size, flags))
extern "C" cudaError_t __real_cudaFreeHost(void *) __attribute__((weak));
extern "C" cudaError_t __wrap_cudaFreeHost(void *pointer) {
    settle_delay();
    freed(pointer);
    return __real_cudaFreeHost(pointer);
}

// Setting and copying. The looks before and after wait for the device, also around what would not wait by itself.
#define CUDALINT_PROBE_WRITES(name, function, in, does, destination, count, source, value, sets, parameters, arguments) \
    extern "C" cudaError_t __real_##name parameters __attribute__((weak));                                             \
    extern "C" cudaError_t __wrap_##name parameters {                                                                  \
        Working work = work_begins(function, #name, in, destination, count);                                           \
        Watched watched = before(destination, count);                                                                  \
        cudaError_t status = __real_##name arguments;                                                                  \
        work_ends(work);                                                                                               \
        if (plan.mode == Mode::Time && work.place) measure_copy(status, [&] { return __real_##name arguments; });      \
        bring(destination, count, stream_of(#name, in));                                                               \
        after(watched, does, source, value, sets);                                                                     \
        return status;                                                                                                 \
    }
#define CUDALINT_PROBE_SETS(name)                                                                                      \
    CUDALINT_PROBE_WRITES(name, "cudaMemset", nullptr, "set", to, bytes, nullptr, byte, true, (void *to, int byte, size_t bytes), (to, byte, bytes))
#define CUDALINT_PROBE_SETS_LATER(name)                                                                                \
    CUDALINT_PROBE_WRITES(name, "cudaMemsetAsync", stream, "set", to, bytes, nullptr, byte, true,                                                 \
                          (void *to, int byte, size_t bytes, cudaStream_t stream), (to, byte, bytes, stream))
#define CUDALINT_PROBE_COPIES(name)                                                                                    \
    CUDALINT_PROBE_WRITES(name, "cudaMemcpy", nullptr, "copy", to, bytes, from, 0, false,                                                     \
                          (void *to, const void *from, size_t bytes, cudaMemcpyKind kind), (to, from, bytes, kind))
#define CUDALINT_PROBE_COPIES_LATER(name)                                                                              \
    CUDALINT_PROBE_WRITES(name, "cudaMemcpyAsync", stream, "copy", to, bytes, from, 0, false,                                                     \
                          (void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream),        \
                          (to, from, bytes, kind, stream))
CUDALINT_PROBE_SETS(cudaMemset)
CUDALINT_PROBE_SETS(cudaMemset_ptds)
CUDALINT_PROBE_SETS_LATER(cudaMemsetAsync)
CUDALINT_PROBE_SETS_LATER(cudaMemsetAsync_ptsz)
CUDALINT_PROBE_COPIES(cudaMemcpy)
CUDALINT_PROBE_COPIES(cudaMemcpy_ptds)
CUDALINT_PROBE_COPIES_LATER(cudaMemcpyAsync)
CUDALINT_PROBE_COPIES_LATER(cudaMemcpyAsync_ptsz)
