//! Calls at the end of `main`, whose errors harm nobody.

use cudalint_engine::ModuleContext;
use cudalint_findings::{Confidence, Finding};
use cudalint_replay::facts::{Event, EventKind, SeenLater, StatusUse, Step, StepKind};

/// The call only returns an error, and nothing comes by any more that could tell or be harmed.
pub fn needs_something_behind(finding: &mut Finding) {
    finding.confidence = Confidence::Possible;
    let witness = finding.witness.get_or_insert_default();
    witness.assumptions.push("something follows that the error of a last call harms".to_owned());
}

/// Whether a call stands at the end of `main`, or in what that calls there: nothing but calls that give something back follows, and nobody
/// looks at its status or at the last error.
pub fn ends_unread(context: &ModuleContext<'_>, event: &Event) -> bool {
    let mut functions = context.module.functions.iter_enumerated();
    let Some((main, body)) = functions.find(|(_, function)| function.name == "main").map(|(id, it)| (id, it.span))
    else {
        return false;
    };
    // Where in `main` it comes by, and where it stands: what is known of events is in order of their places.
    let place = |event: &Event| {
        let called = |step: &&Step| step.kind == StepKind::Call && body.contains(step.site.span);
        let at = match event.path.iter().find(called) {
            Some(step) => Some(step.site.span.start),
            None => (event.function.1 == main && body.contains(event.site.span)).then_some(event.site.span.start),
        };
        at.filter(|_| event.site.module == context.id).map(|at| (at, event.site.span.start))
    };
    let status = context.facts.status.iter().find(|status| status.function == event.function.1);
    let Some(call) = status.and_then(|status| status.calls.iter().find(|call| call.span == event.site.span)) else {
        return false;
    };
    // Another call that somebody looks at returns an error of its own, and not this one.
    let looked_at = matches!(call.later, Some(SeenLater::LastError | SeenLater::PyTorch));
    let unread = matches!(call.usage, StatusUse::Dropped | StatusUse::Voided) && !looked_at;
    let Some(own) = place(event).filter(|_| unread) else { return false };
    let later = |other: &&Event| place(other).is_some_and(|place| place > own);
    context.facts.events.iter().filter(later).all(|other| matches!(other.kind, EventKind::Free { .. }))
}
