//! Code for the host or the device alone in the macros of `<nv/target>`, as in `NV_IF_TARGET(NV_IS_HOST, (free(p);))`.

use super::fields::{Field, field};
use super::source::{Src, named_children};
use super::state::Lowerer;
use crate::ir::{Block, Expr, Stmt};
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{CudaKind, cuda_kind};

/// Whether code for a target is compiled in a function that runs on the host alone, or else on a device alone (`host` is
/// `false`); `None` where it is compiled for both or the architecture decides.
fn holds(target: &str, host: Option<bool>) -> Option<bool> {
    match target {
        "NV_IS_HOST" => host,
        "NV_IS_DEVICE" => host.map(|host| !host),
        "NV_ANY_TARGET" => Some(true),
        "NV_NO_TARGET" => Some(false),
        _ => host.filter(|host| *host).map(|_| false),
    }
}

impl Lowerer<'_> {
    /// Lowers what such a macro leaves of its arguments; whether the expression is such a macro.
    pub(super) fn target_macro<'t>(&mut self, s: Src<'t>, call: Node<'t>, out: &mut Block) -> bool {
        let name = field(call, Field::Function).map_or("", |function| s.text(function));
        if !matches!(name, "NV_IF_TARGET" | "NV_IF_ELSE_TARGET" | "NV_DISPATCH_TARGET") {
            return false;
        }
        let Some(list) = field(call, Field::Arguments) else { return false };
        let arguments: Vec<Node<'t>> =
            named_children(list).into_iter().filter(|node| cuda_kind(*node) != CudaKind::Comment).collect();
        let pairs = arguments.chunks_exact(2);
        let otherwise = pairs.remainder().first().copied();
        if pairs.clone().any(|pair| !pair.first().is_some_and(|target| s.text(*target).starts_with("NV_"))) {
            return false;
        }
        let host = match self.frames.last() {
            Some(frame) if frame.host_only => Some(true),
            Some(frame) if frame.device_only => Some(false),
            _ => None,
        };
        let mut left = otherwise.map_or_else(Block::default, |code| self.target_code(s, code));
        for pair in pairs.rev() {
            let [target, code] = pair else { continue };
            left = match holds(s.text(*target), host) {
                Some(true) => self.target_code(s, *code),
                Some(false) => left,
                None => {
                    let condition = self.push(Expr::Unknown(Vec::new()), s.span(*target));
                    let then = self.target_code(s, *code);
                    let either = Stmt::If { condition, then, otherwise: left, constant: false };
                    vec![self.push_stmt(either, s.span(call))]
                }
            };
        }
        out.extend(left);
        true
    }

    /// Code for one target.
    fn target_code<'t>(&mut self, s: Src<'t>, code: Node<'t>) -> Block {
        let mut out = Block::default();
        if cuda_kind(code) == CudaKind::CompoundStatement {
            self.statement(s, code, &mut out);
        } else {
            let value = self.expr(s, code);
            out.push(self.push_stmt(Stmt::Expr(value), s.span(code)));
        }
        out
    }
}
