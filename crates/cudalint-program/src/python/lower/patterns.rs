//! What is bound: targets of assignments and loops, and the patterns of `match`.

use super::exprs::python;
use super::scopes::Meaning;
use super::{Children, Lowerer};
use crate::ir::{Block, Expr, ExprId, PythonExpr, Stmt};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

impl<'t> Lowerer<'t> {
    /// A target of an assignment of `value`, where that is a single name for a single expression.
    pub(super) fn target(&mut self, node: Node<'t>, value: Option<ExprId>) -> ExprId {
        self.pattern(node, value, false)
    }

    /// A target in a comprehension: its names are variables of their own.
    pub(super) fn comprehension_pattern(&mut self, node: Node<'t>) -> ExprId {
        self.pattern(node, None, true)
    }

    fn pattern(&mut self, node: Node<'t>, value: Option<ExprId>, fresh: bool) -> ExprId {
        let span = Span::from(node);
        if !self.enter() {
            return self.push(Expr::Unknown(Vec::new()), span);
        }
        let id = match python_kind(node) {
            PythonKind::Identifier if fresh => self.comprehension_target(self.text_of(node), span),
            PythonKind::Identifier => {
                let meaning = match value.and_then(|value| self.kind(value)) {
                    Some(Expr::Null) => Meaning::Nothing,
                    _ => Meaning::Other,
                };
                let value = value.filter(|_| self.frame.loops == 0);
                self.name_target(self.text_of(node), span, meaning, value)
            }
            PythonKind::Tuple
            | PythonKind::TuplePattern
            | PythonKind::List
            | PythonKind::ListPattern
            | PythonKind::PatternList
            | PythonKind::ExpressionList => {
                let children = self.children(node);
                let all = self.pattern_list(children, fresh);
                self.release(children);
                self.push(python(PythonExpr::Tuple(all)), span)
            }
            PythonKind::ListSplat | PythonKind::ListSplatPattern => match self.first(node) {
                Some(inner) => {
                    let value = self.pattern(inner, None, fresh);
                    self.push(python(PythonExpr::Spread { value, keywords: false }), span)
                }
                None => self.push(Expr::Unknown(Vec::new()), span),
            },
            PythonKind::ParenthesizedExpression | PythonKind::AsPatternTarget => match self.first(node) {
                Some(inner) => self.pattern(inner, value, fresh),
                None => self.push(Expr::Unknown(Vec::new()), span),
            },
            _ => self.expr(node),
        };
        self.leave();
        id
    }

    pub(super) fn pattern_list(&mut self, children: Children, fresh: bool) -> Vec<ExprId> {
        let mut all = Vec::with_capacity(children.len());
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index) {
                all.push(self.pattern(child, None, fresh));
            }
        }
        all
    }

    /// The names that the pattern of a `case` binds, each to a value that is not known.
    pub(super) fn case_pattern(&mut self, pattern: Node<'t>, out: &mut Block) {
        let start = self.scratch.len();
        self.scratch.push(pattern);
        while self.scratch.len() > start
            && let Some(node) = self.scratch.pop()
        {
            let kind = python_kind(node);
            let children = self.children(node);
            let count = children.len();
            let mut inside: Vec<Node<'t>> = (0..count).filter_map(|index| self.child(children, index)).collect();
            self.release(children);
            match kind {
                PythonKind::Identifier => self.captured(node, out),
                // A name with dots is a value.
                PythonKind::DottedName if count == 1 => self.captured(node, out),
                PythonKind::DottedName
                | PythonKind::String
                | PythonKind::ConcatenatedString
                | PythonKind::Integer
                | PythonKind::Float => {}
                PythonKind::ClassPattern | PythonKind::KeywordPattern => {
                    // The first names a class or one of its attributes.
                    self.scratch.extend(inside.drain(..).skip(1).rev());
                }
                _ => self.scratch.extend(inside.drain(..).rev()),
            }
        }
    }

    fn captured(&mut self, node: Node<'t>, out: &mut Block) {
        let (text, span) = (self.text_of(node), Span::from(node));
        if text == "_" {
            return;
        }
        let value = self.push(Expr::Unknown(Vec::new()), span);
        let target = self.name_target(text, span, Meaning::Other, None);
        let assign = self.push(Expr::Assign { op: None, target, value }, span);
        self.push_stmt(Stmt::Expr(assign), span, out);
    }
}
