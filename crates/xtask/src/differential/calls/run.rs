//! What ran, and how its places are those that the replay names.

use super::log::{Log, Place};
use cudalint_replay::NO_ARGUMENTS;
use cudalint_replay::facts::{Event, Site};
use cudalint_replay::quantity::Assumptions;

/// Lines that a call of a macro may take before an argument, in C++.
pub const MACRO_LINES: u32 = 4;

/// What the comparison has to know of a program beside its events and its log.
pub struct Run<'a> {
    pub log: &'a Log,
    /// The place of what the replay names, where it is known.
    pub place: &'a dyn Fn(Site) -> Option<Place>,
    /// Whether what rests on a start without arguments is a fact.
    pub without_arguments: bool,
    /// Whether the log has all that ran.
    pub complete: bool,
    /// Lines that a call may begin before the place that the replay names, and end behind it.
    pub lines: u32,
    /// Whether events that are facts ran in the order in which the replay has those of one place.
    pub in_order: bool,
    /// Whether an event that nothing decides surely ran.
    pub surely_ran: &'a dyn Fn(&Event) -> bool,
}

impl Run<'_> {
    /// Whether what rests on this is a fact.
    pub fn is_fact(&self, assumptions: &Assumptions) -> bool {
        assumptions.as_ref().is_none_or(|list| self.without_arguments && list.iter().all(|why| why == NO_ARGUMENTS))
    }

    /// Whether what ran at a place is what the replay holds at another: the same line, or the macro's around it.
    pub fn is_near(&self, ran: Place, held: Place) -> bool {
        ran.0 == held.0 && ran.1 <= held.1 && held.1 <= ran.1 + self.lines
    }
}
