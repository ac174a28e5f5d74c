//! Names of macros that only builds for other vendors' GPUs define.

use crate::defines::Directives;
use crate::preprocessor::Meaning;

/// Whether a macro's name says that it belongs to a build for AMD, Moore Threads or SYCL, whatever project it is of:
/// `USE_ROCM`, `__HIP_PLATFORM_AMD__`, `MYLIB_USE_MUSA`. A build by nvcc does not define it.
pub(crate) fn is_of_other_vendor(name: &str) -> bool {
    name.split('_')
        .any(|part| matches!(part, "HIP" | "HIPCC" | "HIPBLAS" | "HCC" | "ROCM" | "MUSA" | "MUSACC" | "SYCL"))
}

/// Whether a file is a program for AMD's compiler: it includes HIP under no condition, and nothing of CUDA.
pub fn is_for_hip(directives: &Directives) -> bool {
    let mut of_hip = directives.includes.iter().filter(|include| include.path.starts_with("hip/"));
    let of_cuda = directives.includes.iter().any(|include| include.path.starts_with("cuda"));
    !of_cuda && of_hip.any(|include| include.conditions.is_empty())
}

/// What AMD's compiler makes of a name, where it differs from nvcc. Code for the device is what matters.
pub fn meaning_for_hip(name: &str) -> Option<Meaning<'static>> {
    match name {
        "__HIP__" | "__HIPCC__" | "__HIP_DEVICE_COMPILE__" | "__HIP_PLATFORM_AMD__" | "__clang__" => {
            Some(Meaning::Defined("1"))
        }
        "__CUDACC__" | "__NVCC__" | "__CUDA_ARCH__" | "CUDART_VERSION" | "CUDA_VERSION" => Some(Meaning::Absent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_of_other_vendor;

    #[test]
    fn vendors_are_parts_of_names() {
        for name in ["USE_ROCM", "__HIP_PLATFORM_AMD__", "ANY_USE_HIP", "__MUSACC__", "__SYCL_DEVICE_ONLY__"] {
            assert!(is_of_other_vendor(name), "{name}");
        }
        for name in ["__CUDACC__", "CHIP_COUNT", "SHIP", "USE_CUDA", "MUSASHI"] {
            assert!(!is_of_other_vendor(name), "{name}");
        }
    }
}
