//! Attributes and elements.

use super::Walker;
use super::heap::Obj;
use super::value::{Array, Dim, Dtype, Kind, Open, Val};
use crate::quantity::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, ModuleId};
use std::rc::Rc;

impl Walker<'_> {
    pub(super) fn attribute(&mut self, object: &Val, name: &Name, id: ExprId) -> Val {
        let later = || Val::from(Kind::Attribute(Rc::new((object.clone(), name.clone()))));
        if let Some(program) = self.program_attribute(object, name) {
            return program;
        }
        match &object.kind {
            Kind::Package(path) => self.of_package(path, name, id),
            Kind::Module(module) => self.of_module(*module, name),
            Kind::Instance(instance) => {
                let instance = *instance;
                self.of_instance(object, instance, name)
            }
            Kind::Class(module, record) => {
                let (module, record) = (*module, *record);
                if let Some(method) = self.method(module, record, name, 0) {
                    return self.method_value(method, None);
                }
                self.class_variable(module, record, name).unwrap_or_else(Val::unknown)
            }
            Kind::Array(array) => {
                let array = Rc::clone(array);
                self.of_array(&array, name, id).unwrap_or_else(later).because(&object.why)
            }
            Kind::Open(open) => {
                let open = Rc::clone(open);
                self.of_open(object, &open, name)
            }
            Kind::Dtype(dtype) => match name.as_str() {
                "itemsize" => dtype.bytes().map_or_else(Val::unknown, Val::int),
                "type" | "dtype" => object.clone(),
                "name" => Val::text(&dtype.name()),
                _ => later(),
            },
            Kind::Number(dtype, _) => match name.as_str() {
                "dtype" => Val::from(Kind::Dtype(*dtype)),
                "nbytes" | "itemsize" => dtype.bytes().map_or_else(Val::unknown, Val::int),
                _ => later(),
            },
            Kind::Range(range) => match name.as_str() {
                "start" => Val::from(Kind::Int(range[0].clone())),
                "stop" => Val::from(Kind::Int(range[1].clone())),
                _ => later(),
            },
            // A folder of `pathlib`, of which nobody knows the name.
            Kind::Str(_) if matches!(name.as_str(), "parent" | "parents") => Val::from(Kind::Str(Rc::default())),
            // A pointer as a number.
            Kind::Memory(..) if matches!(name.as_str(), "ptr" | "value" | "mem" | "device_ptr" | "handle") => {
                object.clone()
            }
            Kind::Attribute(of) if of.1 == "ctypes" && name == "data" => address_of(&of.0),
            Kind::Unknown | Kind::Unset => Val::unknown(),
            Kind::None => Val::unknown(),
            _ => later(),
        }
    }

    fn of_instance(&mut self, object: &Val, id: crate::host::ObjId, name: &Name) -> Val {
        if self.is_parser_method(object, name) {
            return Val::from(Kind::Attribute(Rc::new((object.clone(), name.clone()))));
        }
        let Obj::Instance(instance) = self.heap.get(id) else { return Val::unknown() };
        if let Some(value) = instance.attributes.get(name) {
            return value.clone();
        }
        let (open, class) = (instance.open, instance.class);
        if let Some(method) = self.method_of(id, name) {
            let property = self.is_property(&method);
            let value = self.method_value(method, Some(object.clone()));
            return if property { Val::unknown() } else { value };
        }
        if let Some((module, record)) = class
            && let Some(value) = self.class_variable(module, record, name)
        {
            return value;
        }
        if !open {
            return Val::unknown();
        }
        // An attribute that nobody in sight has set: one value as long as nobody sets it.
        let value = self.open(&format!("self.{name}"), false);
        if let Obj::Instance(instance) = self.heap.get_mut(id) {
            instance.attributes.insert(name.clone(), value.clone());
        }
        value
    }

    fn is_property(&self, method: &super::value::Closure) -> bool {
        let Some(function) = self.project.function_at(method.module, method.function) else { return false };
        let module = self.project.module(method.module);
        function.python.iter().flat_map(|python| &python.decorators).any(|decorator| {
            let span = module.exprs.get(*decorator).map(|node| node.span).unwrap_or_default();
            self.project.text(method.module, span).contains("property")
        })
    }

    /// A method as a value: a kernel stays a kernel, a static method has no object.
    fn method_value(&mut self, method: Rc<super::value::Closure>, receiver: Option<Val>) -> Val {
        let Some(function) = self.project.function_at(method.module, method.function) else { return Val::unknown() };
        let python = function.python.as_deref();
        if let Some(kernel) = python.and_then(|python| python.kernel.as_ref()) {
            // A kernel of a class is one object, however it is reached.
            let key = Name::from(format!("kernel {} {}", method.module.0, method.function.0).as_str());
            let scope = self.module_scope(method.module);
            if let Some((known, _)) = self.heap.scope(scope).and_then(|scope| scope.globals.get(&key)) {
                return known.clone();
            }
            let (dialect, device) = (kernel.dialect, kernel.device);
            let value = self.make_kernel(method, dialect, device);
            if let Some(scope) = self.heap.scope_mut(scope) {
                scope.globals.insert(key, (value.clone(), None));
            }
            return value;
        }
        let module = self.project.module(method.module);
        let is_static = python.into_iter().flat_map(|python| &python.decorators).any(|decorator| {
            let span = module.exprs.get(*decorator).map(|node| node.span).unwrap_or_default();
            self.project.text(method.module, span).contains("staticmethod")
        });
        match receiver {
            Some(receiver) if !is_static => Val::from(Kind::Bound(Rc::new((receiver, method)))),
            _ => Val::from(Kind::Function(method)),
        }
    }

    /// What the walk has noted of a module beside its variables: keys are no names of Python.
    pub(super) fn noted(&self, module: ModuleId, key: &Name) -> Option<Val> {
        let scope = self.heap.scope(*self.modules.get(&module)?)?;
        scope.globals.get(key).map(|(value, _)| value.clone())
    }

    pub(super) fn note(&mut self, module: ModuleId, key: &Name, value: Val) {
        let scope = self.module_scope(module);
        if let Some(scope) = self.heap.scope_mut(scope) {
            scope.globals.insert(key.clone(), (value, None));
        }
    }

    /// A variable of a class gets a value; where a function makes the class, it may be one of several classes.
    pub(super) fn set_class_variable(&mut self, module: ModuleId, record: u32, name: &Name, value: Val) {
        let key = class_key(record, name);
        let at_module =
            self.function().is_some_and(|function| function.python.as_ref().is_some_and(|python| python.is_module));
        let value = match self.noted(module, &key).filter(|_| !at_module) {
            Some(before) if self.class_body().is_some() => Val::join(&before, &value, None),
            _ => value,
        };
        self.note(module, &key, value);
    }

    /// The class whose body is walked right here.
    pub(super) fn class_body(&self) -> Option<u32> {
        self.class_bodies.last().filter(|(depth, _)| *depth == self.frames.len()).map(|(_, record)| *record)
    }

    fn class_variable(&mut self, module: ModuleId, record: u32, name: &Name) -> Option<Val> {
        if let Some(noted) = self.noted(module, &class_key(record, name)) {
            return Some(noted);
        }
        let found = self.project.module(module).records.get(record as usize)?;
        let init = found.fields.iter().find(|field| field.name == *name)?.init?;
        let body = self.project.module(module).body?;
        let scope = self.module_scope(module);
        self.push(module, body, scope, None);
        let value = self.eval(init);
        self.frames.pop();
        Some(value)
    }

    /// An attribute of an unknown value.
    fn of_open(&mut self, object: &Val, open: &Rc<Open>, name: &Name) -> Val {
        match name.as_str() {
            "size" => self.asked(open, ".size"),
            "nbytes" => self.asked(open, ".nbytes"),
            "shape" => Val::from(Kind::Attribute(Rc::new((object.clone(), name.clone())))),
            _ => {
                let key = format!(".{name}#{}", self.epoch);
                if let Some(known) = self.asked.get(&(open.id, key.clone())) {
                    return known.clone();
                }
                let child = self.open(&format!("{}.{name}", open.name), open.free);
                self.asked.insert((open.id, key), child.clone());
                child
            }
        }
    }

    /// An element of an unknown value that is taken apart.
    pub(super) fn element_of_open(&mut self, open: &Rc<Open>, index: i64) -> Val {
        let key = format!("[{index}]#{}", self.epoch);
        if let Some(known) = self.asked.get(&(open.id, key.clone())) {
            return known.clone();
        }
        let child = self.open(&format!("{}[{index}]", open.name), open.free);
        self.asked.insert((open.id, key), child.clone());
        child
    }

    pub(super) fn set_attribute(&mut self, object: &Val, name: &Name, value: Val) {
        match &object.kind {
            Kind::Instance(id) => {
                // Whoever has the object may fetch it.
                if let Kind::Array(array) = &value.kind {
                    self.fetched(array.buffer);
                }
                if let Obj::Instance(instance) = self.heap.get_mut(*id) {
                    instance.attributes.insert(name.clone(), value);
                }
            }
            Kind::Module(module) => self.set_global(*module, &name.clone(), value, None),
            Kind::Class(module, record) => {
                let (module, record) = (*module, *record);
                self.set_class_variable(module, record, name, value);
            }
            // `a.x = value`: a field of each.
            Kind::Array(array) => {
                let buffer = array.buffer;
                self.wrote(buffer);
                self.lose(&value);
            }
            Kind::Open(_) => {
                self.epoch += 1;
                self.lose(&value);
            }
            _ => self.lose(&value),
        }
    }

    pub(super) fn subscript(&mut self, object: &Val, indices: &[Val], id: ExprId) -> Val {
        match &object.kind {
            Kind::Kernel(_) => self.configure(object, indices, id),
            Kind::Array(array) => {
                let array = Rc::clone(array);
                self.view(&array, indices, id).because(&object.why)
            }
            Kind::Tuple(_) | Kind::List(_) | Kind::Range(_) => self.element(object, indices),
            Kind::Dict(dict) => match (self.heap.get(*dict), indices) {
                (Obj::Dict(Some(entries)), [key]) => entries
                    .iter()
                    .rev()
                    .find(|(known, _)| Val::same(known, key))
                    .map_or_else(Val::unknown, |(_, value)| value.clone()),
                _ => Val::unknown(),
            },
            // `a.shape[0]` of an array that nobody knows.
            Kind::Attribute(attribute) if attribute.1 == "shape" => match (&attribute.0.kind, indices) {
                (Kind::Open(open), [index]) => match index.known() {
                    Some(axis) => {
                        let open = Rc::clone(open);
                        self.asked(&open, &format!(".shape[{axis}]"))
                    }
                    None => Val::from(Kind::Int(Quantity::Unknown)),
                },
                _ => Val::unknown(),
            },
            // `a.__array_interface__["data"][0]`.
            Kind::Attribute(attribute)
                if matches!(attribute.1.as_str(), "__array_interface__" | "__cuda_array_interface__")
                    && matches!(indices, [key] if key.str() == Some("data")) =>
            {
                Val::tuple(vec![address_of(&attribute.0), Val::unknown()])
            }
            Kind::Package(path) if &**path == "sys.argv" => match indices {
                [index] if index.known().is_some() => {
                    let name = format!("sys.argv[{}]", index.known().unwrap_or(0));
                    self.open(&name, true)
                }
                _ => Val::unknown(),
            },
            Kind::Package(path) if &**path == "os.environ" => Val::unknown(),
            // A plain number has no elements: `TypeError`.
            Kind::Int(_) | Kind::Float(_) if object.why.is_none() && self.is_plain_number(object, id) => {
                self.raised = true;
                Val::unknown()
            }
            Kind::Open(open) => match indices {
                [index] if index.known().is_some() => {
                    let open = Rc::clone(open);
                    self.element_of_open(&open, index.known().unwrap_or(0))
                }
                _ => Val::unknown(),
            },
            _ => Val::unknown(),
        }
    }

    /// Whether what is subscripted is surely a number of Python: one whose value is known, or the size of an array that is known as one.
    fn is_plain_number(&mut self, object: &Val, id: ExprId) -> bool {
        match &object.kind {
            Kind::Int(Quantity::Known(_)) | Kind::Float(Some(_)) => return true,
            Kind::Int(_) => {}
            _ => return false,
        }
        let Some(Expr::Index { base, .. }) = self.kind(id) else { return false };
        let Some(Expr::Member { base: array, name, .. }) = self.kind(*base) else { return false };
        if !matches!(name.as_str(), "size" | "ndim" | "nbytes" | "itemsize") {
            return false;
        }
        // Looking at a variable once more does nothing.
        let variable = matches!(self.kind(*array), Some(Expr::Local(_) | Expr::Name { .. }));
        variable && matches!(self.eval(*array), Val { kind: Kind::Array(_), why: None })
    }

    fn element(&mut self, object: &Val, indices: &[Val]) -> Val {
        let [index] = indices else { return Val::unknown() };
        let Some(items) = self.items(object) else { return Val::unknown() };
        let length = items.len() as i64;
        let clamp = |value: Option<i64>, otherwise: i64| match value {
            Some(value) if value < 0 => (value + length).clamp(0, length),
            Some(value) => value.clamp(0, length),
            None => otherwise,
        };
        match &index.kind {
            Kind::Slice(parts) => {
                let part = |at: usize| parts[at].as_ref().filter(|value| !matches!(value.kind, Kind::None));
                let unknown = parts.iter().flatten().any(|v| v.known().is_none() && !matches!(v.kind, Kind::None));
                if unknown {
                    return Val::unknown();
                }
                let step = part(2).and_then(Val::known).unwrap_or(1);
                let taken: Vec<Val> = if step == -1 && part(0).is_none() && part(1).is_none() {
                    items.into_iter().rev().collect()
                } else if step > 0 {
                    let (from, to) =
                        (clamp(part(0).and_then(Val::known), 0), clamp(part(1).and_then(Val::known), length));
                    let step = usize::try_from(step).unwrap_or(1);
                    let count = usize::try_from(to - from).unwrap_or(0);
                    items.into_iter().skip(usize::try_from(from).unwrap_or(0)).take(count).step_by(step).collect()
                } else {
                    return Val::unknown();
                };
                match object.kind {
                    Kind::List(_) => Val::from(Kind::List(self.heap.add(Obj::List(Some(taken))))),
                    _ => Val::tuple(taken),
                }
                .because(&object.why)
            }
            _ => match index.known() {
                Some(at) => {
                    let at = if at < 0 { at + length } else { at };
                    let item = usize::try_from(at).ok().and_then(|at| items.get(at).cloned());
                    item.unwrap_or_else(Val::unknown).because(&object.why).because(&index.why)
                }
                None => Val::unknown(),
            },
        }
    }

    pub(super) fn set_element(&mut self, object: &Val, indices: &[Val], value: Val, id: ExprId) {
        match &object.kind {
            Kind::Array(array) => {
                let array = Rc::clone(array);
                if !self.store_elements(&array, indices, id) {
                    self.wrote(array.buffer);
                }
            }
            Kind::List(id) => {
                let index = match indices {
                    [index] => index.known(),
                    _ => None,
                };
                let Obj::List(items) = self.heap.get_mut(*id) else { return };
                let slot = items.as_mut().and_then(|items| {
                    let length = items.len() as i64;
                    let at = index.map(|at| if at < 0 { at + length } else { at })?;
                    items.get_mut(usize::try_from(at).ok()?)
                });
                match slot {
                    Some(slot) => *slot = value,
                    None => *items = None,
                }
            }
            Kind::Dict(id) => {
                let key = match indices {
                    [key] if key.str().is_some() || key.known().is_some() => Some(key.clone()),
                    _ => None,
                };
                let Obj::Dict(entries) = self.heap.get_mut(*id) else { return };
                match (entries.as_mut(), key) {
                    (Some(all), Some(key)) => {
                        all.retain(|(known, _)| !Val::same(known, &key));
                        all.push((key, value));
                    }
                    _ => *entries = None,
                }
            }
            _ => self.lose(&value),
        }
    }

    /// An attribute of an array; `None` for a method.
    fn of_array(&mut self, array: &Rc<Array>, name: &Name, id: ExprId) -> Option<Val> {
        let dim = |dim: Dim| Some(dim.val());
        match name.as_str() {
            "shape" => Some(match &array.shape {
                Some(shape) => Val::tuple(shape.iter().map(Dim::val).collect()),
                None => Val::unknown(),
            }),
            "size" => dim(array.size()),
            "ndim" => Some(array.rank().map_or_else(Val::unknown, |rank| Val::int(rank as i64))),
            "itemsize" => Some(array.dtype.bytes().map_or_else(Val::unknown, Val::int)),
            "nbytes" | "alloc_size" => match array.dtype.bytes() {
                Some(bytes) => {
                    let size = array.size();
                    dim(Dim { q: size.q.times(&Quantity::Known(bytes)), why: size.why })
                }
                None => Some(Val::from(Kind::Int(Quantity::Unknown))),
            },
            "dtype" => {
                Some(Val::from(if array.dtype == Dtype::Unknown { Kind::Unknown } else { Kind::Dtype(array.dtype) }))
            }
            "T" => Some(self.transposed(array, None, id)),
            "strides" => {
                let strides = self.strides(array)?;
                Some(Val::tuple(strides.into_iter().map(|q| Val::from(Kind::Int(q))).collect()))
            }
            "flat" | "real" | "imag" => {
                // Views that are not followed: whoever has one may write through it.
                self.wrote(array.buffer);
                Some(Val::unknown())
            }
            field if matches!(array.dtype, Dtype::Record { .. }) => self.field_view(array, field, id),
            "gpudata" | "data" => Some(Val::from(Kind::Memory(array.buffer, array.offset.clone()))),
            _ => None,
        }
    }
}

/// The address of an array's first element.
pub(super) fn address_of(array: &Val) -> Val {
    match &array.kind {
        Kind::Array(array) => Val::from(Kind::Memory(array.buffer, array.offset.clone())),
        _ => Val::unknown(),
    }
}

/// Where the value of a variable of a class is noted.
pub(super) fn class_key(record: u32, name: &Name) -> Name {
    Name::from(format!("class {record} {name}").as_str())
}
