//! Which function a harness starts: the finding's own, or one that reaches it.

use super::Start;
use crate::subject::{Stretch, Subject, calls};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::{Expr, Function, FunctionId, FunctionRole, Module, Path};
use cudalint_syntax::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Callers of callers that are followed.
const MAX_ROUNDS: usize = 6;

/// The functions to start for a finding, best first. `main` is never among them.
pub(super) fn entries(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Start> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let place = subject.span_of(finding);
    let targets: Vec<FunctionId> = match subject.function_at(stretch, place.start, false) {
        Some(function) => vec![function],
        None => users_of_macro(subject, stretch, place),
    };
    let launch_line = finding.witness.as_ref().and_then(|witness| witness.launch.as_ref()).map(|launch| launch.line);
    let callers = callers(subject, stretch, module);
    let mut seen: BTreeSet<FunctionId> = BTreeSet::new();
    let mut found: Vec<Start> = Vec::new();
    let mut round = targets;
    for _ in 0..MAX_ROUNDS {
        // Among equals the one with the witness's launch comes first.
        round.sort_by_key(|id| {
            let has_launch = launch_line.is_some_and(|line| {
                module.functions.get(id.index()).is_some_and(|function| {
                    (subject.line_of(function.span.start)..=subject.line_of(function.span.end)).contains(&line)
                })
            });
            (!has_launch, *id)
        });
        let mut next = Vec::new();
        for id in round {
            if !seen.insert(id) {
                continue;
            }
            if module.functions.get(id.index()).is_some_and(can_start) {
                found.push(Start { function: id });
            }
            next.extend(callers.get(&id).into_iter().flatten().copied());
        }
        round = next;
    }
    found
}

/// Every function of a stretch that host code can call, in source order.
pub(super) fn all(subject: &Subject, stretch: &Stretch) -> Vec<Start> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let ids = (0..module.functions.len() as u32).map(FunctionId);
    ids.filter(|id| module.functions.get(id.index()).is_some_and(can_start))
        .map(|function| Start { function })
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

/// The functions that use what a macro definition at this place defines; all functions when none is known to.
fn users_of_macro(subject: &Subject, stretch: &Stretch, place: Span) -> Vec<FunctionId> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let names: Vec<&str> =
        module.macros.iter().filter(|it| it.span.overlaps(place)).map(|it| it.name.as_str()).collect();
    let uses = |function: &Function| {
        let text = subject.slice(function.span);
        names.iter().any(|name| super::page::has_word(text, name))
    };
    let with_body = |id: &FunctionId| module.functions.get(id.index()).is_some_and(|it| it.body.is_some());
    let ids: Vec<FunctionId> = (0..module.functions.len() as u32).map(FunctionId).filter(with_body).collect();
    let users: Vec<FunctionId> =
        ids.iter().copied().filter(|id| module.functions.get(id.index()).is_some_and(uses)).collect();
    if users.is_empty() { ids } else { users }
}

/// For each function of the module, who calls or launches it.
fn callers(subject: &Subject, stretch: &Stretch, module: &Module) -> BTreeMap<FunctionId, Vec<FunctionId>> {
    let mut found: BTreeMap<FunctionId, Vec<FunctionId>> = BTreeMap::new();
    let Some(own) = stretch.module else { return found };
    for (index, function) in module.functions.iter().enumerate() {
        let mut caller = FunctionId(index as u32);
        // What a lambda calls is called by the function around it.
        for _ in 0..16 {
            match module.functions.get(caller.index()).and_then(|function| function.parent) {
                Some(parent) => caller = parent,
                None => break,
            }
        }
        for call in calls(module, function) {
            let (callee, args) = match module.exprs.get(call.index()).map(|node| &node.kind) {
                Some(Expr::Call { callee, args }) => (*callee, args.len()),
                Some(Expr::Launch(launch)) => (launch.kernel, launch.args.len()),
                _ => continue,
            };
            let path = match module.exprs.get(callee.index()).map(|node| &node.kind) {
                Some(Expr::Name { path, .. }) => path.clone(),
                Some(Expr::Member { name, .. }) => Path::single(name.clone()),
                _ => continue,
            };
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
                if target != caller && !list.contains(&caller) {
                    list.push(caller);
                }
            }
        }
    }
    found
}
