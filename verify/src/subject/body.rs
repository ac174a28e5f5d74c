//! One function while the uses of its pointers are read: what variables stand for, and what the CUDA runtime and the C
//! library do with their arguments.

use super::names;
use super::pointers::{Uses, Var};
use cudalint_program::Project;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, LocalId, Module, ModuleId, Type};
use cudalint_program::visit::Item;
use std::collections::{BTreeMap, BTreeSet};

/// Where a variable's memory is known to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    Host,
    Device,
    Managed,
}

/// One function while it is read.
pub(super) struct Body<'p> {
    pub project: &'p Project,
    pub id: ModuleId,
    pub module: &'p Module,
    pub function: &'p Function,
    /// Variables that stand for another one, with the difference of levels.
    pub aliases: BTreeMap<LocalId, (Var, i16)>,
    pub homes: BTreeMap<Var, Home>,
    /// Index and dereference expressions whose address is taken, and names that are called or launched.
    pub not_accessed: BTreeSet<ExprId>,
    pub uses: BTreeMap<(Var, i16), Uses>,
    pub assigned: BTreeSet<Var>,
}

impl Body<'_> {
    /// The variable that an expression's value comes from, and how often it is followed: `p` is 0, `*p` and `p[i]` are
    /// 1, `&p` is -1.
    pub fn trace(&self, id: ExprId, depth: u32) -> Option<(Var, i16)> {
        if depth > 32 {
            return None;
        }
        match &self.module.exprs.get(id)?.kind {
            Expr::Local(local) => {
                let mut at = (Var::Local(*local), 0);
                for _ in 0..16 {
                    let Var::Local(local) = &at.0 else { break };
                    match self.aliases.get(local) {
                        Some((of, level)) => at = (of.clone(), at.1 + level),
                        None => break,
                    }
                }
                Some(at)
            }
            Expr::Name { .. } => self.global(id).map(|var| (var, 0)),
            Expr::Deref(inner) => self.trace(*inner, depth + 1).map(|(local, level)| (local, level + 1)),
            Expr::Index { base, .. } => self.trace(*base, depth + 1).map(|(local, level)| (local, level + 1)),
            Expr::AddressOf(inner) => self.trace(*inner, depth + 1).map(|(local, level)| (local, level - 1)),
            Expr::Cast { value, .. } => self.trace(*value, depth + 1),
            Expr::Step { target, .. } => self.trace(*target, depth + 1),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, a, b) => {
                let (left, right) = (self.trace(*a, depth + 1), self.trace(*b, depth + 1));
                left.filter(|found| self.is_pointer(found)).or_else(|| right.filter(|found| self.is_pointer(found)))
            }
            _ => None,
        }
    }

    /// The variable of the file that a name means.
    pub fn global(&self, id: ExprId) -> Option<Var> {
        let Expr::Name { path, targs } = &self.module.exprs.get(id)?.kind else { return None };
        match self.project.global(self.id, &self.function.scope, path) {
            Some(entry) => (entry.module == self.id).then_some(Var::Global(entry.index)),
            None => {
                let [name] = &*path.segments else { return None };
                let undeclared = targs.is_empty() && names::is_undeclared(self.project, self.id, self.function, name);
                undeclared.then(|| Var::Undeclared(name.clone()))
            }
        }
    }

    /// Whether a variable followed so often still is a pointer or array.
    pub fn is_pointer(&self, (var, level): &(Var, i16)) -> bool {
        let variable = match var {
            Var::Local(local) => self.function.locals.get(*local),
            Var::Global(index) => self.module.globals.get(*index as usize),
            // Nothing says what it is: as a whole it may be a pointer.
            Var::Undeclared(_) => return *level == 0,
        };
        let Some(variable) = variable else { return false };
        let mut ty = variable.ty;
        let mut left = *level;
        for _ in 0..16 {
            match self.module.types.get(ty) {
                Some(Type::Qualified { ty: inner, .. } | Type::Reference(inner)) => ty = *inner,
                Some(Type::Pointer(inner) | Type::Array(inner, _)) if left > 0 => {
                    left -= 1;
                    ty = *inner;
                }
                Some(Type::Pointer(_) | Type::Array(..)) => return true,
                _ => return false,
            }
        }
        false
    }

    pub fn mark(&mut self, arg: ExprId, set: impl FnOnce(&mut Uses)) {
        if let Some((local, level)) = self.trace(arg, 0).filter(|found| self.is_pointer(found)) {
            set(self.uses.entry((local, level)).or_default());
        } else if let Some((local, level)) = self.trace(arg, 0).filter(|(_, level)| *level < 0) {
            set(self.uses.entry((local, level)).or_default());
        }
    }

    /// Notes what variables stand for and where their memory comes from.
    pub fn learn(&mut self, item: Item) {
        match item {
            Item::Declare(local) => {
                let Some(variable) = self.function.locals.get(local) else { return };
                if matches!(self.module.types.get(variable.ty), Some(Type::Array(..))) {
                    self.homes.insert(Var::Local(local), Home::Host);
                }
                if let Some(init) = variable.init {
                    self.assigned.insert(Var::Local(local));
                    self.given(Var::Local(local), init);
                }
            }
            Item::Expr(id) => match self.module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Assign { op: None, target, value }) => {
                    match self.module.exprs.get(*target).map(|node| &node.kind) {
                        Some(Expr::Local(local)) => self.given(Var::Local(*local), *value),
                        Some(Expr::Name { .. }) => {
                            if let Some(var) = self.global(*target) {
                                self.given(var, *value);
                            }
                        }
                        _ => {}
                    }
                }
                Some(Expr::Call { callee, args }) => {
                    let Some(Expr::Name { path, .. }) = self.module.exprs.get(*callee).map(|node| &node.kind) else {
                        return;
                    };
                    let home = match path.last().map_or("", |name| name.as_str()) {
                        "cudaMalloc" | "cudaMallocAsync" | "cudaMallocPitch" => Home::Device,
                        "cudaMallocHost" | "cudaHostAlloc" => Home::Host,
                        "cudaMallocManaged" => Home::Managed,
                        _ => return,
                    };
                    if let Some((var, -1)) = args.first().and_then(|arg| self.trace(*arg, 0)) {
                        self.homes.insert(var.clone(), home);
                        self.assigned.insert(var);
                    }
                }
                _ => {}
            },
            Item::Stmt(_) => {}
        }
    }

    fn given(&mut self, var: Var, value: ExprId) {
        let plain = self.without_casts(value);
        match self.module.exprs.get(plain).map(|node| &node.kind) {
            Some(Expr::New { .. } | Expr::Str(_)) => {
                self.homes.insert(var, Home::Host);
            }
            Some(Expr::Call { callee, .. }) => {
                let name = match self.module.exprs.get(*callee).map(|node| &node.kind) {
                    Some(Expr::Name { path, .. }) => path.last().map_or("", |name| name.as_str()),
                    _ => "",
                };
                if matches!(name, "malloc" | "calloc" | "realloc" | "aligned_alloc") {
                    self.homes.insert(var, Home::Host);
                }
            }
            _ => {
                if let Some((of, level)) = self.trace(value, 0)
                    && let Var::Local(local) = var
                    && of != var
                    && local.0 >= self.function.param_count
                    && self.is_pointer(&(of.clone(), level))
                {
                    self.aliases.entry(local).or_insert((of, level));
                }
            }
        }
    }

    fn without_casts(&self, mut id: ExprId) -> ExprId {
        for _ in 0..16 {
            match self.module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Cast { value, .. }) => id = *value,
                _ => break,
            }
        }
        id
    }

    fn home(&self, arg: ExprId) -> Option<Home> {
        let (var, level) = self.trace(arg, 0)?;
        if level < 0 {
            return Some(Home::Host);
        }
        self.homes.get(&var).copied().filter(|_| level == 0)
    }

    /// Marks the arguments of a call of the CUDA runtime or the C library; whether it is one.
    pub fn runtime_call(&mut self, name: &str, args: &[ExprId]) -> bool {
        let device = |uses: &mut Uses| uses.device = true;
        let host = |uses: &mut Uses| uses.host = true;
        let at = |body: &mut Self, index: usize, set: fn(&mut Uses)| {
            if let Some(arg) = args.get(index) {
                body.mark(*arg, set);
            }
        };
        let base = name.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        match base {
            "cudaMemcpy" | "cudaMemcpyAsync" => self.copy(args, 0, 1, 3),
            "cudaMemcpy2D" | "cudaMemcpy2DAsync" => self.copy(args, 0, 2, 6),
            "cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync" => at(self, 1, host),
            "cudaMemcpyFromSymbol" | "cudaMemcpyFromSymbolAsync" => at(self, 0, host),
            "cudaMemset" | "cudaMemsetAsync" | "cudaMemset2D" | "cudaMemset2DAsync" => at(self, 0, device),
            "cudaFree" | "cudaFreeAsync" => at(self, 0, |uses| {
                uses.device = true;
                uses.freed_on_device = true;
            }),
            "cudaFreeHost" => at(self, 0, |uses| {
                uses.host = true;
                uses.pinned = true;
                uses.freed_on_device = true;
            }),
            "cudaHostRegister" | "cudaHostUnregister" => at(self, 0, host),
            "cudaHostGetDevicePointer" => at(self, 1, |uses| {
                uses.host = true;
                uses.pinned = true;
            }),
            "free" => at(self, 0, |uses| {
                uses.host = true;
                uses.freed_by_free = true;
            }),
            "memcpy" | "memmove" | "memcmp" | "strcpy" | "strcat" | "strcmp" | "strncpy" => {
                at(self, 0, host);
                at(self, 1, host);
            }
            "memset" | "strlen" | "atoi" | "atof" | "fgets" | "fopen" | "puts" | "fread" | "fwrite" | "qsort" => {
                at(self, 0, host);
            }
            "printf" | "fprintf" | "sprintf" | "snprintf" => {}
            "cudaMalloc" | "cudaMallocManaged" | "cudaMallocHost" | "cudaHostAlloc" | "cudaMallocAsync"
            | "cudaMallocPitch" => {
                at(self, 0, |uses| uses.host = true);
                if let Some((var, -1)) = args.first().and_then(|arg| self.trace(*arg, 0)) {
                    self.assigned.insert(var);
                }
            }
            "atomicAdd" | "atomicSub" | "atomicMin" | "atomicMax" | "atomicExch" | "atomicCAS" => at(self, 0, device),
            _ => return false,
        }
        true
    }

    /// The two sides of a copy by its direction. Where the memory of one side is known to be elsewhere, the direction is
    /// wrong, and the copy was meant to go the other way.
    fn copy(&mut self, args: &[ExprId], to: usize, from: usize, kind: usize) {
        let kind = args.get(kind).and_then(|kind| self.module.exprs.get(*kind));
        let direction = match kind.map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.last().map_or("", |name| name.as_str()),
            _ => "",
        };
        let (to_device, from_device) = match direction {
            "cudaMemcpyHostToDevice" => (true, false),
            "cudaMemcpyDeviceToHost" => (false, true),
            "cudaMemcpyDeviceToDevice" => (true, true),
            "cudaMemcpyHostToHost" => (false, false),
            _ => return,
        };
        let sides = [(to, to_device), (from, from_device)];
        let wrong = |(index, device): &(usize, bool)| {
            args.get(*index).and_then(|arg| self.home(*arg)).is_some_and(|home| match home {
                Home::Host => *device,
                Home::Device => !*device,
                Home::Managed => false,
            })
        };
        let reversed = sides.iter().any(wrong);
        for (index, device) in sides {
            if let Some(arg) = args.get(index) {
                self.mark(*arg, |uses| if device == reversed { uses.host = true } else { uses.device = true });
            }
        }
    }
}
