//! The calls at the places of a finding, each to fail.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

use super::places::failure_of;
use super::trial::Target;
use crate::experiment::Judgement;
use crate::experiment::place::Spot;
use crate::experiment::probed::{BACK_END, Seen, not_reached};
use crate::probe::Site;
use crate::tools::probe_log::Call;
use cudalint_findings::model::Verdict;

/// The calls at the places, each to fail; one that fails by itself is told of success.
///
/// # Errors
/// The judgement where the first of them says nothing: the program does not come to it, or what it returns is no status.
pub(super) fn targets(spots: &[Spot], baseline: &Seen) -> Result<Vec<Target>, Judgement> {
    let mut targets = Vec::new();
    for (index, spot) in spots.iter().enumerate() {
        let calls = spot.calls(&baseline.trace);
        match (own_failure(&calls), calls.iter().find(|call| call.kind == 3)) {
            (_, Some(call)) if index == 0 => {
                let reason = format!("`{}` returns a type whose failures are not known", call.function);
                return Err(Judgement::of_run(Verdict::Unviable, reason, BACK_END, &baseline.run, Vec::new()));
            }
            // Whether anybody looks is to be seen there, too: by a run in which it is told of success.
            (Some(call), None) => targets.push(Target {
                spot: spot.clone(),
                sites: sites_of_calls(&calls, Some(0)),
                what: call.function.clone(),
                own: Some(call.real),
            }),
            (None, None) if !calls.is_empty() => targets.push(Target {
                spot: spot.clone(),
                sites: sites_of_calls(&calls, None),
                what: calls.first().map(|call| call.function.clone()).unwrap_or_default(),
                own: None,
            }),
            _ if index == 0 => return Err(not_reached(spot, baseline)),
            _ => {}
        }
    }
    Ok(targets)
}

/// A call among these that failed without help.
fn own_failure<'trace>(calls: &[&'trace Call]) -> Option<&'trace Call> {
    calls.iter().copied().find(|call| call.real != 0)
}

/// `status`: what they report, if it is not a failure of theirs.
fn sites_of_calls(calls: &[&Call], status: Option<i64>) -> Vec<(Site, i64)> {
    let reported = |call: &Call| status.unwrap_or_else(|| failure_of(&call.function));
    let mut sites: Vec<(Site, i64)> = calls.iter().map(|call| (Site::Call(call.id), reported(call))).collect();
    sites.sort_unstable();
    sites.dedup();
    sites
}

/// The judgement of a place at which something failed without help.
pub(super) fn fails_by_itself(spot: &Spot, what: &str, status: i64, seen: &Seen) -> Judgement {
    let reason = format!(
        "`{what}` fails at {} by itself in this program (status {status}), so that nothing can be told",
        spot.shown()
    );
    Judgement::of_run(Verdict::Unviable, reason, BACK_END, &seen.run, Vec::new())
}
