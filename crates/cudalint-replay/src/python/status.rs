//! What becomes of the statuses that NVIDIA's bindings for Python hand back: each function gives a tuple, its status first
//! (`cuda.bindings`, "Return types": "the first element is always the error code").

use crate::facts::{FunctionStatus, StatusCall, StatusUse};

use cudalint_program::api::ApiId;
use cudalint_program::api::python::is_binding;
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, Module, ModuleId, PythonExpr, Stmt, StmtNode};
use cudalint_program::visit::{Item, walk};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;
use std::collections::BTreeMap;

/// How deep dotted names are.
const MAX_DEPTH: u32 = 6;

/// The host functions of a Python module that call such functions.
pub(crate) fn functions(project: &Project, module_id: ModuleId) -> Vec<FunctionStatus> {
    let module = project.module(module_id);
    let bindings = module.imports.iter().any(|import| import.path.starts_with("cuda.") || &*import.path == "cuda");
    if !bindings {
        return Vec::new();
    }
    let wrapper = wrapper(module);
    let mut found = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        let id = FunctionId(index as u32);
        let is_kernel = function.python.as_ref().is_some_and(|python| python.kernel.is_some());
        if is_kernel {
            continue;
        }
        let calls = Reader { module, function, id }.calls(&shown_by_cells(project, module_id, module, id));
        if !calls.is_empty() {
            found.push(FunctionStatus {
                function: id,
                calls,
                launches: Vec::new(),
                unobserved: None,
                wrapper: wrapper.clone(),
                damaged: function.damaged,
            });
        }
    }
    found
}

/// The expressions that a notebook shows below its cells: each the last statement of one, without a semicolon behind.
fn shown_by_cells(project: &Project, id: ModuleId, module: &Module, function: FunctionId) -> Vec<ExprId> {
    let Some(body) = module.functions.get(function).and_then(|function| function.body.as_ref()) else {
        return Vec::new();
    };
    if module.body != Some(function) || module.cells.is_empty() {
        return Vec::new();
    }
    let text = project.source(id);
    let ends = module.cells.iter().skip(1).copied().chain([usize::MAX]);
    let within = |end: usize| {
        let last = body.iter().filter_map(|stmt| module.stmts.get(*stmt));
        last.take_while(|stmt| (stmt.span.start as usize) < end).last()
    };
    let is_shown = |span: Span| !text.get(span.end as usize..).unwrap_or("").trim_start_matches(' ').starts_with(';');
    ends.filter_map(|end| match within(end)? {
        StmtNode { kind: Stmt::Expr(expr), span } => is_shown(*span).then_some(*expr),
        _ => None,
    })
    .collect()
}

struct Reader<'a> {
    module: &'a Module,
    function: &'a Function,
    id: FunctionId,
}

impl Reader<'_> {
    fn kind(&self, id: ExprId) -> Option<&Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    /// The calls, without those that a notebook shows the result of.
    fn calls(&self, shown: &[ExprId]) -> Vec<StatusCall> {
        let Some(body) = &self.function.body else { return Vec::new() };
        let mut fates: BTreeMap<ExprId, (StatusUse, Option<Name>)> = BTreeMap::new();
        let mut seen: Vec<(ExprId, Name)> = Vec::new();
        walk(self.module, self.function, body, |item| {
            match item {
                Item::Stmt(id) => {
                    if let Some(Stmt::Expr(expr)) = self.module.stmts.get(id).map(|stmt| &stmt.kind)
                        && !shown.contains(expr)
                    {
                        fates.insert(*expr, (StatusUse::Dropped, None));
                    }
                }
                Item::Expr(id) => match self.kind(id) {
                    Some(Expr::Call { callee, .. }) => seen.extend(self.binding(*callee).map(|name| (id, name))),
                    // `f()[1]`: what is asked for, without the status.
                    Some(Expr::Index { base, indices }) => {
                        if let [only] = indices.as_slice()
                            && matches!(self.kind(*only), Some(Expr::Int { value, .. }) if *value > 0)
                        {
                            fates.insert(*base, (StatusUse::Dropped, None));
                        }
                    }
                    Some(Expr::Assign { op: None, target, value }) => {
                        if let Some(name) = self.first_of(*target) {
                            let usage = match () {
                                () if name.starts_with('_') => Some((StatusUse::Voided, None)),
                                () if !self.is_read(&name) => Some((StatusUse::Dropped, Some(name))),
                                () => None,
                            };
                            fates.extend(usage.map(|usage| (*value, usage)));
                        }
                    }
                    _ => {}
                },
                Item::Declare(_) => {}
            }
            true
        });
        let mut calls: Vec<StatusCall> = seen
            .into_iter()
            .filter_map(|(id, api)| {
                let known = ApiId::with_status(&api).filter(|known| !known.is_last_error())?;
                let (usage, stored) = fates.get(&id).cloned().unwrap_or((StatusUse::Consumed, None));
                let span = self.module.exprs.get(id)?.span;
                Some(StatusCall {
                    api,
                    library: known.library.name(),
                    span,
                    usage,
                    weight: crate::status::weight(known),
                    stored,
                    later: None,
                })
            })
            .collect();
        calls.sort_by_key(|call| call.span);
        calls
    }

    /// The function of the bindings that an expression names.
    fn binding(&self, callee: ExprId) -> Option<Name> {
        let path = self.dotted(callee, 0)?;
        let (package, name) = path.rsplit_once('.')?;
        is_binding(package).then(|| Name::from(name))
    }

    /// A dotted name with what its first part was imported as.
    fn dotted(&self, id: ExprId, depth: u32) -> Option<String> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.kind(id)? {
            Expr::Member { base, name, .. } => {
                let path = self.dotted(*base, depth + 1)?;
                Some(format!("{path}.{name}"))
            }
            Expr::Name { path, .. } => match path.segments.as_ref() {
                [name] => self.imported(name, None),
                _ => None,
            },
            Expr::Local(local) => {
                let name = &self.function.locals.get(*local)?.name;
                self.imported(name, Some(self.id))
            }
            _ => None,
        }
    }

    /// What a name means by the imports of its scope.
    fn imported(&self, name: &Name, function: Option<FunctionId>) -> Option<String> {
        let is_body = self.module.body == Some(self.id);
        let mut imports = self.module.imports.iter().filter(|import| {
            import.local == *name
                && import.level == 0
                && (import.function == function || (is_body && import.function.is_none()))
        });
        let first = imports.next()?;
        // `try: from cuda.bindings import runtime as cudart`, `except ImportError: from cuda import cudart`.
        let (mut others, mut alike) = (0, is_binding(&first.path));
        for other in imports {
            others += 1;
            alike &= is_binding(&other.path);
        }
        (if others > 0 { alike } else { first.sure }).then(|| first.path.to_string())
    }

    /// The variable that takes the status of `status, x = f()`.
    fn first_of(&self, target: ExprId) -> Option<Name> {
        let Expr::Python(python) = self.kind(target)? else { return None };
        let (PythonExpr::Tuple(all) | PythonExpr::List(all)) = &**python else { return None };
        self.name_of(*all.first()?)
    }

    fn name_of(&self, id: ExprId) -> Option<Name> {
        match self.kind(id)? {
            Expr::Local(local) => self.function.locals.get(*local).map(|local| local.name.clone()),
            Expr::Name { path, .. } => match path.segments.as_ref() {
                [name] => Some(name.clone()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a variable is looked at anywhere: in this function, or (one of the module) in any.
    fn is_read(&self, name: &Name) -> bool {
        let is_body = self.module.body == Some(self.id);
        self.module.functions.iter().enumerate().any(|(index, function)| {
            let own = index == self.id.index() || function.parent == Some(self.id);
            if !own && !is_body {
                return false;
            }
            let reader = Reader { module: self.module, function, id: FunctionId(index as u32) };
            let Some(body) = &function.body else { return false };
            let (mut all, mut targets) = (0_u32, 0_u32);
            walk(self.module, function, body, |item| {
                let Item::Expr(id) = item else { return true };
                all += u32::from(reader.name_of(id).as_ref() == Some(name));
                if let Some(Expr::Assign { target, .. }) = reader.kind(id) {
                    targets += reader.named_in(*target, name);
                }
                true
            });
            all > targets
        })
    }

    /// How often a name stands in a target of an assignment.
    fn named_in(&self, target: ExprId, name: &Name) -> u32 {
        if self.name_of(target).as_ref() == Some(name) {
            return 1;
        }
        match self.kind(target) {
            Some(Expr::Python(python)) => match &**python {
                PythonExpr::Tuple(all) | PythonExpr::List(all) => {
                    all.iter().map(|one| u32::from(self.name_of(*one).as_ref() == Some(name))).sum()
                }
                _ => 0,
            },
            _ => 0,
        }
    }
}

/// The function of the module by which most calls are checked: `check(cudaMalloc(n))`.
fn wrapper(module: &Module) -> Option<Name> {
    let mut counts: BTreeMap<Name, u32> = BTreeMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        let reader = Reader { module, function, id: FunctionId(index as u32) };
        let Some(body) = &function.body else { continue };
        walk(module, function, body, |item| {
            if let Item::Expr(id) = item
                && let Some(Expr::Call { callee, args }) = reader.kind(id)
                && let [only] = args.as_slice()
                && let Some(Expr::Call { callee: inner, .. }) = reader.kind(*only)
                && reader.binding(*inner).is_some()
                && let Some(name) = reader.name_of(*callee)
            {
                *counts.entry(name).or_default() += 1;
            }
            true
        });
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(name, _)| name)
}
