//! Limits of the compute capabilities.
//!
//! Source: *CUDA C++ Programming Guide*, "Features and Technical Specifications", table "Technical Specifications per
//! Compute Capability" (CUDA 13.0; compute capabilities before 7.5 from the guide of CUDA 12.9).

/// Limits of one compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Compute capability as `major * 10 + minor`.
    pub capability: u32,
    /// Threads of a block.
    pub block_threads: i64,
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Blocks of a grid along x, y, z.
    pub grid: [i64; 3],
    /// Bytes of shared memory of a block without opting in; also the limit of static shared memory.
    pub shared: i64,
    /// Bytes of shared memory of a block that a kernel can be given with
    /// `cudaFuncAttributeMaxDynamicSharedMemorySize`, static shared memory included.
    pub shared_opt_in: i64,
    /// Threads of a warp.
    pub warp: i64,
    /// Threads that one multiprocessor holds.
    pub resident_threads: i64,
    /// Blocks that one multiprocessor holds.
    pub resident_blocks: i64,
    /// Bytes of shared memory of one multiprocessor.
    pub resident_shared: i64,
    /// Bytes of it that the system takes for each block.
    pub block_reserve: i64,
    /// Bytes of constant memory.
    pub constant: i64,
}

/// Bytes of shared memory a block has on every architecture without opting in.
pub const SHARED_WITHOUT_OPT_IN: i64 = 48 * 1024;

/// Compute capability; opt-in shared memory of a block in KiB; threads, blocks and KiB of shared memory of a multiprocessor.
const TABLE: [(u32, i64, i64, i64, i64); 20] = [
    (50, 48, 2048, 32, 64),
    (52, 48, 2048, 32, 96),
    (53, 48, 2048, 32, 64),
    (60, 48, 2048, 32, 64),
    (61, 48, 2048, 32, 96),
    (62, 48, 2048, 32, 64),
    (70, 96, 2048, 32, 96),
    (72, 96, 2048, 32, 96),
    (75, 64, 1024, 16, 64),
    (80, 163, 2048, 32, 164),
    (86, 99, 1536, 16, 100),
    (87, 163, 1536, 16, 164),
    (89, 99, 1536, 24, 100),
    (90, 227, 2048, 32, 228),
    (100, 227, 2048, 32, 228),
    (101, 227, 2048, 32, 228),
    (103, 227, 2048, 32, 228),
    (110, 227, 2048, 32, 228),
    (120, 99, 1536, 32, 100),
    (121, 99, 1536, 32, 100),
];

/// Capabilities that a project is judged by when it names none: `sm_80` and newer.
pub const DEFAULT_ARCHITECTURES: [u32; 11] = [80, 86, 87, 89, 90, 100, 101, 103, 110, 120, 121];

/// The limits of a compute capability; `None` for one that is not known.
pub fn limits(capability: u32) -> Option<Limits> {
    let (capability, kib, resident_threads, resident_blocks, resident_kib) =
        *TABLE.iter().find(|(known, ..)| *known == capability)?;
    Some(Limits {
        capability,
        block_threads: 1024,
        block: [1024, 1024, 64],
        grid: [0x7fff_ffff, 65_535, 65_535],
        shared: SHARED_WITHOUT_OPT_IN,
        shared_opt_in: kib * 1024,
        warp: 32,
        resident_threads,
        resident_blocks,
        resident_shared: resident_kib * 1024,
        block_reserve: if capability >= 80 { 1024 } else { 0 },
        constant: 64 * 1024,
    })
}

/// What a member of `cudaDeviceProp` is on every device, whatever its compute capability (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability").
pub fn same_on_all_devices(member: &str) -> Option<i64> {
    let any = limits(DEFAULT_ARCHITECTURES[0])?;
    Some(match member {
        "maxThreadsPerBlock" => any.block_threads,
        "warpSize" => any.warp,
        "sharedMemPerBlock" => any.shared,
        "totalConstMem" => any.constant,
        _ => return None,
    })
}

/// All compute capabilities that are known, in order.
pub fn known() -> impl Iterator<Item = u32> {
    TABLE.iter().map(|(capability, ..)| *capability)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_set_is_known_and_its_most_generous_member_has_227_kib() {
        let all: Vec<Limits> = DEFAULT_ARCHITECTURES.iter().filter_map(|sm| limits(*sm)).collect();
        assert_eq!(all.len(), DEFAULT_ARCHITECTURES.len());
        assert_eq!(all.iter().map(|it| it.shared_opt_in).max(), Some(232_448));
        assert_eq!(all.iter().map(|it| it.shared_opt_in).min(), Some(101_376));
        assert_eq!(limits(0), None);
        assert!(known().is_sorted());
        assert_eq!(DEFAULT_ARCHITECTURES.first(), Some(&cudalint_syntax::preprocessor::DEFAULT_ARCHITECTURE));
    }
}
