//! How many elements a kernel in Python says there are: `if i < a.size` on the plain global index, one element a thread.

use crate::facts::CoverageClaim;
use cudalint_kernel::python::{ArgumentType, Part, parameters};
use cudalint_program::Name;
use cudalint_program::Project;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, LocalId, Module, ModuleId, PythonExpr, Stmt, UnaryOp,
};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;

const AXES: [&str; 3] = ["x", "y", "z"];

struct Reader<'a> {
    module: &'a Module,
    kernel: &'a Function,
    /// Parameters of the code: which of the Python parameters each belongs to, and what it holds of it.
    code: Vec<(usize, Part)>,
    /// Locals that hold the plain global index of an axis.
    indices: FxHashMap<LocalId, u8>,
    /// How often each local is assigned.
    written: FxHashMap<LocalId, u32>,
}

/// The claims of a kernel: empty when it strides, when its index is anything but the plain global one, or when something in it
/// might take the elements beyond.
pub(crate) fn claims(
    project: &Project,
    id: ModuleId,
    kernel: &Function,
    arguments: &[ArgumentType],
) -> Vec<CoverageClaim> {
    let Some(body) = &kernel.body else { return Vec::new() };
    let names: Vec<Name> = kernel.params().iter().map(|local| local.name.clone()).collect();
    let code = parameters(&names, arguments).into_iter().map(|parameter| (parameter.of, parameter.part)).collect();
    let module = project.module(id);
    let mut reader = Reader { module, kernel, code, indices: FxHashMap::default(), written: FxHashMap::default() };
    if !reader.read_indices(body) || reader.indices.is_empty() {
        return Vec::new();
    }
    let mut claims = Vec::new();
    reader.top_level(body, &mut claims, 0);
    if claims.is_empty() {
        reader.fills(body, &mut claims);
    }
    claims
}

impl<'a> Reader<'a> {
    fn expr(&self, id: ExprId) -> Option<&'a Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn span(&self, id: ExprId) -> Span {
        self.module.exprs.get(id).map(|node| node.span).unwrap_or_default()
    }

    /// Finds the locals that hold the index; `false` when the kernel distributes work in any other way.
    fn read_indices(&mut self, body: &Block) -> bool {
        let mut strange = false;
        let mut grids = 0_u32;
        let mut found: Vec<(LocalId, u8)> = Vec::new();
        let mut block_reads = [0_u32; 3];
        let module = self.module;
        let kernel = self.kernel;
        walk(module, kernel, body, |item| {
            match item {
                Item::Expr(id) => match self.expr(id) {
                    Some(Expr::Assign { target, value, op }) => {
                        for (local, axis) in self.indices_of(*target, *value).into_iter().flatten() {
                            if op.is_none() {
                                found.push((local, axis));
                            }
                        }
                        self.count_targets(*target);
                    }
                    Some(Expr::Member { base, name, .. }) => {
                        let of = self.last_name(*base);
                        match (of, AXES.iter().position(|axis| name == axis)) {
                            (Some("blockIdx"), Some(axis)) => block_reads[axis] += 1,
                            (Some("gridDim"), _) => strange = true,
                            _ => {}
                        }
                        strange |= matches!(name.as_str(), "gridsize" | "gridDim" | "this_grid");
                    }
                    Some(Expr::Name { path, .. }) => {
                        strange |= path
                            .last()
                            .is_some_and(|name| ["gridsize", "gridDim", "this_grid"].contains(&name.as_str()));
                    }
                    Some(Expr::Call { callee, .. }) => grids += u32::from(self.last_name(*callee) == Some("grid")),
                    Some(Expr::Unknown(_)) => strange = true,
                    _ => {}
                },
                Item::Stmt(id) => {
                    strange |= matches!(module.stmts.get(id).map(|stmt| &stmt.kind), Some(Stmt::Unknown { .. }));
                }
                Item::Declare(_) => {}
            }
            true
        });
        if strange || grids > 1 {
            return false;
        }
        for (local, axis) in found {
            // The block's number is read for the index alone.
            if self.written.get(&local) == Some(&1) && block_reads[usize::from(axis)] <= 1 {
                self.indices.insert(local, axis);
            }
        }
        true
    }

    fn count_targets(&mut self, target: ExprId) {
        match self.expr(target) {
            Some(Expr::Local(local)) => *self.written.entry(*local).or_default() += 1,
            Some(Expr::Python(python)) => {
                if let PythonExpr::Tuple(all) | PythonExpr::List(all) = &**python {
                    for one in all {
                        if let Some(Expr::Local(local)) = self.expr(*one) {
                            *self.written.entry(*local).or_default() += 1;
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Locals that an assignment makes indices.
    fn indices_of(&self, target: ExprId, value: ExprId) -> Option<Vec<(LocalId, u8)>> {
        match self.expr(target)? {
            Expr::Local(local) => Some(vec![(*local, self.global_index(value)?)]),
            Expr::Python(python) => {
                let PythonExpr::Tuple(targets) = &**python else { return None };
                let axes = self.grid_call(value)?;
                (usize::try_from(axes).ok()? == targets.len()).then(|| {
                    targets
                        .iter()
                        .enumerate()
                        .filter_map(|(axis, target)| match self.expr(*target)? {
                            Expr::Local(local) => Some((*local, u8::try_from(axis).ok()?)),
                            _ => None,
                        })
                        .collect()
                })
            }
            _ => None,
        }
    }

    /// `cuda.grid(n)`.
    fn grid_call(&self, id: ExprId) -> Option<i64> {
        let Expr::Call { callee, args } = self.expr(id)? else { return None };
        let [axes] = args.as_slice() else { return None };
        match (self.last_name(*callee), self.expr(*axes)) {
            (Some("grid"), Some(Expr::Int { value, .. })) => Some(*value),
            _ => None,
        }
    }

    /// The axis of `cuda.grid(1)` or `cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x`, in any order.
    fn global_index(&self, id: ExprId) -> Option<u8> {
        if self.grid_call(id) == Some(1) {
            return Some(0);
        }
        let Expr::Binary(BinaryOp::Add, a, b) = self.expr(id)? else { return None };
        let product_and_thread = |product: ExprId, thread: ExprId| -> Option<u8> {
            let axis = self.member_axis(thread, "threadIdx")?;
            let Expr::Binary(BinaryOp::Mul, left, right) = self.expr(product)? else { return None };
            let matches = |block: ExprId, size: ExprId| {
                self.member_axis(block, "blockIdx") == Some(axis) && self.member_axis(size, "blockDim") == Some(axis)
            };
            (matches(*left, *right) || matches(*right, *left)).then_some(axis)
        };
        product_and_thread(*a, *b).or_else(|| product_and_thread(*b, *a))
    }

    fn member_axis(&self, id: ExprId, of: &str) -> Option<u8> {
        match self.expr(id)? {
            Expr::Member { base, name, .. } if self.last_name(*base) == Some(of) => {
                AXES.iter().position(|axis| name == axis).map(|axis| axis as u8)
            }
            _ => None,
        }
    }

    /// The last part of `cuda.blockIdx` or `blockIdx`.
    fn last_name(&self, id: ExprId) -> Option<&'a str> {
        match self.expr(id)? {
            Expr::Name { path, .. } => path.last().map(Name::as_str),
            Expr::Member { name, .. } => Some(name.as_str()),
            _ => None,
        }
    }

    fn top_level(&self, block: &Block, claims: &mut Vec<CoverageClaim>, depth: u32) {
        if depth > 8 {
            return;
        }
        for id in block {
            match self.module.stmts.get(*id).map(|stmt| &stmt.kind) {
                Some(Stmt::Block(inner)) => self.top_level(inner, claims, depth + 1),
                Some(Stmt::If { condition, then, otherwise, .. }) if otherwise.is_empty() => {
                    let leaves = self.leaves(then);
                    if !leaves && (!self.uses_index(then) || self.moves_index(then)) {
                        continue;
                    }
                    self.bounds(*condition, leaves, claims);
                }
                Some(Stmt::Return(_)) => return,
                _ => {}
            }
        }
    }

    fn leaves(&self, block: &Block) -> bool {
        matches!(block.as_slice(), [only]
            if matches!(self.module.stmts.get(*only).map(|stmt| &stmt.kind), Some(Stmt::Return(None))))
    }

    /// Whether an index stands between brackets somewhere.
    fn uses_index(&self, block: &Block) -> bool {
        let mut found = false;
        walk(self.module, self.kernel, block, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Index { indices, .. }) = self.expr(id)
            {
                for subscript in indices {
                    walk_expr(self.module, *subscript, |_, inner| {
                        found |= matches!(inner, Expr::Local(local) if self.indices.contains_key(local));
                        !found
                    });
                }
            }
            !found
        });
        found
    }

    /// Whether a loop begins at the index or tests it.
    fn moves_index(&self, block: &Block) -> bool {
        let mut found = false;
        walk(self.module, self.kernel, block, |item| {
            let Item::Stmt(id) = item else { return !found };
            let mut look = |expr: ExprId| {
                walk_expr(self.module, expr, |_, inner| {
                    found |= matches!(inner, Expr::Local(local) if self.indices.contains_key(local));
                    !found
                });
            };
            match self.module.stmts.get(id).map(|stmt| &stmt.kind) {
                Some(Stmt::Loop { condition: Some(condition), .. }) => look(*condition),
                Some(Stmt::Python(python)) => {
                    if let cudalint_program::ir::PythonStmt::For { iterable, .. } = &**python {
                        look(*iterable);
                    }
                }
                _ => {}
            }
            !found
        });
        found
    }

    fn bounds(&self, condition: ExprId, negated: bool, claims: &mut Vec<CoverageClaim>) {
        let mut stack = vec![(condition, negated)];
        while let Some((id, negated)) = stack.pop() {
            match self.expr(id) {
                Some(Expr::AndThen(a, b)) if !negated => stack.extend([(*a, false), (*b, false)]),
                Some(Expr::OrElse(a, b)) if negated => stack.extend([(*a, true), (*b, true)]),
                Some(Expr::Unary(UnaryOp::Not, a)) => stack.push((*a, !negated)),
                Some(Expr::Binary(op, a, b)) => {
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
                    let Some(Expr::Local(local)) = self.expr(index) else { continue };
                    let Some(axis) = self.indices.get(local) else { continue };
                    let Some((parameter, offset)) = self.bound(bound) else { continue };
                    let offset = offset + i64::from(inclusive);
                    claims.push(CoverageClaim { axis: *axis, parameter, offset, span: self.span(id), fills: None });
                }
                _ => {}
            }
        }
    }

    /// `n`, `a.size`, `a.shape[0]`, `len(a)`, and one of these plus or minus a number: the parameter of the code.
    fn bound(&self, id: ExprId) -> Option<(u32, i64)> {
        let (base, offset) = match self.expr(id)? {
            Expr::Binary(BinaryOp::Sub, a, b) => (*a, -self.literal(*b)?),
            Expr::Binary(BinaryOp::Add, a, b) => (*a, self.literal(*b)?),
            _ => (id, 0),
        };
        let parameter = match self.expr(base)? {
            Expr::Local(local) => self.code_parameter(*local, Part::Value)?,
            Expr::Member { base, name, .. } if name == "size" => self.only_extent(*base)?,
            Expr::Call { callee, args } if self.last_name(*callee) == Some("len") => match args.as_slice() {
                [array] => self.extent(*array, 0)?,
                _ => return None,
            },
            Expr::Index { base, indices } => match (self.expr(*base)?, indices.as_slice()) {
                (Expr::Member { base, name, .. }, [axis]) if name == "shape" => {
                    self.extent(*base, u8::try_from(self.literal(*axis)?).ok()?)?
                }
                _ => return None,
            },
            _ => return None,
        };
        Some((parameter, offset))
    }

    fn literal(&self, id: ExprId) -> Option<i64> {
        match self.expr(id)? {
            Expr::Int { value, .. } => Some(*value),
            _ => None,
        }
    }

    fn code_parameter(&self, local: LocalId, part: Part) -> Option<u32> {
        // One that the kernel changes is not what the launch gives.
        if local.0 >= self.kernel.param_count || self.written.contains_key(&local) {
            return None;
        }
        self.code.iter().position(|(of, own)| *of == local.index() && *own == part).map(|at| at as u32)
    }

    fn extent(&self, array: ExprId, axis: u8) -> Option<u32> {
        match self.expr(array)? {
            Expr::Local(local) => self.code_parameter(*local, Part::Extent(axis)),
            _ => None,
        }
    }

    /// The extent of an array of one axis.
    fn only_extent(&self, array: ExprId) -> Option<u32> {
        if self.extent(array, 1).is_some() {
            return None;
        }
        self.extent(array, 0)
    }

    /// A kernel without any condition or loop that writes `out[i]`: each thread fills one element.
    fn fills(&self, body: &Block, claims: &mut Vec<CoverageClaim>) {
        for id in body {
            let Some(Stmt::Expr(expr)) = self.module.stmts.get(*id).map(|stmt| &stmt.kind) else { return };
            let Some(Expr::Assign { target, .. }) = self.expr(*expr) else { continue };
            let Some(Expr::Index { base, indices }) = self.expr(*target) else { continue };
            let (Some(Expr::Local(array)), [index]) = (self.expr(*base), indices.as_slice()) else { continue };
            let Some(Expr::Local(index)) = self.expr(*index) else { continue };
            let Some(axis) = self.indices.get(index) else { continue };
            let (Some(data), Some(parameter)) = (self.code_parameter(*array, Part::Data), self.only_extent(*base))
            else {
                continue;
            };
            let span = self.span(*target);
            claims.push(CoverageClaim { axis: *axis, parameter, offset: 0, span, fills: Some(data) });
        }
    }
}
