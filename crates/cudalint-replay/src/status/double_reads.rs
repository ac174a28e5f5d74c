//! Reads of the last error that find nothing, since the condition around them has read and forgotten it.

use super::build::Builder;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::ErrorRole;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Module, Stmt, StmtId};

impl Builder<'_> {
    /// `if (cudaGetLastError() != cudaSuccess) … cudaGetLastError() …`: the second read finds nothing.
    pub(super) fn note_double_read(&mut self, condition: ExprId, then: &[StmtId]) {
        let module = self.module;
        let Some(Expr::Binary(op, left, right)) = module.exprs.get(condition).map(|node| &node.kind) else {
            return;
        };
        if *op != BinaryOp::Ne {
            return;
        }
        let is_read = |id: &ExprId| super::survey::call_name(module, *id).is_some_and(is_clearing);
        let Some(first) = [left, right].into_iter().find(|id| is_read(id)) else { return };
        if let Some(second) = first_cuda_call(module, then)
            && is_read(&second)
            && let (Some(first), Some(second)) = (module.exprs.get(*first), module.exprs.get(second))
            && first.expansion.is_none()
        {
            self.flow.double_reads.push((first.span, second.span));
        }
    }
}

/// Whether a name is that of the function that returns the last error and forgets it.
fn is_clearing(name: &str) -> bool {
    ApiId::named(name).is_some_and(|api| api.role == ErrorRole::Clears)
}

/// The first call of a GPU library among the leading plain statements of a block, texts of errors excepted.
fn first_cuda_call(module: &Module, block: &[StmtId]) -> Option<ExprId> {
    let mut work: Vec<ExprId> = Vec::new();
    for stmt in block {
        let value = match module.stmts.get(*stmt).map(|node| &node.kind) {
            Some(Stmt::Expr(value)) => *value,
            _ => return None,
        };
        work.push(value);
        let mut budget = 200;
        while let Some(id) = work.pop() {
            budget -= 1;
            let node = module.exprs.get(id)?;
            if budget == 0 || matches!(node.kind, Expr::Statements(_) | Expr::Lambda { .. }) {
                return None;
            }
            if super::survey::call_name(module, id).is_some_and(|name| ApiId::with_status(name).is_some()) {
                return Some(id);
            }
            let mut inside = Vec::new();
            cudalint_program::visit::operands(&node.kind, |operand| inside.push(operand));
            work.extend(inside.into_iter().rev());
        }
    }
    None
}
