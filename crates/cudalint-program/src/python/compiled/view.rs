//! A function as it is compiled: what its variables get, and how its module uses it.

use super::fault::Assumption;
use crate::api::ApiId;
use crate::api::effects::DeviceOp;
use crate::ir::{Expr, ExprId, Function, FunctionId, LocalId, Module, PythonStmt, Stmt};
use crate::name::Name;
use crate::python::paths::dotted;
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;

/// A function with what its variables get.
pub(super) struct View<'m> {
    pub(super) module: &'m Module,
    pub(super) id: FunctionId,
    pub(super) function: &'m Function,
    /// Of each local what is assigned to it; `None` for what is no plain assignment.
    pub(super) assigned: FxHashMap<LocalId, Vec<Option<ExprId>>>,
    /// How the module uses it.
    pub(super) usage: Usage,
}

/// How a module uses a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    /// Whether it is subscripted, as a launch does.
    pub(super) launched: bool,
    /// Whether its name stands anywhere else.
    pub(super) otherwise: bool,
}

/// How often names stand in a module, and how often as a launch.
#[derive(Clone, Copy, Default)]
pub(super) struct Uses {
    pub(super) all: u32,
    pub(super) launches: u32,
}

impl Usage {
    /// Counts names everywhere in a module, of attributes too. What a function has of its own is no name there but a local.
    pub(super) fn of_names(module: &Module) -> FxHashMap<&str, Uses> {
        let mut found: FxHashMap<&str, Uses> = FxHashMap::default();
        let name = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.last().map(Name::as_str),
            Some(Expr::Member { name, .. }) => Some(name.as_str()),
            _ => None,
        };
        for index in 0..module.exprs.len() as u32 {
            if let Some(name) = name(ExprId(index)) {
                found.entry(name).or_default().all += 1;
            }
            if let Some(name) = launched(module, ExprId(index)).and_then(name) {
                found.entry(name).or_default().launches += 1;
            }
        }
        found
    }

    /// How a module uses a function, given what its names stand for.
    pub(super) fn of(module: &Module, function: &Function, names: &FxHashMap<&str, Uses>) -> Self {
        let mut uses = names.get(function.name.as_str()).copied().unwrap_or_default();
        let parent = function.parent.and_then(|parent| module.functions.get(parent));
        if let Some((around, body)) = parent.and_then(|around| Some((around, around.body.as_ref()?))) {
            let is_it = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Local(local)) => {
                    around.locals.get(*local).is_some_and(|variable| variable.name == function.name)
                }
                _ => false,
            };
            crate::visit::walk(module, around, body, |item| {
                if let crate::visit::Item::Expr(id) = item {
                    uses.all += u32::from(is_it(id));
                    uses.launches += u32::from(launched(module, id).is_some_and(is_it));
                }
                true
            });
        }
        Self { launched: uses.launches > 0, otherwise: uses.all > uses.launches }
    }
}

/// What is launched, where an expression is what stands before a launch's arguments: `k[grid, block]`, `k.forall`.
fn launched(module: &Module, id: ExprId) -> Option<ExprId> {
    match module.exprs.get(id).map(|node| &node.kind)? {
        Expr::Index { base, .. } => Some(*base),
        Expr::Member { base, name, .. } if *name == "forall" => Some(*base),
        _ => None,
    }
}

impl<'m> View<'m> {
    pub(super) fn new(
        module: &'m Module,
        id: FunctionId,
        function: &'m Function,
        names: &FxHashMap<&str, Uses>,
    ) -> Self {
        let mut assigned: FxHashMap<LocalId, Vec<Option<ExprId>>> = FxHashMap::default();
        let mut targets: Vec<(ExprId, Option<ExprId>)> = Vec::new();
        if let Some(body) = &function.body {
            crate::visit::walk(module, function, body, |item| {
                match item {
                    crate::visit::Item::Expr(id) => {
                        if let Some(Expr::Assign { op, target, value }) = module.exprs.get(id).map(|node| &node.kind) {
                            targets.push((*target, Some(*value).filter(|_| op.is_none())));
                        }
                    }
                    crate::visit::Item::Stmt(id) => {
                        if let Some(Stmt::Python(python)) = module.stmts.get(id).map(|node| &node.kind) {
                            match &**python {
                                PythonStmt::For { target, .. } => targets.push((*target, None)),
                                PythonStmt::With { items, .. } => {
                                    targets.extend(items.iter().filter_map(|(_, target)| Some(((*target)?, None))));
                                }
                                _ => {}
                            }
                        }
                    }
                    crate::visit::Item::Declare(_) => {}
                }
                true
            });
        }
        for (target, value) in targets {
            let value = value.map(|value| match module.exprs.get(value).map(|node| &node.kind) {
                Some(Expr::Assign { op: None, value, .. }) => *value,
                _ => value,
            });
            if let Some(Expr::Local(local)) = module.exprs.get(target).map(|node| &node.kind) {
                assigned.entry(*local).or_default().push(value);
                continue;
            }
            crate::visit::walk_expr(module, target, |_, expr| {
                if let Expr::Local(local) = expr {
                    assigned.entry(*local).or_default().push(None);
                }
                // What is subscripted is no target.
                !matches!(expr, Expr::Index { .. } | Expr::Member { .. })
            });
        }
        Self { module, id, function, assigned, usage: Usage::of(module, function, names) }
    }

    pub(super) fn expr(&self, id: ExprId) -> Option<&'m Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    pub(super) fn span(&self, id: ExprId) -> Span {
        self.module.exprs.get(id).map_or_else(Span::default, |node| node.span)
    }

    /// The dotted path of something of a package.
    pub(super) fn path(&self, id: ExprId) -> Option<String> {
        dotted(self.module, self.id, id)
    }

    /// The function of a package that an expression names.
    pub(super) fn api(&self, id: ExprId) -> Option<ApiId> {
        ApiId::of_python(&self.path(id)?)
    }

    /// What it is in device code.
    pub(super) fn device_op(&self, id: ExprId) -> Option<DeviceOp> {
        self.api(id)?.device_op()
    }

    pub(super) fn assignments(&self, local: LocalId) -> &[Option<ExprId>] {
        self.assigned.get(&local).map_or(&[], Vec::as_slice)
    }

    /// Whether it is a kernel by its decorator, and not surely device code by its use: what only `@cuda.jit` stands before may be called
    /// by kernels as well.
    pub(super) fn may_be_launched(&self) -> bool {
        self.function.space.global && (self.usage.launched || !self.usage.otherwise)
    }

    /// What must be assumed for what only holds of launched functions.
    pub(super) fn launch_assumed(&self) -> Option<Assumption> {
        (!self.usage.launched).then_some(Assumption::Launched)
    }

    /// Whether a local is a parameter of a kernel that every launch gives: its type is that of a value, never of a constant.
    pub(super) fn is_argument(&self, local: LocalId) -> bool {
        let plain = self.function.locals.get(local).is_some_and(|variable| variable.init.is_none());
        let positional = self.function.python.as_ref().map_or(0, |python| python.positional);
        self.may_be_launched() && plain && local.0 < positional && self.assignments(local).is_empty()
    }

    /// The name of a function of the language itself, where the module gives it no other meaning.
    pub(super) fn builtin(&self, callee: ExprId) -> Option<&'m str> {
        let Expr::Name { path, .. } = self.expr(callee)? else { return None };
        let name = path.last().filter(|_| path.segments.len() == 1)?;
        let module = self.module;
        let taken = module.imports.iter().any(|import| import.local == *name || import.local.is_empty())
            || module.globals.iter().any(|global| global.name == *name)
            || module.functions.iter().any(|function| function.name == *name && function.parent.is_none())
            || module.records.iter().any(|record| record.name == *name)
            || self.function.captures.iter().any(|(captured, _)| captured == name);
        (!taken).then_some(name.as_str())
    }
}
