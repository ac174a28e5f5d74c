//! A program under the tool of a finding's method.

use super::judge::{Reach, Seen, judge};
use crate::experiment::Judgement;
use crate::lab::{Bench, Run, RunOutcome, Watcher, head_of};
use crate::matching::{Target, shown_in, whole_records};
use crate::project::{self, Built};
use crate::tools::probe_log::Trace;
use crate::tools::sanitizer::SanitizerReport;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::Shows;
use cudalint_findings::claim::Resource;
use cudalint_findings::model::{FindingEntry, Verdict};
use std::sync::Arc;

/// Bytes of a tool's text that are read.
const TEXT: u64 = 16 << 20;

/// A CUDA program, ready to run, and what its run alone has shown.
pub(super) struct Prepared {
    pub command: Vec<String>,
    /// The run alone.
    pub alone: RunOutcome,
    /// What the probe wrote down; none where the program could be built without it only.
    pub trace: Option<Trace>,
    /// Its log, relative to the outcome folder.
    pub log: String,
    /// The project that it is, whose runs are shared.
    pub project: Option<Arc<Built>>,
}

/// Whether a finding claims that a kernel asks for more shared memory than there is, which fails where it is compiled too.
pub(super) fn asks_for_shared_memory(finding: &FindingEntry) -> bool {
    matches!(finding.claim.shows, Shows::RefusedLaunch { of: Resource::SharedMemory })
}

/// The tool's name, as a label and for people.
fn name_of(watcher: Watcher) -> &'static str {
    match watcher {
        Watcher::Memcheck => "memcheck",
        Watcher::Racecheck => "racecheck",
        Watcher::Initcheck => "initcheck",
        Watcher::Synccheck => "synccheck",
        Watcher::Leakcheck => "leakcheck",
        Watcher::Calls => "calls",
    }
}

/// Tool and version.
fn back_end(bench: &Bench<'_>, watcher: Watcher) -> String {
    let tool = match watcher {
        Watcher::Leakcheck => "memcheck --leak-check full",
        Watcher::Calls => "memcheck",
        watcher => name_of(watcher),
    };
    match &bench.lab.machine.compute_sanitizer {
        Some(program) => format!("compute-sanitizer {tool} {}", program.version),
        None => format!("compute-sanitizer {tool}"),
    }
}

/// Runs a prepared program under the tool of a finding's method and judges what it says.
pub(super) fn watch_prepared(target: &Target<'_>, bench: &Bench<'_>, prepared: &Prepared, reach: Reach) -> Judgement {
    let Some(built) = &prepared.project else { return watch(target, bench, &prepared.command, &[], reach, None) };
    let watcher = Watcher::of_method(target.verification.method);
    let watched = project::under(bench, built, watcher, name_of(watcher));
    let report = SanitizerReport::read(watched.run.report.as_deref(), &watched.printed);
    let mut judgement = judged(target, bench, watcher, &report, &watched.run, reach);
    if judgement.verdict == Verdict::Unviable
        && Utf8Path::new(&target.path).extension() != Some("py")
        && let Some(why) = built.about(&target.path)
    {
        judgement.reason = format!("{}; {why}", judgement.reason);
    }
    judgement
}

/// Runs a command under the tool of a finding's method and judges what it says. `rename` is a file of the run that stands
/// for the finding's own.
pub(super) fn watch(
    target: &Target<'_>,
    bench: &Bench<'_>,
    command: &[String],
    environment: &[(String, String)],
    reach: Reach,
    rename: Option<&Utf8PathBuf>,
) -> Judgement {
    let watcher = Watcher::of_method(target.verification.method);
    let label = name_of(watcher);
    let renamed = |mut report: SanitizerReport| {
        if let Some(script) = rename {
            report.rename(script.as_str(), &target.path);
        }
        report
    };
    let of_tool = Run {
        label: label.to_owned(),
        command: command.to_vec(),
        environment: environment.to_vec(),
        watcher: Some(watcher),
        device: true,
        kernels: Vec::new(),
    };
    // A program that repeats its kernels has shown the finding long before its end.
    let run =
        bench.run_until(&of_tool, &bench.printed(label), &|printed| shown_in(target, &renamed(whole_records(printed))));
    // What the tool printed, which the lab keeps beside its report.
    let printed = head_of(&bench.folder.join(format!("{label}.log")), TEXT);
    let report = renamed(SanitizerReport::read(run.report.as_deref(), &printed));
    judged(target, bench, watcher, &report, &run, reach)
}

/// What a tool's report says of a finding.
fn judged(
    target: &Target<'_>,
    bench: &Bench<'_>,
    watcher: Watcher,
    report: &SanitizerReport,
    run: &RunOutcome,
    reach: Reach,
) -> Judgement {
    let tool = if watcher == Watcher::Calls { "memcheck" } else { name_of(watcher) };
    let seen = Seen { report, end: &run.end, reach, tool };
    let judged = judge(target, &seen);
    Judgement::of_run(judged.verdict, judged.reason, back_end(bench, watcher), run, judged.records)
}
