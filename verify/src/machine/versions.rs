//! Versions, in what tools print of themselves.

/// The first thing in a text that looks like a version: numbers with dots between.
pub(super) fn version_in(text: &str) -> Option<String> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|part| part.trim_matches('.'))
        .find(|part| part.contains('.') && part.split('.').all(|number| !number.is_empty()))
        .map(str::to_owned)
}

/// nvcc's: `Cuda compilation tools, release 13.0, V13.0.88`.
pub(super) fn of_nvcc(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains("release"))?;
    version_in(line.rsplit_once('V').map_or(line, |(_, version)| version))
}

/// compute-sanitizer's: `Version 2025.3.1.0 (build 36400806)`, of which the last number says nothing.
pub(super) fn of_sanitizer(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Version "))?;
    let version = version_in(line)?;
    Some(version.split('.').take(3).collect::<Vec<_>>().join("."))
}

/// The driver's, in the file `/proc/driver/nvidia/version`: the first with a dot behind `NVRM version:`.
pub(super) fn of_driver(text: &str) -> Option<String> {
    version_in(text.lines().find_map(|line| line.strip_prefix("NVRM version:"))?)
}

/// The number before the first dot.
pub(super) fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_says_its_version_in_its_own_way() {
        let nvcc = "nvcc: NVIDIA (R) Cuda compiler driver\nCopyright (c) 2005-2025 NVIDIA Corporation\n\
                    Built on Wed_Aug_20_01:58:59_PM_PDT_2025\nCuda compilation tools, release 13.0, V13.0.88\n\
                    Build cuda_13.0.r13.0/compiler.36424714_0";
        assert_eq!(of_nvcc(nvcc).as_deref(), Some("13.0.88"));
        assert_eq!(of_nvcc("Cuda compilation tools, release 8.0, V8.0.61").as_deref(), Some("8.0.61"));
        let sanitizer = "NVIDIA (R) Compute Sanitizer\nCopyright (c) 2020-2025 NVIDIA Corporation\n\
                         Version 2025.3.1.0 (build 36400806) (public-release)";
        assert_eq!(of_sanitizer(sanitizer).as_deref(), Some("2025.3.1"));
        assert_eq!(version_in("g++ (Debian 12.2.0-14) 12.2.0").as_deref(), Some("12.2.0"));
        assert_eq!(version_in("GNU addr2line (GNU Binutils for Debian) 2.40").as_deref(), Some("2.40"));
        assert_eq!(version_in("Debian clang version 16.0.6 (15~deb12u1)").as_deref(), Some("16.0.6"));
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build";
        assert_eq!(of_driver(open).as_deref(), Some("580.159.03"));
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54  Tue Jun  6\nGCC version:  gcc 12.2.0";
        assert_eq!(of_driver(closed).as_deref(), Some("535.54"));
    }

    #[test]
    fn what_is_no_version_is_none() {
        for text in ["", "Segmentation fault", "\u{fffd}\u{1}..", "Copyright (c) 2020-2025", "release"] {
            assert_eq!(version_in(text), None, "{text}");
            assert_eq!(of_nvcc(text), None, "{text}");
            assert_eq!(of_sanitizer(text), None, "{text}");
        }
    }
}
