// Stands for the CUDA runtime library where a real program is run without a GPU: compiled against the toolkit's own headers and
// linked in its place. Memory of the device is memory of the host; copies are bounded and done; a kernel is logged and not run.
#include "log.h"

namespace {
struct Device {
    size_t in_use = 0;
    uintptr_t handles = 0;
    cudaError_t last = cudaSuccess;
};
Device &device() {
    static Device *all = new Device;
    return *all;
}
const size_t TOTAL = size_t{3} << 30, DEVICE = size_t{40} << 30;

cudaError_t fail(cudaError_t error) {
    device().last = error;
    return error;
}

cudaError_t allocate(const std::string &from, void **to, size_t bytes, char space) {
    State &s = state();
    if (!to) {
        return fail(cudaErrorInvalidValue);
    }
    write_allocation(from, bytes, space);
    // What a device has room for and this machine may not: what follows is another way than that on a device.
    s.cut = s.cut || (bytes < DEVICE && device().in_use + bytes > TOTAL);
    if (bytes > TOTAL || device().in_use + bytes > TOTAL) {
        return fail(cudaErrorMemoryAllocation);
    }
    // 256 bytes as of the runtime; room behind the end, so that nothing else begins there.
    char *start = nullptr;
    if (posix_memalign(reinterpret_cast<void **>(&start), 4096, bytes + 4096)) {
        s.cut = true;
        return fail(cudaErrorMemoryAllocation);
    }
    if (bytes < (size_t{64} << 20)) {
        std::memset(start, 0, bytes + 64);
    }
    device().in_use += bytes;
    s.memory[start] = {start, bytes, std::to_string(s.allocations - 1), space};
    *to = start;
    return cudaSuccess;
}

// Memory that is freed stays where it is, so that no later allocation gets its address.
cudaError_t release(const std::string &from, const void *of) {
    write_free(from, of);
    const Memory *memory = home(of);
    if (memory && memory->start == of) {
        device().in_use -= memory->bytes < device().in_use ? memory->bytes : device().in_use;
    }
    return cudaSuccess;
}

// Bytes may lie outside of what was allocated: then the real runtime refuses, too.
bool within(const void *at, size_t bytes) {
    const Memory *memory = home(at);
    return at && (!memory || static_cast<const char *>(at) + bytes <= memory->start + memory->bytes);
}

cudaError_t copy(const std::string &from, void *to, const void *source, size_t bytes, int kind) {
    write_copy(from, to, source, bytes, kind);
    if (bytes && (!within(to, bytes) || !within(source, bytes))) {
        return fail(cudaErrorInvalidValue);
    }
    if (bytes) {
        std::memmove(to, source, bytes);
    }
    return cudaSuccess;
}

cudaError_t rows(const std::string &from, void *to, size_t to_pitch, const void *source, size_t source_pitch, size_t width,
                 size_t height, int kind) {
    write_rows(from, to, to_pitch, source, source_pitch, width, height, kind);
    for (size_t row = 0; row < height; ++row) {
        char *at = static_cast<char *>(to) + row * to_pitch;
        const char *there = static_cast<const char *>(source) + row * source_pitch;
        if (!to || !source || !within(at, width) || !within(there, width)) {
            return fail(cudaErrorInvalidValue);
        }
        std::memmove(at, there, width);
    }
    return cudaSuccess;
}

cudaError_t set(const std::string &from, void *to, int value, size_t bytes) {
    write_set(from, to, value, bytes);
    if (bytes && !within(to, bytes)) {
        return fail(cudaErrorInvalidValue);
    }
    if (bytes) {
        std::memset(to, value, bytes);
    }
    return cudaSuccess;
}

template <typename T> cudaError_t handle(T *to) {
    // Nobody looks inside, but nobody is given null either.
    *to = reinterpret_cast<T>(0x7000000000 + 64 * ++device().handles);
    return cudaSuccess;
}
} // namespace

#define YES { return cudaSuccess; }

// What compiled code calls.
API void **__cudaRegisterFatBinary(void *) { static void *none; return &none; }
API void __cudaRegisterFatBinaryEnd(void **) {}
API void __cudaUnregisterFatBinary(void **) {}
API void __cudaRegisterFunction(void **, const char *host, char *, const char *name, int, void *, void *, void *, void *, int *) {
    state().kernels[host] = kernel_of(name);
}
API void __cudaRegisterVar(void **, char *host, char *, const char *name, int, size_t bytes, int, int) {
    write_variable(host, name, bytes);
}
API void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int) {}
API void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int) {}
API void __cudaRegisterSurface(void **, const void *, const void **, const char *, int, int) {}
API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    LOCKED;
    pending.push_back({callers(), grid, block, shared, stream});
    return 0;
}
API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (pending.empty()) {
        return cudaErrorMissingConfiguration;
    }
    Configuration top = pending.back();
    pending.pop_back();
    *grid = top.grid, *block = top.block, *shared = top.shared;
    *static_cast<cudaStream_t *>(stream) = top.stream;
    launched_from = top.from;
    return cudaSuccess;
}
API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t) {
    LOCKED;
    std::string from = launched_from.empty() ? callers() : launched_from;
    launched_from.clear();
    write_launch(from, state().kernels[function], grid, block, arguments, shared);
    uint64_t threads = uint64_t{block.x} * block.y * block.z;
    if (!threads || threads > 1024 || block.z > 64 || !grid.x || !grid.y || !grid.z || grid.y > 65535 || grid.z > 65535) {
        return fail(cudaErrorInvalidConfiguration);
    }
    return cudaSuccess;
}
API cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **a, size_t s, cudaStream_t t) {
    launched_from = callers();
    return cudaLaunchKernel(f, g, b, a, s, t);
}

// Memory.
API cudaError_t cudaMalloc(void **to, size_t bytes) { LOCKED; return allocate(callers(), to, bytes, 'd'); }
API cudaError_t cudaMallocAsync(void **to, size_t bytes, cudaStream_t) { LOCKED; return allocate(callers(), to, bytes, 'd'); }
API cudaError_t cudaMallocManaged(void **to, size_t bytes, unsigned) { LOCKED; return allocate(callers(), to, bytes, 'm'); }
API cudaError_t cudaMallocHost(void **to, size_t bytes) { LOCKED; return allocate(callers(), to, bytes, 'h'); }
API cudaError_t cudaHostAlloc(void **to, size_t bytes, unsigned) { LOCKED; return allocate(callers(), to, bytes, 'h'); }
API cudaError_t cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height) {
    LOCKED;
    *pitch = (width + 511) / 512 * 512;
    return allocate(callers(), to, *pitch * height, 'p');
}
API cudaError_t cudaMalloc3D(cudaPitchedPtr *to, cudaExtent extent) {
    LOCKED;
    to->pitch = (extent.width + 511) / 512 * 512, to->xsize = extent.width, to->ysize = extent.height;
    return allocate(callers(), &to->ptr, to->pitch * extent.height * extent.depth, 'p');
}
API cudaError_t cudaMallocArray(cudaArray_t *to, const cudaChannelFormatDesc *, size_t, size_t, unsigned) { LOCKED; return handle(to); }
API cudaError_t cudaMalloc3DArray(cudaArray_t *to, const cudaChannelFormatDesc *, cudaExtent, unsigned) { LOCKED; return handle(to); }
API cudaError_t cudaFree(void *of) { LOCKED; return release(callers(), of); }
API cudaError_t cudaFreeAsync(void *of, cudaStream_t) { LOCKED; return release(callers(), of); }
API cudaError_t cudaFreeHost(void *of) { LOCKED; return release(callers(), of); }
API cudaError_t cudaHostGetDevicePointer(void **to, void *of, unsigned) { *to = of; return cudaSuccess; }
API cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) { LOCKED; return copy(callers(), to, from, bytes, kind); }
API cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    LOCKED;
    return copy(callers(), to, from, bytes, kind);
}
API cudaError_t cudaMemcpyPeer(void *to, int, const void *from, int, size_t bytes) { LOCKED; return copy(callers(), to, from, bytes, 4); }
API cudaError_t cudaMemcpyPeerAsync(void *to, int, const void *from, int, size_t bytes, cudaStream_t) {
    LOCKED;
    return copy(callers(), to, from, bytes, 4);
}
API cudaError_t cudaMemcpyToSymbol(const void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    LOCKED;
    return copy(callers(), static_cast<char *>(const_cast<void *>(to)) + offset, from, bytes, kind);
}
API cudaError_t cudaMemcpyToSymbolAsync(const void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t) {
    LOCKED;
    return copy(callers(), static_cast<char *>(const_cast<void *>(to)) + offset, from, bytes, kind);
}
API cudaError_t cudaMemcpyFromSymbol(void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
    LOCKED;
    return copy(callers(), to, static_cast<const char *>(from) + offset, bytes, kind);
}
API cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind, cudaStream_t) {
    LOCKED;
    return copy(callers(), to, static_cast<const char *>(from) + offset, bytes, kind);
}
API cudaError_t cudaGetSymbolAddress(void **to, const void *of) { *to = const_cast<void *>(of); return cudaSuccess; }
API cudaError_t cudaGetSymbolSize(size_t *to, const void *of) {
    const Memory *memory = home(of);
    *to = memory ? memory->bytes : 0;
    return cudaSuccess;
}
API cudaError_t cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, cudaMemcpyKind kind) {
    LOCKED;
    return rows(callers(), to, tp, from, fp, width, height, kind);
}
API cudaError_t cudaMemcpy2DAsync(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t) {
    LOCKED;
    return rows(callers(), to, tp, from, fp, width, height, kind);
}
API cudaError_t cudaMemset(void *to, int value, size_t bytes) { LOCKED; return set(callers(), to, value, bytes); }
API cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t) { LOCKED; return set(callers(), to, value, bytes); }
API cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height) {
    LOCKED;
    for (size_t row = 0; row < height && within(to, row * pitch + width); ++row) {
        std::memset(static_cast<char *>(to) + row * pitch, value, width);
    }
    return cudaSuccess;
}
API cudaError_t cudaMemGetInfo(size_t *left, size_t *total) { *left = *total = TOTAL; return cudaSuccess; }
API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *to, const void *of) {
    const Memory *memory = home(of);
    *to = cudaPointerAttributes();
    to->type = !memory ? cudaMemoryTypeUnregistered : memory->space == 'm' ? cudaMemoryTypeManaged : memory->space == 'h' ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    to->devicePointer = to->hostPointer = const_cast<void *>(of);
    return cudaSuccess;
}

// The device.
API cudaError_t cudaGetDeviceCount(int *to) { *to = 1; return cudaSuccess; }
API cudaError_t cudaGetDevice(int *to) { *to = 0; return cudaSuccess; }
API cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice); }
API cudaError_t cudaChooseDevice(int *to, const cudaDeviceProp *) { *to = 0; return cudaSuccess; }
API cudaError_t cudaDriverGetVersion(int *to) { *to = CUDART_VERSION; return cudaSuccess; }
API cudaError_t cudaRuntimeGetVersion(int *to) { *to = CUDART_VERSION; return cudaSuccess; }
API cudaError_t cudaGetDeviceProperties(cudaDeviceProp *to, int) {
    std::memset(to, 0, sizeof *to);
    std::strcpy(to->name, "NVIDIA of no make");
    to->totalGlobalMem = size_t{40} << 30, to->sharedMemPerBlock = 49152, to->regsPerBlock = 65536, to->warpSize = 32;
    to->memPitch = 2147483647, to->maxThreadsPerBlock = 1024;
    to->maxThreadsDim[0] = to->maxThreadsDim[1] = 1024, to->maxThreadsDim[2] = 64;
    to->maxGridSize[0] = 2147483647, to->maxGridSize[1] = to->maxGridSize[2] = 65535;
    to->clockRate = 1410000, to->totalConstMem = 65536, to->major = 8, to->minor = 0, to->textureAlignment = 512;
    to->deviceOverlap = 1, to->multiProcessorCount = 108, to->canMapHostMemory = 1, to->concurrentKernels = 1;
    to->asyncEngineCount = 3, to->unifiedAddressing = 1, to->memoryClockRate = 1215000, to->memoryBusWidth = 5120;
    to->l2CacheSize = 41943040, to->maxThreadsPerMultiProcessor = 2048, to->streamPrioritiesSupported = 1;
    to->sharedMemPerMultiprocessor = 167936, to->regsPerMultiprocessor = 65536, to->managedMemory = 1;
    to->concurrentManagedAccess = 1, to->cooperativeLaunch = 1, to->sharedMemPerBlockOptin = 166912;
    to->maxTexture1D = 131072, to->maxTexture2D[0] = 131072, to->maxTexture2D[1] = 65536, to->pageableMemoryAccess = 0;
    return cudaSuccess;
}
API cudaError_t cudaDeviceGetAttribute(int *to, cudaDeviceAttr which, int) {
    cudaDeviceProp all;
    cudaGetDeviceProperties(&all, 0);
    switch (which) {
        case cudaDevAttrMaxThreadsPerBlock: case cudaDevAttrMaxBlockDimX: case cudaDevAttrMaxBlockDimY: *to = 1024; break;
        case cudaDevAttrMaxBlockDimZ: *to = 64; break;
        case cudaDevAttrMaxGridDimX: *to = 2147483647; break;
        case cudaDevAttrMaxGridDimY: case cudaDevAttrMaxGridDimZ: *to = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *to = 49152; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *to = 166912; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *to = 167936; break;
        case cudaDevAttrWarpSize: *to = 32; break;
        case cudaDevAttrMultiProcessorCount: *to = 108; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *to = 2048; break;
        case cudaDevAttrComputeCapabilityMajor: *to = 8; break;
        case cudaDevAttrComputeCapabilityMinor: *to = 0; break;
        case cudaDevAttrClockRate: *to = all.clockRate; break;
        case cudaDevAttrMaxRegistersPerBlock: *to = 65536; break;
        case cudaDevAttrComputeMode: *to = 0; break;
        default: *to = 1; break;
    }
    return cudaSuccess;
}
API cudaError_t cudaDeviceCanAccessPeer(int *to, int, int) { *to = 0; return cudaSuccess; }
API cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *most) { *least = 0, *most = -5; return cudaSuccess; }
API cudaError_t cudaDeviceGetLimit(size_t *to, cudaLimit) { *to = 8388608; return cudaSuccess; }
API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *to, const void *) {
    std::memset(to, 0, sizeof *to);
    to->maxThreadsPerBlock = 1024, to->numRegs = 32, to->ptxVersion = to->binaryVersion = 80;
    return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *to, const void *, int threads, size_t) {
    *to = threads > 0 ? 2048 / threads : 0;
    return cudaSuccess;
}
API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *to, const void *, int threads, size_t, unsigned) {
    *to = threads > 0 ? 2048 / threads : 0;
    return cudaSuccess;
}

// Streams, events, errors.
API cudaError_t cudaStreamCreate(cudaStream_t *to) { LOCKED; return handle(to); }
API cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, unsigned) { LOCKED; return handle(to); }
API cudaError_t cudaStreamCreateWithPriority(cudaStream_t *to, unsigned, int) { LOCKED; return handle(to); }
API cudaError_t cudaEventCreate(cudaEvent_t *to) { LOCKED; return handle(to); }
API cudaError_t cudaEventCreateWithFlags(cudaEvent_t *to, unsigned) { LOCKED; return handle(to); }
API cudaError_t cudaEventElapsedTime(float *to, cudaEvent_t, cudaEvent_t) { *to = 1.0f; return cudaSuccess; }
API cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t call, void *data) { call(data); return cudaSuccess; }
API cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t call, void *data, unsigned) {
    call(stream, cudaSuccess, data);
    return cudaSuccess;
}
API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *to, const cudaResourceDesc *, const cudaTextureDesc *, const cudaResourceViewDesc *) {
    *to = 1;
    return cudaSuccess;
}
API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *to, const cudaResourceDesc *) { *to = 1; return cudaSuccess; }
API cudaError_t cudaBindTexture(size_t *offset, const textureReference *, const void *, const cudaChannelFormatDesc *, size_t) {
    if (offset) { *offset = 0; }
    return cudaSuccess;
}
API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) { return {x, y, z, w, kind}; }
API cudaError_t cudaGetLastError() { cudaError_t last = device().last; device().last = cudaSuccess; return last; }
API cudaError_t cudaPeekAtLastError() { return device().last; }
API const char *cudaGetErrorString(cudaError_t error) { return error ? "an error" : "no error"; }
API const char *cudaGetErrorName(cudaError_t error) { return error ? "cudaErrorOfSomeKind" : "cudaSuccess"; }

// What nobody wrote here.
API void stand_in_unknown(const char *name) { LOCKED; std::fprintf(log(), "U %s\n", name); }
