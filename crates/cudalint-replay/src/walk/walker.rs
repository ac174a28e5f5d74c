//! The state of a walk over C++ host code, and the look-ups that all of its parts use.

use super::caches::Caches;
use super::exits::Pending;
use super::out::Out;
use super::recorded::Recording;
use crate::arith::Atoms;
use crate::facts::{MemorySpace, Origin, Site};
use crate::host::{Budget, EventLog, PathState, ProjectScan, ReplayOptions};
use crate::memory::{Freed, Memory, ObjId, Object, ObjectInfo, Place};
use crate::quantity::Quantity;
use crate::value::{Closure, Kind, Val};
use cudalint_program::Entry;
use cudalint_program::ir::{ExprId, ExprNode, Function, FunctionId, LocalId, Module, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Name, Project};
use cudalint_syntax::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use typed_index_collections::{TiVec, ti_vec};

/// How deep expressions and statements may nest, over all frames.
const MAX_DEPTH: u32 = 220;

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
    pub env: TypeEnv,
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
    /// Variables whose destructors will run at the end of their blocks, in the order of their declarations.
    pub guards: Vec<LocalId>,
    /// How many of them are outside of the loop or `switch` that a `break` leaves.
    pub guards_outside: usize,
    /// What the loops around write whose first rounds are being walked.
    pub first_rounds: Vec<Vec<LocalId>>,
}

/// The object whose fields are being set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Making {
    /// How many records hold the one whose turn it is.
    pub depth: u32,
    /// Fields so far.
    pub fields: u32,
}

/// A walk from one entry function.
pub(crate) struct Walker<'p> {
    pub project: &'p Project,
    pub options: ReplayOptions,
    pub memory: Memory,
    pub atoms: Atoms,
    pub frames: Vec<Frame>,
    pub pendings: Vec<Pending>,
    pub budget: Budget,
    pub log: EventLog,
    pub path: PathState,
    /// Above 0: nothing is reported, every branch is taken, and only what is written counts.
    pub dry: u32,
    /// A call that does not return was met in the current expression.
    pub ended: bool,
    pub globals: FxHashMap<(ModuleId, u32), ObjId>,
    pub statics: FxHashMap<(ModuleId, FunctionId, u32), ObjId>,
    pub strides: FxHashMap<(ObjId, crate::memory::CellPath), i64>,
    /// Whether the entry is `main`, so that globals have their initial values.
    pub from_main: bool,
    /// Code is missing here by the author's own words.
    pub elided: bool,
    /// Dynamic shared memory asked for by kernel.
    pub opt_in: FxHashMap<(ModuleId, FunctionId), Val>,
    pub any_opt_in: bool,
    pub unknown_opt_in: bool,
    /// What was found in the whole project beforehand.
    pub scan: &'p ProjectScan,
    /// The step count at which expensive loops stop being unrolled.
    pub iterations_left: u32,
    /// How many loops around run their first round by itself.
    pub loops_inside: u32,
    /// What the walks of one module find out about its code once.
    pub caches: Rc<Caches>,
    /// Functions walked to their ends from this entry.
    pub visited: rustc_hash::FxHashSet<(ModuleId, FunctionId)>,
    pub type_cache: FxHashMap<Entry, (i64, i64)>,
    /// Whether launches may be recorded to run later, when memory holds other things.
    pub capturing: bool,
    /// Whether project code in sight calls the entry function, so that its parameters are not free.
    pub entry_is_called: bool,
    /// The object whose fields are being set.
    pub(super) making: Making,
    /// What the walks of functions that may be recorded look at.
    pub(super) recording: Recording,
}

impl<'p> Walker<'p> {
    pub fn new(project: &'p Project, scan: &'p ProjectScan, options: ReplayOptions) -> Self {
        Self {
            project,
            options,
            memory: Memory::default(),
            atoms: Atoms::default(),
            frames: Vec::new(),
            pendings: Vec::new(),
            budget: Budget::new(options.steps_per_entry, MAX_DEPTH),
            log: EventLog::default(),
            path: PathState::default(),
            dry: 0,
            ended: false,
            globals: FxHashMap::default(),
            statics: FxHashMap::default(),
            strides: FxHashMap::default(),
            from_main: false,
            elided: false,
            opt_in: FxHashMap::default(),
            any_opt_in: false,
            unknown_opt_in: false,
            scan,
            iterations_left: 120,
            loops_inside: 0,
            caches: Rc::default(),
            visited: rustc_hash::FxHashSet::default(),
            type_cache: FxHashMap::default(),
            capturing: false,
            entry_is_called: false,
            making: Making::default(),
            recording: Recording::default(),
        }
    }

    pub fn push_frame(&mut self, module: ModuleId, function: Option<FunctionId>, env: TypeEnv, call: Option<Site>) {
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
            guards: Vec::new(),
            guards_outside: 0,
            first_rounds: Vec::new(),
        });
    }

    /// Something is done that outlasts the walk of the function around, or looked at that others make.
    pub const fn leave_trace(&mut self) {
        self.recording.traces += 1;
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
            origin: Origin::Local,
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
                let q = self.atoms.fresh(name, crate::quantity::AtomKind::Opaque);
                Val::typed(q, *bytes, *signed)
            }
            Ty::Int { bytes, signed } => Val::typed(Quantity::Unknown, *bytes, *signed),
            _ => Val::unknown(),
        }
    }

    /// A value that may be used on this path.
    pub fn admit(&self, val: Val) -> Val {
        if val.why.is_some() && self.path.excludes(&val.why) { Val::from(Kind::Unknown) } else { val }
    }
}
