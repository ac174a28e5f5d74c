//! The walk over host code: frames, budgets, and the helpers that all parts share.

// The walker's parts are methods, whether or not each needs its state, so that callers need not know; what it hands on
// is small, and its switches are independent.
#![allow(clippy::unused_self, clippy::needless_pass_by_value, clippy::struct_excessive_bools)]

mod apis;
mod caches;
mod calls;
mod conditions;
mod construct;
mod containers;
mod events;
mod exprs;
mod flow;
mod given;
mod launches;
mod library;
mod loops;
mod memo;
mod names;
mod operators;
mod places;
mod rounds;
mod shapes;
mod stmts;
mod types;
mod unseen;

use crate::arith::Atoms;
use crate::facts::{Event, MemorySpace, Site};
use crate::memory::{Freed, Memory, ObjId, Object, ObjectInfo, Place};
use crate::ty::{Env, Ty};
use crate::val::{Closure, Kind, Val};
use crate::value::{Assumptions, Condition, Quantity};
pub(crate) use caches::{Caches, Library};
use cudalint_program::ir::{
    ExprId, ExprNode, Function, FunctionId, LocalId, Module, ModuleId, Path, TemplateArg, TemplateParam,
};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;
use flow::Pending;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};

/// What a program is taken to be started with when nothing says otherwise.
pub(crate) const NO_ARGUMENTS: &str = "no command-line argument is given";

/// How deep calls are followed.
const MAX_FRAMES: usize = 9;
/// How deep expressions and statements may nest, over all frames.
const MAX_DEPTH: u32 = 220;

/// Bounds of a walk.
#[derive(Clone, Copy, Debug)]
pub struct ReplayOptions {
    /// Expressions and statements evaluated from one entry function.
    pub steps_per_entry: u32,
    /// Iterations of loops with known bounds that are run one by one, per loop.
    pub iterations: u32,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self { steps_per_entry: 12_000, iterations: 24 }
    }
}

/// Kernel summaries made so far, by kernel and template arguments; shared by the walks of one module.
pub(crate) type Summaries = Rc<
    std::cell::RefCell<
        Vec<(ModuleId, FunctionId, cudalint_program::types::TypeEnv, std::sync::Arc<crate::facts::KernelSummary>)>,
    >,
>;

/// Where a variable is.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Unset,
    Object(ObjId),
    Alias(Place, Ty),
}

/// A function being walked.
#[derive(Debug)]
pub(crate) struct Frame {
    pub module: ModuleId,
    /// `None` for a frame that only evaluates constants.
    pub function: Option<FunctionId>,
    pub env: Rc<Env>,
    pub slots: TiVec<LocalId, Slot>,
    pub this: Option<(Place, Ty)>,
    pub closure: Option<Rc<Closure>>,
    /// The call in the caller.
    pub call: Option<Site>,
    /// The arguments as expressions of the caller's module, by parameter.
    pub arguments: Vec<Option<ExprId>>,
    /// The value being returned.
    pub returned: Option<Out>,
    /// Where this frame's pending exits begin.
    pub pending_base: usize,
    /// Labels passed.
    pub labels: Vec<Name>,
    /// How many conditions that nothing decides stand around the current point, or have been left early.
    pub undecided: u32,
    /// What the loops around write whose first rounds are being walked.
    pub first_rounds: Vec<Vec<LocalId>>,
}

/// An evaluated expression.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub val: Val,
    pub ty: Ty,
    /// Where it is stored, for lvalues.
    pub place: Option<Place>,
}

impl Out {
    pub const fn new(val: Val, ty: Ty) -> Self {
        Self { val, ty, place: None }
    }

    pub const fn unknown() -> Self {
        Self::new(Val::unknown(), Ty::Unknown)
    }
}

/// A walk from one entry function.
pub(crate) struct Walker<'p> {
    pub project: &'p Project,
    pub options: ReplayOptions,
    pub memory: Memory,
    pub atoms: Atoms,
    pub frames: Vec<Frame>,
    pub pendings: Vec<Pending>,
    pub events: Vec<Event>,
    pub steps: u32,
    /// Why the walk ended early.
    pub stopped: Option<&'static str>,
    /// Assumptions that do not hold on this path.
    pub banned: Vec<String>,
    /// Above 0: nothing is reported, every branch is taken, and only what is written counts.
    pub dry: u32,
    /// Above 0: nothing is reported.
    pub silent: u32,
    /// A call that does not return was met in the current expression.
    pub ended: bool,
    pub depth: u32,
    pub globals: FxHashMap<(ModuleId, u32), ObjId>,
    pub statics: FxHashMap<(ModuleId, FunctionId, u32), ObjId>,
    pub strides: FxHashMap<(ObjId, crate::memory::CellPath), i64>,
    pub limits: BTreeMap<&'static str, u32>,
    /// Whether the entry is `main`, so that globals have their initial values.
    pub from_main: bool,
    /// Code is missing here by the author's own words.
    pub elided: bool,
    /// Dynamic shared memory asked for by kernel.
    pub opt_in: FxHashMap<(ModuleId, FunctionId), Val>,
    pub any_opt_in: bool,
    pub unknown_opt_in: bool,
    /// What was found in the whole project beforehand.
    pub scan: &'p crate::merge::ProjectScan,
    /// The step count at which expensive loops stop being unrolled.
    pub iterations_left: u32,
    /// How many loops around run their first round by itself.
    pub loops_inside: u32,
    pub summaries: Summaries,
    /// What the walks of one module find out about its code once.
    pub caches: Rc<Caches>,
    /// Functions walked to their ends from this entry.
    pub visited: rustc_hash::FxHashSet<(ModuleId, FunctionId)>,
    /// The word `local`, made once.
    pub local: Name,
    /// How often each place has been reported in this walk.
    pub reported: FxHashMap<Site, u32>,
    pub type_cache: FxHashMap<(ModuleId, u32), (i64, i64)>,
    /// What the path says of the inputs, with the number of the frame at whose end it is no longer sure (0: never).
    pub conditions: Vec<(usize, Condition)>,
    /// Whether launches may be recorded to run later, when memory holds other things.
    pub capturing: bool,
    /// Whether project code in sight calls the entry function, so that its parameters are not free.
    pub entry_is_called: bool,
    /// The object whose fields are being set.
    making: construct::Making,
    /// How many walks of functions are watched.
    watching: u32,
    /// How often something was done that outlasts a function's walk, or looked at that others make.
    traces: u32,
    /// The least by which a loop was short of being cut for its dear rounds, in steps.
    slack: i64,
    /// The least by which one was cut for them.
    room: i64,
    /// The deepest nesting.
    deepest: u32,
    /// String literals and functions met in the walks that are watched.
    literals: Vec<std::sync::Arc<str>>,
    entered: Vec<(ModuleId, FunctionId, bool)>,
}

impl<'p> Walker<'p> {
    pub fn new(project: &'p Project, scan: &'p crate::merge::ProjectScan, options: ReplayOptions) -> Self {
        Self {
            project,
            options,
            memory: Memory::default(),
            atoms: Atoms::default(),
            frames: Vec::new(),
            pendings: Vec::new(),
            events: Vec::new(),
            steps: options.steps_per_entry,
            stopped: None,
            banned: Vec::new(),
            dry: 0,
            silent: 0,
            ended: false,
            depth: 0,
            globals: FxHashMap::default(),
            statics: FxHashMap::default(),
            strides: FxHashMap::default(),
            limits: BTreeMap::new(),
            from_main: false,
            elided: false,
            opt_in: FxHashMap::default(),
            any_opt_in: false,
            unknown_opt_in: false,
            scan,
            iterations_left: 120,
            loops_inside: 0,
            summaries: Summaries::default(),
            caches: Rc::default(),
            visited: rustc_hash::FxHashSet::default(),
            local: Name::from("local"),
            reported: FxHashMap::default(),
            type_cache: FxHashMap::default(),
            conditions: Vec::new(),
            capturing: false,
            entry_is_called: false,
            making: construct::Making::default(),
            watching: 0,
            traces: 0,
            slack: i64::MAX,
            room: i64::MAX,
            deepest: 0,
            literals: Vec::new(),
            entered: Vec::new(),
        }
    }

    /// Walks a function with unknown parameters (`main`: as started without arguments).
    pub fn run(&mut self, module: ModuleId, id: FunctionId) {
        let Some(function) = self.project.module(module).functions.get(id) else { return };
        let Some(body) = &function.body else { return };
        self.from_main = function.name == "main" && function.scope.segments.is_empty();
        self.entry_is_called = function.is_static || self.scan.traits.is_mentioned(&function.name);
        let env = self.instance(module, function);
        self.push_frame(module, Some(id), Rc::new(env), None);
        if matches!(
            function.role,
            cudalint_program::ir::FunctionRole::Method
                | cudalint_program::ir::FunctionRole::Constructor
                | cudalint_program::ir::FunctionRole::Destructor
                | cudalint_program::ir::FunctionRole::Operator
        ) {
            self.make_unknown_this(module, function);
        }
        for index in 0..function.param_count {
            self.bind_entry_parameter(function, LocalId(index));
        }
        self.run_member_inits(function);
        self.block(body);
        self.frames.clear();
        self.pendings.clear();
        if let Some(cause) = self.stopped {
            *self.limits.entry(cause).or_insert(0) += 1;
        }
    }

    /// What an entry's template parameters stand for: those of its first explicit instantiation, which surely exists.
    fn instance(&mut self, module: ModuleId, function: &Function) -> Env {
        let written = &self.project.module(module).instantiations;
        let of_class = || {
            written.iter().find(|it| it.is_class && it.path.last().is_some_and(|it| function.scope.last() == Some(it)))
        };
        let of_function = || written.iter().find(|it| !it.is_class && it.path.last() == Some(&function.name));
        if function.template_params.is_empty() {
            // A method inside its class.
            let Some(class) = of_class() else { return Env::default() };
            let record = self.project.record(module, &Path::default(), &function.scope);
            let Some(record) = record.and_then(|entry| self.project.record_at(entry)) else { return Env::default() };
            return self.env_of(module, &record.template_params, &class.targs);
        }
        let Some(first) = of_function().or_else(|| {
            // A method outside of its class: the parameters before it are the class's.
            of_class().filter(|class| class.targs.len() == function.template_params.len())
        }) else {
            return Env::default();
        };
        self.env_of(module, &function.template_params, &first.targs)
    }

    /// Template parameters with arguments that are written at namespace scope.
    fn env_of(&mut self, module: ModuleId, params: &[TemplateParam], targs: &[TemplateArg]) -> Env {
        self.push_frame(module, None, Rc::default(), None);
        let env = self.explicit(params, targs);
        self.frames.pop();
        env
    }

    fn bind_entry_parameter(&mut self, function: &'p Function, id: LocalId) {
        let variable = &function.locals[id];
        let ty = self.resolve(variable.ty);
        let value_ty = ty.value().clone();
        let no_arguments = || crate::value::assume(NO_ARGUMENTS);
        let val = if self.from_main && id.0 == 0 {
            Val { kind: Val::int(1).kind, why: no_arguments() }
        } else if self.from_main {
            Val { kind: Kind::Unknown, why: no_arguments() }
        } else {
            match &value_ty {
                Ty::Int { bytes, signed } if *bytes >= 4 => {
                    // Callers in sight choose the values of their own.
                    let kind = if self.entry_is_called {
                        crate::algebra::AtomKind::Opaque
                    } else {
                        crate::algebra::AtomKind::Input
                    };
                    let q = self.atoms.fresh(&variable.name, kind);
                    Val::typed(q, *bytes, *signed)
                }
                _ => Val::unknown(),
            }
        };
        let object = self.create_variable(&variable.name, variable.span, value_ty, val);
        // Whoever calls may hold the address of what a reference is bound to.
        if matches!(ty, Ty::Ref(..)) {
            self.memory.escaped.insert(object);
        }
        self.set_slot(id, Slot::Object(object));
    }

    /// Gives a method its object, with unknown fields.
    fn make_unknown_this(&mut self, module: ModuleId, function: &'p Function) {
        let Some(ty) = self.enclosing_record(module, function) else { return };
        let object = self.create_variable(&Name::from("this"), function.name_span, ty.clone(), Val::unknown());
        if let Some(frame) = self.frames.last_mut() {
            frame.this = Some((Place::Cell(object, crate::memory::root()), ty));
        }
    }

    pub fn push_frame(&mut self, module: ModuleId, function: Option<FunctionId>, env: Rc<Env>, call: Option<Site>) {
        let slots = function
            .and_then(|id| self.project.module(module).functions.get(id))
            .map_or(0, |function| function.locals.len());
        self.frames.push(Frame {
            module,
            function,
            env,
            slots: ti_vec![Slot::Unset; slots],
            this: None,
            closure: None,
            call,
            arguments: Vec::new(),
            returned: None,
            pending_base: self.pendings.len(),
            labels: Vec::new(),
            undecided: 0,
            first_rounds: Vec::new(),
        });
    }

    /// Takes one step of the budget; `false` when it is used up.
    pub fn step(&mut self) -> bool {
        if self.steps == 0 {
            self.stopped.get_or_insert("steps of a host walk");
        }
        self.steps = self.steps.saturating_sub(1);
        self.stopped.is_none()
    }

    /// Enters a level of nesting; when it is too deep the walk ends.
    pub fn descend(&mut self) -> bool {
        if self.depth >= MAX_DEPTH {
            self.stopped.get_or_insert("nesting of host code");
        }
        if self.stopped.is_none() {
            self.depth += 1;
            self.deepest = self.deepest.max(self.depth);
        }
        self.stopped.is_none()
    }

    /// Something is done that outlasts the walk of the function around, or looked at that others make.
    pub const fn leave_trace(&mut self) {
        self.traces += 1;
    }

    pub fn module_id(&self) -> ModuleId {
        self.frames.last().map_or(ModuleId(0), |frame| frame.module)
    }

    pub fn module(&self) -> &'p Module {
        self.project.module(self.module_id())
    }

    pub fn function(&self) -> Option<&'p Function> {
        let frame = self.frames.last()?;
        self.project.module(frame.module).functions.get(frame.function?)
    }

    pub fn node(&self, id: ExprId) -> Option<&'p ExprNode> {
        self.module().exprs.get(id)
    }

    pub fn span(&self, id: ExprId) -> Span {
        self.node(id).map(|node| node.span).unwrap_or_default()
    }

    pub fn text(&self, id: ExprId) -> String {
        self.project.text(self.module_id(), self.span(id)).to_owned()
    }

    pub fn site(&self, span: Span) -> Site {
        Site { module: self.module_id(), span }
    }

    pub fn set_slot(&mut self, id: LocalId, slot: Slot) {
        if let Some(place) = self.frames.last_mut().and_then(|frame| frame.slots.get_mut(id)) {
            *place = slot;
        }
    }

    /// A new variable as an object.
    pub fn create_variable(&mut self, name: &Name, span: Span, ty: Ty, value: Val) -> ObjId {
        let array = ty.is_array();
        let info = ObjectInfo {
            name: name.clone(),
            site: self.site(span),
            element: ty.pointee().and_then(|inner| self.size_of(inner).known()),
            ty,
            space: MemorySpace::Host,
            api: self.local.clone(),
            array,
        };
        self.create_object(info, Val::unknown(), value)
    }

    pub fn create_object(&mut self, info: ObjectInfo, bytes: Val, root: Val) -> ObjId {
        self.memory.create(Object { info: Rc::new(info), bytes, root, cells: None, freed: Freed::No, held: None })
    }

    /// A value that nobody fixes, to be told apart from others.
    pub fn opaque(&mut self, name: &str, ty: &Ty) -> Val {
        match ty.value() {
            Ty::Int { bytes, signed } if *bytes >= 4 => {
                let q = self.atoms.fresh(name, crate::algebra::AtomKind::Opaque);
                Val::typed(q, *bytes, *signed)
            }
            Ty::Int { bytes, signed } => Val::typed(Quantity::Unknown, *bytes, *signed),
            _ => Val::unknown(),
        }
    }

    /// Whether a value rests on something that does not hold here.
    pub fn is_banned(&self, why: &Assumptions) -> bool {
        !self.banned.is_empty() && why.as_ref().is_some_and(|list| list.iter().any(|text| self.banned.contains(text)))
    }

    /// A value that may be used on this path.
    pub fn admit(&self, val: Val) -> Val {
        if val.why.is_some() && self.is_banned(&val.why) { Val::from(Kind::Unknown) } else { val }
    }
}
