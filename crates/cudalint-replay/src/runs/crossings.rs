//! What two pieces of work surely both touch: of copies by what is copied, of kernels by what their executions have shown.

use super::collect::Seen;
use super::{Basis, KernelRun};
use crate::facts::{CrossedFact, CrossedWork, Early, EventKind, Facts, GivenTo, Meeting, Pointer, Site, Started};
use crate::quantity::Quantity;
use cudalint_kernel::Argument;
use cudalint_kernel::report::SureUse;

/// Most executions of one launch that are looked at.
const MAX_RUNS: usize = 4;

/// What tells a launch from others at its place, with the place.
pub(super) fn given_to(seen: &Seen<'_>) -> (Site, Vec<GivenTo>) {
    let given = seen.fact.args.iter().map(|argument| match &argument.pointer {
        Some(Pointer::Into { buffer, offset }) => GivenTo::Into(buffer.site, offset.quantity.clone()),
        _ => match &argument.amount.quantity {
            Quantity::Unknown => GivenTo::Other,
            number => GivenTo::Number(number.clone()),
        },
    });
    (seen.event.site, given.collect())
}

/// Says of work that nothing orders what it surely touches together.
pub(super) fn hand_out(facts: &mut [Facts]) {
    hand_out_early(facts);
    let mut met: Vec<(usize, usize, Meeting)> = Vec::new();
    for (module, of_module) in facts.iter().enumerate() {
        for (at, event) in of_module.events.iter().enumerate() {
            if let EventKind::Crossed(fact) = &event.kind
                && let Some(meeting) = meeting(facts, fact)
            {
                met.push((module, at, meeting));
            }
        }
    }
    for (module, at, meeting) in met {
        let event = facts.get_mut(module).and_then(|facts| facts.events.get_mut(at));
        if let Some(EventKind::Crossed(fact)) = event.map(|event| &mut event.kind) {
            fact.meeting = Some(meeting);
        }
    }
}

/// Says of memory of the device that others send or receive whether a kernel touches it.
fn hand_out_early(facts: &mut [Facts]) {
    let mut shown: Vec<(usize, usize, Vec<String>)> = Vec::new();
    for (module, of_module) in facts.iter().enumerate() {
        for (at, event) in of_module.events.iter().enumerate() {
            if let EventKind::Early(fact) = &event.kind
                && let Some(kernel) = &fact.kernel
                && let Pointer::Into { offset, .. } = &fact.argument.pointer
                && let Some(byte) = offset.quantity.known()
            {
                // Who else writes the memory.
                let written = fact.early == Early::Write || fact.early == Early::Launch && fact.writes;
                let holds = |all: &[(i64, i64)]| all.iter().any(|(from, to)| (*from..*to).contains(&byte));
                let meets = |touched: &&Touched| {
                    let SureUse { read, written: stored, atomic } = &touched.sure;
                    holds(stored) || holds(atomic) || written && holds(read)
                };
                let views = touched(facts, kernel);
                let best = views.iter().filter(meets).min_by_key(|view| view.assumptions.len());
                shown.extend(best.map(|view| (module, at, view.assumptions.clone())));
            }
        }
    }
    for (module, at, assumptions) in shown {
        let event = facts.get_mut(module).and_then(|facts| facts.events.get_mut(at));
        if let Some(EventKind::Early(fact)) = event.map(|event| &mut event.kind) {
            fact.touched = Some(assumptions);
        }
    }
}

/// What a piece of work surely touches, and what that rests on.
struct Touched {
    sure: SureUse,
    assumptions: Vec<String>,
}

/// What both touch, with the fewest assumptions.
fn meeting(facts: &[Facts], fact: &CrossedFact) -> Option<Meeting> {
    let CrossedFact { first, second, .. } = fact;
    if both_set(first, second) {
        return None;
    }
    if let (Some((from, bytes)), Some((other, count))) = (&first.part, &second.part)
        && from.known().is_none()
        && from.surely_equals(other)
        && [bytes, count].iter().all(|bytes| bytes.known() != Some(0))
    {
        let (first_writes, second_writes) = (first.writes, second.writes);
        return Some(Meeting { byte: None, first_writes, second_writes, assumptions: Vec::new() });
    }
    let (firsts, seconds) = (touched(facts, first), touched(facts, second));
    let mut best: Option<Meeting> = None;
    for (a, b) in firsts.iter().flat_map(|a| seconds.iter().map(move |b| (a, b))) {
        let Some((byte, first_writes, second_writes)) = conflict(&a.sure, &b.sure) else { continue };
        // The same kernel with the same arguments writes the same.
        if first_writes && second_writes && is_again(first, second) && a.sure.read.is_empty() {
            continue;
        }
        let mut assumptions = a.assumptions.clone();
        assumptions.extend(b.assumptions.iter().filter(|text| !a.assumptions.contains(text)).cloned());
        if best.as_ref().is_none_or(|best| assumptions.len() < best.assumptions.len()) {
            best = Some(Meeting { byte: Some(byte), first_writes, second_writes, assumptions });
        }
    }
    best
}

/// Whether two sets follow each other: mostly to one value.
fn both_set(first: &CrossedWork, second: &CrossedWork) -> bool {
    match (&first.what, &second.what) {
        (Started::Copy { api }, Started::Copy { api: other }) => {
            let sets = |name: &str| {
                cudalint_program::api::ApiId::named(name).is_some_and(|api| {
                    let set = |effect: &_| matches!(effect, cudalint_program::api::effects::Effect::Sets { .. });
                    api.effects.iter().any(set)
                })
            };
            sets(api) && sets(other)
        }
        _ => false,
    }
}

fn is_again(first: &CrossedWork, second: &CrossedWork) -> bool {
    matches!((&first.what, &second.what), (
        Started::Kernel { kernel, .. },
        Started::Kernel { kernel: other, .. },
    ) if kernel == other && first.given == second.given)
}

/// The possible views of what a piece of work touches.
fn touched(facts: &[Facts], work: &CrossedWork) -> Vec<Touched> {
    match &work.what {
        Started::Copy { .. } | Started::Algorithm { .. } => {
            let Some((Quantity::Known(from), bytes)) = &work.part else { return Vec::new() };
            // What is copied is not nothing, where nobody knows how much.
            let count = bytes.known().unwrap_or(1);
            let stretch = vec![(*from, from.saturating_add(count))];
            let sure = if work.writes {
                SureUse { written: stretch, ..SureUse::default() }
            } else {
                SureUse { read: stretch, ..SureUse::default() }
            };
            if count > 0 { vec![Touched { sure, assumptions: Vec::new() }] } else { Vec::new() }
        }
        Started::Kernel { kernel: Some((module, kernel)), parameter, .. } => {
            let runs = facts.get(module.index()).map_or(&[][..], |facts| &facts.runs);
            let of_work = |run: &&KernelRun| {
                run.kernel == (*module, *kernel)
                    && run.basis != Basis::GuessedBlock
                    && run.launched.iter().any(|(site, given)| *site == work.site && *given == work.given)
            };
            let view = |run: &KernelRun| {
                let Some(Argument::Pointer { buffer, .. }) = run.input.arguments.get(*parameter as usize) else {
                    return None;
                };
                if !run.buffers.get(*buffer)?.from_start {
                    return None;
                }
                let sure = run.report.buffers.get(*buffer)?.sure.clone();
                let assumptions = run.assumptions.iter().flat_map(|list| list.iter().cloned()).collect();
                Some(Touched { sure, assumptions })
            };
            runs.iter().filter(of_work).take(MAX_RUNS).filter_map(view).collect()
        }
        Started::Kernel { .. } => Vec::new(),
    }
}

/// A byte that both touch where one of them writes it, and who writes it. Atomic operations do not disturb each other.
fn conflict(a: &SureUse, b: &SureUse) -> Option<(i64, bool, bool)> {
    let meet = |a: &[(i64, i64)], b: &[(i64, i64)]| {
        let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
        pairs.filter(|(from, to)| from < to).map(|(from, _)| from).min()
    };
    let found = |byte: Option<i64>, first, second| byte.map(|byte| (byte, first, second));
    found(meet(&a.written, &b.read), true, false)
        .or_else(|| found(meet(&a.read, &b.written), false, true))
        .or_else(|| found(meet(&a.atomic, &b.read), true, false))
        .or_else(|| found(meet(&a.read, &b.atomic), false, true))
        .or_else(|| found(meet(&a.written, &b.atomic), true, true))
        .or_else(|| found(meet(&a.atomic, &b.written), true, true))
        .or_else(|| found(meet(&a.written, &b.written), true, true))
}
