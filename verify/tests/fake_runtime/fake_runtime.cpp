// A CUDA runtime without a GPU, for tests of the probe: device memory is host memory, and a launch of too many threads is
// refused as a device refuses it. Kernels never run, but for one: `negate(float *values, int n)` is done on the host, an
// element a thread. Streams are ordered as CUDA orders them; what waits for nothing is done at once. Linked in place of the real
// one with `-cudart none`.
#include <cuda_runtime_api.h>

#include <functional>
#include <future>
#include <map>
#include <set>
#include <stdlib.h>
#include <string.h>
#include <vector>

struct CUstream_st {
    bool blocking;
};

namespace {
typedef std::shared_future<void> Work;
std::map<cudaStream_t, Work> last; // of each stream that has work
std::set<void *> locked;           // memory of the host
std::multimap<std::pair<cudaStream_t, size_t>, void *> pool;
std::map<void *, size_t> sizes;

bool pending(const Work &work) { return work.wait_for(std::chrono::seconds(0)) != std::future_status::ready; }

// Starts work in a stream: behind what is there, and what is in the default stream or all that wait for it.
void enqueue(cudaStream_t stream, std::function<void()> does, bool slow = false) {
    std::vector<Work> before;
    for (auto &each : last) {
        bool same = each.first == stream;
        bool by_default = (!stream && each.first && each.first->blocking) || (!each.first && stream && stream->blocking);
        if ((same || by_default) && pending(each.second)) before.push_back(each.second);
    }
    if (before.empty() && !slow) return does();
    last[stream] = std::async(std::launch::async, [before, does] {
                       for (auto &each : before) each.wait();
                       does();
                   }).share();
}
void wait_for(cudaStream_t stream) {
    auto found = last.find(stream);
    if (found != last.end()) found->second.wait();
}
void wait_for_all() {
    for (auto &each : last) each.second.wait();
}

int last_error = 0;
dim3 pushed_grid, pushed_block;
size_t pushed_shared = 0;
cudaStream_t pushed_stream = nullptr;

cudaError_t result(int status) {
    if (status) last_error = status;
    return static_cast<cudaError_t>(status);
}
const void *negate = nullptr;

cudaError_t launch(const void *kernel, dim3 grid, dim3 block, void **arguments, cudaStream_t stream) {
    bool refused = grid.x == 0 || block.x * block.y * block.z > 1024 || block.x * block.y * block.z == 0;
    if (!refused && kernel == negate) {
        float *values = *static_cast<float **>(arguments[0]);
        unsigned count = static_cast<unsigned>(*static_cast<int *>(arguments[1]));
        enqueue(stream, [=] {
            for (unsigned i = 0; i < grid.x * block.x && i < count; ++i) values[i] = -values[i];
        });
    }
    return result(refused ? cudaErrorInvalidConfiguration : cudaSuccess);
}
} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *) {
    static void *module = nullptr;
    return &module;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
void __cudaRegisterFunction(void **, const char *function, char *, const char *name, int, void *, void *, void *, void *,
                            int *) {
    if (strstr(name, "negate")) negate = function;
}
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}
void __cudaRegisterManagedVar(void **, void **variable, char *, const char *, size_t size, int, int) {
    *variable = calloc(1, size);
}
char __cudaInitModule(void **) { return 0; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
    pushed_grid = grid;
    pushed_block = block;
    pushed_shared = shared;
    pushed_stream = static_cast<cudaStream_t>(stream);
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = pushed_grid;
    *block = pushed_block;
    *shared = pushed_shared;
    *static_cast<cudaStream_t *>(stream) = pushed_stream;
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(void **handle, const void *function) {
    *handle = const_cast<void *>(function);
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t, cudaStream_t stream) {
    return launch(kernel, grid, block, arguments, stream);
}
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t, cudaStream_t stream) {
    return launch(kernel, grid, block, arguments, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    return launch(kernel, config->gridDim, config->blockDim, arguments, config->stream);
}
cudaError_t cudaMalloc(void **pointer, size_t size) {
    *pointer = malloc(size);
    return result(*pointer || !size ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocManaged(void **pointer, size_t size, unsigned) { return cudaMalloc(pointer, size); }
cudaError_t cudaFree(void *pointer) {
    wait_for_all();
    free(pointer);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    enqueue(nullptr, [=] { memcpy(to, from, bytes); });
    wait_for(nullptr);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    enqueue(stream, [=] { memcpy(to, from, bytes); });
    if (kind == cudaMemcpyDeviceToHost && !locked.count(to)) wait_for(stream);
    return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, size_t bytes) {
    enqueue(nullptr, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) {
    enqueue(stream, [=] { memset(to, value, bytes); });
    return cudaSuccess;
}
cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
    auto found = pool.find({stream, size});
    if (found == pool.end()) {
        *pointer = malloc(size);
        sizes[*pointer] = size;
    } else {
        *pointer = found->second;
        pool.erase(found);
    }
    return cudaSuccess;
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    pool.insert({{stream, sizes[pointer]}, pointer});
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    enqueue(stream, [=] { function(data); }, true);
    return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, cudaMemcpyKind) { return cudaSuccess; }
cudaError_t cudaMemcpyFromSymbol(void *to, const void *, size_t bytes, size_t, cudaMemcpyKind) {
    memset(to, 0, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *, const void *, size_t, size_t, cudaMemcpyKind, cudaStream_t) {
    return cudaSuccess;
}
cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *, size_t bytes, size_t, cudaMemcpyKind, cudaStream_t) {
    memset(to, 0, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind) {
    for (size_t row = 0; row < height; ++row)
        memcpy(static_cast<char *>(to) + row * to_pitch, static_cast<const char *>(from) + row * from_pitch, width);
    return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *) {
    attributes->type = cudaMemoryTypeUnregistered;
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = new CUstream_st{true};
    return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    *stream = new CUstream_st{flags != cudaStreamNonBlocking};
    return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t *event) {
    *event = nullptr;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t, cudaEvent_t) {
    *milliseconds = 1;
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned) {
    cudaError_t status = cudaMalloc(pointer, size);
    locked.insert(*pointer);
    return status;
}
cudaError_t cudaMallocHost(void **pointer, size_t size) { return cudaHostAlloc(pointer, size, 0); }
cudaError_t cudaFreeHost(void *pointer) {
    wait_for_all();
    free(pointer);
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
    wait_for_all();
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    wait_for(stream);
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return result(device == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetLastError() {
    int status = last_error;
    last_error = 0;
    return static_cast<cudaError_t>(status);
}
cudaError_t cudaPeekAtLastError() { return static_cast<cudaError_t>(last_error); }
const char *cudaGetErrorString(cudaError_t status) {
    return status == cudaSuccess                     ? "no error"
           : status == cudaErrorMemoryAllocation     ? "out of memory"
           : status == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                                     : "some error";
}
const char *cudaGetErrorName(cudaError_t status) { return status == cudaSuccess ? "cudaSuccess" : "cudaErrorSome"; }
}
