//! Watchpoints of Python: the driver launches copies of Numba kernels that log the flagged accesses, in the form in which
//! watchpoints of CUDA C++ programs do.

use super::{asks_for_bounds, judgement};
use crate::experiment::{Judgement, driver};
use crate::lab::{Bench, Run, RunOutcome};
use crate::scenario::PythonProgram;
use crate::watch::copy::Site;
use crate::watch::judge::Question;
use crate::watch::log::Log;
use crate::watch::sites::Access;
use cudalint_findings::model::{FindingEntry, Verdict};
use serde::Deserialize;

/// What evidence calls it.
const BACK_END: &str = "cudalint watchpoints";

/// The driver's `sites.json`.
#[derive(Debug, Default, Deserialize)]
struct Logged {
    sites: Vec<Told>,
    kernels: Vec<String>,
    /// By kernel.
    unfollowed: Vec<Option<String>>,
}

#[derive(Debug, Deserialize)]
struct Told {
    line: u32,
    text: String,
    /// Of `watch.log`: 1 reads, 2 writes, 3 does both, 4 is atomic.
    kind: u32,
    function: String,
}

/// Performs the experiment on a script.
pub(super) fn perform(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    let run = match look(finding, program, bench) {
        Ok(run) => run,
        Err(judgement) => return *judgement,
    };
    let (path, text) = driver::log(bench, "watch.log");
    let log = Log::read(&text);
    let unviable = |reason: String| Judgement::of_run(Verdict::Unviable, reason, BACK_END, &run, Vec::new());
    let Some((sites, kernels, unfollowed)) = sites(bench) else {
        return unviable(match &log.off {
            Some(reason) => reason.clone(),
            None if run.failed() => format!("the script fails by itself: {}", driver::last_line(&run.stderr)),
            None => "no Numba kernel with an access on the finding's lines was launched: accesses of kernels in other dialects are not followed".to_owned(),
        });
    };
    let question = Question { finding, sites: &sites, kernels: &kernels, unfollowed: unfollowed.as_deref(), log: &log };
    let answer = if asks_for_bounds(finding) { question.bounds() } else { question.race() };
    judgement(finding, &question, answer, &run, &bench.relative(&path))
}

/// Runs a script whose flagged statements and accesses the driver looks at.
///
/// # Errors
/// The judgement where it cannot be run or does not end.
pub(crate) fn look(
    finding: &FindingEntry,
    program: &PythonProgram,
    bench: &Bench<'_>,
) -> Result<RunOutcome, Box<Judgement>> {
    let (command, environment) = driver::looking(program, bench, &driver::look_at(finding))?;
    let run = bench.run(&Run { label: "look".to_owned(), command, environment, watcher: None, device: true });
    match Judgement::of_end(&run, BACK_END) {
        Some(judgement) => Err(Box::new(judgement)),
        None => Ok(run),
    }
}

/// The sites and kernels that the driver logs, and what may order accesses of one of them unseen; none where it logs none.
fn sites(bench: &Bench<'_>) -> Option<(Vec<Site>, Vec<String>, Option<String>)> {
    let (_, text) = driver::log(bench, "sites.json");
    let told: Logged = serde_json::from_str(&text).ok()?;
    let sites = told.sites.into_iter().enumerate().map(|(index, site)| Site {
        id: index as u32,
        line: site.line,
        text: site.text,
        access: match site.kind {
            1 => Access::Read,
            2 => Access::Write,
            3 => Access::Update,
            _ => Access::Atomic,
        },
        function: site.function,
    });
    Some((sites.collect(), told.kernels, told.unfollowed.into_iter().flatten().next()))
}
