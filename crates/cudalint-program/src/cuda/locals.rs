//! Declarations in functions.

use super::fields::{Field, field, parameters_of, value_of};
use super::parts::Parts;
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Block, Expr, ExprId, Space, Stmt, StmtId, Type, TypeId};
use cudalint_syntax::kinds::{CudaKind, cuda_kind};
use cudalint_syntax::{Node, Span};

impl Lowerer<'_> {
    /// Declares the names of a structured binding; by reference they name parts of something else.
    pub(super) fn bindings<'t>(&mut self, s: Src<'t>, node: Node<'t>, by_reference: bool) -> Vec<StmtId> {
        let mut out = Vec::new();
        for name in children(node) {
            let mut ty = self.push_type(Type::Unknown);
            if by_reference {
                ty = self.push_type(Type::Reference(ty));
            }
            let text = self.declared_name(s, name);
            let span = s.span(name);
            let local = self.declare(text, ty, Space::Ordinary, false, span);
            out.push(self.push_stmt(Stmt::Declare(local), span));
        }
        out
    }

    /// What names are bound to the parts of. By `auto &[a, b] = x` the variable `x` may be written under other names, which
    /// nobody follows: its address is handed out.
    pub(super) fn bound_parts(&mut self, value: ExprId, ty: TypeId) -> ExprId {
        let Some(Type::Reference(to)) = self.module.types.get(ty) else { return value };
        if self.module.is_const(*to) {
            return value;
        }
        let span = self.module.exprs.get(value).map_or_else(Span::default, |node| node.span);
        let address = self.push(Expr::AddressOf(value), span);
        self.push(Expr::Unknown(vec![address]), span)
    }

    /// A declaration in a function.
    pub(super) fn local_declaration<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) {
        let parts = Parts::of(s, node);
        let storage = self.storage(s, &parts);
        let Some(specifier) = parts.ty else { return self.damaged_statement(s, node, out) };
        if self.headed_assignment(s, node, specifier, out) || self.macro_before_assignment(s, &parts, specifier, out) {
            return;
        }
        let base = self.specifier(s, specifier);
        let base = self.qualify_parts(s, &parts, base);
        for declarator in parts.declarators.iter().copied() {
            let declared = self.declarator(s, declarator, base);
            let Some(name) = declared.name else { continue };
            let space = storage.local_space(self.is_unsized_array(declared.ty));
            if cuda_kind(name) == CudaKind::StructuredBindingDeclarator {
                let mut by_reference = false;
                if let Some(value) = field(declarator, Field::Value) {
                    let value = self.expr(s, value);
                    let bound = self.bound_parts(value, declared.ty);
                    by_reference = bound != value;
                    self.emit(s, declarator, Stmt::Expr(bound), out);
                }
                let bindings = self.bindings(s, name, by_reference);
                out.extend(bindings);
                continue;
            }
            let span = s.span(name);
            if let Some(function) = declared.function {
                let Some(list) = parameters_of(function) else { continue };
                if !self.is_construction(s, specifier, list) {
                    continue;
                }
                let text = self.declared_name(s, name);
                let args: Vec<ExprId> =
                    children(list).into_iter().map(|parameter| self.parameter_as_value(s, parameter)).collect();
                let value_span = s.span(list);
                let value = self.push(Expr::Construct { ty: declared.ty, args, braces: false }, value_span);
                let local = self.declare(text, declared.ty, space, storage.is_constexpr, span);
                if let Some(variable) = self.local_mut(local) {
                    variable.init = Some(value);
                }
                self.emit(s, declarator, Stmt::Declare(local), out);
                continue;
            }
            let text = self.declared_name(s, name);
            // The name is in scope in its own initializer: `T* p = (T*)malloc(sizeof(*p))`.
            let local = self.declare(text, declared.ty, space, storage.is_constexpr, span);
            let init = self.initializer(s, node, declarator, declared.ty);
            if let Some(variable) = self.local_mut(local) {
                variable.init = init;
            }
            self.emit(s, declarator, Stmt::Declare(local), out);
        }
    }

    /// Whether a type is that of an array whose first extent is left open. A name may stand for one.
    pub(super) fn is_unsized_array(&self, ty: TypeId) -> bool {
        match self.module.types.get(ty) {
            Some(Type::Array(_, extent)) => extent.is_none(),
            Some(Type::Named { .. } | Type::Member { .. } | Type::Qualified { .. } | Type::Unknown) | None => true,
            Some(_) => false,
        }
    }

    /// The value that a declarator gives: after `=`, in parentheses or in braces.
    pub(super) fn initializer<'t>(
        &mut self,
        s: Src<'t>,
        declaration: Node<'t>,
        declarator: Node<'t>,
        ty: TypeId,
    ) -> Option<ExprId> {
        if cuda_kind(declarator) != CudaKind::InitDeclarator {
            // In a condition, the value stands beside the declarator.
            if s.text(declaration).ends_with(';') {
                return None;
            }
            let value = field(declaration, Field::Value)?;
            return Some(self.expr(s, value));
        }
        let (inner, value) = value_of(declarator)?;
        let span = s.span(value);
        match cuda_kind(value) {
            CudaKind::ArgumentList => {
                let args = self.arguments(s, value);
                Some(self.push(Expr::Construct { ty, args, braces: false }, span))
            }
            CudaKind::InitializerList => {
                let between = s.text.get(inner.end_byte()..value.start_byte()).unwrap_or("");
                if between.contains('=') {
                    return Some(self.initializer_list(s, value));
                }
                let args = self.arguments(s, value);
                Some(self.push(Expr::Construct { ty, args, braces: true }, span))
            }
            _ => Some(self.expr(s, value)),
        }
    }
}
