//! The numbers that a function is started with: what the finding states, what leads to its place, what is usual.

use super::values::{Chosen, stated, usual};
use super::{Start, entries};
use crate::subject::{Signature, Stretch, Subject, Values, values_that_reach};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{Expr, FunctionId, LocalId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{self, Item};
use std::collections::BTreeMap;

/// Numbers for the integers and truth values among a function's parameters, and whether a truth value among them is
/// neither stated nor needed, so that the other one may be worth a try.
pub(super) fn choose(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
    signature: &Signature,
    truth: bool,
) -> (BTreeMap<LocalId, Chosen>, bool) {
    let sizes = sizes(signature);
    let mut chosen: BTreeMap<LocalId, Chosen> = BTreeMap::new();
    let mut fixed = Vec::new();
    let mut free_truth = Vec::new();
    for parameter in &signature.parameters {
        if let Some(number) = stated(finding, &parameter.name) {
            fixed.push(parameter.local);
            chosen.insert(parameter.local, number);
            continue;
        }
        match parameter.resolved.value() {
            Ty::Int { bytes, .. } => {
                chosen.insert(parameter.local, usual(&parameter.name, *bytes, sizes));
            }
            Ty::Bool => {
                free_truth.push(parameter.local);
                chosen.insert(parameter.local, Chosen { value: i64::from(truth), why: "made up".to_owned() });
            }
            Ty::Enum { .. } => {
                chosen.insert(parameter.local, Chosen { value: 0, why: "the first".to_owned() });
            }
            _ => {}
        }
    }
    if let (Some(module), Some(place)) = (stretch.module, start.place) {
        let usual: Values = chosen.iter().map(|(local, chosen)| (*local, chosen.value)).collect();
        let needed = values_that_reach(&subject.project, module, start.function, place, &usual, &fixed);
        let line = subject.line_of(place.start);
        for (local, value) in needed {
            free_truth.retain(|free| *free != local);
            chosen.insert(local, Chosen { value, why: format!("leads to line {line}") });
        }
    }
    (chosen, !free_truth.is_empty())
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
    let (Some(witness), Some(module)) = (finding.and_then(|it| it.witness.as_ref()), subject.module(stretch)) else {
        return found;
    };
    for access in witness.accesses.iter().filter(|access| access.extent > 0) {
        let Some((kernel, local)) = accessed(subject, stretch, access.line) else { continue };
        if kernel == start.function {
            found.entry(local).or_insert(access.extent);
            continue;
        }
        let Some(line) = witness.launch.as_ref().map(|launch| launch.line) else { continue };
        for (function, call) in entries::launches_at(subject, module, line) {
            let Some(Expr::Launch(launch)) = module.exprs.get(call.index()).map(|node| &node.kind) else { continue };
            let argument = launch.args.get(local.index()).and_then(|id| module.exprs.get(id.index()));
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
                && let Some(node) = module.exprs.get(id.index())
                && let Expr::Index { base, .. } = &node.kind
                && subject.line_of(node.span.start) == line
                && let Some(Expr::Local(local)) = module.exprs.get(base.index()).map(|node| &node.kind)
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
