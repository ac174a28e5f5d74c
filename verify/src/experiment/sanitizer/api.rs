//! Errors of API calls: the probe writes down what each call and launch returned. A call that succeeds although it moves
//! too many bytes may have overrun the host's side, which no status tells.

use super::host_bounds::{self, HostBounds};
use super::judge::Reach;
use super::tool::{Prepared, asks_for_shared_memory, watch_prepared};
use crate::api;
use crate::experiment::place::{Source, Spot, same_file};
use crate::experiment::{Judgement, probed};
use crate::lab::Bench;
use crate::matching::{Code, Target, names_call, status_of};
use crate::probe;
use crate::scenario::{CudaProgram, Origin};
use crate::tools::probe_log::Trace;
use crate::tools::sanitizer::base_name;
use cudalint_findings::model::{Confidence, EvidenceRecord, FindingEntry, Method, Verdict};
use cudalint_program::api::effects::Library;
use std::io::Read;

/// Bytes of a compiler's log in which errors are looked for.
const LOG: u64 = 1 << 20;

/// One call or launch at the finding's place.
struct Status<'t> {
    /// The function, or `cudaLaunchKernel` for a launch.
    function: &'t str,
    /// The kernel of a launch.
    kernel: Option<&'t str>,
    code: i64,
}

/// Judges the finding's call.
pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
    spot: &Spot,
    prepared: &Prepared,
) -> Judgement {
    // A status that mostly is the machine's is looked for where the claim says.
    let expected = finding.claim.call().and_then(|call| Some((call.status?, call.site.as_ref())));
    let elsewhere = expected.and_then(|(_, site)| {
        let site = site?;
        Some(Spot::new(&site.path, &site.range, &Source::find(&site.path, program)))
    });
    let spot = elsewhere.as_ref().unwrap_or(spot);
    let target = Target::new(finding).in_statement(spot.lines);
    let Some(trace) = &prepared.trace else {
        // Built without the probe: the tool alone can tell.
        return watch_prepared(&target, bench, prepared, Reach::Unknown);
    };
    let here: Vec<Status<'_>> =
        at_place(spot, trace).into_iter().filter(|status| names_call(&target, status.function).is_ok()).collect();
    let of_run = |verdict, reason: String, records| {
        let mut judgement = Judgement::of_run(verdict, reason, probed::BACK_END, &prepared.alone, records);
        judgement.evidence.log = Some(prepared.log.clone());
        judgement
    };
    let shows = |status: &&Status<'_>| match expected {
        Some((code, _)) => status.code == code,
        None => status.code != 0 && status_of(status.function, status.code) == Code::Own,
    };
    if let Some(failed) = here.iter().find(shows) {
        let reason = format!("{} at {}", words(failed), spot.shown());
        return of_run(Verdict::Confirmed, reason, vec![record(finding, spot, failed)]);
    }
    if let Some(judgement) = Judgement::of_end(&prepared.alone, probed::BACK_END) {
        return judgement;
    }
    let Some(first) = here.first() else {
        if !spot.name.is_empty() && !probe::reports(&spot.name) && spot.launches(trace).is_empty() {
            return watch_prepared(&target, bench, prepared, Reach::Unknown);
        }
        let (shown, ended) = (spot.shown(), probed::ending(&prepared.alone));
        let lacks = trace.may_lack(&spot.path);
        let reason = match &lacks {
            Some(why) => format!("the run is not seen to come to {shown} ({ended}), but {why}"),
            None => format!("the run never came to {shown} ({ended})"),
        };
        let reached = lacks.is_none().then_some(false);
        return Judgement { reached, ..of_run(Verdict::Unviable, reason, Vec::new()) };
    };
    if let Some(status) = here.iter().find(|status| status.code != 0) {
        let why = match status_of(status.function, status.code) {
            Code::Earlier => "as every call does after a kernel has failed",
            _ => "for a reason of the machine's, not of the call",
        };
        return of_run(Verdict::Unviable, format!("{} at {}, {why}", words(status), spot.shown()), Vec::new());
    }
    let succeeded = format!("`{}` at {} succeeded", first.function, spot.shown());
    let host = if program.project.is_some() && api::is(first.function, |api| api.copies()) {
        HostBounds::Unknown("the project was not built with AddressSanitizer".to_owned())
    } else if api::is(first.function, |api| api.copies()) {
        host_bounds::perform(finding, program, bench, spot)
    } else {
        HostBounds::Kept
    };
    match host {
        HostBounds::Overrun(judgement) => *judgement,
        // When that status comes hangs on more than the program says.
        HostBounds::Kept if expected.is_some() => of_run(Verdict::NotObserved, succeeded, Vec::new()),
        // Values that a harness made up may not be the witness's.
        HostBounds::Kept if program.origin == Origin::AsWritten || finding.confidence == Confidence::Definite => {
            // The probe's word alone is not enough: the tool sees what calls report to the driver.
            let refuted = of_run(Verdict::Refuted, succeeded, Vec::new());
            refuted.checked_by("memcheck", watch_prepared(&target, bench, prepared, Reach::Reached))
        }
        HostBounds::Kept => {
            let reason = format!("{succeeded} with the values that the harness made up");
            of_run(Verdict::NotObserved, reason, Vec::new())
        }
        HostBounds::Unknown(why) => {
            let reason = format!("{succeeded}, and whether it stayed within the host's memory is not known: {why}");
            of_run(Verdict::NotObserved, reason, Vec::new())
        }
    }
}

/// What the calls and launches at a place returned, in order.
fn at_place<'t>(spot: &Spot, trace: &'t Trace) -> Vec<Status<'t>> {
    let calls =
        spot.calls(trace).into_iter().map(|call| Status { function: &call.function, kernel: None, code: call.real });
    let launches = spot.launches(trace).into_iter().map(|launch| Status {
        function: "cudaLaunchKernel",
        kernel: Some(launch.kernel.as_str()),
        code: launch.real,
    });
    calls.chain(launches).collect()
}

fn words(status: &Status<'_>) -> String {
    let what = match status.kernel {
        Some(kernel) => format!("the launch of `{}`", base_name(kernel)),
        None => format!("`{}`", status.function),
    };
    format!("{what} returned {}", error_name(status.function, status.code))
}

fn record(finding: &FindingEntry, spot: &Spot, status: &Status<'_>) -> EvidenceRecord {
    let line = if same_file(&spot.path, &finding.path) { spot.line } else { finding.range.start.line };
    EvidenceRecord::at("API error", &finding.path, line, words(status)).in_kernel(status.kernel.map(str::to_owned))
}

/// A status as people know it. Names: CUDA Runtime API, `cudaError_t`; NVRTC, `nvrtcResult`.
fn error_name(function: &str, code: i64) -> String {
    if Library::of_name(function) == Some(Library::Nvrtc) {
        let name = match code {
            3 => "NVRTC_ERROR_INVALID_INPUT",
            4 => "NVRTC_ERROR_INVALID_PROGRAM",
            5 => "NVRTC_ERROR_INVALID_OPTION",
            6 => "NVRTC_ERROR_COMPILATION",
            8 => "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
            9 => "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
            10 => "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
            _ => return format!("status {code} of NVRTC"),
        };
        return format!("{name} (status {code})");
    }
    if Library::of_name(function) == Some(Library::Driver) {
        let name = match code {
            1 => "CUDA_ERROR_INVALID_VALUE",
            400 => "CUDA_ERROR_INVALID_HANDLE",
            500 => "CUDA_ERROR_NOT_FOUND",
            _ => return format!("error {code} of the driver"),
        };
        return format!("{name} (error {code})");
    }
    let name = match code {
        1 => "cudaErrorInvalidValue",
        3 => "cudaErrorInitializationError",
        4 => "cudaErrorCudartUnloading",
        9 => "cudaErrorInvalidConfiguration",
        12 => "cudaErrorInvalidPitchValue",
        13 => "cudaErrorInvalidSymbol",
        17 => "cudaErrorInvalidDevicePointer",
        21 => "cudaErrorInvalidMemcpyDirection",
        98 => "cudaErrorInvalidDeviceFunction",
        101 => "cudaErrorInvalidDevice",
        400 => "cudaErrorInvalidResourceHandle",
        500 => "cudaErrorSymbolNotFound",
        701 => "cudaErrorLaunchOutOfResources",
        720 => "cudaErrorCooperativeLaunchTooLarge",
        801 => "cudaErrorNotSupported",
        _ => return format!("error {code}"),
    };
    format!("{name} (error {code})")
}

/// The judgement of a program that the compiler refuses. A kernel that asks for more shared memory than a block can have
/// fails there, before any call could: that is what such a finding predicts.
pub(super) fn refused_by_compiler(finding: &FindingEntry, bench: &Bench<'_>, judgement: Judgement) -> Judgement {
    let Some(log) = judgement.evidence.log.clone().filter(|_| finding.verification.method == Method::ApiError) else {
        return judgement;
    };
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(bench.lab.folder.join(&log)) {
        drop(file.take(LOG).read_to_end(&mut bytes));
    }
    let text = String::from_utf8_lossy(&bytes);
    let Some((line, kernel)) = too_much_shared_memory(&text) else { return judgement };
    let function = finding.function.as_deref().map(base_name);
    if function.as_deref() != Some(base_name(kernel).as_str()) || !asks_for_shared_memory(finding) {
        return judgement;
    }
    let mut confirmed = judgement;
    confirmed.verdict = Verdict::Confirmed;
    confirmed.reason = format!("the compiler refuses `{}`: {line}", base_name(kernel));
    confirmed.evidence.back_end =
        bench.lab.machine.nvcc.as_ref().map_or("nvcc".to_owned(), |nvcc| format!("nvcc {}", nvcc.version));
    let record = EvidenceRecord::at("ptxas error", &finding.path, finding.range.start.line, line);
    confirmed.evidence.records = vec![record.in_kernel(kernel.to_owned())];
    confirmed
}

/// `ptxas error   : Entry function '_Z4tilePf' uses too much shared data (0x10000 bytes, 0xc000 max)`: the line, and the
/// kernel's name in it.
fn too_much_shared_memory(log: &str) -> Option<(&str, &str)> {
    log.lines().find_map(|line| {
        let kernel = line.split("Entry function '").nth(1)?.split('\'').next()?;
        (line.contains("ptxas") && line.contains("too much shared data")).then_some((line.trim(), kernel))
    })
}
