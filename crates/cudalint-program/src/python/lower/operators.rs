//! Operators between operands: long chains without recursion.

use super::{Lowerer, MAX_CHAIN};
use crate::ir::{BinaryOp, Expr, ExprId, PythonExpr};
use crate::python::fields::{Field, field};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

/// The operator of `a op b`, or of `a op= b` without its `=`; `@` is none.
pub(super) fn binary_op(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::TrueDiv,
        "//" => BinaryOp::FloorDiv,
        "%" => BinaryOp::Rem,
        "**" => BinaryOp::Pow,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" => BinaryOp::And,
        "|" => BinaryOp::Or,
        "^" => BinaryOp::Xor,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        "==" | "is" => BinaryOp::Eq,
        "!=" | "<>" | "is not" => BinaryOp::Ne,
        _ => return None,
    })
}

/// The operator of a node.
pub(super) fn operator(node: Node<'_>) -> Option<&str> {
    field(node, Field::Operator).map(|operator| operator.kind())
}

impl<'t> Lowerer<'t> {
    /// `a + b + c` and `a and b and c`: the left operands are gone down in a loop.
    pub(super) fn binary(&mut self, node: Node<'t>, kind: PythonKind) -> ExprId {
        let start = self.scratch.len();
        let mut at = node;
        // Each link leaves itself and its right operand; a link with anything else in it ends the chain.
        loop {
            let children = self.children(at);
            let (left, right) = (self.child(children, 0), self.child(children, 1));
            let whole = !children.torn && children.len() == 2;
            self.release(children);
            let (Some(left), Some(right), true) = (left, right, whole) else { break };
            self.scratch.push(at);
            self.scratch.push(right);
            at = left;
            if python_kind(left) != kind {
                break;
            }
        }
        let end = self.scratch.len();
        let mut value = if start == end {
            let children = self.children(node);
            let id = self.unknown(children, Span::from(node));
            self.release(children);
            id
        } else {
            self.expr(at)
        };
        let too_long = (end - start) / 2 > MAX_CHAIN;
        let mut parts = vec![];
        for index in (start..end).step_by(2).rev() {
            let (Some(link), Some(right)) = (self.scratch.get(index).copied(), self.scratch.get(index + 1).copied())
            else {
                continue;
            };
            let right = self.expr(right);
            if too_long {
                parts.push(right);
                continue;
            }
            let span = Span::from(link);
            let expr = match operator(link) {
                Some("and") => Expr::AndThen(value, right),
                Some("or") => Expr::OrElse(value, right),
                Some(text) => match binary_op(text) {
                    Some(op) => Expr::Binary(op, value, right),
                    None => Expr::Unknown(vec![value, right]),
                },
                None => Expr::Unknown(vec![value, right]),
            };
            value = self.push(expr, span);
        }
        self.scratch.truncate(start);
        if too_long {
            parts.insert(0, value);
            return self.push(Expr::Unknown(parts), Span::from(node));
        }
        value
    }

    /// `a < b`, `a in b`, and chains of them, which hold when each link does.
    pub(super) fn comparison(&mut self, node: Node<'t>, span: Span) -> ExprId {
        let start = self.scratch.len();
        let mut operators: Vec<&'t str> = Vec::new();
        let mut torn = false;
        self.cursor.reset(node);
        if self.cursor.goto_first_child() {
            loop {
                let child = self.cursor.node();
                match python_kind(child) {
                    PythonKind::Comment | PythonKind::LineContinuation => {}
                    PythonKind::Error => torn = true,
                    _ if child.is_named() => self.scratch.push(child),
                    _ => operators.push(child.kind()),
                }
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        let operands = self.scratch.len() - start;
        let children = super::Children { start, end: self.scratch.len(), torn };
        if torn || operands != operators.len() + 1 || operators.len() > MAX_CHAIN {
            let id = self.unknown(children, span);
            self.release(children);
            return id;
        }
        let mut all: Option<ExprId> = None;
        let mut left = self.child(children, 0).map(|first| self.expr(first));
        for (index, operator) in operators.into_iter().enumerate() {
            let right = self.child(children, index + 1).map(|next| self.expr(next));
            let (Some(value), Some(next)) = (left, right) else { continue };
            let covered = self.span_of(value).cover(self.span_of(next));
            let link = match operator {
                "in" | "not in" => {
                    let negated = operator == "not in";
                    let expr = PythonExpr::In { value, container: next, negated };
                    self.push(Expr::Python(Box::new(expr)), covered)
                }
                _ => self.binary_expr(binary_op(operator), value, next),
            };
            all = Some(match all {
                Some(before) => self.push(Expr::AndThen(before, link), span),
                None => link,
            });
            left = Some(next);
        }
        self.release(children);
        all.unwrap_or_else(|| self.push(Expr::Unknown(Vec::new()), span))
    }
}
