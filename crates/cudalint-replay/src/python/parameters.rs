//! How a kernel in C++ uses the arrays that it is handed: by which type, and in which order.

use super::Walker;
use super::value::{Array, Dtype, Layout};
use cudalint_program::ir::{BinaryOp, Expr, ExprId, FunctionId, ModuleId, Type, TypeId};
use cudalint_program::types::Ty;
use cudalint_program::visit::{Item, walk, walk_expr};

impl Walker<'_> {
    /// Whether a kernel casts a parameter to a pointer to something else: then its declared type says nothing.
    pub(super) fn reads_as_another_type(&self, (module, id): (ModuleId, FunctionId), index: usize) -> bool {
        let Some(function) = self.project.function_at(module, id) else { return false };
        let code = self.project.module(module);
        let Some(body) = &function.body else { return false };
        let kind = |id: ExprId| code.exprs.get(id).map(|node| &node.kind);
        let is_pointer = |ty: TypeId| matches!(code.types.get(ty), Some(Type::Pointer(_) | Type::Reference(_)));
        let mut cast = false;
        walk(code, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Cast { ty, value }) = kind(id)
                && is_pointer(*ty)
            {
                walk_expr(code, *value, |_, inner| {
                    cast |= matches!(inner, Expr::Local(local) if local.index() == index);
                    // What is read through it is a value.
                    !cast && !matches!(inner, Expr::Index { .. } | Expr::Deref(_) | Expr::Call { .. })
                });
            }
            !cast
        });
        cast
    }

    /// Whether the order of elements in memory matters to a kernel: it combines two indices, or the view leaves gaps.
    pub(super) fn indexes_in_order(&self, (module, id): (ModuleId, FunctionId), index: usize, array: &Array) -> bool {
        let Some(function) = self.project.function_at(module, id) else { return false };
        let code = self.project.module(module);
        let Some(body) = &function.body else { return false };
        // A kernel that is told strides does its own arithmetic.
        let strided = function.params().iter().any(|parameter| {
            let name = parameter.name.to_lowercase();
            name.contains("stride") || name.contains("pitch") || name.starts_with("ld") || name.contains("step")
        });
        if strided {
            return false;
        }
        if matches!(array.layout, Layout::Strided(_)) {
            return true;
        }
        let mut product = false;
        let kind = |id: ExprId| code.exprs.get(id).map(|node| &node.kind);
        walk(code, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Index { base, indices }) = kind(id)
                && matches!(kind(*base), Some(Expr::Local(local)) if local.index() == index)
                && let [subscript] = indices.as_slice()
            {
                walk_expr(code, *subscript, |_, inner| {
                    product |= matches!(inner, Expr::Binary(BinaryOp::Mul, _, factor)
                        if !matches!(kind(*factor), Some(Expr::Member { .. })));
                    !product
                });
            }
            !product
        });
        product
    }
}

/// Element types that surely do not go together: what is given, and what the kernel reads.
pub(super) fn elements_differ(given: Dtype, wanted: &Ty) -> Option<(String, String)> {
    let differ = match (given, wanted) {
        // Single bytes are how raw memory is read.
        (_, Ty::Int { bytes: 1, .. } | Ty::Void | Ty::Bool) => false,
        (Dtype::Int { bytes, .. }, Ty::Int { bytes: wanted, .. })
        | (Dtype::Float { bytes }, Ty::Float { bytes: wanted }) => bytes != *wanted,
        (Dtype::Int { .. } | Dtype::Bool, Ty::Float { .. }) | (Dtype::Float { .. } | Dtype::Bool, Ty::Int { .. }) => {
            true
        }
        _ => false,
    };
    differ.then(|| (given.name(), wanted.name()))
}
