//! Kernel launches: `<<<…>>>` and the calls of the runtime that launch.

use super::Lowerer;
use super::fields::{Field, field};
use super::source::{Src, child_of_kind, children};
use crate::ir::{Expr, ExprId, LaunchExpr};
use cudalint_syntax::Node;
use cudalint_syntax::Span;
use cudalint_syntax::kinds::CudaKind;

impl Lowerer<'_> {
    /// `kernel<<<grid, block, shared, stream>>>(args)`.
    pub(super) fn chevron<'t>(&mut self, s: Src<'t>, node: Node<'t>, function: Node<'t>, config: Node<'t>) -> ExprId {
        let kernel = self.callee(s, function);
        let config_span = s.span(config);
        let config = children(config).into_iter().map(|child| self.expr(s, child)).collect();
        let args = match field(node, Field::Arguments) {
            Some(list) => self.arguments(s, list),
            None => Vec::new(),
        };
        let span = s.span(node);
        let launch = LaunchExpr { kernel, config, args, chevron: true, config_span, attributes: None };
        self.push(Expr::Launch(Box::new(launch)), span)
    }

    /// The launch that a call of the runtime makes, when its kernel is named in the call.
    pub(super) fn launch_call(&mut self, name: &str, args: &[ExprId], span: Span) -> Option<ExprId> {
        let cover = |this: &Self, ids: &[ExprId]| {
            let spans = ids.iter().filter_map(|id| this.module.exprs.get(*id).map(|node| node.span));
            spans.reduce(Span::cover).unwrap_or(span)
        };
        let launch = match name {
            "cudaLaunchKernel" | "cudaLaunchCooperativeKernel" => {
                let [kernel, grid, block, array, rest @ ..] = args else { return None };
                let mut config = vec![*grid, *block];
                config.extend(rest.iter().take(2));
                let config_span = cover(self, &config);
                let kernel = self.kernel_name(*kernel)?;
                LaunchExpr { kernel, config, args: vec![*array], chevron: false, config_span, attributes: None }
            }
            "cudaLaunchKernelEx" => {
                let [attributes, kernel, rest @ ..] = args else { return None };
                let config_span = cover(self, &[*attributes]);
                let kernel = self.kernel_name(*kernel)?;
                LaunchExpr {
                    kernel,
                    config: Vec::new(),
                    args: rest.to_vec(),
                    chevron: false,
                    config_span,
                    attributes: Some(*attributes),
                }
            }
            _ => return None,
        };
        Some(self.push(Expr::Launch(Box::new(launch)), span))
    }

    /// The name of a kernel under casts and `&`.
    fn kernel_name(&self, mut id: ExprId) -> Option<ExprId> {
        for _ in 0..8 {
            match &self.module.exprs.get(id)?.kind {
                Expr::Cast { value, .. } | Expr::AddressOf(value) => id = *value,
                Expr::Name { .. } => return Some(id),
                _ => return None,
            }
        }
        None
    }
}

/// The configuration of a launch, if a call is one.
pub(super) fn configuration(node: Node<'_>) -> Option<Node<'_>> {
    child_of_kind(node, CudaKind::KernelCallSyntax)
}
