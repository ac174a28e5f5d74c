//! Range checks that hold for every number: `b >= 0 or b < n` where `and` is meant. An execution cannot show what they let
//! through when the index is computed from data that nobody knows; that the condition keeps nothing out follows from itself.

use super::source::{Definition, Source, accessed};
use crate::code::{BinaryOp, Block, Code, Expr, ExprId, Item, Part, Place, Stmt, VariableId};
use crate::report::Site;

/// How deep definitions are followed.
const MAX_DEPTH: u32 = 4;

/// An access that such a condition stands before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unguarded {
    /// The array's parameter.
    pub array: String,
    /// The variable that is the index.
    pub index: String,
    /// The access.
    pub access: Site,
    /// The condition.
    pub condition: Site,
}

/// Accesses of a kernel behind conditions that hold for every index, where it is launched with these numbers as parameters.
pub fn unguarded(code: &Code, bindings: &[(String, i64)]) -> Vec<Unguarded> {
    let Some(source) = Source::kernel(code) else { return Vec::new() };
    let mut found = Vec::new();
    code.walk(&source.function.body, |item| {
        if let Item::Stmt(id) = item
            && let Stmt::If { condition, then, .. } = &code.stmt(id).kind
            && let Some(index) = source.vacuous(*condition, bindings)
            && source.reads_memory(index)
        {
            source.accesses(then, index, source.site(*condition), &mut found);
        }
        true
    });
    found
}

impl Source<'_> {
    /// The variable that a condition says nothing of, though it compares it at both ends of a range.
    fn vacuous(&self, condition: ExprId, bindings: &[(String, i64)]) -> Option<VariableId> {
        let Expr::Or(a, b) = self.kind(self.bare(condition)) else { return None };
        let (left, right) = (self.comparisons(*a), self.comparisons(*b));
        let pairs = left.iter().flat_map(|first| right.iter().map(move |second| (first, second)));
        pairs.into_iter().find_map(|(first, second)| {
            let (low, high) = match (first.1, second.1) {
                (BinaryOp::Ge | BinaryOp::Gt, BinaryOp::Lt | BinaryOp::Le) => (first, second),
                (BinaryOp::Lt | BinaryOp::Le, BinaryOp::Ge | BinaryOp::Gt) => (second, first),
                _ => return None,
            };
            let least = self.integer(low.2)?.saturating_add(i64::from(low.1 == BinaryOp::Gt));
            (low.0 == high.0 && least <= 0 && self.is_count(high.2, bindings, 0)).then_some(low.0)
        })
    }

    /// A comparison as one of each variable in it with the other side: `n > b` is `b < n`, too.
    fn comparisons(&self, id: ExprId) -> Vec<(VariableId, BinaryOp, ExprId)> {
        let Expr::Binary(op, a, b) = self.kind(self.bare(id)) else { return Vec::new() };
        let mirrored = match op {
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            _ => return Vec::new(),
        };
        let sides = [(a, *op, b), (b, mirrored, a)];
        sides.into_iter().filter_map(|(side, op, other)| Some((self.variable(*side)?, op, *other))).collect()
    }

    /// Whether something is surely not negative: a number, an extent of an array, a parameter that this launch gives one.
    fn is_count(&self, id: ExprId, bindings: &[(String, i64)], depth: u32) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        if let Some(value) = self.integer(id) {
            return value >= 0;
        }
        // `a.size` of an array of several axes.
        if let Expr::Binary(BinaryOp::Mul, a, b) = self.kind(self.bare(id)) {
            return self.is_count(*a, bindings, depth + 1) && self.is_count(*b, bindings, depth + 1);
        }
        let Some(variable) = self.variable(id) else { return false };
        match self.definition(variable) {
            Definition::Parameter => {
                let name = self.name(variable);
                matches!(self.code.arguments.get(variable.index()), Some((_, Part::Extent(_))))
                    || bindings.iter().any(|(known, value)| known == name && *value >= 0)
            }
            Definition::Once(value) => self.is_count(value, bindings, depth + 1),
            Definition::Several => false,
        }
    }

    /// Whether a variable is computed from what memory holds that the kernel is handed: else an execution knows it.
    fn reads_memory(&self, variable: VariableId) -> bool {
        let Some(value) = self.value(variable) else { return false };
        let mut found = false;
        self.code.walk_expr(value, |id, kind| {
            if let Expr::Read(Place::Memory { address, .. }) = kind {
                let (base, _) = self.indices(id, *address);
                found |= !matches!(self.kind(base), Expr::ObjectAddress(_) | Expr::VariableAddress(_));
            }
            !found
        });
        found
    }

    /// Accesses `a[index]` of parameters in a block.
    fn accesses(&self, block: &Block, index: VariableId, condition: Site, found: &mut Vec<Unguarded>) {
        self.code.walk(block, |item| {
            let Item::Expr(id) = item else { return true };
            let Some(address) = accessed(self.kind(id)) else { return true };
            let (base, indices) = self.indices(id, address);
            if let [only] = indices.as_slice()
                && self.variable(*only) == Some(index)
                && let Some(array) = self.variable(base)
                && array.0 < self.function.parameters
            {
                let (array, index) = (self.name(array).to_owned(), self.name(index).to_owned());
                found.push(Unguarded { array, index, access: self.site(id), condition });
            }
            true
        });
    }
}
