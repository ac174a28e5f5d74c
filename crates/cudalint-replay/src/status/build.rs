//! From the statements of a function to its [`Flow`].

use super::comparisons::{self, MAX_PARTS};
use super::flow::{Action, Alive, Callee, Draft, EXIT, Fate, Flow};
use super::hidden::{self, Hidden};
use cudalint_program::api::is_status_type;
use cudalint_program::ir::{
    Block, Expr, ExprId, Function, LocalId, Module, ModuleId, Space, Stmt, StmtId, SwitchCase, Type, TypeId,
};
use cudalint_program::types::TypeEnv;
use cudalint_program::{Name, Project, Scope};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// Nesting beyond which a function is not followed.
const MAX_DEPTH: u32 = 300;

pub(super) struct Builder<'a> {
    pub(super) project: &'a Project,
    pub(super) id: ModuleId,
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) flow: Flow,
    draft: &'a mut Draft,
    pub(super) depth: u32,
    pub(super) of_module: &'a OfModule<'a>,
    /// Inside `assert(…)` of the standard library.
    pub(super) in_assert: bool,
    /// Inside a branch that is taken where a call has failed.
    leaves_on_failure: bool,
    current: u32,
    /// Where `break` and `continue` go, with how many objects were alive there.
    breaks: Vec<(u32, usize)>,
    continues: Vec<(u32, usize)>,
    /// The objects with destructors that are alive.
    pub(super) alive: Vec<Alive>,
    labels: FxHashMap<Name, u32>,
    /// What only another configuration does, by place; those behind the last statement come first.
    hidden: Vec<(u32, Hidden)>,
    /// Types and values of expressions, once they are asked for.
    scope: OnceCell<Scope<'a>>,
}

/// What holds for all functions of a module.
pub(super) struct OfModule<'a> {
    /// Whether it uses the first generation of cuBLAS.
    pub legacy_blas: bool,
    /// Whether classes out of sight are used whose operators throw.
    pub has_throwing_classes: bool,
    /// Macros that look at the last error in another configuration.
    pub hidden_macros: Vec<&'a Name>,
}

/// Reduces a function.
pub(super) fn build(
    project: &Project,
    id: ModuleId,
    function: &Function,
    of_module: &OfModule<'_>,
    draft: &mut Draft,
) -> Flow {
    draft.clear();
    // The entry and the exit.
    draft.segments = 2;
    let mut builder = Builder {
        project,
        id,
        module: project.module(id),
        function,
        flow: Flow::default(),
        draft,
        depth: 0,
        of_module,
        in_assert: false,
        leaves_on_failure: false,
        current: 0,
        breaks: Vec::new(),
        continues: Vec::new(),
        alive: Vec::new(),
        labels: FxHashMap::default(),
        hidden: hidden::points(project, id, function, &of_module.hidden_macros).into_iter().rev().collect(),
        scope: OnceCell::new(),
    };
    for value in function.member_inits.iter().flat_map(|(_, values)| values) {
        builder.expr(*value, Fate::Consumed);
    }
    builder.begin_test();
    if let Some(body) = &function.body {
        builder.block(body);
    }
    builder.pass_hidden(u32::MAX);
    builder.end_lives(0);
    builder.goto(EXIT);
    let mut flow = builder.flow;
    super::solve::mark_reads(&mut flow, draft);
    flow.keep(draft);
    flow
}

impl<'a> Builder<'a> {
    /// Types and values of the function's expressions.
    pub(super) fn scope(&self) -> &Scope<'a> {
        self.scope.get_or_init(|| {
            let id = self.module.functions.iter_enumerated().find(|(_, other)| std::ptr::eq(*other, self.function));
            Scope::new(self.project, self.id, id.map(|(id, _)| id), &TypeEnv::default())
        })
    }

    /// What another configuration does before a place of the file.
    fn pass_hidden(&mut self, before: u32) {
        while let Some((_, point)) = self.hidden.pop_if(|(at, _)| *at < before) {
            match point {
                Hidden::Branch => self.push(Action::Hidden),
                Hidden::Macro(name) => self.made_call(Callee::Macro(name.clone()), name, Span::default()),
            }
        }
    }

    pub(super) fn push(&mut self, action: Action) {
        self.draft.actions.push((self.current, action));
    }

    pub(super) fn new_segment(&mut self) -> u32 {
        let segment = self.draft.segments;
        self.draft.segments += 1;
        segment
    }

    pub(super) fn edge(&mut self, from: u32, to: u32) {
        self.draft.next.push((from, to));
    }

    fn rare_edge(&mut self, from: u32, to: u32) {
        self.draft.rarely.push((from, to));
    }

    pub(super) fn goto(&mut self, to: u32) {
        self.edge(self.current, to);
    }

    pub(super) fn here(&self) -> u32 {
        self.current
    }

    pub(super) fn start(&mut self, segment: u32) {
        self.current = segment;
    }

    /// What follows cannot be reached from here.
    pub(super) fn dead_end(&mut self) {
        self.current = self.new_segment();
    }

    pub(super) fn block(&mut self, block: &[StmtId]) {
        let outside = self.alive.len();
        for stmt in block {
            self.stmt(*stmt, Fate::Dropped);
        }
        self.end_lives(outside);
        self.alive.truncate(outside);
    }

    /// `fate`: what becomes of the value when the statement is the last of a statement expression.
    pub(super) fn stmt(&mut self, id: StmtId, fate: Fate) {
        let module = self.module;
        let Some(node) = module.stmts.get(id) else { return };
        if self.depth > MAX_DEPTH {
            self.flow.lost = true;
            return;
        }
        self.depth += 1;
        self.pass_hidden(node.span.start);
        match &node.kind {
            Stmt::Expr(value) => {
                self.expr(*value, fate);
                self.temporary(*value);
            }
            Stmt::Declare(local) => {
                self.declare(*local);
                self.begin_life(*local);
            }
            Stmt::Block(block) => self.block(block),
            Stmt::If { condition, then, otherwise, .. } => self.if_else(*condition, then, otherwise),
            Stmt::Loop { kind, init, condition, step, body } => {
                self.block(init);
                let runs_first = *kind == cudalint_program::ir::LoopKind::DoWhile;
                self.repeat(*condition, *step, body, runs_first);
            }
            Stmt::ForEach { variable, range, body } => {
                self.expr(*range, Fate::Consumed);
                self.push(Action::Write(*variable));
                self.repeat(None, None, body, false);
            }
            Stmt::Switch { value, cases } => self.switch(*value, cases),
            Stmt::Break => self.leave(self.breaks.last().copied()),
            Stmt::Continue => self.leave(self.continues.last().copied()),
            Stmt::Return(value) => {
                let mut handed_out = None;
                if let Some(value) = value {
                    self.expr(*value, Fate::Returned);
                    handed_out = self.variable_of(*value);
                }
                // A variable that is returned lives on in the caller.
                let alive = self.alive.clone();
                self.alive.retain(|object| Some(object.span) != handed_out);
                let target = if self.leaves_on_failure { None } else { Some((EXIT, 0)) };
                self.leave(target);
                self.alive = alive;
            }
            Stmt::Goto(label) => {
                let target = self.label(label);
                self.jump(Some(target));
            }
            Stmt::Label(label) => {
                let target = self.label(label);
                self.goto(target);
                self.start(target);
            }
            Stmt::Try { body, handlers } => self.try_catch(body, handlers),
            Stmt::Asm { operands, .. } => {
                for operand in operands {
                    self.expr(*operand, Fate::Consumed);
                }
            }
            Stmt::Elided { .. } => self.elided(node.span),
            Stmt::Python(_) => self.push(Action::Opaque),
            Stmt::Unknown { exprs, blocks } => {
                for value in exprs {
                    self.expr(*value, Fate::Consumed);
                }
                for block in blocks {
                    self.optional(|builder| builder.block(block));
                }
                self.push(Action::Opaque);
            }
        }
        self.depth -= 1;
    }

    /// The declaration of the local variable that an expression names.
    fn variable_of(&self, expr: ExprId) -> Option<Span> {
        match self.module.exprs.get(expr)?.kind {
            Expr::Local(local) => Some(self.function.locals.get(local)?.span),
            _ => None,
        }
    }

    /// Goes on where fewer objects are alive.
    fn leave(&mut self, target: Option<(u32, usize)>) {
        if let Some((_, alive)) = target {
            self.end_lives(alive);
        }
        self.jump(target.map(|(target, _)| target));
    }

    fn jump(&mut self, target: Option<u32>) {
        if let Some(target) = target {
            self.goto(target);
        }
        self.dead_end();
    }

    fn label(&mut self, name: &Name) -> u32 {
        if let Some(segment) = self.labels.get(name) {
            return *segment;
        }
        let segment = self.new_segment();
        self.labels.insert(name.clone(), segment);
        segment
    }

    /// Code that may be skipped.
    pub(super) fn optional(&mut self, inside: impl FnOnce(&mut Self)) {
        let (body, after) = (self.new_segment(), self.new_segment());
        self.goto(body);
        self.goto(after);
        self.start(body);
        inside(self);
        self.goto(after);
        self.start(after);
    }

    fn if_else(&mut self, condition: ExprId, then: &Block, otherwise: &[StmtId]) {
        self.note_double_read(condition, then);
        self.expr(condition, Fate::Consumed);
        if comparisons::tells_difference(self.module, self.function, condition, then, || self.scope()) {
            self.push(Action::Compares);
        }
        let from = self.here();
        let (yes, after) = (self.new_segment(), self.new_segment());
        let constant = self.constant(condition);
        if constant != Some(false) {
            self.edge(from, yes);
        }
        self.start(yes);
        // Who leaves because a call has failed has told that there is an error: what would have come next is not asked for.
        let outside = self.leaves_on_failure;
        self.leaves_on_failure |= self.is_failure(condition, true, MAX_PARTS) || self.hands_on(condition, then);
        self.block(then);
        self.leaves_on_failure = outside;
        self.goto(after);
        if otherwise.is_empty() {
            if constant != Some(true) {
                self.edge(from, after);
            }
        } else {
            let no = self.new_segment();
            if constant != Some(true) {
                self.edge(from, no);
            }
            self.start(no);
            self.block(otherwise);
            self.goto(after);
        }
        self.start(after);
    }

    /// A loop. For what surely happens, it is taken to run at least once.
    fn repeat(&mut self, condition: Option<ExprId>, step: Option<ExprId>, body: &[StmtId], runs_first: bool) {
        let (inside, next, head, after) =
            (self.new_segment(), self.new_segment(), self.new_segment(), self.new_segment());
        self.goto(inside);
        if !runs_first {
            self.rare_edge(self.here(), head);
        }
        self.start(inside);
        self.breaks.push((after, self.alive.len()));
        self.continues.push((next, self.alive.len()));
        self.block(body);
        self.breaks.pop();
        self.continues.pop();
        self.goto(next);
        self.start(next);
        if let Some(step) = step {
            self.expr(step, Fate::Dropped);
        }
        self.goto(head);
        self.start(head);
        let mut again = None;
        if let Some(condition) = condition {
            if let Some(Expr::Int { value, .. }) = self.module.exprs.get(condition).map(|node| &node.kind) {
                again = Some(*value != 0);
            }
            self.expr(condition, Fate::Consumed);
        } else if runs_first || step.is_some() {
            again = Some(true);
        }
        if again != Some(false) {
            self.goto(inside);
        }
        if again != Some(true) {
            self.goto(after);
        }
        self.start(after);
    }

    fn switch(&mut self, value: ExprId, cases: &[SwitchCase]) {
        self.expr(value, Fate::Consumed);
        let from = self.here();
        let after = self.new_segment();
        self.breaks.push((after, self.alive.len()));
        let mut fall_from: Option<u32> = None;
        for case in cases {
            let segment = self.new_segment();
            self.edge(from, segment);
            if let Some(previous) = fall_from {
                self.edge(previous, segment);
            }
            self.start(segment);
            self.block(&case.body);
            fall_from = Some(self.here());
        }
        self.breaks.pop();
        if let Some(previous) = fall_from {
            self.edge(previous, after);
        }
        if cases.is_empty() {
            self.edge(from, after);
        } else if cases.iter().all(|case| case.value.is_some()) {
            self.rare_edge(from, after);
        }
        self.start(after);
    }

    fn try_catch(&mut self, body: &[StmtId], handlers: &[Vec<StmtId>]) {
        let first = self.new_segment();
        self.goto(first);
        self.start(first);
        let before = self.draft.segments - 1;
        self.block(body);
        let end = self.draft.segments;
        let after = self.new_segment();
        self.goto(after);
        for handler in handlers {
            let entry = self.new_segment();
            for segment in before..end {
                self.rare_edge(segment, entry);
            }
            self.start(entry);
            self.block(handler);
            self.goto(after);
        }
        self.start(after);
    }

    /// A comment in the place of code: what it says decides what it may do.
    fn elided(&mut self, span: Span) {
        let text = self.project.text(self.id, span).to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["omitted", "omit ", "skipped", "left out"]) {
            return;
        }
        if says(&["check", "error", "sync", "wait", "copy", "copies", "memcpy", "transfer", "read back", "result"]) {
            self.push(Action::Opaque);
        }
    }

    fn declare(&mut self, id: LocalId) {
        let Some(variable) = self.function.locals.get(id) else { return };
        let Some(init) = variable.init else {
            if matches!(variable.space, Space::Ordinary) {
                self.construct(variable.ty, variable.span);
            }
            return;
        };
        let init = self.unwrap_single(init, variable.ty);
        if self.holds_status(variable.ty) && variable.space == Space::Ordinary {
            self.define(id, init, false);
        } else {
            self.expr(init, Fate::Consumed);
            // What is made by `T x = f()` was made there.
            match self.module.exprs.get(init).map(|node| &node.kind) {
                Some(Expr::InitList(_)) => self.construct(variable.ty, variable.span),
                Some(Expr::Local(_) | Expr::Name { .. } | Expr::Member { .. })
                    if self.of_module.has_throwing_classes =>
                {
                    self.construct(variable.ty, variable.span);
                }
                _ => {}
            }
        }
    }

    /// `T x(v)` and `T x{v}` of a type that holds a status are `T x = v`.
    fn unwrap_single(&self, init: ExprId, ty: TypeId) -> ExprId {
        match self.module.exprs.get(init).map(|node| &node.kind) {
            Some(Expr::Construct { args, .. } | Expr::InitList(args)) if args.len() == 1 && self.holds_status(ty) => {
                args.first().copied().unwrap_or(init)
            }
            _ => init,
        }
    }

    /// Whether a variable of this type is a plain copy of a status: a status type, an integer, `bool` or `auto`.
    pub(super) fn holds_status(&self, ty: TypeId) -> bool {
        match self.module.types.get(ty) {
            Some(Type::Int { .. } | Type::Bool | Type::Auto) => true,
            Some(Type::Qualified { ty: inner, .. }) => match self.module.types.get(*inner) {
                Some(Type::Named { path, .. }) => is_status_name(path.last()),
                Some(Type::Int { .. } | Type::Bool | Type::Auto) => true,
                _ => false,
            },
            Some(Type::Named { path, .. }) => is_status_name(path.last()),
            _ => false,
        }
    }

    /// `local = value`: the statuses among the values it can take are stored.
    pub(super) fn define(&mut self, local: LocalId, value: ExprId, accumulate: bool) {
        let from = self.flow.calls.len() as u32;
        self.expr(value, Fate::Stored(local));
        let to = self.flow.calls.len() as u32;
        self.push(Action::Define { local, from, to, accumulate });
    }
}

/// Whether a name is that of a status type.
pub(super) fn is_status_name(name: Option<&Name>) -> bool {
    name.is_some_and(|name| is_status_type(name))
}
