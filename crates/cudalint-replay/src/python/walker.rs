//! The state of a walk over Python host code, and the look-ups that all of its parts use.

use super::heap::{Obj, Scope};
use super::value::{Kind, Open, Val};
use crate::facts::{PythonFault, Site};
use crate::host::{Budget, Common, Flow, Frame, ObjId, Paths, ProjectScan, ReplayOptions, Store};
use crate::quantity::Quantity;
use cudalint_kernel::python::{Part, Specialization};
use cudalint_kernel::readings::{self, Use};
use cudalint_program::ir::{ExprId, Function, FunctionId, LocalId, ModuleId};
use cudalint_program::{Name, Project};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

/// How deep expressions and statements may nest, over all frames.
const MAX_DEPTH: u32 = 180;
/// What a frame holds beside what those of all languages do.
#[derive(Debug)]
pub(super) struct Local {
    /// Its variables.
    pub scope: ObjId,
    /// How many `try` bodies stand around.
    pub tries: u32,
}

/// A walk of one module.
pub(super) struct Walker<'p> {
    pub(super) common: Common<'p, Local, Obj, Val>,
    pub heap: Store<Obj>,
    pub faults: Vec<(ModuleId, PythonFault)>,
    /// What variables get their values from, by function.
    pub definitions: RefCell<FxHashMap<(ModuleId, FunctionId), Definitions>>,
    /// Variables of modules.
    pub modules: FxHashMap<ModuleId, ObjId>,
    /// Names that functions of a module declare `global` or `nonlocal`.
    pub outer_names: FxHashMap<ModuleId, Rc<[Name]>>,
    /// Modules of the project whose code has been run.
    pub loaded: FxHashSet<ModuleId>,
    /// Whether the code of the entered module runs as the program.
    pub as_main: bool,
    pub visited: FxHashSet<(ModuleId, FunctionId)>,
    /// Functions that took more steps than a call may have: what they do is out of sight.
    pub costly: FxHashSet<(ModuleId, FunctionId)>,
    pub opens: u32,
    /// Numbers asked of unknown values: their sizes, extents, attributes.
    pub asked: FxHashMap<(u32, String), Val>,
    /// What stood on the right of the comparison evaluated last, with its value.
    pub compared: Option<(ExprId, Val)>,
    /// Classes whose bodies are walked, each with the number of frames there.
    pub class_bodies: Vec<(usize, u32)>,
    /// Unknown values that were used as integers.
    pub integers: FxHashSet<u32>,
    /// Counts calls out of sight: attributes of unknown values may differ after one.
    pub epoch: u32,
    /// Whether an expression raised an exception for sure.
    pub raised: bool,
    /// Names that are no locals, by module: whether nothing binds them.
    pub unbound: FxHashMap<(ModuleId, Name), bool>,
    /// Modules, with whether all that binds names in them is written there.
    pub open_books: FxHashMap<ModuleId, bool>,
    pub writes: FxHashMap<(ModuleId, FunctionId), Rc<Vec<Use>>>,
    /// Structured types, by number.
    pub records: Vec<Arc<cudalint_kernel::python::Record>>,
    /// What small arrays of the host were made of: they may pack arguments of a launch.
    pub packs: FxHashMap<ObjId, Rc<[Val]>>,
}

impl<'p> Walker<'p> {
    pub fn new(project: &'p Project, scan: &'p ProjectScan, entry: ModuleId, options: ReplayOptions) -> Self {
        Self {
            common: Common::new(project, scan, entry, options, Budget::new(0, MAX_DEPTH)),
            heap: Store::default(),
            faults: Vec::new(),
            definitions: RefCell::default(),
            modules: FxHashMap::default(),
            outer_names: FxHashMap::default(),
            loaded: FxHashSet::default(),
            as_main: false,
            visited: FxHashSet::default(),
            costly: FxHashSet::default(),
            opens: 0,
            asked: FxHashMap::default(),
            compared: None,
            class_bodies: Vec::new(),
            integers: FxHashSet::default(),
            epoch: 0,
            raised: false,
            unbound: FxHashMap::default(),
            open_books: FxHashMap::default(),
            writes: FxHashMap::default(),
            records: Vec::new(),
            packs: FxHashMap::default(),
        }
    }

    pub fn new_scope(&mut self, module: ModuleId, function: &Function, parent: Option<ObjId>) -> ObjId {
        if function.python.as_ref().is_some_and(|python| python.is_module) {
            return self.module_scope(module);
        }
        let names = function.locals.iter().map(|variable| variable.name.clone()).collect();
        let slots = vec![Val::from(Kind::Unset); function.locals.len()];
        self.heap.add(Obj::Scope(Scope { parent, slots, names, globals: BTreeMap::new() }))
    }

    /// The variables of a module.
    pub fn module_scope(&mut self, module: ModuleId) -> ObjId {
        if let Some(scope) = self.modules.get(&module) {
            return *scope;
        }
        // A comprehension's variables at module level are locals of the module's code.
        let body = self.project.module(module).body.and_then(|id| self.project.function_at(module, id));
        let names: Rc<[_]> = body.map(|body| body.locals.iter().map(|v| v.name.clone()).collect()).unwrap_or_default();
        let slots = vec![Val::from(Kind::Unset); names.len()];
        let scope = self.heap.add(Obj::Scope(Scope { parent: None, slots, names, globals: BTreeMap::new() }));
        self.modules.insert(module, scope);
        scope
    }

    pub fn push(&mut self, module: ModuleId, function: FunctionId, scope: ObjId, call: Option<Site>) {
        self.enter(module, Some(function), call, Local { scope, tries: 0 });
    }

    /// Leaves the innermost function; what it gives back, over all ways out of it. `None` when it surely raises.
    pub fn leave(&mut self, flow: &Flow) -> Option<Val> {
        let base = self.frames.last()?.pending_base;
        let reached = *flow != Flow::Stop;
        let own = reached.then(|| self.take_returned(flow).unwrap_or_else(Val::none));
        let (_, others) = self.collect(base, reached, |flow| *flow == Flow::Return);
        self.pendings.truncate(base);
        self.frames.pop();
        let values = own.into_iter().chain(others.into_iter().flatten());
        values.reduce(|one, other| Val::join(&one, &other, None))
    }

    pub fn frame(&self) -> Option<&Frame<Local, Val>> {
        self.frames.last()
    }

    pub fn is_reporting(&self) -> bool {
        self.is_told()
    }

    /// An unknown value with an identity.
    pub fn open(&mut self, name: &str, free: bool) -> Val {
        let id = self.opens;
        self.opens += 1;
        Val::from(Kind::Open(Rc::new(Open { id, name: name.to_owned(), free, like: None })))
    }

    /// An unknown array as large as another.
    pub fn open_like(&mut self, open: &Rc<Open>) -> Val {
        let id = self.opens;
        self.opens += 1;
        let root = open.like.clone().unwrap_or_else(|| Rc::clone(open));
        let (name, free) = (open.name.clone(), open.free);
        Val::from(Kind::Open(Rc::new(Open { id, name, free, like: Some(root) })))
    }

    /// What code out of sight gives back.
    pub fn result_of(&mut self, id: ExprId) -> Val {
        const LONGEST: usize = 32;
        let text = self.text(id);
        let name = if text.len() <= LONGEST && !text.contains('\n') { text } else { "a value out of sight" };
        self.open(name, false)
    }

    /// A number asked of an unknown value, the same each time.
    pub fn asked(&mut self, open: &Open, what: &str) -> Val {
        if let Some(root) = open.like.as_ref().filter(|_| what.starts_with(".s")) {
            return self.asked(&Rc::clone(root), what);
        }
        let key = (open.id, what.to_owned());
        if let Some(known) = self.asked.get(&key) {
            return known.clone();
        }
        let kind = if open.free { crate::quantity::AtomKind::Input } else { crate::quantity::AtomKind::Opaque };
        let name = format!("{}{what}", open.name);
        let value = Val::from(Kind::Int(self.atoms.fresh(&name, kind)));
        self.asked.insert(key, value.clone());
        value
    }

    /// A value as an integer, an unknown one as a symbol: for places where nothing else works.
    pub fn as_int(&mut self, value: &Val) -> Option<Quantity> {
        match &value.kind {
            Kind::Open(open) => {
                let open = Rc::clone(open);
                self.integers.insert(open.id);
                self.asked(&open, "").quantity()
            }
            _ => value.quantity(),
        }
    }

    /// What becomes of the memory behind a kernel's parameters, one for each.
    pub fn uses(&mut self, (module, id): (ModuleId, FunctionId), made: &Specialization) -> Rc<Vec<Use>> {
        if let Some(known) = self.writes.get(&(module, id)) {
            return Rc::clone(known);
        }
        let mut uses: Vec<Option<Use>> = vec![None; made.arguments.len()];
        if let Some(code) = cudalint_kernel::lower_python(self.project, module, id, made) {
            for ((of, part), usage) in code.arguments.iter().zip(readings::uses::uses(&code)) {
                if let (Part::Data, Some(slot)) = (part, uses.get_mut(*of)) {
                    *slot = Some(usage);
                }
            }
        }
        let uses = Rc::new(uses.into_iter().map(|usage| usage.unwrap_or_else(out_of_sight)).collect());
        self.writes.insert((module, id), Rc::clone(&uses));
        uses
    }
}

impl<'p> Deref for Walker<'p> {
    type Target = Common<'p, Local, Obj, Val>;

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
    type Object = Obj;
    type Returned = Val;

    fn store(&mut self) -> &mut Store<Obj> {
        &mut self.heap
    }

    fn is_dead(&self, flow: &Flow) -> bool {
        *flow == Flow::Stop
    }
}

/// What may become of memory where nobody sees it.
pub(super) fn out_of_sight() -> Use {
    Use { escapes: true, ..Use::default() }
}

/// A variable as it is named in a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Variable {
    Local(LocalId),
    Global(Arc<[Name]>),
}

/// What each variable of a function gets its value from; none where that stands in several places.
pub(super) type Definitions = FxHashMap<Variable, Option<ExprId>>;
