//! What an expression of a Python module names of a package.

use crate::ir::{Expr, ExprId, FunctionId, Module};
use crate::name::Name;

/// How far attributes are followed.
const MAX_ATTRIBUTES: usize = 16;

/// The dotted path of an expression that names something of a package: `numba.cuda.blockDim.x` for `cuda.blockDim.x`, where
/// `cuda` means nothing else in its scope. `function` is the one in which the expression stands.
pub fn dotted(module: &Module, function: FunctionId, expr: ExprId) -> Option<String> {
    let mut attributes: Vec<&Name> = Vec::new();
    let mut at = &module.exprs.get(expr)?.kind;
    while let Expr::Member { base, name, .. } = at {
        attributes.push(name);
        at = module.exprs.get(*base).map(|node| &node.kind).filter(|_| attributes.len() < MAX_ATTRIBUTES)?;
    }
    let (name, scope) = root(module, function, at)?;
    let import = module.imports.iter().find(|import| import.local == *name && import.function == scope)?;
    if !import.sure || import.level > 0 {
        return None;
    }
    let mut path = import.path.to_string();
    for attribute in attributes.into_iter().rev() {
        path.push('.');
        path.push_str(attribute);
    }
    Some(path)
}

/// The name at the root, and the function that binds it; none for the module.
fn root<'m>(module: &'m Module, function: FunctionId, expr: &'m Expr) -> Option<(&'m Name, Option<FunctionId>)> {
    let within = |id: FunctionId| Some(id).filter(|id| Some(*id) != module.body);
    match expr {
        Expr::Local(local) => {
            let owner = module.functions.get(function)?;
            let name = &owner.locals.get(*local)?.name;
            owner.python_local(name).filter(|own| own == local)?;
            Some((name, within(function)))
        }
        Expr::Name { path, .. } if path.segments.len() == 1 => {
            let name = path.last()?;
            let mut at = function;
            // A captured name belongs to the nearest function around that has it as its own.
            while let Some((_, local)) = module.functions.get(at)?.captures.iter().find(|(it, _)| it == name) {
                at = module.functions.get(at)?.parent?;
                if local.is_some() {
                    return Some((name, within(at)));
                }
            }
            Some((name, None))
        }
        _ => None,
    }
}
