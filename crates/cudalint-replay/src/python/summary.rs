//! What a kernel in Python says of itself, for the types it is launched with.

use crate::facts::{DynamicShared, KernelSummary, Site};
use cudalint_kernel::Code;
use cudalint_kernel::code::{Expr, ExprId, Intrinsic, ObjectSpace, Place};
use cudalint_kernel::lower_python;
use cudalint_kernel::python::{ArgumentType, Specialization, guess_arguments};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;
use std::sync::Arc;

/// A summary with what it is for.
pub(super) type Known = (Arc<Specialization>, Arc<KernelSummary>);

/// Most summaries of one kernel.
pub(super) const MAX_KNOWN: usize = 16;

/// Longest way from an address to the object that it leads into.
const MAX_STEPS: usize = 32;

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
    let uses = DynamicUses::of(&code);
    for (number, object) in code.objects.iter().enumerate() {
        if object.space != ObjectSpace::DynamicShared {
            continue;
        }
        let own = || uses.accesses.iter().filter(move |(used, ..)| *used == number);
        summary.dynamic_shared.push(DynamicShared {
            name: Name::from(object.name.as_str()),
            element: Some(i64::from(object.element)),
            site: Site { module: object.site.module, span: object.site.span },
            used: own().map(|(_, span, _)| *span).min(),
            surely_used: false,
            written: own().any(|(.., written)| *written),
            carved: false,
            shifted: false,
        });
    }
    summary.barrier_between_dynamic = !uses.meet_between_barriers();
    summary.incomplete = function.damaged || !code.gaps.is_empty();
    summary
}

fn static_shared(code: &Code) -> Option<i64> {
    code.objects
        .iter()
        .filter(|object| object.space == ObjectSpace::Shared)
        .try_fold(0_i64, |all, object| all.checked_add(i64::try_from(object.bytes?).ok()?))
}

/// Where the dynamic shared arrays of a kernel are used, in the order of the text.
struct DynamicUses {
    /// The array, the access, and whether it writes.
    accesses: Vec<(usize, Span, bool)>,
    /// Block-wide barriers.
    barriers: Vec<Span>,
}

impl DynamicUses {
    fn of(code: &Code) -> Self {
        let mut uses = Self { accesses: Vec::new(), barriers: Vec::new() };
        for node in &code.exprs {
            let (place, written) = match &node.kind {
                Expr::Read(place) => (place, false),
                Expr::Write(place, _) | Expr::Update { place, .. } => (place, true),
                Expr::Intrinsic(Intrinsic::BlockBarrier, _) => {
                    uses.barriers.push(node.site.span);
                    continue;
                }
                _ => continue,
            };
            let Place::Memory { address, .. } = place else { continue };
            if let Some(object) = object_of(code, *address) {
                uses.accesses.push((object, node.site.span, written));
            }
        }
        uses
    }

    /// Whether two arrays are used with no barrier between: then they are not one memory that is used again on purpose.
    fn meet_between_barriers(&self) -> bool {
        let interval = |span: &Span| self.barriers.iter().filter(|barrier| barrier.start < span.start).count();
        self.accesses.iter().enumerate().any(|(at, (array, span, _))| {
            let later = self.accesses.get(at + 1..).unwrap_or(&[]);
            later.iter().any(|(other, place, _)| other != array && interval(place) == interval(span))
        })
    }
}

/// The static object that an address leads into.
fn object_of(code: &Code, address: ExprId) -> Option<usize> {
    let mut address = address;
    for _ in 0..MAX_STEPS {
        match &code.exprs.get(address)?.kind {
            Expr::Offset { base, .. } | Expr::Convert(base) => address = *base,
            Expr::ObjectAddress(object) => {
                return (code.objects.get(*object)?.space == ObjectSpace::DynamicShared).then(|| object.index());
            }
            _ => return None,
        }
    }
    None
}
