//! The state of a walk over C++ host code, and the look-ups that all of its parts use.

use super::caches::Caches;
use super::entered::Entered;
use super::made::{Born, Lifetimes};
use super::out::Out;
use super::recorded::Recording;
use super::started::Timeline;
use crate::facts::{MemorySpace, NeverRun, Origin, Question, Site};
use crate::host::{self, Budget, Common, Flow, ObjId, Paths, ProjectScan, ReplayOptions, Store};
use crate::memory::{Freed, Memory, Object, ObjectInfo, Place};
use crate::quantity::{AtomKind, Quantity};
use crate::value::{Closure, Kind, Val};
use cudalint_program::ir::{ExprId, FunctionId, LocalId, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name, Project};
use cudalint_syntax::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::{Deref, DerefMut};
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

/// What is known of a `try` statement whose body is walked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Try {
    /// How many conditions in it that nothing decides had a side that throws.
    pub conditions: u32,
    /// Whether something is thrown in it, or in a function that it calls.
    pub throws: bool,
}

/// What a frame holds beside what those of all languages do.
#[derive(Debug, Default)]
pub(crate) struct Local {
    pub env: TypeEnv,
    pub slots: TiVec<LocalId, Slot>,
    pub this: Option<(Place, Ty)>,
    pub closure: Option<Rc<Closure>>,
    /// The arguments as expressions of the caller's module, by parameter.
    pub arguments: Vec<Option<ExprId>>,
    /// Labels passed.
    pub labels: Vec<Name>,
    /// How much CUDA had made where the first path jumped ahead.
    pub jumped: Option<usize>,
    /// Variables whose destructors will run at the end of their blocks, in the order of their declarations.
    pub guards: Vec<LocalId>,
    /// How many of them are outside of the loop or `switch` that a `break` leaves.
    pub guards_outside: usize,
    /// The `try` statements around.
    pub tries: Vec<Try>,
    /// Whether the path that has just ended was left by a `throw` inside of one.
    pub thrown: bool,
    /// What the loops around write whose first rounds are being walked.
    pub first_rounds: Vec<Vec<LocalId>>,
    /// Objects with lower numbers were there before it.
    pub first_object: u32,
}

/// A function being walked.
pub(crate) type Frame = host::Frame<Local, Out>;

/// An argument of the program as it is spelled, and whether it is read as a number with a sign. `atoi` and `strtol` read the
/// same number: whoever runs the program gives one that both can hold.
pub(super) type NumberSource<'p> = (&'p str, bool);

/// The object whose fields are being set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Making {
    /// How many records hold the one whose turn it is.
    pub depth: u32,
    /// Fields so far.
    pub fields: u32,
    /// How many constant members wait for the one whose turn it is.
    pub constants: u32,
    /// The innermost of these: its class, and its number there.
    pub constant: Option<(Entry, usize)>,
}

/// A walk from one entry function.
pub(crate) struct Walker<'p> {
    pub(super) common: Common<'p, Local, Object, Out>,
    pub memory: Memory,
    /// Above 0: nothing is reported, every branch is taken, and only what is written counts.
    pub dry: u32,
    /// A call that does not return was met in the current expression.
    pub ended: bool,
    /// The type of what was thrown last.
    pub(super) thrown_type: Ty,
    pub globals: FxHashMap<(ModuleId, u32), ObjId>,
    pub statics: FxHashMap<(ModuleId, FunctionId, u32), ObjId>,
    pub strides: FxHashMap<(ObjId, crate::memory::CellPath), i64>,
    /// What the values of variables were found out from, by calls that are not followed.
    pub(super) found_out: FxHashMap<ObjId, Vec<Question>>,
    /// Functions that were passed over so far, by name: what they write at namespace scope is not known, also where the walk comes to it later.
    pub(super) passed_over: FxHashSet<Name>,
    /// Whether the entry is `main`, so that globals have their initial values.
    pub from_main: bool,
    /// Code is missing here by the author's own words.
    pub elided: bool,
    /// What such code declares, as far as its uses say.
    pub(super) left_out: Vec<(Name, Out)>,
    /// Dynamic shared memory asked for by kernel.
    pub opt_in: FxHashMap<(ModuleId, FunctionId), Val>,
    pub any_opt_in: bool,
    pub unknown_opt_in: bool,
    /// The step count at which expensive loops stop being unrolled.
    pub iterations_left: u32,
    /// How many loops around run their first round by itself.
    pub loops_inside: u32,
    /// What the walks of one module find out about its code once.
    pub caches: Rc<Caches>,
    /// Functions walked to their ends from this entry.
    pub visited: FxHashSet<(ModuleId, FunctionId)>,
    /// Whether launches may be recorded to run later, when memory holds other things.
    pub capturing: bool,
    /// Which blocks of the entry have been run, and passed by.
    pub(super) entered: Entered,
    /// The stretches of the entry that nothing comes to, once it has been walked.
    pub never_run: Vec<NeverRun>,
    /// Whether project code in sight calls the entry function, so that its parameters are not free.
    pub entry_is_called: bool,
    /// Members behind parameters of the entry that are pointers.
    pub(super) handed: FxHashMap<(LocalId, Name), Quantity>,
    /// Names that nothing in sight declares, by the function that reads them, with the numbers that they stand for.
    pub(super) undeclared: FxHashMap<(ModuleId, Option<FunctionId>, Name), Quantity>,
    /// What arguments of the program say as numbers, with how often they were read: each is one number wherever it is read.
    pub(super) started_with: FxHashMap<NumberSource<'p>, (Quantity, u32)>,
    /// An argument that is being evaluated for a parameter that is a reference, or may be one.
    pub(super) bound_argument: Option<ExprId>,
    /// The access that naming it would have been: the whole, the pointer, and its value.
    pub(super) held_access: Option<(ExprId, ExprId, Out)>,
    /// The object whose fields are being set.
    pub(super) making: Making,
    /// What the walks of functions that may be recorded look at.
    pub(super) recording: Recording,
    /// Memory and handles that functions of CUDA have made.
    pub(super) lifetimes: Lifetimes,
    /// Work that has been started and not been waited for.
    pub(super) timeline: Timeline,
    /// Streams and events, as they were made.
    pub(super) born: FxHashMap<ObjId, Born>,
}

impl<'p> Walker<'p> {
    pub fn new(project: &'p Project, scan: &'p ProjectScan, entry: ModuleId, options: ReplayOptions) -> Self {
        Self {
            common: Common::new(project, scan, entry, options, Budget::new(options.steps_per_entry, MAX_DEPTH)),
            memory: Memory::default(),
            dry: 0,
            ended: false,
            thrown_type: Ty::Unknown,
            globals: FxHashMap::default(),
            statics: FxHashMap::default(),
            strides: FxHashMap::default(),
            found_out: FxHashMap::default(),
            passed_over: FxHashSet::default(),
            from_main: false,
            elided: false,
            left_out: Vec::new(),
            opt_in: FxHashMap::default(),
            any_opt_in: false,
            unknown_opt_in: false,
            iterations_left: 120,
            loops_inside: 0,
            caches: Rc::default(),
            visited: FxHashSet::default(),
            capturing: false,
            entered: Entered::default(),
            never_run: Vec::new(),
            entry_is_called: false,
            handed: FxHashMap::default(),
            undeclared: FxHashMap::default(),
            started_with: FxHashMap::default(),
            bound_argument: None,
            held_access: None,
            making: Making::default(),
            recording: Recording::default(),
            lifetimes: Lifetimes::default(),
            timeline: Timeline::default(),
            born: FxHashMap::default(),
        }
    }

    pub fn push_frame(&mut self, module: ModuleId, function: Option<FunctionId>, env: TypeEnv, call: Option<Site>) {
        let slots = function
            .and_then(|id| self.project.module(module).functions.get(id))
            .map_or(0, |function| function.locals.len());
        let slots = ti_vec![Slot::Unset; slots];
        let first_object = self.memory.count();
        self.enter(module, function, call, Local { env, slots, first_object, ..Local::default() });
    }

    /// Something is done that outlasts the walk of the function around, or looked at that others make.
    pub const fn leave_trace(&mut self) {
        self.recording.traces += 1;
    }

    pub fn text(&self, id: ExprId) -> String {
        self.common.text(id).to_owned()
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
    pub fn symbol_of(&mut self, name: &str, ty: &Ty, kind: AtomKind) -> Val {
        match ty.value() {
            Ty::Int { bytes, signed } if *bytes >= 4 => {
                let q = self.atoms.fresh(name, kind);
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

impl<'p> Deref for Walker<'p> {
    type Target = Common<'p, Local, Object, Out>;

    fn deref(&self) -> &Self::Target {
        &self.common
    }
}

impl DerefMut for Walker<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.common
    }
}

impl<'p> Paths<'p> for Walker<'p> {
    type Local = Local;
    type Object = Object;
    type Returned = Out;

    fn store(&mut self) -> &mut Store<Object> {
        &mut self.memory
    }

    fn is_dead(&self, flow: &Flow) -> bool {
        *flow == Flow::Stop || (*flow == Flow::Return && self.frames.len() == 1)
    }
}
