//! Conditions that say that a call has failed: by the status itself, or by what a function of the program makes of it.

use super::build::{Builder, is_status_name};
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{BinaryOp, Block, Expr, ExprId, Function, LocalId, Module, ModuleId, Stmt, Type, UnaryOp};

/// Statements of a check that are gone through.
const MAX_STEPS: u32 = 64;

impl Builder<'_> {
    /// Whether a condition (where not `holds`: its opposite) is that a call has returned an error.
    pub(super) fn is_failure(&self, condition: ExprId, holds: bool, parts: u32) -> bool {
        let Some(parts) = parts.checked_sub(1) else { return false };
        let module = self.module;
        let Some(node) = module.exprs.get(condition) else { return false };
        let is_status = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Local(local)) => is_of_status_type(module, self.function, *local),
            _ => super::survey::call_name(module, id).is_some_and(|name| ApiId::with_status(name).is_some()),
        };
        match &node.kind {
            Expr::Unary(UnaryOp::Not, value) => self.is_failure(*value, !holds, parts),
            Expr::OrElse(a, b) if holds => self.is_failure(*a, holds, parts) || self.is_failure(*b, holds, parts),
            Expr::Binary(BinaryOp::Ne, a, b) if holds => is_status(*a) || is_status(*b),
            Expr::Binary(BinaryOp::Eq, a, b) if !holds => is_status(*a) || is_status(*b),
            Expr::Call { callee, args } if !is_status(condition) => {
                args.iter().any(|arg| is_status(*arg)) && self.says_failure(*callee) == Some(holds)
            }
            Expr::Local(_) | Expr::Call { .. } => holds && is_status(condition),
            _ => false,
        }
    }

    /// Whether a branch hands a number of the program's own on to the caller since it is not the one that all is well with:
    /// `if (code != OK) return code;`.
    pub(super) fn hands_on(&self, condition: ExprId, then: &Block) -> bool {
        let kind = |id: ExprId| self.module.exprs.get(id).map(|node| &node.kind);
        let local = |id: ExprId| match kind(id) {
            Some(Expr::Local(local)) => Some(*local),
            _ => None,
        };
        let tested = match kind(condition) {
            Some(Expr::Binary(BinaryOp::Ne | BinaryOp::Lt, a, b)) => local(*a).filter(|_| local(*b).is_none()),
            Some(Expr::Unary(UnaryOp::Not, value)) => local(*value),
            // `if (found) return found;` of a truth value says that all is well.
            _ => local(condition).filter(|tested| {
                let ty = self.function.locals.get(*tested).and_then(|local| self.module.types.get(local.ty));
                matches!(ty, Some(Type::Int { .. }))
            }),
        };
        let last = then.last().and_then(|id| self.module.stmts.get(*id)).map(|node| &node.kind);
        let returned = match last {
            Some(Stmt::Return(Some(value))) => local(*value),
            _ => None,
        };
        tested.is_some() && tested == returned
    }

    /// Of a function of the program that is given a status: the answer, as a condition, that it gives where the call has failed.
    fn says_failure(&self, callee: ExprId) -> Option<bool> {
        let Some(Expr::Name { path, .. }) = self.module.exprs.get(callee).map(|node| &node.kind) else { return None };
        let (module, function) = self.project.function_named(self.id, &self.function.scope, path)?;
        let function = self.project.function_at(module, function)?;
        let answer = |failed: bool| Check::of(self.project, module, function, failed)?.answer();
        let (passed, failed) = (answer(false)?, answer(true)?);
        (passed != failed).then_some(failed)
    }
}

fn is_of_status_type(module: &Module, function: &Function, local: LocalId) -> bool {
    let ty = function.locals.get(local).and_then(|local| module.types.get(local.ty));
    matches!(ty, Some(Type::Named { path, .. }) if is_status_name(path.last()))
}

/// A function that is given a status, while it is gone through for one that has failed, or has not.
struct Check<'p> {
    module: &'p Module,
    body: &'p Block,
    status: LocalId,
    failed: bool,
    left: u32,
}

/// How a stretch of statements ends.
enum Ending {
    Answer(bool),
    GoesOn,
}

impl<'p> Check<'p> {
    fn of(project: &'p Project, id: ModuleId, function: &'p Function, failed: bool) -> Option<Self> {
        let module = project.module(id);
        let mut parameters = (0..function.param_count as usize).map(LocalId::from);
        let status = parameters.find(|local| is_of_status_type(module, function, *local))?;
        Some(Self { module, body: function.body.as_ref()?, status, failed, left: MAX_STEPS })
    }

    fn answer(&mut self) -> Option<bool> {
        match self.block(self.body)? {
            Ending::Answer(answer) => Some(answer),
            Ending::GoesOn => None,
        }
    }

    /// `None` where it is not known which way the function goes.
    fn block(&mut self, block: &Block) -> Option<Ending> {
        for id in block {
            self.left = self.left.checked_sub(1)?;
            let ending = match &self.module.stmts.get(*id)?.kind {
                Stmt::If { condition, then, otherwise, .. } => {
                    let taken = if self.truth(*condition)? { then } else { otherwise };
                    self.block(taken)?
                }
                Stmt::Block(inner) => self.block(inner)?,
                Stmt::Return(Some(value)) => Ending::Answer(self.truth(*value)?),
                Stmt::Expr(_) | Stmt::Declare(_) => Ending::GoesOn,
                _ => return None,
            };
            if let Ending::Answer(_) = ending {
                return Some(ending);
            }
        }
        Some(Ending::GoesOn)
    }

    /// Whether an expression is true for such a status.
    fn truth(&self, id: ExprId) -> Option<bool> {
        let kind = |id: ExprId| self.module.exprs.get(id).map(|node| &node.kind);
        let is_it = |id: ExprId| matches!(kind(id), Some(Expr::Local(local)) if *local == self.status);
        let is_success = |id: ExprId| match kind(id) {
            Some(Expr::Int { value, .. }) => *value == 0,
            Some(Expr::Name { path, .. }) => path.last().is_some_and(|name| cudalint_program::api::is_success(name)),
            _ => false,
        };
        match kind(id)? {
            Expr::Int { value, .. } => Some(*value != 0),
            Expr::Local(local) if *local == self.status => Some(self.failed),
            Expr::Unary(UnaryOp::Not, value) => Some(!self.truth(*value)?),
            Expr::Unary(UnaryOp::Minus, value) => self.truth(*value),
            Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b)
                if is_it(*a) && is_success(*b) || is_it(*b) && is_success(*a) =>
            {
                Some(self.failed == (*op == BinaryOp::Ne))
            }
            _ => None,
        }
    }
}
