//! `new` and `delete`.

use super::fields::{Field, field};
use super::source::{Src, children};
use super::state::Lowerer;
use crate::ir::{Expr, ExprId, Type};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

impl Lowerer<'_> {
    pub(super) fn new_expression<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let Some(ty) = field(node, Field::TypeOf) else { return self.unknown(s, node) };
        let base = self.specifier(s, ty);
        let end = ty.end_byte();
        let mut ty = self.qualify(s, node, base);
        for _ in 0..stars_after(s.text.get(end..).unwrap_or("")) {
            ty = self.push_type(Type::Pointer(ty));
        }
        let mut count = None;
        let mut inner = Vec::new();
        let mut declarator = field(node, Field::Declarator);
        // `new T[n][4]`: n elements of type T[4].
        while let Some(node) = declarator {
            match cuda_kind(node) {
                CudaKind::NewDeclarator => {
                    let length = field(node, Field::Length).map(|length| self.expr(s, length));
                    if count.is_none() {
                        count = length;
                    } else {
                        inner.push(length);
                    }
                }
                CudaKind::AbstractPointerDeclarator => ty = self.push_type(Type::Pointer(ty)),
                _ => {}
            }
            declarator = children(node)
                .into_iter()
                .find(|c| matches!(cuda_kind(*c), CudaKind::NewDeclarator | CudaKind::AbstractPointerDeclarator));
        }
        for length in inner.into_iter().rev() {
            ty = self.push_type(Type::Array(ty, length));
        }
        let args = match field(node, Field::Arguments) {
            Some(list) => self.arguments(s, list),
            None => Vec::new(),
        };
        let span = s.span(node);
        if let Some(placement) = field(node, Field::Placement) {
            let operands = self.arguments(s, placement);
            return match operands.as_slice() {
                // It may give null; what it gives otherwise is new memory.
                [one] if self.is_nothrow(*one) => self.push(Expr::New { ty, count, args: args.into() }, span),
                [at] => self.push(Expr::Place { at: *at, ty, count, args: args.into() }, span),
                _ => {
                    let values = operands.into_iter().chain(args).collect();
                    self.push(Expr::Unknown(values), span)
                }
            };
        }
        self.push(Expr::New { ty, count, args: args.into() }, span)
    }

    /// `std::nothrow`.
    fn is_nothrow(&self, id: ExprId) -> bool {
        let node = self.module.exprs.get(id);
        matches!(node.map(|node| &node.kind), Some(Expr::Name { path, .. })
            if path.last().is_some_and(|last| last == "nothrow"))
    }

    pub(super) fn delete_expression<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let Some(value) = children(node).last().copied() else { return self.unknown(s, node) };
        let between = s.text.get(node.start_byte()..value.start_byte()).unwrap_or("");
        let array = between.contains('[');
        let value = self.expr(s, value);
        let span = s.span(node);
        self.push(Expr::Delete { value, array }, span)
    }
}

/// The stars of `new T*[n]`, which the parser does not know and is not shown.
fn stars_after(text: &str) -> usize {
    let stars = text.chars().filter(|c| !c.is_whitespace()).take_while(|c| *c == '*').count();
    let rest = text.trim_start_matches(|c: char| c == '*' || c.is_whitespace());
    if rest.starts_with(['[', '(', ';']) { stars } else { 0 }
}
