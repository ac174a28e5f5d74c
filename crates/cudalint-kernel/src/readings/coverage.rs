//! How many elements a kernel says there are: `if (i < n)` on the plain global index, one element a thread.

use super::source::{Definition, Source};
use crate::code::{
    BinaryOp, Block, Builtin, Code, Expr, ExprId, Group, Intrinsic, Item, Part, Place, Stmt, VariableId,
};
use crate::report::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// Deepest nesting of blocks and definitions that is followed.
const MAX_DEPTH: u32 = 8;

/// `if (i < n)` on a global index that is each thread's one element.
#[derive(Clone, Debug, PartialEq)]
pub struct CoverageClaim {
    /// 0, 1, 2 for x, y, z.
    pub axis: u8,
    /// Which parameter of the code holds the bound.
    pub parameter: u32,
    /// Added to the parameter: `i < n - 1` has -1.
    pub offset: i64,
    /// Place of the test.
    pub site: Site,
    /// No test says so: each thread writes its element of an array, whose data are this parameter of the code. That counts
    /// where nobody has written the array before.
    pub fills: Option<u32>,
}

/// The claims of a kernel: empty when it strides, when its index is anything but `blockIdx.a * blockDim.a + threadIdx.a`, or
/// when something in it might take the elements beyond.
pub fn claims(code: &Code) -> Vec<CoverageClaim> {
    // What was not understood may take the elements beyond, or be what no compiler takes.
    let Some(source) = Source::kernel(code).filter(|_| !code.damaged) else { return Vec::new() };
    let Some(indices) = global_indices(&source) else { return Vec::new() };
    let mut reader = Reader { source, indices, walking: OnceCell::new(), claims: Vec::new() };
    let body = &reader.source.function.body;
    reader.top_level(body, 0);
    if reader.claims.is_empty() && !code.arguments.is_empty() {
        reader.fills(body);
    }
    reader.claims
}

/// Variables that hold the plain global index of an axis; `None` when the kernel distributes work in any other way.
fn global_indices(source: &Source<'_>) -> Option<FxHashMap<VariableId, u8>> {
    let code = source.code;
    let mut blocks: [FxHashSet<ExprId>; 3] = Default::default();
    let mut strange = false;
    let mut indices = FxHashMap::default();
    for (number, function) in code.functions.iter().enumerate() {
        code.walk(&function.body, |item| {
            match item {
                Item::Stmt(id) => strange |= matches!(code.stmt(id).kind, Stmt::Opaque { .. }),
                Item::Expr(id) => match &code.expr(id).kind {
                    Expr::Builtin(Builtin::BlockIdx(axis)) => {
                        blocks.get_mut(usize::from(*axis)).into_iter().for_each(|all| {
                            all.insert(id);
                        });
                    }
                    Expr::Builtin(Builtin::GridDim(_))
                    | Expr::Intrinsic(
                        Intrinsic::GridBarrier | Intrinsic::GroupRank(Group::Grid) | Intrinsic::GroupSize(Group::Grid),
                        _,
                    ) => strange = true,
                    Expr::Write(Place::Register { variable, .. }, value) if number == 0 => {
                        if let Some(axis) = global_index(source, *value).filter(|_| source.value(*variable).is_some()) {
                            indices.insert(*variable, axis);
                        }
                    }
                    _ => {}
                },
            }
            !strange
        });
    }
    // Read once for the index: whatever else uses the block's number may take other elements.
    indices.retain(|_, axis| blocks.get(usize::from(*axis)).is_some_and(|reads| reads.len() == 1));
    (!strange).then_some(indices)
}

/// The axis of `blockIdx.a * blockDim.a + threadIdx.a`, in any order.
fn global_index(source: &Source<'_>, value: ExprId) -> Option<u8> {
    let builtin = |id: ExprId| match source.kind(source.bare(id)) {
        Expr::Builtin(builtin) => Some(*builtin),
        _ => None,
    };
    let Expr::Binary(BinaryOp::Add, a, b) = source.kind(source.bare(value)) else { return None };
    [(*a, *b), (*b, *a)].into_iter().find_map(|(product, thread)| {
        let Builtin::ThreadIdx(axis) = builtin(thread)? else { return None };
        let Expr::Binary(BinaryOp::Mul, left, right) = source.kind(source.bare(product)) else { return None };
        let factors = [builtin(*left)?, builtin(*right)?];
        let wanted = [Builtin::BlockIdx(axis), Builtin::BlockDim(axis)];
        wanted.iter().all(|builtin| factors.contains(builtin)).then_some(axis)
    })
}

struct Reader<'c> {
    source: Source<'c>,
    indices: FxHashMap<VariableId, u8>,
    /// Variables that change and are given the index at first, once somebody asks.
    walking: OnceCell<FxHashSet<VariableId>>,
    claims: Vec<CoverageClaim>,
}

impl<'c> Reader<'c> {
    fn code(&self) -> &'c Code {
        self.source.code
    }

    fn index(&self, id: ExprId) -> Option<u8> {
        self.indices.get(&self.source.variable(id)?).copied()
    }

    /// Statements that every thread comes by: `if (i < n) …`, and what follows `if (i >= n) return;`.
    fn top_level(&mut self, block: &'c Block, depth: u32) {
        if depth > MAX_DEPTH {
            return;
        }
        for id in block {
            match &self.code().stmt(*id).kind {
                Stmt::Block(inner) => self.top_level(inner, depth + 1),
                Stmt::If { condition, then, otherwise } if otherwise.is_empty() => {
                    let leaves = self.leaves(then, 0);
                    if leaves || (self.uses_index(then) && !self.moves_on(then)) {
                        self.bounds(*condition, leaves);
                    }
                }
                // After anything that ends threads early, nothing is claimed.
                Stmt::Return(_) => return,
                _ => {}
            }
        }
    }

    /// Whether a block does nothing but leave the kernel.
    fn leaves(&self, block: &Block, depth: u32) -> bool {
        match block.as_slice() {
            [only] => match &self.code().stmt(*only).kind {
                Stmt::Return(None) => true,
                Stmt::Block(inner) => depth < 2 && self.leaves(inner, depth + 1),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether an index is mentioned in an expression; in what memory holds at that index only where asked for.
    fn mentions(&self, expr: ExprId, in_memory: bool) -> bool {
        let mut open = vec![expr];
        // A definition is looked at once, however often it is named: by itself (`int y = y + y`), too.
        let mut seen = FxHashSet::default();
        let mut found = false;
        while let Some(expr) = open.pop() {
            self.code().walk_expr(expr, |id, kind| {
                found |= self.index(id).is_some();
                if !in_memory
                    && let Some(variable) = self.source.variable(id)
                    && seen.insert(variable)
                {
                    open.extend(self.source.value(variable));
                }
                !found && (in_memory || !matches!(kind, Expr::Read(Place::Memory { .. })))
            });
        }
        found
    }

    /// Whether an index stands between brackets somewhere.
    fn uses_index(&self, block: &Block) -> bool {
        let mut found = false;
        self.code().walk(block, |item| {
            if let Item::Expr(id) = item
                && let Expr::Offset { index, .. } = self.source.kind(id)
            {
                found |= self.mentions(*index, true);
            }
            !found
        });
        found
    }

    /// Whether a loop inside tests the index, or begins at it and walks on: then a thread takes more than one element.
    fn moves_on(&self, block: &Block) -> bool {
        let mut found = false;
        self.code().walk(block, |item| {
            if let Item::Stmt(id) = item
                && let Stmt::Loop { condition: Some(condition), .. } = &self.code().stmt(id).kind
            {
                found |= self.mentions(*condition, true);
                self.code().walk_expr(*condition, |id, _| {
                    found |= self.source.variable(id).is_some_and(|variable| self.begins_at_index(variable));
                    !found
                });
            }
            !found
        });
        found
    }

    /// Whether a variable that changes is given the index at first.
    fn begins_at_index(&self, variable: VariableId) -> bool {
        let all = self.walking.get_or_init(|| {
            let mut all = FxHashSet::default();
            self.code().walk(&self.source.function.body, |item| {
                if let Item::Expr(id) = item
                    && let Expr::Write(Place::Register { variable, .. }, value) = self.source.kind(id)
                    && self.source.definition(*variable) == Definition::Several
                    && !all.contains(variable)
                    && self.mentions(*value, false)
                {
                    all.insert(*variable);
                }
                true
            });
            all
        });
        all.contains(&variable)
    }

    /// Bounds in a condition: with `negated`, the condition is the one under which threads leave.
    fn bounds(&mut self, condition: ExprId, negated: bool) {
        let mut open = vec![(condition, negated)];
        let before = self.claims.len();
        while let Some((id, negated)) = open.pop() {
            let id = self.source.bare(id);
            if self.chooses(id) {
                self.claims.truncate(before);
                return;
            }
            match self.source.kind(id) {
                Expr::And(a, b) if !negated => open.extend([(*a, false), (*b, false)]),
                Expr::Or(a, b) if negated => open.extend([(*a, true), (*b, true)]),
                Expr::Not(a) => open.push((*a, !negated)),
                Expr::Binary(op, a, b) => {
                    let op = match (op, negated) {
                        (op, false) => *op,
                        (BinaryOp::Lt, true) => BinaryOp::Ge,
                        (BinaryOp::Le, true) => BinaryOp::Gt,
                        (BinaryOp::Gt, true) => BinaryOp::Le,
                        (BinaryOp::Ge, true) => BinaryOp::Lt,
                        _ => continue,
                    };
                    let (index, bound, inclusive) = match op {
                        BinaryOp::Lt => (*a, *b, false),
                        BinaryOp::Le => (*a, *b, true),
                        BinaryOp::Gt => (*b, *a, false),
                        BinaryOp::Ge => (*b, *a, true),
                        _ => continue,
                    };
                    if let (Some(axis), Some((parameter, offset))) = (self.index(index), self.bound(bound))
                        && !self.counts_several(parameter)
                    {
                        let offset = offset + i64::from(inclusive);
                        let site = self.source.site(id);
                        self.claims.push(CoverageClaim { axis, parameter, offset, site, fills: None });
                    }
                }
                _ => {}
            }
        }
    }

    /// Whether the kernel compares a multiple of an index with a parameter, as `2 * i + 1 < n` does: then the parameter counts elements,
    /// of which each thread takes several.
    fn counts_several(&self, parameter: u32) -> bool {
        let mut found = false;
        self.code().walk(&self.source.function.body, |item| {
            if let Item::Expr(id) = item
                && let Expr::Binary(op, a, b) = self.source.kind(id)
                && op.is_comparison()
            {
                let is_bound = |side| self.bound(side).is_some_and(|(other, _)| other == parameter);
                found |= is_bound(*a) && self.multiplies(*b) || is_bound(*b) && self.multiplies(*a);
            }
            !found
        });
        found
    }

    /// Whether an index stands in an expression with a number as its factor.
    fn multiplies(&self, expr: ExprId) -> bool {
        let mut found = false;
        self.code().walk_expr(expr, |_, kind| {
            let is_factor = |id| self.source.integer(id).is_some_and(|factor| factor > 1);
            found |= match kind {
                Expr::Binary(BinaryOp::Mul, a, b) => {
                    is_factor(*a) && self.mentions(*b, false) || is_factor(*b) && self.mentions(*a, false)
                }
                Expr::Binary(BinaryOp::Shl, a, by) => self.source.integer(*by).is_some() && self.mentions(*a, false),
                _ => false,
            };
            !found
        });
        found
    }

    /// Whether a comparison chooses among the elements below the bound: `j == 0`, or `j >= 1`, where `j` is `last - i`.
    fn chooses(&self, id: ExprId) -> bool {
        let Expr::Binary(op, a, b) = self.source.kind(id) else { return false };
        let is_one = *op == BinaryOp::Eq;
        op.is_comparison() && [*a, *b].into_iter().any(|side| is_one && self.steps(side) || self.runs_back(side))
    }

    /// Whether an expression is another number for each index.
    fn steps(&self, expr: ExprId) -> bool {
        let mut repeats = false;
        self.code().walk_expr(expr, |_, kind| {
            repeats |=
                matches!(kind, Expr::Binary(op, ..) if !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul));
            !repeats
        });
        !repeats && self.mentions(expr, false)
    }

    /// Whether an expression is smaller for a larger index.
    fn runs_back(&self, expr: ExprId) -> bool {
        let mut open = vec![expr];
        let mut seen = FxHashSet::default();
        let mut found = false;
        while let Some(expr) = open.pop() {
            self.code().walk_expr(expr, |id, kind| {
                found |= matches!(kind, Expr::Binary(BinaryOp::Sub, _, taken) if self.mentions(*taken, false));
                if let Some(variable) = self.source.variable(id)
                    && seen.insert(variable)
                {
                    open.extend(self.source.value(variable));
                }
                !found && !matches!(kind, Expr::Read(Place::Memory { .. }))
            });
        }
        found
    }

    /// `n`, `n - 1`, `n + 2` for a parameter that the kernel never changes.
    fn bound(&self, id: ExprId) -> Option<(u32, i64)> {
        let id = self.source.bare(id);
        let (base, offset) = match self.source.kind(id) {
            Expr::Binary(BinaryOp::Sub, a, b) => (*a, self.source.integer(*b)?.checked_neg()?),
            Expr::Binary(BinaryOp::Add, a, b) => (*a, self.source.integer(*b)?),
            _ => (id, 0),
        };
        let mut variable = self.source.variable(base)?;
        for _ in 0..MAX_DEPTH {
            let Some(value) = self.source.value(variable) else { break };
            variable = self.source.variable(value)?;
        }
        (self.source.definition(variable) == Definition::Parameter).then_some((variable.0, offset))
    }

    /// A kernel without any condition or loop that writes `out[i]`: each thread fills one element.
    fn fills(&mut self, block: &'c Block) {
        for id in block {
            let expr = match &self.code().stmt(*id).kind {
                Stmt::Expr(expr) => *expr,
                Stmt::Declare(_) => continue,
                _ => return,
            };
            if let Expr::Write(Place::Memory { address, .. }, _) = self.source.kind(expr) {
                self.claims.extend(self.filled(expr, *address));
            }
        }
    }

    fn filled(&self, access: ExprId, address: ExprId) -> Option<CoverageClaim> {
        let (base, indices) = self.source.indices(access, address);
        let [index] = indices.as_slice() else { return None };
        let axis = self.index(*index)?;
        let data = self.source.parameter(base)?;
        let arguments = &self.code().arguments;
        let (array, _) = arguments.get(data.index()).filter(|(_, part)| *part == Part::Data)?;
        let extent = |axis| arguments.iter().position(|held| *held == (*array, Part::Extent(axis)));
        let parameter = extent(0).filter(|_| extent(1).is_none())? as u32;
        let site = self.source.site(access);
        Some(CoverageClaim { axis, parameter, offset: 0, site, fills: Some(data.0) })
    }
}
