//! What Numba's CUDA compiler makes of Python functions as they are written: code that it refuses for sure.
//!
//! It compiles a kernel at its first launch (or at once, where it has a signature), and it raises when something in it cannot be
//! compiled. What is said here was tried with numba 0.60, 0.61.2 and 0.68 and with numba-cuda 0.4.0, 0.15.1 and 0.30.4. Branches
//! whose condition is a constant are not compiled, so that only code that is surely compiled counts: see [`sure`].

mod shapes;
mod sure;
mod unsupported;

use crate::api::ApiId;
use crate::api::effects::DeviceOp;
use crate::ir::{Dialect, Expr, ExprId, Function, FunctionId, LocalId, Module, PythonStmt, Stmt};
use crate::name::Name;
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;

/// Something that Numba refuses to compile.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileFault {
    /// The kernel or device function in which it stands.
    pub function: FunctionId,
    /// Its place.
    pub span: Span,
    /// What it is.
    pub kind: FaultKind,
    /// What must be assumed for it.
    pub assumes: Option<Assumption>,
}

/// What must be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    /// That Numba's memory management for device code (NRT) is not turned on, which newer versions of numba-cuda offer and leave off
    /// unless told.
    NoNrt,
    /// That the function is launched: nothing in its file uses it. Under `@cuda.jit` alone it may as well be called by a kernel.
    Launched,
}

/// What Numba refuses.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// The shape of a shared or local array that is not constant.
    Shape {
        /// Whether the array is shared.
        shared: bool,
        /// What is not constant in it.
        culprit: Culprit,
    },
    /// A kernel returns a value.
    Returns,
    /// Anything else.
    Unsupported(Unsupported),
}

/// Why a shape is not constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Culprit {
    /// The part of the shape.
    pub span: Span,
    /// What it is.
    pub reason: Reason,
    /// Where a variable in it gets its value.
    pub origin: Option<Span>,
    /// Whether it is computed of it.
    pub computed: bool,
}

/// What the part of a shape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A parameter of the kernel, or something of one (`a.shape[0]`).
    Parameter,
    /// A number of the launch or of the thread: `cuda.blockDim.x`.
    Launch,
    /// What arithmetic gives: Numba computes nothing of it beforehand, even where all parts are constants.
    Arithmetic,
    /// What a call gives.
    Call,
    /// A loop's variable.
    Loop,
    /// No integer.
    NotInteger,
    /// A list, where a tuple is wanted.
    List,
}

/// What CUDA kernels cannot contain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are said in the variants' own words.
pub enum Unsupported {
    /// `try`.
    Try,
    /// `with`.
    With,
    /// `import` inside.
    Import,
    /// `class` inside.
    Class,
    /// A `global` variable is assigned.
    GlobalAssigned(String),
    /// `a, *b = c`.
    StarredTarget,
    /// `[x for …]`.
    ListComprehension,
    /// `{x for …}`.
    SetComprehension,
    /// `{k: v for …}`.
    DictComprehension,
    /// `(x for …)`.
    GeneratorExpression,
    /// A kernel with `yield`.
    Yield,
    /// `{k: v}`.
    Dict,
    /// `{x}`.
    Set,
    /// `[]`.
    EmptyList,
    /// `[x] * n`.
    RepeatedList,
    /// A function of the language that Numba does not know in kernels.
    Builtin(String),
    /// A function of a package that Numba does not know in kernels, by its dotted path.
    Package(String),
    /// `numpy.zeros` and others that make arrays.
    ArrayCreation(String),
    /// A plain function of this module is called.
    PlainFunction { name: String, definition: Span },
    /// A kernel is launched.
    Launch(String),
    /// `"…".format(…)` or `"…" % x`.
    StringFormatting,
    /// `f"…{x}…"`.
    FormattedString,
    /// `print(…, end="")`.
    PrintKeyword(String),
}

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

/// A function with what its variables get.
struct View<'m> {
    module: &'m Module,
    id: FunctionId,
    function: &'m Function,
    /// Of each local what is assigned to it; `None` for what is no plain assignment.
    assigned: FxHashMap<LocalId, Vec<Option<ExprId>>>,
    /// How the module uses it.
    usage: Usage,
}

/// How a module uses a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    /// Whether it is subscripted, as a launch does.
    launched: bool,
    /// Whether its name stands anywhere else.
    otherwise: bool,
}

/// How often names stand in a module, and how often as a launch.
#[derive(Clone, Copy, Default)]
struct Uses {
    all: u32,
    launches: u32,
}

impl Usage {
    /// Counts names everywhere in a module, of attributes too. What a function has of its own is no name there but a local.
    fn of_names(module: &Module) -> FxHashMap<&str, Uses> {
        let mut found: FxHashMap<&str, Uses> = FxHashMap::default();
        let name = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
            Some(Expr::Name { path, .. }) => path.last().map(Name::as_str),
            Some(Expr::Member { name, .. }) => Some(name.as_str()),
            _ => None,
        };
        for index in 0..module.exprs.len() as u32 {
            if let Some(name) = name(ExprId(index)) {
                found.entry(name).or_default().all += 1;
            }
            if let Some(name) = launched(module, ExprId(index)).and_then(name) {
                found.entry(name).or_default().launches += 1;
            }
        }
        found
    }

    /// How a module uses a function, given what its names stand for.
    fn of(module: &Module, function: &Function, names: &FxHashMap<&str, Uses>) -> Self {
        let mut uses = names.get(function.name.as_str()).copied().unwrap_or_default();
        let parent = function.parent.and_then(|parent| module.functions.get(parent));
        if let Some((around, body)) = parent.and_then(|around| Some((around, around.body.as_ref()?))) {
            let is_it = |id: ExprId| match module.exprs.get(id).map(|node| &node.kind) {
                Some(Expr::Local(local)) => {
                    around.locals.get(*local).is_some_and(|variable| variable.name == function.name)
                }
                _ => false,
            };
            crate::visit::walk(module, around, body, |item| {
                if let crate::visit::Item::Expr(id) = item {
                    uses.all += u32::from(is_it(id));
                    uses.launches += u32::from(launched(module, id).is_some_and(is_it));
                }
                true
            });
        }
        Self { launched: uses.launches > 0, otherwise: uses.all > uses.launches }
    }
}

/// What is launched, where an expression is what stands before a launch's arguments: `k[grid, block]`, `k.forall`.
fn launched(module: &Module, id: ExprId) -> Option<ExprId> {
    match module.exprs.get(id).map(|node| &node.kind)? {
        Expr::Index { base, .. } => Some(*base),
        Expr::Member { base, name, .. } if *name == "forall" => Some(*base),
        _ => None,
    }
}

impl<'m> View<'m> {
    fn new(module: &'m Module, id: FunctionId, function: &'m Function, names: &FxHashMap<&str, Uses>) -> Self {
        let mut assigned: FxHashMap<LocalId, Vec<Option<ExprId>>> = FxHashMap::default();
        let mut targets: Vec<(ExprId, Option<ExprId>)> = Vec::new();
        if let Some(body) = &function.body {
            crate::visit::walk(module, function, body, |item| {
                match item {
                    crate::visit::Item::Expr(id) => {
                        if let Some(Expr::Assign { op, target, value }) = module.exprs.get(id).map(|node| &node.kind) {
                            targets.push((*target, Some(*value).filter(|_| op.is_none())));
                        }
                    }
                    crate::visit::Item::Stmt(id) => {
                        if let Some(Stmt::Python(python)) = module.stmts.get(id).map(|node| &node.kind) {
                            match &**python {
                                PythonStmt::For { target, .. } => targets.push((*target, None)),
                                PythonStmt::With { items, .. } => {
                                    targets.extend(items.iter().filter_map(|(_, target)| Some(((*target)?, None))));
                                }
                                _ => {}
                            }
                        }
                    }
                    crate::visit::Item::Declare(_) => {}
                }
                true
            });
        }
        for (target, value) in targets {
            let value = value.map(|value| match module.exprs.get(value).map(|node| &node.kind) {
                Some(Expr::Assign { op: None, value, .. }) => *value,
                _ => value,
            });
            if let Some(Expr::Local(local)) = module.exprs.get(target).map(|node| &node.kind) {
                assigned.entry(*local).or_default().push(value);
                continue;
            }
            crate::visit::walk_expr(module, target, |_, expr| {
                if let Expr::Local(local) = expr {
                    assigned.entry(*local).or_default().push(None);
                }
                // What is subscripted is no target.
                !matches!(expr, Expr::Index { .. } | Expr::Member { .. })
            });
        }
        Self { module, id, function, assigned, usage: Usage::of(module, function, names) }
    }

    fn expr(&self, id: ExprId) -> Option<&'m Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    fn span(&self, id: ExprId) -> Span {
        self.module.exprs.get(id).map_or_else(Span::default, |node| node.span)
    }

    /// The dotted path of something of a package.
    fn path(&self, id: ExprId) -> Option<String> {
        super::dotted(self.module, self.id, id)
    }

    /// The function of a package that an expression names.
    fn api(&self, id: ExprId) -> Option<ApiId> {
        ApiId::of_python(&self.path(id)?)
    }

    /// What it is in device code.
    fn device_op(&self, id: ExprId) -> Option<DeviceOp> {
        self.api(id)?.device_op()
    }

    fn assignments(&self, local: LocalId) -> &[Option<ExprId>] {
        self.assigned.get(&local).map_or(&[], Vec::as_slice)
    }

    /// Whether it is a kernel by its decorator, and not surely device code by its use: what only `@cuda.jit` stands before may be called
    /// by kernels as well.
    fn may_be_launched(&self) -> bool {
        self.function.space.global && (self.usage.launched || !self.usage.otherwise)
    }

    /// What must be assumed for what only holds of launched functions.
    fn launch_assumed(&self) -> Option<Assumption> {
        (!self.usage.launched).then_some(Assumption::Launched)
    }

    /// Whether a local is a parameter of a kernel that every launch gives: its type is that of a value, never of a constant.
    fn is_argument(&self, local: LocalId) -> bool {
        let plain = self.function.locals.get(local).is_some_and(|variable| variable.init.is_none());
        let positional = self.function.python.as_ref().map_or(0, |python| python.positional);
        self.may_be_launched() && plain && local.0 < positional && self.assignments(local).is_empty()
    }

    /// The name of a function of the language itself, where the module gives it no other meaning.
    fn builtin(&self, callee: ExprId) -> Option<&'m str> {
        let Expr::Name { path, .. } = self.expr(callee)? else { return None };
        let name = path.last().filter(|_| path.segments.len() == 1)?;
        let module = self.module;
        let taken = module.imports.iter().any(|import| import.local == *name || import.local.is_empty())
            || module.globals.iter().any(|global| global.name == *name)
            || module.functions.iter().any(|function| function.name == *name && function.parent.is_none())
            || module.records.iter().any(|record| record.name == *name)
            || self.function.captures.iter().any(|(captured, _)| captured == name);
        (!taken).then_some(name.as_str())
    }
}
