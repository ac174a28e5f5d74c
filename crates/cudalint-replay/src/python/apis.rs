//! Calls of functions that the catalogue knows: what each does, done by its effects.

use super::Walker;
use super::arrays::{Made, resting};
use super::calls::Args;
use super::copies::{CopyCall, SetCall, last_part};
use super::dtype::FLOAT;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Maker, Program, Val};
use crate::facts::{CopyKind, MemorySpace};
use crate::given::{Held, HeldContents};
use crate::quantity::Quantity;
use cudalint_program::api::effects::{Arg, Direction, Effect, Handle, Holds, Library, Size, Space};
use cudalint_program::api::packages::{Compiler, Look, PythonOp};
use cudalint_program::api::python::{canonical, is_binding};
use cudalint_program::api::{self, ApiId};
use cudalint_program::ir::{Dialect, ExprId};
use std::rc::Rc;
use std::sync::Arc;

/// A call of a function of the catalogue.
pub(super) struct ApiCall<'a> {
    pub id: ExprId,
    pub api: ApiId,
    /// The function as messages call it.
    pub name: &'a str,
    pub args: &'a Args,
    /// Whether it is one of NVIDIA's bindings, which hand back a tuple with a status.
    pub binding: bool,
}

impl ApiCall<'_> {
    /// The names and the position of a parameter.
    fn place(&self, arg: Arg) -> Option<(usize, &'static str)> {
        Some((self.api.python_position(arg)?, self.api.params.get(arg.at()).copied().unwrap_or_default()))
    }

    /// An argument.
    pub fn get(&self, arg: Arg) -> Option<&Val> {
        let (at, names) = self.place(arg)?;
        names.split('|').find_map(|name| self.args.named(name)).or_else(|| self.args.positional.get(at))
    }

    /// The expression of an argument.
    pub fn expr(&self, arg: Arg) -> Option<ExprId> {
        let (at, names) = self.place(arg)?;
        names.split('|').find_map(|name| self.args.expr(usize::MAX, name)).or_else(|| self.args.exprs.get(at).copied())
    }

    /// An argument with its expression.
    fn part(&self, arg: Arg) -> Option<(Val, ExprId)> {
        Some((self.get(arg)?.clone(), self.expr(arg)?))
    }

    /// The argument for the parameter of this name, where the function has one.
    pub fn parameter(&self, name: &str) -> Option<&Val> {
        self.api.parameter(name).and_then(|arg| self.get(arg))
    }
}

/// What became of a part of what a function does.
pub(super) enum Done {
    /// The call is done, with this result; `None` where nothing is known of it.
    With(Option<Val>),
    /// Something else that the catalogue says counts.
    Next,
}

impl Walker<'_> {
    /// A call of a function of a package; `None` where nothing is known of it.
    pub(super) fn call_api(&mut self, id: ExprId, path: &str, args: &Args) -> Option<Val> {
        let api = ApiId::of_python(path)?;
        let path = canonical(path);
        let binding = path.rsplit_once('.').is_some_and(|(package, _)| is_binding(package));
        let name = if binding { last_part(&path) } else { &path };
        let call = ApiCall { id, api, name, args, binding };
        let value = self.done(&call)?;
        if !binding {
            return Some(value);
        }
        let outs = api.outs.count_ones() as usize;
        let status = self.result_of(id);
        let values = std::iter::once(value).chain(std::iter::repeat_with(Val::unknown)).take(outs);
        Some(Val::tuple(std::iter::once(status).chain(values).collect()))
    }

    /// Does what a function does; its result, or the first that it stores.
    fn done(&mut self, call: &ApiCall<'_>) -> Option<Val> {
        for op in call.api.python_ops() {
            if let Done::With(value) = self.python_op(call, op) {
                return value;
            }
        }
        for effect in call.api.effects {
            match *effect {
                Effect::Allocates { space, size, holds, .. } => return self.allocation(call, space, size, holds),
                Effect::Copies { .. } => self.copied_by(call, effect, None)?,
                Effect::Sets { pointer, value, size: Size::Bytes(count), unit } => {
                    let (to, value, (count, size)) = (call.part(pointer)?, call.part(value)?, call.part(count)?);
                    let count = Dim { q: self.as_int(&count).unwrap_or(Quantity::Unknown), why: count.why };
                    let set = SetCall { api: last_part(call.name), to, value, count, size, unit: i64::from(unit) };
                    self.set_elements(call.id, &set);
                }
                Effect::Creates(handle, _) => return Some(handle_value(handle, call.name)),
                Effect::Frees(_)
                | Effect::Waits(_)
                | Effect::Polls(_)
                | Effect::Orders { .. }
                | Effect::Records { .. }
                | Effect::SelectsDevice(_)
                | Effect::Destroys(..)
                | Effect::Python(_) => {}
                _ => return None,
            }
        }
        // A function whose parameters are stated does nothing else; what it stores nobody knows.
        let plain = call.api.outs == 0 && !(call.api.params.is_empty() && call.api.effects.is_empty());
        let silent = call.api.python_ops().next().is_none();
        (plain && silent).then(Val::none)
    }

    /// What only a function of a package of Python does.
    fn python_op(&mut self, call: &ApiCall<'_>, op: PythonOp) -> Done {
        Done::With(match op {
            PythonOp::Program(code) => {
                let (maker, code) = (maker(call.api.library), call.get(code));
                let module = code.and_then(|code| self.program_of(code, call.args));
                let refused = code.is_some_and(|code| self.is_refused(code, module, maker, call.args));
                // `PyCUDA` compiles right here, and raises `CompileError`.
                self.raised |= refused && maker == Maker::PyCuda;
                Some(Val::from(Kind::Program(Rc::new(Program { maker, module, refused }))))
            }
            PythonOp::Kernel { of, name } => {
                let name = call.get(name).and_then(Val::str).map(ToOwned::to_owned);
                let maker = maker(call.api.library);
                let (module, refused) = match call.get(of).map(|value| (value, &value.kind)) {
                    Some((_, Kind::Program(program))) => (program.module, program.refused),
                    Some((code, Kind::Str(_))) => {
                        let module = self.program_of(code, call.args);
                        (module, self.is_refused(code, module, maker, call.args))
                    }
                    _ => (None, false),
                };
                self.tell_mangled(call.id, call.name, maker, module, name.as_deref());
                Some(self.native(maker, module, name, refused))
            }
            PythonOp::Body(code) => Some(self.cupy_body_kernel(call.get(code))),
            PythonOp::Renders { program, into } => {
                // The memory stands for the program from here on.
                if let (Some(program), Some(into)) = (call.get(program), call.expr(into))
                    && matches!(program.kind, Kind::Program(_))
                {
                    self.assign(into, program.clone());
                }
                Some(Val::none())
            }
            PythonOp::Same(arg) => match call.get(arg) {
                Some(value) if !matches!(value.kind, Kind::Str(_) | Kind::List(_) | Kind::Tuple(_)) => {
                    Some(value.clone())
                }
                _ => return Done::Next,
            },
            PythonOp::Offset { pointer, by } => match call.get(pointer).map(|value| value.kind.clone()) {
                Some(Kind::Memory(buffer, start)) => call.get(by).cloned().map(|by| {
                    let by = self.as_int(&by).unwrap_or(Quantity::Unknown);
                    Val::from(Kind::Memory(buffer, start.plus(&by)))
                }),
                _ => None,
            },
            PythonOp::Over(memory) => match call.get(memory).map(|memory| memory.kind.clone()) {
                None => return Done::Next,
                Some(Kind::Memory(buffer, offset)) => {
                    let dtype = self.dtype_argument(call.parameter("dtype"), FLOAT);
                    let shape = call.parameter("shape").cloned().and_then(|shape| self.shape(&shape));
                    let lib = Lib::of(call.api.library);
                    Some(Val::array(Array { buffer, lib, dtype, shape, layout: Layout::C, offset, view: None }))
                }
                Some(_) => None,
            },
            PythonOp::Compiles(compiler) => self.compiler(call, compiler),
            PythonOp::Hands(transfer) => {
                call.args.positional.first().map(|value| Val::from(Kind::Transfer(transfer, Rc::new(value.clone()))))
            }
            PythonOp::Config => Some(Self::configuration(call.args, call.name)),
            PythonOp::Launches => {
                self.driver_launch(call.id, call.args);
                Some(Val::none())
            }
            PythonOp::CoreLaunches => {
                self.core_launch(call.id, call.args);
                Some(Val::none())
            }
            PythonOp::Nothing => Some(Val::none()),
            PythonOp::Yes => Some(Val::boolean(true)),
            PythonOp::Looks(look) => {
                self.read_by(call);
                match look {
                    _ if call.args.named("out").is_some() => None,
                    Look::Something => Some(self.result_of(call.id)),
                    Look::Truth => Some(Val::from(Kind::Bool(Quantity::Unknown))),
                    Look::Nothing => Some(Val::none()),
                }
            }
            PythonOp::Structure(spec) => {
                let spec = call.get(spec).cloned();
                spec.and_then(|spec| self.structured(&spec, true)).map(|dtype| Val::from(Kind::Dtype(dtype)))
            }
            op => return self.array_op(call, op),
        })
    }

    /// A function that reads what it is given.
    pub(super) fn read_by(&mut self, call: &ApiCall<'_>) {
        for value in &call.args.positional {
            self.looked_at(value, call.id);
            for item in self.items(value).unwrap_or_default() {
                self.looked_at(&item, call.id);
            }
        }
    }

    /// A compiler called with a function, or with options alone.
    fn compiler(&mut self, call: &ApiCall<'_>, compiler: Compiler) -> Option<Val> {
        let first = call.args.positional.first().or_else(|| call.parameter("functor"));
        let function = match first.map(|value| &value.kind) {
            Some(Kind::Function(closure)) => Some(Rc::clone(closure)),
            _ => None,
        };
        let device = call.args.named("device").is_some_and(|device| self.truth(device) == Some(true));
        let told = call.args.named("target").map(|target| target.str() == Some("cuda"));
        match (compiler, function) {
            (Compiler::Jit, Some(closure)) => Some(self.make_kernel(closure, Dialect::Numba, device)),
            (Compiler::Jit, None) => Some(Val::from(Kind::Decorator(Dialect::Numba, device))),
            (Compiler::Raw, _) => Some(Val::from(Kind::Decorator(Dialect::CupyJit, false))),
            (Compiler::Reduce, function) => function.map(|closure| self.make_kernel(closure, Dialect::Reduce, true)),
            (Compiler::Vectorize { for_cuda }, _) => {
                told.unwrap_or(for_cuda).then(|| Val::from(Kind::Decorator(Dialect::Vectorize, false)))
            }
            (Compiler::Guvectorize { for_cuda }, _) => {
                told.unwrap_or(for_cuda).then(|| Val::from(Kind::Decorator(Dialect::Guvectorize, false)))
            }
            (Compiler::Host, Some(_)) => first.cloned(),
            (Compiler::Host, None) => Some(Val::unknown()),
        }
    }

    /// Memory, or an array, that a call brings into being.
    fn allocation(&mut self, call: &ApiCall<'_>, space: Space, size: Size, holds: Holds) -> Option<Val> {
        let lib = match space {
            Space::Host => Lib::Numpy,
            Space::Pinned if !call.api.is_mapped() => Lib::Numpy,
            _ => Lib::of(call.api.library),
        };
        let space = match space {
            Space::Host => MemorySpace::Host,
            Space::Pinned => MemorySpace::Pinned,
            Space::Device => MemorySpace::Device,
            Space::Managed => MemorySpace::Managed,
        };
        let fill = call.parameter("fill_value").cloned();
        let held = match holds {
            Holds::Nothing => Some(Held::fresh()),
            Holds::Zeros => Some(zeros()),
            Holds::Something => fill.as_ref().and_then(Val::number).filter(|fill| *fill == 0.0).map(|_| zeros()),
        };
        let copy = call.api.effects.iter().find(|effect| matches!(effect, Effect::Copies { .. }));
        let fetched =
            matches!(copy, Some(Effect::Copies { to: Arg::RETURNED, direction: Direction::DeviceToHost, .. }));
        let value = match size {
            Size::Bytes(bytes) => {
                let memory = self.allocated(call.id, call.name, space, call.get(bytes)?, call.expr(bytes));
                if let (MemorySpace::Pinned, Kind::Memory(buffer, _)) = (space, &memory.kind)
                    && let Some(buffer) = self.heap.buffer_mut(*buffer)
                {
                    // The host writes it in ways that are not followed.
                    buffer.held = None;
                }
                return Some(memory);
            }
            Size::Whole(like) => return Some(self.memory_like(call, space, call.get(like)?, copy.is_some())),
            Size::Elements(shape) => {
                let shape = call.get(shape).cloned().and_then(|shape| self.shape(&shape));
                let natural = match &fill {
                    _ if call.parameter("formats").is_some() => Dtype::Unknown,
                    Some(fill) => fill.natural(),
                    None => FLOAT,
                };
                let dtype = self.dtype_argument(call.parameter("dtype"), natural);
                let value = self.fresh_array(call, lib, space, dtype, shape, Layout::C, held);
                let strided = call.parameter("strides").is_some_and(|strides| !matches!(strides.kind, Kind::None));
                match value.kind {
                    Kind::Array(array) if strided => Val::array(Array { layout: Layout::Unknown, ..(*array).clone() }),
                    kind => self.ordered(Val::from(kind), call.parameter("order")),
                }
            }
            Size::Like(like) => {
                let from = call.get(like)?.clone();
                if copy.is_some() && call.api.library == Library::Numba {
                    return Some(self.copied_to_device(call, &from));
                }
                let Kind::Array(like) = &from.kind else { return self.like_open(call, lib, space, &from) };
                let dtype = self.dtype_argument(call.parameter("dtype"), like.dtype);
                let layout = match &like.layout {
                    Layout::Strided(_) => Layout::Unknown,
                    other => other.clone(),
                };
                // What a copy of the host's array holds is not followed.
                let held = held.filter(|_| copy.is_none() || fetched);
                self.fresh_array(call, lib, space, dtype, like.shape.clone(), layout, held)
            }
            _ => return None,
        };
        if let (true, Some(effect)) = (fetched, copy) {
            self.copied_by(call, effect, Some(&value))?;
        }
        Some(value)
    }

    #[allow(clippy::too_many_arguments)] // What an array is made with.
    pub(super) fn fresh_array(
        &mut self,
        call: &ApiCall<'_>,
        lib: Lib,
        space: MemorySpace,
        dtype: Dtype,
        shape: Option<Rc<[Dim]>>,
        layout: Layout,
        held: Option<Arc<Held>>,
    ) -> Val {
        let site = self.expr_site(call.id);
        // The extents carry what the type rests on: sizes in bytes hang on both.
        let why = call.parameter("dtype").and_then(|dtype| dtype.why.clone());
        let shape = shape.map(|shape| resting(&shape, &why));
        Val::array(self.new_array(Made { lib, space, api: call.name, dtype, shape, layout, held }, site)).because(&why)
    }

    /// An array as large as something that is not known.
    fn like_open(&mut self, call: &ApiCall<'_>, lib: Lib, space: MemorySpace, like: &Val) -> Option<Val> {
        let Kind::Open(open) = &like.kind else { return None };
        if call.parameter("dtype").is_none() {
            // Its extents keep their symbols.
            return Some(self.open_like(&Rc::clone(open)));
        }
        let dtype = self.dtype_argument(call.parameter("dtype"), Dtype::Unknown);
        Some(self.fresh_array(call, lib, space, dtype, None, Layout::C, None))
    }

    /// Memory without a type that is made for the elements of an array, perhaps with a copy of them.
    fn memory_like(&mut self, call: &ApiCall<'_>, space: MemorySpace, like: &Val, copies: bool) -> Val {
        let (bytes, dtype) = match &like.kind {
            Kind::Array(array) => (self.bytes_of(array), array.dtype),
            _ => (Dim::unknown(), Dtype::Unknown),
        };
        let site = self.expr_site(call.id);
        let memory = self.new_memory(call.name, space, bytes.clone(), site);
        if let Some(buffer) = self.heap.buffer_mut(memory) {
            buffer.element = dtype;
        }
        let value = Val::from(Kind::Memory(memory, Quantity::Known(0)));
        if copies {
            self.store(&value, &bytes, Some(like));
        }
        value
    }

    /// A copy, where `made` is what the call itself has brought into being.
    fn copied_by(&mut self, call: &ApiCall<'_>, effect: &Effect, made: Option<&Val>) -> Option<()> {
        let Effect::Copies { to, from, size, direction } = *effect else { return None };
        let side = |arg: Arg| match made {
            Some(made) if arg == Arg::RETURNED => Some((made.clone(), call.id)),
            _ => call.part(arg),
        };
        let (to, from) = (side(to)?, side(from)?);
        let (bytes, size) = match size {
            Size::Bytes(size) => {
                let (size, expr) = call.part(size)?;
                (Dim { q: self.as_int(&size).unwrap_or(Quantity::Unknown), why: size.why }, Ok(expr))
            }
            Size::Whole(array) => {
                let (value, expr) = side(array)?;
                let bytes = match &value.kind {
                    Kind::Array(array) => self.bytes_of(array),
                    _ => Dim::unknown(),
                };
                let written = if made.is_some() { call.args.exprs.get(1).copied() } else { Some(expr) };
                (bytes, Err(written.unwrap_or(call.id)))
            }
            _ => return None,
        };
        let (kind, kind_span) = match direction {
            Direction::By(kind) => {
                let (kind, expr) = call.part(kind)?;
                let span = self.last_name(expr).filter(|_| !call.binding).unwrap_or_else(|| self.span(expr));
                (CopyKind::by_number(number_of(&kind)), Some(span))
            }
            said => {
                let kind = match said {
                    Direction::HostToDevice => CopyKind::HostToDevice,
                    Direction::DeviceToHost => CopyKind::DeviceToHost,
                    Direction::DeviceToDevice => CopyKind::DeviceToDevice,
                    _ => CopyKind::Default,
                };
                (kind, if made.is_none() { self.callee_name(call.id) } else { None })
            }
        };
        let asynchronous = call.api.is_asynchronous();
        let api = last_part(call.name);
        self.copy(call.id, &CopyCall { api, to, from, bytes, size, kind, kind_span, asynchronous });
        Some(())
    }

    /// `cuda.to_device(a)`.
    fn copied_to_device(&mut self, call: &ApiCall<'_>, from: &Val) -> Val {
        let Kind::Array(array) = &from.kind else {
            return match &from.kind {
                Kind::Open(open) => self.open_like(&Rc::clone(open)),
                _ => Val::unknown(),
            };
        };
        let array = Rc::clone(array);
        if array.lib != Lib::Numpy {
            return from.clone();
        }
        let held = self.heap.buffer(array.buffer).and_then(|buffer| buffer.held.clone());
        let copies = call.parameter("copy").is_none_or(|copy| self.truth(copy) == Some(true));
        let held = if copies {
            // What the host never wrote is copied all the same: to the device it is something.
            held.filter(|held| !matches!(held.contents, HeldContents::WrittenOnly(_)) && array.layout == Layout::C)
        } else {
            Some(Held::fresh())
        };
        if let Some(into) = call.parameter("to").cloned()
            && let Kind::Array(target) = &into.kind
        {
            if copies {
                let exprs = call.api.parameter("to").and_then(|to| call.expr(to)).zip(call.expr(Arg(0)));
                if let Some((to, source)) = exprs {
                    self.checked_copy(call.id, last_part(call.name), (&into, to), (from, source));
                }
                self.copied_into(target, from);
            }
            return into;
        }
        let layout = match &array.layout {
            Layout::Strided(_) => Layout::Unknown,
            other => other.clone(),
        };
        let (space, site) = (MemorySpace::Device, self.expr_site(call.id));
        let made = self.fresh_array(call, Lib::Numba, space, array.dtype, array.shape.clone(), layout, held);
        if let Kind::Array(device) = &made.kind
            && let Some(buffer) = self.heap.buffer_mut(device.buffer)
        {
            buffer.twin = Some((array.buffer, site));
        }
        made.because(&from.why)
    }
}

impl Lib {
    /// Whose arrays a package makes.
    pub(super) const fn of(library: Library) -> Self {
        match library {
            Library::CuPy => Self::Cupy,
            Library::PyCuda => Self::PyCuda,
            Library::Numba => Self::Numba,
            _ => Self::Numpy,
        }
    }

    /// Where its arrays live.
    pub(super) fn space(self) -> MemorySpace {
        if self == Self::Numpy { MemorySpace::Host } else { MemorySpace::Device }
    }
}

/// Memory that is all zeros.
pub(super) fn zeros() -> Arc<Held> {
    Arc::new(Held { contents: HeldContents::Filled(0), assumptions: None })
}

/// Who compiles a program in a string.
const fn maker(library: Library) -> Maker {
    match library {
        Library::CuPy => Maker::Cupy,
        Library::PyCuda => Maker::PyCuda,
        _ => Maker::Driver,
    }
}

/// A handle, whose methods are those of what it is.
fn handle_value(handle: Handle, name: &str) -> Val {
    match handle {
        Handle::Stream => Val::package("stream"),
        Handle::Event => Val::package("event"),
        Handle::Context => Val::package(&format!("{name}()")),
        _ => Val::unknown(),
    }
}

/// A number, or the constant of a header that a name of a package means.
fn number_of(value: &Val) -> Option<i64> {
    match &value.kind {
        Kind::Package(path) => Some(api::constant(path).or_else(|| api::constant(last_part(path)))?.value),
        _ => value.known(),
    }
}
