//! What Numba refuses besides shapes.

use super::fault::{Assumption, CompileFault, FaultKind, Unsupported};
use super::sure::Code;
use super::view::View;
use crate::api::ApiId;
use crate::api::effects::{DeviceOp, Library};
use crate::ir::{BinaryOp, Comprehension, Expr, ExprId, Function, PythonExpr, PythonStmt, Stmt, StmtId};
use crate::visit;
use cudalint_syntax::Span;

/// Functions of the language that no version knows in kernels.
const BUILTINS: [&str; 20] = [
    "all",
    "any",
    "bin",
    "bytearray",
    "callable",
    "dict",
    "eval",
    "exec",
    "format",
    "frozenset",
    "globals",
    "id",
    "input",
    "list",
    "locals",
    "object",
    "open",
    "reversed",
    "set",
    "vars",
];

/// Packages whose functions no version knows in kernels.
const PACKAGES: [&str; 5] = ["cupy", "os", "random", "time", "torch"];

pub(super) fn find(view: &View<'_>, code: &Code, found: &mut Vec<CompileFault>) {
    let mut returned = false;
    let mut add = |span: Span, kind: FaultKind, assumes: Option<Assumption>| {
        found.push(CompileFault { function: view.id, span, kind, assumes });
    };
    for id in &code.stmts {
        let Some(node) = view.module.stmts.get(*id) else { continue };
        match &node.kind {
            Stmt::Return(Some(value)) if !returned && view.may_be_launched() && is_value(view, *value, 0) => {
                // One mistake, however often it is made.
                returned = true;
                add(node.span, FaultKind::Returns, view.launch_assumed());
            }
            kind => {
                if let Some(kind) = statement(view, kind) {
                    add(node.span, FaultKind::Unsupported(kind), None);
                }
            }
        }
    }
    // What is put together inside a call is the call's affair: `numpy.array([x for …])`.
    let mut handed: Vec<ExprId> = Vec::new();
    for id in &code.exprs {
        if handed.contains(id) {
            continue;
        }
        let Some(expr) = view.expr(*id) else { continue };
        let span = view.span(*id);
        match expr {
            Expr::Call { callee, args } => {
                if let Some(kind) = call(view, *callee, args) {
                    let makes_array = matches!(kind, Unsupported::ArrayCreation(_));
                    add(span, FaultKind::Unsupported(kind), makes_array.then_some(Assumption::NoNrt));
                    handed.extend(args);
                } else if view.path(*callee).is_some_and(|path| path.starts_with("numpy.")) {
                    handed.extend(args);
                }
            }
            Expr::Assign { target, .. } => {
                if let Some(kind) = assignment(view, *target) {
                    add(span, FaultKind::Unsupported(kind), None);
                }
            }
            Expr::Binary(BinaryOp::Rem, left, _) if matches!(view.expr(*left), Some(Expr::Str(_))) => {
                add(span, FaultKind::Unsupported(Unsupported::StringFormatting), None);
            }
            Expr::Binary(BinaryOp::Mul, left, right) => {
                let is_list = |side: &ExprId| matches!(view.expr(*side), Some(Expr::Python(python)) if matches!(**python, PythonExpr::List(_)));
                if is_list(left) || is_list(right) {
                    add(span, FaultKind::Unsupported(Unsupported::RepeatedList), None);
                }
            }
            Expr::Python(python) => {
                if let Some(kind) = literal(python) {
                    let makes_string = kind == Unsupported::FormattedString;
                    add(span, FaultKind::Unsupported(kind), makes_string.then_some(Assumption::NoNrt));
                }
            }
            _ => {}
        }
    }
    let python = view.function.python.as_ref();
    if python.is_some_and(|python| python.is_generator) && view.may_be_launched() {
        add(view.function.name_span, FaultKind::Unsupported(Unsupported::Yield), view.launch_assumed());
    }
}

fn statement(view: &View<'_>, stmt: &Stmt) -> Option<Unsupported> {
    match stmt {
        Stmt::Try { body, .. } if does_something(view, body) => Some(Unsupported::Try),
        Stmt::Python(python) => match &**python {
            PythonStmt::With { .. } => Some(Unsupported::With),
            PythonStmt::Import(_) => Some(Unsupported::Import),
            PythonStmt::Class(..) => Some(Unsupported::Class),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a block does more than to return: the compiler of Python leaves out a `try` around nothing.
fn does_something(view: &View<'_>, block: &[StmtId]) -> bool {
    let mut found = false;
    visit::walk(view.module, view.function, &block.to_vec(), |item| {
        if let visit::Item::Expr(id) = item {
            found |= matches!(view.expr(id), Some(Expr::Assign { .. } | Expr::Call { .. }));
        }
        !found
    });
    found
}

fn assignment(view: &View<'_>, target: ExprId) -> Option<Unsupported> {
    match view.expr(target)? {
        Expr::Name { path, .. } => {
            let name = path.last()?;
            let outer = view.function.python.as_ref().is_some_and(|python| python.outer.contains(name));
            let captured = view.function.captures.iter().any(|(captured, _)| captured == name);
            (outer && !captured).then(|| Unsupported::GlobalAssigned(name.to_string()))
        }
        Expr::Python(python) => match &**python {
            PythonExpr::Tuple(parts) => parts
                .iter()
                .any(|part| {
                    matches!(view.expr(*part), Some(Expr::Python(part)) if matches!(**part, PythonExpr::Spread { .. }))
                })
                .then_some(Unsupported::StarredTarget),
            _ => None,
        },
        _ => None,
    }
}

fn literal(python: &PythonExpr) -> Option<Unsupported> {
    Some(match python {
        PythonExpr::Comprehension { kind, .. } => match kind {
            Comprehension::List => Unsupported::ListComprehension,
            Comprehension::Set => Unsupported::SetComprehension,
            Comprehension::Dict => Unsupported::DictComprehension,
            Comprehension::Generator => Unsupported::GeneratorExpression,
        },
        PythonExpr::Dict(_) => Unsupported::Dict,
        PythonExpr::Set(_) => Unsupported::Set,
        PythonExpr::List(parts) if parts.is_empty() => Unsupported::EmptyList,
        PythonExpr::Format(parts) if parts.iter().any(|part| !matches!(part, crate::ir::FormatPart::Text(_))) => {
            Unsupported::FormattedString
        }
        _ => return None,
    })
}

fn call(view: &View<'_>, callee: ExprId, args: &[ExprId]) -> Option<Unsupported> {
    match view.expr(callee)? {
        Expr::Member { base, name, .. } if *name == "format" && matches!(view.expr(*base)?, Expr::Str(_)) => {
            return Some(Unsupported::StringFormatting);
        }
        // `k[grid, block](…)`.
        Expr::Index { base, .. } => {
            let kernel = own_function(view, *base)?;
            return kernel.space.global.then(|| Unsupported::Launch(kernel.name.to_string()));
        }
        _ => {}
    }
    if let Some(name) = view.builtin(callee) {
        if name == "print" {
            return args.iter().find_map(|arg| match view.expr(*arg)? {
                Expr::Python(python) => match &**python {
                    PythonExpr::Keyword(name, _) => Some(Unsupported::PrintKeyword(name.to_string())),
                    _ => None,
                },
                _ => None,
            });
        }
        return BUILTINS.contains(&name).then(|| Unsupported::Builtin(name.to_owned()));
    }
    if let Some(path) = view.path(callee) {
        let (package, rest) = path.split_once('.')?;
        if package == "numpy" {
            if rest.starts_with("random.") {
                return Some(Unsupported::Package(path));
            }
            let makes = ApiId::of_python(&path).is_some_and(|api| api.makes_array());
            return makes.then_some(Unsupported::ArrayCreation(path));
        }
        // Types of numbers are the same as NumPy's.
        let is_type = ["float", "int", "uint", "bool", "complex", "dtype"].iter().any(|ty| rest.starts_with(ty));
        return (PACKAGES.contains(&package) && !is_type).then_some(Unsupported::Package(path));
    }
    let function = own_function(view, callee)?;
    let python = function.python.as_ref()?;
    let plain = python.kernel.is_none() && python.decorators.is_empty() && is_only_called(view, function);
    plain.then(|| Unsupported::PlainFunction { name: function.name.to_string(), definition: function.name_span })
}

/// The function at the module's top level that a name means, where it means nothing else.
fn own_function<'m>(view: &View<'m>, callee: ExprId) -> Option<&'m Function> {
    let Some(Expr::Name { path, .. }) = view.expr(callee) else { return None };
    let name = path.last().filter(|_| path.segments.len() == 1)?;
    let module = view.module;
    let rebound = module.globals.iter().any(|global| global.name == *name)
        || module.imports.iter().any(|import| import.local == *name || import.local.is_empty())
        || module.records.iter().any(|record| record.name == *name)
        || view.function.captures.iter().any(|(captured, _)| captured == name);
    let top = |function: &&Function| {
        function.name == *name && function.parent.is_none() && function.scope.segments.is_empty()
    };
    let mut all = module.functions.iter().filter(top);
    let found = all.next().filter(|_| !rebound)?;
    all.next().is_none().then_some(found)
}

/// Whether the module only ever calls a function: handed to something else it may have been made known to Numba.
fn is_only_called(view: &View<'_>, function: &Function) -> bool {
    let named =
        |id: &ExprId| matches!(view.expr(*id), Some(Expr::Name { path, .. }) if path.last() == Some(&function.name));
    let mut calls = 0usize;
    let mut uses = 0usize;
    for node in &view.module.exprs {
        match &node.kind {
            Expr::Call { callee, .. } if named(callee) => calls += 1,
            Expr::Name { path, .. } if path.last() == Some(&function.name) => uses += 1,
            Expr::Str(text) if **text == *function.name.as_str() => return false,
            _ => {}
        }
    }
    calls == uses
}

/// Whether a value is surely not `None`.
fn is_value(view: &View<'_>, id: ExprId, hops: u32) -> bool {
    if hops > 8 {
        return false;
    }
    match view.expr(id) {
        Some(Expr::Int { .. } | Expr::Float { .. } | Expr::Str(_) | Expr::Binary(..)) => true,
        Some(Expr::Unary(_, value)) => is_value(view, *value, hops + 1),
        Some(Expr::Select(_, then, otherwise)) => {
            is_value(view, *then, hops + 1) && is_value(view, *otherwise, hops + 1)
        }
        Some(Expr::Index { base, .. }) => {
            matches!(view.expr(*base), Some(Expr::Local(local)) if view.is_argument(*local))
        }
        Some(Expr::Python(python)) => matches!(**python, PythonExpr::Tuple(_)),
        Some(Expr::Local(local)) => {
            let assigned = view.assignments(*local);
            if view.is_argument(*local) {
                return is_computed_with(view, *local);
            }
            local.0 >= view.function.param_count
                && !assigned.is_empty()
                && assigned.iter().all(|value| value.is_some_and(|value| is_value(view, value, hops + 1)))
        }
        Some(Expr::Call { callee, .. }) => {
            let arithmetic = |name: &str| matches!(name, "abs" | "min" | "max" | "int" | "float" | "len" | "round");
            view.builtin(*callee).is_some_and(arithmetic)
                || view.api(*callee).is_some_and(|api| api.library == Library::Python)
                || matches!(view.device_op(*callee), Some(DeviceOp::Atomic { .. } | DeviceOp::Grid { .. }))
        }
        _ => false,
    }
}

/// Whether a parameter is subscripted or computed with somewhere, as `None` cannot be.
fn is_computed_with(view: &View<'_>, local: crate::ir::LocalId) -> bool {
    let is_it = |id: &ExprId| matches!(view.expr(*id), Some(Expr::Local(other)) if *other == local);
    let mut found = false;
    if let Some(body) = &view.function.body {
        visit::walk(view.module, view.function, body, |item| {
            if let visit::Item::Expr(id) = item {
                found |= match view.expr(id) {
                    Some(Expr::Index { base, .. }) => is_it(base),
                    Some(Expr::Binary(op, left, right)) => !op.is_comparison() && (is_it(left) || is_it(right)),
                    _ => false,
                };
            }
            !found
        });
    }
    found
}
