//! The code of a function that is compiled for sure: Numba leaves out branches whose condition it finds to be constant.

use super::view::View;
use crate::api::effects::DeviceOp;
use crate::ir::{BinaryOp, Block, Expr, ExprId, PythonExpr, PythonStmt, Stmt, StmtId, UnaryOp};
use crate::visit;

/// Statements and expressions that are compiled for sure, in order.
#[derive(Default)]
pub(super) struct Code {
    pub stmts: Vec<StmtId>,
    pub exprs: Vec<ExprId>,
}

/// Deeper nesting than the front end gives.
const MAX_DEPTH: u32 = 400;

pub(super) fn code(view: &View<'_>) -> Code {
    let mut walk = Walk { view, code: Code::default(), lost: false, depth: 0 };
    if let Some(body) = &view.function.body {
        walk.block(body);
    }
    walk.code
}

/// Whether control can go on behind a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Ended,
}

struct Walk<'v, 'm> {
    view: &'v View<'m>,
    code: Code,
    /// Whether a constant condition may have ended the function before.
    lost: bool,
    depth: u32,
}

impl Walk<'_, '_> {
    fn block(&mut self, block: &Block) -> Flow {
        if self.depth >= MAX_DEPTH {
            self.lost = true;
            return Flow::On;
        }
        self.depth += 1;
        let mut flow = Flow::On;
        for id in block {
            if self.lost || flow == Flow::Ended {
                break;
            }
            flow = self.stmt(*id);
        }
        self.depth -= 1;
        flow
    }

    fn stmt(&mut self, id: StmtId) -> Flow {
        let Some(node) = self.view.module.stmts.get(id) else { return Flow::On };
        self.code.stmts.push(id);
        match &node.kind {
            Stmt::Expr(value) => {
                self.expr(*value);
                let throws = matches!(self.view.expr(*value), Some(Expr::Throw(_)));
                return if throws { Flow::Ended } else { Flow::On };
            }
            Stmt::Return(value) => {
                if let Some(value) = value {
                    self.expr(*value);
                }
                return Flow::Ended;
            }
            Stmt::Break | Stmt::Continue => return Flow::Ended,
            Stmt::Block(body) => return self.block(body),
            Stmt::If { condition, then, otherwise, .. } => {
                self.expr(*condition);
                if self.is_open(*condition) {
                    let (then, otherwise) = (self.block(then), self.block(otherwise));
                    return if then == otherwise { then } else { Flow::On };
                }
                self.lost |= self.leaves(then) || self.leaves(otherwise);
            }
            Stmt::Loop { condition, body, .. } => {
                let Some(condition) = condition else { return Flow::On };
                self.expr(*condition);
                let endless = matches!(self.view.expr(*condition), Some(Expr::Int { value: 1.., .. }));
                if endless || self.is_open(*condition) {
                    self.block(body);
                    self.lost |= endless && !self.leaves(body);
                } else {
                    self.lost |= self.leaves(body);
                }
            }
            Stmt::Python(python) => match &**python {
                PythonStmt::For { target, iterable, body, otherwise } => {
                    self.expr(*iterable);
                    self.expr(*target);
                    self.block(body);
                    self.block(otherwise);
                }
                PythonStmt::Assert(condition, message) => {
                    self.expr(*condition);
                    if self.is_open(*condition) {
                        if let Some(message) = message {
                            self.expr(*message);
                        }
                    } else {
                        self.lost = true;
                    }
                }
                PythonStmt::With { .. }
                | PythonStmt::Define(_)
                | PythonStmt::Class(..)
                | PythonStmt::Delete(_)
                | PythonStmt::Import(_) => {}
            },
            // What is inside is of no interest: they raise themselves.
            Stmt::Try { .. } => {}
            _ => self.lost = true,
        }
        Flow::On
    }

    /// Whether a block may leave the code around it.
    fn leaves(&self, block: &Block) -> bool {
        let mut found = false;
        visit::walk(self.view.module, self.view.function, block, |item| {
            let leaves = match item {
                visit::Item::Stmt(id) => matches!(
                    self.view.module.stmts.get(id).map(|node| &node.kind),
                    Some(Stmt::Return(_) | Stmt::Break | Stmt::Continue)
                ),
                visit::Item::Expr(id) => matches!(self.view.expr(id), Some(Expr::Throw(_))),
                visit::Item::Declare(_) => false,
            };
            found |= leaves;
            !found
        });
        found
    }

    fn expr(&mut self, id: ExprId) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.code.exprs.push(id);
        let Some(expr) = self.view.expr(id) else { return };
        self.depth += 1;
        match expr {
            Expr::AndThen(left, right) | Expr::OrElse(left, right) => {
                self.expr(*left);
                if self.is_open(*left) {
                    self.expr(*right);
                }
            }
            Expr::Select(condition, then, otherwise) => {
                self.expr(*condition);
                if self.is_open(*condition) {
                    self.expr(*then);
                    self.expr(*otherwise);
                }
            }
            // The rest has a scope of its own.
            Expr::Python(python) if matches!(**python, PythonExpr::Comprehension { .. }) => {}
            expr => {
                let mut operands = Vec::new();
                visit::operands(expr, |operand| operands.push(operand));
                for operand in operands {
                    self.expr(operand);
                }
            }
        }
        self.depth -= 1;
    }

    /// Whether the compiler surely takes a condition for open. It knows constants, `None`, numbers of axes and types.
    fn is_open(&self, condition: ExprId) -> bool {
        let mut atoms = vec![condition];
        while let Some(atom) = atoms.pop() {
            match self.view.expr(atom) {
                Some(Expr::AndThen(left, right) | Expr::OrElse(left, right)) => atoms.extend([*left, *right]),
                Some(Expr::Unary(UnaryOp::Not, inner)) => atoms.push(*inner),
                Some(Expr::Binary(op, left, right)) if op.is_comparison() => {
                    let none = [left, right].into_iter().any(|side| matches!(self.view.expr(*side), Some(Expr::Null)));
                    let varies = self.varies(*left, 0) || self.varies(*right, 0);
                    if none || !varies {
                        return false;
                    }
                }
                // A variable by itself may be `None`.
                Some(Expr::Local(_)) | None => return false,
                Some(_) if self.varies(atom, 0) => {}
                Some(_) => return false,
            }
        }
        true
    }

    /// Whether a value is surely none that the compiler knows.
    fn varies(&self, id: ExprId, depth: u32) -> bool {
        if depth > 8 {
            return false;
        }
        let view = self.view;
        match view.expr(id) {
            Some(Expr::Local(local)) => {
                let assigned = view.assignments(*local);
                view.is_argument(*local)
                    || (!assigned.is_empty()
                        && local.0 >= view.function.param_count
                        && assigned.iter().all(|value| value.is_none_or(|value| self.varies(value, depth + 1))))
            }
            Some(Expr::Binary(op, left, right)) => {
                !op.is_comparison()
                    && !matches!(op, BinaryOp::And | BinaryOp::Or)
                    && (self.varies(*left, depth + 1) || self.varies(*right, depth + 1))
            }
            Some(Expr::Unary(_, value)) => self.varies(*value, depth + 1),
            Some(Expr::Index { base, .. }) => match view.expr(*base) {
                Some(Expr::Local(local)) => view.is_argument(*local),
                Some(Expr::Member { base, name, .. }) => {
                    matches!(name.as_str(), "shape" | "strides")
                        && matches!(view.expr(*base), Some(Expr::Local(local)) if view.is_argument(*local))
                }
                _ => false,
            },
            Some(Expr::Member { base, name, .. }) => {
                (*name == "size" && matches!(view.expr(*base), Some(Expr::Local(local)) if view.is_argument(*local)))
                    || view.path(id).is_some_and(|path| of_launch(&path))
            }
            Some(Expr::Call { callee, .. }) => matches!(view.device_op(*callee), Some(DeviceOp::Grid { .. })),
            _ => false,
        }
    }
}

/// Whether a path names a number of the launch or of a thread.
pub(super) fn of_launch(path: &str) -> bool {
    path.strip_prefix("numba.cuda.").is_some_and(|rest| {
        let root = rest.split('.').next().unwrap_or(rest);
        matches!(root, "threadIdx" | "blockIdx" | "blockDim" | "gridDim" | "laneid")
    })
}
