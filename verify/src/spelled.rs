//! Functions that the C++ beside this crate, and the programs that it writes, spell: what they stand for is decided there.

/// Launches, under the names that the compiler's headers give them.
const LAUNCHES: [&str; 8] = [
    "cudaLaunchKernel",
    "cudaLaunchKernel_ptsz",
    "cudaLaunchCooperativeKernel",
    "cudaLaunchCooperativeKernel_ptsz",
    "__cudaLaunchKernel",
    "__cudaLaunchKernel_ptsz",
    "cudaLaunchKernelExC",
    "cudaLaunchKernelExC_ptsz",
];
/// What allocates and frees memory of the device.
const MEMORY: [&str; 8] = [
    "cudaMalloc",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMallocAsync",
    "cudaMallocAsync_ptsz",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeAsync_ptsz",
];
/// What else the probe wraps (`probe/cudalint_probe.cpp`).
const PROBED: [&str; 14] = [
    "cudaMallocHost",
    "cudaHostAlloc",
    "cudaFreeHost",
    "__cudaPushCallConfiguration",
    "__cudaRegisterFunction",
    "__cudaGetKernel",
    "cudaMemset",
    "cudaMemset_ptds",
    "cudaMemsetAsync",
    "cudaMemsetAsync_ptsz",
    "cudaMemcpy",
    "cudaMemcpy_ptds",
    "cudaMemcpyAsync",
    "cudaMemcpyAsync_ptsz",
];
/// What else the header of watchpoints wraps (`watch/cudalint_watch.cuh`).
const WATCHED: [&str; 1] = ["cudaDeviceReset"];
/// Copies that are checked on the host's side (`experiment/sanitizer/cudalint_host_bounds.cpp`).
const BOUNDED: [&str; 10] = [
    "cudaMemcpy",
    "cudaMemcpy_ptds",
    "cudaMemcpyAsync",
    "cudaMemcpyAsync_ptsz",
    "cudaMemcpyToSymbol",
    "cudaMemcpyFromSymbol",
    "cudaMemcpyToSymbolAsync",
    "cudaMemcpyFromSymbolAsync",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
];

/// Functions of the probe's header that stand for one of the runtime.
pub(crate) const PROBE_MEMSETS: [(&str, &str); 2] = [("cudaMemset", "memset"), ("cudaMemsetAsync", "memset_async")];
/// The same for functions that give the words of a status.
pub(crate) const PROBE_WORDS: [(&str, &str); 2] =
    [("cudaGetErrorString", "error_string"), ("cudaGetErrorName", "error_name")];

/// Functions that CUDA 13 has no longer, with the flag that gives those that took their place.
pub(crate) const REMOVED: [(&str, &str); 2] = [
    ("cudaThreadSynchronize", "-DcudaThreadSynchronize=cudaDeviceSynchronize"),
    ("cudaThreadExit", "-DcudaThreadExit=cudaDeviceReset"),
];

/// Members that `cudaDeviceProp` has no longer (release notes of CUDA 13.0), with a flag by which another one of the type stands for
/// each. Mostly they are printed. With an older toolkit, which has both, these flags are refused.
pub(crate) const LOST_MEMBERS: [(&str, &str); 7] = [
    ("clockRate", "-DclockRate=multiProcessorCount"),
    ("memoryClockRate", "-DmemoryClockRate=memoryBusWidth"),
    ("deviceOverlap", "-DdeviceOverlap=asyncEngineCount"),
    ("kernelExecTimeoutEnabled", "-DkernelExecTimeoutEnabled=integrated"),
    ("computeMode", "-DcomputeMode=canMapHostMemory"),
    ("singleToDoublePrecisionPerfRatio", "-DsingleToDoublePrecisionPerfRatio=warpSize"),
    ("cooperativeMultiDeviceLaunch", "-DcooperativeMultiDeviceLaunch=cooperativeLaunch"),
];

/// Functions that take a place of memory since CUDA 13.0, where they took the number of a device.
pub(crate) const BY_PLACE: [(&str, &str); 2] = [("cudaMemPrefetchAsync", ""), ("cudaMemAdvise", "")];

/// What a function is called in a program that is built with the flags for removed ones.
pub(crate) fn now_called(name: &str) -> &str {
    let flag = REMOVED.iter().find(|(removed, _)| *removed == name).map(|(_, flag)| *flag);
    flag.and_then(|flag| flag.split_once('=')).map_or(name, |(_, new)| new)
}

/// What a harness makes and gives back handles with, by their type.
pub(crate) const HANDLES: [(&str, &str, &str); 4] = [
    ("cudaStream_t", "cudaStreamCreate", "cudaStreamDestroy"),
    ("cudaEvent_t", "cudaEventCreate", "cudaEventDestroy"),
    ("cublasHandle_t", "cublasCreate", "cublasDestroy"),
    ("cusparseHandle_t", "cusparseCreate", "cusparseDestroy"),
];

/// Flags by which the linker turns references to these functions to those of the C++ beside: `__wrap_cudaMalloc`.
fn wrapped<'n>(names: impl IntoIterator<Item = &'n &'n str>) -> Vec<String> {
    names.into_iter().flat_map(|name| ["-Xlinker".to_owned(), format!("--wrap={name}")]).collect()
}

/// What the linker turns to the probe.
pub(crate) fn probed_names() -> impl Iterator<Item = &'static &'static str> {
    PROBED.iter().chain(&LAUNCHES).chain(&MEMORY)
}

/// The flags for the probe.
pub(crate) fn probed() -> Vec<String> {
    wrapped(probed_names())
}

/// What the linker turns to the header of watchpoints.
pub(crate) fn watched_names() -> impl Iterator<Item = &'static &'static str> {
    WATCHED.iter().chain(&LAUNCHES).chain(&MEMORY)
}

/// The flags for watchpoints.
pub(crate) fn watched() -> Vec<String> {
    wrapped(watched_names())
}

/// The flags for the check of the host's side of copies.
pub(crate) fn bounded() -> Vec<String> {
    wrapped(&BOUNDED)
}
