//! Kernel parameters whose type does not survive being copied to the device byte by byte.

use crate::facts::{ParameterFault, ParameterFaultKind, Site};
use cudalint_program::api::ApiId;
use cudalint_program::ir::{
    Expr, Function, FunctionId, FunctionRole, Module, ModuleId, Path, Record, Stmt, Type, TypeId,
};
use cudalint_program::visit::walk_expr;
use cudalint_program::{Name, Project};

/// Owners of host memory in the standard library.
const HOST_CONTAINERS: [&str; 14] = [
    "vector",
    "string",
    "map",
    "unordered_map",
    "set",
    "unordered_set",
    "list",
    "deque",
    "queue",
    "stack",
    "function",
    "unique_ptr",
    "shared_ptr",
    "thread",
];

/// The faults of a kernel's parameters; template parameters are left open.
pub fn parameter_faults(project: &Project, id: ModuleId, kernel_id: FunctionId) -> Vec<ParameterFault> {
    let module = project.module(id);
    let Some(kernel) = module.functions.get(kernel_id) else { return Vec::new() };
    let mut faults = Vec::new();
    for (index, parameter) in kernel.params().iter().enumerate() {
        if let Some((kind, type_name)) = judge(project, id, kernel, parameter.ty) {
            faults.push(ParameterFault { kernel: kernel_id, parameter: index as u32, type_name, kind });
        }
    }
    faults
}

fn judge(project: &Project, id: ModuleId, kernel: &Function, ty: TypeId) -> Option<(ParameterFaultKind, String)> {
    let mut module_id = id;
    let mut ty = ty;
    // Through qualifiers and aliases to the type itself.
    for _ in 0..16 {
        let module = project.module(module_id);
        match module.types.get(ty)? {
            Type::Qualified { ty: inner, .. } => ty = *inner,
            Type::Reference(_) => return Some((ParameterFaultKind::Reference, String::new())),
            Type::Named { path, .. } => {
                let name = path.last()?;
                if path.segments.len() == 1 && kernel.template_params.iter().any(|param| &param.name == name) {
                    return None;
                }
                let written = path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::");
                if path.segments.first().is_some_and(|first| first == "std") && HOST_CONTAINERS.contains(&name.as_str())
                {
                    return Some((ParameterFaultKind::HostContainer, written));
                }
                if let Some(entry) = project.alias(module_id, &kernel.scope, path) {
                    let alias = project.alias_at(entry)?;
                    if !alias.template_params.is_empty() {
                        return None;
                    }
                    (module_id, ty) = (entry.module, alias.ty);
                    continue;
                }
                let entry = project.record(module_id, &kernel.scope, path)?;
                let record = project.record_at(entry)?;
                return record_fault(project, entry.module, record).map(|kind| (kind, written));
            }
            _ => return None,
        }
    }
    None
}

fn record_fault(project: &Project, id: ModuleId, record: &Record) -> Option<ParameterFaultKind> {
    let module = project.module(id);
    if record.has_virtual_method {
        return Some(ParameterFaultKind::Virtual { class: Site { module: id, span: record.span } });
    }
    let methods = || {
        let scope = record.scope.within(record.name.clone());
        module.functions.iter().filter(move |function| function.scope == scope)
    };
    // Any constructor from the class itself decides what a copy owns.
    let copies = methods().any(|method| {
        method.role == FunctionRole::Constructor
            && method
                .locals
                .first()
                .filter(|_| method.param_count >= 1)
                .is_some_and(|first| matches!(module.types.get(first.ty), Some(Type::Reference(_))))
    });
    if copies {
        return None;
    }
    let destructor = methods().find(|method| method.role == FunctionRole::Destructor && method.body.is_some())?;
    let releases = unconditional_release(module, destructor)?;
    Some(ParameterFaultKind::ReleasesOnCopy { destructor: Site { module: id, span: destructor.name_span }, releases })
}

/// A call at the top of the destructor that releases something, under no condition.
fn unconditional_release(module: &Module, destructor: &Function) -> Option<String> {
    let mut stack: Vec<_> = destructor.body.as_ref()?.iter().rev().copied().collect();
    while let Some(id) = stack.pop() {
        match &module.stmts.get(id)?.kind {
            Stmt::Block(inner) => stack.extend(inner.iter().rev().copied()),
            Stmt::Expr(expr) => {
                let mut found = None;
                walk_expr(module, *expr, |_, expr| {
                    match expr {
                        Expr::Call { callee, .. } => {
                            if let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|node| &node.kind) {
                                found = found.take().or_else(|| release(path));
                            }
                        }
                        Expr::Delete { array, .. } => {
                            found = Some(if *array { "delete[]" } else { "delete" }.to_owned());
                        }
                        // Under a condition of its own.
                        Expr::Select(..) | Expr::AndThen(..) | Expr::OrElse(..) => return false,
                        _ => {}
                    }
                    found.is_none()
                });
                if found.is_some() {
                    return found;
                }
            }
            // What follows a way out is conditional.
            Stmt::If { .. } | Stmt::Return(_) | Stmt::Goto(_) => return None,
            _ => {}
        }
    }
    None
}

fn release(path: &Path) -> Option<String> {
    let name = path.last()?;
    ApiId::named(name)?.releases().then(|| name.to_string())
}
