//! Two analyses over a [`Flow`], both backwards: which stored statuses are read later, and what is sure to be checked
//! after each point.

use super::flow::{Action, BySegment, Draft, EXIT, Fate, Flow, Happening};
use cudalint_program::ir::LocalId;
use rustc_hash::FxHashMap;

/// The last error is read and looked at.
pub const LAST: u16 = 1;
/// A call that waits for the device is made, and its status is looked at.
pub const SYNC: u16 = 2;
/// A call that waits for the device is made, and its status is dropped.
pub const DROPPED_SYNC: u16 = 4;
/// The next thing that has to do with errors is a look at the last error.
pub const NEXT: u16 = 8;
/// Kernels are launched (an effect of functions only).
pub const LAUNCHES: u16 = 16;
/// Kernels are launched that nothing in the function waits for (an effect of functions only).
pub const PENDING: u16 = 32;

/// Statuses are dropped, here or in what is called (an effect of functions only).
pub const DROPS: u16 = 4096;

/// The last error is read and looked at by code in sight.
pub const SEEN_LAST: u16 = 64;
/// The last error may be looked at: in another configuration, by a library, or by code out of sight whose name says so.
pub const HIDDEN: u16 = 128;
/// A call of the runtime is made whose status is looked at: it returns what has stopped the device for good.
pub const AGAIN: u16 = 256;
/// The last error is, or may be, looked at by somebody later on, callers included.
pub const LOOKS_LATER: u16 = 512;
/// Results are compared with what they should be.
pub const COMPARES: u16 = 1024;
/// As [`AGAIN`], on some way that some caller goes: what has stopped the device for good comes to light there.
pub const AGAIN_SOMEWHERE: u16 = 8192;
/// Whoever calls an interface may call something of it next that looks at the last error.
pub const MAY_LOOK: u16 = 2048;

/// Words of 64 variables by segment that are kept to say which variables are read later.
const MOST_WORDS: usize = 4 << 20;

/// What happens after a point: on every path, and on some path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// On every path.
    pub must: u16,
    /// On at least one.
    pub may: u16,
}

impl After {
    /// Control never comes here.
    const NEVER: Self = Self { must: !0, may: 0 };

    /// Where paths split.
    fn join(self, other: Self) -> Self {
        Self { must: self.must & other.must, may: self.may | other.may }
    }
}

/// What one call does to [`After`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that matters here.
    None,
    /// Sets bits; `ends_next`: other statuses come up first, so that [`NEXT`] no longer holds.
    Sets { bits: u16, ends_next: bool },
    /// Reads the last error and drops it.
    Clears,
    /// A call that waits, whose status is dropped: looked at after all when the last error is read next.
    DroppedSync,
}

impl Effect {
    fn apply(self, after: After) -> After {
        let set = |state: After, bits: u16| After { must: state.must | bits, may: state.may | bits };
        let unset = |state: After, bits: u16| After { must: state.must & !bits, may: state.may & !bits };
        match self {
            Self::None => after,
            Self::Sets { bits, ends_next } => set(if ends_next { unset(after, NEXT) } else { after }, bits),
            Self::Clears => unset(after, LAST | SEEN_LAST | NEXT | LOOKS_LATER),
            Self::DroppedSync => {
                // Waiting and then looking at the last error is one check: it sees what comes before the wait, too.
                if after.must & NEXT != 0 { set(after, SYNC) } else { set(unset(after, NEXT), DROPPED_SYNC) }
            }
        }
    }
}

/// What comes after each call and each launch.
#[derive(Clone, Debug, Default)]
pub struct Solved {
    /// By call.
    pub calls: Vec<After>,
    /// By launch.
    pub launches: Vec<After>,
}

/// Solves for what is checked after each point, given what calls do and what comes after the function returns.
pub fn checked_after(flow: &Flow, effect: &dyn Fn(u32) -> Effect, exit: After) -> Solved {
    let count = flow.segments as usize;
    let effect_of = |happening: &Happening| match happening {
        Happening::Call(call) => effect(*call),
        Happening::Launch(_) => Effect::Sets { bits: 0, ends_next: true },
        Happening::Opaque => Effect::Sets { bits: LAST | SYNC, ends_next: false },
        Happening::Hidden => Effect::Sets { bits: LAST | SYNC | HIDDEN | LOOKS_LATER, ends_next: false },
        Happening::Compares => Effect::Sets { bits: COMPARES, ends_next: false },
        Happening::Waits => Effect::Sets { bits: SYNC | AGAIN, ends_next: false },
    };
    // By segment, last things first.
    let mut happenings: Vec<(Happening, Effect)> = Vec::with_capacity(flow.calls.len() + flow.launches.len());
    let mut starts: Vec<usize> = Vec::with_capacity(count + 1);
    for segment in 0..count {
        starts.push(happenings.len());
        let inside = flow.happenings.of_segment(segment).iter().rev();
        happenings.extend(inside.map(|happening| (*happening, effect_of(happening))));
    }
    starts.push(happenings.len());
    let of = |segment: usize| match (starts.get(segment), starts.get(segment + 1)) {
        (Some(from), Some(to)) => happenings.get(*from..*to).unwrap_or(&[]),
        _ => &[],
    };
    let mut entry = vec![After::NEVER; count];
    let end_of = |entry: &[After], segment: usize| {
        if segment == EXIT as usize {
            return exit;
        }
        let next = flow.next.of_segment(segment);
        next.iter().filter_map(|to| entry.get(*to as usize)).fold(After::NEVER, |all, one| all.join(*one))
    };
    let order = last_first(count, &flow.next);
    for _ in 0..count + 2 {
        let mut changed = false;
        for &segment in &order {
            let state = of(segment).iter().fold(end_of(&entry, segment), |state, (_, effect)| effect.apply(state));
            if entry[segment] != state {
                entry[segment] = state;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut solved =
        Solved { calls: vec![After::NEVER; flow.calls.len()], launches: vec![After::NEVER; flow.launches.len()] };
    for segment in 0..count {
        let mut state = end_of(&entry, segment);
        for (happening, effect) in of(segment) {
            let slot = match happening {
                Happening::Call(call) => solved.calls.get_mut(*call as usize),
                Happening::Launch(launch) => solved.launches.get_mut(*launch as usize),
                Happening::Opaque | Happening::Hidden | Happening::Compares | Happening::Waits => None,
            };
            if let Some(slot) = slot {
                *slot = state;
            }
            state = effect.apply(state);
        }
    }
    solved
}

/// Nothing has been started since a call that waited for the device.
pub const IDLE: u8 = 1;
/// Somebody has looked at how the work ended that was waited for.
pub const ENDED_SEEN: u8 = 2;
/// Somebody has looked at the last error since the last call that could fail unseen.
pub const LAST_SEEN: u8 = 4;

/// By call, what of [`IDLE`], [`ENDED_SEEN`] and [`LAST_SEEN`] holds before it on every way to it. `step`: what holds behind a call, by
/// what held before.
pub fn idle_before(flow: &Flow, step: &dyn Fn(u32, u8) -> u8) -> Vec<u8> {
    let count = flow.segments as usize;
    let apply = |before: u8, happening: &Happening| match happening {
        Happening::Call(call) => step(*call, before),
        Happening::Waits => IDLE | ENDED_SEEN,
        Happening::Compares => before,
        _ => 0,
    };
    let mut entry = vec![IDLE | ENDED_SEEN | LAST_SEEN; count];
    if let Some(first) = entry.first_mut() {
        *first = 0;
    }
    // Each round but the last takes something from a segment; there are three things to take.
    for _ in 0..3 * count + 2 {
        let mut changed = false;
        for segment in 0..count {
            let end = flow.happenings.of_segment(segment).iter().fold(entry[segment], apply);
            for to in flow.next.of_segment(segment) {
                if let Some(slot) = entry.get_mut(*to as usize)
                    && *slot & !end != 0
                {
                    *slot &= end;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let mut before = vec![0; flow.calls.len()];
    for (segment, entry) in entry.iter().enumerate() {
        let mut state = *entry;
        for happening in flow.happenings.of_segment(segment) {
            if let Happening::Call(call) = happening
                && let Some(slot) = before.get_mut(*call as usize)
            {
                *slot = state;
            }
            state = apply(state, happening);
        }
    }
    before
}

/// The segments of a function, each behind those to which control goes on from it, but for loops: one sweep in this order
/// settles what has no loop, and each loop takes one more where it stands within another.
fn last_first(count: usize, next: &BySegment<u32>) -> Vec<usize> {
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    // The entry first; then what no path reaches.
    for start in 0..count {
        let mut open = vec![(start, 0)];
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        while let Some((segment, at)) = open.pop() {
            match next.of_segment(segment).get(at).map(|to| *to as usize) {
                Some(to) => {
                    open.push((segment, at + 1));
                    if seen.get(to).is_some_and(|seen| !seen) {
                        seen[to] = true;
                        open.push((to, 0));
                    }
                }
                None => order.push(segment),
            }
        }
    }
    order
}

/// Marks the calls whose status sits in a local variable that is read later ([`super::flow::CallSite::stored_is_read`]).
pub fn mark_reads(flow: &mut Flow, draft: &Draft) {
    let mut slots: FxHashMap<LocalId, u32> = FxHashMap::default();
    for (_, action) in &draft.actions {
        if let Action::Define { local, from, to, .. } = action
            && flow
                .calls
                .get(*from as usize..*to as usize)
                .unwrap_or(&[])
                .iter()
                .any(|call| call.fate == Fate::Stored(*local))
        {
            let next = slots.len() as u32;
            slots.entry(*local).or_insert(next);
        }
    }
    if slots.is_empty() {
        return;
    }
    let words = slots.len().div_ceil(64);
    if words.saturating_mul(draft.segments as usize) > MOST_WORDS {
        // Of a function with so many variables and branches it is left open what is read.
        for site in flow.calls.iter_mut().filter(|site| matches!(site.fate, Fate::Stored(_))) {
            site.stored_is_read = true;
        }
        return;
    }
    let mut escaped = vec![0u64; words];
    for local in &flow.escaped {
        if let Some(slot) = slots.get(local) {
            set(&mut escaped, *slot, true);
        }
    }
    let count = draft.segments as usize;
    let actions = BySegment::of(draft.segments, draft.actions.iter().copied());
    let next = BySegment::of(draft.segments, draft.next.iter().chain(&draft.rarely).copied());
    let mut entry = vec![0u64; count * words];
    let live_at_end = |entry: &[u64], segment: usize| {
        let mut live = escaped.clone();
        for to in next.of_segment(segment) {
            let at = *to as usize * words;
            for (word, other) in live.iter_mut().zip(entry.get(at..at + words).unwrap_or(&[])) {
                *word |= other;
            }
        }
        live
    };
    let step = |live: &mut Vec<u64>, action: &Action| match action {
        Action::Read(local) => {
            if let Some(slot) = slots.get(local) {
                set(live, *slot, true);
            }
        }
        Action::Write(local) | Action::Define { local, accumulate: false, .. } => {
            if let Some(slot) = slots.get(local)
                && !get(&escaped, *slot)
            {
                set(live, *slot, false);
            }
        }
        // `x |= call()` hands the old value on: it is read if the new one is.
        Action::Define { accumulate: true, .. }
        | Action::Call(_)
        | Action::Launch(_)
        | Action::Hidden
        | Action::Compares
        | Action::Waits => {}
        Action::Opaque => live.fill(!0),
    };
    let order = last_first(count, &next);
    for _ in 0..count + 2 {
        let mut changed = false;
        for &segment in &order {
            let mut live = live_at_end(&entry, segment);
            for action in actions.of_segment(segment).iter().rev() {
                step(&mut live, action);
            }
            let at = segment * words;
            if entry[at..at + words] != live[..] {
                entry[at..at + words].copy_from_slice(&live);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    let mut read: Vec<u32> = Vec::new();
    for segment in 0..count {
        let mut live = live_at_end(&entry, segment);
        for action in actions.of_segment(segment).iter().rev() {
            if let Action::Define { local, from, to, .. } = action
                && slots.get(local).is_some_and(|slot| get(&live, *slot))
            {
                read.extend((*from..*to).filter(|call| {
                    flow.calls.get(*call as usize).is_some_and(|site| site.fate == Fate::Stored(*local))
                }));
            }
            step(&mut live, action);
        }
    }
    for call in read {
        if let Some(site) = flow.calls.get_mut(call as usize) {
            site.stored_is_read = true;
        }
    }
}

fn set(bits: &mut [u64], slot: u32, value: bool) {
    if let Some(word) = bits.get_mut(slot as usize / 64) {
        let bit = 1 << (slot % 64);
        if value { *word |= bit } else { *word &= !bit }
    }
}

fn get(bits: &[u64], slot: u32) -> bool {
    bits.get(slot as usize / 64).is_some_and(|word| word & (1 << (slot % 64)) != 0)
}

#[cfg(test)]
mod tests {
    use super::super::flow::{CallSite, Callee};
    use super::*;
    use cudalint_program::Name;
    use cudalint_syntax::Span;

    fn call(fate: Fate) -> CallSite {
        CallSite {
            callee: Callee::Opaque,
            name: Name::from("f"),
            arguments: 0,
            span: Span::default(),
            fate,
            expansion: None,
            damaged: false,
            initializer: false,
            copies_back: false,
            copies_across: false,
            makes_unused: false,
            given: Box::default(),
            selects_usual_device: false,
            asserted: false,
            stored_is_read: false,
            dead: false,
            compares: false,
        }
    }

    fn straight(actions: &[Action], calls: Vec<CallSite>) -> Flow {
        let mut draft = Draft {
            segments: 2,
            actions: actions.iter().map(|action| (0, *action)).collect(),
            next: vec![(0, EXIT)],
            rarely: vec![],
        };
        let mut flow = Flow { calls, ..Flow::default() };
        mark_reads(&mut flow, &draft);
        flow.keep(&mut draft);
        flow
    }

    fn define(from: u32, accumulate: bool) -> Action {
        Action::Define { local: LocalId(0), from, to: from + 1, accumulate }
    }

    #[test]
    fn a_status_overwritten_before_it_is_read_is_dead() {
        let stored = || call(Fate::Stored(LocalId(0)));
        let actions = [Action::Call(0), define(0, false), Action::Call(1), define(1, false), Action::Read(LocalId(0))];
        let flow = straight(&actions, vec![stored(), stored()]);
        assert_eq!([flow.calls[0].stored_is_read, flow.calls[1].stored_is_read], [false, true]);
    }

    #[test]
    fn accumulated_statuses_are_read_only_if_the_sum_is() {
        let stored = || call(Fate::Stored(LocalId(0)));
        let actions = vec![Action::Call(0), define(0, true), Action::Call(1), define(1, true)];
        let never = straight(&actions, vec![stored(), stored()]);
        assert!(!never.calls[0].stored_is_read && !never.calls[1].stored_is_read);
        let tested = straight(&[actions, vec![Action::Read(LocalId(0))]].concat(), vec![stored(), stored()]);
        assert!(tested.calls[0].stored_is_read && tested.calls[1].stored_is_read);
    }

    #[test]
    fn a_dropped_wait_is_seen_by_a_look_at_the_last_error_right_after() {
        let flow = straight(&[Action::Call(0), Action::Call(1)], vec![call(Fate::Dropped), call(Fate::Consumed)]);
        let look = |index: u32| {
            if index == 0 { Effect::DroppedSync } else { Effect::Sets { bits: LAST | NEXT, ends_next: true } }
        };
        let solved = checked_after(&flow, &look, After::default());
        assert_eq!(solved.calls[0].must & (LAST | NEXT), LAST | NEXT);
        assert_eq!(solved.calls[1].must & LAST, 0);
    }
}
