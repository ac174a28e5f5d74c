//! Calls: of functions and classes of the project, and of everything else by what it is.

use super::Walker;
use super::attributes::class_key;
use super::heap::{Instance, Obj};
use super::value::{Closure, Kernel, Kind, Val};
use crate::facts::Site;
use crate::host::ObjId;
use crate::host::{MAX_FRAMES, OUT_OF_STEPS};
use cudalint_program::Name;
use cudalint_program::ir::{
    Dialect, Expr, ExprId, Function, FunctionId, LocalId, ModuleId, PythonExpr, Type, Variable,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Arguments of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Args {
    pub positional: Vec<Val>,
    pub keywords: Vec<(Name, Val)>,
    /// The expressions of the positional ones; fewer where something was spread.
    pub exprs: Vec<ExprId>,
    /// The expressions of the keywords.
    pub keyword_exprs: Vec<ExprId>,
    /// Whether something was spread whose elements are not known.
    pub open: bool,
}

impl Args {
    /// An argument by its position or its name.
    pub fn get(&self, position: usize, name: &str) -> Option<&Val> {
        self.named(name).or_else(|| self.positional.get(position))
    }

    pub fn named(&self, name: &str) -> Option<&Val> {
        self.keywords.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// An argument by its name, unless it is `None`.
    pub fn given(&self, name: &str) -> Option<&Val> {
        self.named(name).filter(|value| !matches!(value.kind, Kind::None))
    }

    /// The positional ones with their expressions.
    pub fn with_exprs(&self) -> Vec<(Val, Option<ExprId>)> {
        self.positional.iter().enumerate().map(|(at, value)| (value.clone(), self.exprs.get(at).copied())).collect()
    }

    /// The expression of an argument.
    pub fn expr(&self, position: usize, name: &str) -> Option<ExprId> {
        match self.keywords.iter().position(|(known, _)| known == name) {
            Some(index) => self.keyword_exprs.get(index).copied(),
            None => self.exprs.get(position).copied(),
        }
    }
}

impl Walker<'_> {
    pub(super) fn call(&mut self, id: ExprId, callee: ExprId, args: &[ExprId]) -> Val {
        let function = self.eval(callee);
        let args = self.arguments(args);
        // `import time`, `time()`: a `TypeError`.
        self.raised |= is_module(&function);
        // An exception on the way: nothing is called.
        if self.raised {
            return Val::unknown();
        }
        self.call_value(id, &function, callee, args)
    }

    pub(super) fn arguments(&mut self, args: &[ExprId]) -> Args {
        let mut all = Args::default();
        for arg in args {
            match self.kind(*arg) {
                Some(Expr::Python(python)) => match &**python {
                    PythonExpr::Keyword(name, value) => {
                        let evaluated = self.eval(*value);
                        all.keywords.push((name.clone(), evaluated));
                        all.keyword_exprs.push(*value);
                    }
                    PythonExpr::Spread { value, keywords: false } => {
                        let evaluated = self.eval(*value);
                        match self.items(&evaluated) {
                            Some(items) => {
                                all.exprs.extend(items.iter().map(|_| *value));
                                all.positional.extend(items);
                            }
                            None => all.open = true,
                        }
                    }
                    PythonExpr::Spread { value, keywords: true } => {
                        let evaluated = self.eval(*value);
                        match &evaluated.kind {
                            Kind::Dict(id) => match self.heap.get(*id) {
                                Obj::Dict(Some(entries)) => {
                                    let entries = entries.clone();
                                    for (key, item) in entries {
                                        if let Some(key) = key.str() {
                                            all.keywords.push((Name::from(key), item));
                                            all.keyword_exprs.push(*value);
                                        }
                                    }
                                }
                                _ => all.open = true,
                            },
                            _ => all.open = true,
                        }
                    }
                    _ => {
                        let value = self.eval(*arg);
                        all.positional.push(value);
                        all.exprs.push(*arg);
                    }
                },
                _ => {
                    let value = self.eval(*arg);
                    all.positional.push(value);
                    all.exprs.push(*arg);
                }
            }
        }
        all
    }

    /// Calls a value.
    pub(super) fn call_value(&mut self, id: ExprId, function: &Val, callee: ExprId, args: Args) -> Val {
        match &function.kind {
            Kind::Function(closure) => {
                let closure = Rc::clone(closure);
                self.call_function(id, &closure, None, args)
            }
            Kind::Bound(bound) => {
                let (receiver, closure) = (bound.0.clone(), Rc::clone(&bound.1));
                self.call_function(id, &closure, Some(receiver), args)
            }
            Kind::Class(module, record) => self.construct(id, *module, *record, args),
            Kind::Instance(object) => match self.method_of(*object, &Name::from("__call__")) {
                Some(closure) => self.call_function(id, &closure, Some(function.clone()), args),
                None => self.call_unknown(id, &args),
            },
            Kind::Package(path) => {
                let path = Rc::clone(path);
                self.call_package(id, &path, &args)
            }
            Kind::Dtype(dtype) => self.scalar(*dtype, &args),
            Kind::Attribute(attribute) => {
                let attribute = Rc::clone(attribute);
                self.call_method(id, &attribute.0, &attribute.1, &args)
            }
            Kind::Configured(configured) => {
                let configured = Rc::clone(configured);
                self.launch(id, &configured, &args);
                Val::none()
            }
            Kind::Native(native) => {
                let native = Rc::clone(native);
                if native.maker == super::value::Maker::CupyBody {
                    return self.call_cupy_body(id, &native, callee, &args);
                }
                self.call_native(id, &native, callee, &args);
                Val::none()
            }
            Kind::Kernel(kernel) => {
                let kernel = Rc::clone(kernel);
                self.call_kernel(id, &kernel, callee, &args)
            }
            Kind::Decorator(dialect, device) => {
                let (dialect, device) = (*dialect, *device);
                match args.positional.first() {
                    Some(Val { kind: Kind::Function(closure), .. }) => {
                        let closure = Rc::clone(closure);
                        self.make_kernel(closure, dialect, device)
                    }
                    _ => self.call_unknown(id, &args),
                }
            }
            _ => self.call_unknown(id, &args),
        }
    }

    /// A call of something that nobody knows.
    pub(super) fn call_unknown(&mut self, id: ExprId, args: &Args) -> Val {
        self.epoch += 1;
        for value in args.positional.iter().chain(args.keywords.iter().map(|(_, value)| value)) {
            self.lose(value);
        }
        self.result_of(id)
    }

    /// A value goes where it is not followed: what can be changed of it may be.
    pub(super) fn lose(&mut self, value: &Val) {
        self.lose_within(value, 0);
    }

    fn lose_within(&mut self, value: &Val, depth: u32) {
        if depth > 6 {
            return;
        }
        match &value.kind {
            Kind::Array(array) => {
                let buffer = array.buffer;
                self.wrote(buffer);
                self.fetched(buffer);
            }
            Kind::Memory(buffer, _) => {
                self.wrote(*buffer);
                self.fetched(*buffer);
            }
            Kind::List(id) => {
                if let Obj::List(items) = self.heap.get_mut(*id) {
                    let items = items.take();
                    for item in items.into_iter().flatten() {
                        self.lose_within(&item, depth + 1);
                    }
                }
            }
            Kind::Dict(id) => {
                if let Obj::Dict(entries) = self.heap.get_mut(*id) {
                    let entries = entries.take();
                    for (_, item) in entries.into_iter().flatten() {
                        self.lose_within(&item, depth + 1);
                    }
                }
            }
            Kind::Instance(id) => {
                if let Obj::Instance(instance) = self.heap.get_mut(*id) {
                    instance.open = true;
                    let old = std::mem::take(&mut instance.attributes);
                    for item in old.into_values() {
                        self.lose_within(&item, depth + 1);
                    }
                }
            }
            Kind::Tuple(items) => items.iter().for_each(|item| self.lose_within(item, depth + 1)),
            Kind::Transfer(_, inner) => self.lose_within(&inner.clone(), depth + 1),
            // `a.ctypes`, `a.copy_to_host`.
            Kind::Attribute(attribute) => self.lose_within(&attribute.0.clone(), depth + 1),
            _ => {}
        }
    }

    fn call_function(&mut self, id: ExprId, closure: &Closure, receiver: Option<Val>, args: Args) -> Val {
        let Some(function) = self.project.function_at(closure.module, closure.function) else {
            return self.call_unknown(id, &args);
        };
        let Some(body) = &function.body else { return self.call_unknown(id, &args) };
        if !fits(function, receiver.is_some(), &args) {
            // `TypeError`
            self.raised = true;
            return Val::unknown();
        }
        let generator = function.python.as_ref().is_some_and(|python| python.is_generator);
        let recursive = self.entered(closure.module, closure.function);
        let key = (closure.module, closure.function);
        // A function that calls itself with what nobody knows does the same again.
        let known =
            |value: &Val| !matches!(value.kind, Kind::Unknown | Kind::Unset | Kind::Open(_) | Kind::Instance(_));
        let again = recursive > 2 || recursive > 0 && !args.positional.iter().any(known);
        if self.frames.len() >= MAX_FRAMES || again || generator || args.open || self.costly.contains(&key) {
            self.forget_globals_of(closure.module);
            return self.call_unknown(id, &args);
        }
        let spared = self.spare_steps();
        let start = self.heap.mark();
        let before = spared.map(|spared| (spared, receiver.clone(), args.clone()));
        let values = self.bind_arguments(closure, function, receiver, args);
        let scope = self.new_scope(closure.module, function, closure.scope);
        let call = self.expr_site(id);
        self.push(closure.module, closure.function, scope, Some(call));
        for (index, value) in values.into_iter().enumerate() {
            self.set_local(LocalId(index as u32), value);
        }
        let mark = self.path.known();
        let flow = self.block(body);
        let result = self.leave(&flow);
        self.path.unlearn(mark);
        if let Some((spared, receiver, args)) = before {
            let spent = self.budget.steps == 0 && self.budget.stopped == Some(OUT_OF_STEPS);
            self.budget.steps += spared;
            if spent {
                // Whatever it does from there on: the caller goes on.
                self.budget.stopped = None;
                self.raised = false;
                self.heap.undo(start);
                self.costly.insert(key);
                self.budget.cut("steps of a call in a host walk");
                if let Some(receiver) = receiver {
                    self.lose(&receiver);
                }
                self.forget_globals_of(closure.module);
                return self.call_unknown(id, &args);
            }
        }
        if self.budget.stopped.is_none() && self.log.muted == 0 {
            self.visited.insert((closure.module, closure.function));
        }
        match result {
            Some(value) => value,
            None => {
                self.raised = true;
                Val::unknown()
            }
        }
    }

    /// Keeps a part of the steps from a call; how many.
    fn spare_steps(&mut self) -> Option<u32> {
        const FEWEST: u32 = 400;
        let spared = (self.budget.steps >= FEWEST).then_some(self.budget.steps / 2)?;
        self.budget.steps -= spared;
        Some(spared)
    }

    /// What a function of a module that is not followed may assign.
    fn forget_globals_of(&mut self, module: ModuleId) {
        let Some(scope) = self.modules.get(&module).copied() else { return };
        // Asked for each call of a module whose functions stay the same.
        let project = self.project;
        let declared = Rc::clone(self.outer_names.entry(module).or_insert_with(|| {
            let functions = project.module(module).functions.iter();
            let functions = functions.filter_map(|function| function.python.as_deref());
            functions.flat_map(|python| python.outer.iter().cloned()).collect()
        }));
        // What is changed may be copied as a whole.
        if declared.is_empty() {
            return;
        }
        if let Some(scope) = self.heap.scope_mut(scope) {
            for name in &*declared {
                if let Some((value, _)) = scope.globals.get_mut(name) {
                    *value = Val::unknown();
                }
            }
        }
    }

    fn bind_arguments(
        &mut self,
        closure: &Closure,
        function: &Function,
        receiver: Option<Val>,
        args: Args,
    ) -> Vec<Val> {
        let python = function.python.as_deref();
        let count = function.param_count as usize;
        let (rest, keywords) = python.map_or((None, None), |python| (python.rest, python.keywords));
        let positional = python.map_or(count, |python| python.positional as usize);
        let given: Vec<Val> = receiver.into_iter().chain(args.positional).collect();
        let mut values: Vec<Option<Val>> = vec![None; count];
        for (slot, value) in values.iter_mut().zip(&given).take(positional) {
            *slot = Some(value.clone());
        }
        let surplus: Vec<Val> = given.into_iter().skip(positional).collect();
        if let Some(slot) = rest.and_then(|rest| values.get_mut(rest.index())) {
            *slot = Some(Val::tuple(surplus));
        }
        let mut others = Vec::new();
        for (name, value) in args.keywords {
            let at = (0..count).find(|index| {
                function.locals[LocalId::from(*index)].name == name
                    && Some(LocalId(*index as u32)) != rest
                    && Some(LocalId(*index as u32)) != keywords
            });
            match at.and_then(|at| values.get_mut(at)) {
                Some(slot) => *slot = Some(value),
                None => others.push((Val::text(&name), value)),
            }
        }
        if let Some(at) = keywords {
            let dict = Val::from(Kind::Dict(self.heap.add(Obj::Dict(Some(others)))));
            if let Some(slot) = values.get_mut(at.index()) {
                *slot = Some(dict);
            }
        }
        values
            .into_iter()
            .enumerate()
            .map(|(index, value)| match (value, function.locals[LocalId::from(index)].init) {
                (Some(value), _) => value,
                (None, Some(default)) => {
                    let local = LocalId::from(index);
                    let known = closure.defaults.as_ref().and_then(|all| all.iter().find(|(of, _)| *of == local));
                    known.map_or_else(|| self.default_of(closure, default), |(_, value)| value.clone())
                }
                (None, None) => Val::unknown(),
            })
            .collect()
    }

    /// `def`: a function comes into being, and its decorators have their way with it.
    pub(super) fn define(&mut self, id: FunctionId) {
        let module = self.module_id();
        let Some(function) = self.project.function_at(module, id) else { return };
        // Methods belong to their class.
        let is_method = !function.scope.segments.is_empty()
            && function.parent.is_none()
            && self.class_of(module, function).is_some();
        if is_method {
            return;
        }
        let scope = self.closure(id).scope;
        let value = self.function_value(module, id, scope);
        let site = Site { module, span: function.name_span };
        let name = function.name.clone();
        self.bind(&name, value, site);
    }

    /// The value that a definition binds.
    pub(super) fn function_value(&mut self, module: ModuleId, id: FunctionId, scope: Option<ObjId>) -> Val {
        let Some(function) = self.project.function_at(module, id) else { return Val::unknown() };
        // What is defined further down, or elsewhere, has its defaults evaluated when it is called.
        let defaults = if module == self.module_id() { self.defaults(module, id) } else { None };
        let closure = Rc::new(Closure { module, function: id, scope, defaults });
        let Some(python) = function.python.as_deref() else { return Val::unknown() };
        // What a call elsewhere compiles stays a plain function.
        if let Some(kernel) = python.kernel.as_ref().filter(|kernel| python.decorators.contains(&kernel.expr)) {
            return self.make_kernel(closure, kernel.dialect, kernel.device);
        }
        let mut value = Val::from(Kind::Function(closure));
        for decorator in python.decorators.iter().rev() {
            if module != self.module_id() {
                break;
            }
            let with = self.eval(*decorator);
            value = match &with.kind {
                Kind::Decorator(dialect, device) => match &value.kind {
                    Kind::Function(closure) => {
                        let (closure, dialect, device) = (Rc::clone(closure), *dialect, *device);
                        self.make_kernel(closure, dialect, device)
                    }
                    _ => value,
                },
                Kind::Function(_) => {
                    let args = Args { positional: vec![value], ..Args::default() };
                    self.call_value(*decorator, &with, *decorator, args)
                }
                // `functools.wraps`, `pytest.mark…`, `staticmethod`: the function stays what it is.
                Kind::Package(path) if path.starts_with("contextlib.") => Val::unknown(),
                _ => value,
            };
        }
        value
    }

    pub(super) fn make_kernel(&mut self, closure: Rc<Closure>, dialect: Dialect, device: bool) -> Val {
        let state = self.heap.add(Obj::Kernel(Vec::new()));
        Val::from(Kind::Kernel(Rc::new(Kernel { closure, dialect, device, state })))
    }

    /// The class that a method belongs to.
    pub(super) fn class_of(&self, module: ModuleId, function: &Function) -> Option<u32> {
        let (name, scope) = function.scope.segments.split_last()?;
        let records = &self.project.module(module).records;
        let at = records.iter().position(|record| record.name == *name && *record.scope.segments == *scope)?;
        Some(at as u32)
    }

    fn construct(&mut self, id: ExprId, module: ModuleId, record: u32, args: Args) -> Val {
        let instance = Instance { class: Some((module, record)), attributes: BTreeMap::new(), open: false };
        let object = self.heap.add(Obj::Instance(instance));
        let value = Val::from(Kind::Instance(object));
        match self.method_of(object, &Name::from("__init__")) {
            Some(init) => {
                self.call_function(id, &init, Some(value.clone()), args);
            }
            None => {
                // Data classes, named tuples, bases out of sight.
                if let Obj::Instance(instance) = self.heap.get_mut(object) {
                    instance.open = true;
                }
            }
        }
        value
    }

    /// A method of an object's class or of a base in sight.
    pub(super) fn method_of(&mut self, object: ObjId, name: &Name) -> Option<Rc<Closure>> {
        let Obj::Instance(Instance { class: Some((module, record)), .. }) = self.heap.get(object) else { return None };
        self.method(*module, *record, name, 0)
    }

    pub(super) fn method(&self, module: ModuleId, record: u32, name: &Name, depth: u32) -> Option<Rc<Closure>> {
        if depth > 6 {
            return None;
        }
        let found = self.project.module(module);
        let class = found.records.get(record as usize)?;
        // `C.method = function`.
        if let Some(other) = self.noted(module, &class_key(record, name)) {
            return match other.kind {
                Kind::Function(closure) => Some(closure),
                _ => None,
            };
        }
        let method = class
            .methods
            .iter()
            .rev()
            .find(|id| found.functions.get(**id).is_some_and(|function| function.name == *name));
        if let Some(method) = method {
            let defaults = self.noted_defaults(module, *method);
            return Some(Rc::new(Closure { module, function: *method, scope: None, defaults }));
        }
        class.bases.iter().find_map(|base| {
            let Some(Type::Named { path, .. }) = found.types.get(*base) else { return None };
            let name_of_base = path.last()?;
            let at = found.records.iter().position(|record| record.name == *name_of_base)?;
            self.method(module, at as u32, name, depth + 1)
        })
    }
}

/// Whether a function can be called with these arguments: no more by position than it takes, and none by a name that it does not have.
fn fits(function: &Function, has_receiver: bool, args: &Args) -> bool {
    let Some(python) = function.python.as_deref() else { return true };
    let named = |name: &Name| {
        function.params().iter().enumerate().any(|(index, parameter)| {
            let own = Some(LocalId(index as u32));
            parameter.name == *name && own != python.rest && own != python.keywords
        })
    };
    let by_position = usize::from(has_receiver) + args.positional.len();
    let is_missing = |(index, parameter): (usize, &Variable)| {
        let own = Some(LocalId(index as u32));
        let is_given = index < by_position.min(python.positional as usize)
            || args.keywords.iter().any(|(name, _)| parameter.name == *name);
        parameter.init.is_none() && own != python.rest && own != python.keywords && !is_given
    };
    // A method of a class may be given the class.
    let is_whole = has_receiver || function.scope.segments.is_empty();
    args.open
        || !(is_whole && function.params().iter().enumerate().any(is_missing))
            && (python.rest.is_some() || by_position <= python.positional as usize)
            && (python.keywords.is_some() || args.keywords.iter().all(|(name, _)| named(name)))
}

/// Whether a value is a module, of those that everybody knows for one. One of the project may have the name of what its package hands on.
fn is_module(value: &Val) -> bool {
    const MODULES: [&str; 16] = [
        "copy",
        "cupy",
        "datetime",
        "glob",
        "itertools",
        "json",
        "math",
        "numba",
        "numpy",
        "os",
        "pprint",
        "random",
        "sys",
        "time",
        "timeit",
        "torch",
    ];
    matches!(&value.kind, Kind::Package(path) if MODULES.contains(&&**path))
}
