//! What a kernel's code says of itself, with the device functions it calls: shared memory, parameters it dereferences,
//! how many elements it takes.

use crate::coverage;
use crate::facts::{DynamicShared, KernelSummary, Site};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::DeviceOp;
use cudalint_program::ir::{
    BinaryOp, Block, Expr, ExprId, Function, FunctionId, LocalId, Module, ModuleId, Space, Stmt,
};
use cudalint_program::types::TypeEnv;
use cudalint_program::visit::{Item, walk, walk_expr};
use cudalint_program::{Name, Project, Scope};
use cudalint_syntax::Span;
use rustc_hash::FxHashSet;

/// How deep calls of device functions are followed.
const MAX_CALLS: u32 = 4;
/// How many functions one kernel's summary looks into.
const MAX_FUNCTIONS: u32 = 48;

/// The summary of a kernel whose template parameters stand for `env`.
pub fn summarize(project: &Project, module: ModuleId, kernel: FunctionId, env: &TypeEnv) -> KernelSummary {
    let mut summary = KernelSummary { static_shared: Some(0), ..KernelSummary::default() };
    let Some(function) = project.function_at(module, kernel) else { return summary };
    let mut reader = Reader {
        project,
        summary: &mut summary,
        intervals: vec![Vec::new()],
        visited: FxHashSet::default(),
        functions: 0,
        hidden_shared: false,
    };
    let dereferenced = reader.function(module, kernel, env, true, 0);
    summary_end(&mut reader);
    summary.dereferenced = dereferenced;
    summary.covers = coverage::claims(project.module(module), function);
    summary.incomplete |= function.damaged;
    summary
}

/// Whether no stretch between barriers touches two dynamic arrays: then they take turns.
fn summary_end(reader: &mut Reader<'_>) {
    let shared_interval = reader.intervals.iter().any(|names| {
        let first = names.first();
        names.iter().any(|name| Some(name) != first)
    });
    reader.summary.barrier_between_dynamic = !shared_interval;
    if reader.hidden_shared {
        reader.summary.dynamic_shared.clear();
    }
}

struct Reader<'a> {
    project: &'a Project,
    summary: &'a mut KernelSummary,
    /// Dynamic arrays touched in each stretch between barriers, in source order.
    intervals: Vec<Vec<Name>>,
    visited: FxHashSet<(ModuleId, FunctionId)>,
    functions: u32,
    /// Inline assembly declares shared memory: dynamic arrays may lie over it.
    hidden_shared: bool,
}

/// One function while it is read.
struct Frame<'a> {
    id: ModuleId,
    module: &'a Module,
    function: &'a Function,
    scope: Scope<'a>,
    /// Locals that point into a dynamic array (with its position in the summary) or are a parameter (with its number).
    origins: Vec<(LocalId, Origin)>,
    /// Locals computed from the thread's or block's index.
    indices: FxHashSet<LocalId>,
    dereferenced: Vec<u32>,
    calls: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Dynamic(usize),
    Parameter(u32),
}

impl<'a> Reader<'a> {
    /// Reads a function and gives the parameters that it dereferences.
    fn function(&mut self, id: ModuleId, function_id: FunctionId, env: &TypeEnv, sure: bool, calls: u32) -> Vec<u32> {
        let module = self.project.module(id);
        let Some(function) = module.functions.get(function_id) else { return Vec::new() };
        let Some(body) = &function.body else {
            self.summary.incomplete = true;
            return Vec::new();
        };
        self.functions += 1;
        if calls > MAX_CALLS || self.functions > MAX_FUNCTIONS {
            self.summary.incomplete = true;
            return Vec::new();
        }
        let first_visit = self.visited.insert((id, function_id));
        let mut frame = Frame {
            id,
            module,
            function,
            scope: Scope::new(self.project, id, Some(function_id), env),
            origins: (0..function.param_count).map(|index| (LocalId(index), Origin::Parameter(index))).collect(),
            indices: FxHashSet::default(),
            dereferenced: Vec::new(),
            calls,
        };
        self.declarations(&mut frame, first_visit);
        self.block(&mut frame, body, sure, 0);
        frame.dereferenced
    }

    /// Shared arrays, and what locals are made from.
    fn declarations(&mut self, frame: &mut Frame<'a>, first_visit: bool) {
        for (index, variable) in frame.function.locals.iter().enumerate() {
            let local = LocalId(index as u32);
            match variable.space {
                Space::Shared if first_visit => {
                    let size = frame.scope.size_of(&frame.scope.resolve(variable.ty));
                    self.summary.static_shared =
                        self.summary.static_shared.zip(size).map(|(all, one)| all.saturating_add(one));
                }
                Space::DynamicShared => {
                    let known = self.summary.dynamic_shared.iter().position(|array| array.name == variable.name);
                    let position = known.unwrap_or_else(|| {
                        let ty = frame.scope.resolve(variable.ty);
                        self.summary.dynamic_shared.push(DynamicShared {
                            name: variable.name.clone(),
                            element: ty.pointee().and_then(|element| frame.scope.size_of(element)),
                            site: Site { module: frame.id, span: variable.span },
                            used: None,
                            surely_used: false,
                            written: false,
                            carved: false,
                            shifted: false,
                        });
                        self.summary.dynamic_shared.len() - 1
                    });
                    frame.origins.push((local, Origin::Dynamic(position)));
                }
                _ => {}
            }
        }
        // What locals are made from, in order of declaration.
        for (index, variable) in frame.function.locals.iter().enumerate() {
            let Some(init) = variable.init.filter(|_| index >= frame.function.param_count as usize) else { continue };
            self.derive(frame, LocalId(index as u32), init);
        }
        let mut assigned = Vec::new();
        let instance = !frame.function.template_params.is_empty();
        let mut open: Vec<&Block> = frame.function.body.iter().collect();
        while let Some(block) = open.pop() {
            walk(frame.module, frame.function, block, |item| {
                // What the template arguments leave out assigns nothing.
                if instance
                    && let Item::Stmt(id) = item
                    && let Some(Stmt::If { condition, then, otherwise, .. }) =
                        frame.module.stmts.get(id).map(|node| &node.kind)
                    && let Some(value) = frame.scope.eval(*condition)
                {
                    open.push(if value == 0 { otherwise } else { then });
                    return false;
                }
                if let Item::Expr(expr) = item
                    && let Some(Expr::Assign { op: None, target, value }) = kind(frame.module, expr)
                    && let Some(Expr::Local(local)) = kind(frame.module, *target)
                {
                    assigned.push((*local, *value));
                }
                true
            });
        }
        for (local, value) in assigned {
            self.derive(frame, local, value);
        }
    }

    fn derive(&mut self, frame: &mut Frame<'a>, local: LocalId, value: ExprId) {
        let is_pointer = |frame: &Frame<'_>| {
            frame.function.locals.get(local).is_some_and(|variable| {
                frame.scope.resolve(variable.ty).pointee().is_some() || frame.scope.type_of(value).is_pointer()
            })
        };
        if let Some(origin) = origin_of(frame, value).filter(|_| is_pointer(frame)) {
            if let Origin::Dynamic(position) = origin
                && let Some(array) = self.summary.dynamic_shared.get_mut(position)
            {
                array.carved = true;
            }
            frame.origins.push((local, origin));
        }
        if mentions_index(frame, value) {
            frame.indices.insert(local);
        }
    }

    fn block(&mut self, frame: &mut Frame<'a>, block: &Block, sure: bool, depth: u32) {
        if depth > 64 {
            self.summary.incomplete = true;
            return;
        }
        let mut sure = sure;
        for id in block {
            let Some(stmt) = frame.module.stmts.get(*id) else { continue };
            match &stmt.kind {
                Stmt::Expr(expr) => self.expr(frame, *expr, sure, depth),
                Stmt::Return(value) => {
                    if let Some(value) = value {
                        self.expr(frame, *value, sure, depth);
                    }
                    return;
                }
                Stmt::Declare(local) => {
                    if let Some(init) = frame.function.locals.get(*local).and_then(|variable| variable.init) {
                        self.expr(frame, init, sure, depth);
                    }
                }
                Stmt::Block(inner) => self.block(frame, inner, sure, depth + 1),
                Stmt::If { condition, then, otherwise, .. } => {
                    self.expr(frame, *condition, sure, depth);
                    match frame.scope.eval(*condition) {
                        Some(0) => self.block(frame, otherwise, sure, depth + 1),
                        Some(_) => self.block(frame, then, sure, depth + 1),
                        None => {
                            let by_thread = sure && mentions_index(frame, *condition);
                            self.block(frame, then, by_thread, depth + 1);
                            self.block(frame, otherwise, by_thread, depth + 1);
                            // Behind `if (flag) return;` nothing is sure any more.
                            sure &= mentions_index(frame, *condition) || !leaves(frame.module, then);
                        }
                    }
                }
                Stmt::Loop { init, condition, step, body, .. } => {
                    self.block(frame, init, sure, depth + 1);
                    if let Some(condition) = condition {
                        self.expr(frame, *condition, sure, depth);
                    }
                    self.block(frame, body, sure, depth + 1);
                    if let Some(step) = step {
                        self.expr(frame, *step, sure, depth);
                    }
                }
                Stmt::ForEach { range, body, .. } => {
                    self.expr(frame, *range, sure, depth);
                    self.block(frame, body, sure, depth + 1);
                }
                Stmt::Switch { value, cases } => {
                    self.expr(frame, *value, sure, depth);
                    for case in cases {
                        self.block(frame, &case.body, false, depth + 1);
                    }
                }
                Stmt::Try { body, handlers } => {
                    self.block(frame, body, sure, depth + 1);
                    for handler in handlers {
                        self.block(frame, handler, false, depth + 1);
                    }
                }
                Stmt::Asm { text, operands, .. } => {
                    if text.contains("bar.") || text.contains("barrier.") {
                        self.intervals.push(Vec::new());
                    }
                    self.hidden_shared |= text.trim_start().starts_with(".shared");
                    for operand in operands {
                        self.expr(frame, *operand, false, depth);
                    }
                }
                Stmt::Unknown { exprs, blocks } => {
                    self.summary.incomplete = true;
                    for expr in exprs {
                        self.expr(frame, *expr, false, depth);
                    }
                    for inner in blocks {
                        self.block(frame, inner, false, depth + 1);
                    }
                }
                Stmt::Goto(_) | Stmt::Label(_) => sure = false,
                Stmt::Python(_) => self.summary.incomplete = true,
                Stmt::Break | Stmt::Continue | Stmt::Elided { .. } => {}
            }
        }
    }

    /// Everything one expression does, operands first.
    fn expr(&mut self, frame: &mut Frame<'a>, root: ExprId, sure: bool, depth: u32) {
        if depth > 64 {
            self.summary.incomplete = true;
            return;
        }
        let mut order = Vec::with_capacity(16);
        let mut conditional = Vec::new();
        walk_expr(frame.module, root, |id, expr| {
            order.push(id);
            match expr {
                Expr::SizeOfExpr(_) => false,
                // What only some threads or launches reach is read on its own below.
                Expr::Select(condition, a, b) => {
                    conditional.push((*condition, Some(*a), Some(*b)));
                    false
                }
                Expr::AndThen(condition, b) => {
                    conditional.push((*condition, Some(*b), None));
                    false
                }
                Expr::OrElse(condition, b) => {
                    conditional.push((*condition, None, Some(*b)));
                    false
                }
                _ => true,
            }
        });
        for (condition, then, otherwise) in conditional {
            self.expr(frame, condition, sure, depth + 1);
            let value = frame.scope.eval(condition);
            let by_thread = sure && (value.is_some() || mentions_index(frame, condition));
            if let Some(then) = then.filter(|_| value != Some(0)) {
                self.expr(frame, then, by_thread, depth + 1);
            }
            if let Some(otherwise) = otherwise.filter(|_| value.is_none_or(|value| value == 0)) {
                self.expr(frame, otherwise, by_thread, depth + 1);
            }
        }
        for id in order.into_iter().rev() {
            match kind(frame.module, id) {
                Some(Expr::Index { base, .. }) => self.access(frame, *base, id, false, sure),
                Some(Expr::Deref(pointer)) => self.access(frame, *pointer, id, false, sure),
                Some(Expr::Member { base, arrow: true, .. }) => self.access(frame, *base, id, false, sure),
                Some(Expr::Assign { target, .. } | Expr::Step { target, .. }) => {
                    if let Some(Expr::Index { base, .. } | Expr::Deref(base)) = kind(frame.module, *target) {
                        self.access(frame, *base, *target, true, sure);
                    }
                }
                Some(Expr::Call { callee, args }) => self.call(frame, *callee, args, sure),
                Some(Expr::Place { .. } | Expr::Unknown(_)) => self.summary.incomplete = true,
                Some(Expr::Statements(block)) => self.block(frame, block, sure, depth + 1),
                Some(Expr::Member { base, name, .. }) => {
                    if let Some(axis) = ["x", "y", "z"].iter().position(|axis| name == axis)
                        && matches!(builtin(frame.module, *base), Some("threadIdx" | "blockIdx"))
                        && let Some(slot) = self.summary.uses_axis.get_mut(axis)
                    {
                        *slot = true;
                    }
                }
                _ => {}
            }
        }
    }

    fn access(&mut self, frame: &mut Frame<'a>, pointer: ExprId, whole: ExprId, write: bool, sure: bool) {
        match origin_of(frame, pointer) {
            Some(Origin::Parameter(index)) if frame.dereferenced.contains(&index) => {}
            Some(Origin::Parameter(index)) => frame.dereferenced.push(index),
            Some(Origin::Dynamic(position)) => {
                let span = frame.module.exprs.get(whole).map(|node| node.span).unwrap_or_default();
                let shifted = is_shifted(frame, whole);
                self.touch(position, span, write, sure, shifted);
            }
            None => {}
        }
    }

    fn touch(&mut self, position: usize, span: Span, write: bool, sure: bool, shifted: bool) {
        let Some(array) = self.summary.dynamic_shared.get_mut(position) else { return };
        array.shifted = shifted && (array.used.is_none() || array.shifted);
        array.used.get_or_insert(span);
        array.surely_used |= sure;
        array.written |= write;
        let name = array.name.clone();
        if let Some(interval) = self.intervals.last_mut()
            && !interval.contains(&name)
        {
            interval.push(name);
        }
    }

    fn call(&mut self, frame: &mut Frame<'a>, callee: ExprId, args: &[ExprId], sure: bool) {
        let name = match kind(frame.module, callee) {
            Some(Expr::Name { path, .. }) => path.last().map_or("", Name::as_str),
            Some(Expr::Member { name, .. }) => name.as_str(),
            _ => "",
        };
        let op = ApiId::named(name).and_then(|api| api.device_op());
        let meets = matches!(op, Some(DeviceOp::BlockBarrier | DeviceOp::BlockVote(_)));
        if meets || ["sync", "arrive_and_wait", "arrive", "wait"].contains(&name) {
            self.intervals.push(Vec::new());
            return;
        }
        if matches!(op, Some(DeviceOp::Atomic { .. })) {
            if let Some(target) = args.first() {
                self.access(frame, *target, *target, true, sure);
            }
            return;
        }
        let Some((module, function, env)) = frame.scope.callee(callee, args) else { return };
        // A function that was read before has had its say about shared memory.
        if self.visited.contains(&(module, function)) && frame.calls > 0 {
            return;
        }
        let used = self.function(module, function, &env, sure, frame.calls + 1);
        for index in used {
            if let Some(argument) = args.get(index as usize) {
                self.access(frame, *argument, *argument, false, sure);
            }
        }
    }
}

/// Whether an element's index is a sum with a positive constant.
fn is_shifted(frame: &Frame<'_>, element: ExprId) -> bool {
    let Some(Expr::Index { indices, .. }) = kind(frame.module, element) else { return false };
    let [index] = indices.as_slice() else { return false };
    let Some(Expr::Binary(BinaryOp::Add, a, b)) = kind(frame.module, *index) else { return false };
    [a, b].into_iter().any(|part| frame.scope.eval(*part).is_some_and(|value| value > 0))
}

/// Where a pointer expression comes from: through casts, arithmetic, addresses of elements.
fn origin_of(frame: &Frame<'_>, pointer: ExprId) -> Option<Origin> {
    let mut stack = vec![pointer];
    let mut steps = 0;
    while let Some(id) = stack.pop() {
        steps += 1;
        if steps > 64 {
            return None;
        }
        match kind(frame.module, id)? {
            Expr::Local(local) => {
                if let Some((_, origin)) = frame.origins.iter().rev().find(|(known, _)| known == local) {
                    let is_pointer = frame.function.locals.get(*local).is_some_and(|variable| {
                        frame.scope.resolve(variable.ty).pointee().is_some() || matches!(origin, Origin::Dynamic(_))
                    });
                    if is_pointer {
                        return Some(*origin);
                    }
                }
            }
            Expr::Cast { value, .. } | Expr::AddressOf(value) => stack.push(*value),
            Expr::Index { base, .. } => stack.push(*base),
            Expr::Binary(_, a, b) => stack.extend([*b, *a]),
            Expr::Step { target, .. } => stack.push(*target),
            _ => {}
        }
    }
    None
}

/// Whether an expression depends on the thread's or block's index.
fn mentions_index(frame: &Frame<'_>, expr: ExprId) -> bool {
    let mut found = false;
    walk_expr(frame.module, expr, |_, expr| {
        found |= match expr {
            Expr::Local(local) => frame.indices.contains(local),
            Expr::Name { path, .. } => matches!(path.last().map(Name::as_str), Some("threadIdx" | "blockIdx")),
            _ => false,
        };
        !found
    });
    found
}

/// Whether a block ends by leaving the function.
fn leaves(module: &Module, block: &Block) -> bool {
    let mut last = block.last();
    for _ in 0..8 {
        match last.and_then(|id| module.stmts.get(*id)).map(|stmt| &stmt.kind) {
            Some(Stmt::Return(_) | Stmt::Goto(_)) => return true,
            Some(Stmt::Block(inner)) => last = inner.last(),
            _ => return false,
        }
    }
    false
}

fn builtin(module: &Module, id: ExprId) -> Option<&str> {
    match kind(module, id)? {
        Expr::Name { path, .. } => path.last().map(Name::as_str),
        _ => None,
    }
}

fn kind(module: &Module, id: ExprId) -> Option<&Expr> {
    module.exprs.get(id).map(|node| &node.kind)
}
