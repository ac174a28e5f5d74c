//! Calls of functions that newer toolkits, or newer architectures, no longer have. Whatever could make such a name something else (a
//! definition of the project's, a header that is not here) keeps the call from being listed, and so does a branch that nothing decides.

use crate::facts::EndedCall;
use cudalint_program::Project;
use cudalint_program::api::{ApiId, End};
use cudalint_program::ir::{Expr, Function, FunctionId, ModuleId, Path};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;

/// Endings of files that are compiled where others include them.
const HEADERS: [&str; 6] = [".cuh", ".h", ".hpp", ".hh", ".inl", ".inc"];

/// The calls of one module, in order.
pub(crate) fn ended_calls(project: &Project, id: ModuleId) -> Vec<EndedCall> {
    let module = project.module(id);
    let mut names = module.exprs.iter().filter_map(|node| match &node.kind {
        Expr::Name { path, .. } => path.last(),
        _ => None,
    });
    // Most modules end here.
    if !names.any(|name| ended(name).is_some()) {
        return Vec::new();
    }
    let includes = project.includes();
    let is_header = HEADERS.iter().any(|ending| project.path(id).ends_with(ending));
    if project.is_for_hip(id) || includes.reach(id.0).missing || (is_header && includes.includers(id.0).is_empty()) {
        return Vec::new();
    }
    let mut calls: Vec<EndedCall> = Vec::new();
    for (index, caller) in module.functions.iter().enumerate() {
        let Some(body) = caller.body.as_ref().filter(|_| !caller.damaged) else { continue };
        walk(module, caller, body, |item| {
            if let Item::Expr(expr) = item
                && let Some(Expr::Call { callee, .. }) = module.exprs.get(expr).map(|node| &node.kind)
                && let Some(name) = module.exprs.get(*callee)
                && let Expr::Name { path, .. } = &name.kind
                && let Some(api) = called(project, id, caller, path)
                // Of what a macro brings in, the macro's own place says more.
                && project.text(id, name.span).contains(path.last().map_or("", |name| name.as_str()))
                && !is_open(project, id, name.span)
                && !calls.iter().any(|call| call.span == name.span)
            {
                let conditional = is_conditional(project.source(id), name.span.start as usize);
                let in_template = !caller.template_params.is_empty();
                let caller = FunctionId(index as u32);
                calls.push(EndedCall { caller, span: name.span, api, conditional, in_template });
            }
            true
        });
    }
    calls
}

fn ended(name: &str) -> Option<ApiId> {
    ApiId::named(name).filter(|api| api.until.is_some())
}

/// The function that a call means, where it is one that ends.
fn called(project: &Project, id: ModuleId, caller: &Function, path: &Path) -> Option<ApiId> {
    let name = path.last().filter(|_| path.segments.len() == 1)?;
    let api = ended(name)?;
    if let Some(End::Architecture(_)) = api.until.map(|until| until.end)
        && !caller.space.device
        && !caller.space.global
    {
        return None;
    }
    let own = !project.overloads(id, &caller.scope, path).is_empty()
        || project.has_macro(id, name)
        || project.global(id, &caller.scope, path).is_some()
        || project.record(id, &caller.scope, path).is_some()
        || !project.functions_named(name).is_empty();
    (!own).then_some(api)
}

/// Whether a place belongs to a branch that nothing decides.
fn is_open(project: &Project, id: ModuleId, span: Span) -> bool {
    let module = project.module(id);
    let mut open = module.supposed.iter().map(|it| it.span).chain(module.lone.iter().map(|it| it.span));
    open.any(|branch| branch.range().contains(&(span.start as usize)))
}

/// Whether a condition of the preprocessor stands around a place, other than the one that keeps a file from being read twice.
fn is_conditional(text: &str, at: usize) -> bool {
    let mut open: Vec<bool> = Vec::new();
    let mut lines = text.get(..at).unwrap_or("").lines().map(str::trim_start).peekable();
    while let Some(line) = lines.next() {
        let Some(directive) = line.strip_prefix('#').map(str::trim_start) else { continue };
        if let Some(name) = directive.strip_prefix("ifndef") {
            let next = lines.peek().and_then(|next| next.strip_prefix('#')).map_or("", str::trim_start);
            let defined = next.strip_prefix("define").and_then(|rest| rest.split_whitespace().next());
            open.push(defined.is_none() || defined != name.split_whitespace().next());
        } else if directive.starts_with("if") {
            open.push(true);
        } else if directive.starts_with("endif") {
            open.pop();
        }
    }
    open.contains(&true)
}

#[cfg(test)]
mod tests {
    use super::is_conditional;

    #[test]
    fn a_guard_against_reading_twice_is_no_condition() {
        let at = |text: &str| is_conditional(text, text.find('@').unwrap_or(0));
        assert!(!at("#ifndef A_H\n#define A_H\n#ifdef B\n#endif\n@\n#endif\n"));
        assert!(at("#ifndef A\n#define A_H\n@"));
        assert!(at("# if CUDART_VERSION < 12000\n f(); @\n#endif"));
        assert!(at("#if A\n#else\n@\n#endif"));
    }
}
