//! Which registers a piece of code assigns.

use crate::code::{Block, Code, Expr, ExprId, Place, Stmt, VariableId};

/// A part of the code that is still to be looked at.
enum Item<'c> {
    Block(&'c Block),
    Expr(ExprId),
}

/// Registers that statements assign or declare; one may come several times.
pub(super) fn in_block(code: &Code, block: &Block) -> Vec<VariableId> {
    assigned(code, Item::Block(block))
}

/// Registers that an expression assigns.
pub(super) fn in_expr(code: &Code, expr: ExprId) -> Vec<VariableId> {
    assigned(code, Item::Expr(expr))
}

fn assigned<'c>(code: &'c Code, first: Item<'c>) -> Vec<VariableId> {
    let mut found = Vec::new();
    let mut open = vec![first];
    while let Some(item) = open.pop() {
        match item {
            Item::Block(block) => {
                for id in block {
                    statement(&code.stmt(*id).kind, &mut found, &mut open);
                }
            }
            Item::Expr(id) => expression(&code.expr(id).kind, &mut found, &mut open),
        }
    }
    found
}

fn statement<'c>(stmt: &'c Stmt, found: &mut Vec<VariableId>, open: &mut Vec<Item<'c>>) {
    match stmt {
        Stmt::Expr(expr) | Stmt::Return(Some(expr)) => open.push(Item::Expr(*expr)),
        Stmt::Declare(variable) => found.push(*variable),
        Stmt::Block(inner) => open.push(Item::Block(inner)),
        Stmt::If { condition, then, otherwise } => {
            open.extend([Item::Expr(*condition), Item::Block(then), Item::Block(otherwise)]);
        }
        Stmt::Loop { condition, step, body, .. } => {
            open.extend(condition.iter().chain(step).map(|expr| Item::Expr(*expr)));
            open.push(Item::Block(body));
        }
        Stmt::Switch { value, cases } => {
            open.push(Item::Expr(*value));
            open.extend(cases.iter().map(|(_, body)| Item::Block(body)));
        }
        Stmt::Opaque { exprs, blocks, .. } => {
            open.extend(exprs.iter().map(|expr| Item::Expr(*expr)));
            open.extend(blocks.iter().map(Item::Block));
        }
        Stmt::Break | Stmt::Continue | Stmt::Return(None) => {}
    }
}

fn expression<'c>(expr: &'c Expr, found: &mut Vec<VariableId>, open: &mut Vec<Item<'c>>) {
    match expr {
        Expr::Write(place, value) | Expr::Update { place, value, .. } => {
            match place {
                Place::Register { variable, .. } => found.push(*variable),
                Place::Memory { address, .. } => open.push(Item::Expr(*address)),
            }
            open.push(Item::Expr(*value));
        }
        Expr::Read(Place::Memory { address, .. }) => open.push(Item::Expr(*address)),
        Expr::Unary(_, a) | Expr::Not(a) | Expr::Convert(a) | Expr::Leaves { of: a, .. } => open.push(Item::Expr(*a)),
        Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) | Expr::Offset { base: a, index: b, .. } => {
            open.extend([Item::Expr(*a), Item::Expr(*b)]);
        }
        Expr::Select(a, b, c) => open.extend([a, b, c].map(|part| Item::Expr(*part))),
        Expr::Call(_, parts)
        | Expr::Intrinsic(_, parts)
        | Expr::Sequence(parts)
        | Expr::Aggregate(parts)
        | Expr::Opaque { children: parts, .. } => open.extend(parts.iter().map(|part| Item::Expr(*part))),
        Expr::Statements(block, value) => {
            open.push(Item::Block(block));
            open.extend(value.map(Item::Expr));
        }
        Expr::Int(_)
        | Expr::Float(_)
        | Expr::Builtin(_)
        | Expr::Read(Place::Register { .. })
        | Expr::VariableAddress(_)
        | Expr::ObjectAddress(_) => {}
    }
}
