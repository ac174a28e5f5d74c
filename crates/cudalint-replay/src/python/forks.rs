//! Processes that Python forks after it has used CUDA, and that use CUDA: by `os.fork`, and by `multiprocessing` and
//! `concurrent.futures` where they fork. What surely runs is gone through in its order, functions in sight followed; of what a condition decides
//! only that counts which stands under it together.

use crate::facts::{ForkFact, Forker, MadeCall, Site};
use crate::sure_calls::touches_cuda;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, Handle, Space};
use cudalint_program::api::packages::{Look, PythonOp};
use cudalint_program::api::python::canonical;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, FunctionId, Module, ModuleId, PythonExpr, PythonStmt, Stmt, UnaryOp,
};
use cudalint_program::python::dotted;
use cudalint_program::visit::{operands, walk_expr};
use cudalint_program::{Name, Project};
use rustc_hash::FxHashSet;

/// How deep calls in sight are followed.
const MAX_DEPTH: u32 = 4;
/// How deep blocks stand in each other that are looked at.
const MAX_BLOCKS: u32 = 40;
/// Most statements and expressions that are looked at from one entry.
const MAX_STEPS: u32 = 20_000;
/// Packages that use the device.
const PACKAGES: [&str; 5] = ["cupy.", "cupyx.", "numba.cuda.", "pycuda.", "cuda."];
/// Modules of `PyCUDA` that make a context where they are imported.
const CONTEXTS: [&str; 2] = ["autoinit", "autoprimaryctx"];

/// The forks of one module.
pub(crate) fn forks(project: &Project, id: ModuleId) -> Vec<ForkFact> {
    let module = project.module(id);
    let forking = |path: &str| {
        ["os", "multiprocessing", "concurrent", "torch"].contains(&path.split('.').next().unwrap_or_default())
    };
    // Most modules end here.
    if !module.imports.iter().any(|import| import.level == 0 && forking(&import.path)) {
        return Vec::new();
    }
    let mut seen: FxHashSet<FunctionId> = FxHashSet::default();
    let mut found: Vec<ForkFact> = Vec::new();
    // The module's own code comes first, and what it calls.
    let entries = module.body.into_iter().chain(module.functions.iter_enumerated().map(|(number, _)| number));
    for entry in entries {
        if seen.contains(&entry) {
            continue;
        }
        let mut reader = Reader::new(project, id);
        reader.enter(entry, 0);
        seen.extend(reader.entered);
        for fact in reader.found {
            if !found.iter().any(|other| other.fork == fact.fork) {
                found.push(fact);
            }
        }
    }
    found
}

/// How processes are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// As the version and the system have it.
    Default,
    /// The program says that they are forked.
    Fork,
    /// In another way, or nobody knows.
    Other,
}

/// What makes processes, and what a variable of it is called.
pub(super) struct Pool {
    pub key: String,
    pub made: Site,
    pub what: Name,
    pub start: Start,
    /// What has been used before it.
    pub before: Option<MadeCall>,
}

pub(super) struct Reader<'p> {
    pub project: &'p Project,
    pub id: ModuleId,
    pub module: &'p Module,
    /// The first sure use of CUDA.
    pub used: Option<MadeCall>,
    /// A way out may have been taken: what follows is not sure.
    open: bool,
    pub contexts: Vec<(String, Start)>,
    pub pools: Vec<Pool>,
    entered: Vec<FunctionId>,
    /// Whether it is asked what a child does.
    is_child: bool,
    /// How many calls in sight lead here.
    calls: u32,
    pub found: Vec<ForkFact>,
    left: u32,
}

impl<'p> Reader<'p> {
    fn new(project: &'p Project, id: ModuleId) -> Self {
        Self {
            project,
            id,
            module: project.module(id),
            used: None,
            open: false,
            contexts: Vec::new(),
            pools: Vec::new(),
            entered: Vec::new(),
            is_child: false,
            calls: 0,
            found: Vec::new(),
            left: MAX_STEPS,
        }
    }

    /// Goes through a function of the host.
    fn enter(&mut self, number: FunctionId, depth: u32) {
        let Some(function) = self.module.functions.get(number) else { return };
        let is_host = function.python.as_ref().is_some_and(|python| python.kernel.is_none() && !python.is_generator);
        if let Some(body) = &function.body
            && is_host
            && !function.damaged
            && self.calls <= MAX_DEPTH
            && !self.entered.ends_with(&[number])
        {
            self.entered.push(number);
            let open = self.open;
            self.calls += 1;
            self.block(number, body, depth + 1);
            self.calls -= 1;
            self.open = open;
        }
    }

    pub(super) fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.module.exprs.get(id).map(|node| &node.kind)
    }

    pub(super) fn site(&self, id: ExprId) -> Site {
        let span = self.module.exprs.get(id).map(|node| node.span).unwrap_or_default();
        Site { module: self.id, span }
    }

    pub(super) fn text(&self, id: ExprId) -> String {
        self.project.text(self.id, self.site(id).span).to_owned()
    }

    fn block(&mut self, function: FunctionId, block: &'p Block, depth: u32) {
        for (at, id) in block.iter().enumerate() {
            self.left = self.left.saturating_sub(1);
            if self.left == 0 || depth > MAX_BLOCKS {
                return;
            }
            let Some(statement) = self.module.stmts.get(*id).map(|node| &node.kind) else { continue };
            match statement {
                Stmt::Expr(expr) | Stmt::Return(Some(expr)) => {
                    self.expr(function, *expr, depth);
                    let forked = self.fork_in(function, *expr);
                    if let Some((call, pid)) = forked {
                        self.forks(function, call, pid.as_deref(), block.get(at..).unwrap_or(&[]));
                    }
                    if matches!(statement, Stmt::Return(_)) {
                        return;
                    }
                }
                Stmt::Return(None) | Stmt::Break | Stmt::Continue => return,
                Stmt::Block(inner) => self.block(function, inner, depth + 1),
                Stmt::If { condition, then, otherwise, .. } => {
                    self.expr(function, *condition, depth);
                    if let Some((call, pid)) = self.fork_in(function, *condition) {
                        self.forks(function, call, pid.as_deref(), block.get(at..).unwrap_or(&[]));
                    }
                    if self.asks_for_main(*condition) {
                        self.block(function, then, depth + 1);
                    } else {
                        self.aside(function, then, depth);
                        self.aside(function, otherwise, depth);
                        self.open |= self.leaves(then) || self.leaves(otherwise);
                    }
                }
                Stmt::Loop { condition, body, .. } => {
                    if let Some(condition) = condition {
                        self.expr(function, *condition, depth);
                    }
                    self.aside(function, body, depth);
                    self.open |= self.leaves(body);
                }
                // A child may ask in this way whether there is a device.
                Stmt::Try { body, handlers } => {
                    if self.is_child && !handlers.is_empty() {
                        self.aside(function, body, depth);
                    } else {
                        self.block(function, body, depth + 1);
                    }
                    for handler in handlers {
                        self.aside(function, handler, depth);
                    }
                }
                Stmt::Python(python) => self.python(function, python, depth),
                _ => {}
            }
        }
    }

    fn python(&mut self, function: FunctionId, statement: &'p PythonStmt, depth: u32) {
        match statement {
            PythonStmt::For { iterable, body, otherwise, .. } => {
                self.expr(function, *iterable, depth);
                self.aside(function, body, depth);
                self.aside(function, otherwise, depth);
                self.open |= self.leaves(body);
            }
            PythonStmt::With { items, body } => {
                for (item, target) in items {
                    self.expr(function, *item, depth);
                    if let Some(target) = target {
                        self.bound(function, *target, *item);
                    }
                }
                self.block(function, body, depth + 1);
            }
            PythonStmt::Import(range) => {
                let all = self.module.imports.get(range.start as usize..range.end as usize).unwrap_or(&[]);
                for import in all {
                    let text = self.project.text(self.id, import.span);
                    let makes = |name: &str| text.contains(name);
                    if import.level == 0
                        && import.path.starts_with("pycuda")
                        && let Some(name) = CONTEXTS.iter().find(|name| makes(name))
                    {
                        let site = Site { module: self.id, span: import.span };
                        self.uses(function, &format!("pycuda.{name}"), site);
                    }
                }
            }
            _ => {}
        }
    }

    /// What may or may not run: what it uses nobody knows behind it.
    fn aside(&mut self, function: FunctionId, block: &'p Block, depth: u32) {
        let (used, open) = (self.used.clone(), self.open);
        self.block(function, block, depth + 1);
        (self.used, self.open) = (used, open);
    }

    /// Whether a block may leave the function or the round.
    fn leaves(&self, block: &'p Block) -> bool {
        let mut open: Vec<&Block> = vec![block];
        while let Some(block) = open.pop() {
            for statement in block.iter().filter_map(|id| self.module.stmts.get(*id)).map(|node| &node.kind) {
                match statement {
                    Stmt::Return(_) | Stmt::Break | Stmt::Continue => return true,
                    Stmt::Expr(expr) if matches!(self.kind(*expr), Some(Expr::Throw(_))) => return true,
                    Stmt::Block(inner) | Stmt::Loop { body: inner, .. } | Stmt::Try { body: inner, .. } => {
                        open.push(inner);
                    }
                    Stmt::If { then, otherwise, .. } => open.extend([then, otherwise]),
                    Stmt::Python(python) => match &**python {
                        PythonStmt::For { body, .. } | PythonStmt::With { body, .. } => open.push(body),
                        _ => {}
                    },
                    Stmt::Unknown { .. } => return true,
                    _ => {}
                }
            }
        }
        false
    }

    /// `__name__ == "__main__"`.
    fn asks_for_main(&self, condition: ExprId) -> bool {
        let Some(Expr::Binary(BinaryOp::Eq, a, b)) = self.kind(condition) else { return false };
        let named = |id: ExprId| matches!(self.kind(id), Some(Expr::Name { path, .. }) if path.last().is_some_and(|name| *name == "__name__"));
        let text = |id: ExprId| matches!(self.kind(id), Some(Expr::Str(text)) if &**text == "__main__");
        (named(*a) && text(*b)) || (text(*a) && named(*b))
    }

    /// Something of CUDA is used.
    fn uses(&mut self, function: FunctionId, what: &str, site: Site) {
        if self.used.is_none() && !self.open {
            let by = self.module.functions.get(function).map(|function| function.name.clone()).unwrap_or_default();
            self.used = Some(MadeCall { api: Name::from(what), site, by });
        }
    }

    /// What the computation of a value surely does.
    fn expr(&mut self, function: FunctionId, expr: ExprId, depth: u32) {
        let mut pending = vec![expr];
        let mut calls: Vec<ExprId> = Vec::new();
        while let Some(id) = pending.pop() {
            self.left = self.left.saturating_sub(1);
            let Some(kind) = self.kind(id) else { continue };
            match kind {
                Expr::AndThen(first, _) | Expr::OrElse(first, _) | Expr::Select(first, ..) => pending.push(*first),
                Expr::Lambda { .. } => {}
                Expr::Python(python) if matches!(&**python, PythonExpr::Comprehension { .. }) => {
                    // Its elements may be none: only what makes processes is of interest.
                    if let PythonExpr::Comprehension { element, .. } = &**python
                        && let Some(Expr::Call { callee, args }) = self.kind(*element)
                    {
                        self.starts(function, *element, *callee, args);
                    }
                }
                Expr::Assign { op: None, target, value } => {
                    self.bound(function, *target, *value);
                    pending.push(*value);
                }
                _ => {
                    if matches!(kind, Expr::Call { .. }) {
                        calls.push(id);
                    }
                    operands(kind, |part| pending.push(part));
                }
            }
        }
        // Arguments come before the call that they are for.
        for id in calls.into_iter().rev() {
            let Some(Expr::Call { callee, args }) = self.kind(id) else { continue };
            self.starts(function, id, *callee, args);
            self.called(function, id, *callee, depth);
        }
    }

    /// A call that may use CUDA: a function of a package, a launch, or a function in sight.
    fn called(&mut self, function: FunctionId, id: ExprId, callee: ExprId, depth: u32) {
        let site = self.site(id);
        if let Some(path) = dotted(self.module, function, callee) {
            if touches(&path) {
                self.uses(function, &canonical(&path), site);
            }
            return;
        }
        // `kernel[grid, block](…)`.
        if let Some(Expr::Index { base, .. }) = self.kind(callee) {
            if let Some((module, number)) = self.named(function, *base)
                && let Some(kernel) = self.project.function_at(module, number)
                && kernel.python.as_ref().is_some_and(|python| python.kernel.as_ref().is_some_and(|it| !it.device))
            {
                self.uses(function, &kernel.name, site);
            }
            return;
        }
        if self.used.is_none()
            && let Some((module, number)) = self.named(function, callee)
        {
            if module == self.id {
                self.enter(number, depth + 1);
            } else if let Some(made) = self.sure_use(module, number, self.is_child)
                && !self.open
            {
                self.used = Some(made);
            }
        } else if let Some((module, number)) = self.named(function, callee)
            && module == self.id
        {
            self.enter(number, depth + 1);
        }
    }

    /// What a function surely uses.
    pub(super) fn sure_use(&self, module: ModuleId, number: FunctionId, is_child: bool) -> Option<MadeCall> {
        let mut reader = Reader::new(self.project, module);
        (reader.left, reader.calls, reader.is_child) = (self.left / 2, self.calls + 1, is_child);
        reader.enter(number, 0);
        reader.used
    }

    /// The function that a name means, of this module or of one that it is imported from.
    pub(super) fn named(&self, function: FunctionId, expr: ExprId) -> Option<(ModuleId, FunctionId)> {
        let name = match self.kind(expr)? {
            Expr::Name { path, .. } if path.segments.len() == 1 => path.last()?,
            Expr::Local(local) => &self.module.functions.get(function)?.locals.get(*local)?.name,
            _ => return None,
        };
        let top = |module: &Module, name: &str| {
            let mut all = module.functions.iter_enumerated().filter(|(_, function)| {
                function.name == *name
                    && function.parent.is_none()
                    && function.scope.segments.is_empty()
                    && !is_module(function)
            });
            match (all.next(), all.next()) {
                (Some((number, _)), None) => Some(number),
                _ => None,
            }
        };
        if let Some(number) = top(self.module, name) {
            return Some((self.id, number));
        }
        let import = self.module.imports.iter().find(|import| import.local == *name && import.from && import.sure)?;
        let (parent, own) = import.path.rsplit_once('.')?;
        let module = self.project.python_module(self.id, parent, import.level)?;
        Some((module, top(self.project.module(module), own)?))
    }

    /// A call of `os.fork` in an expression, with the variable that is given its result.
    fn fork_in(&self, function: FunctionId, expr: ExprId) -> Option<(ExprId, Option<String>)> {
        let mut found = None;
        walk_expr(self.module, expr, |id, kind| {
            if let Expr::Call { callee, .. } = kind
                && dotted(self.module, function, *callee).as_deref() == Some("os.fork")
            {
                found = Some(id);
            }
            found.is_none()
        });
        let target = match self.kind(expr) {
            Some(Expr::Assign { op: None, target, .. }) => Some(self.text(*target)),
            _ => None,
        };
        found.map(|call| (call, target))
    }

    /// The process is forked: what the child does stands under the first condition that tells it from its parent.
    fn forks(
        &mut self,
        function: FunctionId,
        call: ExprId,
        pid: Option<&str>,
        rest: &'p [cudalint_program::ir::StmtId],
    ) {
        let Some(before) = self.used.clone() else { return };
        let is_pid = |id: ExprId| id == call || pid == Some(self.text(id).as_str());
        let is_zero = |id: ExprId| matches!(self.kind(id), Some(Expr::Int { value: 0, .. }));
        for statement in rest.iter().filter_map(|id| self.module.stmts.get(*id)).map(|node| &node.kind) {
            let Stmt::If { condition, then, otherwise, .. } = statement else { continue };
            let block = match self.kind(*condition) {
                Some(Expr::Binary(BinaryOp::Eq, a, b)) if is_pid(*a) && is_zero(*b) => then,
                Some(Expr::Binary(BinaryOp::Ne | BinaryOp::Gt, a, b)) if is_pid(*a) && is_zero(*b) => otherwise,
                Some(Expr::Unary(UnaryOp::Not, value)) if is_pid(*value) => then,
                Some(_) if is_pid(*condition) => otherwise,
                _ => return,
            };
            let mut reader = Reader::new(self.project, self.id);
            (reader.left, reader.is_child) = (self.left / 2, true);
            reader.block(function, block, 1);
            // Another program takes the place of this one.
            let execs = block
                .iter()
                .filter_map(|id| self.module.stmts.get(*id))
                .any(|node| self.project.text(self.id, node.span).contains(".exec"));
            if let (Some(child), false) = (reader.used, execs) {
                let fork = self.site(call);
                self.found.push(ForkFact { function, fork, before, child, by: Forker::Call });
            }
            return;
        }
    }
}

fn is_module(function: &Function) -> bool {
    function.python.as_ref().is_some_and(|python| python.is_module)
}

/// Whether a function of a package surely uses the device.
fn touches(path: &str) -> bool {
    let path = canonical(path);
    let Some(api) = ApiId::of_python(&path).filter(|_| PACKAGES.iter().any(|package| path.starts_with(package))) else {
        return false;
    };
    if api.is_cuda_host() && api.returns_status() {
        return touches_cuda(api);
    }
    api.effects.iter().any(|effect| match effect {
        Effect::Allocates { space, .. } => *space != Space::Host,
        Effect::Copies { .. } | Effect::Sets { .. } | Effect::Waits(_) => true,
        Effect::Creates(handle, _) => matches!(handle, Handle::Stream | Handle::Event),
        Effect::Python(op) => {
            path.starts_with("cupy.")
                && match op {
                    PythonOp::ArrayOf(_)
                    | PythonOp::Range
                    | PythonOp::Spaced(_)
                    | PythonOp::Diagonal
                    | PythonOp::Draws { .. }
                    | PythonOp::Elementwise { .. }
                    | PythonOp::Product => true,
                    PythonOp::Looks(look) => !matches!(look, Look::Nothing),
                    _ => false,
                }
        }
        _ => false,
    })
}
