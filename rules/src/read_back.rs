//! Copies to the host of what nobody has written.

use crate::parts::{allocation_label, assumptions, event_finding};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::{AccessFault, Object, Space};
use cudalint_findings::{Finding, Label, Shows};
use cudalint_replay::facts::{Event, EventKind, Pointer, ReadBackFact};

/// How much of what is copied nobody has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    All,
    /// The end of it, from some element on.
    End,
}

/// Findings of copies of which so much has been written by nobody.
pub fn findings<'c>(
    rule: &'static Rule,
    context: &'c ModuleContext<'_>,
    extent: Extent,
) -> impl Iterator<Item = Finding> + 'c {
    context.facts.events.iter().filter_map(move |event| {
        let EventKind::ReadBack(fact) = &event.kind else { return None };
        if event.failed {
            return None;
        }
        (extent_of(fact)? == extent).then(|| finding(rule, context, event, fact))?
    })
}

/// A border that is left out all around mostly nobody looks at: only what ends the copy counts. So it is of padding behind the members of
/// an element.
fn extent_of(fact: &ReadBackFact) -> Option<Extent> {
    let (first, last) = (fact.unwritten.first()?, fact.unwritten.last()?);
    let end = fact.from + fact.bytes;
    if last.1 - last.0 < fact.argument.element.unwrap_or(1) {
        return None;
    }
    match (first.0 == fact.from, last.1 == end) {
        // What no kernel was given is copied to measure the copy.
        (true, true) if fact.unwritten.len() == 1 && !fact.kernels.is_empty() => Some(Extent::All),
        (false, true) => Some(Extent::End),
        _ => None,
    }
}

fn finding(rule: &'static Rule, context: &ModuleContext<'_>, event: &Event, fact: &ReadBackFact) -> Option<Finding> {
    let Pointer::Into { buffer, .. } = &fact.argument.pointer else { return None };
    let element = fact.argument.element.filter(|element| *element > 0 && fact.bytes % element == 0).unwrap_or(1);
    let what = if element == 1 { "byte" } else { "element" };
    let last = fact.unwritten.last().map_or(0, |(from, to)| (to - from) / element);
    let (all, name, api) = (fact.bytes / element, fact.argument.text.trim(), &fact.api);
    let plural = |count: i64| if count == 1 { what.to_owned() } else { format!("{what}s") };
    let message = match extent_of(fact)? {
        Extent::All => {
            format!("`{api}` copies {all} {} of `{name}` to the host, which nothing has written", plural(all))
        }
        Extent::End => format!(
            "`{api}` copies {all} {} of `{name}` to the host, but nothing has written the last {}",
            plural(all),
            if last == 1 { "one".to_owned() } else { last.to_string() }
        ),
    };
    let assumed = assumptions([&event.assumptions, &fact.assumptions]);
    let object = Object {
        name: name.to_owned(),
        space: Space::Global,
        bytes: buffer.bytes.quantity.known().and_then(|bytes| u64::try_from(bytes).ok()),
    };
    let shows = Shows::Access { fault: AccessFault::Unwritten, object, accesses: Vec::new() };
    let mut finding = event_finding(rule, context, event, fact.argument.span, assumed, shows, message)?;
    finding.label = "holds whatever was there before".to_owned();
    finding.related.push(allocation_label(context, buffer));
    for write in &fact.kernels {
        let place = context.place_of(write.site);
        if !finding.related.iter().any(|label| label.place == place) {
            finding.related.push(Label { place, message: "this launch writes the rest, or nothing".to_owned() });
        }
    }
    finding.help = Some(match extent_of(fact)? {
        Extent::All => "launch what computes it, or drop the copy".to_owned(),
        Extent::End => "launch enough threads for all of it (round the grid up, with a guard in the kernel), or copy what is written"
            .to_owned(),
    });
    Some(finding)
}
