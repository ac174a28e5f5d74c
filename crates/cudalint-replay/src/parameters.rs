//! Kernel parameters whose type does not survive being copied to the device byte by byte.

use crate::facts::{ParameterFault, ParameterFaultKind, Site};
use cudalint_program::api::ApiId;
use cudalint_program::ir::{
    Expr, Function, FunctionId, FunctionRole, LocalId, Module, ModuleId, Path, Record, Stmt, Type, Variable,
};
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{Name, Project};
use cudalint_syntax::{Span, called_names};
use rustc_hash::FxHashSet;

/// Whether a kernel's parameter is a pointer through which nothing can be written.
pub(crate) fn reads_only(project: &Project, (module, function): (ModuleId, FunctionId), index: usize) -> bool {
    let types = &project.module(module).types;
    let Some(function) = project.function_at(module, function) else { return false };
    if index >= function.param_count as usize {
        return false;
    }
    let mut ty = function.locals.get(LocalId::from(index)).map(|parameter| parameter.ty);
    for _ in 0..MAX_QUALIFIERS {
        match ty.and_then(|ty| types.get(ty)) {
            Some(Type::Qualified { ty: inner, .. }) => ty = Some(*inner),
            Some(Type::Pointer(to)) => {
                return match types.get(*to) {
                    // What lies behind a pointer in it may still be written.
                    Some(Type::Qualified { ty, is_const: true, .. }) => {
                        !matches!(types.get(*ty), Some(Type::Pointer(_)))
                    }
                    _ => false,
                };
            }
            _ => return false,
        }
    }
    false
}

/// Qualifiers around a type that are looked through.
const MAX_QUALIFIERS: u32 = 4;

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

/// Spellings of `restrict`.
const RESTRICT: [&str; 3] = ["__restrict__", "__restrict", "restrict"];

/// Classes above one that are looked at.
const MAX_CLASSES: u32 = 16;

/// The faults of a kernel's parameters; template parameters are left open.
pub fn parameter_faults(project: &Project, id: ModuleId, kernel_id: FunctionId) -> Vec<ParameterFault> {
    let module = project.module(id);
    let Some(kernel) = module.functions.get(kernel_id) else { return Vec::new() };
    let mut faults = Vec::new();
    for (index, parameter) in kernel.params().iter().enumerate() {
        if let Some((kind, type_name)) = judge(project, id, kernel, parameter) {
            faults.push(ParameterFault { kernel: kernel_id, parameter: index as u32, type_name, kind });
        }
    }
    faults
}

/// Of each parameter of a kernel whether it is a `__restrict__` pointer by its own words.
pub fn restricted(project: &Project, id: ModuleId, kernel: FunctionId) -> Vec<bool> {
    let Some(kernel) = project.function_at(id, kernel) else { return Vec::new() };
    let mut from = kernel.name_span.end;
    let mut restricted = Vec::new();
    for parameter in kernel.params() {
        let before = Span { start: from, end: parameter.span.start };
        let text = if before.start <= before.end { project.text(id, before) } else { "" };
        let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        restricted.push(words.any(|word| RESTRICT.contains(&word)));
        from = parameter.span.end;
    }
    restricted
}

fn judge(
    project: &Project,
    id: ModuleId,
    kernel: &Function,
    parameter: &Variable,
) -> Option<(ParameterFaultKind, String)> {
    let mut module_id = id;
    let mut ty = parameter.ty;
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
                let kind = record_fault(project, entry.module, record)?;
                let is_virtual = matches!(kind, ParameterFaultKind::Virtual { .. });
                let harmless =
                    is_virtual && !may_call_virtual(project, (id, kernel), parameter, (entry.module, record));
                return (!harmless).then_some((kind, written));
            }
            _ => return None,
        }
    }
    None
}

/// Whether a kernel may call a virtual function of an object that it is given: it calls a function of that name, it calls a method that
/// does, or it hands the object on as a whole. The copy's other functions, which are bound when the kernel is compiled, do work.
fn may_call_virtual(
    project: &Project,
    (id, kernel): (ModuleId, &Function),
    parameter: &Variable,
    (of, record): (ModuleId, &Record),
) -> bool {
    let text_of = |module: ModuleId, function: &Function| {
        let (start, end) = (function.span.start as usize, function.span.end as usize);
        project.source(module).get(start..end).unwrap_or_default()
    };
    let mut virtuals = FxHashSet::default();
    let mut classes = vec![(of, record)];
    let mut looked_at = 0;
    while let Some((of, record)) = classes.pop() {
        looked_at += 1;
        if record.virtual_methods.iter().any(|name| name.is_empty()) {
            return true;
        }
        virtuals.extend(record.virtual_methods.iter().map(Name::as_str));
        for base in &record.bases {
            let Some(Type::Named { path, .. }) = project.module(of).types.get(*base) else { return true };
            let Some(base) = project.record(of, &record.scope, path) else { return true };
            let Some(found) = project.record_at(base).filter(|_| looked_at < MAX_CLASSES) else { return true };
            classes.push((base.module, found));
        }
    }
    let calls = |text| called_names(text).any(|name| virtuals.contains(name));
    let body = text_of(id, kernel);
    let scope = record.scope.within(record.name.clone());
    let methods = project.module(of).functions.iter().filter(|function| function.scope == scope);
    let through_method = methods
        .filter(|method| called_names(body).any(|name| *method.name == *name) || method.role == FunctionRole::Operator)
        .filter(|method| !virtuals.contains(method.name.as_str()))
        .any(|method| calls(text_of(of, method)));
    calls(body) || through_method || is_handed_on(body, &parameter.name)
}

/// Whether a text names a variable as a whole argument or value: between `(`, `,`, `=` or `&` and `)`, `,` or `;`. Its first mention is
/// its declaration.
fn is_handed_on(text: &str, name: &str) -> bool {
    text.match_indices(name).skip(1).any(|(at, _)| {
        let before = text[..at].trim_end().chars().next_back();
        let after = text[at + name.len()..].trim_start().chars().next();
        matches!(before, Some('(' | ',' | '=' | '&' | '{')) && matches!(after, Some(')' | ',' | ';' | '}'))
    })
}

fn record_fault(project: &Project, id: ModuleId, record: &Record) -> Option<ParameterFaultKind> {
    let module = project.module(id);
    if !record.virtual_methods.is_empty() {
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
    if let Some(releases) = unconditional_release(module, destructor) {
        let destructor = Site { module: id, span: destructor.name_span };
        return Some(ParameterFaultKind::ReleasesOnCopy { destructor, releases });
    }
    let releases = all_releases(module, destructor);
    let is_it = |function: &Function| std::ptr::eq(function, destructor);
    let position = module.functions.iter().position(is_it).filter(|_| !releases.is_empty())?;
    Some(ParameterFaultKind::MayReleaseOnCopy { destructor: (id, FunctionId::from(position)), releases })
}

/// All calls in a destructor that release something.
fn all_releases(module: &Module, destructor: &Function) -> Vec<String> {
    let mut found = Vec::new();
    let Some(body) = &destructor.body else { return found };
    walk(module, destructor, body, |item| {
        if let Item::Expr(id) = item
            && let Some(Expr::Call { callee, .. }) = module.exprs.get(id).map(|node| &node.kind)
            && let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|node| &node.kind)
        {
            found.extend(release(path));
        }
        true
    });
    found
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
