//! Argument types of a kernel that nobody in sight launches: those that its decorator states, or what the way it uses its
//! parameters says. An array whose elements nobody names has elements of unknown type.

use super::{ArgumentType, Order, signature};
use crate::code::Ty;
use cudalint_program::Project;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir::{
    Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, PythonExpr, PythonStmt, Stmt,
};
use cudalint_program::visit::{self, Item};
use rustc_hash::{FxHashMap, FxHashSet};

/// How far a parameter is followed into functions that it is handed to.
const MAX_CALLS: u32 = 3;

/// What is seen of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Axes, where it is an array.
    rank: Option<u8>,
    /// Whether it is used as an array at all.
    array: bool,
    /// Whether it is an integer: an index, a bound of a loop, something compared with an index.
    integer: bool,
}

impl Seen {
    fn array(&mut self, rank: Option<u8>) {
        self.array = true;
        self.rank = self.rank.max(rank);
    }

    fn join(&mut self, other: Self) {
        self.array |= other.array;
        self.integer |= other.integer;
        self.rank = self.rank.max(other.rank);
    }
}

/// The types that a kernel is made for, one for each parameter: as its decorator states them, else by how it uses them. `None`
/// where the function takes arguments in another way than by position.
pub fn guess_arguments(project: &Project, module: ModuleId, kernel: FunctionId) -> Option<Vec<ArgumentType>> {
    let function = project.function_at(module, kernel)?;
    let python = function.python.as_ref()?;
    if python.rest.is_some() || python.keywords.is_some() {
        return None;
    }
    let ir = project.module(module);
    let stated = python.kernel.as_ref().and_then(|kernel| signature::of_expr(ir, kernel.signature?, 0));
    if let Some(stated) = stated.filter(|stated| stated.len() == function.param_count as usize) {
        return Some(stated);
    }
    let seen = Reader::read(ir, function, 0);
    let guess = |seen: &Seen| match seen {
        Seen { array: true, rank, .. } => {
            ArgumentType::Array { element: Ty::Opaque { bytes: None }, rank: rank.unwrap_or(1), order: Order::C }
        }
        Seen { integer: true, .. } => ArgumentType::Scalar(Ty::LONG),
        _ => ArgumentType::Unknown,
    };
    Some(seen.iter().map(guess).collect())
}

/// How far attributes are followed.
const MAX_ATTRIBUTES: usize = 16;

struct Reader<'m> {
    module: &'m Module,
    function: &'m Function,
    params: u32,
    seen: Vec<Seen>,
    /// Variables that are made of thread indices or count loops.
    indices: FxHashSet<LocalId>,
    /// Variables that stand for a parameter.
    alias: FxHashMap<LocalId, LocalId>,
    depth: u32,
}

impl<'m> Reader<'m> {
    fn read(module: &'m Module, function: &'m Function, depth: u32) -> Vec<Seen> {
        let params = function.param_count;
        let mut reader = Reader {
            module,
            function,
            params,
            seen: vec![Seen::default(); params as usize],
            indices: FxHashSet::default(),
            alias: FxHashMap::default(),
            depth,
        };
        let Some(body) = &function.body else { return reader.seen };
        let mut items = Vec::new();
        visit::walk(module, function, body, |item| {
            items.push(item);
            true
        });
        // What is an index may be said below its use: two rounds.
        for _ in 0..2 {
            for item in &items {
                match item {
                    Item::Expr(id) => reader.expr(*id),
                    Item::Stmt(id) => reader.stmt(module.stmts.get(*id).map(|node| &node.kind)),
                    Item::Declare(_) => {}
                }
            }
        }
        reader.seen
    }

    fn kind(&self, id: ExprId) -> Option<&'m Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn param(&mut self, id: ExprId) -> Option<&mut Seen> {
        let Some(Expr::Local(local)) = self.kind(id) else { return None };
        let local = self.alias.get(local).copied().unwrap_or(*local);
        if local.0 < self.params { self.seen.get_mut(local.index()) } else { None }
    }

    fn stmt(&mut self, stmt: Option<&'m Stmt>) {
        let Some(Stmt::Python(python)) = stmt else { return };
        if let PythonStmt::For { target, iterable, .. } = &**python {
            if let Some(seen) = self.param(*iterable) {
                seen.array(None);
            }
            let mut bound = Vec::new();
            super::scan::targets(self.module, *target, &mut bound);
            if let Some(Expr::Call { callee, .. }) = self.kind(*iterable)
                && self.last_name(*callee) == Some("range")
            {
                self.indices.extend(bound.into_iter().map(|(local, _)| local));
            }
        }
    }

    fn last_name(&self, id: ExprId) -> Option<&'m str> {
        match self.kind(id)? {
            Expr::Name { path, .. } => path.last().map(cudalint_program::Name::as_str),
            Expr::Member { name, .. } => Some(name.as_str()),
            Expr::Local(local) => self.function.locals.get(*local).map(|local| local.name.as_str()),
            _ => None,
        }
    }

    /// What a function of a package is in device code. Types are only guessed here: an import that may fail is good enough.
    fn device_op(&self, callee: ExprId) -> Option<DeviceOp> {
        let mut attributes = Vec::new();
        let mut at = callee;
        while let Expr::Member { base, name, .. } = self.kind(at)? {
            attributes.push(name.as_str());
            at = *base;
            if attributes.len() > MAX_ATTRIBUTES {
                return None;
            }
        }
        let root = self.last_name(at)?;
        let imports = &self.module.imports;
        let path = match imports.iter().rfind(|import| import.local == *root) {
            Some(import) => import.path.to_string(),
            // `from numba.cuda import *`.
            None => format!("{}.{root}", imports.iter().find(|import| import.local.is_empty())?.path),
        };
        let path = attributes.iter().rev().fold(path, |path, name| format!("{path}.{name}"));
        ApiId::of_python(&path)?.device_op()
    }

    /// How many axes a subscript goes through.
    fn axes(&self, indices: &[ExprId]) -> u8 {
        if let [one] = indices {
            match self.kind(*one) {
                Some(Expr::Python(python)) => {
                    if let PythonExpr::Tuple(all) = &**python {
                        return u8::try_from(all.len()).unwrap_or(u8::MAX);
                    }
                }
                Some(Expr::Call { callee, args }) if matches!(self.device_op(*callee), Some(DeviceOp::Grid { .. })) => {
                    if let Some(Expr::Int { value, .. }) = args.first().and_then(|axes| self.kind(*axes)) {
                        return u8::try_from(*value).unwrap_or(1).clamp(1, 3);
                    }
                }
                _ => {}
            }
        }
        u8::try_from(indices.len()).unwrap_or(u8::MAX)
    }

    /// Whether an expression is made of thread indices, counters or extents.
    fn is_index(&self, id: ExprId) -> bool {
        let mut found = false;
        visit::walk_expr(self.module, id, |_, expr| {
            match expr {
                Expr::Local(local) => found |= self.indices.contains(local),
                Expr::Member { name, .. } => {
                    found |= matches!(
                        name.as_str(),
                        "threadIdx" | "blockIdx" | "blockDim" | "gridDim" | "shape" | "size" | "laneid"
                    );
                }
                Expr::Name { path, .. } => {
                    found |= path.last().is_some_and(|name| {
                        matches!(name.as_str(), "threadIdx" | "blockIdx" | "blockDim" | "gridDim" | "len")
                    });
                }
                Expr::Call { callee, .. } => {
                    found |= self.last_name(*callee) == Some("len")
                        || matches!(self.device_op(*callee), Some(DeviceOp::Grid { .. }));
                }
                // What is read from memory is data.
                Expr::Index { .. } => return false,
                _ => {}
            }
            true
        });
        found
    }

    fn integers_in(&mut self, id: ExprId) {
        let mut all = Vec::new();
        visit::walk_expr(self.module, id, |id, expr| {
            if let Expr::Local(_) = expr {
                all.push(id);
            }
            !matches!(expr, Expr::Index { .. } | Expr::Call { .. } | Expr::Member { .. })
        });
        for id in all {
            if let Some(seen) = self.param(id) {
                seen.integer = true;
            }
        }
    }

    fn expr(&mut self, id: ExprId) {
        match self.kind(id) {
            Some(Expr::Index { base, indices }) => {
                let axes = self.axes(indices);
                match self.kind(*base) {
                    // `a[i][j]`.
                    Some(Expr::Index { base: inner, indices: first }) => {
                        let both = axes.saturating_add(self.axes(first));
                        if let Some(seen) = self.param(*inner) {
                            seen.array(Some(both));
                        }
                    }
                    // `a.shape[1]`.
                    Some(Expr::Member { base: array, name, .. }) if *name == "shape" || *name == "strides" => {
                        let axis = match indices.first().and_then(|index| self.kind(*index)) {
                            Some(Expr::Int { value, .. }) => u8::try_from(value.saturating_add(1)).ok(),
                            _ => None,
                        };
                        if let Some(seen) = self.param(*array) {
                            seen.array(axis);
                        }
                    }
                    _ => {
                        if let Some(seen) = self.param(*base) {
                            seen.array(Some(axes));
                        }
                    }
                }
                for index in indices.clone() {
                    self.integers_in(index);
                }
            }
            Some(Expr::Member { base, name, .. })
                if matches!(name.as_str(), "shape" | "size" | "ndim" | "strides" | "T" | "dtype") =>
            {
                if let Some(seen) = self.param(*base) {
                    seen.array(None);
                }
            }
            Some(Expr::Assign { target, value, .. }) => self.assigned(*target, *value),
            Some(Expr::Binary(_, a, b)) => {
                if self.is_index(*a) {
                    self.integers_in(*b);
                }
                if self.is_index(*b) {
                    self.integers_in(*a);
                }
            }
            Some(Expr::Call { callee, args }) => self.called(*callee, args),
            _ => {}
        }
    }

    fn assigned(&mut self, target: ExprId, value: ExprId) {
        // `m, n = a.shape`.
        if let (Some(Expr::Python(python)), Some(Expr::Member { base, name, .. })) =
            (self.kind(target), self.kind(value))
            && let PythonExpr::Tuple(all) = &**python
            && *name == "shape"
        {
            let rank = u8::try_from(all.len()).ok();
            if let Some(seen) = self.param(*base) {
                seen.array(rank);
            }
        }
        let mut bound = Vec::new();
        super::scan::targets(self.module, target, &mut bound);
        if self.is_index(value) {
            self.indices.extend(bound.into_iter().map(|(local, _)| local));
        } else if let ([(local, _)], Some(Expr::Local(source))) = (bound.as_slice(), self.kind(value))
            && source.0 < self.params
            && local.0 >= self.params
        {
            self.alias.insert(*local, *source);
        }
    }

    fn called(&mut self, callee: ExprId, args: &[ExprId]) {
        let atomic = matches!(self.device_op(callee), Some(DeviceOp::Atomic { .. }));
        match self.last_name(callee) {
            _ if atomic => {
                let axes = args.get(1).map(|index| self.axes(&[*index]));
                if let Some(seen) = args.first().and_then(|array| self.param(*array)) {
                    seen.array(axes);
                }
            }
            Some("len") => {
                if let Some(seen) = args.first().and_then(|array| self.param(*array)) {
                    seen.array(None);
                }
            }
            Some("range") => args.iter().for_each(|arg| self.integers_in(*arg)),
            Some(name) if self.depth < MAX_CALLS => {
                let found = self.module.functions.iter().rfind(|function| {
                    function.name == *name && function.python.as_ref().is_some_and(|python| !python.is_module)
                });
                let Some(found) = found.filter(|found| !std::ptr::eq(*found, self.function)) else { return };
                let inner = Reader::read(self.module, found, self.depth + 1);
                for (arg, seen) in args.iter().zip(inner) {
                    if let Some(own) = self.param(*arg) {
                        own.join(seen);
                    }
                }
            }
            _ => {}
        }
    }
}
