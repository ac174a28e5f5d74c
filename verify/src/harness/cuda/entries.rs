//! Which function a harness starts: the finding's own, or one that reaches it.

use super::start::Start;
use crate::subject::{Stretch, Subject, calls};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, FunctionRole, Module, Path};
use cudalint_syntax::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Callers of callers that are followed.
const MAX_ROUNDS: usize = 6;

/// The functions to start for a finding, best first: those that host code calls, then kernels that are launched by
/// themselves. `main` is never among them.
pub(super) fn entries(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Start> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let place = subject.span_of(finding);
    let own = subject.function_at(stretch, place.start, false);
    let targets: Vec<FunctionId> =
        own.map_or_else(|| users_of_macro(subject, stretch, place), |function| vec![function]);
    let launch_line = finding.claim.launch.as_ref().map(|launch| launch.site.line());
    let callers = callers(subject, stretch, module);
    let mut seen: BTreeSet<FunctionId> = BTreeSet::new();
    let mut called: Vec<Start> = Vec::new();
    let mut launched: Vec<Start> = Vec::new();
    let mut round: Vec<(FunctionId, Option<Span>)> = targets.into_iter().map(|id| (id, own.map(|_| place))).collect();
    for _ in 0..MAX_ROUNDS {
        // Among equals the one with the witness's launch comes first.
        round.sort_by_key(|(id, _)| {
            let has_launch = launch_line.is_some_and(|line| {
                module.functions.get(*id).is_some_and(|function| {
                    (subject.line_of(function.span.start)..=subject.line_of(function.span.end)).contains(&line)
                })
            });
            (!has_launch, *id)
        });
        let mut next = Vec::new();
        for (id, place) in round {
            if !seen.insert(id) {
                continue;
            }
            let Some(function) = module.functions.get(id) else { continue };
            if can_start(function) {
                called.push(Start { function: id, place, direct: false });
            } else if can_launch(function) {
                launched.push(Start { function: id, place, direct: true });
            }
            next.extend(callers.get(&id).into_iter().flatten().map(|(caller, call)| (*caller, Some(*call))));
        }
        round = next;
    }
    let with_witness = launch_line.and_then(|line| kernel_at(subject, stretch, module, line));
    if let Some(kernel) = with_witness.filter(|kernel| launched.iter().all(|start| start.function != *kernel)) {
        launched.push(Start { function: kernel, place: None, direct: true });
    }
    called.into_iter().chain(launched).collect()
}

/// Every function of a stretch that host code can call, in source order; kernels that none of them launches come last.
pub(super) fn all(subject: &Subject, stretch: &Stretch) -> Vec<Start> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let callers = callers(subject, stretch, module);
    let ids: Vec<FunctionId> = (0..module.functions.len() as u32).map(FunctionId).collect();
    let function = |id: &FunctionId| module.functions.get(*id);
    let called = ids.iter().filter(|id| function(id).is_some_and(can_start));
    let lone = ids.iter().filter(|id| function(id).is_some_and(can_launch) && !callers.contains_key(id));
    called
        .map(|id| Start { function: *id, place: None, direct: false })
        .chain(lone.map(|id| Start { function: *id, place: None, direct: true }))
        .collect()
}

/// Whether host code can call it.
fn can_start(function: &Function) -> bool {
    function.body.is_some()
        && !function.space.global
        && (function.space.host || !function.space.device)
        && !matches!(function.role, FunctionRole::Lambda | FunctionRole::Operator)
        && function.name != "main"
        && !function.variadic
}

/// Whether it is a kernel that can be launched by itself.
fn can_launch(function: &Function) -> bool {
    function.body.is_some() && function.space.global
}

/// The functions that use what a macro definition at this place defines; all functions when none is known to.
fn users_of_macro(subject: &Subject, stretch: &Stretch, place: Span) -> Vec<FunctionId> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let mut names: Vec<&str> =
        module.macros.iter().filter(|it| it.span.overlaps(place)).map(|it| it.name.as_str()).collect();
    // Macros that use it are the same to their users.
    for _ in 0..4 {
        let more: Vec<&str> = module
            .macros
            .iter()
            .filter(|it| !names.contains(&it.name.as_str()))
            .filter(|it| names.iter().any(|name| super::page::has_word(&it.body, name)))
            .map(|it| it.name.as_str())
            .collect();
        if more.is_empty() {
            break;
        }
        names.extend(more);
    }
    let uses = |function: &Function| {
        let text = subject.slice(function.span);
        names.iter().any(|name| super::page::has_word(text, name))
    };
    let with_body = |id: &FunctionId| module.functions.get(*id).is_some_and(|it| it.body.is_some());
    let ids: Vec<FunctionId> = (0..module.functions.len() as u32).map(FunctionId).filter(with_body).collect();
    let users: Vec<FunctionId> = ids.iter().copied().filter(|id| module.functions.get(*id).is_some_and(uses)).collect();
    if users.is_empty() { ids } else { users }
}

/// What a call or launch names, and with how many arguments.
fn callee(module: &Module, call: ExprId) -> Option<(Path, usize)> {
    let (callee, args) = match &module.exprs.get(call)?.kind {
        Expr::Call { callee, args } => (*callee, args.len()),
        Expr::Launch(launch) => (launch.kernel, launch.args.len()),
        _ => return None,
    };
    match &module.exprs.get(callee)?.kind {
        Expr::Name { path, .. } => Some((path.clone(), args)),
        Expr::Member { name, .. } => Some((Path::single(name.clone()), args)),
        _ => None,
    }
}

/// For each function of the module, who calls or launches it, and where.
fn callers(subject: &Subject, stretch: &Stretch, module: &Module) -> BTreeMap<FunctionId, Vec<(FunctionId, Span)>> {
    let mut found: BTreeMap<FunctionId, Vec<(FunctionId, Span)>> = BTreeMap::new();
    let Some(own) = stretch.module else { return found };
    for (index, function) in module.functions.iter().enumerate() {
        let mut caller = FunctionId(index as u32);
        // What a lambda calls is called by the function around it.
        for _ in 0..16 {
            match module.functions.get(caller).and_then(|function| function.parent) {
                Some(parent) => caller = parent,
                None => break,
            }
        }
        for call in calls(module, function) {
            let Some((path, args)) = callee(module, call) else { continue };
            let span = module.exprs.get(call).map_or_else(Span::default, |node| node.span);
            let resolved = subject.project.function(own, &function.scope, &path, args);
            let targets: Vec<FunctionId> = match resolved {
                Some((module, target)) if module == own => vec![target],
                Some(_) => continue,
                // Overloads and methods: by their name.
                None => subject
                    .project
                    .functions_named(path.last().map_or("", |name| name.as_str()))
                    .into_iter()
                    .filter(|(module, _)| *module == own)
                    .map(|(_, target)| target)
                    .collect(),
            };
            for target in targets {
                let list = found.entry(target).or_default();
                if target != caller && !list.iter().any(|(known, _)| *known == caller) {
                    list.push((caller, span));
                }
            }
        }
    }
    found
}

/// The kernel that is launched on a line.
pub(super) fn kernel_at(subject: &Subject, stretch: &Stretch, module: &Module, line: u32) -> Option<FunctionId> {
    let own = stretch.module?;
    launches_at(subject, module, line).into_iter().find_map(|(function, call)| {
        let (path, args) = callee(module, call)?;
        let scope = &module.functions.get(function)?.scope;
        let (of, target) = subject.project.kernel(own, scope, &path, Some(args))?;
        (of == own && module.functions.get(target)?.body.is_some()).then_some(target)
    })
}

/// The launches that begin on a line, each with the function that it stands in.
pub(super) fn launches_at(subject: &Subject, module: &Module, line: u32) -> Vec<(FunctionId, ExprId)> {
    let mut found = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        for call in calls(module, function) {
            let Some(node) = module.exprs.get(call) else { continue };
            if matches!(node.kind, Expr::Launch(_)) && subject.line_of(node.span.start) == line {
                found.push((FunctionId(index as u32), call));
            }
        }
    }
    found
}
