//! What compilers refuse for the order that they meet it in: a function that a file defines although a source that it includes does, one
//! that is called before anything declares it, and a variable whose name stands for a number there. A file with one of these is no program.

use crate::roles::COMPILED;
use crate::undeclared::Declared;
use cudalint_program::Project;
use cudalint_program::ir::{Expr, Function, FunctionRole, Module, ModuleId};
use cudalint_program::visit::{Item, walk};
use cudalint_syntax::Span;

/// A function that a source has twice: in its own text, and in that of a source that it includes.
pub(crate) fn redefined(project: &Project, id: ModuleId) -> Option<(Span, String)> {
    let module = project.module(id);
    let included = &project.includes().reach(id.index() as u32).included;
    let is_source = |id: ModuleId| COMPILED.iter().any(|ending| project.path(id).ends_with(ending));
    // Headers are made to be included in any order, and some are read differently each time.
    let sources: Vec<ModuleId> =
        included.iter().map(|file| ModuleId(*file)).filter(|other| *other != id && is_source(*other)).collect();
    if sources.is_empty() || !is_source(id) {
        return None;
    }
    let twice = module.functions.iter().filter(|function| is_plain(module, function)).find(|function| {
        let head = head(project, id, function);
        project.functions_named(&function.name).into_iter().any(|(other, number)| {
            sources.contains(&other)
                && project
                    .function_at(other, number)
                    .is_some_and(|it| is_plain(project.module(other), it) && self::head(project, other, it) == head)
        })
    })?;
    Some((twice.name_span, format!("`{}`, which a source that is included defines, too", twice.name)))
}

/// A variable of a function whose name is a macro of the file that stands for a number: `#define N 16`, then `int N`.
pub(crate) fn named_as_number(project: &Project, id: ModuleId) -> Option<(Span, String)> {
    let module = project.module(id);
    let is_number =
        |body: &str| body.trim_start_matches(['(', ' ', '-']).starts_with(|first: char| first.is_ascii_digit());
    let numbers =
        module.macros.iter().filter(|it| it.params.is_none() && it.conditions.is_empty() && is_number(&it.body));
    let numbers: Vec<(&str, u32)> = numbers.map(|it| (it.name.as_str(), it.span.end)).collect();
    if numbers.is_empty() || project.source(id).contains("undef") {
        return None;
    }
    let functions = module.functions.iter().filter(|function| is_plain(module, function));
    let variable = functions.flat_map(|function| &function.locals).find(|variable| {
        // One that a macro declares has the name that it gives.
        project.text(id, variable.span) == variable.name.as_str()
            && numbers.iter().any(|(name, end)| variable.name == **name && *end <= variable.span.start)
    })?;
    Some((variable.span, format!("a variable called `{0}`, which the macro `{0}` makes a number", variable.name)))
}

/// Whether a function is one and the same thing in each configuration, with a body of its own.
fn is_plain(module: &Module, function: &Function) -> bool {
    function.role == FunctionRole::Free
        && function.body.is_some()
        && function.parent.is_none()
        && function.template_params.is_empty()
        && function.scope.segments.is_empty()
        && !function.damaged
        && !function.is_static
        && module.supposed.iter().all(|branch| !branch.span.range().contains(&(function.span.start as usize)))
}

/// A function's declaration in words, without blanks: the same text declares the same function.
fn head(project: &Project, id: ModuleId, function: &Function) -> String {
    let text = project.text(id, function.span);
    text.split('{').next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A call of a function of the file that is declared further down only. `declared`: what the file says of names, all of whose includes are
/// in sight.
pub(crate) fn called_too_early(project: &Project, id: ModuleId, declared: &Declared<'_>) -> Option<(Span, String)> {
    let module = project.module(id);
    let is_source = COMPILED.iter().any(|ending| project.path(id).ends_with(ending));
    // C takes such a call for a declaration.
    if !is_source || project.path(id).ends_with(".c") || !project.includes().includers(id.index() as u32).is_empty() {
        return None;
    }
    let callers = module.functions.iter().filter(|function| is_plain(module, function));
    callers.into_iter().find_map(|function| {
        let body = function.body.as_ref()?;
        let mut found = None;
        walk(module, function, body, |item| {
            if let Item::Expr(expr) = item
                && let Some(node) = module.exprs.get(expr).filter(|node| node.expansion.is_none())
                && let Expr::Call { callee, .. } = &node.kind
                && let Some(callee) = module.exprs.get(*callee).filter(|callee| callee.expansion.is_none())
                && let Expr::Name { path, targs } = &callee.kind
                && let ([name], true) = (&*path.segments, targs.is_empty())
                && is_declared_behind(module, name, callee.span)
                && declared.lacks_before(name, callee.span.start as usize, function)
            {
                let what = format!("a call of `{name}` in front of its declaration");
                found = Some((callee.span, what));
            }
            found.is_none()
        });
        found
    })
}

/// Whether a file has functions of a name, all of them plain ones behind a place.
fn is_declared_behind(module: &Module, name: &str, call: Span) -> bool {
    let mut named = module.functions.iter().filter(|other| other.name == *name).peekable();
    named.peek().is_some()
        && named.all(|other| {
            other.span.start > call.end && other.role == FunctionRole::Free && other.scope.segments.is_empty()
        })
}
