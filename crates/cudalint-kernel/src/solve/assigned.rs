//! Which registers a piece of code assigns.

use crate::code::{Block, Code, Expr, ExprId, Item, Place, Stmt, VariableId};

/// Registers that statements assign or declare; one may come several times.
pub(super) fn in_block(code: &Code, block: &Block) -> Vec<VariableId> {
    let mut found = Vec::new();
    code.walk(block, |item| {
        match item {
            Item::Expr(id) => found.extend(assigned(&code.expr(id).kind)),
            Item::Stmt(id) => {
                if let Stmt::Declare(variable) = &code.stmt(id).kind {
                    found.push(*variable);
                }
            }
        }
        true
    });
    found
}

/// Registers that an expression assigns.
pub(super) fn in_expr(code: &Code, expr: ExprId) -> Vec<VariableId> {
    let mut found = Vec::new();
    code.walk_expr(expr, |_, kind| {
        found.extend(assigned(kind));
        true
    });
    found
}

const fn assigned(kind: &Expr) -> Option<VariableId> {
    match kind {
        Expr::Write(Place::Register { variable, .. }, _)
        | Expr::Update { place: Place::Register { variable, .. }, .. } => Some(*variable),
        _ => None,
    }
}
