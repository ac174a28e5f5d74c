//! The numbers that a function is started with: what the finding states, what leads to its place, what is usual.

use super::entries;
use super::start::Start;
use super::values::{Chosen, stated, usual};
use crate::subject::{Signature, Stretch, Subject, Values, values_that_reach};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{Expr, FunctionId, LocalId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{self, Item};
use std::collections::BTreeMap;

/// Which of the values that may be worth a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    /// Truth values true, sizes of about a thousand.
    Usual,
    /// Truth values false.
    False,
    /// One large size: launches whose shape depends on it leave the device's limits.
    Large,
}

/// What choosing left open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    /// A truth value was neither stated nor needed.
    pub truth: bool,
    /// The only size was neither stated nor needed.
    pub size: bool,
}

/// A large size that is no multiple of a usual block size and fits the harness's buffers.
const LARGE: i64 = 1_000_003;

/// Numbers for the integers and truth values among a function's parameters, and what other
/// values may be worth a try.
pub(super) fn choose(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
    signature: &Signature,
    variant: Variant,
) -> (BTreeMap<LocalId, Chosen>, Open) {
    let sizes = sizes(signature);
    let mut chosen: BTreeMap<LocalId, Chosen> = BTreeMap::new();
    let mut fixed = Vec::new();
    let mut free_truth = Vec::new();
    let mut free_sizes = Vec::new();
    for parameter in &signature.parameters {
        if let Some(number) = stated(finding, &parameter.name) {
            fixed.push(parameter.local);
            chosen.insert(parameter.local, number);
            continue;
        }
        match parameter.resolved.value() {
            Ty::Int { bytes, .. } => {
                let mut number = usual(&parameter.name, *bytes, sizes);
                if number.is_size && sizes == 1 && *bytes >= 4 {
                    free_sizes.push(parameter.local);
                    if variant == Variant::Large {
                        number.value = LARGE;
                    }
                }
                chosen.insert(parameter.local, number);
            }
            Ty::Bool => {
                free_truth.push(parameter.local);
                chosen.insert(parameter.local, Chosen::new(i64::from(variant != Variant::False), "made up"));
            }
            Ty::Enum { .. } => {
                chosen.insert(parameter.local, Chosen::new(0, "the first"));
            }
            _ => {}
        }
    }
    if let (Some(module), Some(place)) = (stretch.module, start.place) {
        let usual: Values = chosen.iter().map(|(local, chosen)| (*local, chosen.value)).collect();
        let reach = |usual: &Values| values_that_reach(&subject.project, module, start.function, place, usual, &fixed);
        let needed = reach(&usual);
        // A truth value that leads there already must stay as it is.
        free_truth.retain(|local| {
            let flipped = usual.iter().map(|(other, value)| (*other, if other == local { 1 - *value } else { *value }));
            !reach(&flipped.collect()).contains_key(local)
        });
        let line = subject.line_of(place.start);
        for (local, value) in needed {
            free_truth.retain(|free| *free != local);
            free_sizes.retain(|free| *free != local);
            chosen.insert(local, Chosen::new(value, &format!("leads to line {line}")));
        }
    }
    (chosen, Open { truth: !free_truth.is_empty(), size: !free_sizes.is_empty() })
}

/// How many parameters are sizes.
pub(super) fn sizes(signature: &Signature) -> usize {
    signature
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.resolved.value(), Ty::Int { bytes: 4.., .. }))
        .count()
}

/// Elements of the memory behind a function's parameters, where the witness's accesses say: those of the kernel's own
/// parameters, or of a host function's that it hands to the launch unchanged.
pub(super) fn extents(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
) -> BTreeMap<LocalId, i64> {
    let mut found = BTreeMap::new();
    let (Some(claim), Some(module)) = (finding.map(|it| &it.claim), subject.module(stretch)) else {
        return found;
    };
    for access in claim.accesses().iter().filter(|access| access.extent > 0) {
        let Some((kernel, local)) = accessed(subject, stretch, access.site.line()) else { continue };
        if kernel == start.function {
            found.entry(local).or_insert(access.extent);
            continue;
        }
        let Some(line) = claim.launch.as_ref().map(|launch| launch.site.line()) else { continue };
        for (function, call) in entries::launches_at(subject, module, line) {
            let Some(Expr::Launch(launch)) = module.exprs.get(call).map(|node| &node.kind) else { continue };
            let argument = launch.args.get(local.index()).and_then(|id| module.exprs.get(*id));
            if let (true, Some(Expr::Local(passed))) = (function == start.function, argument.map(|node| &node.kind)) {
                found.entry(*passed).or_insert(access.extent);
            }
        }
    }
    found
}

/// The parameter that is indexed on a line of a kernel.
fn accessed(subject: &Subject, stretch: &Stretch, line: u32) -> Option<(FunctionId, LocalId)> {
    let module = subject.module(stretch)?;
    for (index, function) in module.functions.iter().enumerate().filter(|(_, function)| function.space.global) {
        let Some(body) = &function.body else { continue };
        let mut found = None;
        visit::walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(node) = module.exprs.get(id)
                && let Expr::Index { base, .. } = &node.kind
                && subject.line_of(node.span.start) == line
                && let Some(Expr::Local(local)) = module.exprs.get(*base).map(|node| &node.kind)
                && local.0 < function.param_count
            {
                found = found.or(Some(*local));
            }
            true
        });
        if let Some(local) = found {
            return Some((FunctionId(index as u32), local));
        }
    }
    None
}
