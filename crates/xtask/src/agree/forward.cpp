// Stands before the CUDA runtime library where a real program is run on a GPU: linked into the program, so that its calls come here
// first, are written down as `runtime.cpp` writes them, and go on to the library, which is linked as a shared one.
#include "log.h"
#include <dlfcn.h>

// The library's own function of this name.
#define REAL(name) static const auto real = reinterpret_cast<decltype(&name)>(dlsym(RTLD_NEXT, #name))

namespace {
// A GPU gives the same address again after a free: then the address is the new allocation's.
void record(void *start, size_t bytes, char space) {
    State &s = state();
    const char *first = static_cast<const char *>(start), *end = first + (bytes ? bytes : 1);
    for (auto at = s.memory.lower_bound(first); at != s.memory.end() && at->first < end;) {
        at = s.memory.erase(at);
    }
    auto before = s.memory.lower_bound(first);
    if (before != s.memory.begin() && (--before)->first + before->second.bytes > first) {
        s.memory.erase(before);
    }
    s.memory[first] = {static_cast<char *>(start), bytes, std::to_string(s.allocations - 1), space};
}

cudaError_t allocated(const std::string &from, cudaError_t status, void *start, size_t bytes, char space) {
    LOCKED;
    write_allocation(from, bytes, space);
    if (status == cudaSuccess && start) {
        record(start, bytes, space);
    }
    return status;
}
// Which function a handle of CUDA 13 stands for.
std::map<const void *, const void *> &functions() {
    static auto *all = new std::map<const void *, const void *>;
    return *all;
}

std::string place_of_launch(std::string otherwise) {
    std::string from = launched_from.empty() ? otherwise : launched_from;
    launched_from.clear();
    return from;
}
} // namespace

// What compiled code calls.
extern "C" {
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, cudaStream_t);
cudaError_t __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
cudaError_t __cudaGetKernel(void **, const void *);
cudaError_t __cudaLaunchKernel(void *, dim3, dim3, void **, size_t, cudaStream_t);
}

API void __cudaRegisterFunction(void **fat, const char *host, char *device, const char *name, int limit, void *a, void *b, void *c,
                                void *d, int *e) {
    REAL(__cudaRegisterFunction);
    state().kernels[host] = kernel_of(name);
    real(fat, host, device, name, limit, a, b, c, d, e);
}
API void __cudaRegisterVar(void **fat, char *host, char *device, const char *name, int outside, size_t bytes, int constant, int global) {
    REAL(__cudaRegisterVar);
    write_variable(host, name, bytes);
    real(fat, host, device, name, outside, bytes, constant, global);
}
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    REAL(__cudaPushCallConfiguration);
    pending.push_back({callers(), grid, block, shared, stream});
    return real(grid, block, shared, stream);
}
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    REAL(__cudaPopCallConfiguration);
    if (!pending.empty()) {
        launched_from = pending.back().from;
        pending.pop_back();
    }
    return real(grid, block, shared, stream);
}
API cudaError_t __cudaGetKernel(void **to, const void *function) {
    REAL(__cudaGetKernel);
    cudaError_t status = real(to, function);
    LOCKED;
    functions()[*to] = function;
    return status;
}
API cudaError_t __cudaLaunchKernel(void *handle, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    REAL(__cudaLaunchKernel);
    {
        LOCKED;
        write_launch(place_of_launch(callers()), state().kernels[functions()[handle]], grid, block, arguments, shared);
    }
    return real(handle, grid, block, arguments, shared, stream);
}
API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    REAL(cudaLaunchKernel);
    {
        LOCKED;
        write_launch(place_of_launch(callers()), state().kernels[function], grid, block, arguments, shared);
    }
    return real(function, grid, block, arguments, shared, stream);
}
API cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream) {
    REAL(cudaLaunchCooperativeKernel);
    {
        LOCKED;
        write_launch(callers(), state().kernels[function], grid, block, arguments, shared);
    }
    return real(function, grid, block, arguments, shared, stream);
}

// Memory.
API cudaError_t cudaMalloc(void **to, size_t bytes) {
    REAL(cudaMalloc);
    cudaError_t status = real(to, bytes);
    return allocated(callers(), status, to ? *to : nullptr, bytes, 'd');
}
API cudaError_t cudaMallocAsync(void **to, size_t bytes, cudaStream_t stream) {
    REAL(cudaMallocAsync);
    cudaError_t status = real(to, bytes, stream);
    return allocated(callers(), status, to ? *to : nullptr, bytes, 'd');
}
API cudaError_t cudaMallocManaged(void **to, size_t bytes, unsigned flags) {
    REAL(cudaMallocManaged);
    cudaError_t status = real(to, bytes, flags);
    return allocated(callers(), status, to ? *to : nullptr, bytes, 'm');
}
API cudaError_t cudaMallocHost(void **to, size_t bytes) {
    REAL(cudaMallocHost);
    cudaError_t status = real(to, bytes);
    return allocated(callers(), status, to ? *to : nullptr, bytes, 'h');
}
API cudaError_t cudaHostAlloc(void **to, size_t bytes, unsigned flags) {
    REAL(cudaHostAlloc);
    cudaError_t status = real(to, bytes, flags);
    return allocated(callers(), status, to ? *to : nullptr, bytes, 'h');
}
API cudaError_t cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
    REAL(cudaMallocPitch);
    cudaError_t status = real(to, pitch, width, height);
    return allocated(callers(), status, to ? *to : nullptr, pitch ? *pitch * height : 0, 'p');
}
API cudaError_t cudaMalloc3D(cudaPitchedPtr *to, cudaExtent extent) {
    REAL(cudaMalloc3D);
    cudaError_t status = real(to, extent);
    return allocated(callers(), status, to->ptr, to->pitch * extent.height * extent.depth, 'p');
}
API cudaError_t cudaGetSymbolAddress(void **to, const void *of) {
    REAL(cudaGetSymbolAddress);
    cudaError_t status = real(to, of);
    LOCKED;
    const Memory *variable = home(of);
    if (status == cudaSuccess && variable) {
        state().memory[static_cast<const char *>(*to)] = {static_cast<char *>(*to), variable->bytes, variable->name, 'v'};
    }
    return status;
}
API cudaError_t cudaFree(void *of) {
    REAL(cudaFree);
    {
        LOCKED;
        write_free(callers(), of);
    }
    return real(of);
}
API cudaError_t cudaFreeAsync(void *of, cudaStream_t stream) {
    REAL(cudaFreeAsync);
    {
        LOCKED;
        write_free(callers(), of);
    }
    return real(of, stream);
}
API cudaError_t cudaFreeHost(void *of) {
    REAL(cudaFreeHost);
    {
        LOCKED;
        write_free(callers(), of);
    }
    return real(of);
}
API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    REAL(cudaMemcpy);
    {
        LOCKED;
        write_copy(callers(), to, from, bytes, kind);
    }
    return real(to, from, bytes, kind);
}
API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    REAL(cudaMemcpyAsync);
    {
        LOCKED;
        write_copy(callers(), to, from, bytes, kind);
    }
    return real(to, from, bytes, kind, stream);
}
API cudaError_t cudaMemcpyPeer(void *to, int there, const void *from, int here, size_t bytes) {
    REAL(cudaMemcpyPeer);
    {
        LOCKED;
        write_copy(callers(), to, from, bytes, 4);
    }
    return real(to, there, from, here, bytes);
}
API cudaError_t cudaMemcpyPeerAsync(void *to, int there, const void *from, int here, size_t bytes, cudaStream_t stream) {
    REAL(cudaMemcpyPeerAsync);
    {
        LOCKED;
        write_copy(callers(), to, from, bytes, 4);
    }
    return real(to, there, from, here, bytes, stream);
}
API cudaError_t cudaMemcpyToSymbol(const void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    REAL(cudaMemcpyToSymbol);
    {
        LOCKED;
        write_copy(callers(), static_cast<const char *>(to) + offset, from, bytes, kind);
    }
    return real(to, from, bytes, offset, kind);
}
API cudaError_t cudaMemcpyFromSymbol(void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    REAL(cudaMemcpyFromSymbol);
    {
        LOCKED;
        write_copy(callers(), to, static_cast<const char *>(from) + offset, bytes, kind);
    }
    return real(to, from, bytes, offset, kind);
}
API cudaError_t cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, cudaMemcpyKind kind) {
    REAL(cudaMemcpy2D);
    {
        LOCKED;
        write_rows(callers(), to, tp, from, fp, width, height, kind);
    }
    return real(to, tp, from, fp, width, height, kind);
}
API cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    REAL(cudaMemset);
    {
        LOCKED;
        write_set(callers(), to, value, bytes);
    }
    return real(to, value, bytes);
}
API cudaError_t cudaMemcpyToSymbolAsync(const void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    REAL(cudaMemcpyToSymbolAsync);
    {
        LOCKED;
        write_copy(callers(), static_cast<const char *>(to) + offset, from, bytes, kind);
    }
    return real(to, from, bytes, offset, kind, stream);
}
API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    REAL(cudaMemcpyFromSymbolAsync);
    {
        LOCKED;
        write_copy(callers(), to, static_cast<const char *>(from) + offset, bytes, kind);
    }
    return real(to, from, bytes, offset, kind, stream);
}
API cudaError_t cudaMemcpy2DAsync(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    REAL(cudaMemcpy2DAsync);
    {
        LOCKED;
        write_rows(callers(), to, tp, from, fp, width, height, kind);
    }
    return real(to, tp, from, fp, width, height, kind, stream);
}
API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    REAL(cudaMemsetAsync);
    {
        LOCKED;
        write_set(callers(), to, value, bytes);
    }
    return real(to, value, bytes, stream);
}
