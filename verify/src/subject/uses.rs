//! What a function does with the pointers it is given, as parameters or in variables of its file: which of them must be
//! device memory, and which host memory.

use cudalint_program::Project;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, Path, Stmt, Type};
use cudalint_program::visit::{self, Item};
use std::collections::{BTreeMap, BTreeSet};

/// How a function uses the memory behind one pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // Independent facts.
pub struct Uses {
    /// Kernels or device-side calls use it.
    pub device: bool,
    /// Host code reads or writes it.
    pub host: bool,
    /// It is written by host code.
    pub host_writes: bool,
    /// `cudaFree` gets it.
    pub freed_on_device: bool,
    /// `cudaFreeHost` gets it, or it is used as page-locked memory.
    pub pinned: bool,
    /// `free` gets it.
    pub freed_by_free: bool,
    /// `delete` gets it; the flag says whether as an array.
    pub deleted: Option<bool>,
    /// It is handed to code out of sight.
    pub escapes: bool,
}

impl Uses {
    fn join(&mut self, other: Self) {
        self.device |= other.device;
        self.host |= other.host;
        self.host_writes |= other.host_writes;
        self.freed_on_device |= other.freed_on_device;
        self.pinned |= other.pinned;
        self.freed_by_free |= other.freed_by_free;
        self.deleted = self.deleted.or(other.deleted);
        self.escapes |= other.escapes;
    }

    /// Whether the function gives the memory back itself.
    pub fn is_freed(&self) -> bool {
        self.freed_on_device || self.freed_by_free || self.deleted.is_some()
    }
}

/// The uses of one pointer: of what it points to, of what that points to, and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerUses {
    levels: BTreeMap<u8, Uses>,
    /// Whether the variable itself is given a value.
    pub assigned: bool,
}

impl PointerUses {
    /// These uses of what the pointer points to, and of nothing further.
    pub fn with(uses: Uses) -> Self {
        Self { levels: BTreeMap::from([(0, uses)]), assigned: false }
    }

    /// Uses of the memory that is reached by following the pointer once more than `level` times.
    pub fn level(&self, level: u8) -> Uses {
        self.levels.get(&level).copied().unwrap_or_default()
    }
}

/// Where a variable's memory is known to come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    Host,
    Device,
    Managed,
}

/// Functions followed into one another.
const MAX_DEPTH: u32 = 5;

/// A variable of a function, or of the file that it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Var {
    /// A parameter or local.
    Local(LocalId),
    /// A variable at namespace scope, by its position in the module's list.
    Global(u32),
}

/// The uses of each parameter of a function, of its other variables, and of each variable of its file that it or what
/// it calls mentions.
pub fn variable_uses(project: &Project, module: ModuleId, function: FunctionId) -> BTreeMap<Var, PointerUses> {
    Reader { project, module, depth: 0 }.function(function)
}

struct Reader<'p> {
    project: &'p Project,
    module: ModuleId,
    depth: u32,
}

/// One function while it is read.
struct Body<'p> {
    project: &'p Project,
    id: ModuleId,
    module: &'p Module,
    function: &'p Function,
    /// Variables that stand for another one, with the difference of levels.
    aliases: BTreeMap<LocalId, (Var, i16)>,
    homes: BTreeMap<Var, Home>,
    /// Index and dereference expressions whose address is taken.
    not_accessed: BTreeSet<ExprId>,
    uses: BTreeMap<(Var, i16), Uses>,
    assigned: BTreeSet<Var>,
}

impl Reader<'_> {
    fn function(&self, id: FunctionId) -> BTreeMap<Var, PointerUses> {
        let Some(function) = self.project.function_at(self.module, id) else { return BTreeMap::new() };
        let module = self.project.module(self.module);
        let mut body = Body {
            project: self.project,
            id: self.module,
            module,
            function,
            aliases: BTreeMap::new(),
            homes: BTreeMap::new(),
            not_accessed: BTreeSet::new(),
            uses: BTreeMap::new(),
            assigned: BTreeSet::new(),
        };
        let block = function.body.clone().unwrap_or_default();
        // What variables stand for comes first, since uses before the end may go through them.
        visit::walk(module, function, &block, |item| {
            body.learn(item);
            true
        });
        for id in member_values(function) {
            visit::walk_expr(module, id, |id, _| {
                self.expression(&mut body, id);
                true
            });
        }
        visit::walk(module, function, &block, |item| {
            if let Item::Expr(id) = item {
                self.expression(&mut body, id);
            }
            true
        });
        let mut found: BTreeMap<Var, PointerUses> = BTreeMap::new();
        for ((var, level), uses) in body.uses {
            let entry = found.entry(var).or_default();
            if (0..8).contains(&level) {
                entry.levels.entry(level as u8).or_default().join(uses);
            }
        }
        for var in body.assigned {
            found.entry(var).or_default().assigned = true;
        }
        found
    }

    fn expression(&self, body: &mut Body<'_>, id: ExprId) {
        let Some(node) = body.module.exprs.get(id.index()) else { return };
        let on_device = body.function.space.global || (body.function.space.device && !body.function.space.host);
        match &node.kind {
            Expr::AddressOf(inner) => {
                body.not_accessed.insert(*inner);
            }
            Expr::Name { .. } => {
                if let Some(var) = body.global(id) {
                    body.uses.entry((var, -1)).or_default();
                }
            }
            Expr::Assign { target, .. } | Expr::Step { target, .. } => {
                let traced = body.trace(*target, 0);
                if let (Some((var, 0)), Expr::Assign { op: None, .. }) = (traced, &node.kind) {
                    body.assigned.insert(var);
                }
                if let Some((local, level)) = traced.filter(|(_, level)| *level > 0) {
                    let uses = body.uses.entry((local, level - 1)).or_default();
                    if on_device { uses.device = true } else { uses.host_writes = true }
                }
            }
            Expr::Index { .. } | Expr::Deref(_) if !body.not_accessed.contains(&id) => {
                if let Some((local, level)) = body.trace(id, 0) {
                    let uses = body.uses.entry((local, level - 1)).or_default();
                    if on_device { uses.device = true } else { uses.host = true }
                }
            }
            Expr::Member { base, arrow: true, .. } => {
                if let Some((local, level)) = body.trace(*base, 0) {
                    let uses = body.uses.entry((local, level)).or_default();
                    if on_device { uses.device = true } else { uses.host = true }
                }
            }
            Expr::Delete { value, array } => body.mark(*value, |uses| {
                uses.deleted = Some(*array);
                uses.host = true;
            }),
            Expr::Launch(launch) => {
                for arg in &launch.args {
                    body.mark(*arg, |uses| uses.device = true);
                }
            }
            Expr::Call { callee, args } => self.call(body, *callee, args),
            _ => {}
        }
    }

    fn call(&self, body: &mut Body<'_>, callee: ExprId, args: &[ExprId]) {
        let name = match body.module.exprs.get(callee.index()).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.clone(),
            Some(Expr::Member { name, .. }) => Path::single(name.clone()),
            _ => Path::default(),
        };
        let Some(last) = name.last() else {
            args.iter().for_each(|arg| body.mark(*arg, |uses| uses.escapes = true));
            return;
        };
        if body.runtime_call(last.as_str(), args) {
            return;
        }
        let target = self.project.function(self.module, &body.function.scope, &name, args.len());
        let defined = target.filter(|(module, function)| {
            self.depth < MAX_DEPTH && self.project.function_at(*module, *function).is_some_and(|f| f.body.is_some())
        });
        let Some((module, function)) = defined else {
            args.iter().for_each(|arg| body.mark(*arg, |uses| uses.escapes = true));
            return;
        };
        let inner = Reader { project: self.project, module, depth: self.depth + 1 }.function(function);
        for (var, found) in inner.iter().filter(|(var, _)| module == self.module && matches!(var, Var::Global(_))) {
            if found.assigned {
                body.assigned.insert(*var);
            }
            body.uses.entry((*var, -1)).or_default();
            for (level, uses) in &found.levels {
                body.uses.entry((*var, i16::from(*level))).or_default().join(*uses);
            }
        }
        for (index, arg) in args.iter().enumerate() {
            let Some(found) = inner.get(&Var::Local(LocalId(index as u32))) else { continue };
            let Some((local, level)) = body.trace(*arg, 0) else { continue };
            for (deeper, uses) in &found.levels {
                body.uses.entry((local, level + i16::from(*deeper))).or_default().join(*uses);
            }
        }
    }
}

/// The values of a constructor's member initializers.
fn member_values(function: &Function) -> impl Iterator<Item = ExprId> + '_ {
    function.member_inits.iter().flat_map(|(_, values)| values.iter().copied())
}

impl Body<'_> {
    /// The variable that an expression's value comes from, and how often it is followed: `p` is 0, `*p` and `p[i]` are
    /// 1, `&p` is -1.
    fn trace(&self, id: ExprId, depth: u32) -> Option<(Var, i16)> {
        if depth > 32 {
            return None;
        }
        match &self.module.exprs.get(id.index())?.kind {
            Expr::Local(local) => {
                let mut at = (Var::Local(*local), 0);
                for _ in 0..16 {
                    match at.0 {
                        Var::Local(local) => match self.aliases.get(&local) {
                            Some((of, level)) => at = (*of, at.1 + level),
                            None => break,
                        },
                        Var::Global(_) => break,
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
                left.filter(|found| self.is_pointer(*found)).or_else(|| right.filter(|found| self.is_pointer(*found)))
            }
            _ => None,
        }
    }

    /// The variable of the file that a name means.
    fn global(&self, id: ExprId) -> Option<Var> {
        let Expr::Name { path, .. } = &self.module.exprs.get(id.index())?.kind else { return None };
        let entry = self.project.global(self.id, &self.function.scope, path)?;
        (entry.module == self.id).then_some(Var::Global(entry.index))
    }

    /// Whether a variable followed so often still is a pointer or array.
    fn is_pointer(&self, (var, level): (Var, i16)) -> bool {
        let variable = match var {
            Var::Local(local) => self.function.locals.get(local.index()),
            Var::Global(index) => self.module.globals.get(index as usize),
        };
        let Some(variable) = variable else { return false };
        let mut ty = variable.ty;
        let mut left = level;
        for _ in 0..16 {
            match self.module.types.get(ty.index()) {
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

    fn mark(&mut self, arg: ExprId, set: impl FnOnce(&mut Uses)) {
        if let Some((local, level)) = self.trace(arg, 0).filter(|found| self.is_pointer(*found)) {
            set(self.uses.entry((local, level)).or_default());
        } else if let Some((local, level)) = self.trace(arg, 0).filter(|(_, level)| *level < 0) {
            set(self.uses.entry((local, level)).or_default());
        }
    }

    /// Notes what variables stand for and where their memory comes from.
    fn learn(&mut self, item: Item) {
        match item {
            Item::Declare(local) => {
                let Some(variable) = self.function.locals.get(local.index()) else { return };
                if matches!(self.module.types.get(variable.ty.index()), Some(Type::Array(..))) {
                    self.homes.insert(Var::Local(local), Home::Host);
                }
                if let Some(init) = variable.init {
                    self.assigned.insert(Var::Local(local));
                    self.given(Var::Local(local), init);
                }
            }
            Item::Expr(id) => match self.module.exprs.get(id.index()).map(|node| &node.kind) {
                Some(Expr::Assign { op: None, target, value }) => {
                    match self.module.exprs.get(target.index()).map(|node| &node.kind) {
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
                    let Some(Expr::Name { path, .. }) = self.module.exprs.get(callee.index()).map(|node| &node.kind)
                    else {
                        return;
                    };
                    let home = match path.last().map_or("", |name| name.as_str()) {
                        "cudaMalloc" | "cudaMallocAsync" | "cudaMallocPitch" => Home::Device,
                        "cudaMallocHost" | "cudaHostAlloc" => Home::Host,
                        "cudaMallocManaged" => Home::Managed,
                        _ => return,
                    };
                    if let Some((var, -1)) = args.first().and_then(|arg| self.trace(*arg, 0)) {
                        self.homes.insert(var, home);
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
        match self.module.exprs.get(plain.index()).map(|node| &node.kind) {
            Some(Expr::New { .. } | Expr::Str(_)) => {
                self.homes.insert(var, Home::Host);
            }
            Some(Expr::Call { callee, .. }) => {
                let name = match self.module.exprs.get(callee.index()).map(|node| &node.kind) {
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
                    && self.is_pointer((of, level))
                {
                    self.aliases.entry(local).or_insert((of, level));
                }
            }
        }
    }

    fn without_casts(&self, mut id: ExprId) -> ExprId {
        for _ in 0..16 {
            match self.module.exprs.get(id.index()).map(|node| &node.kind) {
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
    fn runtime_call(&mut self, name: &str, args: &[ExprId]) -> bool {
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
    /// wrong and says nothing of the other side.
    fn copy(&mut self, args: &[ExprId], to: usize, from: usize, kind: usize) {
        let kind = args.get(kind).and_then(|kind| self.module.exprs.get(kind.index()));
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
        if sides.iter().any(wrong) {
            return;
        }
        for (index, device) in sides {
            if let Some(arg) = args.get(index) {
                self.mark(*arg, |uses| if device { uses.device = true } else { uses.host = true });
            }
        }
    }
}

/// Every call and launch in a function's own body, in source order.
pub fn calls(module: &Module, function: &Function) -> Vec<ExprId> {
    let mut found = Vec::new();
    let Some(block) = &function.body else { return found };
    visit::walk(module, function, block, |item| {
        if let Item::Expr(id) = item
            && matches!(
                module.exprs.get(id.index()).map(|node| &node.kind),
                Some(Expr::Call { .. } | Expr::Launch(_) | Expr::Construct { .. })
            )
        {
            found.push(id);
        }
        !matches!(item, Item::Stmt(id) if matches!(module.stmts.get(id.index()).map(|s| &s.kind), Some(Stmt::Break)))
    });
    found
}
