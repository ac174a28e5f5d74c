//! Statements with clauses of their own: `with`, `try` and `match`.

use super::{Children, Lowerer};
use crate::ir::{Block, Expr, ExprId, PythonStmt, Stmt};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

impl<'t> Lowerer<'t> {
    pub(super) fn with_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let mut items = Vec::new();
        let mut body = Block::new();
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            if python_kind(child) == PythonKind::Block {
                self.block_into(child, &mut body);
                continue;
            }
            let clause = self.children(child);
            for index in 0..clause.len() {
                let value = self.child(clause, index).and_then(|item| self.first(item));
                if let Some(value) = value {
                    self.with_item(value, &mut items);
                }
            }
            self.release(clause);
        }
        self.push_stmt(Stmt::Python(Box::new(PythonStmt::With { items, body })), span, out);
    }

    fn with_item(&mut self, value: Node<'t>, items: &mut Vec<(ExprId, Option<ExprId>)>) {
        let inside = self.children(value);
        let (first, second) = (self.child(inside, 0), self.child(inside, 1));
        let names = (0..inside.len())
            .filter_map(|index| self.child(inside, index))
            .any(|child| python_kind(child) == PythonKind::AsPattern);
        match (python_kind(value), first, second) {
            (PythonKind::AsPattern, Some(manager), target) => {
                let manager = self.expr(manager);
                let target = target.map(|target| self.target(target, None));
                items.push((manager, target));
            }
            // `with (a as b, c as d):` and `with (a as b):` in parentheses.
            (PythonKind::Tuple | PythonKind::ParenthesizedExpression, ..) if names => {
                for index in 0..inside.len() {
                    if let Some(child) = self.child(inside, index).filter(|_| self.enter()) {
                        self.with_item(child, items);
                        self.leave();
                    }
                }
            }
            _ => {
                let manager = self.expr(value);
                items.push((manager, None));
            }
        }
        self.release(inside);
    }

    /// `else` is the end of the body, `finally` a block behind.
    pub(super) fn try_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let mut body = Block::new();
        let mut handlers = Vec::new();
        let mut finally = None;
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            match python_kind(child) {
                PythonKind::Block => self.block_into(child, &mut body),
                PythonKind::ExceptClause => handlers.push(self.handler(child)),
                PythonKind::ElseClause => {
                    if let Some(inner) = self.first(child) {
                        self.block_into(inner, &mut body);
                    }
                }
                PythonKind::FinallyClause => {
                    finally = self.first(child).map(|inner| (self.block(inner), Span::from(child)));
                }
                _ => {}
            }
        }
        self.push_stmt(Stmt::Try { body, handlers }, span, out);
        if let Some((block, span)) = finally {
            self.push_stmt(Stmt::Block(block), span, out);
        }
    }

    /// A handler begins with what it catches: the types as a statement, or their assignment to its name as a value that is
    /// not known.
    fn handler(&mut self, node: Node<'t>) -> Block {
        let children = self.children(node);
        let mut block = Block::new();
        let count = children.len();
        let body = count.checked_sub(1).and_then(|last| self.child(children, last));
        let body = body.filter(|body| python_kind(*body) == PythonKind::Block);
        let caught = if body.is_some() { count - 1 } else { count };
        let mut value = self.child(children, 0).filter(|_| caught > 0);
        let mut name = self.child(children, 1).filter(|_| caught == 2);
        if let Some(pattern) = value.filter(|value| python_kind(*value) == PythonKind::AsPattern) {
            let inside = self.children(pattern);
            (value, name) = (self.child(inside, 0), self.child(inside, 1));
            self.release(inside);
        }
        if let Some(value) = value {
            let span = Span::from(value);
            let mut types = self.expr(value);
            if let Some(name) = name {
                let caught = self.push(Expr::Unknown(vec![types]), span);
                let target = self.target(name, None);
                types = self.push(Expr::Assign { op: None, target, value: caught }, span);
            }
            self.push_stmt(Stmt::Expr(types), span, &mut block);
        }
        if let Some(body) = body {
            self.block_into(body, &mut block);
        }
        self.release(children);
        block
    }

    /// One block a case, of which any may run; each begins with the names that its pattern binds, and its guard.
    pub(super) fn match_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let mut exprs = Vec::new();
        let mut blocks = Vec::new();
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            if python_kind(child) != PythonKind::Block {
                exprs.push(self.expr(child));
                continue;
            }
            let cases = self.children(child);
            for index in 0..cases.len() {
                let Some(case) = self.child(cases, index) else { continue };
                let parts = self.children(case);
                let mut block = Block::new();
                for index in 0..parts.len() {
                    let Some(part) = self.child(parts, index) else { continue };
                    match python_kind(part) {
                        PythonKind::CasePattern => self.case_pattern(part, &mut block),
                        PythonKind::IfClause => {
                            if let Some(guard) = self.first(part) {
                                let value = self.expr(guard);
                                self.push_stmt(Stmt::Expr(value), Span::from(guard), &mut block);
                            }
                        }
                        PythonKind::Block => self.block_into(part, &mut block),
                        _ => {}
                    }
                }
                self.release(parts);
                blocks.push(block);
            }
            self.release(cases);
        }
        self.push_stmt(Stmt::Unknown { exprs, blocks }, span, out);
    }
}
