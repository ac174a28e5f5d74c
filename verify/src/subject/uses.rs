//! What a function does with the pointers it is given, as parameters or in variables of its file: which of them must be
//! device memory, and which host memory.

use super::body::Body;
use super::pointers::{PointerUses, Var};
use cudalint_program::Project;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, Path, Stmt};
use cudalint_program::visit::{self, Item};
use std::collections::{BTreeMap, BTreeSet};

/// Functions followed into one another.
const MAX_DEPTH: u32 = 5;

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
        let Some(node) = body.module.exprs.get(id) else { return };
        let on_device = body.function.space.global || (body.function.space.device && !body.function.space.host);
        match &node.kind {
            Expr::AddressOf(inner) => {
                body.not_accessed.insert(*inner);
            }
            Expr::Name { .. } if !body.not_accessed.contains(&id) => {
                if let Some(var) = body.global(id) {
                    body.uses.entry((var, -1)).or_default();
                }
            }
            Expr::Assign { target, .. } | Expr::Step { target, .. } => {
                let traced = body.trace(*target, 0);
                if let (Some((var, 0)), Expr::Assign { op: None, .. }) = (&traced, &node.kind) {
                    body.assigned.insert(var.clone());
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
                body.not_accessed.insert(launch.kernel);
                for arg in &launch.args {
                    body.mark(*arg, |uses| uses.device = true);
                }
            }
            Expr::Call { callee, args } => {
                body.not_accessed.insert(*callee);
                self.call(body, *callee, args);
            }
            _ => {}
        }
    }

    fn call(&self, body: &mut Body<'_>, callee: ExprId, args: &[ExprId]) {
        let name = match body.module.exprs.get(callee).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.clone(),
            Some(Expr::Member { name, .. }) => Path::single(name.clone()),
            _ => Path::default(),
        };
        let Some(last) = name.last() else {
            for arg in args {
                body.mark(*arg, |uses| uses.escapes = true);
            }
            return;
        };
        if body.library_call(last.as_str(), args) {
            return;
        }
        let target = self.project.function(self.module, &body.function.scope, &name, args.len());
        let defined = target.filter(|(module, function)| {
            self.depth < MAX_DEPTH && self.project.function_at(*module, *function).is_some_and(|f| f.body.is_some())
        });
        let Some((module, function)) = defined else {
            for arg in args {
                body.mark(*arg, |uses| uses.escapes = true);
            }
            return;
        };
        let inner = Reader { project: self.project, module, depth: self.depth + 1 }.function(function);
        for (var, found) in inner.iter().filter(|(var, _)| module == self.module && matches!(var, Var::Global(_))) {
            if found.assigned {
                body.assigned.insert(var.clone());
            }
            body.uses.entry((var.clone(), -1)).or_default();
            for (level, uses) in &found.levels {
                body.uses.entry((var.clone(), i16::from(*level))).or_default().join(*uses);
            }
        }
        for (index, arg) in args.iter().enumerate() {
            let Some(found) = inner.get(&Var::Local(LocalId(index as u32))) else { continue };
            let Some((local, level)) = body.trace(*arg, 0) else { continue };
            for (deeper, uses) in &found.levels {
                body.uses.entry((local.clone(), level + i16::from(*deeper))).or_default().join(*uses);
            }
        }
    }
}

/// The values of a constructor's member initializers.
fn member_values(function: &Function) -> impl Iterator<Item = ExprId> + '_ {
    function.member_inits.iter().flat_map(|(_, values)| values.iter().copied())
}

/// Every call and launch in a function's own body, in source order.
pub fn calls(module: &Module, function: &Function) -> Vec<ExprId> {
    let mut found = Vec::new();
    let Some(block) = &function.body else { return found };
    visit::walk(module, function, block, |item| {
        if let Item::Expr(id) = item
            && matches!(
                module.exprs.get(id).map(|node| &node.kind),
                Some(Expr::Call { .. } | Expr::Launch(_) | Expr::Construct { .. })
            )
        {
            found.push(id);
        }
        !matches!(item, Item::Stmt(id) if matches!(module.stmts.get(id).map(|s| &s.kind), Some(Stmt::Break)))
    });
    found
}
