//! A program that does not compile at run time: whoever looks at the status alone never learns why.

use super::places::COMPILATION;
use crate::api;
use crate::experiment::Judgement;
use crate::experiment::place::Spot;
use crate::experiment::probed::{BACK_END, Probed, Seen, ending, not_reached, record, usable};
use crate::lab::Bench;
use crate::probe::{Plan, Site, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::Call;
use cudalint_findings::model::{FindingEntry, Verdict};

/// The compilation at the place fails, by itself or by our hand, and nobody asks for the compiler's words.
pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &[])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let spot = Spot::primary(finding, program);
    let first = first_at(&spot, &baseline).ok_or_else(|| not_reached(&spot, &baseline))?;
    if first.real == COMPILATION {
        return Ok(judge(&probed, "baseline", &spot, &first, &baseline));
    }
    let plan =
        Plan { task: Task::Status, sites: vec![(Site::Call(first.id), COMPILATION)], turn: 1, ..Plan::default() };
    let seen = probed.run("injected", &plan);
    usable(&seen)?;
    let failed = first_at(&spot, &seen).filter(|call| call.handed == COMPILATION);
    let failed = failed.ok_or_else(|| not_reached(&spot, &seen))?;
    Ok(judge(&probed, "injected", &spot, &failed, &seen))
}

fn first_at(spot: &Spot, seen: &Seen) -> Option<Call> {
    spot.calls(&seen.trace).first().copied().cloned()
}

fn judge(probed: &Probed<'_, '_>, label: &str, spot: &Spot, failed: &Call, seen: &Seen) -> Judgement {
    let asks = |call: &&Call| call.sequence > failed.sequence && api::is(&call.function, |api| api.gives_log());
    let told = format!("`{}` at {} reports status {COMPILATION}, a failed compilation", failed.function, spot.shown());
    let (verdict, reason) = match seen.trace.calls().find(asks) {
        Some(call) => {
            (Verdict::NotObserved, format!("{told}, and `{}` is called at line {}", call.function, call.line))
        }
        None => (
            Verdict::Confirmed,
            format!("{told}, and the program ends with {} without asking what the compiler says", ending(&seen.run)),
        ),
    };
    let records = match verdict {
        Verdict::Confirmed => vec![record("unread log", spot, None, reason.clone())],
        _ => Vec::new(),
    };
    let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, records);
    judgement.evidence.log = Some(probed.log(label));
    judgement
}
