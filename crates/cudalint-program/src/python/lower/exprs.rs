//! Expressions.

use super::literals::{self, Piece};
use super::{Children, Lowerer};
use crate::ir::{BinaryOp, Comprehension, Expr, ExprId, ForClause, FormatPart, PythonExpr, UnaryOp};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

impl<'t> Lowerer<'t> {
    /// An expression, or a list of them without parentheses, which is a tuple.
    pub(super) fn expr(&mut self, node: Node<'t>) -> ExprId {
        if !self.enter() {
            return self.push(Expr::Unknown(Vec::new()), Span::from(node));
        }
        let id = self.expr_inner(node);
        self.leave();
        id
    }

    fn expr_inner(&mut self, node: Node<'t>) -> ExprId {
        let span = Span::from(node);
        let kind = match python_kind(node) {
            PythonKind::Identifier => {
                let text = self.text_of(node);
                // What the parser made up where something is missing.
                if text.is_empty() {
                    return self.push(Expr::Unknown(Vec::new()), span);
                }
                return self.name_use(text, span);
            }
            PythonKind::Integer | PythonKind::Float => literals::number(self.text_of(node)),
            PythonKind::True => Expr::Int { value: 1, bytes: 1, signed: false },
            PythonKind::False => Expr::Int { value: 0, bytes: 1, signed: false },
            PythonKind::None => Expr::Null,
            PythonKind::Ellipsis => python(PythonExpr::Ellipsis),
            PythonKind::String | PythonKind::ConcatenatedString => return self.string(node),
            _ => return self.compound(node, span),
        };
        self.push(kind, span)
    }

    fn compound(&mut self, node: Node<'t>, span: Span) -> ExprId {
        let kind = python_kind(node);
        match kind {
            PythonKind::BinaryOperator | PythonKind::BooleanOperator => return self.binary(node, kind),
            PythonKind::ComparisonOperator => return self.comparison(node, span),
            PythonKind::Subscript => return self.subscript(node, span),
            PythonKind::Slice => return self.slice(node, span),
            PythonKind::Lambda => return self.lambda(node),
            _ => {}
        }
        let children = self.children(node);
        let id = if children.torn {
            self.unknown(children, span)
        } else {
            match self.of_kind(kind, node, children, span) {
                Some(id) => id,
                None => self.unknown(children, span),
            }
        };
        self.release(children);
        id
    }

    /// An expression of this kind with these children; `None` where they are not what the kind has.
    fn of_kind(&mut self, kind: PythonKind, node: Node<'t>, children: Children, span: Span) -> Option<ExprId> {
        let first = self.child(children, 0);
        let expr = match kind {
            PythonKind::ParenthesizedExpression => return Some(self.expr(first?)),
            PythonKind::Attribute => {
                let (base, name) = (first?, self.child(children, 1)?);
                let base = self.expr(base);
                let name = self.name(self.text_of(name));
                Expr::Member { base, name, arrow: false }
            }
            PythonKind::Call => return self.call(first?, self.child(children, 1)?, span),
            PythonKind::UnaryOperator => {
                let value = self.expr(first?);
                let op = match self.text.as_bytes().get(span.start as usize) {
                    Some(b'-') => UnaryOp::Minus,
                    Some(b'+') => UnaryOp::Plus,
                    _ => UnaryOp::BitNot,
                };
                Expr::Unary(op, value)
            }
            PythonKind::NotOperator => Expr::Unary(UnaryOp::Not, self.expr(first?)),
            PythonKind::ConditionalExpression => {
                let (then, condition, otherwise) = (first?, self.child(children, 1)?, self.child(children, 2)?);
                let condition = self.expr(condition);
                Expr::Select(condition, self.expr(then), self.expr(otherwise))
            }
            PythonKind::NamedExpression => {
                let (name, value) = (first?, self.child(children, 1)?);
                let value = self.expr(value);
                let target = self.target(name, None);
                Expr::Assign { op: None, target, value }
            }
            PythonKind::Tuple | PythonKind::ExpressionList | PythonKind::PatternList => {
                python(PythonExpr::Tuple(self.all(children)))
            }
            PythonKind::List => python(PythonExpr::List(self.all(children))),
            PythonKind::Set => python(PythonExpr::Set(self.all(children))),
            PythonKind::Dictionary => self.dictionary(children)?,
            PythonKind::ListSplat | PythonKind::ListSplatPattern => {
                python(PythonExpr::Spread { value: self.expr(first?), keywords: false })
            }
            PythonKind::ParenthesizedListSplat => return Some(self.expr(first?)),
            PythonKind::DictionarySplat => python(PythonExpr::Spread { value: self.expr(first?), keywords: true }),
            PythonKind::KeywordArgument => {
                let (name, value) = (first?, self.child(children, 1)?);
                let name = self.name(self.text_of(name));
                python(PythonExpr::Keyword(name, self.expr(value)))
            }
            PythonKind::ListComprehension => self.comprehension(children, Comprehension::List)?,
            PythonKind::SetComprehension => self.comprehension(children, Comprehension::Set)?,
            PythonKind::DictionaryComprehension => self.comprehension(children, Comprehension::Dict)?,
            PythonKind::GeneratorExpression => self.comprehension(children, Comprehension::Generator)?,
            PythonKind::Yield => {
                self.frame.is_generator = true;
                Expr::Unknown(self.all(children))
            }
            // An assignment is an expression here where it is the value of another one: `a = b = c`.
            PythonKind::Assignment => return self.assignment(children, span),
            PythonKind::AugmentedAssignment => return self.augmented(node, children, span),
            _ => return None,
        };
        Some(self.push(expr, span))
    }

    /// What is not understood, with the expressions in it.
    pub(super) fn unknown(&mut self, children: Children, span: Span) -> ExprId {
        let mut parts = Vec::new();
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index).filter(|child| is_expression(*child)) {
                parts.push(self.expr(child));
            }
        }
        self.push(Expr::Unknown(parts), span)
    }

    fn all(&mut self, children: Children) -> Vec<ExprId> {
        let mut all = Vec::with_capacity(children.len());
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index) {
                all.push(self.expr(child));
            }
        }
        all
    }

    fn call(&mut self, callee: Node<'t>, arguments: Node<'t>, span: Span) -> Option<ExprId> {
        // Before anything is lowered: what fails afterwards is lowered once more.
        if !matches!(python_kind(arguments), PythonKind::ArgumentList | PythonKind::GeneratorExpression) {
            return None;
        }
        let callee = self.expr(callee);
        let args = match python_kind(arguments) {
            PythonKind::ArgumentList => {
                let children = self.children(arguments);
                let mut args = self.all(children);
                self.release(children);
                if children.torn {
                    args.push(self.push(Expr::Unknown(Vec::new()), Span::from(arguments)));
                }
                args
            }
            _ => vec![self.expr(arguments)],
        };
        let may_make = self.may_make_kernels(callee) && !args.is_empty();
        let id = self.push(Expr::Call { callee, args }, span);
        if may_make {
            self.makers.push((id, self.frame.function));
        }
        Some(id)
    }

    fn dictionary(&mut self, children: Children) -> Option<Expr> {
        let mut entries = Vec::with_capacity(children.len());
        for index in 0..children.len() {
            let child = self.child(children, index)?;
            let inside = self.children(child);
            let (first, second) = (self.child(inside, 0), self.child(inside, 1));
            let entry = match (python_kind(child), first, second) {
                (PythonKind::Pair, Some(key), Some(value)) => Some((Some(self.expr(key)), self.expr(value))),
                (PythonKind::DictionarySplat, Some(value), _) => Some((None, self.expr(value))),
                _ => None,
            };
            self.release(inside);
            entries.push(entry?);
        }
        Some(python(PythonExpr::Dict(entries)))
    }

    /// `a[i, j]`; `a[i,]` has one operand, a tuple.
    fn subscript(&mut self, node: Node<'t>, span: Span) -> ExprId {
        let children = self.children(node);
        let Some(base) = self.child(children, 0).filter(|_| !children.torn && children.len() > 1) else {
            let id = self.unknown(children, span);
            self.release(children);
            return id;
        };
        let base = self.expr(base);
        let mut indices = Vec::with_capacity(children.len() - 1);
        let mut last = span;
        for index in 1..children.len() {
            if let Some(child) = self.child(children, index) {
                last = Span::from(child);
                indices.push(self.expr(child));
            }
        }
        self.release(children);
        if indices.len() == 1 && self.comma_behind(last, span) {
            let covered = Span { start: last.start, end: span.end.saturating_sub(1).max(last.end) };
            let tuple = self.push(python(PythonExpr::Tuple(indices)), covered);
            indices = vec![tuple];
        }
        self.push(Expr::Index { base, indices }, span)
    }

    /// Whether a comma stands between an operand and the end of the subscript around it.
    fn comma_behind(&self, operand: Span, around: Span) -> bool {
        let rest = self.text.get(operand.end as usize..around.end as usize).unwrap_or("");
        // Only blanks and comments can stand there besides; the operand may be in parentheses.
        let mut lines = rest.lines().map(|line| line.split('#').next().unwrap_or(""));
        lines.any(|line| line.contains(','))
    }

    fn slice(&mut self, node: Node<'t>, span: Span) -> ExprId {
        let mut parts = [None, None, None];
        let mut at = 0;
        let children = self.children_where(node, |child| {
            !matches!(python_kind(child), PythonKind::Comment | PythonKind::LineContinuation)
        });
        self.each(children, |this, child| {
            if !child.is_named() {
                at += 1;
                return;
            }
            let part = this.expr(child);
            if let Some(slot) = parts.get_mut(at) {
                *slot = Some(part);
            }
        });
        self.push(python(PythonExpr::Slice(parts)), span)
    }

    /// Clauses are read before the element, which uses their variables.
    fn comprehension(&mut self, children: Children, kind: Comprehension) -> Option<Expr> {
        let body = self.child(children, 0)?;
        let mark = self.open_comprehension();
        let mut clauses: Vec<ForClause> = Vec::new();
        for index in 1..children.len() {
            let clause = self.child(children, index)?;
            let inside = self.children(clause);
            match (python_kind(clause), self.child(inside, 0)) {
                (PythonKind::ForInClause, Some(left)) if inside.len() > 1 => {
                    let iterable = self.iterable(inside, clause);
                    let target = self.comprehension_pattern(left);
                    clauses.push(ForClause { target, iterable, conditions: Vec::new() });
                }
                (PythonKind::IfClause, Some(condition)) => {
                    let condition = self.expr(condition);
                    if let Some(clause) = clauses.last_mut() {
                        clause.conditions.push(condition);
                    }
                }
                _ => {}
            }
            self.release(inside);
        }
        let (element, value) = if python_kind(body) == PythonKind::Pair {
            let inside = self.children(body);
            let (key, value) = (self.child(inside, 0), self.child(inside, 1));
            let entry = key.map(|key| self.expr(key)).zip(value).map(|(key, value)| (key, Some(self.expr(value))));
            self.release(inside);
            entry?
        } else {
            (self.expr(body), None)
        };
        self.close_comprehension(mark);
        Some(python(PythonExpr::Comprehension { kind, element, value, clauses }))
    }

    /// What a `for` clause goes through: its second child, or all from there on as a tuple.
    fn iterable(&mut self, inside: Children, clause: Node<'t>) -> ExprId {
        match self.child(inside, 1).filter(|_| inside.len() == 2) {
            Some(one) => self.expr(one),
            None => {
                let rest = Children { start: inside.start + 1, ..inside };
                let all = self.all(rest);
                self.push(python(PythonExpr::Tuple(all)), Span::from(clause))
            }
        }
    }

    /// A string, or several in a row.
    fn string(&mut self, node: Node<'t>) -> ExprId {
        let span = Span::from(node);
        let mut pieces = Vec::new();
        let formatted = if python_kind(node) == PythonKind::String {
            self.string_pieces(node, &mut pieces)
        } else {
            let children = self.children(node);
            let mut formatted = false;
            for index in 0..children.len() {
                if let Some(child) = self.child(children, index) {
                    formatted |= self.string_pieces(child, &mut pieces);
                }
            }
            self.release(children);
            formatted
        };
        if formatted {
            let parts = pieces.into_iter().map(|piece| match piece {
                Piece::Text(text) => FormatPart::Text(text.into()),
                Piece::Hole(hole) => FormatPart::Hole(hole),
                Piece::Formatted(hole) => FormatPart::Formatted(hole),
            });
            return self.push(python(PythonExpr::Format(parts.collect())), span);
        }
        let text = match pieces.pop() {
            Some(Piece::Text(text)) => text,
            _ => String::new(),
        };
        self.push(Expr::Str(text.into()), span)
    }

    /// Adds what one literal holds; the answer is whether it is a formatted one.
    fn string_pieces(&mut self, node: Node<'t>, pieces: &mut Vec<Piece>) -> bool {
        let literal = literals::Literal::read(self.text_of(node));
        if !literal.formatted {
            literals::push_text(pieces, literal.content, literal);
            return false;
        }
        let children = self.children(node);
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            match python_kind(child) {
                PythonKind::StringContent => {
                    literals::push_text(pieces, self.text_of(child), literal);
                }
                PythonKind::Interpolation => {
                    if let Some(hole) = self.first(child) {
                        let plain = child.named_child_count() == 1;
                        let hole = self.expr(hole);
                        pieces.push(if plain { Piece::Hole(hole) } else { Piece::Formatted(hole) });
                    }
                }
                _ => {}
            }
        }
        self.release(children);
        true
    }

    /// `a = b`, where `b` may be another assignment; a type between them is no expression.
    pub(super) fn assignment(&mut self, children: Children, span: Span) -> Option<ExprId> {
        let left = self.child(children, 0)?;
        let right = self.child(children, children.len().checked_sub(1)?)?;
        if children.len() < 2 || python_kind(right) == PythonKind::Type {
            return None;
        }
        let value = self.expr(right);
        // Of `a = b = c` both get `c`.
        let given = match self.kind(value) {
            Some(Expr::Assign { op: None, value, .. }) => *value,
            _ => value,
        };
        let target = self.target(left, Some(given));
        Some(self.push(Expr::Assign { op: None, target, value }, span))
    }

    /// `a += b`.
    pub(super) fn augmented(&mut self, node: Node<'t>, children: Children, span: Span) -> Option<ExprId> {
        let (left, right) = (self.child(children, 0)?, self.child(children, 1)?);
        let op = super::operators::operator(node);
        let value = self.expr(right);
        let target = self.target(left, None);
        let op = op.and_then(|op| super::operators::binary_op(op.strip_suffix('=')?));
        let expr = match op {
            Some(op) => Expr::Assign { op: Some(op), target, value },
            None => {
                let value = self.push(Expr::Unknown(vec![target, value]), span);
                Expr::Assign { op: None, target, value }
            }
        };
        Some(self.push(expr, span))
    }

    pub(super) fn binary_expr(&mut self, op: Option<BinaryOp>, left: ExprId, right: ExprId) -> ExprId {
        let span = self.span_of(left).cover(self.span_of(right));
        let expr = match op {
            Some(op) => Expr::Binary(op, left, right),
            None => Expr::Unknown(vec![left, right]),
        };
        self.push(expr, span)
    }
}

pub(super) fn python(expr: PythonExpr) -> Expr {
    Expr::Python(Box::new(expr))
}

/// Whether a named node can be read as an expression.
pub(super) fn is_expression(node: Node<'_>) -> bool {
    matches!(
        python_kind(node),
        PythonKind::Identifier
            | PythonKind::Integer
            | PythonKind::Float
            | PythonKind::True
            | PythonKind::False
            | PythonKind::None
            | PythonKind::Ellipsis
            | PythonKind::String
            | PythonKind::ConcatenatedString
            | PythonKind::BinaryOperator
            | PythonKind::BooleanOperator
            | PythonKind::ComparisonOperator
            | PythonKind::Subscript
            | PythonKind::Lambda
            | PythonKind::ParenthesizedExpression
            | PythonKind::Attribute
            | PythonKind::Call
            | PythonKind::UnaryOperator
            | PythonKind::NotOperator
            | PythonKind::ConditionalExpression
            | PythonKind::NamedExpression
            | PythonKind::Tuple
            | PythonKind::ExpressionList
            | PythonKind::List
            | PythonKind::Set
            | PythonKind::Dictionary
            | PythonKind::ListSplat
            | PythonKind::DictionarySplat
            | PythonKind::KeywordArgument
            | PythonKind::ListComprehension
            | PythonKind::SetComprehension
            | PythonKind::DictionaryComprehension
            | PythonKind::GeneratorExpression
            | PythonKind::Yield
            | PythonKind::Await
            | PythonKind::AsPattern
    )
}
