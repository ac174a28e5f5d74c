//! Findings about accesses beyond an object: what the rules on bounds share.

use super::Shown;
use super::parts::{self, add_access, add_guards, add_object, beyond, beyond_label, label};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::claim::AccessFault;
use cudalint_findings::{Confidence, Finding, Shows};
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function};
use cudalint_replay::facts::Harm;
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{Access, Event, EventKind, Object, ObjectKind, Site};

/// Other accesses with the same cause that are named, at most.
const MAX_ALIKE: usize = 8;
/// Factors of a product, at most.
const MAX_FACTORS: u32 = 8;

/// An access beyond an object.
pub struct Overrun<'a> {
    /// The execution.
    pub run: &'a KernelRun,
    /// The object.
    pub object: &'a Object,
    /// The access.
    pub access: &'a Access,
    /// Where an integer on the way to the address wrapped around.
    pub wrapped: Option<Site>,
    /// The conditions before it.
    pub guards: &'a [Site],
}

impl<'a> Overrun<'a> {
    /// The access that a defect is reported by.
    pub fn of(shown: &Shown<'a>) -> Option<Self> {
        Self::of_event(shown.run, shown.event)
    }

    fn of_event(run: &'a KernelRun, event: &'a Event) -> Option<Self> {
        match &event.kind {
            EventKind::OutOfBounds { object, access, wrapped, .. } => {
                Some(Self { run, object, access, wrapped: *wrapped, guards: &event.guards })
            }
            _ => None,
        }
    }

    /// "thread 232 of block 3 reads element 1000 of `a`, which has 1000".
    pub fn sentence(&self) -> String {
        beyond(self.run, self.access, self.object)
    }
}

/// A finding about an access beyond its object, at the access, with all that goes with it.
pub fn finding(
    rule: &'static Rule,
    context: &ModuleContext<'_>,
    shown: &Shown<'_>,
    message: String,
) -> Option<Finding> {
    let Overrun { run, object, access, wrapped, guards } = Overrun::of(shown)?;
    let shows = Shows::Access { fault: AccessFault::OutOfBounds, object: parts::object(object), accesses: Vec::new() };
    let mut finding = parts::finding(rule, context, shown, access.site, shows, message)?;
    finding.label = beyond_label(access, object);
    if shown.event.count > 1 {
        finding.label = format!("{}, and {} more such accesses", finding.label, shown.event.count - 1);
    }
    add_object(context, &mut finding, run, object, access);
    add_guards(context, &mut finding, guards, "this does not keep the thread out");
    if let Some(wrapped) = wrapped {
        finding.related.push(label(context, wrapped, "wraps around the range of its type"));
    }
    add_access(context, &mut finding, access, object);
    for other in shown.alike.iter().filter_map(|event| Overrun::of_event(run, event)).take(MAX_ALIKE) {
        finding.related.push(label(context, other.access.site, format!("also: {}", other.sentence())));
    }
    if let Some(launcher) = parts::perhaps_not_reached(context, run, object) {
        parts::assume(&mut finding, &format!("`{launcher}` reaches this launch with these arguments"))?;
    }
    // Whether a size that was chosen may exceed an array of fixed size is often tested far away.
    let fixed = matches!(object.kind, ObjectKind::Constant | ObjectKind::Device | ObjectKind::Local)
        || object.kind == ObjectKind::Shared && is_for_the_most(context, object);
    if fixed && finding.confidence < Confidence::Definite || shown.harm == Harm::Nowhere || disagrees(context, run) {
        parts::only_possible(&mut finding);
    }
    Some(finding)
}

/// Whether a number was chosen that the kernel computes from others under the same name, and gets another one: with `n_cells` chosen as 65
/// and `int n_cells = rows * cols` in the kernel whoever calls it gives numbers that fit together.
fn disagrees(context: &ModuleContext<'_>, run: &KernelRun) -> bool {
    let (module, kernel) = run.kernel;
    let Some(kernel) = context.project.function_at(module, kernel) else { return false };
    let exprs = &context.project.module(module).exprs;
    let value = |name: &str| run.bindings.iter().find(|(bound, _)| bound == name).map(|(_, value)| *value);
    run.chosen_inputs.iter().any(|input| {
        let name = input.rsplit(['.', '>']).next().unwrap_or(input);
        let own = kernel.locals.iter().skip(kernel.param_count as usize).filter(|local| local.name == *name);
        let computed = |init| product(&|id| exprs.get(id).map(|node| &node.kind), kernel, &value, init, MAX_FACTORS);
        let is_product =
            |init: &ExprId| matches!(exprs.get(*init).map(|node| &node.kind), Some(Expr::Binary(BinaryOp::Mul, ..)));
        let mut computed = own.filter_map(|local| local.init).filter(is_product).filter_map(computed);
        value(input).is_some_and(|chosen| computed.any(|it| it != chosen))
    })
}

/// The product of parameters and constants that an expression is.
fn product<'e>(
    expr: &dyn Fn(ExprId) -> Option<&'e Expr>,
    kernel: &Function,
    value: &dyn Fn(&str) -> Option<i64>,
    id: ExprId,
    depth: u32,
) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    let inside = |id: ExprId| product(expr, kernel, value, id, depth);
    match expr(id)? {
        Expr::Int { value, .. } => Some(*value),
        Expr::Cast { value, .. } => inside(*value),
        Expr::Local(local) if local.0 < kernel.param_count => value(&kernel.locals.get(*local)?.name),
        Expr::Binary(BinaryOp::Mul, a, b) => inside(*a)?.checked_mul(inside(*b)?),
        _ => None,
    }
}

/// Whether an array is declared with a number that is called the largest one that there may be: `__shared__ float row[MAX_WIDTH]`,
/// `cuda.shared.array(MAX_WIDTH, float32)`.
fn is_for_the_most(context: &ModuleContext<'_>, object: &Object) -> bool {
    let Some(declared) = object.declared else { return false };
    let source = context.project.source(declared.module);
    let behind = source.get(declared.span.range().start..).unwrap_or("");
    let declaration = behind.split([';', '{', '\n']).next().unwrap_or("");
    let Some((_, extents)) = declaration.split_once(['[', '(']) else { return false };
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let names = extents.split(|letter: char| !is_name(letter));
    names.flat_map(|name| name.split('_')).any(|word| {
        let word = word.to_ascii_lowercase();
        ["max", "maximum", "largest", "limit"].contains(&&*word)
            || word.strip_prefix('k').is_some_and(|rest| rest.starts_with("max"))
    })
}
