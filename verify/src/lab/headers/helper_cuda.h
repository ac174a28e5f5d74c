// Stands for the header of this name that NVIDIA's samples share: programs include it and do not bring it along. It has what they use most,
// and does what the names say: a status that is no success is printed, and ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

#include "helper_string.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif
#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

static inline const char *_cudaGetErrorEnum(cudaError_t status) { return cudaGetErrorName(status); }

template <typename T>
inline const char *_cudaGetErrorEnum(T) { return "a failure of a library"; }

template <typename T>
inline void check(T status, const char *call, const char *file, int line) {
    if (!status) return;
    fprintf(stderr, "%s:%d: `%s` gives %u, %s\n", file, line, call, static_cast<unsigned>(status),
            _cudaGetErrorEnum(status));
    exit(EXIT_FAILURE);
}

inline void __getLastCudaError(const char *text, const char *file, int line) {
    cudaError_t status = cudaGetLastError();
    if (status == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, text, cudaGetErrorString(status));
    exit(EXIT_FAILURE);
}

inline void __printLastCudaError(const char *text, const char *file, int line) {
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess) fprintf(stderr, "%s:%d: %s: %s\n", file, line, text, cudaGetErrorString(status));
}

#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(text) __getLastCudaError(text, __FILE__, __LINE__)
#define printLastCudaError(text) __printLastCudaError(text, __FILE__, __LINE__)

inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }

// Cores of a multiprocessor: what programs print of the device.
inline int _ConvertSMVer2Cores(int, int) { return 128; }
inline const char *_ConvertSMVer2ArchName(int, int) { return "Graphics Device"; }

inline int gpuDeviceInit(int device) {
    checkCudaErrors(cudaSetDevice(device < 0 ? 0 : device));
    return device < 0 ? 0 : device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int argc, const char **argv) {
    return gpuDeviceInit(checkCmdLineFlag(argc, argv, "device") ? getCmdLineArgumentInt(argc, argv, "device=") : 0);
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) {
    int device = 0, own_major = 0, own_minor = 0;
    checkCudaErrors(cudaGetDevice(&device));
    checkCudaErrors(cudaDeviceGetAttribute(&own_major, cudaDevAttrComputeCapabilityMajor, device));
    checkCudaErrors(cudaDeviceGetAttribute(&own_minor, cudaDevAttrComputeCapabilityMinor, device));
    return own_major > major || (own_major == major && own_minor >= minor);
}
