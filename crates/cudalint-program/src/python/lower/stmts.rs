//! Statements.

use super::exprs::{is_expression, python};
use super::scopes::{Meaning, Outer};
use super::{Children, Lowerer, MAX_CHAIN};
use crate::ir::{Block, Expr, ExprId, LoopKind, PythonExpr, PythonStmt, Stmt};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span};

impl<'t> Lowerer<'t> {
    /// The statements of a block, or of the module.
    pub(super) fn block(&mut self, node: Node<'t>) -> Block {
        let mut block = Block::new();
        self.block_into(node, &mut block);
        block
    }

    pub(super) fn block_into(&mut self, node: Node<'t>, out: &mut Block) {
        let children = self.statements(node);
        out.reserve(children.len());
        for index in 0..children.len() {
            if let Some(child) = self.child(children, index) {
                self.stmt(child, out);
            }
        }
        self.release(children);
    }

    /// The body of a class: methods and plain variables have no statement.
    pub(super) fn class_block(&mut self, node: Node<'t>, out: &mut Block) {
        let children = self.statements(node);
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            match python_kind(child) {
                PythonKind::FunctionDefinition => self.function(child, Vec::new(), Span::from(child), None),
                PythonKind::DecoratedDefinition => self.decorated(child, out, true),
                PythonKind::ExpressionStatement => {
                    let inner = self.first(child).filter(|inner| python_kind(*inner) == PythonKind::Assignment);
                    if !inner.is_some_and(|inner| self.field(inner)) {
                        self.stmt(child, out);
                    }
                }
                _ => self.stmt(child, out),
            }
        }
        self.release(children);
    }

    /// As [`Self::children`], with what could not be read.
    fn statements(&mut self, node: Node<'t>) -> Children {
        self.children_where(node, |child| {
            let skipped = matches!(python_kind(child), PythonKind::Comment | PythonKind::LineContinuation);
            child.is_named() && !skipped
        })
    }

    pub(super) fn stmt(&mut self, node: Node<'t>, out: &mut Block) {
        let span = Span::from(node);
        if !self.enter() {
            return self.push_stmt(Stmt::Unknown { exprs: Vec::new(), blocks: Vec::new() }, span, out);
        }
        match python_kind(node) {
            PythonKind::FunctionDefinition => self.function(node, Vec::new(), span, Some(out)),
            PythonKind::ClassDefinition => self.class_definition(node, Vec::new(), span, out),
            PythonKind::DecoratedDefinition => self.decorated(node, out, false),
            PythonKind::ImportStatement => self.import(node, out),
            PythonKind::ImportFromStatement | PythonKind::FutureImportStatement => self.import_from(node, out),
            PythonKind::GlobalStatement => self.outer_names(node, Outer::Global),
            PythonKind::NonlocalStatement => self.outer_names(node, Outer::Nonlocal),
            PythonKind::PassStatement => {}
            PythonKind::BreakStatement => self.push_stmt(Stmt::Break, span, out),
            PythonKind::ContinueStatement => self.push_stmt(Stmt::Continue, span, out),
            kind => {
                let children = self.children(node);
                // What could not be read stands beside what could.
                if children.torn {
                    self.torn_parts(node, out);
                }
                self.of_statement_kind(kind, node, children, span, out);
                self.release(children);
            }
        }
        self.leave();
    }

    fn of_statement_kind(&mut self, kind: PythonKind, node: Node<'t>, children: Children, span: Span, out: &mut Block) {
        let first = self.child(children, 0);
        match kind {
            PythonKind::ExpressionStatement => self.expression_statement(children, span, out),
            PythonKind::ReturnStatement => {
                let value = first.map(|value| self.expr(value));
                self.push_stmt(Stmt::Return(value), span, out);
            }
            PythonKind::RaiseStatement => {
                let value = first.map(|value| self.expr(value));
                // The cause is evaluated too; it changes nothing else.
                if let Some(cause) = self.child(children, 1).filter(|cause| python_kind(*cause) == PythonKind::Call) {
                    let cause = self.expr(cause);
                    self.push_stmt(Stmt::Expr(cause), span, out);
                }
                let thrown = self.push(Expr::Throw(value), span);
                self.push_stmt(Stmt::Expr(thrown), span, out);
            }
            PythonKind::AssertStatement => {
                let Some(condition) = first.map(|condition| self.expr(condition)) else { return };
                let message = self.child(children, 1).map(|message| self.expr(message));
                self.push_stmt(Stmt::Python(Box::new(PythonStmt::Assert(condition, message))), span, out);
            }
            PythonKind::DeleteStatement => {
                let targets = self.deleted(first);
                self.push_stmt(Stmt::Python(Box::new(PythonStmt::Delete(targets))), span, out);
            }
            PythonKind::IfStatement => self.if_statement(children, span, out),
            PythonKind::WhileStatement => self.while_statement(children, span, out),
            PythonKind::ForStatement => self.for_statement(children, span, out),
            PythonKind::WithStatement => self.with_statement(children, span, out),
            PythonKind::TryStatement => self.try_statement(children, span, out),
            PythonKind::MatchStatement => self.match_statement(children, span, out),
            PythonKind::PrintStatement => self.print_statement(children, span, out),
            PythonKind::TypeAliasStatement => {
                let name = first.and_then(|ty| self.first(ty));
                let Some(name) = name.filter(|name| python_kind(*name) == PythonKind::Identifier) else { return };
                let value = self.push(Expr::Unknown(Vec::new()), span);
                let target = self.target(name, None);
                let assign = self.push(Expr::Assign { op: None, target, value }, span);
                self.push_stmt(Stmt::Expr(assign), span, out);
            }
            _ => self.unknown_statement(node, out),
        }
    }

    /// `@a @b def f(): …`.
    fn decorated(&mut self, node: Node<'t>, out: &mut Block, in_class: bool) {
        let span = Span::from(node);
        let children = self.children(node);
        let mut decorators = Vec::new();
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            match python_kind(child) {
                PythonKind::Decorator => {
                    if let Some(inner) = self.first(child) {
                        decorators.push(self.expr(inner));
                    }
                }
                PythonKind::FunctionDefinition => {
                    let out = if in_class { None } else { Some(&mut *out) };
                    self.function(child, std::mem::take(&mut decorators), span, out);
                }
                PythonKind::ClassDefinition => {
                    self.class_definition(child, std::mem::take(&mut decorators), span, out);
                }
                _ => {}
            }
        }
        self.release(children);
    }

    fn expression_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let Some(first) = self.child(children, 0) else { return };
        // A type alone declares the name, and does nothing.
        if python_kind(first) == PythonKind::Assignment {
            let inside = self.children(first);
            let last = inside.len().checked_sub(1).and_then(|last| self.child(inside, last));
            let left = self.child(inside, 0).filter(|left| python_kind(*left) == PythonKind::Identifier);
            let (torn, is_type) = (inside.torn, last.is_some_and(|last| python_kind(last) == PythonKind::Type));
            self.release(inside);
            if is_type && !torn {
                if let Some(left) = left {
                    self.bind(self.text_of(left), Span::from(left), Meaning::Other, None);
                }
                return;
            }
        }
        let value = if self.comma_in(children, span) {
            let mut all = Vec::with_capacity(children.len());
            for index in 0..children.len() {
                if let Some(child) = self.child(children, index) {
                    all.push(self.expr(child));
                }
            }
            self.push(python(PythonExpr::Tuple(all)), span)
        } else {
            self.expr(first)
        };
        self.push_stmt(Stmt::Expr(value), span, out);
    }

    /// Whether the parts of an expression statement are those of a tuple: `a, b`, or `a,`.
    fn comma_in(&self, children: Children, span: Span) -> bool {
        let Some(first) = self.child(children, 0) else { return false };
        let rest = self.text.get(first.end_byte()..span.end as usize).unwrap_or("");
        children.len() > 1 || rest.trim_start().starts_with(',')
    }

    fn deleted(&mut self, targets: Option<Node<'t>>) -> Vec<ExprId> {
        let Some(targets) = targets else { return Vec::new() };
        if matches!(python_kind(targets), PythonKind::ExpressionList | PythonKind::Tuple | PythonKind::List) {
            let children = self.children(targets);
            let all = self.pattern_list(children, false);
            self.release(children);
            return all;
        }
        vec![self.target(targets, None)]
    }

    /// The branches of an `if`, folded from the last: each is the `else` of the one before.
    fn if_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let (Some(condition), then) = (self.child(children, 0), self.child(children, 1)) else { return };
        let condition = self.expr(condition);
        let then = then.map(|then| self.block(then)).unwrap_or_default();
        let mut branches = vec![(condition, then, span)];
        let mut otherwise = Block::new();
        for index in 2..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            let inside = self.children(child);
            match (python_kind(child), self.child(inside, 0), self.child(inside, 1)) {
                (PythonKind::ElifClause, Some(condition), Some(then)) => {
                    let condition = self.expr(condition);
                    let then = self.block(then);
                    let start = Span::from(child).start;
                    branches.push((condition, then, Span { start, end: span.end }));
                }
                (PythonKind::ElseClause, Some(body), _) => self.block_into(body, &mut otherwise),
                _ => {}
            }
            self.release(inside);
        }
        if branches.len() > MAX_CHAIN {
            let exprs = branches.iter().map(|(condition, ..)| *condition).collect();
            let blocks = branches.into_iter().map(|(_, then, _)| then).chain([otherwise]).collect();
            return self.push_stmt(Stmt::Unknown { exprs, blocks }, span, out);
        }
        while let Some((condition, then, span)) = branches.pop() {
            let stmt = Stmt::If { condition, then, otherwise: std::mem::take(&mut otherwise), constant: false };
            let out = if branches.is_empty() { &mut *out } else { &mut otherwise };
            self.push_stmt(stmt, span, out);
        }
    }

    /// The `else` of a loop, among the children from `at` on.
    fn loop_else(&mut self, children: Children, at: usize) -> Block {
        let clause = (at..children.len())
            .filter_map(|index| self.child(children, index))
            .find(|child| python_kind(*child) == PythonKind::ElseClause);
        match clause.and_then(|clause| self.first(clause)) {
            Some(body) => self.block(body),
            None => Block::new(),
        }
    }

    fn while_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let (Some(condition), Some(body)) = (self.child(children, 0), self.child(children, 1)) else { return };
        let condition = self.expr(condition);
        self.frame.loops += 1;
        let body = self.block(body);
        self.frame.loops -= 1;
        let otherwise = self.loop_else(children, 2);
        let breaks = !otherwise.is_empty() && self.breaks(&body);
        let kind = LoopKind::While;
        let stmt = Stmt::Loop { kind, init: Block::new(), condition: Some(condition), step: None, body };
        self.push_stmt(stmt, span, out);
        // Runs when no `break` ended the loop.
        if breaks {
            let condition = self.push(Expr::Unknown(Vec::new()), span);
            let stmt = Stmt::If { condition, then: otherwise, otherwise: Block::new(), constant: false };
            self.push_stmt(stmt, span, out);
        } else if !otherwise.is_empty() {
            self.push_stmt(Stmt::Block(otherwise), span, out);
        }
    }

    /// Whether a `break` of this loop stands in its body.
    fn breaks(&self, body: &Block) -> bool {
        let mut open: Vec<&Block> = vec![body];
        while let Some(block) = open.pop() {
            for id in block {
                match self.module.stmts.get(*id).map(|node| &node.kind) {
                    Some(Stmt::Break) => return true,
                    Some(Stmt::Block(inner)) => open.push(inner),
                    Some(Stmt::If { then, otherwise, .. }) => open.extend([then, otherwise]),
                    Some(Stmt::Try { body, handlers }) => open.extend(handlers.iter().chain([body])),
                    Some(Stmt::Unknown { blocks, .. }) => open.extend(blocks),
                    Some(Stmt::Python(inner)) => match &**inner {
                        PythonStmt::With { body, .. } => open.push(body),
                        PythonStmt::For { otherwise, .. } => open.push(otherwise),
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        false
    }

    fn for_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let (Some(left), Some(right)) = (self.child(children, 0), self.child(children, 1)) else { return };
        let iterable = self.expr(right);
        self.frame.loops += 1;
        let target = self.target(left, None);
        let body = self.child(children, 2).filter(|body| python_kind(*body) == PythonKind::Block);
        let body = body.map(|body| self.block(body)).unwrap_or_default();
        self.frame.loops -= 1;
        let otherwise = self.loop_else(children, 2);
        self.push_stmt(Stmt::Python(Box::new(PythonStmt::For { target, iterable, body, otherwise })), span, out);
    }

    /// Python 2's `print a, b` and `print >>file, a`: a call of `print`.
    fn print_statement(&mut self, children: Children, span: Span, out: &mut Block) {
        let mut args = Vec::new();
        let mut file = None;
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            if python_kind(child) == PythonKind::Chevron {
                file = self.first(child).map(|inner| (self.expr(inner), Span::from(child)));
            } else {
                args.push(self.expr(child));
            }
        }
        if let Some((value, span)) = file {
            let name = self.name("file");
            args.push(self.push(python(PythonExpr::Keyword(name, value)), span));
        }
        let callee = self.name_use("print", Span::new(span.start as usize, span.start as usize + "print".len()));
        let call = self.push(Expr::Call { callee, args }, span);
        self.push_stmt(Stmt::Expr(call), span, out);
    }

    /// What the grammar could not read among the children of a node.
    fn torn_parts(&mut self, node: Node<'t>, out: &mut Block) {
        let children = self.children_where(node, |child| python_kind(child) == PythonKind::Error);
        self.each(children, |this, child| this.unknown_statement(child, out));
    }

    /// A statement that is not understood, with the statements and expressions in it.
    fn unknown_statement(&mut self, node: Node<'t>, out: &mut Block) {
        let children = self.statements(node);
        let mut exprs = Vec::new();
        let mut block = Block::new();
        for index in 0..children.len() {
            let Some(child) = self.child(children, index) else { continue };
            if is_expression(child) {
                exprs.push(self.expr(child));
            } else if python_kind(child) == PythonKind::Block {
                self.block_into(child, &mut block);
            } else if is_statement(child) {
                self.stmt(child, &mut block);
            } else if child.named_child_count() > 0 && self.enter() {
                self.unknown_statement(child, &mut block);
                self.leave();
            }
        }
        self.release(children);
        let blocks = if block.is_empty() { Vec::new() } else { vec![block] };
        self.push_stmt(Stmt::Unknown { exprs, blocks }, Span::from(node), out);
    }
}

/// Whether a node is a whole statement.
fn is_statement(node: Node<'_>) -> bool {
    matches!(
        python_kind(node),
        PythonKind::FunctionDefinition
            | PythonKind::ClassDefinition
            | PythonKind::DecoratedDefinition
            | PythonKind::ImportStatement
            | PythonKind::ImportFromStatement
            | PythonKind::FutureImportStatement
            | PythonKind::GlobalStatement
            | PythonKind::NonlocalStatement
            | PythonKind::ExpressionStatement
            | PythonKind::ReturnStatement
            | PythonKind::RaiseStatement
            | PythonKind::AssertStatement
            | PythonKind::DeleteStatement
            | PythonKind::IfStatement
            | PythonKind::WhileStatement
            | PythonKind::ForStatement
            | PythonKind::WithStatement
            | PythonKind::TryStatement
            | PythonKind::MatchStatement
            | PythonKind::PrintStatement
    )
}
