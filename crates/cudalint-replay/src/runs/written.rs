//! Launches that the walk of the host program does not meet, as they are written: what they say of the block as constants. A launch far
//! down in loops, behind what is too long to follow, or in a branch of `#if` that is not the program, still says how its kernel is meant.

use super::guess::Block;
use super::switched_off;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LaunchExpr, LocalId, Module, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::visit::{self, Item};
use cudalint_program::{Name, Project, Scope};
use rustc_hash::{FxHashMap, FxHashSet};

/// What launches say of the blocks of each kernel: the most telling.
pub(super) type Blocks = FxHashMap<(ModuleId, FunctionId), Block>;

/// How deep variables are followed to what they are given.
const MAX_DEPTH: u32 = 4;

/// What is written of the blocks of these kernels: in the program first, and of those that it does not launch in branches that are not.
pub(super) fn blocks(project: &Project, wanted: &FxHashSet<(ModuleId, FunctionId)>) -> Blocks {
    let mut found = Blocks::default();
    if wanted.is_empty() {
        return found;
    }
    let functions = wanted.iter().filter_map(|(module, kernel)| project.function_at(*module, *kernel));
    let names: FxHashSet<&Name> = functions.map(|function| &function.name).collect();
    for id in project.modules() {
        let module = project.module(id);
        for node in &module.exprs {
            let Expr::Launch(launch) = &node.kind else { continue };
            let name = match module.exprs.get(launch.kernel).map(|node| &node.kind) {
                Some(Expr::Name { path, .. }) if launch.chevron => path.last(),
                _ => None,
            };
            // Most launches were met: what follows is for the others.
            if !name.is_some_and(|name| names.contains(name)) {
                continue;
            }
            let around = module.functions.iter_enumerated().filter(|(_, function)| function.span.contains(node.span));
            let Some((at, function)) = around.min_by_key(|(_, function)| function.span.end - function.span.start)
            else {
                continue;
            };
            let reader = Reader { scope: Scope::new(project, id, Some(at), &TypeEnv::default()), module, function };
            if let Some(kernel) = reader.kernel(project, id, launch).filter(|kernel| wanted.contains(kernel)) {
                let block = launch.config.get(1).map_or([None; 3], |block| reader.block(*block, 0));
                keep(&mut found, kernel, block);
            }
        }
    }
    let mut hidden = Blocks::default();
    for id in project.modules() {
        for (name, block) in switched_off::launches(project.module(id), project.source(id)) {
            let kernels = project.functions_named(name).into_iter();
            for kernel in kernels.filter(|kernel| wanted.contains(kernel) && !found.contains_key(kernel)) {
                keep(&mut hidden, kernel, block);
            }
        }
    }
    found.extend(hidden);
    found
}

/// Keeps what says the most, the first of several.
fn keep(found: &mut Blocks, kernel: (ModuleId, FunctionId), block: Block) {
    let known = |block: &Block| block.iter().flatten().count();
    let kept = found.entry(kernel).or_insert(block);
    if known(&block) > known(kept) {
        *kept = block;
    }
}

struct Reader<'p> {
    scope: Scope<'p>,
    module: &'p Module,
    function: &'p Function,
}

impl Reader<'_> {
    fn kernel(&self, project: &Project, id: ModuleId, launch: &LaunchExpr) -> Option<(ModuleId, FunctionId)> {
        let Expr::Name { path, .. } = self.kind(launch.kernel)? else { return None };
        project.kernel(id, &self.function.scope, path, Some(launch.args.len()))
    }

    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// The constants in an expression for a block.
    fn block(&self, id: ExprId, depth: u32) -> Block {
        let open = [None; 3];
        if depth > MAX_DEPTH {
            return open;
        }
        let axes = |args: &[ExprId]| {
            let axis = |axis: usize| args.get(axis).map_or(Some(1), |arg| self.extent(*arg));
            [axis(0), axis(1), axis(2)]
        };
        let is_vector = matches!(self.scope.type_of(id).value(), Ty::Vector { .. });
        match self.kind(id) {
            Some(Expr::Construct { args, .. }) if is_vector => match args.as_slice() {
                [one] => self.block(*one, depth + 1),
                args => axes(args),
            },
            Some(Expr::InitList(args)) => axes(args),
            Some(Expr::Cast { value, .. }) => self.block(*value, depth + 1),
            Some(Expr::Local(local)) if is_vector => {
                let mut block = match self.values(*local).as_slice() {
                    [one] => self.block(*one, depth + 1),
                    _ => open,
                };
                for axis in self.members_given(*local) {
                    block[axis] = None;
                }
                block
            }
            Some(_) if matches!(self.scope.type_of(id).value(), Ty::Int { .. }) => [self.extent(id), Some(1), Some(1)],
            _ => open,
        }
    }

    fn extent(&self, id: ExprId) -> Option<u32> {
        self.number(id, 0).and_then(|value| u32::try_from(value).ok())
    }

    /// A number that the source alone fixes, or a variable that is given one such number, however often.
    fn number(&self, id: ExprId, depth: u32) -> Option<i64> {
        if let Some(value) = self.scope.eval(id) {
            return Some(value);
        }
        match self.kind(id)? {
            Expr::Cast { value, .. } if depth < MAX_DEPTH => self.number(*value, depth + 1),
            Expr::Local(local) if depth < MAX_DEPTH && !self.is_changed(*local) => {
                let mut values = self.values(*local).into_iter().map(|value| self.number(value, depth + 1));
                let first = values.next()??;
                values.all(|value| value == Some(first)).then_some(first)
            }
            _ => None,
        }
    }

    /// What a variable is given as a whole; nothing for a parameter, which callers give something.
    fn values(&self, local: LocalId) -> Vec<ExprId> {
        if local.0 < self.function.param_count {
            return Vec::new();
        }
        let mut all: Vec<ExprId> =
            self.function.locals.get(local).and_then(|variable| variable.init).into_iter().collect();
        self.each(|kind| match kind {
            Expr::Assign { target, value, .. } if self.is_local(*target, local) => all.push(*value),
            _ => {}
        });
        all
    }

    /// Whether a variable is counted up or down, or can be written through its address.
    fn is_changed(&self, local: LocalId) -> bool {
        let mut changed = false;
        self.each(|kind| {
            changed |= match kind {
                Expr::Assign { op: Some(_), target, .. } | Expr::Step { target, .. } => self.is_local(*target, local),
                Expr::AddressOf(target) => self.is_local(*target, local),
                _ => false,
            };
        });
        changed
    }

    /// The axes of a variable that are given something by themselves.
    fn members_given(&self, local: LocalId) -> Vec<usize> {
        let mut axes = Vec::new();
        self.each(|kind| {
            if let Expr::Assign { target, .. } | Expr::Step { target, .. } = kind
                && let Some(Expr::Member { base, name, .. }) = self.kind(*target)
                && self.is_local(*base, local)
            {
                axes.extend(["x", "y", "z"].iter().position(|axis| *axis == name.as_str()));
            }
        });
        axes
    }

    fn is_local(&self, id: ExprId, local: LocalId) -> bool {
        matches!(self.kind(id), Some(Expr::Local(found)) if *found == local)
    }

    fn each(&self, mut look: impl FnMut(&Expr)) {
        let Some(body) = &self.function.body else { return };
        visit::walk(self.module, self.function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(kind) = self.kind(id)
            {
                look(kind);
            }
            true
        });
    }
}
