//! A second method is asked where the first has passed a finding over, and before one is called refuted.

use super::{Judgement, sanitizer, watchpoint};
use crate::lab::Bench;
use crate::scenario::Program;
use cudalint_findings::Shows;
use cudalint_findings::claim::AccessFault;
use cudalint_findings::model::{Confidence, FindingEntry, Method, Verdict};

/// What two methods say of a finding, of which the first has said this.
pub(super) fn opinion(finding: &FindingEntry, program: &Program, bench: &Bench<'_>, first: Judgement) -> Judgement {
    let is_whole = !matches!(program, Program::Kernel(_));
    match first.verdict {
        Verdict::Unsupported if watchpoints_apply(finding, program) => {
            let watched = watchpoint::perform(finding, program, bench);
            match watched.verdict {
                Verdict::Unsupported => first,
                Verdict::Refuted => watched.checked_by(finding.verification.method.name(), first),
                _ => watched,
            }
        }
        Verdict::NotObserved if is_whole && watchpoints_apply(finding, program) => {
            of_watchpoints(finding, first, watchpoint::perform(finding, program, bench))
        }
        // Only accesses that stay within their objects are refuted by watchpoints.
        Verdict::Refuted if finding.verification.method == Method::Watchpoint => {
            first.checked_by(Method::Memcheck.name(), sanitizer::by_memcheck(finding, program, bench))
        }
        _ => first,
    }
}

/// What a tool has passed over is looked at by watchpoints: racecheck does not report lanes of one warp in one step, nor
/// memcheck an access that ends in another allocation, nor synccheck lanes that wait where they leave a loop. What they show
/// counts; that the witness's own access stays within its object does where the finding rests on nothing that this program may
/// not do.
fn of_watchpoints(finding: &FindingEntry, first: Judgement, watched: Judgement) -> Judgement {
    match watched.verdict {
        Verdict::Refuted if finding.confidence == Confidence::Definite => {
            watched.checked_by(finding.verification.method.name(), first)
        }
        verdict => {
            let reason = format!("{}; watchpoints: {}", first.reason, watched.reason);
            let shown = verdict == Verdict::Confirmed;
            Judgement { reason, ..if shown { watched } else { first } }
        }
    }
}

/// Whether watchpoints may show what the tool does: races, accesses beyond an array's end, and barriers that threads of a block are
/// at a different number of times.
fn watchpoints_apply(finding: &FindingEntry, program: &Program) -> bool {
    match (finding.verification.method, &finding.claim.shows) {
        (
            Method::Memcheck | Method::Racecheck,
            Shows::Access { fault: AccessFault::OutOfBounds, accesses, .. } | Shows::Race { accesses, .. },
        ) => !accesses.is_empty(),
        (Method::Synccheck, Shows::Barrier) => matches!(program, Program::Cuda(_)),
        _ => false,
    }
}
