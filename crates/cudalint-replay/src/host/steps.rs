//! The way to an event, as a reader is shown it: who called whom, and what variables held.

use crate::facts::{Site, Step, StepKind};
use crate::quantity::Assumptions;

/// How many variables a way names.
pub(crate) const MAX_DEFINITIONS: usize = 5;

/// A call on the way: `caller` is empty for code outside of functions, `callee` for a function without a name.
pub(crate) fn call(site: Site, caller: &str, callee: &str, nameless: &str) -> Step {
    let what = if callee.is_empty() { nameless.to_owned() } else { format!("`{callee}`") };
    let whence = if caller.is_empty() { String::new() } else { format!(" from `{caller}`") };
    Step { site, kind: StepKind::Call, note: format!("{what} is called{whence}") }
}

/// What a variable holds: "`n` is 513".
pub(crate) fn holds(site: Site, name: &str, value: i64, assumptions: &Assumptions) -> Step {
    let why = match assumptions {
        Some(list) => format!(" ({})", list.join("; ")),
        None => String::new(),
    };
    Step { site, kind: StepKind::Value, note: format!("`{name}` is {value}{why}") }
}
