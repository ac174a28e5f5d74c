//! A launch that is not made: where nobody reads what the kernel writes, the program does and prints the same.

use super::compare::{Reaction, reaction};
use crate::experiment::Judgement;
use crate::experiment::place::Spot;
use crate::experiment::probed::{BACK_END, Probed, Seen, ending, no_launch, record, usable};
use crate::lab::Bench;
use crate::probe::{Plan, Site, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::plain_kernel;
use crate::{api, spelled};
use cudalint_findings::model::{FindingEntry, Verdict};

/// All launches at the place are passed over.
pub(super) fn perform(
    finding: &FindingEntry,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &[])?;
    let plan = |sites| Plan { task: Task::Skip, sites, ..Plan::default() };
    let baseline = probed.run("baseline", &plan(Vec::new()));
    usable(&baseline)?;
    let spot = Spot::primary(finding, program);
    let launches = spot.launches(&baseline.trace);
    let Some(first) = launches.first() else { return Err(no_launch(&spot, &baseline, bench)) };
    let kernel = plain_kernel(&first.kernel);
    let mut sites: Vec<(Site, i64)> =
        launches.iter().filter_map(|launch| Some((Site::Launch(launch.at?), 1))).take(64).collect();
    sites.sort_unstable();
    sites.dedup();
    if sites.is_empty() {
        return Err(no_launch(&spot, &baseline, bench));
    }
    let skipped = probed.run("skipped", &plan(sites));
    usable(&skipped)?;
    let passed_over = skipped.trace.launches().any(|launch| launch.handed != launch.real);
    let judge = |verdict, reason: String, records| {
        let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &skipped.run, records);
        judgement.evidence.log = Some(probed.log("skipped"));
        judgement
    };
    if !passed_over {
        let reason =
            format!("the run in which the launch at {} was to be passed over did not come to it", spot.shown());
        return Err(judge(Verdict::Unviable, reason, Vec::new()));
    }
    let unseen = skipped.trace.calls().find(|call| {
        let wrapped = spelled::probed_names().any(|name| *name == call.function);
        !wrapped && api::is(&call.function, |api| api.copies())
    });
    if let Some(call) = unseen {
        let reason = format!("what `{}` at line {} brings to the host is not compared", call.function, call.line);
        return Ok(judge(Verdict::NotObserved, reason, Vec::new()));
    }
    let differs = match reaction(&[&baseline], &skipped) {
        Reaction::Silent if copied(&baseline) == copied(&skipped) => None,
        Reaction::Silent => Some("the host gets other bytes from the device".to_owned()),
        Reaction::Reacts(how) | Reaction::Prints(how) | Reaction::Unclear(how) => Some(how),
    };
    if let Some(how) = differs {
        let reason = format!("without the launch of `{kernel}` at {}: {how}", spot.shown());
        return Ok(judge(Verdict::NotObserved, reason, Vec::new()));
    }
    let text = format!(
        "without the launch of `{kernel}` at {} the program does the same: {} calls and launches, the same bytes copied to the host ({} copies), the same output, {}",
        spot.shown(),
        skipped.trace.events.len(),
        copied(&skipped).len(),
        ending(&skipped.run),
    );
    let records = vec![record("launch passed over", &spot, Some(kernel), text.clone())];
    Ok(judge(Verdict::Confirmed, text, records))
}

/// What copies bring to the host, as hashes in order.
fn copied(seen: &Seen) -> Vec<u64> {
    seen.trace.calls().filter_map(|call| call.brought).collect()
}
