//! Functions of GPU libraries that return a status, by their names, with their weight.

use crate::facts::StatusWeight;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// A function of a GPU library that returns a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusApi {
    /// The library, for messages.
    pub library: &'static str,
    /// How much a dropped status matters.
    pub weight: StatusWeight,
    /// What the call does to errors that are already there.
    pub role: ApiRole,
}

/// What a call has to do with errors of work launched before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiRole {
    /// `cudaGetLastError`, `cudaPeekAtLastError`: returns the launch's own error.
    LastError,
    /// Waits for the device, so that its status carries asynchronous errors.
    Synchronizes,
    /// Waits in practice and returns errors of earlier work, but not for that purpose: frees and resets.
    Settles,
    /// Starts a kernel.
    Launches,
    /// Neither.
    Plain,
}

/// Types whose values are statuses.
pub const STATUS_TYPES: [&str; 14] = [
    "cudaError_t",
    "cudaError",
    "CUresult",
    "nvrtcResult",
    "nvJitLinkResult",
    "cublasStatus_t",
    "cublasStatus",
    "cufftResult",
    "cufftResult_t",
    "cudnnStatus_t",
    "curandStatus_t",
    "cusparseStatus_t",
    "cusolverStatus_t",
    "ncclResult_t",
];

/// Libraries by the prefix of their functions; the character after it is upper case (or `Xt`, `Lt`, `Dn`, …).
const LIBRARIES: [(&str, &str); 12] = [
    ("cublas", "cuBLAS"),
    ("cufft", "cuFFT"),
    ("cudnn", "cuDNN"),
    ("curand", "cuRAND"),
    ("cusparse", "cuSPARSE"),
    ("cusolver", "cuSOLVER"),
    ("nccl", "NCCL"),
    ("nvrtc", "NVRTC"),
    ("nvJitLink", "nvJitLink"),
    ("cudaLaunch", "CUDA runtime"),
    ("cuda", "CUDA runtime"),
    ("cu", "CUDA driver"),
];

/// Functions with a library's prefix that return something other than a status.
const NOT_STATUS: [&str; 36] = [
    "cudaGetErrorString",
    "cudaGetErrorName",
    "cudaCreateChannelDesc",
    "cudaCreateChannelDescHalf",
    "cudaGetTextureObjectHandle",
    "cudaGridDependencySynchronize",
    "cudaTriggerProgrammaticLaunchCompletion",
    "cudaGetParameterBuffer",
    "cudaGetParameterBufferV2",
    "cudaGraphKernelNodeSetEnabled",
    "cublasGetStatusString",
    "cublasGetStatusName",
    "cublasLtGetStatusString",
    "cublasLtGetStatusName",
    "cublasLtGetVersion",
    "cublasLtGetCudartVersion",
    "cublasGetCudartVersion",
    "cublasMigrateComputeType",
    "cublasSetPointerModeFromHost",
    "cudnnGetErrorString",
    "cudnnGetVersion",
    "cudnnGetCudartVersion",
    "cudnnGetMaxDeviceVersion",
    "cudnnGetLastErrorString",
    "cusparseGetErrorString",
    "cusparseGetErrorName",
    "cusparseGetMatType",
    "cusparseGetMatFillMode",
    "cusparseGetMatDiagType",
    "cusparseGetMatIndexBase",
    "ncclGetErrorString",
    "ncclGetLastError",
    "nvrtcGetErrorString",
    "cublasCaxpyCheck",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorString",
    "cufftGetErrorString",
];

/// Most names whose answers a thread remembers.
const MAX_REMEMBERED: usize = 4096;

thread_local! {
    static REMEMBERED: RefCell<FxHashMap<Box<str>, Option<StatusApi>>> = RefCell::default();
}

/// Looks a name up: `None` when it is no status-returning function of a known library.
pub fn status_api(name: &str) -> Option<StatusApi> {
    if !LIBRARIES.iter().any(|(prefix, _)| name.starts_with(prefix)) {
        return None;
    }
    // The same few functions are called everywhere.
    REMEMBERED.with_borrow_mut(|known| {
        if let Some(api) = known.get(name) {
            return *api;
        }
        let api = look_up(name);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(name.into(), api);
        api
    })
}

fn look_up(name: &str) -> Option<StatusApi> {
    if NOT_STATUS.contains(&name) || name.ends_with("_t") || name.ends_with("_st") {
        return None;
    }
    let (prefix, library) = LIBRARIES.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    let rest = name.get(prefix.len()..)?;
    let first = rest.chars().next()?;
    let known = first.is_ascii_uppercase()
        || (*prefix == "cublas" && rest.starts_with("gemm"))
        || prefix.len() > 4 && *library == "CUDA runtime";
    if !known || rest.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') && rest.contains('_') {
        return None;
    }
    if *library == "CUDA driver" && !is_driver_function(rest) || name.starts_with("cuda") && !is_runtime_function(name)
    {
        return None;
    }
    // The first generation of cuBLAS (cublas.h) returns void or the result itself from its computing functions.
    if *library == "cuBLAS" && legacy_blas(rest) {
        return None;
    }
    Some(StatusApi { library, weight: weight(name, rest), role: role(name) })
}

/// Driver functions begin with one of these after `cu`: a plain upper-case letter would catch project names (`cuArray`).
fn is_driver_function(rest: &str) -> bool {
    const FAMILIES: [&str; 30] = [
        "Init",
        "Device",
        "Ctx",
        "Module",
        "Library",
        "Kernel",
        "Func",
        "Launch",
        "Mem",
        "Memcpy",
        "Memset",
        "Stream",
        "Event",
        "Graph",
        "Graphics",
        "Link",
        "Array",
        "MipmappedArray",
        "Tex",
        "Surf",
        "Param",
        "Pointer",
        "Ipc",
        "Profiler",
        "Occupancy",
        "DriverGetVersion",
        "Import",
        "External",
        "Multicast",
        "Tensor",
    ];
    FAMILIES.iter().any(|family| {
        rest.strip_prefix(family)
            .is_some_and(|tail| tail.is_empty() || tail.starts_with(|c: char| c.is_ascii_uppercase() || c == '_'))
    })
}

/// Runtime functions begin with one of these after `cuda`: a plain upper-case letter would catch project names.
fn is_runtime_function(name: &str) -> bool {
    const FAMILIES: [&str; 55] = [
        "Array",
        "Bind",
        "ChooseDevice",
        "ConfigureCall",
        "CreateSurfaceObject",
        "CreateTextureObject",
        "CtxResetPersistingL2Cache",
        "D3D",
        "DestroyExternalMemory",
        "DestroyExternalSemaphore",
        "DestroySurfaceObject",
        "DestroyTextureObject",
        "Device",
        "DriverGetVersion",
        "EGLStream",
        "Event",
        "ExternalMemory",
        "Free",
        "Func",
        "GL",
        "Get",
        "Graph",
        "Graphics",
        "Host",
        "ImportExternal",
        "InitDevice",
        "Ipc",
        "Kernel",
        "Launch",
        "LaunchCooperativeKernel",
        "LaunchHostFunc",
        "LaunchKernel",
        "LaunchKernelEx",
        "LaunchKernelExC",
        "Library",
        "Malloc",
        "Mem",
        "Memcpy",
        "Memset",
        "MipmappedArray",
        "Occupancy",
        "PeekAtLastError",
        "Pointer",
        "Profiler",
        "RuntimeGetVersion",
        "SetDevice",
        "SetDeviceFlags",
        "SetDoubleForDevice",
        "SetValidDevices",
        "SetupArgument",
        "SignalExternalSemaphores",
        "Stream",
        "Thread",
        "UserObject",
        "WaitExternalSemaphores",
    ];
    let Some(rest) = name.strip_prefix("cuda") else { return false };
    let begins = |tail: &str| {
        tail.is_empty() || tail.starts_with(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    FAMILIES.iter().chain(&["Unbind"]).any(|family| rest.strip_prefix(family).is_some_and(begins))
}

/// Functions so well known that a project's own declaration of one (a stub header) is the same function.
pub fn is_core(name: &str) -> bool {
    const CORE: [&str; 40] = [
        "cudaMalloc",
        "cudaMallocHost",
        "cudaMallocManaged",
        "cudaMallocPitch",
        "cudaMallocArray",
        "cudaMallocAsync",
        "cudaHostAlloc",
        "cudaFree",
        "cudaFreeHost",
        "cudaFreeArray",
        "cudaFreeAsync",
        "cudaMemcpy",
        "cudaMemcpyAsync",
        "cudaMemcpy2D",
        "cudaMemcpy2DAsync",
        "cudaMemcpy3D",
        "cudaMemcpyToSymbol",
        "cudaMemcpyFromSymbol",
        "cudaMemset",
        "cudaMemsetAsync",
        "cudaDeviceSynchronize",
        "cudaThreadSynchronize",
        "cudaStreamSynchronize",
        "cudaStreamCreate",
        "cudaStreamDestroy",
        "cudaStreamQuery",
        "cudaStreamWaitEvent",
        "cudaEventCreate",
        "cudaEventDestroy",
        "cudaEventRecord",
        "cudaEventSynchronize",
        "cudaEventQuery",
        "cudaEventElapsedTime",
        "cudaGetLastError",
        "cudaPeekAtLastError",
        "cudaSetDevice",
        "cudaGetDevice",
        "cudaGetDeviceCount",
        "cudaLaunchKernel",
        "cudaDeviceReset",
    ];
    CORE.contains(&name)
}

/// `cublasSgemm` exists in two generations; only handles tell them apart, so the first argument decides at the call.
fn legacy_blas(rest: &str) -> bool {
    rest == "GetError"
}

fn weight(name: &str, rest: &str) -> StatusWeight {
    const TEARDOWN: [&str; 6] = ["Free", "Destroy", "Reset", "Unregister", "Shutdown", "Unload"];
    const QUIET: [&str; 10] = [
        "cudaThreadExit",
        "cudaDeviceSetCacheConfig",
        "cudaFuncSetCacheConfig",
        "cudaThreadSetCacheConfig",
        "cudaDeviceSetSharedMemConfig",
        "cudaFuncSetSharedMemConfig",
        "cudaMemAdvise",
        "cudaEventElapsedTime",
        "cudaPeekAtLastError",
        "cuEventElapsedTime",
    ];
    let teardown = TEARDOWN.iter().any(|word| rest.contains(word)) && !rest.contains("FreeAsyncSupported")
        || QUIET.contains(&name)
        || rest.starts_with("Profiler")
        || rest.contains("Prefetch")
        || rest.ends_with("Close")
        || is_query(rest);
    if teardown { StatusWeight::Teardown } else { StatusWeight::Matters }
}

/// Calls that only ask: a dropped status leaves the answer unset, but moves no data.
fn is_query(rest: &str) -> bool {
    const ASKED: [&str; 14] = [
        "Attribute",
        "Flags",
        "Version",
        "Count",
        "Properties",
        "Limit",
        "Config",
        "Name",
        "Priority",
        "MemGetInfo",
        "CaptureInfo",
        "Current",
        "Uuid",
        "PCIBusId",
    ];
    let bare =
        rest.strip_prefix("Get").is_some_and(|what| ["Device", "LastError", "Stream", "Version"].contains(&what));
    bare || rest.contains("Get") && ASKED.iter().any(|word| rest.contains(word))
        || rest.ends_with("Query")
        || rest.contains("CanAccessPeer")
        || rest.starts_with("Occupancy")
        || rest == "PointerGetAttributes"
}

fn role(name: &str) -> ApiRole {
    if matches!(name, "cudaGetLastError" | "cudaPeekAtLastError") {
        return ApiRole::LastError;
    }
    let synchronizes = name.ends_with("Synchronize")
        || name.ends_with("Query")
        || ((name.starts_with("cudaMemcpy") || name.starts_with("cuMemcpy"))
            && !name.contains("Async")
            && !name.contains("Batch"))
        || matches!(name, "cublasGetVector" | "cublasGetMatrix");
    let settles = ["cudaFree", "cudaFreeHost", "cuMemFree", "cuMemFree_v2", "cudaDeviceReset", "cudaThreadExit"];
    if settles.contains(&name) {
        ApiRole::Settles
    } else if synchronizes {
        ApiRole::Synchronizes
    } else if name.starts_with("cudaLaunch") && name.contains("Kernel") || name.starts_with("cuLaunch") {
        ApiRole::Launches
    } else {
        ApiRole::Plain
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn libraries_and_weights() {
        let malloc = status_api("cudaMalloc").unwrap();
        assert_eq!((malloc.library, malloc.weight), ("CUDA runtime", StatusWeight::Matters));
        assert_eq!(status_api("cudaFree").unwrap().weight, StatusWeight::Teardown);
        assert_eq!(status_api("cudaGetDeviceCount").unwrap().weight, StatusWeight::Teardown);
        assert_eq!(status_api("cuMemAlloc_v2").unwrap().library, "CUDA driver");
        assert_eq!(status_api("cublasSgemm").unwrap().library, "cuBLAS");
        assert_eq!(status_api("cudaDeviceSynchronize").unwrap().role, ApiRole::Synchronizes);
    }

    #[test]
    fn other_names_are_no_status_functions() {
        for name in [
            "cudaGetErrorString",
            "cudaError_t",
            "cuArray2",
            "curl_easy_init",
            "current",
            "cutStartTimer",
            "cudaCreateChannelDesc",
            "cudnnGetVersion",
            "custom",
        ] {
            assert_eq!(status_api(name), None, "{name}");
        }
    }
}
