//! Calls across execution spaces: device code that calls what exists on the host only, the reverse, and kernels called
//! like functions. Everything that could make such a call right (an overload, a `constexpr`, an attribute behind a
//! macro out of sight) keeps it from being listed.

use crate::facts::{Site, SpaceFault, SpaceFaultKind};
use cudalint_program::api::spaces::{StandardSpace, standard_space};
use cudalint_program::ir::{Expr, Function, FunctionId, FunctionRole, ModuleId, Path};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;

/// How far before a function's name a specifier may stand.
const SPECIFIER_WINDOW: usize = 400;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Host,
    Device,
}

/// The faults of one module, in order.
pub(crate) fn space_faults(project: &Project, id: ModuleId) -> Vec<SpaceFault> {
    let module = project.module(id);
    let mut faults = Vec::new();
    // A project that defines the specifiers itself builds its device code for the host.
    if ["__global__", "__device__", "__host__"].iter().any(|word| project.has_macro(id, word)) {
        return faults;
    }
    // Sources of another language are built by another compiler, which may take the specifiers for something else.
    if !built_as_cuda(project, id) {
        return faults;
    }
    for (index, caller) in module.functions.iter().enumerate() {
        let caller_id = FunctionId(index as u32);
        let Some(body) = caller.body.as_ref().filter(|_| !caller.damaged) else { continue };
        let Some(side) = side_of(project, id, caller) else { continue };
        let mut seen: Vec<Span> = Vec::new();
        walk(module, caller, body, |item| {
            let Item::Expr(expr) = item else { return true };
            let Some(node) = module.exprs.get(expr) else { return false };
            match &node.kind {
                Expr::SizeOfExpr(_) => return false,
                Expr::Call { callee, args } => {
                    let Some(name) = module.exprs.get(*callee) else { return true };
                    // What a macro brings in may hold other code for the other side.
                    if let Expr::Name { path, .. } = &name.kind
                        && node.expansion.is_none()
                        && !seen.contains(&name.span)
                        && let Some(fault) = judge(project, id, caller, side, path, args.len())
                    {
                        seen.push(name.span);
                        faults.push(SpaceFault { caller: caller_id, span: name.span, ..fault });
                    }
                }
                _ => {}
            }
            true
        });
    }
    faults
}

/// Whether a module is CUDA C++ for sure: by its file's name, a launch in it, or as a fence of a document.
fn built_as_cuda(project: &Project, id: ModuleId) -> bool {
    let path = project.path(id);
    let extension = path.rsplit('.').next().unwrap_or("");
    ["cu", "cuh", "md"].contains(&extension)
        || project.module(id).exprs.iter().any(|node| matches!(&node.kind, Expr::Launch(launch) if launch.chevron))
}

/// Where a function surely runs, and only there.
fn side_of(project: &Project, id: ModuleId, function: &Function) -> Option<Side> {
    if function.role == FunctionRole::Lambda || function.is_constexpr || hidden_specifier(project, id, function) {
        return None;
    }
    match (function.space.host, function.space.device || function.space.global) {
        (_, true) if !function.space.host => Some(Side::Device),
        (true, false) => Some(Side::Host),
        _ => None,
    }
}

/// Whether something before the name may be a specifier that is not in sight: a word in capitals, a keyword that a macro
/// redefines (`#define inline __device__ __forceinline__`), or a pragma about execution spaces.
fn hidden_specifier(project: &Project, id: ModuleId, function: &Function) -> bool {
    let end = function.name_span.start as usize;
    let mut start = end.saturating_sub(SPECIFIER_WINDOW);
    let text = loop {
        let text = project.text(id, Span::new(start, end));
        if !text.is_empty() || start >= end {
            break text;
        }
        start += 1;
    };
    // `{}` in a template argument is a value.
    let text = text.replace("{}", "()");
    let begin = text.rfind([';', '}', '{']).map_or(0, |at| at + 1);
    let before = text.get(begin..).unwrap_or("");
    // A name in capitals may be a macro that brings its specifiers along: `OPERATOR(int i)` for `__device__ void operator()(int i)`.
    let name = function.name.as_str();
    if before.contains("#pragma") || project.has_macro(id, name) || cudalint_syntax::is_caps(name.as_bytes()) {
        return true;
    }
    before.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| {
        let keyword = matches!(word, "inline" | "static" | "extern" | "friend" | "virtual" | "explicit");
        if keyword && project.has_macro(id, word) {
            return true;
        }
        cudalint_syntax::is_caps(word.as_bytes())
            && !word.starts_with(|c: char| c.is_ascii_digit())
            && !function.template_params.iter().any(|param| param.name == word)
    })
}

fn is_kernel(project: &Project, module: ModuleId, function: FunctionId) -> bool {
    project.function_at(module, function).is_some_and(|function| function.space.global)
}

/// Of more overloads nothing is said: each is looked at for each call.
const MOST_OVERLOADS: usize = 200;

fn judge(
    project: &Project,
    id: ModuleId,
    caller: &Function,
    side: Side,
    path: &Path,
    args: usize,
) -> Option<SpaceFault> {
    let name = path.last()?;
    let inside = &caller.scope;
    let template_parameter = |name: &Name| caller.template_params.iter().any(|param| &param.name == name);
    if path.segments.iter().any(template_parameter) {
        return None;
    }
    let candidates = project.overloads(id, inside, path);
    if candidates.len() > MOST_OVERLOADS {
        return None;
    }
    // A type of that name makes it a construction; a variable, a call through a pointer or object.
    if project.record(id, inside, path).is_some()
        || project.alias(id, inside, path).is_some()
        || project.global(id, inside, path).is_some()
        || project.has_macro(id, name)
    {
        return None;
    }
    let fault = |kind, declared| {
        let callee = path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::");
        Some(SpaceFault { caller: FunctionId(0), span: Span::default(), callee, declared, kind })
    };
    // A project header that is out of sight may declare an overload for the other side.
    let header_missing = project.includes().reach(id.0).missing;
    if candidates.is_empty() {
        return match (side, standard_space(path)) {
            (Side::Device, Some(StandardSpace::HostOnly)) if header_missing => None,
            (Side::Device, Some(StandardSpace::HostOnly)) => fault(SpaceFaultKind::DeviceCallsHost, None),
            (Side::Host, Some(StandardSpace::DeviceOnly)) => fault(SpaceFaultKind::HostCallsDevice, None),
            _ => None,
        };
    }
    // A name that CUDA or the standard library has too: overload resolution may choose theirs.
    if standard_space(path).is_some() {
        return None;
    }
    // One that does not take these arguments is not what is called; then nothing in sight is.
    if header_missing && !candidates.iter().all(|(module, function)| is_kernel(project, *module, *function)) {
        return None;
    }
    let takes = |function: &Function| {
        let required = function.params().iter().filter(|p| p.init.is_none()).count();
        function.variadic || (required..=function.param_count as usize).contains(&args)
    };
    if !candidates.iter().filter_map(|(module, function)| project.function_at(*module, *function)).all(takes) {
        return None;
    }
    let mut declared = None;
    let mut all_kernels = true;
    for (module, function) in candidates.iter() {
        let other: &Function = project.function_at(*module, *function)?;
        if other.damaged || other.is_constexpr || other.role == FunctionRole::Lambda {
            return None;
        }
        if !matches!(other.role, FunctionRole::Free | FunctionRole::Method | FunctionRole::StaticMethod) {
            return None;
        }
        all_kernels &= other.space.global;
        if other.space.global {
            declared = Some(Site { module: *module, span: other.name_span });
            continue;
        }
        match (side, side_of(project, *module, other)) {
            (Side::Device, Some(Side::Host)) | (Side::Host, Some(Side::Device)) => {
                declared = Some(Site { module: *module, span: other.name_span });
            }
            _ => return None,
        }
    }
    // The same name elsewhere in the project, out of the call's sight, may be what the build uses.
    let everywhere = project.functions_named(name);
    let runs_here = |function: &Function| {
        function.is_constexpr
            || match side {
                Side::Host => function.space.host && !function.space.global,
                Side::Device => function.space.device,
            }
    };
    if everywhere.iter().filter_map(|(module, function)| project.function_at(*module, *function)).any(runs_here) {
        return None;
    }
    if all_kernels {
        return fault(SpaceFaultKind::KernelCalled, declared);
    }
    match side {
        Side::Device => fault(SpaceFaultKind::DeviceCallsHost, declared),
        Side::Host => fault(SpaceFaultKind::HostCallsDevice, declared),
    }
}
