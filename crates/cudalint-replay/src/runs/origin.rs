//! Where host code takes a number from that nobody knows, in words: "`n` comes from `readConfig`, which is out of sight".

use crate::facts::{Event, LaunchFact};
use cudalint_program::Project;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId};
use cudalint_program::visit::{self, Item};
use cudalint_syntax::Span;

/// How far definitions are followed.
const MAX_STEPS: u32 = 200;
/// Longest text of the source that is shown.
const SHOWN: usize = 40;

/// A piece of the source on one line, shortened.
pub(super) fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN).chain("…".chars()).collect() }
}

/// Why a launch has no numbers: its block, its grid, then its arguments.
pub(super) fn of_launch(project: &Project, event: &Event, fact: &LaunchFact) -> Option<String> {
    let open = |extent: &crate::facts::Extent3| extent.axes.iter().any(|axis| axis.quantity.known().is_none());
    let extents = [&fact.block, &fact.grid].into_iter().filter(|extent| open(extent)).map(|extent| extent.span);
    let arguments = fact.args.iter().filter(|it| it.amount.quantity.known().is_none() && it.pointer.is_none());
    extents.chain(arguments.map(|argument| argument.span)).find_map(|span| of_span(project, event, span))
}

/// Why a parameter of the kernel has no value.
pub(super) fn of_argument(project: &Project, event: &Event, fact: &LaunchFact, parameter: usize) -> Option<String> {
    of_span(project, event, fact.args.get(parameter)?.span)
}

fn of_span(project: &Project, event: &Event, span: Span) -> Option<String> {
    let (module, id) = event.function;
    let function = project.function_at(module, id)?;
    let reader = Reader { project, id: module, module: project.module(module), function };
    let mut root = None;
    visit::walk(reader.module, function, function.body.as_ref()?, |item| {
        if let Item::Expr(id) = item
            && reader.module.exprs.get(id).is_some_and(|node| node.span == span)
        {
            root.get_or_insert(id);
        }
        root.is_none()
    });
    reader.origin(root?)
}

struct Reader<'p> {
    project: &'p Project,
    id: ModuleId,
    module: &'p Module,
    function: &'p Function,
}

impl Reader<'_> {
    fn origin(&self, root: ExprId) -> Option<String> {
        let mut open = vec![(root, None::<LocalId>)];
        let mut seen: Vec<LocalId> = Vec::new();
        let mut steps = 0;
        while let Some((id, of)) = open.pop() {
            steps += 1;
            if steps > MAX_STEPS {
                return None;
            }
            match &self.module.exprs.get(id)?.kind {
                Expr::Local(local) if !seen.contains(local) => {
                    seen.push(*local);
                    if let Some(words) = self.written_by(*local) {
                        return Some(words);
                    }
                    let values = self.values(*local);
                    if values.is_empty() && local.index() < self.function.param_count as usize {
                        return Some(format!(
                            "`{}` is a parameter of `{}`, and no call in sight gives a number for it that is known",
                            self.name(*local),
                            self.function.name
                        ));
                    }
                    open.extend(values.into_iter().map(|value| (value, Some(*local))));
                }
                Expr::Call { callee, args } => {
                    if let Some(name) = self.out_of_sight(*callee) {
                        let what = of.map_or_else(|| "the value".to_owned(), |local| format!("`{}`", self.name(local)));
                        return Some(format!("{what} comes from `{name}`, which is out of sight"));
                    }
                    open.extend(args.iter().map(|arg| (*arg, of)));
                }
                kind => visit::operands(kind, |part| open.push((part, of))),
            }
        }
        None
    }

    fn name(&self, local: LocalId) -> String {
        self.function.locals.get(local).map(|variable| variable.name.to_string()).unwrap_or_default()
    }

    /// The values that a variable is given in its function.
    fn values(&self, local: LocalId) -> Vec<ExprId> {
        let mut all: Vec<ExprId> =
            self.function.locals.get(local).and_then(|variable| variable.init).into_iter().collect();
        self.each(|kind| {
            if let Expr::Assign { target, value, .. } = kind
                && self.is_local(*target, local)
            {
                all.push(*value);
            }
        });
        all
    }

    /// A function out of sight that is given the variable's address.
    fn written_by(&self, local: LocalId) -> Option<String> {
        let mut found = None;
        self.each(|kind| {
            let Expr::Call { callee, args } = kind else { return };
            let given = args.iter().any(|arg| {
                matches!(self.module.exprs.get(*arg).map(|node| &node.kind),
                    Some(Expr::AddressOf(inner)) if self.is_local(*inner, local))
            });
            if given && let Some(name) = self.out_of_sight(*callee) {
                found.get_or_insert_with(|| format!("`{}` is written by `{name}`", self.name(local)));
            }
        });
        found
    }

    fn is_local(&self, id: ExprId, local: LocalId) -> bool {
        matches!(self.module.exprs.get(id).map(|node| &node.kind), Some(Expr::Local(found)) if *found == local)
    }

    fn each(&self, mut look: impl FnMut(&Expr)) {
        let Some(body) = &self.function.body else { return };
        visit::walk(self.module, self.function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(node) = self.module.exprs.get(id)
            {
                look(&node.kind);
            }
            true
        });
    }

    /// The name of a function whose body is nowhere in the project.
    fn out_of_sight(&self, callee: ExprId) -> Option<String> {
        let node = self.module.exprs.get(callee)?;
        let name = match &node.kind {
            Expr::Name { path, .. } => path.last()?.to_string(),
            Expr::Member { name, .. } => name.to_string(),
            _ => return None,
        };
        let bodies = |(module, id): &(ModuleId, FunctionId)| {
            self.project.function_at(*module, *id).is_some_and(|function| function.body.is_some())
        };
        let sight = self.project.functions_named(&name).iter().any(bodies);
        (!sight).then(|| short(self.project.text(self.id, node.span)))
    }
}
