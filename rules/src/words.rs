//! Words that several rules use: quantities, places and witnesses put the same way everywhere.

use cudalint_engine::ModuleContext;
use cudalint_findings::{Confidence, Label, Witness};
use cudalint_replay::facts::{Buffer, Event};
use cudalint_replay::value::Assumptions;

/// What several values together rest on, each once, in order.
pub fn assumptions<'a>(parts: impl IntoIterator<Item = &'a Assumptions>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in parts.into_iter().flatten().flat_map(|list| list.iter()) {
        if !all.contains(text) {
            all.push(text.clone());
        }
    }
    all
}

/// *Definite* when nothing is assumed, *likely* for exactly one assumption; with more, nothing is said at all.
pub fn confidence_for(assumptions: &[String]) -> Option<Confidence> {
    match assumptions.len() {
        0 => Some(Confidence::Definite),
        1 => Some(Confidence::Likely),
        _ => None,
    }
}

/// A witness that consists of the way there.
pub fn path_witness(context: &ModuleContext<'_>, event: &Event, assumptions: Vec<String>) -> Witness {
    Witness { assumptions, path: context.steps(&event.path), ..Witness::default() }
}

/// "allocated here: 4096 bytes" at a buffer's allocation.
pub fn allocation_label(context: &ModuleContext<'_>, buffer: &Buffer) -> Label {
    let what = if buffer.api.is_empty() || ["local", "global"].contains(&buffer.api.as_str()) {
        "declared"
    } else {
        "allocated"
    };
    Label { place: context.place_of(buffer.site), message: format!("{what} here: {} bytes", buffer.bytes.text) }
}

/// `n thing` or `n things`.
pub fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("{count} {thing}") } else { format!("{count} {thing}s") }
}
