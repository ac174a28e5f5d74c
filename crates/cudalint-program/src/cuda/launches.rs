//! Kernel launches: `<<<…>>>` and the calls of the runtime that launch.

use super::fields::{Field, field};
use super::source::{Src, children};
use super::state::Lowerer;
use crate::api::ApiId;
use crate::ir::{Expr, ExprId, LaunchExpr};
use cudalint_syntax::Span;
use cudalint_syntax::{MaskKind, Node};

impl Lowerer<'_> {
    /// `kernel<<<grid, block, shared, stream>>>(args)`.
    pub(super) fn chevron<'t>(&mut self, s: Src<'t>, node: Node<'t>, function: Node<'t>, config: Node<'t>) -> ExprId {
        let kernel = self.callee(s, function);
        let config_span = s.span(config);
        let config = children(config).into_iter().map(|child| self.extent(s, child)).collect();
        let args = match field(node, Field::Arguments) {
            Some(list) => self.arguments(s, list),
            None => Vec::new(),
        };
        let span = s.span(node);
        let launch = LaunchExpr { kernel, config, args, chevron: true, api: None, config_span, attributes: None };
        self.push(Expr::Launch(Box::new(launch)), span)
    }

    /// `kernel ARGS(grid, block) (args)` with a macro that stands for `<<<…>>>`: the mask leaves the call of a call.
    pub(super) fn launch_by_macro<'t>(
        &mut self,
        s: Src<'t>,
        function: Node<'t>,
        list: Node<'t>,
        span: Span,
    ) -> Option<ExprId> {
        if !s.is_file() {
            return None;
        }
        let (kernel, config) = (field(function, Field::Function)?, field(function, Field::Arguments)?);
        let between = Span { start: s.span(kernel).end, end: s.span(config).start };
        let note = self.notes(between).find(|note| note.kind == MaskKind::LaunchMacro)?;
        let config_span = note.span.cover(s.span(config));
        let kernel = self.callee(s, kernel);
        let config = self.arguments(s, config);
        let args = self.arguments(s, list);
        let launch = LaunchExpr { kernel, config, args, chevron: true, api: None, config_span, attributes: None };
        Some(self.push(Expr::Launch(Box::new(launch)), span))
    }

    /// One part of a configuration. The grammar knows no `{8, 8}` there, so that the mask makes parentheses of the braces.
    fn extent<'t>(&mut self, s: Src<'t>, node: Node<'t>) -> ExprId {
        let value = self.expr(s, node);
        let Some(inside) = s.text(node).strip_prefix('{') else { return value };
        let values = match self.module.exprs.get(value).map(|node| &node.kind) {
            Some(Expr::InitList(_)) => return value,
            Some(Expr::Comma(values)) => values.clone(),
            // Of empty braces the mask leaves one byte.
            _ if inside.trim_end_matches('}').trim().is_empty() => Vec::new(),
            _ => vec![value],
        };
        self.push(Expr::InitList(values), s.span(node))
    }

    /// The launch that a call of the runtime makes, when its kernel is named in the call.
    pub(super) fn launch_call(&mut self, api: ApiId, args: &[ExprId], span: Span) -> Option<ExprId> {
        let how = api.launches()?;
        let kernel = self.kernel_name(how.kernel.of(args)?)?;
        let (config, attributes) = match (how.extents, how.config) {
            (Some([grid, block]), _) => {
                // The shared memory and the stream stand behind arguments that are one array, and before those that are many.
                let first = if how.packed { how.args.at() } else { block.at() } + 1;
                let behind = args.get(first..).unwrap_or_default().iter().take(2);
                ([grid.of(args)?, block.of(args)?].into_iter().chain(behind.copied()).collect(), None)
            }
            (None, Some(structure)) => (Vec::new(), Some(structure.of(args)?)),
            (None, None) => return None,
        };
        let spans = config.iter().chain(&attributes).filter_map(|id| self.module.exprs.get(*id).map(|node| node.span));
        let config_span = spans.reduce(Span::cover).unwrap_or(span);
        let args = if how.packed { vec![how.args.of(args)?] } else { args.get(how.args.at()..)?.to_vec() };
        let launch = LaunchExpr { kernel, config, args, chevron: false, api: Some(api), config_span, attributes };
        Some(self.push(Expr::Launch(Box::new(launch)), span))
    }

    /// The name of a kernel, or of a variable that holds it, under casts and `&`.
    fn kernel_name(&self, mut id: ExprId) -> Option<ExprId> {
        for _ in 0..8 {
            match &self.module.exprs.get(id)?.kind {
                Expr::Cast { value, .. } | Expr::AddressOf(value) => id = *value,
                Expr::Name { .. } | Expr::Local(_) => return Some(id),
                // Keeps the commas of a kernel's template arguments out of a macro's.
                Expr::Call { callee, args } => match (&self.module.exprs.get(*callee)?.kind, args.as_slice()) {
                    (Expr::Name { path, .. }, [kernel])
                        if path.last().is_some_and(|name| name.as_str() == "HIP_KERNEL_NAME") =>
                    {
                        id = *kernel;
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }
}
