//! Arguments for a program that refuses to run without: as many as it asks for, numbers where it reads numbers.

use super::values::usual;
use crate::subject::{Stretch, Subject, Values, calls, values_that_reach};
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, LocalId, Module, Path};
use cudalint_program::visit::{self, Item};
use cudalint_syntax::Span;
use std::collections::BTreeMap;

/// More arguments than this are not made up.
const MAX_ARGUMENTS: i64 = 12;
/// Functions that hand `argc` and `argv` on.
const MAX_HANDED: usize = 4;

/// Arguments with which a program does not end at once for want of them; empty where it runs without.
pub(super) fn arguments(subject: &Subject, stretch: &Stretch) -> Vec<String> {
    let Some(module) = subject.module(stretch) else { return Vec::new() };
    let main = module.functions.iter().position(|function| function.name == "main" && function.body.is_some());
    let Some(mut at) = main.map(|index| FunctionId(index as u32)) else { return Vec::new() };
    let mut count = 1;
    let mut kinds: BTreeMap<usize, String> = BTreeMap::new();
    for _ in 0..MAX_HANDED {
        let Some(function) = module.functions.get(at) else { break };
        let (Some(argc), argv) = (parameter(function, "argc"), parameter(function, "argv")) else { break };
        count = count.max(needed(subject, stretch, at, function, argc));
        if let Some(argv) = argv {
            read_kinds(module, function, argv, &mut kinds);
        }
        match handed_on(subject, stretch, module, function, argc) {
            Some(next) if next != at => at = next,
            _ => break,
        }
    }
    if !(2..=MAX_ARGUMENTS).contains(&count) {
        return Vec::new();
    }
    (1..count as usize).map(|index| kinds.get(&index).cloned().unwrap_or_else(|| "64".to_owned())).collect()
}

fn parameter(function: &Function, name: &str) -> Option<LocalId> {
    let parameters = function.params();
    parameters.iter().position(|local| local.name == *name).map(|index| LocalId(index as u32))
}

/// The least `argc` that leads to the end of a function.
fn needed(subject: &Subject, stretch: &Stretch, id: FunctionId, function: &Function, argc: LocalId) -> i64 {
    let (Some(of), Some(module)) = (stretch.module, subject.module(stretch)) else { return 1 };
    let last = function.body.as_ref().and_then(|body| body.last()).and_then(|id| module.stmts.get(*id));
    let Some(place) = last.map(|node| Span { start: node.span.start, end: node.span.end }) else { return 1 };
    let usual: Values = [(argc, 1)].into();
    values_that_reach(&subject.project, of, id, place, &usual, &[]).get(&argc).copied().unwrap_or(1)
}

/// The function that is called with `argc`.
fn handed_on(
    subject: &Subject,
    stretch: &Stretch,
    module: &Module,
    function: &Function,
    argc: LocalId,
) -> Option<FunctionId> {
    let own = stretch.module?;
    calls(module, function).into_iter().find_map(|call| {
        let Expr::Call { callee, args } = &module.exprs.get(call)?.kind else { return None };
        let first = args.first().and_then(|arg| module.exprs.get(*arg))?;
        if !matches!(&first.kind, Expr::Local(local) if *local == argc) {
            return None;
        }
        let path = name_of(module, *callee)?;
        let (of, target) = subject.project.function(own, &function.scope, path, args.len())?;
        (of == own).then_some(target)
    })
}

fn name_of(module: &Module, id: ExprId) -> Option<&Path> {
    match &module.exprs.get(id)?.kind {
        Expr::Name { path, .. } => Some(path),
        _ => None,
    }
}

/// What each of `argv` is read as.
fn read_kinds(module: &Module, function: &Function, argv: LocalId, kinds: &mut BTreeMap<usize, String>) {
    let Some(body) = &function.body else { return };
    let mut target: BTreeMap<ExprId, String> = BTreeMap::new();
    visit::walk(module, function, body, |item| {
        match item {
            Item::Declare(local) => {
                if let Some(local) = function.locals.get(local)
                    && let Some(init) = local.init
                {
                    target.insert(init, local.name.to_string());
                }
            }
            Item::Expr(id) => match module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Assign { target: to, value, .. }) => {
                    let name = match module.exprs.get(*to).map(|node| &node.kind) {
                        Some(Expr::Local(local)) => function.locals.get(*local).map(|it| it.name.to_string()),
                        Some(Expr::Name { path, .. }) => path.last().map(ToString::to_string),
                        _ => None,
                    };
                    if let Some(name) = name {
                        target.insert(*value, name);
                    }
                }
                Some(Expr::Call { callee, args }) => {
                    let reader = name_of(module, *callee).and_then(|path| path.last()).map_or("", |name| name.as_str());
                    for index in args.iter().filter_map(|arg| argument_at(module, *arg, argv)) {
                        let name = target.get(&id).map_or("", String::as_str);
                        kinds.entry(index).or_insert_with(|| text_for(reader, name));
                    }
                }
                _ => {}
            },
            Item::Stmt(_) => {}
        }
        true
    });
}

/// The `k` of `argv[k]`.
fn argument_at(module: &Module, id: ExprId, argv: LocalId) -> Option<usize> {
    let Expr::Index { base, indices } = &module.exprs.get(id)?.kind else { return None };
    let is_argv = matches!(&module.exprs.get(*base)?.kind, Expr::Local(local) if *local == argv);
    let index = indices.first().filter(|_| is_argv)?;
    match module.exprs.get(*index)?.kind {
        Expr::Int { value, .. } => usize::try_from(value).ok(),
        _ => None,
    }
}

fn text_for(reader: &str, name: &str) -> String {
    match reader {
        "fopen" | "open" | "strcpy" | "strdup" | "freopen" | "ifstream" => "/dev/null".to_owned(),
        "atof" | "strtod" | "strtof" => "0.5".to_owned(),
        _ if name.is_empty() => "64".to_owned(),
        // As small as what is read into is usually, and a multiple of a block: programs that ask often want that.
        _ => match usual(name, 4, 1) {
            number if number.is_size => "64".to_owned(),
            number => number.value.max(1).to_string(),
        },
    }
}
