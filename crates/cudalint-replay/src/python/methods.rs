//! Methods of arrays, containers and strings.

use super::Walker;
use super::arrays::resting;
use super::calls::Args;
use super::creation::list_of;
use super::heap::Obj;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Text, Val};
use crate::facts::MemorySpace;
use crate::given::{Held, HeldContents};
use crate::quantity::union;
use cudalint_program::Name;
use cudalint_program::ir::ExprId;
use std::rc::Rc;
use std::sync::Arc;

impl Walker<'_> {
    pub(super) fn call_method(&mut self, id: ExprId, receiver: &Val, name: &Name, args: &Args) -> Val {
        let found = match &receiver.kind {
            Kind::Array(array) => {
                let array = Rc::clone(array);
                self.array_method(id, receiver, &array, name, args)
            }
            Kind::List(list) => {
                let list = *list;
                return self.list_method(id, list, name, args);
            }
            Kind::Dict(_) => self.dict_method(receiver, name, args),
            Kind::Str(text) => {
                let text = Rc::clone(text);
                self.string_method(&text, name, args)
            }
            Kind::Kernel(kernel) => {
                let kernel = Rc::clone(kernel);
                self.kernel_method(id, receiver, &kernel, name, args)
            }
            Kind::File(module) if matches!(name.as_str(), "read") => Some(Val::text_of_file(*module)),
            Kind::Program(program) => {
                let program = Rc::clone(program);
                Some(self.program_method(id, &program, name, args))
            }
            Kind::Native(native) => {
                let native = Rc::clone(native);
                Some(self.native_method(id, &native, name, args))
            }
            Kind::Memory(..) => self.memory_method(id, receiver, name, args),
            Kind::Instance(_) if self.is_parser_method(receiver, name) => Some(self.call_parser(receiver, name, args)),
            Kind::Attribute(attribute) => self.address_method(attribute, name),
            Kind::Range(_) => None,
            _ => None,
        };
        match found {
            Some(value) => value,
            None => {
                self.lose(receiver);
                self.call_unknown(id, args)
            }
        }
    }

    fn array_method(&mut self, id: ExprId, receiver: &Val, array: &Rc<Array>, name: &Name, args: &Args) -> Option<Val> {
        let why = receiver.why.clone();
        Some(match name.as_str() {
            "copy_to_host" | "get" | "get_async" | "asnumpy" => return self.fetch(id, receiver, array, args),
            // Arrays of Numba are filled from the device's side alone, and managed ones as those of NumPy.
            "set" | "set_async" if array.lib == Lib::Numba => return None,
            "copy_to_device" | "set" | "set_async" => {
                let from = args.get(0, "ary").or_else(|| args.named("arr"))?.clone();
                let source = args.expr(0, "ary").or_else(|| args.expr(0, "arr"));
                if let (Some(to), Some(source)) = (self.receiver_expr(id), source) {
                    self.checked_copy(id, name, (receiver, to), (&from, source));
                }
                self.copied_into(array, &from);
                Val::none()
            }
            "astype" => {
                let dtype = self.dtype_argument(args.get(0, "dtype"), Dtype::Unknown);
                self.looked_at(receiver, id);
                let layout = match &array.layout {
                    Layout::C => Layout::C,
                    Layout::Fortran => Layout::Fortran,
                    _ => Layout::Unknown,
                };
                let why = args.get(0, "dtype").map_or(why, |dtype| union(&dtype.why, &receiver.why));
                let shape = array.shape.as_ref().map(|shape| resting(shape, &why));
                let copy = self.copied(array, shape, id);
                let Kind::Array(copy) = &copy.kind else { return None };
                let held = dtype == array.dtype;
                if !held && let Some(buffer) = self.heap.buffer_mut(copy.buffer) {
                    let zero = matches!(buffer.held.as_deref(), Some(Held { contents: HeldContents::Filled(0), .. }));
                    if !zero {
                        buffer.held = None;
                    }
                    let info = (*buffer.info).clone();
                    buffer.info = Rc::new(super::heap::BufferInfo { dtype, ..info });
                }
                Val::array(Array { dtype, layout, ..(**copy).clone() }).because(&why)
            }
            "reshape" => {
                let shape = match args.positional.as_slice() {
                    [one] => self.shape(one),
                    all => self.shape(&Val::tuple(all.to_vec())),
                };
                if args.named("order").is_some() {
                    return None;
                }
                self.reshaped(array, shape, id).because(&why)
            }
            "ravel" | "flatten" => {
                let shape: Option<Rc<[Dim]>> = array.shape.as_ref().map(|_| Rc::from(vec![array.size()]));
                if name == "flatten" {
                    self.copied(array, shape, id).because(&why)
                } else {
                    self.reshaped(array, shape, id).because(&why)
                }
            }
            "copy" => {
                self.looked_at(receiver, id);
                self.copied(array, array.shape.clone(), id).because(&why)
            }
            "transpose" => {
                let axes = match args.positional.as_slice() {
                    [] => None,
                    [one] => Some(self.items(one)?.iter().map(Val::known).collect::<Option<Vec<i64>>>()?),
                    all => Some(all.iter().map(Val::known).collect::<Option<Vec<i64>>>()?),
                };
                self.transposed(array, axes, id).because(&why)
            }
            "swapaxes" if array.rank() == Some(2) => self.transposed(array, None, id).because(&why),
            "fill" => {
                self.wrote(array.buffer);
                let zero = args.positional.first().and_then(Val::number) == Some(0.0);
                let whole = array.offset.known() == Some(0) && array.layout == Layout::C;
                if zero
                    && whole
                    && let Some(buffer) = self.heap.buffer_mut(array.buffer)
                {
                    buffer.held = Some(Arc::new(Held { contents: HeldContents::Filled(0), assumptions: None }));
                }
                Val::none()
            }
            "view" => {
                let dtype = args.positional.first().cloned().and_then(|dtype| self.dtype_of(&dtype))?;
                let same = dtype.bytes().is_some() && dtype.bytes() == array.dtype.bytes();
                let shape = if same { array.shape.clone() } else { None };
                Val::array(Array { dtype, shape, ..(**array).clone() }).because(&why)
            }
            "squeeze" | "item" | "tolist" | "sum" | "mean" | "max" | "min" | "std" | "var" | "all" | "any"
            | "argmax" | "argmin" | "dot" | "nonzero" | "tobytes" | "tostring" | "cumsum" | "prod" | "round"
            | "argsort" | "is_c_contiguous" | "clip" | "trace" | "diagonal" | "split" => {
                self.looked_at(receiver, id);
                args.positional.iter().for_each(|value| self.looked_at(value, id));
                if matches!(name.as_str(), "squeeze" | "split" | "diagonal") {
                    // Views that are not followed: whoever has one may write through it.
                    self.wrote(array.buffer);
                }
                match name.as_str() {
                    // Of an axis, an array; CuPy's results stay on the device.
                    "sum" | "max" | "min" if !args.positional.is_empty() || !args.keywords.is_empty() => {
                        self.result_of(id)
                    }
                    "item" | "sum" | "max" | "min" => {
                        let dtype = if name == "sum" { array.dtype.summed() } else { array.dtype };
                        if array.lib == Lib::Cupy && name != "item" {
                            let origin =
                                self.heap.buffer(array.buffer).map(|buffer| buffer.info.origin.name().to_owned());
                            let made = super::arrays::Made {
                                lib: Lib::Cupy,
                                space: MemorySpace::Device,
                                api: &origin?,
                                dtype,
                                shape: Some(Rc::from(Vec::new())),
                                layout: Layout::C,
                                held: None,
                            };
                            let site = self.expr_site(id);
                            return Some(Val::array(self.new_array(made, site)));
                        }
                        Val::from(Kind::Number(dtype, Rc::new(Val::unknown())))
                    }
                    "any" | "all" => Val::from(Kind::Bool(crate::quantity::Quantity::Unknown)),
                    _ => self.result_of(id),
                }
            }
            "sort" | "partition" | "resize" | "put" | "itemset" => {
                self.wrote(array.buffer);
                Val::none()
            }
            "bind" | "free" | "synchronize" => Val::none(),
            _ => return None,
        })
    }

    /// An array on the host with what one on the device holds.
    fn fetch(&mut self, id: ExprId, receiver: &Val, array: &Rc<Array>, args: &Args) -> Option<Val> {
        self.fetched(array.buffer);
        let target = args.get(0, "ary").or_else(|| args.named("out")).cloned();
        match target.map(|target| (target.kind.clone(), target)) {
            Some((Kind::Array(into), target)) if array.lib != Lib::Cupy || args.named("out").is_some() => {
                let to = args.expr(0, "ary").filter(|_| args.named("out").is_none());
                let to = to.or_else(|| args.expr(usize::MAX, "out"));
                if let (Some(to), Some(from), Some(name)) = (to, self.receiver_expr(id), self.callee_name(id)) {
                    let api = self.project.text(self.module_id(), name);
                    self.checked_copy(id, api, (&target, to), (receiver, from));
                }
                self.wrote(into.buffer);
                Some(target)
            }
            _ => self.fetched_to_host(receiver, id),
        }
    }

    pub(super) fn fetched_to_host(&mut self, value: &Val, id: ExprId) -> Option<Val> {
        let Kind::Array(array) = &value.kind else {
            return matches!(value.kind, Kind::Open(_)).then(|| value.clone());
        };
        self.fetched(array.buffer);
        if array.lib == Lib::Numpy {
            return Some(value.clone());
        }
        let layout = match &array.layout {
            Layout::C | Layout::Fortran => array.layout.clone(),
            _ => Layout::Unknown,
        };
        let site = self.expr_site(id);
        let made = super::arrays::Made {
            lib: Lib::Numpy,
            space: MemorySpace::Host,
            api: "numpy.empty",
            dtype: array.dtype,
            shape: array.shape.clone(),
            layout,
            held: None,
        };
        Some(Val::array(self.new_array(made, site)).because(&value.why))
    }

    /// A device array gets what another holds.
    pub(super) fn copied_into(&mut self, array: &Rc<Array>, from: &Val) {
        let to = Val::from(Kind::Array(Rc::clone(array)));
        // A copy that is not refused fills all of it.
        let bytes = self.bytes_of(array);
        let alike = matches!(&from.kind, Kind::Array(from) if array.dtype == from.dtype
            && array.size().q.surely_equals(&from.size().q)
            && from.layout == array.layout);
        let known = if alike { from.clone() } else { Val::unknown() };
        self.store(&to, &bytes, Some(&known));
    }

    fn list_method(&mut self, id: ExprId, list: crate::host::ObjId, name: &Name, args: &Args) -> Val {
        let first = args.positional.first().cloned();
        match name.as_str() {
            "append" => {
                if let (Some(items), Some(value)) = (list_of(self.heap.get_mut(list)), first) {
                    items.push(value);
                }
                Val::none()
            }
            "extend" => {
                let more = first.and_then(|value| self.items(&value));
                if let Obj::List(items) = self.heap.get_mut(list) {
                    *items = items.take().zip(more).map(|(mut items, more)| {
                        items.extend(more);
                        items
                    });
                }
                Val::none()
            }
            "pop" if args.positional.is_empty() => {
                list_of(self.heap.get_mut(list)).and_then(Vec::pop).unwrap_or_else(Val::unknown)
            }
            "copy" => {
                let items = self.items(&Val::from(Kind::List(list)));
                Val::from(Kind::List(self.heap.add(Obj::List(items))))
            }
            "index" | "count" => Val::from(Kind::Int(crate::quantity::Quantity::Unknown)),
            "clear" => {
                *self.heap.get_mut(list) = Obj::List(Some(Vec::new()));
                Val::none()
            }
            _ => {
                *self.heap.get_mut(list) = Obj::List(None);
                self.call_unknown(id, args)
            }
        }
    }

    fn dict_method(&mut self, receiver: &Val, name: &Name, args: &Args) -> Option<Val> {
        let Kind::Dict(id) = &receiver.kind else { return None };
        let Obj::Dict(entries) = self.heap.get(*id) else { return None };
        let entries = entries.clone();
        Some(match name.as_str() {
            "get" => {
                let key = args.positional.first()?;
                let default = args.get(1, "default").cloned().unwrap_or_else(Val::none);
                match entries {
                    Some(entries) if key.str().is_some() || key.known().is_some() => entries
                        .iter()
                        .find(|(known, _)| Val::same(known, key))
                        .map_or(default, |(_, value)| value.clone()),
                    _ => Val::unknown(),
                }
            }
            "items" => Val::tuple(entries?.into_iter().map(|(key, value)| Val::tuple(vec![key, value])).collect()),
            "keys" => Val::tuple(entries?.into_iter().map(|(key, _)| key).collect()),
            "values" => Val::tuple(entries?.into_iter().map(|(_, value)| value).collect()),
            "copy" => Val::from(Kind::Dict(self.heap.add(Obj::Dict(entries)))),
            _ => return None,
        })
    }

    fn string_method(&mut self, text: &Rc<Text>, name: &Name, args: &Args) -> Option<Val> {
        let kept = |text: Option<Rc<str>>, origin| Val::from(Kind::Str(Rc::new(Text::of(text, origin))));
        if let Some(value) = self.path_method(text, name, args) {
            return Some(value);
        }
        Some(match name.as_str() {
            // What comes out is still the program of that literal.
            "format" | "replace" | "substitute" | "safe_substitute" | "encode" | "strip" | "lstrip" | "rstrip"
            | "expandtabs" => {
                let same = matches!(name.as_str(), "encode" | "strip");
                let known = if same { text.whole.clone() } else { None };
                let known = if name == "strip" { known.map(|text| Rc::from(text.trim())) } else { known };
                kept(known, text.origin)
            }
            "upper" => kept(text.whole.as_deref().map(|text| Rc::from(text.to_uppercase().as_str())), text.origin),
            "lower" => kept(text.whole.as_deref().map(|text| Rc::from(text.to_lowercase().as_str())), text.origin),
            "join" => {
                let items = args.positional.first().and_then(|list| self.items(list));
                let origin = items.iter().flatten().find_map(|item| match &item.kind {
                    Kind::Str(text) => text.origin,
                    _ => None,
                });
                kept(None, origin)
            }
            "startswith" => match (text.whole.as_deref(), args.positional.first().and_then(Val::str)) {
                (Some(text), Some(prefix)) => Val::boolean(text.starts_with(prefix)),
                _ => Val::from(Kind::Bool(crate::quantity::Quantity::Unknown)),
            },
            _ => return None,
        })
    }
}
