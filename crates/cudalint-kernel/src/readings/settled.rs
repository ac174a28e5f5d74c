//! Races of updates that all threads make alike: `pos = min(pos, n)`, `flags |= 4`, `if (!found) found = true`. Whoever comes
//! first or last, and whether it sees what another has stored, memory ends up the same.

use super::source::{Definition, Source, accessed};
use crate::code::{BinaryOp, Builtin, Code, Expr, ExprId, Intrinsic, Item, Place, Stmt};
use crate::report::{Access, Site};
use std::cell::LazyCell;

/// Nesting of expressions and definitions that is followed.
const MAX_DEPTH: u32 = 16;

/// Whether two accesses are parts of one such update.
pub fn is_settled(code: &Code, first: &Access, second: &Access) -> bool {
    if first.calls != second.calls {
        return false;
    }
    code.functions.iter().enumerate().any(|(index, function)| {
        // Most functions have nothing that looks like one.
        let source = LazyCell::new(|| Source::new(code, function));
        let mut found = false;
        code.walk(&function.body, |item| {
            if let Item::Stmt(id) = item {
                let places = match &code.stmt(id).kind {
                    Stmt::Expr(update) if may_repeat(code, *update) => source.repeated(*update, index == 0),
                    Stmt::If { condition, then, otherwise } if otherwise.is_empty() => match then.as_slice() {
                        [only] => source.repeated_if(*condition, &code.stmt(*only).kind, index == 0),
                        _ => Vec::new(),
                    },
                    _ => Vec::new(),
                };
                found |= places.contains(&first.site) && places.contains(&second.site);
            }
            !found
        });
        found
    })
}

/// Whether a statement may be one, as far as is seen without looking at what its variables hold.
fn may_repeat(code: &Code, id: ExprId) -> bool {
    match &code.expr(id).kind {
        Expr::Update { op: BinaryOp::Or | BinaryOp::And, .. }
        | Expr::Convert(_)
        | Expr::Intrinsic(Intrinsic::WrapIndex { .. }, _) => true,
        Expr::Write(Place::Memory { .. }, value) => !matches!(
            code.expr(*value).kind,
            Expr::Int(_) | Expr::Float(_) | Expr::Read(_) | Expr::Call(..) | Expr::Aggregate(_)
        ),
        _ => false,
    }
}

impl Source<'_> {
    /// The places of an update that says nothing new when it is repeated; none of any other.
    fn repeated(&self, update: ExprId, of_kernel: bool) -> Vec<Site> {
        let common = |value: ExprId| self.is_common(value, of_kernel, MAX_DEPTH);
        match self.kind(self.bare(update)) {
            Expr::Update { place: Place::Memory { .. }, op: BinaryOp::Or | BinaryOp::And, value, .. }
                if common(*value) =>
            {
                vec![self.site(self.bare(update))]
            }
            Expr::Write(Place::Memory { address, .. }, value) => {
                let reads = |id: ExprId| accessed(self.kind(self.bare(id))).is_some_and(|it| self.alike(it, *address));
                let read = match self.kind(self.bare(*value)) {
                    Expr::Binary(BinaryOp::Or | BinaryOp::And, a, b) => Some((*a, *b)),
                    Expr::Intrinsic(Intrinsic::Min | Intrinsic::Max, operands) => match operands.as_slice() {
                        [a, b] => Some((*a, *b)),
                        _ => None,
                    },
                    _ => None,
                };
                let Some((a, b)) = read else { return Vec::new() };
                let (own, other) = if reads(a) { (a, b) } else { (b, a) };
                if reads(own) && common(other) {
                    vec![self.site(self.bare(update)), self.site(self.bare(own))]
                } else {
                    Vec::new()
                }
            }
            _ => Vec::new(),
        }
    }

    /// The same of a store of one value under a condition on what is there.
    fn repeated_if(&self, condition: ExprId, then: &Stmt, of_kernel: bool) -> Vec<Site> {
        let store = match then {
            Stmt::Expr(store) => self.bare(*store),
            Stmt::Block(block) => match block.as_slice() {
                [only] => match &self.code.stmt(*only).kind {
                    Stmt::Expr(store) => self.bare(*store),
                    _ => return Vec::new(),
                },
                _ => return Vec::new(),
            },
            _ => return Vec::new(),
        };
        let Expr::Write(Place::Memory { address, .. }, value) = self.kind(store) else { return Vec::new() };
        if !self.is_common(*value, of_kernel, MAX_DEPTH) {
            return Vec::new();
        }
        let mut places = vec![self.site(store)];
        self.code.walk_expr(condition, |id, kind| {
            if let Expr::Read(Place::Memory { address: read, .. }) = kind
                && self.alike(*read, *address)
            {
                places.push(self.site(id));
            }
            true
        });
        places
    }

    /// Whether all threads of a launch have the same value here. `of_kernel`: parameters are the launch's.
    fn is_common(&self, id: ExprId, of_kernel: bool, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let common = |id: &ExprId| self.is_common(*id, of_kernel, depth);
        match self.kind(id) {
            Expr::Int(_) | Expr::Float(_) => true,
            Expr::Builtin(builtin) => matches!(builtin, Builtin::BlockDim(_) | Builtin::GridDim(_) | Builtin::WarpSize),
            Expr::Read(Place::Register { variable, .. }) => match self.definition(*variable) {
                Definition::Parameter => of_kernel,
                Definition::Once(value) => common(&value),
                Definition::Several => false,
            },
            Expr::Unary(_, a) | Expr::Not(a) | Expr::Convert(a) => common(a),
            Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => common(a) && common(b),
            Expr::Select(a, b, c) => common(a) && common(b) && common(c),
            Expr::Intrinsic(Intrinsic::Min | Intrinsic::Max, operands) => operands.iter().all(common),
            _ => false,
        }
    }
}
