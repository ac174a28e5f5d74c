//! Silent misreadings of the grammar inside functions, undone from what the names are known to be.

use super::fields::{Field, callee_and_list, field, infix, prefix};
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Block, Expr, ExprId, Space, Stmt, Type};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    /// Whether `T name(list)` in a function constructs a variable rather than declaring a function.
    pub(super) fn is_construction(&self, s: Src<'_>, specifier: Node<'_>, list: Node<'_>) -> bool {
        let parameters = children(list);
        if parameters.is_empty() {
            return false;
        }
        let is_dim3 = s.text(specifier) == "dim3";
        parameters.iter().all(|parameter| self.may_be_value(s, *parameter, is_dim3))
    }

    fn may_be_value(&self, s: Src<'_>, parameter: Node<'_>, sure: bool) -> bool {
        if cuda_kind(parameter) != CudaKind::ParameterDeclaration {
            return is_literal_like(parameter);
        }
        let Some(ty) = field(parameter, Field::TypeOf) else { return false };
        let qualified = children(parameter).iter().any(|child| cuda_kind(*child) == CudaKind::TypeQualifier);
        if qualified {
            return false;
        }
        let bare = field(parameter, Field::Declarator).is_none();
        match cuda_kind(ty) {
            CudaKind::TypeIdentifier => {
                let name = s.text(ty);
                // `sizeof(int)` and `f(x)` look like a type with a function declarator.
                if self.is_value(s, name) || name == "sizeof" {
                    return true;
                }
                if sure {
                    return !self.is_type(s, name) || !bare;
                }
                let called = field(parameter, Field::Declarator)
                    .is_some_and(|declarator| cuda_kind(declarator) == CudaKind::AbstractFunctionDeclarator);
                (bare || called) && !self.is_type(s, name)
            }
            CudaKind::QualifiedIdentifier => bare && (sure || !s.text(ty).starts_with("std::")),
            _ => false,
        }
    }

    /// A parameter declaration that is a value: `a`, `a * b`, `f(x)`.
    pub(super) fn parameter_as_value<'t>(&mut self, s: Src<'t>, parameter: Node<'t>) -> ExprId {
        if cuda_kind(parameter) == CudaKind::ParameterDeclaration
            && parameter.named_child_count() == 1
            && let Some(ty) = field(parameter, Field::TypeOf)
        {
            match cuda_kind(ty) {
                // Words of the language, of which the grammar knows none where it expects a type.
                CudaKind::TypeIdentifier if matches!(s.text(ty), "true" | "false" | "nullptr" | "this") => {}
                CudaKind::TypeIdentifier => return self.identifier(s, ty),
                CudaKind::QualifiedIdentifier => return self.qualified(s, ty),
                _ => {}
            }
        }
        self.reparsed(s, parameter)
    }

    /// A node's text read again as an expression.
    pub(super) fn reparsed<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let span = s.span(node);
        let text = s.text(node);
        self.expression_text_in(text, span, s.bindings)
    }

    /// `float (*p)[16] = q;` and `float (&r)[4] = a[0];` are read as assignments to elements of a call, `void (*f)(T) = k;` as one
    /// to the result of a call.
    pub(super) fn misread_declaration<'t>(&mut self, s: Src<'t>, node: Node<'t>, out: &mut Block) -> bool {
        if !has_parenthesized_declarator(s.text(node)) {
            return false;
        }
        let (mut left, right) = if cuda_kind(node) == CudaKind::AssignmentExpression {
            let Some((left, operator, right)) = infix(node) else { return false };
            if operator.is_some_and(|op| s.text(op) != "=") {
                return false;
            }
            (left, Some(right))
        } else {
            (node, None)
        };
        let mut extents = Vec::new();
        while cuda_kind(left) == CudaKind::SubscriptExpression {
            let (Some(base), Some(list)) = (field(left, Field::Argument), field(left, Field::Indices)) else {
                return false;
            };
            let list = children(list);
            let [extent] = list.as_slice() else { return false };
            extents.push(*extent);
            left = base;
        }
        if cuda_kind(left) != CudaKind::CallExpression {
            return false;
        }
        let Some((mut function, mut list)) = callee_and_list(left) else { return false };
        let takes_parameters = extents.is_empty();
        if takes_parameters {
            if right.is_none() || cuda_kind(function) != CudaKind::CallExpression {
                return false;
            }
            let Some(inner) = callee_and_list(function) else { return false };
            (function, list) = inner;
        }
        let list = children(list);
        let [declarator] = list.as_slice() else { return false };
        let declarator = *declarator;
        if cuda_kind(declarator) != CudaKind::PointerExpression {
            return false;
        }
        let Some((operator, name)) = prefix(declarator) else { return false };
        if cuda_kind(name) != CudaKind::Identifier {
            return false;
        }
        let text = s.text(function);
        let is_type = match cuda_kind(function) {
            CudaKind::PrimitiveType | CudaKind::SizedTypeSpecifier => true,
            CudaKind::Identifier => self.is_type(s, text) || self.lookup(s.text(name)).is_none(),
            _ => false,
        };
        if !is_type {
            return false;
        }
        let mut ty = if takes_parameters { self.push_type(Type::Function) } else { self.specifier(s, function) };
        // Collected from the outermost bracket, which is the innermost extent.
        for extent in extents {
            let size = self.expr(s, extent);
            ty = self.push_type(Type::Array(ty, Some(size)));
        }
        ty = self.push_type(if s.text(operator) == "&" { Type::Reference(ty) } else { Type::Pointer(ty) });
        let span = s.span(name);
        let declared = self.declared_name(s, name);
        let init = right.map(|right| self.expr(s, right));
        let local = self.declare(declared, ty, Space::Ordinary, false, span);
        if let Some(variable) = self.local_mut(local) {
            variable.init = init;
        }
        let whole = s.span(node);
        out.push(self.push_stmt(Stmt::Declare(local), whole));
        true
    }

    /// A piece of the file's text read as an expression.
    pub(super) fn expression_text(&mut self, text: &str, span: cudalint_syntax::Span) -> ExprId {
        self.expression_text_in(text, span, None)
    }

    pub(super) fn expression_text_in<'t>(
        &mut self,
        text: &'t str,
        span: cudalint_syntax::Span,
        bindings: Option<&'t super::source::Bindings<'t>>,
    ) -> ExprId {
        let fragment = cudalint_syntax::parse_fragment(cudalint_syntax::FragmentKind::Expression, text, self.pool);
        if let Some(fragment) = &fragment
            && let Some(content) = fragment.content()
            && self.enter()
        {
            let shift = i64::from(span.start) - fragment.shift as i64;
            let source = Src::shifted(&fragment.wrapped, shift, span, bindings);
            let value = self.expr(source, content);
            self.leave();
            return value;
        }
        self.push(Expr::Unknown(Vec::new()), span)
    }
}

/// Whether a text has, before its first `=`, a parenthesis with a `*` or `&` somewhere behind it: most statements need no
/// look at their nodes.
fn has_parenthesized_declarator(text: &str) -> bool {
    let bytes = text.as_bytes();
    let left = &bytes[..memchr::memchr(b'=', bytes).unwrap_or(bytes.len())];
    let behind = memchr::memchr(b'(', left).and_then(|open| left.get(open..));
    behind.is_some_and(|behind| memchr::memchr2(b'*', b'&', behind).is_some())
}

fn is_literal_like(node: Node<'_>) -> bool {
    matches!(cuda_kind(node), CudaKind::NumberLiteral | CudaKind::BinaryExpression | CudaKind::CallExpression)
}
