// cudalint's probe: put before a program's own code (`-include`), it reports each call of the CUDA runtime and driver with
// its place and its real status, and can hand another status back at a chosen place. The calls are really made, the lines
// of the program stay as they are, and code for the device does not change. Needs cudalint_probe.cpp beside it.
#ifndef CUDALINT_PROBE_CUH
#define CUDALINT_PROBE_CUH

// Headers that declare what the macros stand for come first: a declaration is no call.
#include <cuda_runtime.h>
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#endif
#if __has_include(<cudaProfiler.h>)
#include <cudaProfiler.h>
#endif
#if __has_include(<cuda_profiler_api.h>)
#include <cuda_profiler_api.h>
#endif

extern "C" int cudalint_probe_call(int status, const char *function, const char *file, int line, int id, int kind);
extern "C" void cudalint_probe_text(int status, const char *function, const char *file, int line, int id);
extern "C" void cudalint_probe_element(unsigned bytes, int floating);
extern "C" void cudalint_probe_pair_reader(int (*read)(unsigned long long *values));

// What a status is: an enumeration of CUDA or of a library, or the number that a function of the project returns.
#define CUDALINT_PROBE_ENUM 1
#define CUDALINT_PROBE_NUMBER 2
#define CUDALINT_PROBE_OPAQUE 3

namespace cudalint_probe {
template <int Kind, typename Status>
struct Status_ { // of a function that is no status: what it gives is handed on
    static Status handed(Status status, const char *, const char *, int, int) { return status; }
};
template <typename Status>
struct Status_<CUDALINT_PROBE_OPAQUE, Status> { // of a flagged call whose failure looks like nothing that is known
    static Status handed(Status status, const char *function, const char *file, int line, int id) {
        cudalint_probe_call(0, function, file, line, id, CUDALINT_PROBE_OPAQUE);
        return status;
    }
};
template <typename Status>
struct Status_<CUDALINT_PROBE_ENUM, Status> {
    static Status handed(Status status, const char *function, const char *file, int line, int id) {
        return static_cast<Status>(
            cudalint_probe_call(static_cast<int>(status), function, file, line, id, CUDALINT_PROBE_ENUM));
    }
};
template <>
struct Status_<CUDALINT_PROBE_NUMBER, int> {
    static int handed(int status, const char *function, const char *file, int line, int id) {
        return cudalint_probe_call(status, function, file, line, id, CUDALINT_PROBE_NUMBER);
    }
};

struct Site {
    const char *function, *file;
    int line, id;
};

// `call ->* Site` and `Site ->* call`: what a macro can put behind or before a call without a closing parenthesis on the
// other side, so that members and names with template arguments can be watched as well.
template <typename Status>
struct Kind {
    static const int value = __is_enum(Status) ? CUDALINT_PROBE_ENUM : CUDALINT_PROBE_OPAQUE;
};
template <>
struct Kind<int> {
    static const int value = CUDALINT_PROBE_NUMBER;
};
template <typename Status>
inline Status operator->*(Status status, Site site) {
    return Status_<Kind<Status>::value, Status>::handed(status, site.function, site.file, site.line, site.id);
}
template <typename Status>
inline Status operator->*(Site site, Status status) {
    return status->*site;
}

// The type of the elements that a memset is given a pointer to; 0 bytes where it says nothing.
template <typename Element, bool Arithmetic>
struct ElementOf {
    static void note() { cudalint_probe_element(0, 0); }
};
template <typename Element>
struct ElementOf<Element, true> {
    static void note() { cudalint_probe_element(sizeof(Element), static_cast<Element>(0.5) != static_cast<Element>(0)); }
};
template <typename Element>
struct IsArithmetic {
    static const bool value = false;
};
#define CUDALINT_PROBE_ARITHMETIC(type)                                                                                \
    template <>                                                                                                        \
    struct IsArithmetic<type> {                                                                                        \
        static const bool value = true;                                                                                \
    };
CUDALINT_PROBE_ARITHMETIC(char)
CUDALINT_PROBE_ARITHMETIC(signed char)
CUDALINT_PROBE_ARITHMETIC(unsigned char)
CUDALINT_PROBE_ARITHMETIC(short)
CUDALINT_PROBE_ARITHMETIC(unsigned short)
CUDALINT_PROBE_ARITHMETIC(int)
CUDALINT_PROBE_ARITHMETIC(unsigned)
CUDALINT_PROBE_ARITHMETIC(long)
CUDALINT_PROBE_ARITHMETIC(unsigned long)
CUDALINT_PROBE_ARITHMETIC(long long)
CUDALINT_PROBE_ARITHMETIC(unsigned long long)
CUDALINT_PROBE_ARITHMETIC(float)
CUDALINT_PROBE_ARITHMETIC(double)

// cudaMemset and cudaMemsetAsync as the header declares them: what converts to `void *` still does. The compiler sees
// these bodies for host and device alike, and code for the device keeps its calls as they are.
#ifdef __CUDACC__
#define CUDALINT_PROBE_BOTH _Pragma("nv_exec_check_disable")
#else
#define CUDALINT_PROBE_BOTH
#endif
CUDALINT_PROBE_BOTH
template <typename Element>
inline __host__ __device__ cudaError_t memset(Element *pointer, int value, size_t count) {
#ifndef __CUDA_ARCH__
    ElementOf<Element, IsArithmetic<Element>::value>::note();
#endif
    return ::cudaMemset(pointer, value, count);
}
inline cudaError_t memset(void *pointer, int value, size_t count) {
    cudalint_probe_element(0, 0);
    return ::cudaMemset(pointer, value, count);
}
CUDALINT_PROBE_BOTH
template <typename Element>
inline __host__ __device__ cudaError_t
memset_async(Element *pointer, int value, size_t count, cudaStream_t stream = 0) {
#ifndef __CUDA_ARCH__
    ElementOf<Element, IsArithmetic<Element>::value>::note();
#endif
    return ::cudaMemsetAsync(pointer, value, count, stream);
}
inline cudaError_t memset_async(void *pointer, int value, size_t count, cudaStream_t stream = 0) {
    cudalint_probe_element(0, 0);
    return ::cudaMemsetAsync(pointer, value, count, stream);
}
} // namespace cudalint_probe

CUDALINT_PROBE_BOTH
template <typename Status>
inline __host__ __device__ Status
cudalint_probe_after(Status status, const char *function, const char *file, int line, int id) {
#ifdef __CUDA_ARCH__
    return status;
#else
    return cudalint_probe::Status_<__is_enum(Status) ? CUDALINT_PROBE_ENUM : 0, Status>::handed(
        status, function, file, line, id);
#endif
}

// cudaGetErrorString and cudaGetErrorName, with the code they are asked about.
CUDALINT_PROBE_BOTH
inline __host__ __device__ const char *
cudalint_probe_error_string(const char *function, const char *file, int line, int id, cudaError_t status) {
#ifndef __CUDA_ARCH__
    cudalint_probe_text(static_cast<int>(status), function, file, line, id);
#endif
    return cudaGetErrorString(status);
}
CUDALINT_PROBE_BOTH
inline __host__ __device__ const char *
cudalint_probe_error_name(const char *function, const char *file, int line, int id, cudaError_t status) {
#ifndef __CUDA_ARCH__
    cudalint_probe_text(static_cast<int>(status), function, file, line, id);
#endif
    return cudaGetErrorName(status);
}

// Macros that act on chosen lines only: CUDALINT_PROBE_<what>_<line> is `~, CUDALINT_PROBE_<what>` for those, and no macro
// else.
#define CUDALINT_PROBE_JOIN_(left, right) left##right
#define CUDALINT_PROBE_JOIN(left, right) CUDALINT_PROBE_JOIN_(left, right)
#define CUDALINT_PROBE_SECOND_(first, second, ...) second
#define CUDALINT_PROBE_SECOND(...) CUDALINT_PROBE_SECOND_(__VA_ARGS__)
#define CUDALINT_PROBE_SITE(name) ::cudalint_probe::Site{name, __FILE__, __LINE__, __COUNTER__}
#define CUDALINT_PROBE_NOTHING(name)
#define CUDALINT_PROBE_BEHIND(name) ->*CUDALINT_PROBE_SITE(name)
#define CUDALINT_PROBE_BEFORE(name) CUDALINT_PROBE_SITE(name)->*
#define CUDALINT_PROBE_BEHIND_ON_LINES(name)                                                                           \
    CUDALINT_PROBE_SECOND(CUDALINT_PROBE_JOIN(CUDALINT_PROBE_BEHIND_, __LINE__), CUDALINT_PROBE_NOTHING, ~)(name)
#define CUDALINT_PROBE_BEFORE_ON_LINES(name)                                                                           \
    CUDALINT_PROBE_SECOND(CUDALINT_PROBE_JOIN(CUDALINT_PROBE_BEFORE_, __LINE__), CUDALINT_PROBE_NOTHING, ~)(name)

#endif
