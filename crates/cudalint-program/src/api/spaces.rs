//! Where the functions of CUDA's headers and of the C and C++ libraries can be called.

use super::ApiId;
use super::effects::Side;
use crate::ir::Path;
use crate::name::Name;

/// Where a library function can be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StandardSpace {
    /// Never in device code.
    HostOnly,
    /// Never in host code.
    DeviceOnly,
    /// On both sides, or not known for sure.
    Both,
}

/// Where the function that a name of the CUDA headers or the standard libraries means can be called; `None` for other
/// names. The caller has made sure that the project does not define it.
pub fn standard_space(path: &Path) -> Option<StandardSpace> {
    let space = |name: &str| match ApiId::named(name)?.side {
        Side::Host => Some(StandardSpace::HostOnly),
        Side::Device => Some(StandardSpace::DeviceOnly),
        Side::Both => Some(StandardSpace::Both),
        Side::Open => None,
    };
    match &*path.segments {
        [name] => space(name),
        // Most of it is `constexpr` in some standard, or has device overloads.
        [std, name] if *std == "std" => Some(space(&format!("std::{name}")).unwrap_or(StandardSpace::Both)),
        [first, ..] if is_library_namespace(first) => Some(StandardSpace::Both),
        _ => None,
    }
}

fn is_library_namespace(name: &Name) -> bool {
    matches!(name.as_str(), "std" | "cuda" | "thrust" | "cub" | "cooperative_groups" | "cg" | "nvcuda" | "cute")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(path: &str) -> Option<StandardSpace> {
        standard_space(&path.split("::").map(Name::from).collect::<Path>())
    }

    #[test]
    fn well_known_names() {
        assert_eq!(space("fopen"), Some(StandardSpace::HostOnly));
        assert_eq!(space("std::exit"), Some(StandardSpace::HostOnly));
        assert_eq!(space("atomicAdd"), Some(StandardSpace::DeviceOnly));
        assert_eq!(space("__syncthreads"), Some(StandardSpace::DeviceOnly));
        // Dynamic parallelism.
        assert_eq!(space("cudaMalloc"), Some(StandardSpace::Both));
        assert_eq!(space("cudaMemcpy"), Some(StandardSpace::HostOnly));
        for name in ["printf", "std::min", "sqrtf", "__float2half", "__some_builtin", "cuda::std::move", "thrust::sort"]
        {
            assert_eq!(space(name), Some(StandardSpace::Both), "{name}");
        }
        assert_eq!(space("my_function"), None);
        assert_eq!(space("mine::exit"), None);
    }
}
