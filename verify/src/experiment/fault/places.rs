//! The places of a finding that are made to fail, and with which status.

use crate::api;
use crate::experiment::place::Spot;
use crate::scenario::CudaProgram;
use cudalint_findings::model::FindingEntry;
use cudalint_program::api::effects::Library;

/// Places of one finding that are tried, at most.
pub(super) const MAX_PLACES: usize = 20;

/// `cudaErrorLaunchFailure`: what calls report when a kernel has failed.
pub(super) const LAUNCH_FAILURE: i64 = 719;

/// `NVRTC_ERROR_COMPILATION`: what a program that does not compile ends in.
pub(super) const COMPILATION: i64 = 6;

/// The finding's places, the primary one first.
pub(super) fn spots(finding: &FindingEntry, program: &CudaProgram) -> Vec<Spot> {
    let mut spots = vec![Spot::primary(finding, program)];
    spots.extend(Spot::sites(finding, program));
    spots.truncate(MAX_PLACES);
    spots
}

/// A status by which a function says that it failed: out of memory where it allocates, a failed kernel where it waits, an
/// invalid value elsewhere; of each other library its "internal error".
pub(super) fn failure_of(function: &str) -> i64 {
    match Library::of_name(function) {
        Some(Library::Runtime | Library::Driver) if api::is(function, |api| api.allocates()) => 2,
        Some(Library::Runtime | Library::Driver) if api::is(function, |api| api.waits()) => LAUNCH_FAILURE,
        Some(Library::Nvrtc) => 11,
        Some(Library::CuBlas) => 14,
        Some(Library::CuFft) => 5,
        Some(Library::CuRand) => 999,
        Some(Library::CuSparse | Library::CuSolver) => 7,
        Some(Library::Nccl) => 3,
        _ => 1,
    }
}
