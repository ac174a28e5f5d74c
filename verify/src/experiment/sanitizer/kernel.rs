//! A kernel without its host program: NVRTC builds it, its child launches it, and the tool watches the child.

use super::judge::Reach;
use super::tool::watch;
use crate::experiment::Judgement;
use crate::kernel::{Call, KernelReport, Problem, kernel_command};
use crate::lab::{Bench, Run, RunOutcome};
use crate::matching::{Code, Target, code_of};
use crate::scenario::KernelProgram;
use crate::tools::sanitizer::base_name;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Launch, Method, Verdict};

/// What a run alone is told by.
const BACK_END: &str = "NVRTC and the driver";

/// Performs the experiment on a kernel.
pub(super) fn perform(finding: &FindingEntry, program: &KernelProgram, bench: &Bench<'_>) -> Judgement {
    let run = match kernel_command(bench, program) {
        Ok(run) => run,
        Err(reason) => return Judgement::without_run(Verdict::Unsupported, reason),
    };
    let alone = bench.run(&Run { label: "alone".to_owned(), ..run.clone() });
    if let Some(judgement) = Judgement::of_end(&alone, BACK_END) {
        return judgement;
    }
    let of_run = |verdict, reason: String| Judgement::of_run(verdict, reason, BACK_END, &alone, Vec::new());
    let Some(report) = KernelReport::read(&alone.stdout) else {
        return of_run(Verdict::Unviable, format!("the kernel's process ends without a report: {:?}", alone.end));
    };
    match &report.problem {
        Some(Problem::Source(error)) => {
            return of_run(Verdict::Unviable, format!("the run-time compiler refuses it: {error}"));
        }
        Some(Problem::Plan(reason)) => return of_run(Verdict::Unviable, reason.clone()),
        Some(Problem::Machine(reason)) => return of_run(Verdict::Unsupported, reason.clone()),
        None => {}
    }
    if report.calls.is_empty() {
        return of_run(Verdict::Unsupported, "there is no GPU: the kernel was compiled and not launched".to_owned());
    }
    if finding.verification.method == Method::ApiError {
        return of_launch(finding, program, &report, &alone);
    }
    let function = finding.function.as_deref().map(base_name);
    let reach = match report.failure() {
        Some(call) if !report.launched() => Reach::Missed(words(call)),
        _ if function.as_deref() == Some(base_name(&program.name).as_str()) => Reach::Reached,
        Some(call) => Reach::Failed(words(call)),
        None => Reach::Unknown,
    };
    watch(&Target::new(finding), bench, &run.command, &run.environment, reach, None)
}

/// `api-error`: the driver refuses the launch, which is the finding's own, or takes it.
fn of_launch(finding: &FindingEntry, program: &KernelProgram, report: &KernelReport, alone: &RunOutcome) -> Judgement {
    let same = |launch: &&Launch| {
        launch.grid == program.grid && launch.block == program.block && launch.shared_bytes == program.shared_bytes
    };
    let Some(launch) = finding.claim.launch.as_ref().filter(same) else {
        let reason = "a kernel alone makes no calls of the host, and its launch is not one that the finding states";
        return Judgement::of_run(Verdict::Unsupported, reason, BACK_END, alone, Vec::new());
    };
    let refused = report.failure().filter(|_| !report.launched());
    let own = refused.filter(|call| code_of(call.code.into()) == Code::Own);
    let record = own.map(|call| {
        let record = EvidenceRecord::at(&call.name, &launch.site.path, launch.site.line(), words(call));
        record.in_kernel(base_name(&program.name))
    });
    let at = format!("of {}:{}", launch.site.path, launch.site.line());
    let (verdict, reason) = match (own, refused) {
        (Some(call), _) => (Verdict::Confirmed, format!("the launch {at}: {}", words(call))),
        (None, Some(call)) => (Verdict::Unviable, words(call)),
        (None, None) => (Verdict::Refuted, format!("the driver accepts the launch {at}")),
    };
    Judgement::of_run(verdict, reason, BACK_END, alone, record.into_iter().collect())
}

fn words(call: &Call) -> String {
    format!("{} returns {} ({}): {}", call.call, call.name, call.code, call.text)
}
