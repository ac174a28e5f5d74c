//! What every walk over host code is made of: its budget, its frames, its log, its path, and the look-ups that they answer.

use super::{Budget, EventLog, PathState, Pending, ProjectScan, ReplayOptions, steps};
use crate::arith::Atoms;
use crate::facts::{Event, EventKind, Question, Site, Step};
use cudalint_program::Project;
use cudalint_program::ir::{Expr, ExprId, ExprNode, Function, FunctionId, Module, ModuleId};
use cudalint_syntax::Span;
use std::ops::{Deref, DerefMut};

/// A function being walked.
#[derive(Debug)]
pub(crate) struct Frame<L, R> {
    pub module: ModuleId,
    /// `None` for a frame that only evaluates constants.
    pub function: Option<FunctionId>,
    /// The call in the caller.
    pub call: Option<Site>,
    /// The value being returned.
    pub returned: Option<R>,
    /// Where the paths begin that left it early.
    pub pending_base: usize,
    /// How many conditions that nothing decides stand around the current point, or have been left early.
    pub undecided: u32,
    /// Whether something may have been thrown, on the way here, that a `try` of this frame would have taken.
    pub passed_throw: bool,
    /// How many of these may ask what the device has.
    pub asking_any: u32,
    /// The numbers that the others compare with.
    pub choices: Vec<i64>,
    /// What these conditions ask.
    pub questions: Vec<Question>,
    /// Its variables, and what else its language asks for.
    pub local: L,
}

impl<L, R> Deref for Frame<L, R> {
    type Target = L;

    fn deref(&self) -> &L {
        &self.local
    }
}

impl<L, R> DerefMut for Frame<L, R> {
    fn deref_mut(&mut self) -> &mut L {
        &mut self.local
    }
}

/// The state that walks have in common: frames hold an `L` beside what all do, memory holds an `O`, functions return an `R`.
pub(crate) struct Common<'p, L, O, R> {
    pub project: &'p Project,
    /// What was found in the whole project beforehand.
    pub scan: &'p ProjectScan,
    pub options: ReplayOptions,
    /// The module of the entry.
    pub entry: ModuleId,
    pub atoms: Atoms,
    pub frames: Vec<Frame<L, R>>,
    pub pendings: Vec<Pending<O, R>>,
    pub budget: Budget,
    pub log: EventLog,
    pub path: PathState,
    /// How many checks stand around of which this is the side where a call has failed or a pointer is null.
    pub failed: u32,
}

impl<'p, L, O, R> Common<'p, L, O, R> {
    pub fn new(
        project: &'p Project,
        scan: &'p ProjectScan,
        entry: ModuleId,
        options: ReplayOptions,
        budget: Budget,
    ) -> Self {
        Self {
            project,
            scan,
            options,
            entry,
            atoms: Atoms::default(),
            frames: Vec::new(),
            pendings: Vec::new(),
            budget,
            log: EventLog::default(),
            path: PathState::default(),
            failed: 0,
        }
    }

    /// Enters a function.
    pub fn enter(&mut self, module: ModuleId, function: Option<FunctionId>, call: Option<Site>, local: L) {
        let pending_base = self.pendings.len();
        let questions = Vec::new();
        self.frames.push(Frame {
            module,
            function,
            call,
            returned: None,
            pending_base,
            undecided: 0,
            passed_throw: false,
            asking_any: 0,
            choices: Vec::new(),
            questions,
            local,
        });
    }

    pub fn module_id(&self) -> ModuleId {
        self.frames.last().map_or(self.entry, |frame| frame.module)
    }

    pub fn module(&self) -> &'p Module {
        self.project.module(self.module_id())
    }

    pub fn function(&self) -> Option<&'p Function> {
        let frame = self.frames.last()?;
        self.project.function_at(frame.module, frame.function?)
    }

    pub fn node(&self, id: ExprId) -> Option<&'p ExprNode> {
        self.module().exprs.get(id)
    }

    pub fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.node(id).map(|node| &node.kind)
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.node(id).map(|node| node.span).unwrap_or_default()
    }

    pub fn text(&self, id: ExprId) -> &'p str {
        self.project.text(self.module_id(), self.span(id))
    }

    /// The site of a stretch of the current module.
    pub fn site(&self, span: Span) -> Site {
        Site { module: self.module_id(), span }
    }

    /// The site of an expression.
    pub fn expr_site(&self, expr: ExprId) -> Site {
        self.site(self.span(expr))
    }

    /// How many walks of a function stand around.
    pub fn entered(&self, module: ModuleId, function: FunctionId) -> usize {
        self.frames.iter().filter(|frame| frame.module == module && frame.function == Some(function)).count()
    }

    /// Enters or leaves a condition that nothing decides, and that may ask anything.
    pub fn undecide(&mut self, by: i32) {
        self.undecide_as(by, false);
    }

    /// The same, of one that is known to be a choice of whoever calls or runs the program.
    pub fn undecide_as(&mut self, by: i32, choice: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.undecided = frame.undecided.saturating_add_signed(by);
            frame.asking_any = frame.asking_any.saturating_add_signed(if choice { 0 } else { by });
        }
    }

    /// Whether what happens is reported.
    pub fn is_told(&self) -> bool {
        self.log.muted == 0 && self.budget.stopped.is_none()
    }

    /// Records an event, with the way to it.
    pub fn record_event(&mut self, kind: EventKind, site: Site, path: Vec<Step>) {
        let Some(frame) = self.frames.iter().rev().find(|frame| frame.function.is_some()) else { return };
        let Some(function) = frame.function else { return };
        let function = (frame.module, function);
        let conditional = frame.undecided > 0;
        let perhaps_not_reached = self.frames.iter().any(|frame| frame.call.is_some() && frame.undecided > 0);
        let (conditions, failed) = (self.path.conditions(), self.failed > 0);
        let undecided = self.frames.iter().any(|frame| frame.undecided > 0 || frame.passed_throw);
        let assumptions = None;
        let questions = if conditional { frame.questions.clone() } else { Vec::new() };
        let asks = |frame: &Frame<L, R>| frame.undecided > 0 && frame.asking_any > 0;
        let asked = asks(frame) || self.frames.iter().any(|frame| frame.call.is_some() && asks(frame));
        let choices = self.frames.iter().flat_map(|frame| frame.choices.iter().copied());
        let choices = (!asked).then(|| choices.collect());
        let event = Event {
            ways: Vec::new(),
            kind,
            site,
            function,
            path,
            assumptions,
            conditions,
            products: self.atoms.products().to_vec(),
            conditional,
            perhaps_not_reached,
            undecided,
            choices,
            questions,
            failed,
        };
        self.log.events.push(event);
    }

    /// The calls from the entry to here; `nameless` stands for a function without a name.
    pub fn calls(&self, nameless: &str) -> Vec<Step> {
        let name = |module, id| match self.project.function_at(module, id) {
            // The code of a Python module is no function to a reader.
            Some(function) if !function.python.as_ref().is_some_and(|python| python.is_module) => {
                function.name.as_str()
            }
            _ => "",
        };
        let calls = self.frames.windows(2).filter_map(|pair| {
            let [caller, callee] = pair else { return None };
            let from = caller.function.map_or("", |id| name(caller.module, id));
            Some(steps::call(callee.call?, from, name(callee.module, callee.function?), nameless))
        });
        calls.collect()
    }
}

/// Whether the names of what is given as grid and as block say that each is in its place: `<<<blocks, threads>>>`.
pub(crate) fn names_agree(grid: &str, block: &str) -> bool {
    let (grid, block) = (grid.to_ascii_lowercase(), block.to_ascii_lowercase());
    let is_of_block = |name: &str| ["thread", "size", "dim", "tpb", "width"].iter().any(|word| name.contains(word));
    let is_number_of_blocks = (grid.contains("block") || grid.contains("grid")) && !is_of_block(&grid);
    is_number_of_blocks && block.contains("thread") && !block.contains("block")
}
