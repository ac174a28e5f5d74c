//! Range checks that hold for every number: `b >= 0 or b < n` where `and` is meant. An execution cannot show what they let
//! through when the index is computed from data that nobody knows; that the condition keeps nothing out follows from itself.

use super::words::{self, place};
use cudalint_engine::{ModuleContext, Rule};
use cudalint_findings::{Confidence, Finding, Label, LaunchWitness, Witness};
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, Function, LocalId, Module, Stmt};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::{EventKind, Site};

/// How deep definitions are followed.
const MAX_DEPTH: u32 = 4;

/// An access that such a condition stands before.
struct Unguarded {
    /// The array's parameter.
    array: LocalId,
    /// The index.
    index: LocalId,
    /// The access.
    access: ExprId,
    /// The condition.
    condition: ExprId,
}

/// What a variable of a kernel is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    /// Nothing in the kernel.
    Never,
    /// The value of this expression.
    Once(ExprId),
    /// Several things.
    Several,
}

/// Accesses of a module's kernels behind conditions that hold for every index, each once.
pub fn findings(rule: &'static Rule, context: &ModuleContext<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for run in context.facts.runs.iter().filter(|run| run.launch.is_some() && run.assumptions.is_none()) {
        let module = context.project.module(run.kernel.0);
        let Some(function) = module.functions.get(run.kernel.1) else { continue };
        let Some(body) = &function.body else { continue };
        let reader = Reader { module, function, body, run };
        for unguarded in reader.unguarded() {
            let finding = reader.finding(rule, context, &unguarded);
            found.extend(finding.filter(|finding| found.iter().all(|known| known.place != finding.place)));
        }
    }
    found
}

struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Block,
    run: &'a KernelRun,
}

impl<'a> Reader<'a> {
    fn kind(&self, id: ExprId) -> Option<&'a Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn site(&self, id: ExprId) -> Option<Site> {
        let span = self.module.exprs.get(id)?.span;
        Some(Site { module: self.run.kernel.0, span })
    }

    fn local(&self, id: ExprId) -> Option<LocalId> {
        match self.kind(id)? {
            Expr::Local(local) => Some(*local),
            Expr::Cast { value, .. } => self.local(*value),
            _ => None,
        }
    }

    fn unguarded(&self) -> Vec<Unguarded> {
        let mut found = Vec::new();
        walk(self.module, self.function, self.body, |item| {
            if let Item::Stmt(id) = item
                && let Some(Stmt::If { condition, then, .. }) = self.module.stmts.get(id).map(|stmt| &stmt.kind)
                && let Some(index) = self.vacuous(*condition)
                && self.reads_memory(index)
            {
                self.accesses(then, index, *condition, &mut found);
            }
            true
        });
        found
    }

    /// The variable that a condition says nothing of, though it compares it at both ends of a range.
    fn vacuous(&self, condition: ExprId) -> Option<LocalId> {
        let Expr::OrElse(a, b) = self.kind(condition)? else { return None };
        let (first, second) = (self.comparison(*a)?, self.comparison(*b)?);
        let (low, high) = match (first.1, second.1) {
            (BinaryOp::Ge | BinaryOp::Gt, BinaryOp::Lt | BinaryOp::Le) => (first, second),
            (BinaryOp::Lt | BinaryOp::Le, BinaryOp::Ge | BinaryOp::Gt) => (second, first),
            _ => return None,
        };
        let Expr::Int { value: least, .. } = self.kind(low.2)? else { return None };
        let least = least.saturating_add(i64::from(low.1 == BinaryOp::Gt));
        (low.0 == high.0 && least <= 0 && self.is_count(high.2, 0)).then_some(low.0)
    }

    /// A comparison of a variable with something, the variable on the left.
    fn comparison(&self, id: ExprId) -> Option<(LocalId, BinaryOp, ExprId)> {
        let Expr::Binary(op, a, b) = self.kind(id)? else { return None };
        if let (Some(local), true) = (self.local(*a), op.is_comparison()) {
            return Some((local, *op, *b));
        }
        let mirrored = match op {
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            _ => return None,
        };
        Some((self.local(*b)?, mirrored, *a))
    }

    /// Whether something is surely not negative: a number, the extent of an array, a parameter that this launch gives one.
    fn is_count(&self, id: ExprId, depth: u32) -> bool {
        match self.kind(id) {
            Some(Expr::Int { value, .. }) => *value >= 0,
            Some(Expr::Member { base, name, .. }) if name == "size" => self.local(*base).is_some(),
            Some(Expr::Index { base, .. }) => {
                matches!(self.kind(*base), Some(Expr::Member { name, .. }) if name == "shape")
            }
            Some(Expr::Call { callee, .. }) => {
                matches!(self.kind(*callee), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| name == "len"))
            }
            Some(Expr::Local(local)) if local.0 < self.function.param_count => {
                let name = self.function.locals.get(*local).map(|local| local.name.as_str());
                self.definition(*local) == Definition::Never
                    && self.run.bindings.iter().any(|(known, value)| Some(known.as_str()) == name && *value >= 0)
            }
            Some(Expr::Local(local)) if depth < MAX_DEPTH => {
                matches!(self.definition(*local), Definition::Once(value) if self.is_count(value, depth + 1))
            }
            _ => false,
        }
    }

    fn definition(&self, local: LocalId) -> Definition {
        let init = self.function.locals.get(local).and_then(|local| local.init);
        let mut found = init.map_or(Definition::Never, Definition::Once);
        walk(self.module, self.function, self.body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target)) =
                    self.kind(id)
                && self.local(*target) == Some(local)
            {
                found = match self.kind(id) {
                    Some(Expr::Assign { op: None, value, .. }) if found == Definition::Never => {
                        Definition::Once(*value)
                    }
                    _ => Definition::Several,
                };
            }
            true
        });
        found
    }

    /// Whether a variable is computed from what memory holds: else an execution knows it.
    fn reads_memory(&self, local: LocalId) -> bool {
        let Definition::Once(value) = self.definition(local) else { return false };
        let mut found = false;
        walk_expr(self.module, value, |_, kind| {
            found |= match kind {
                Expr::Index { base, .. } => self.local(*base).is_some_and(|local| local.0 < self.function.param_count),
                Expr::Deref(_) => true,
                _ => false,
            };
            !found
        });
        found
    }

    /// Accesses `a[index]` of parameters in a block.
    fn accesses(&self, block: &Block, index: LocalId, condition: ExprId, found: &mut Vec<Unguarded>) {
        let parameter = |id: ExprId| self.local(id).filter(|local| local.0 < self.function.param_count);
        walk(self.module, self.function, block, |item| {
            let Item::Expr(access) = item else { return true };
            let array = match self.kind(access) {
                Some(Expr::Index { base, indices }) => match indices.as_slice() {
                    [only] if self.local(*only) == Some(index) => parameter(*base),
                    _ => None,
                },
                // `cuda.atomic.add(a, index, …)`.
                Some(Expr::Call { callee, args }) => match (self.kind(*callee), args.as_slice()) {
                    (Some(Expr::Member { base, .. }), [array, at, ..])
                        if matches!(self.kind(*base), Some(Expr::Member { name, .. }) if name == "atomic")
                            && self.local(*at) == Some(index) =>
                    {
                        parameter(*array)
                    }
                    _ => None,
                },
                _ => None,
            };
            found.extend(array.map(|array| Unguarded { array, index, access, condition }));
            true
        });
    }

    /// Elements of an array of one axis.
    fn elements(&self, array: LocalId) -> Option<(i64, &'a cudalint_replay::facts::Buffer)> {
        let name = &self.function.locals.get(array)?.name;
        let buffer = self.run.buffers.iter().find(|buffer| buffer.parameter == name.as_str())?;
        let allocation = buffer.allocation.as_ref()?;
        let count = match &allocation.array {
            Some(shape) => match shape.extents.as_slice() {
                [only] if only.assumptions.is_none() => only.quantity.known()?,
                _ => return None,
            },
            None => {
                let element = allocation.element.filter(|bytes| *bytes > 0)?;
                i64::try_from(buffer.bytes?).ok()? / element
            }
        };
        (count > 0).then_some((count, allocation))
    }

    fn finding(&self, rule: &'static Rule, context: &ModuleContext<'_>, found: &Unguarded) -> Option<Finding> {
        let (count, allocation) = self.elements(found.array)?;
        let (access, condition) = (self.site(found.access)?, self.site(found.condition)?);
        // An execution that shows it says more.
        let shown = self
            .run
            .report
            .events
            .iter()
            .any(|event| matches!(&event.kind, EventKind::OutOfBounds { access: seen, .. } if seen.site == access));
        let name = |local: LocalId| self.function.locals.get(local).map(|local| local.name.to_string());
        let (array, index) = (name(found.array)?, name(found.index)?);
        if shown {
            return None;
        }
        let message = format!(
            "`{index}` may lie outside of `{array}`, which has {count} elements: `{}` holds for every number",
            words::text(context, condition).trim()
        );
        let mut finding = rule.finding(Confidence::Likely, place(context, access), message);
        finding.label = format!("element {count} of {count}, where `{index}` is {count}");
        finding.function = words::kernel(context, self.run);
        finding.related.push(words::label(context, condition, "keeps nothing out"));
        finding.related.push(crate::words::allocation_label(context, allocation));
        let launch = self.run.launch?;
        finding.related.push(Label { place: context.place_of(launch), message: "launched here".to_owned() });
        finding.witness = Some(Witness {
            launch: self.run.dynamic_shared.filter(|_| self.run.grid_known).map(|shared_bytes| LaunchWitness {
                place: context.place_of(launch),
                grid: self.run.grid.map(u64::from),
                block: self.run.block.map(u64::from),
                shared_bytes,
            }),
            bindings: vec![(index.clone(), count)],
            accesses: Vec::new(),
            assumptions: vec![format!("`{index}` is {count}")],
            path: context.steps(&self.run.path),
        });
        finding.help =
            Some(format!("both have to hold: write `{}`", if words::is_python(self.run) { "and" } else { "&&" }));
        Some(finding)
    }
}
