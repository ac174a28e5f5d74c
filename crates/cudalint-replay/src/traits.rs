//! What functions have to do with the GPU or with memory, by name and transitively: the walk passes over the others.

use cudalint_program::ir::{Expr, ExprId, FunctionId, Module, ModuleId, Stmt, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};

/// Longest function without a loop worth skipping over, in statements and expressions.
const SMALL: u32 = 80;

/// What a function does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Traits {
    /// It calls CUDA or launches, itself or through what it calls.
    pub gpu: bool,
    /// It allocates, frees or resizes.
    pub memory: bool,
    /// It may write variables at namespace scope, or members through `this`.
    pub shared: bool,
    /// It is long and has a loop, so that walking it is dear.
    pub dear: bool,
}

/// Traits of all functions of a project.
#[derive(Debug, Default)]
pub(crate) struct AllTraits {
    functions: FxHashMap<(ModuleId, FunctionId), Traits>,
    /// Names that some other function mentions.
    mentioned: FxHashSet<Name>,
}

impl AllTraits {
    /// Reads all function bodies once.
    pub fn new(project: &Project) -> Self {
        let mut own: Vec<((ModuleId, FunctionId), Traits, Vec<Name>)> = Vec::new();
        for id in project.modules() {
            let module = project.module(id);
            for index in 0..module.functions.len() {
                let mut calls = FxHashSet::default();
                let traits = read(module, index, &mut calls);
                own.push(((id, FunctionId(index as u32)), traits, calls.into_iter().collect()));
            }
        }
        let mut gpu: FxHashSet<Name> = FxHashSet::default();
        let mut memory: FxHashSet<Name> = FxHashSet::default();
        let mut shared: FxHashSet<Name> = FxHashSet::default();
        loop {
            let before = gpu.len() + memory.len() + shared.len();
            for ((module, id), traits, calls) in &mut own {
                traits.gpu = traits.gpu || calls.iter().any(|name| gpu.contains(name));
                traits.memory = traits.memory || calls.iter().any(|name| memory.contains(name));
                traits.shared = traits.shared || calls.iter().any(|name| shared.contains(name));
                let Some(function) = project.function_at(*module, *id) else { continue };
                if function.name.is_empty() || function.space.global {
                    continue;
                }
                if traits.gpu {
                    gpu.insert(function.name.clone());
                }
                if traits.shared {
                    shared.insert(function.name.clone());
                }
                if traits.memory {
                    memory.insert(function.name.clone());
                }
            }
            if gpu.len() + memory.len() + shared.len() == before {
                break;
            }
        }
        let mut mentioned = FxHashSet::default();
        for ((module, id), _, calls) in &own {
            let own_name = project.function_at(*module, *id).map(|function| &function.name);
            mentioned.extend(calls.iter().filter(|name| Some(*name) != own_name).cloned());
        }
        Self { mentioned, functions: own.into_iter().map(|(key, traits, _)| (key, traits)).collect() }
    }

    /// Whether any other function mentions the name.
    pub fn is_mentioned(&self, name: &Name) -> bool {
        self.mentioned.contains(name)
    }

    /// The traits of one function.
    pub fn of(&self, module: ModuleId, function: FunctionId) -> Traits {
        self.functions.get(&(module, function)).copied().unwrap_or(Traits {
            gpu: true,
            memory: true,
            shared: true,
            dear: false,
        })
    }
}

fn type_name(module: &Module, ty: TypeId) -> Option<&Name> {
    let mut current = ty;
    for _ in 0..6 {
        match module.types.get(current.index())? {
            Type::Named { path, .. } => return path.last(),
            Type::Qualified { ty, .. } | Type::Pointer(ty) | Type::Reference(ty) | Type::Array(ty, _) => current = *ty,
            _ => return None,
        }
    }
    None
}

fn read(module: &Module, index: usize, calls: &mut FxHashSet<Name>) -> Traits {
    let mut traits = Traits::default();
    let (mut size, mut loops) = (0, false);
    let mut pending = vec![index];
    let mut seen = FxHashSet::default();
    while let Some(at) = pending.pop() {
        let Some(function) = module.functions.get(at).filter(|_| seen.insert(at)) else { continue };
        let Some(body) = &function.body else { continue };
        for local in &function.locals {
            if let Some(name) = type_name(module, local.ty) {
                traits.gpu |= name == "device_vector" || name == "device_uvector";
                calls.insert(name.clone());
            }
        }
        // Bases and members of a constructed object come into being too.
        for (_, args) in &function.member_inits {
            traits.memory |= !args.is_empty();
        }
        let mut lambdas = Vec::new();
        walk(module, function, body, |item| {
            size += 1;
            match item {
                Item::Stmt(id) => {
                    if let Some(Stmt::Loop { .. } | Stmt::ForEach { .. } | Stmt::Goto(_)) =
                        module.stmts.get(id.index()).map(|node| &node.kind)
                    {
                        loops = true;
                    }
                }
                Item::Expr(id) => {
                    if let Some(node) = module.exprs.get(id.index()) {
                        expression(module, &node.kind, &mut traits, calls, &mut lambdas);
                    }
                }
                Item::Declare(_) => {}
            }
            true
        });
        for (_, args) in &function.member_inits {
            for arg in args {
                cudalint_program::visit::walk_expr(module, *arg, |_, kind| {
                    expression(module, kind, &mut traits, calls, &mut lambdas);
                    true
                });
            }
        }
        pending.extend(lambdas);
    }
    traits.dear = loops && size > SMALL;
    traits
}

fn expression(
    module: &Module,
    kind: &Expr,
    traits: &mut Traits,
    calls: &mut FxHashSet<Name>,
    lambdas: &mut Vec<usize>,
) {
    match kind {
        Expr::Launch(_) => traits.gpu = true,
        Expr::New { ty, .. } => {
            traits.memory = true;
            calls.extend(type_name(module, *ty).cloned());
        }
        Expr::Delete { .. } => traits.memory = true,
        Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target) => {
            traits.shared |= written_outside(module, *target);
        }
        // A call may take its arguments by reference.
        Expr::Call { args, .. } => traits.shared |= args.iter().any(|arg| is_name(module, *arg)),
        Expr::Construct { ty, .. } => calls.extend(type_name(module, *ty).cloned()),
        Expr::Lambda { function, .. } => lambdas.push(function.index()),
        // A function may also be handed on.
        Expr::Name { path, .. } => {
            let Some(name) = path.last() else { return };
            let cuda = name.starts_with("cuda")
                || (name.starts_with("cu") && name.as_bytes().get(2).is_some_and(u8::is_ascii_uppercase));
            traits.gpu |= cuda;
            traits.memory |= matches!(
                name.as_str(),
                "malloc" | "calloc" | "realloc" | "free" | "aligned_alloc" | "posix_memalign" | "exit" | "abort"
            );
            calls.insert(name.clone());
        }
        Expr::Member { name, .. } => {
            traits.memory |= matches!(
                name.as_str(),
                "resize" | "assign" | "push_back" | "emplace_back" | "reserve" | "clear" | "reset" | "swap"
            );
            calls.insert(name.clone());
        }
        _ => {}
    }
}

fn is_name(module: &Module, id: ExprId) -> bool {
    matches!(module.exprs.get(id.index()).map(|node| &node.kind), Some(Expr::Name { .. }))
}

/// Whether what an lvalue stands in is no local variable.
fn written_outside(module: &Module, target: ExprId) -> bool {
    let mut current = target;
    for _ in 0..16 {
        match module.exprs.get(current.index()).map(|node| &node.kind) {
            Some(Expr::Local(_)) => return false,
            Some(
                Expr::Member { base, .. }
                | Expr::Index { base, .. }
                | Expr::Deref(base)
                | Expr::Cast { value: base, .. },
            ) => {
                current = *base;
            }
            Some(Expr::Binary(_, a, _)) => current = *a,
            _ => return true,
        }
    }
    true
}
