//! Operators other than binary ones.

use super::builtin_types;
use super::chain::binary_op;
use super::fields::{Field, around, cast_parts, exactly, field, infix, prefix};
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Expr, ExprId, UnaryOp};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    pub(super) fn assignment<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let parts = match around(s, node) {
            Some(parts @ (_, "=" | "+=" | "-=" | "*=" | "/=", _)) => Some(parts),
            _ => infix(node).map(|(left, operator, right)| (left, operator.map_or("=", |op| s.text(op)), right)),
        };
        // Of `(a = b, c)` the grammar may lose a part.
        let lost = node.has_error() && (0..node.child_count()).any(|at| node.child(at).is_some_and(|it| it.is_error()));
        let Some((left, text, right)) = parts.filter(|_| !lost) else { return self.unknown(s, node) };
        let target = self.expr(s, left);
        // `a = b, c` is `(a = b), c`, however the grammar nests it.
        let mut values = self.comma_values(s, right);
        let behind = values.split_off(1);
        let [value] = values.as_slice() else { return self.unknown(s, node) };
        let assigned = self.assigned(s, node, text, target, *value);
        if behind.is_empty() {
            return assigned;
        }
        let span = s.span(node);
        self.push(Expr::Comma([assigned].into_iter().chain(behind).collect()), span)
    }

    fn assigned(&mut self, s: Src<'_>, node: Node<'_>, text: &str, target: ExprId, value: ExprId) -> ExprId {
        let span = s.span(node);
        let op = match text.strip_suffix('=') {
            Some("") => None,
            Some(op) => match binary_op(op) {
                Some(op) => Some(op),
                None => return self.push(Expr::Unknown(vec![target, value]), span),
            },
            None => return self.push(Expr::Unknown(vec![target, value]), span),
        };
        self.push(Expr::Assign { op, target, value }, span)
    }

    pub(super) fn unary<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let Some((operator, argument)) = prefix(node) else { return self.unknown(s, node) };
        let operator = s.text(operator);
        let span = s.span(node);
        let value = self.expr(s, argument);
        let value = self.whole(value);
        if operator.is_empty() {
            // The mask wrote it.
            return value;
        }
        let kind = match operator {
            "+" => Expr::Unary(UnaryOp::Plus, value),
            "-" => Expr::Unary(UnaryOp::Minus, value),
            "!" | "not" => Expr::Unary(UnaryOp::Not, value),
            "~" | "compl" => Expr::Unary(UnaryOp::BitNot, value),
            "*" => Expr::Deref(value),
            "&" => Expr::AddressOf(value),
            _ => Expr::Unknown(vec![value]),
        };
        self.push(kind, span)
    }

    pub(super) fn step<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let parts = match exactly(node) {
            Some([argument, operator]) if argument.is_named() => Some((operator, argument)),
            _ => prefix(node),
        };
        let Some((operator, argument)) = parts else { return self.unknown(s, node) };
        let by = if s.text(operator) == "--" { -1 } else { 1 };
        let prefix = operator.start_byte() < argument.start_byte();
        let target = self.expr(s, argument);
        let span = s.span(node);
        self.push(Expr::Step { prefix, by, target }, span)
    }

    pub(super) fn cast<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let Some((ty, value)) = cast_parts(node) else { return self.unknown(s, node) };
        let ty = self.descriptor(s, ty);
        let value = self.expr(s, value);
        let value = self.whole(value);
        let span = s.span(node);
        self.push(Expr::Cast { ty, value }, span)
    }

    pub(super) fn size_of<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let span = s.span(node);
        if s.text(node).trim_start_matches("sizeof").trim_start().starts_with("...") {
            return self.push(Expr::Unknown(Vec::new()), span);
        }
        if let Some(ty) = field(node, Field::TypeOf) {
            // `sizeof(x)` of a variable whose name the grammar took for a type.
            let bare = field(ty, Field::TypeOf)
                .filter(|inner| ty.named_child_count() == 1 && cuda_kind(*inner) == CudaKind::TypeIdentifier);
            if let Some(name) = bare
                && self.is_value(s, s.text(name))
            {
                let value = self.identifier(s, name);
                return self.push(Expr::SizeOfExpr(value), span);
            }
            let ty = self.descriptor(s, ty);
            return self.push(Expr::SizeOfType(ty), span);
        }
        let Some(value) = field(node, Field::Value) else { return self.unknown(s, node) };
        let mut inner = value;
        while cuda_kind(inner) == CudaKind::ParenthesizedExpression {
            match children(inner).as_slice() {
                [only] => inner = *only,
                _ => break,
            }
        }
        let is_type = match cuda_kind(inner) {
            CudaKind::Identifier => {
                let text = s.text(inner);
                // `unsigned int` may have been respelled as one identifier for the grammar.
                // A name that nobody here declares as a value is a type of a header far more often than a variable.
                self.is_type(s, text) || builtin_types::looks_like_type(text) || !self.is_known_value(s, text)
            }
            CudaKind::TemplateFunction => field(inner, Field::Name).is_some_and(|name| self.is_type(s, s.text(name))),
            _ => false,
        };
        if is_type && inner != value {
            let ty = self.specifier(s, inner);
            return self.push(Expr::SizeOfType(ty), span);
        }
        let value = self.expr(s, inner);
        // `sizeof(Pair < 3 > )`: the grammar takes a template's arguments for a comparison, of which nobody wants the size.
        if matches!(self.module.exprs.get(value).map(|it| &it.kind), Some(Expr::Binary(op, ..)) if op.is_comparison()) {
            return self.push(Expr::Unknown(Vec::new()), span);
        }
        self.push(Expr::SizeOfExpr(value), span)
    }

    pub(super) fn select<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let (Some(condition), Some(otherwise)) = (field(node, Field::Condition), field(node, Field::Alternative))
        else {
            return self.unknown(s, node);
        };
        let condition = self.expr(s, condition);
        let then = match field(node, Field::Consequence) {
            Some(then) => self.expr(s, then),
            None => condition,
        };
        let otherwise = self.expr(s, otherwise);
        let span = s.span(node);
        self.push(Expr::Select(condition, then, otherwise), span)
    }

    pub(super) fn comma<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let values = self.comma_values(s, node);
        let span = s.span(node);
        let list = self.push(Expr::Comma(values), span);
        let in_parentheses = || node.parent().is_some_and(|it| cuda_kind(it) == CudaKind::ParenthesizedExpression);
        if s.is_file() || !in_parentheses() {
            return list;
        }
        // Of a macro's body this is one value, and not several arguments.
        self.push(Expr::Comma(vec![list]), span)
    }

    /// The values of `a, b, c`; of anything else its own.
    fn comma_values<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> Vec<ExprId> {
        // It nests to the right.
        let mut values = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next.take() {
            if cuda_kind(node) == CudaKind::CommaExpression {
                let (left, right) = (field(node, Field::Left), field(node, Field::Right));
                if let Some(left) = left {
                    values.push(self.expr(s, left));
                }
                next = right;
            } else {
                values.push(self.expr(s, node));
            }
        }
        values
    }
}
