//! What is known of one call of a library by what it is given: the direction of a copy, and whether what it makes is ever used.

use super::build::Builder;
use crate::facts::CopyKind;
use cudalint_program::api::effects::{Direction, Effect, ErrorRole};
use cudalint_program::api::{ApiId, constant};
use cudalint_program::ir::{Expr, ExprId};

/// Places of a variable's name in a function that are counted, at most.
const MAX_NAMED: usize = 8;

impl Builder<'_> {
    /// Whether all that a call gives goes into a variable of the function which is named nowhere else, but to give that back.
    pub(super) fn makes_unused(&self, api: ApiId, args: &[ExprId]) -> bool {
        // Memory that is taken and left is there for something, be it to try, and a copy tells what came before it.
        if allocates(api) || api.copies() {
            return false;
        }
        let exprs = &self.module.exprs;
        let bare = |arg: &ExprId| match exprs.get(*arg).map(|node| &node.kind) {
            Some(Expr::Cast { value, .. }) => *value,
            _ => *arg,
        };
        let Some(Expr::AddressOf(place)) = args.first().and_then(|out| exprs.get(bare(out))).map(|node| &node.kind)
        else {
            return false;
        };
        let Some(Expr::Local(local)) = exprs.get(*place).map(|node| &node.kind) else { return false };
        let Some(variable) = self.function.locals.get(*local).filter(|_| local.0 >= self.function.param_count) else {
            return false;
        };
        let name = variable.name.as_str();
        let text = self.project.text(self.id, self.function.span);
        let is_part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
        let named = text.match_indices(name).filter(|(at, _)| {
            !is_part(text[..*at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
        });
        let named = named.take(MAX_NAMED).count();
        // Its declaration, and this call.
        if name.is_empty() || named == MAX_NAMED {
            return false;
        }
        let own = 2;
        named <= own
            || {
                let is_it = |arg: &ExprId| matches!(exprs.get(bare(arg)).map(|arg| &arg.kind), Some(Expr::Local(it)) if it == local);
                let given_back = exprs.iter().filter(|node| match &node.kind {
                    Expr::Call { callee, args } if self.function.span.contains(node.span) => {
                        let api = match exprs.get(*callee).map(|callee| &callee.kind) {
                            Some(Expr::Name { path, .. }) => path.last().and_then(|name| ApiId::named(name)),
                            _ => None,
                        };
                        api.is_some_and(|api| api.is_quiet() && (api.frees() || api.releases()))
                            && args.iter().any(is_it)
                    }
                    _ => false,
                });
                named <= own + given_back.count()
            }
    }

    /// Whether a call copies in one of these directions and waits for that.
    pub(super) fn copies(&self, api: ApiId, args: &[ExprId], kinds: &[i64]) -> bool {
        let number = |arg: ExprId| match self.module.exprs.get(arg).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.last().and_then(|name| constant(name)).map(|it| it.value),
            Some(Expr::Int { value, .. }) => Some(*value),
            _ => None,
        };
        let is_one = |direction: Direction| match direction {
            Direction::By(kind) => kind.of(args).and_then(number).is_some_and(|kind| kinds.contains(&kind)),
            Direction::DeviceToHost => kinds.contains(&CopyKind::TO_HOST),
            Direction::HostToDevice => kinds.contains(&CopyKind::TO_DEVICE),
            _ => false,
        };
        api.role == ErrorRole::Synchronizes
            && api.effects.iter().any(|effect| matches!(effect, Effect::Copies { direction, .. } if is_one(*direction)))
    }
}

/// Whether a call allocates memory.
pub(super) fn allocates(api: ApiId) -> bool {
    api.effects.iter().any(|effect| matches!(effect, Effect::Allocates { .. }))
}
