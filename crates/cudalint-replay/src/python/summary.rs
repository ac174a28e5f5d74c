//! What a kernel in Python says of itself, for the types it is launched with.

use super::Walker;
use crate::facts::{DynamicShared, KernelSummary, Site};
use cudalint_kernel::Code;
use cudalint_kernel::code::ObjectSpace;
use cudalint_kernel::lower_python;
use cudalint_kernel::python::{ArgumentType, Specialization, guess_arguments};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::{Name, Project};
use std::sync::Arc;

/// A summary with what it is for.
pub(super) type Known = (Arc<Specialization>, Arc<KernelSummary>);

/// Most summaries of one kernel.
const MAX_KNOWN: usize = 16;

impl Walker<'_> {
    pub(super) fn summary(&mut self, target: (ModuleId, FunctionId), spec: &Arc<Specialization>) -> Arc<KernelSummary> {
        let known = self.summaries.entry(target).or_default();
        if let Some((_, summary)) = known.iter().find(|(own, _)| own == spec) {
            return Arc::clone(summary);
        }
        let summary = Arc::new(summarize(self.project, target, spec));
        if known.len() < MAX_KNOWN {
            known.push((Arc::clone(spec), Arc::clone(&summary)));
        }
        summary
    }
}

/// The argument types that a kernel is made for.
pub(super) fn guessed(project: &Project, (module, id): (ModuleId, FunctionId)) -> Vec<ArgumentType> {
    guess_arguments(project, module, id).unwrap_or_default()
}

/// The summary of a kernel for the types it is launched with.
pub(crate) fn summarize(
    project: &Project,
    (module, id): (ModuleId, FunctionId),
    spec: &Specialization,
) -> KernelSummary {
    let mut summary = KernelSummary { incomplete: true, ..KernelSummary::default() };
    let Some(function) = project.function_at(module, id) else { return summary };
    summary.covers = super::coverage::claims(project, module, function, &spec.arguments);
    let Some(code) = lower_python(project, module, id, spec) else { return summary };
    summary.static_shared = static_shared(&code);
    for object in code.objects.iter().filter(|object| object.space == ObjectSpace::DynamicShared) {
        let site = Site { module: object.site.module, span: object.site.span };
        summary.dynamic_shared.push(DynamicShared {
            name: Name::from(object.name.as_str()),
            element: Some(i64::from(object.element)),
            site,
            used: Some(site.span),
            surely_used: false,
            written: false,
            carved: false,
        });
    }
    summary.incomplete = function.damaged || !code.gaps.is_empty();
    summary
}

fn static_shared(code: &Code) -> Option<i64> {
    code.objects
        .iter()
        .filter(|object| object.space == ObjectSpace::Shared)
        .try_fold(0_i64, |all, object| all.checked_add(i64::try_from(object.bytes?).ok()?))
}
