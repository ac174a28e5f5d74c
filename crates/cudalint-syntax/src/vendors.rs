//! Names of macros that only builds for other vendors' GPUs define.

/// Whether a macro's name says that it belongs to a build for AMD, Moore Threads or SYCL, whatever project it is of:
/// `USE_ROCM`, `__HIP_PLATFORM_AMD__`, `MYLIB_USE_MUSA`. A build by nvcc does not define it.
pub(crate) fn is_of_other_vendor(name: &str) -> bool {
    name.split('_')
        .any(|part| matches!(part, "HIP" | "HIPCC" | "HIPBLAS" | "HCC" | "ROCM" | "MUSA" | "MUSACC" | "SYCL"))
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
