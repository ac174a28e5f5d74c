//! Argument types that a decorator states: `@cuda.jit("void(float32[:, ::1], int32)")`, `@cuda.jit(void(f4[:]))`,
//! `@cuda.jit((f4[:], i4))`, and lists of them.

use super::types::named;
use super::{ArgumentType, Order};
use crate::code::Ty;
use cudalint_program::ir::{Expr, ExprId, FunctionId, Module, ModuleId, PythonExpr};
use cudalint_program::{Name, Project};

/// A signature that a decorator states.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// One for each parameter.
    pub arguments: Vec<ArgumentType>,
    /// What comes back, where that is a number.
    pub returns: Option<Ty>,
}

/// All signatures that the decorator of a function states, in order; `None` where one of them is not understood.
pub fn stated_signatures(project: &Project, module: ModuleId, function: FunctionId) -> Option<Vec<Signature>> {
    let kernel = project.function_at(module, function)?.python.as_ref()?.kernel.as_ref()?;
    let ir = project.module(module);
    let Some(stated) = kernel.signature else { return Some(Vec::new()) };
    let one = |id| {
        let arguments = of_expr(ir, id, 0)?;
        Some(Signature { arguments, returns: returned(ir, id, 0) })
    };
    match &ir.exprs.get(stated)?.kind {
        Expr::Python(python) => match &**python {
            PythonExpr::List(all) => all.iter().map(|id| one(*id)).collect(),
            // A tuple of types, or of signatures.
            PythonExpr::Tuple(all) => match one(stated) {
                Some(whole) => Some(vec![whole]),
                None => all.iter().map(|id| one(*id)).collect(),
            },
            _ => None,
        },
        Expr::Name { path, .. } => {
            let named = global(ir, path.last()?)?;
            match &ir.exprs.get(named)?.kind {
                Expr::Python(python) => match &**python {
                    PythonExpr::List(all) => all.iter().map(|id| one(*id)).collect(),
                    _ => None,
                },
                _ => one(named).map(|one| vec![one]),
            }
        }
        _ => one(stated).map(|one| vec![one]),
    }
}

/// The type of numbers that a signature gives back.
fn returned(module: &Module, id: ExprId, depth: u32) -> Option<Ty> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &module.exprs.get(id)?.kind {
        Expr::Str(text) => named(text.get(..text.find('(')?)?.trim().rsplit('.').next().unwrap_or_default()),
        Expr::Call { callee, .. } => match argument(module, *callee, depth + 1)? {
            ArgumentType::Scalar(ty) => Some(ty),
            _ => None,
        },
        Expr::Name { path, .. } => returned(module, global(module, path.last()?)?, depth + 1),
        _ => None,
    }
}

/// How far names and nested expressions are followed.
const MAX_DEPTH: u32 = 8;

/// The argument types of a signature; of several signatures the first.
pub(super) fn of_expr(module: &Module, id: ExprId, depth: u32) -> Option<Vec<ArgumentType>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &module.exprs.get(id)?.kind {
        Expr::Str(text) => of_text(text),
        // `void(float32[:], int32)`.
        Expr::Call { callee, args } => {
            name_of(module, *callee)?;
            args.iter().map(|arg| argument(module, *arg, depth + 1)).collect()
        }
        Expr::Python(python) => match &**python {
            PythonExpr::Tuple(all) => all.iter().map(|one| argument(module, *one, depth + 1)).collect(),
            PythonExpr::List(all) => {
                let first = *all.first()?;
                of_expr(module, first, depth + 1)
                    .or_else(|| all.iter().map(|one| argument(module, *one, depth + 1)).collect())
            }
            _ => None,
        },
        Expr::Name { path, .. } => of_expr(module, global(module, path.last()?)?, depth + 1),
        _ => None,
    }
}

fn global(module: &Module, name: &Name) -> Option<ExprId> {
    module.globals.iter().find(|global| global.name == *name)?.init
}

/// The last part of a name or attribute.
fn name_of(module: &Module, id: ExprId) -> Option<&Name> {
    match &module.exprs.get(id)?.kind {
        Expr::Name { path, .. } => path.last(),
        Expr::Member { name, .. } => Some(name),
        _ => None,
    }
}

fn argument(module: &Module, id: ExprId, depth: u32) -> Option<ArgumentType> {
    if depth > MAX_DEPTH {
        return None;
    }
    match &module.exprs.get(id)?.kind {
        Expr::Index { base, indices } => {
            let ArgumentType::Scalar(element) = argument(module, *base, depth + 1)? else { return None };
            let mut axes = Vec::new();
            for index in indices {
                match module.exprs.get(*index).map(|node| &node.kind) {
                    Some(Expr::Python(python)) => match &**python {
                        PythonExpr::Slice(parts) => axes.push(parts[2].is_some()),
                        PythonExpr::Tuple(all) => {
                            for one in all {
                                match module.exprs.get(*one).map(|node| &node.kind) {
                                    Some(Expr::Python(inner)) => match &**inner {
                                        PythonExpr::Slice(parts) => axes.push(parts[2].is_some()),
                                        _ => return None,
                                    },
                                    _ => return None,
                                }
                            }
                        }
                        _ => return None,
                    },
                    _ => return None,
                }
            }
            array(element, &axes)
        }
        Expr::Str(text) => one_type(text.trim()),
        Expr::Name { path, .. } => {
            let name = path.last()?;
            if let Some(ty) = named(name) {
                return Some(ArgumentType::Scalar(ty));
            }
            if let Some(import) = module.imports.iter().find(|import| import.local == *name)
                && let Some(ty) = named(import.path.rsplit('.').next().unwrap_or_default())
            {
                return Some(ArgumentType::Scalar(ty));
            }
            argument(module, global(module, name)?, depth + 1)
        }
        Expr::Member { name, .. } => named(name).map(ArgumentType::Scalar),
        // `types.Array(float32, 2, "C")`.
        Expr::Call { callee, args } if name_of(module, *callee).is_some_and(|name| *name == "Array") => {
            let [element, rank, order] = args.as_slice() else { return None };
            let ArgumentType::Scalar(element) = argument(module, *element, depth + 1)? else { return None };
            let rank = match module.exprs.get(*rank).map(|node| &node.kind) {
                Some(Expr::Int { value, .. }) => u8::try_from(*value).ok()?,
                _ => return None,
            };
            let order = match module.exprs.get(*order).map(|node| &node.kind) {
                Some(Expr::Str(text)) if **text == *"C" => Order::C,
                Some(Expr::Str(text)) if **text == *"F" => Order::Fortran,
                _ => Order::Strided,
            };
            Some(ArgumentType::Array { element, rank, order })
        }
        _ => None,
    }
}

/// An array whose axes are written as `:` or `::1`.
fn array(element: Ty, axes: &[bool]) -> Option<ArgumentType> {
    let rank = u8::try_from(axes.len()).ok()?;
    let order = match axes {
        [.., true] if axes.iter().filter(|one| **one).count() == 1 => Order::C,
        [true, ..] if axes.iter().filter(|one| **one).count() == 1 => Order::Fortran,
        _ => Order::Strided,
    };
    Some(ArgumentType::Array { element, rank, order })
}

/// `void(float32[:,:], int32)`, or `(float32[:],)`.
fn of_text(text: &str) -> Option<Vec<ArgumentType>> {
    let text = text.trim();
    let inside = text.get(text.find('(')? + 1..text.rfind(')')?)?;
    let mut all = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    let mut take = |part: &str| -> Option<()> {
        if !part.trim().is_empty() {
            all.push(one_type(part.trim())?);
        }
        Some(())
    };
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth -= 1,
            b',' if depth == 0 => {
                take(inside.get(start..at)?)?;
                start = at + 1;
            }
            _ => {}
        }
    }
    take(inside.get(start..)?)?;
    Some(all)
}

fn one_type(text: &str) -> Option<ArgumentType> {
    let last = |name: &str| named(name.trim().rsplit('.').next().unwrap_or_default());
    let Some(open) = text.find('[') else {
        return last(text).map(ArgumentType::Scalar);
    };
    let element = last(text.get(..open)?)?;
    let axes: Vec<bool> =
        text.get(open + 1..text.rfind(']')?)?.split(',').map(|axis| axis.trim().starts_with("::")).collect();
    array(element, &axes)
}
