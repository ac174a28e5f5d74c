//! The record of one execution of a kernel: its name, the launch, what the numbers rest on.

use super::choose::Assignment;
use super::collect::Seen;
use super::crossings::given_to;
use super::numbers::{Numbers, chosen, fixed};
use super::{Basis, KernelRun, report};
use crate::facts::Site;
use crate::quantity::{assume, union};
use cudalint_kernel::Code;
use cudalint_program::ir::{Function, FunctionId, ModuleId};
use cudalint_program::types::{Argument, TypeEnv};
use std::sync::Arc;

/// Where the functions of some code are named.
pub(super) fn functions_of(code: &Code) -> Arc<[Site]> {
    code.functions.iter().map(|function| function.site).collect()
}

pub(super) fn make_run(
    kernel: (ModuleId, FunctionId),
    function: &Function,
    functions: Arc<[Site]>,
    seen: &Seen<'_>,
    numbers: Numbers,
    assignment: Option<&Assignment>,
    report: report::ExecutionReport,
) -> KernelRun {
    let Numbers { launch, buffers, mut bindings, used, .. } = numbers;
    let mut assumptions = used;
    if let Some(assignment) = assignment {
        if let Some(text) = assignment.text() {
            // What it was admitted with is part of it.
            let others = assumptions.iter().flat_map(|list| list.iter());
            let others: Vec<String> =
                others.filter(|other| !assignment.choice.admitted.contains(other)).cloned().collect();
            let others = (!others.is_empty()).then(|| Arc::new(others));
            assumptions = union(&assume(text), &others);
        }
        for (name, value) in &assignment.values {
            if !bindings.iter().any(|(known, _)| known == name) {
                bindings.push((name.clone(), *value));
            }
        }
    }
    let (chosen, free) = assignment.map(|_| chosen(seen.fact, function)).unwrap_or_default();
    KernelRun {
        kernel,
        name: name_of(function, &seen.fact.env),
        launch: Some(seen.event.site),
        launched: vec![given_to(seen)],
        basis: match assignment {
            Some(_) => Basis::Assumption,
            None if launch.grid.contains(&0) => Basis::FirstBlock,
            None => Basis::Facts,
        },
        functions,
        spelling: seen.fact.spelling,
        grid: launch.grid.map(|blocks| blocks.max(1)),
        grid_known: !launch.grid.contains(&0),
        block: launch.block,
        block_known: seen
            .fact
            .block
            .axes
            .iter()
            .all(|extent| extent.quantity.known().is_some() && extent.assumptions.is_none()),
        dynamic_shared: launch.dynamic_shared,
        bindings,
        free,
        chosen,
        decided: fixed(seen.event).len(),
        chosen_inputs: assignment.iter().flat_map(|all| &all.values).map(|(name, _)| name.clone()).collect(),
        perhaps_not_reached: seen.event.perhaps_not_reached,
        buffers,
        assumptions,
        path: seen.event.path.clone(),
        ways: seen.event.ways.clone(),
        input: launch,
        report,
        unguarded: Vec::new(),
        figures: None,
    }
}

/// The kernel's name with its template arguments, as far as they can be written.
pub(super) fn name_of(function: &Function, env: &TypeEnv) -> String {
    let arguments: Vec<String> = function
        .template_params
        .iter()
        .map_while(|param| match env.get(&param.name)? {
            Argument::Type(ty) => Some(ty.name()).filter(|name| !name.is_empty()),
            Argument::Value(value) => Some(value.to_string()),
            Argument::Function(..) | Argument::Unknown => None,
        })
        .collect();
    if arguments.is_empty() {
        function.name.to_string()
    } else {
        format!("{}<{}>", function.name, arguments.join(", "))
    }
}
