//! Which work of a run is delayed, and what comes too early behind it.

use crate::experiment::place::Spot;
use crate::probe::Moment;
use crate::tools::probe_log::{Event, Trace};
use cudalint_findings::claim::Then;
use std::collections::HashSet;

/// The number of the work at a place, and the first moment at another place behind it. Of work that is started several times it is
/// the last before that moment.
///
/// # Errors
/// Why there is none; nothing where the program does not come to the places at all.
pub(super) fn of(trace: &Trace, work: &Spot, place: &Spot, then: Then) -> Result<(u64, Moment), Option<String>> {
    let calls = |spot: &Spot| -> HashSet<u64> { spot.calls(trace).iter().map(|call| call.sequence).collect() };
    let launches = |spot: &Spot| -> HashSet<u64> { spot.launches(trace).iter().map(|it| it.sequence).collect() };
    let started = (calls(work), launches(work));
    let behind = (calls(place), launches(place));
    if started.0.is_empty() && started.1.is_empty() {
        return Err(Some(format!("the program does not come to {}, where the work is started", work.shown())));
    }
    let mut last: Option<u64> = None;
    let (mut seen, mut numbered) = (false, false);
    for event in &trace.events {
        let (at_work, at_place, number) = match event {
            Event::Call(call) => (
                started.0.contains(&call.sequence).then_some(call.work).flatten(),
                behind.0.contains(&call.sequence),
                match then {
                    Then::Clock => call.look.map(Moment::Look),
                    _ => call.work.map(Moment::Work),
                },
            ),
            Event::Launch(launch) => (
                started.1.contains(&launch.sequence).then_some(launch.work).flatten(),
                behind.1.contains(&launch.sequence),
                launch.work.map(Moment::Work),
            ),
            Event::Touch(touch) => (
                None,
                place.line == touch.line && crate::experiment::place::same_file(&touch.file, &place.path),
                Some(Moment::Touch { number: touch.number, reads: then == Then::Read }),
            ),
            Event::Words(_) => continue,
        };
        let fits = number.filter(|moment| match then {
            Then::Read | Then::Write => matches!(moment, Moment::Touch { .. }),
            Then::Clock => matches!(moment, Moment::Look(_)),
            Then::Work | Then::Free => matches!(moment, Moment::Work(_)),
        });
        seen |= at_place;
        if let (true, Some(moment), Some(work)) = (at_place, fits, last) {
            return Ok((work, moment));
        }
        numbered |= at_work.is_some();
        last = at_work.or(last);
    }
    match (seen, numbered) {
        (false, _) => Err(None),
        (true, false) => Err(Some(format!("the work at {} is of a kind that is not delayed", work.shown()))),
        (true, true) => Err(Some(format!("nothing at {} comes behind the work", place.shown()))),
    }
}
