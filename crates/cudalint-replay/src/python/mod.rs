//! Python host code walked along its paths: what arrays there are, and which kernels are launched with which numbers.
//!
//! The code of a module runs first, as `python file.py` does; functions that it does not reach are entered with arguments
//! that nobody knows. Values are Python's: integers without bounds, arrays with shape and type, functions with the
//! variables around them. The result is the same events as of the walk of C++ host code.

#![allow(clippy::unused_self)] // Functions of one table have one form.

mod arrays;
mod assigned;
mod attributes;
mod builtins;
mod calls;
mod capture;
mod copies;
pub(crate) mod coverage;
mod creation;
mod cupy_bodies;
mod driver;
mod dtypes;
mod emit;
mod exprs;
mod faults;
mod gufuncs;
mod hand;
mod heap;
mod imports;
mod launches;
mod literals;
mod loops;
mod memory;
mod methods;
mod names;
mod native;
mod numba;
mod ops;
mod parameters;
mod pycuda;
mod records;
mod reductions;
pub(crate) mod status;
mod stmts;
pub(crate) mod summary;
mod ufuncs;
mod val;
mod writes;

use crate::arith::Atoms;
use crate::facts::{PythonFault, Site};
use crate::host::{Budget, EventLog, PathState, ProjectScan, ReplayOptions};
use crate::merge::Walked;
use crate::value::Quantity;
use cudalint_kernel::python::Specialization;
use cudalint_program::Project;
use cudalint_program::ir::{Expr, ExprId, ExprNode, Function, FunctionId, FunctionRole, Module, ModuleId};
use cudalint_syntax::Span;
use heap::{Heap, Instance, Obj, ObjId, Scope};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use val::{Kind, Open, Val};

/// How deep expressions and statements may nest, over all frames.
const MAX_DEPTH: u32 = 180;
/// How many objects one walk may make.
const MAX_OBJECTS: usize = 20_000;
/// The code of a module is long where that of a function is short.
const STEPS_OF_A_MODULE: u32 = 3;

/// A function being walked.
#[derive(Debug)]
struct Frame {
    module: ModuleId,
    function: FunctionId,
    /// Its variables.
    scope: ObjId,
    /// The call in the caller.
    call: Option<Site>,
    /// States in which it has been left, with what it gives back.
    returns: Vec<(Heap, Val)>,
    /// States in which the loops around have been left or begun anew: `break` and `continue` of each.
    loops: Vec<[Vec<Heap>; 2]>,
    /// How many `try` bodies stand around.
    tries: u32,
    /// How many conditions that nothing decides stand around the current point, or have been left early.
    undecided: u32,
}

/// How control goes on behind a statement.
#[derive(Clone, Debug)]
enum Flow {
    Next,
    Return(Val),
    Break,
    Continue,
    Raise,
}

/// A walk of one module.
struct Walker<'p> {
    project: &'p Project,
    scan: &'p ProjectScan,
    options: ReplayOptions,
    heap: Heap,
    atoms: Atoms,
    frames: Vec<Frame>,
    faults: Vec<(ModuleId, PythonFault)>,
    budget: Budget,
    log: EventLog,
    path: PathState,
    /// Variables of modules.
    modules: FxHashMap<ModuleId, ObjId>,
    /// Modules of the project whose code has been run.
    loaded: FxHashSet<ModuleId>,
    /// Whether the code of the entered module runs as the program.
    as_main: bool,
    entry: ModuleId,
    visited: FxHashSet<(ModuleId, FunctionId)>,
    /// Functions that took more steps than a call may have: what they do is out of sight.
    costly: FxHashSet<(ModuleId, FunctionId)>,
    opens: u32,
    /// Numbers asked of unknown values: their sizes, extents, attributes.
    asked: FxHashMap<(u32, String), Val>,
    /// Unknown values that were used as integers.
    integers: FxHashSet<u32>,
    /// Counts calls out of sight: attributes of unknown values may differ after one.
    epoch: u32,
    /// Whether an expression raised an exception for sure.
    raised: bool,
    summaries: FxHashMap<(ModuleId, FunctionId), Vec<summary::Known>>,
    writes: FxHashMap<(ModuleId, FunctionId), Rc<Vec<writes::Use>>>,
    /// Structured types, by number.
    records: Vec<Arc<cudalint_kernel::python::Record>>,
    /// What small arrays of the host were made of: they may pack arguments of a launch.
    packs: FxHashMap<ObjId, Rc<[Val]>>,
}

/// Walks a Python module.
pub(crate) fn walk_module(project: &Project, scan: &ProjectScan, id: ModuleId, options: ReplayOptions) -> Walked {
    let module = project.module(id);
    let Some(body) = module.body else { return Walked::default() };
    let mut walker = Walker::new(project, scan, id, options);
    let two_ways = project.source(id).contains("__name__");
    // As it is when it is imported: what functions find when somebody calls them.
    walker.as_main = !two_ways;
    walker.log.muted = u32::from(two_ways);
    walker.budget.steps = options.steps_per_entry.saturating_mul(STEPS_OF_A_MODULE);
    walker.run_entry(id, body);
    let imported = (walker.heap.clone(), walker.modules.clone());
    if two_ways {
        walker.log.muted = 0;
        walker.visited.clear();
        walker.modules.clear();
        walker.loaded.clear();
        walker.asked.clear();
        walker.as_main = true;
        walker.budget.steps = options.steps_per_entry.saturating_mul(STEPS_OF_A_MODULE);
        walker.run_entry(id, body);
    }
    walker.as_main = false;
    for (index, function) in module.functions.iter().enumerate() {
        let entry = FunctionId(index as u32);
        if !is_entry(function) || walker.visited.contains(&(id, entry)) {
            continue;
        }
        // The state is that behind the imports.
        walker.heap = imported.0.clone();
        walker.modules.clone_from(&imported.1);
        walker.asked.clear();
        walker.integers.clear();
        walker.budget.steps = options.steps_per_entry;
        walker.forget_declared_globals(id, entry);
        walker.run_entry(id, entry);
        if walker.heap.len() > MAX_OBJECTS {
            break;
        }
    }
    walker.heap = imported.0;
    walker.modules = imported.1;
    let kernels = walker.own_kernels(id);
    Walked {
        events: walker.log.events,
        limits: walker.budget.limits.into_iter().collect(),
        faults: walker.faults,
        kernels,
    }
}

/// Whether a function is one that somebody out of sight may call with arguments that nobody knows.
fn is_entry(function: &Function) -> bool {
    let Some(python) = &function.python else { return false };
    function.body.is_some()
        && !python.is_module
        && python.kernel.is_none()
        && function.role != FunctionRole::Lambda
        // The variables around it are not known.
        && function.parent.is_none()
}

impl<'p> Walker<'p> {
    fn new(project: &'p Project, scan: &'p ProjectScan, entry: ModuleId, options: ReplayOptions) -> Self {
        Self {
            project,
            scan,
            options,
            heap: Heap::default(),
            atoms: Atoms::default(),
            frames: Vec::new(),
            faults: Vec::new(),
            budget: Budget::new(0, MAX_DEPTH),
            log: EventLog::default(),
            path: PathState::default(),
            modules: FxHashMap::default(),
            loaded: FxHashSet::default(),
            as_main: false,
            entry,
            visited: FxHashSet::default(),
            costly: FxHashSet::default(),
            opens: 0,
            asked: FxHashMap::default(),
            integers: FxHashSet::default(),
            epoch: 0,
            raised: false,
            summaries: FxHashMap::default(),
            writes: FxHashMap::default(),
            records: Vec::new(),
            packs: FxHashMap::default(),
        }
    }

    /// Walks a function as an entry.
    fn run_entry(&mut self, module: ModuleId, id: FunctionId) {
        self.budget.restart();
        self.path.unlearn(0);
        self.frames.clear();
        self.raised = false;
        let Some(function) = self.project.function_at(module, id) else { return };
        let Some(body) = &function.body else { return };
        let is_module = function.python.as_ref().is_some_and(|python| python.is_module);
        let before = self.heap.len();
        if is_module {
            self.loaded.insert(module);
        }
        let scope = self.new_scope(module, function, None);
        self.push(module, id, scope, None);
        if !is_module {
            self.bind_unknown(module, function, scope);
        }
        let flow = self.block(body);
        if let Some(result) = self.leave(flow) {
            self.lose(&result);
        }
        self.uncollected(before, (module, id));
        self.visited.insert((module, id));
        self.budget.finish();
        self.frames.clear();
        self.path.unlearn(0);
    }

    /// The kernels of a module with the types that they are made for, and what they take from the module.
    fn own_kernels(&mut self, id: ModuleId) -> Vec<(FunctionId, Arc<Specialization>)> {
        let mut found = Vec::new();
        self.log.muted = 1;
        for (index, function) in self.project.module(id).functions.iter().enumerate() {
            let Some(kernel) = function.python.as_ref().and_then(|python| python.kernel.as_ref()) else { continue };
            if kernel.device || function.body.is_none() {
                continue;
            }
            let function = FunctionId(index as u32);
            let closure = val::Closure { module: id, function, scope: None };
            let arguments = summary::guessed(self.project, (id, function));
            let captured = self.captured_by(&closure);
            found.push((function, Arc::new(Specialization { dialect: kernel.dialect, arguments, captured })));
        }
        found
    }

    /// Parameters that whoever calls chooses.
    fn bind_unknown(&mut self, module: ModuleId, function: &Function, scope: ObjId) {
        let called = self.scan.traits.is_mentioned(&function.name);
        let is_method = matches!(function.role, FunctionRole::Method | FunctionRole::Constructor)
            && !function.scope.segments.is_empty();
        for (index, variable) in function.params().iter().enumerate() {
            let python = function.python.as_deref();
            let starred = python.is_some_and(|python| {
                [python.rest, python.keywords].contains(&Some(cudalint_program::ir::LocalId(index as u32)))
            });
            let value = if index == 0 && is_method {
                let class = self.class_of(module, function).map(|record| (module, record));
                let instance = Instance { class, attributes: BTreeMap::new(), open: true };
                Val::from(Kind::Instance(self.heap.add(Obj::Instance(instance))))
            } else if starred {
                Val::unknown()
            } else {
                self.open(variable.name.as_str(), !called)
            };
            if let Some(scope) = self.heap.scope_mut(scope)
                && let Some(slot) = scope.slots.get_mut(index)
            {
                *slot = value;
            }
        }
    }

    /// Variables of the module that other functions assign: any of them may have run before.
    fn forget_declared_globals(&mut self, module: ModuleId, entry: FunctionId) {
        let Some(scope) = self.modules.get(&module).copied() else { return };
        let declared: Vec<_> = self
            .project
            .module(module)
            .functions
            .iter()
            .enumerate()
            .filter(|(index, function)| function.parent.is_none() && *index != entry.index())
            .filter_map(|(_, function)| function.python.as_deref())
            .flat_map(|python| python.outer.iter().cloned())
            .collect();
        if let Some(scope) = self.heap.scope_mut(scope) {
            for name in declared {
                if let Some((value, _)) = scope.globals.get_mut(&name) {
                    *value = Val::unknown();
                }
            }
        }
    }

    fn new_scope(&mut self, module: ModuleId, function: &Function, parent: Option<ObjId>) -> ObjId {
        if function.python.as_ref().is_some_and(|python| python.is_module) {
            return self.module_scope(module);
        }
        let names = function.locals.iter().map(|variable| variable.name.clone()).collect();
        let slots = vec![Val::from(Kind::Unset); function.locals.len()];
        self.heap.add(Obj::Scope(Scope { parent, slots, names, globals: BTreeMap::new() }))
    }

    /// The variables of a module.
    fn module_scope(&mut self, module: ModuleId) -> ObjId {
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

    fn push(&mut self, module: ModuleId, function: FunctionId, scope: ObjId, call: Option<Site>) {
        self.frames.push(Frame {
            module,
            function,
            scope,
            call,
            returns: Vec::new(),
            loops: Vec::new(),
            tries: 0,
            undecided: 0,
        });
    }

    /// Leaves the innermost function; what it gives back, over all ways out of it. `None` when it surely raises.
    fn leave(&mut self, flow: Flow) -> Option<Val> {
        let frame = self.frames.pop()?;
        let mut returns = frame.returns;
        let last = match flow {
            Flow::Return(value) => Some(value),
            Flow::Next | Flow::Break | Flow::Continue => Some(Val::none()),
            Flow::Raise => None,
        };
        let mut result = match last {
            Some(value) => value,
            None => {
                let (heap, value) = returns.pop()?;
                self.heap.restore(&heap);
                value
            }
        };
        while let Some((heap, value)) = returns.pop() {
            self.heap.join(&heap, None);
            result = Val::join(&result, &value, None);
        }
        Some(result)
    }

    fn frame(&self) -> Option<&Frame> {
        self.frames.last()
    }

    fn module_id(&self) -> ModuleId {
        self.frames.last().map_or(self.entry, |frame| frame.module)
    }

    fn module(&self) -> &'p Module {
        self.project.module(self.module_id())
    }

    fn function(&self) -> Option<&'p Function> {
        let frame = self.frames.last()?;
        self.project.function_at(frame.module, frame.function)
    }

    fn node(&self, id: ExprId) -> Option<&'p ExprNode> {
        self.module().exprs.get(id)
    }

    fn kind(&self, id: ExprId) -> Option<&'p Expr> {
        self.node(id).map(|node| &node.kind)
    }

    fn span(&self, id: ExprId) -> Span {
        self.node(id).map(|node| node.span).unwrap_or_default()
    }

    fn text(&self, id: ExprId) -> &'p str {
        self.project.text(self.module_id(), self.span(id))
    }

    fn site(&self, id: ExprId) -> Site {
        Site { module: self.module_id(), span: self.span(id) }
    }

    fn is_reporting(&self) -> bool {
        self.log.muted == 0 && self.budget.stopped.is_none()
    }

    /// An unknown value with an identity.
    fn open(&mut self, name: &str, free: bool) -> Val {
        let id = self.opens;
        self.opens += 1;
        Val::from(Kind::Open(Rc::new(Open { id, name: name.to_owned(), free, like: None })))
    }

    /// An unknown array as large as another.
    fn open_like(&mut self, open: &Rc<Open>) -> Val {
        let id = self.opens;
        self.opens += 1;
        let root = open.like.clone().unwrap_or_else(|| Rc::clone(open));
        let (name, free) = (open.name.clone(), open.free);
        Val::from(Kind::Open(Rc::new(Open { id, name, free, like: Some(root) })))
    }

    /// What code out of sight gives back.
    fn result_of(&mut self, id: ExprId) -> Val {
        const LONGEST: usize = 32;
        let text = self.text(id);
        let name = if text.len() <= LONGEST && !text.contains('\n') { text } else { "a value out of sight" };
        self.open(name, false)
    }

    /// A number asked of an unknown value, the same each time.
    fn asked(&mut self, open: &Open, what: &str) -> Val {
        if let Some(root) = open.like.as_ref().filter(|_| what.starts_with(".s")) {
            return self.asked(&Rc::clone(root), what);
        }
        let key = (open.id, what.to_owned());
        if let Some(known) = self.asked.get(&key) {
            return known.clone();
        }
        let kind = if open.free { crate::algebra::AtomKind::Input } else { crate::algebra::AtomKind::Opaque };
        let name = format!("{}{what}", open.name);
        let value = Val::from(Kind::Int(self.atoms.fresh(&name, kind)));
        self.asked.insert(key, value.clone());
        value
    }

    /// A value as an integer, an unknown one as a symbol: for places where nothing else works.
    fn as_int(&mut self, value: &Val) -> Option<Quantity> {
        match &value.kind {
            Kind::Open(open) => {
                let open = Rc::clone(open);
                self.integers.insert(open.id);
                self.asked(&open, "").quantity()
            }
            _ => value.quantity(),
        }
    }
}
