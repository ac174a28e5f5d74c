//! What functions have to do with the GPU or with memory, by name and transitively: the walk passes over the others.

use crate::global_writes::variable_of;
use cudalint_program::api::ApiId;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, FunctionId, Module, ModuleId, Stmt, Type, TypeId};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};
use typed_index_collections::TiVec;

/// Longest function without a loop worth skipping over, in statements and expressions.
const SMALL: u32 = 80;

/// What a function does.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Five independent answers.
pub(crate) struct Traits {
    /// It launches, or has CUDA allocate, free, copy or set memory, itself or through what it calls.
    pub gpu: bool,
    /// It allocates, frees or resizes.
    pub memory: bool,
    /// It may write variables at namespace scope, or members through `this`.
    pub shared: bool,
    /// It may have other names for members of its object: `this`, references, objects that are made from members.
    pub aliases: bool,
    /// It is long and has a loop, so that walking it is expensive.
    pub expensive: bool,
}

/// Traits of all functions of a project.
#[derive(Debug, Default)]
pub(crate) struct AllTraits {
    /// By module and function.
    functions: TiVec<ModuleId, TiVec<FunctionId, Traits>>,
    /// Names that some other function mentions, or code out of sight calls.
    mentioned: FxHashSet<Name>,
}

/// A function while what it calls is still open.
struct Open {
    traits: Traits,
    /// The number of its name, unless calls by name do not reach it.
    name: Option<u32>,
    /// Numbers of the names it mentions.
    calls: Vec<u32>,
}

const GPU: u8 = 1;
const MEMORY: u8 = 2;
const SHARED: u8 = 4;
const ALIASES: u8 = 8;

impl AllTraits {
    /// Reads all function bodies once. `called`: functions that code out of sight calls.
    pub fn new(project: &Project, called: &FxHashSet<String>) -> Self {
        let mut numbers: FxHashMap<&Name, u32> = FxHashMap::default();
        // By number of a name: whether a function of another name mentions it.
        let mut by_others: Vec<bool> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut calls: Vec<&Name> = Vec::new();
        for id in project.modules() {
            let module = project.module(id);
            for (index, function) in module.functions.iter_enumerated() {
                calls.clear();
                let traits = read(module, index, &mut calls);
                let mut number = |name| {
                    let next = numbers.len() as u32;
                    *numbers.entry(name).or_insert(next)
                };
                let own = number(&function.name);
                let mut calls: Vec<u32> = calls.iter().map(|name| number(name)).collect();
                calls.sort_unstable();
                calls.dedup();
                by_others.resize(numbers.len(), false);
                for call in calls.iter().filter(|call| **call != own) {
                    if let Some(slot) = by_others.get_mut(*call as usize) {
                        *slot = true;
                    }
                }
                let reached = !function.name.is_empty() && !function.space.global;
                open.push(Open { traits, name: reached.then_some(own), calls });
            }
        }
        settle(&mut open, numbers.len());
        let mut mentioned: FxHashSet<Name> = called.iter().map(|name| Name::from(name.as_str())).collect();
        for (name, number) in numbers {
            if by_others.get(number as usize).is_some_and(|by_others| *by_others) {
                mentioned.insert(name.clone());
            }
        }
        let mut settled = open.into_iter().map(|function| function.traits);
        let functions =
            project.modules().map(|id| settled.by_ref().take(project.module(id).functions.len()).collect()).collect();
        Self { functions, mentioned }
    }

    /// Whether any other function mentions the name.
    pub fn is_mentioned(&self, name: &Name) -> bool {
        self.mentioned.contains(name)
    }

    /// The traits of one function.
    pub fn of(&self, module: ModuleId, function: FunctionId) -> Traits {
        let known = self.functions.get(module).and_then(|functions| functions.get(function));
        known.copied().unwrap_or(Traits { gpu: true, memory: true, shared: true, aliases: true, expensive: false })
    }
}

/// Hands traits from callees to callers until nothing changes. `names`: how many names have a number.
fn settle(open: &mut [Open], names: usize) {
    let mut bits = vec![0u8; names];
    loop {
        let mut changed = false;
        for Open { traits, name, calls } in &mut *open {
            let from = calls.iter().fold(0, |all, call| all | bits.get(*call as usize).copied().unwrap_or(0));
            traits.gpu |= from & GPU != 0;
            traits.memory |= from & MEMORY != 0;
            traits.shared |= from & SHARED != 0;
            traits.aliases |= from & ALIASES != 0;
            let all = [(traits.gpu, GPU), (traits.memory, MEMORY), (traits.shared, SHARED), (traits.aliases, ALIASES)];
            let own = all.iter().fold(0, |all, (holds, bit)| if *holds { all | bit } else { all });
            if let Some(slot) = name.and_then(|name| bits.get_mut(name as usize)) {
                changed |= *slot | own != *slot;
                *slot |= own;
            }
        }
        if !changed {
            break;
        }
    }
}

fn type_name(module: &Module, ty: TypeId) -> Option<&Name> {
    let mut current = ty;
    for _ in 0..6 {
        match module.types.get(current)? {
            Type::Named { path, .. } | Type::Member { path, .. } => return path.last(),
            Type::Qualified { ty, .. } | Type::Pointer(ty) | Type::Reference(ty) | Type::Array(ty, _) => current = *ty,
            _ => return None,
        }
    }
    None
}

fn read<'a>(module: &'a Module, index: FunctionId, calls: &mut Vec<&'a Name>) -> Traits {
    let mut traits = Traits::default();
    let (mut size, mut loops) = (0, false);
    let mut pending = vec![index];
    let mut seen = FxHashSet::default();
    while let Some(at) = pending.pop() {
        let Some(function) = module.functions.get(at).filter(|_| seen.insert(at)) else { continue };
        let Some(body) = &function.body else { continue };
        for local in &function.locals {
            traits.aliases |= matches!(module.types.get(local.ty), Some(Type::Reference(_)));
            if let Some(name) = type_name(module, local.ty) {
                traits.gpu |= name == "device_vector" || name == "device_uvector";
                calls.push(name);
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
                        module.stmts.get(id).map(|node| &node.kind)
                    {
                        loops = true;
                    }
                }
                Item::Expr(id) => {
                    if let Some(node) = module.exprs.get(id) {
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
    traits.expensive = loops && size > SMALL;
    traits
}

fn expression<'a>(
    module: &'a Module,
    kind: &'a Expr,
    traits: &mut Traits,
    calls: &mut Vec<&'a Name>,
    lambdas: &mut Vec<FunctionId>,
) {
    match kind {
        Expr::Launch(_) => traits.gpu = true,
        Expr::New { ty, .. } | Expr::Place { ty, .. } => {
            traits.memory = true;
            calls.extend(type_name(module, *ty));
        }
        Expr::Delete { .. } => traits.memory = true,
        Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target) => {
            traits.shared |= written_outside(module, *target);
        }
        // `file >> n`
        Expr::Binary(BinaryOp::Shr, _, target) => traits.shared |= variable_of(module, *target).is_some(),
        // A call may take its arguments by reference.
        Expr::Call { args, .. } => traits.shared |= args.iter().any(|arg| is_name(module, *arg)),
        Expr::Construct { ty, args, .. } => {
            traits.aliases |= args.iter().any(|arg| is_name(module, *arg));
            calls.extend(type_name(module, *ty));
        }
        Expr::This => traits.aliases = true,
        Expr::Lambda { function, .. } => lambdas.push(*function),
        // A function may also be handed on.
        Expr::Name { path, .. } => {
            let Some(name) = path.last() else { return };
            if let Some(api) = ApiId::named(name) {
                traits.gpu |= api.moves_memory();
                traits.memory |= !api.is_cuda_host() && (api.allocates() || api.frees());
            }
            calls.push(name);
        }
        Expr::Member { name, .. } => {
            traits.memory |= matches!(
                name.as_str(),
                "resize" | "assign" | "push_back" | "emplace_back" | "reserve" | "clear" | "reset" | "swap"
            );
            calls.push(name);
        }
        _ => {}
    }
}

fn is_name(module: &Module, id: ExprId) -> bool {
    matches!(module.exprs.get(id).map(|node| &node.kind), Some(Expr::Name { .. }))
}

/// Whether what an lvalue stands in is no local variable.
fn written_outside(module: &Module, target: ExprId) -> bool {
    let mut current = target;
    for _ in 0..16 {
        match module.exprs.get(current).map(|node| &node.kind) {
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
