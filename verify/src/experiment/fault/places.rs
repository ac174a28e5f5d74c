//! The places of a finding that are made to fail, and with which status.

use crate::experiment::place::Spot;
use crate::scenario::CudaProgram;
use cudalint_findings::model::FindingEntry;

/// Places of one finding that are tried, at most.
pub(super) const MAX_PLACES: usize = 20;

/// `cudaErrorLaunchFailure`: what calls report when a kernel has failed.
pub(super) const LAUNCH_FAILURE: i64 = 719;

/// The finding's places, the primary one first.
pub(super) fn spots(finding: &FindingEntry, program: &CudaProgram) -> Vec<Spot> {
    let mut spots = vec![Spot::primary(finding, program)];
    spots.extend(Spot::sites(finding, program));
    spots.truncate(MAX_PLACES);
    spots
}

/// A status by which a function says that it failed, in the words of its library.
pub(super) fn failure_of(function: &str) -> i64 {
    let begins = |name: &str| function.starts_with(name);
    if begins("cudaMalloc") || function == "cudaHostAlloc" || begins("cuMemAlloc") {
        return 2; // out of memory
    }
    if begins("cuda") || begins("cu") && function.chars().nth(2).is_some_and(|c| c.is_ascii_uppercase()) {
        return if function.contains("Synchronize") { LAUNCH_FAILURE } else { 1 };
    }
    // Each library's "internal error".
    match function {
        _ if begins("nvrtc") => 11,
        _ if begins("cublas") => 14,
        _ if begins("cufft") => 5,
        _ if begins("curand") => 999,
        _ if begins("cusparse") || begins("cusolver") => 7,
        _ if begins("nccl") => 3,
        _ => 1,
    }
}
