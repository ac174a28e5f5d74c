//! Which variables at namespace scope a function may write, itself or through what it calls, by their names. A walk that passes over a
//! function asks this when it comes to such a variable for the first time later on.

use cudalint_program::ir::{BinaryOp, Expr, ExprId, FunctionId, Module, Type};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, Mutex, OnceLock};

/// How far an lvalue is followed to the variable that it is a part of.
const MAX_PARTS: u32 = 16;

/// What functions may write, found when somebody asks.
#[derive(Debug, Default)]
pub(crate) struct GlobalWrites {
    /// By name of functions and classes: what the functions of that name do.
    by_name: OnceLock<FxHashMap<Name, Body>>,
    /// By name: all that its functions may write, with those that they call.
    reach: Mutex<FxHashMap<Name, Arc<FxHashSet<Name>>>>,
}

#[derive(Debug, Default)]
struct Body {
    /// Names that may be those of functions.
    mentions: Vec<Name>,
    /// Variables that it gives values, takes the address of, or hands on where a reference may be meant.
    writes: Vec<Name>,
}

impl GlobalWrites {
    /// Whether functions of a name may write a variable.
    pub fn may_write(&self, project: &Project, function: &Name, variable: &Name) -> bool {
        // A lock that somebody panicked with holds no half of an answer.
        let known = self.reach.lock().map_or(None, |reach| reach.get(function).cloned());
        let reach = known.unwrap_or_else(|| {
            let found = Arc::new(self.reach_of(project, function));
            if let Ok(mut reach) = self.reach.lock() {
                reach.insert(function.clone(), Arc::clone(&found));
            }
            found
        });
        reach.contains(variable)
    }

    fn reach_of(&self, project: &Project, function: &Name) -> FxHashSet<Name> {
        let by_name = self.by_name.get_or_init(|| read(project));
        let mut writes = FxHashSet::default();
        let mut met: FxHashSet<&Name> = FxHashSet::default();
        let mut next = vec![function];
        while let Some(name) = next.pop() {
            let Some(body) = by_name.get(name).filter(|_| met.insert(name)) else { continue };
            writes.extend(body.writes.iter().cloned());
            next.extend(&body.mentions);
        }
        writes
    }
}

fn read(project: &Project) -> FxHashMap<Name, Body> {
    let mut all: FxHashMap<Name, Body> = FxHashMap::default();
    for module in project.modules().map(|id| project.module(id)) {
        for (index, function) in module.functions.iter_enumerated().filter(|(_, function)| !function.name.is_empty()) {
            let body = all.entry(function.name.clone()).or_default();
            read_function(module, index, body);
        }
    }
    for body in all.values_mut() {
        for names in [&mut body.mentions, &mut body.writes] {
            names.sort_unstable();
            names.dedup();
        }
    }
    all
}

fn read_function(module: &Module, index: FunctionId, found: &mut Body) {
    let mut next = vec![index];
    let mut met = FxHashSet::default();
    while let Some(at) = next.pop() {
        let Some(function) = module.functions.get(at).filter(|_| met.insert(at)) else { continue };
        for local in
            function.locals.iter().filter(|local| matches!(module.types.get(local.ty), Some(Type::Reference(_))))
        {
            found.writes.extend(local.init.and_then(|init| variable_of(module, init)).cloned());
        }
        let mut look = |kind: &Expr| {
            look_at(module, kind, found);
            if let Expr::Lambda { function, .. } = kind {
                next.push(*function);
            }
        };
        for arg in function.member_inits.iter().flat_map(|(_, args)| args) {
            walk_expr(module, *arg, |_, kind| {
                look(kind);
                true
            });
        }
        let Some(body) = &function.body else { continue };
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(node) = module.exprs.get(id)
            {
                look(&node.kind);
            }
            true
        });
    }
}

fn look_at(module: &Module, kind: &Expr, found: &mut Body) {
    let mut written = |target: ExprId| found.writes.extend(variable_of(module, target).cloned());
    match kind {
        Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target) => written(*target),
        // `file >> n`
        Expr::Binary(BinaryOp::Shr, _, target) => written(*target),
        Expr::Call { args, .. } => {
            for arg in args {
                written(*arg);
            }
        }
        Expr::Construct { ty, args, .. } => {
            for arg in args {
                written(*arg);
            }
            if let Some(Type::Named { path, .. }) = module.types.get(*ty) {
                found.mentions.extend(path.last().cloned());
            }
        }
        Expr::Name { path, .. } => found.mentions.extend(path.last().cloned()),
        Expr::Member { name, .. } => found.mentions.push(name.clone()),
        _ => {}
    }
}

/// The variable that is no local one of which an lvalue is a part.
pub(crate) fn variable_of(module: &Module, lvalue: ExprId) -> Option<&Name> {
    let mut at = lvalue;
    for _ in 0..MAX_PARTS {
        at = match &module.exprs.get(at)?.kind {
            Expr::Name { path, .. } => return path.last(),
            Expr::Member { base, .. } | Expr::Index { base, .. } | Expr::Deref(base) => *base,
            Expr::Cast { value, .. } => *value,
            Expr::Binary(_, left, _) => *left,
            _ => return None,
        };
    }
    None
}
