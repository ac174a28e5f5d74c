//! Loops: `for`, `while`, `do`, and those over the elements of a range.

use super::fields::{Field, field};
use super::source::Src;
use super::state::Lowerer;
use crate::ir::{Block, Expr, ExprId, LoopKind, Space, Stmt, Type};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    pub(super) fn for_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mark = self.open_scope();
        let mut init = Vec::new();
        if let Some(initializer) = field(node, Field::Initializer) {
            self.statement(s, initializer, &mut init);
        }
        let condition = field(node, Field::Condition).map(|condition| self.expr(s, condition));
        let step = field(node, Field::Update).map(|step| self.expr(s, step));
        let body = match field(node, Field::Body) {
            Some(body) => self.body(s, body),
            None => Vec::new(),
        };
        self.close_scope(mark);
        self.emit(s, node, Stmt::Loop { kind: LoopKind::For, init, condition, step, body }, out);
    }

    pub(super) fn while_statement<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mark = self.open_scope();
        let is_do = cuda_kind(node) == CudaKind::DoStatement;
        let mut init = Vec::new();
        let mut condition = None;
        if !is_do && let Some(clause) = field(node, Field::Condition) {
            condition = Some(self.condition(s, clause, &mut init));
            self.redeclare_in_condition(&init, &mut condition);
        }
        let body = match field(node, Field::Body) {
            Some(body) => self.body(s, body),
            None => Vec::new(),
        };
        if is_do && let Some(clause) = field(node, Field::Condition) {
            condition = Some(self.expr(s, clause));
        }
        self.close_scope(mark);
        let kind = if is_do { LoopKind::DoWhile } else { LoopKind::While };
        self.emit(s, node, Stmt::Loop { kind, init, condition, step: None, body }, out);
    }

    /// `while (T x = f())` gives `x` its value at each test.
    fn redeclare_in_condition(&mut self, init: &Block, condition: &mut Option<ExprId>) {
        let Some(id) = *condition else { return };
        let [only] = init.as_slice() else { return };
        let Some(Stmt::Declare(local)) = self.module.stmts.get(*only).map(|node| node.kind.clone()) else {
            return;
        };
        let Some(value) = self.local_mut(local).and_then(|variable| variable.init.take()) else { return };
        let span = self.module.exprs.get(id).map(|node| node.span).unwrap_or_default();
        *condition = Some(self.push(Expr::Assign { op: None, target: id, value }, span));
    }

    pub(super) fn for_range<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let mark = self.open_scope();
        let range = match field(node, Field::Right) {
            Some(range) => self.expr(s, range),
            None => self.unknown(s, node),
        };
        let base = match field(node, Field::TypeOf) {
            Some(ty) => self.specifier(s, ty),
            None => self.push_type(Type::Unknown),
        };
        let base = self.qualify(s, node, base);
        let mut variable = None;
        let mut bindings = Vec::new();
        if let Some(declarator) = field(node, Field::Declarator) {
            let declared = self.declarator(s, declarator, base);
            if let Some(name) = declared.name {
                if cuda_kind(name) == CudaKind::StructuredBindingDeclarator {
                    // A range that is computed here has no other name.
                    let named = self.module.exprs.get(range).is_some_and(|node| {
                        matches!(
                            node.kind,
                            Expr::Local(_) | Expr::Name { .. } | Expr::Member { .. } | Expr::Index { .. }
                        )
                    });
                    let written = self.bound_parts(range, declared.ty);
                    if named && written != range {
                        bindings.push(self.push_stmt(Stmt::Expr(written), s.span(name)));
                    }
                    bindings.extend(self.bindings(s, name, written != range));
                } else {
                    let text = self.declared_name(s, name);
                    let span = s.span(name);
                    variable = Some(self.declare(text, declared.ty, Space::Ordinary, false, span));
                }
            }
        }
        let variable = variable.unwrap_or_else(|| {
            let name = self.name("");
            let ty = self.push_type(Type::Auto);
            let span = s.span(node);
            self.declare(name, ty, Space::Ordinary, false, span)
        });
        let mut body = bindings;
        if let Some(inner) = field(node, Field::Body) {
            body.extend(self.body(s, inner));
        }
        self.close_scope(mark);
        self.emit(s, node, Stmt::ForEach { variable, range, body }, out);
    }
}
