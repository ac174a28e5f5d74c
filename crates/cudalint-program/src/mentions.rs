//! Where expressions name functions, by the last part of what they say: who asks for the calls of one function after the other looks
//! through the program once.

use crate::ir::{Expr, ExprId, Module, ModuleId};
use crate::name::Name;
use rustc_hash::FxHashMap;

/// Expressions that name a thing.
#[derive(Debug, Default)]
pub struct Mentions {
    /// Calls of what has the name.
    pub calls: Vec<(ModuleId, ExprId)>,
    /// How many expressions are the name, those that are called among them.
    pub count: usize,
}

/// By name.
pub(crate) type AllMentions = FxHashMap<Name, Mentions>;

/// What an expression names.
fn named(module: &Module, expr: ExprId) -> Option<&Name> {
    match module.exprs.get(expr).map(|node| &node.kind) {
        Some(Expr::Name { path, .. }) => path.last(),
        Some(Expr::Member { name, .. }) => Some(name),
        _ => None,
    }
}

/// All of some modules.
pub(crate) fn of<'m>(modules: impl Iterator<Item = (ModuleId, &'m Module)>) -> AllMentions {
    let mut all = AllMentions::default();
    for (id, module) in modules {
        for (expr, node) in module.exprs.iter_enumerated() {
            let callee = if let Expr::Call { callee, .. } = &node.kind { named(module, *callee) } else { None };
            let (name, call) = match (callee, named(module, expr)) {
                (Some(callee), _) => (callee, Some((id, expr))),
                (None, Some(name)) => (name, None),
                (None, None) => continue,
            };
            let found = match all.get_mut(name) {
                Some(found) => found,
                None => all.entry(name.clone()).or_default(),
            };
            found.count += usize::from(call.is_none());
            found.calls.extend(call);
        }
    }
    all
}
