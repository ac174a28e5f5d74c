//! What Numba's CUDA compiler makes of Python functions as they are written: code that it refuses for sure.
//!
//! It compiles a kernel at its first launch (or at once, where it has a signature), and it raises when something in it cannot be
//! compiled. What is said here was tried with numba 0.60, 0.61.2 and 0.68 and with numba-cuda 0.4.0, 0.15.1 and 0.30.4. Branches
//! whose condition is a constant are not compiled, so that only code that is surely compiled counts: see [`sure`].

mod fault;
mod shapes;
mod sure;
mod unsupported;
mod view;

pub use fault::{Assumption, CompileFault, Culprit, FaultKind, Reason, Unsupported};

use crate::ir::{Dialect, Expr, ExprId, Function, FunctionId, Module, PythonStmt, Stmt};
use cudalint_syntax::Span;
use view::{Usage, View};

/// Everything in a module that Numba refuses to compile for the GPU, in order of functions and their code.
///
/// Nothing is said of a module that extends Numba's compiler or changes its settings, nor of kernels that are compiled where an exception
/// is expected.
pub fn faults(module: &Module) -> Vec<CompileFault> {
    let mut found = Vec::new();
    let compiled = |function: &Function| {
        let kernel = function.python.as_ref().and_then(|python| python.kernel.as_ref());
        !function.damaged && kernel.is_some_and(|kernel| matches!(kernel.dialect, Dialect::Numba | Dialect::Reduce))
    };
    if !module.functions.iter().any(compiled) || is_extended_or_simulated(module) {
        return found;
    }
    let names = Usage::of_names(module);
    for (index, function) in module.functions.iter().enumerate() {
        if compiled(function) {
            let view = View::new(module, FunctionId(index as u32), function, &names);
            let code = sure::code(&view);
            let first = found.len();
            shapes::find(&view, &code, &mut found);
            unsupported::find(&view, &code, &mut found);
            if let Some(own) = found.get_mut(first..) {
                own.sort_by_key(|fault| fault.span);
            }
        }
    }
    if !found.is_empty() {
        let expecting = expecting(module);
        found.retain(|fault| !is_expected(module, &expecting, fault.function));
    }
    found
}

/// Packages with which a program teaches Numba's compiler.
const EXTENSIONS: [&str; 6] = [
    "numba.extending",
    "numba.core",
    "numba.cuda.extending",
    "numba.cuda.core",
    "numba.cuda.memory_management",
    "llvmlite",
];

fn is_extended_or_simulated(module: &Module) -> bool {
    let extends = |path: &str| {
        EXTENSIONS
            .iter()
            .any(|package| path.strip_prefix(package).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
    };
    // `NUMBA_ENABLE_CUDASIM` runs kernels as they are, and with `NUMBA_CUDA_ENABLE_NRT` more of them can be compiled.
    let simulates = |text: &str| text.contains("ENABLE_CUDASIM") || text.contains("ENABLE_NRT");
    module.imports.iter().any(|import| extends(&import.path))
        || module.exprs.iter().any(|node| match &node.kind {
            Expr::Str(text) => simulates(text),
            Expr::Member { name, .. } => simulates(name),
            _ => false,
        })
}

/// Where exceptions are expected: the bodies of `try` with handlers, and of `with pytest.raises(…)` and its like.
fn expecting(module: &Module) -> Vec<Span> {
    let span_of = |block: &[crate::ir::StmtId]| {
        let mut spans = block.iter().filter_map(|id| module.stmts.get(*id)).map(|node| node.span);
        let first = spans.next()?;
        Some(spans.fold(first, Span::cover))
    };
    let asserts = |item: ExprId| {
        let Some(Expr::Call { callee, .. }) = module.exprs.get(item).map(|node| &node.kind) else {
            return false;
        };
        let name = match module.exprs.get(*callee).map(|node| &node.kind) {
            Some(Expr::Member { name, .. }) => name.as_str(),
            Some(Expr::Name { path, .. }) => path.last().map_or("", |name| name.as_str()),
            _ => "",
        };
        matches!(name, "raises" | "suppress") || name.starts_with("assert")
    };
    let mut spans = Vec::new();
    for node in &module.stmts {
        match &node.kind {
            Stmt::Try { body, handlers } if !handlers.is_empty() => spans.extend(span_of(body)),
            Stmt::Python(python) => match &**python {
                PythonStmt::With { items, .. } if items.iter().any(|(item, _)| asserts(*item)) => spans.push(node.span),
                _ => {}
            },
            _ => {}
        }
    }
    spans
}

/// Whether a function, or a use of its name, stands where an exception is expected; or all of that inside one function,
/// which then is a test of what happens.
fn is_expected(module: &Module, expecting: &[Span], id: FunctionId) -> bool {
    let Some(function) = module.functions.get(id) else { return false };
    let hit = |span: Span| expecting.iter().any(|around| around.contains(span));
    let outermost = std::iter::successors(Some(function), |inner| module.functions.get(inner.parent?))
        .last()
        .filter(|outer| outer.span != function.span);
    let in_test = |outer: &Function| {
        // A `try` in the kernel itself expects nothing of its compilation.
        expecting.iter().any(|span| outer.span.contains(*span) && !function.span.contains(*span))
    };
    hit(function.span)
        || outermost.is_some_and(in_test)
        || module.exprs.iter().any(|node| {
            let named = match &node.kind {
                Expr::Name { path, .. } => path.last() == Some(&function.name),
                Expr::Member { name, .. } => *name == function.name,
                _ => false,
            };
            named && hit(node.span)
        })
}
