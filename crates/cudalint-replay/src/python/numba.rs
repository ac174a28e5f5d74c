//! Functions of `numba.cuda`, and the parts of `CuPy` that are no functions on arrays.

use super::Walker;
use super::arrays::Made;
use super::calls::Args;
use super::value::{Array, Dim, Dtype, Kind, Layout, Lib, Maker, Transfer, Val};
use crate::facts::MemorySpace;
use crate::given::{Held, HeldContents};
use cudalint_program::ir::{Dialect, ExprId};
use std::rc::Rc;

impl Walker<'_> {
    pub(super) fn call_numba(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        if let Some(made) = self.record_function(name, args) {
            return Some(made);
        }
        let Some(name) = name.strip_prefix("cuda.") else {
            return match name {
                "vectorize" | "guvectorize" => {
                    let cuda = args.named("target").and_then(Val::str) == Some("cuda");
                    let dialect = if name == "vectorize" { Dialect::Vectorize } else { Dialect::Guvectorize };
                    cuda.then(|| Val::from(Kind::Decorator(dialect, false)))
                }
                // Compiled for the host: the function stays what it is.
                "jit" | "njit" => match args.positional.first().map(|value| &value.kind) {
                    Some(Kind::Function(_)) => args.positional.first().cloned(),
                    _ => Some(Val::unknown()),
                },
                _ => None,
            };
        };
        Some(match name {
            "jit" | "compiler.compile_cuda" => {
                let device = args.named("device").is_some_and(|device| self.truth(device) == Some(true));
                match args.positional.first().map(|value| value.kind.clone()) {
                    Some(Kind::Function(closure)) => self.make_kernel(closure, Dialect::Numba, device),
                    _ => Val::from(Kind::Decorator(Dialect::Numba, device)),
                }
            }
            "reduce" | "Reduce" => match args.get(0, "functor").map(|value| value.kind.clone()) {
                Some(Kind::Function(closure)) => self.make_kernel(closure, Dialect::Reduce, true),
                _ => return None,
            },
            "vectorize" | "guvectorize" => {
                let dialect = if name == "vectorize" { Dialect::Vectorize } else { Dialect::Guvectorize };
                Val::from(Kind::Decorator(dialect, false))
            }
            "to_device" => {
                let from = args.get(0, "obj").cloned()?;
                self.copied_to_device(id, &from, args)
            }
            "as_cuda_array" | "from_cuda_array_interface" => args.positional.first().cloned()?,
            "device_array" | "pinned_array" | "mapped_array" | "managed_array" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Float { bytes: 8 });
                let (space, lib) = match name {
                    "device_array" => (MemorySpace::Device, Lib::Numba),
                    "managed_array" => (MemorySpace::Managed, Lib::Numba),
                    "mapped_array" => (MemorySpace::Pinned, Lib::Numba),
                    _ => (MemorySpace::Host, Lib::Numpy),
                };
                let layout = match args.named("order").map(|order| order.str().map(ToOwned::to_owned)) {
                    _ if args.named("strides").is_some_and(|strides| !matches!(strides.kind, Kind::None)) => {
                        Layout::Unknown
                    }
                    None => Layout::C,
                    Some(Some(order)) if order == "C" => Layout::C,
                    Some(Some(order)) if order == "F" && shape.as_ref().is_none_or(|shape| shape.len() > 1) => {
                        Layout::Fortran
                    }
                    Some(_) => Layout::Unknown,
                };
                self.fresh(id, lib, space, &format!("numba.cuda.{name}"), dtype, shape, layout)
            }
            "device_array_like" | "pinned_array_like" | "mapped_array_like" => {
                let like = args.get(0, "ary").cloned()?;
                let Kind::Array(like) = &like.kind else {
                    // An array of the size of one that nobody knows: its extents keep their symbols.
                    let Kind::Open(open) = &like.kind else { return None };
                    return Some(self.open_like(&Rc::clone(open)));
                };
                let (space, lib) = match name {
                    "device_array_like" => (MemorySpace::Device, Lib::Numba),
                    "mapped_array_like" => (MemorySpace::Pinned, Lib::Numba),
                    _ => (MemorySpace::Host, Lib::Numpy),
                };
                let layout = match &like.layout {
                    Layout::Strided(_) => Layout::Unknown,
                    other => other.clone(),
                };
                let (dtype, shape) = (like.dtype, like.shape.clone());
                self.fresh(id, lib, space, &format!("numba.cuda.{name}"), dtype, shape, layout)
            }
            "In" | "Out" | "InOut" => {
                let kind = match name {
                    "In" => Transfer::In,
                    "Out" => Transfer::Out,
                    _ => Transfer::InOut,
                };
                Val::from(Kind::Transfer(kind, Rc::new(args.positional.first().cloned()?)))
            }
            "stream" | "default_stream" | "per_thread_default_stream" | "legacy_default_stream" | "external_stream" => {
                Val::package("stream")
            }
            "event" => Val::package("event"),
            "synchronize" | "select_device" | "close" | "profile_start" | "profile_stop" | "is_available"
            | "detect" => Val::from(if name == "is_available" {
                Kind::Bool(crate::quantity::Quantity::Known(1))
            } else {
                Kind::None
            }),
            "defer_cleanup" | "pinned" | "profiling" | "get_current_device" | "gpus" | "current_context" => {
                Val::package(&format!("numba.cuda.{name}()"))
            }
            _ if name.starts_with("get_current_device().") || name.starts_with("current_context().") => {
                return None;
            }
            _ => return None,
        })
    }

    /// `cuda.copied_to_device(a)`.
    pub(super) fn copied_to_device(&mut self, id: ExprId, from: &Val, args: &Args) -> Val {
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
        let copies = args.named("copy").is_none_or(|copy| self.truth(copy) == Some(true));
        let held = if copies {
            // What the host never wrote is copied all the same: to the device it is something.
            held.filter(|held| !matches!(held.contents, HeldContents::WrittenOnly(_)) && array.layout == Layout::C)
        } else {
            Some(Held::fresh())
        };
        if let Some(into) = args.named("to").cloned()
            && let Kind::Array(target) = &into.kind
        {
            if copies {
                if let (Some(to), Some(source)) = (args.expr(usize::MAX, "to"), args.expr(0, "obj")) {
                    self.checked_copy(id, "to_device", (&into, to), (from, source));
                }
                self.copied_into(target, from);
            }
            return into;
        }
        let layout = match &array.layout {
            Layout::Strided(_) => Layout::Unknown,
            other => other.clone(),
        };
        let site = self.site(id);
        let made = Made {
            lib: Lib::Numba,
            space: MemorySpace::Device,
            api: "numba.cuda.to_device",
            dtype: array.dtype,
            shape: array.shape.clone(),
            layout,
            held,
        };
        let device = self.new_array(made, site);
        if let Some(buffer) = self.heap.buffer_mut(device.buffer) {
            buffer.twin = Some((array.buffer, site));
        }
        Val::array(device).because(&from.why)
    }

    #[allow(clippy::too_many_arguments)] // What an array is made with.
    fn fresh(
        &mut self,
        id: ExprId,
        lib: Lib,
        space: MemorySpace,
        api: &str,
        dtype: Dtype,
        shape: Option<Rc<[Dim]>>,
        layout: Layout,
    ) -> Val {
        let site = self.site(id);
        let made = Made { lib, space, api, dtype, shape, layout, held: Some(Held::fresh()) };
        let array: Array = self.new_array(made, site);
        Val::array(array)
    }

    /// A function of `cupy`.
    pub(super) fn call_cupy(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        Some(match name {
            "RawKernel" => {
                let module = args.get(0, "code").and_then(|code| self.program_in(code));
                let name = args.get(1, "name").and_then(Val::str).map(ToOwned::to_owned);
                self.native(Maker::Cupy, module, name)
            }
            "ElementwiseKernel" => self.cupy_body_kernel(args.get(2, "operation")),
            "ReductionKernel" => self.cupy_body_kernel(args.get(2, "map_expr")),
            "RawModule" => {
                let module =
                    args.named("code").or_else(|| args.positional.first()).and_then(|code| self.program_in(code));
                Val::from(Kind::Program(Rc::new(super::value::Program { maker: Maker::Cupy, module })))
            }
            "cuda.Stream" | "cuda.get_current_stream" | "cuda.ExternalStream" => Val::package("stream"),
            "cuda.Event" => Val::package("event"),
            "cuda.Device" | "cuda.runtime.deviceSynchronize" | "cuda.set_allocator" | "cuda.Device.use" => {
                Val::package("stream")
            }
            _ if name.starts_with("cuda.") => return self.cupy_memory(id, name, args),
            "ndarray" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Float { bytes: 8 });
                match args.get(2, "memptr").map(|memory| memory.kind.clone()) {
                    Some(Kind::Memory(buffer, offset)) => Val::array(Array {
                        buffer,
                        lib: Lib::Cupy,
                        dtype,
                        shape,
                        layout: Layout::C,
                        offset,
                        view: None,
                    }),
                    None => self.fresh(id, Lib::Cupy, MemorySpace::Device, "cupy.ndarray", dtype, shape, Layout::C),
                    Some(_) => return None,
                }
            }
            "asarray" | "array" if matches!(args.positional.first().map(|value| &value.kind), Some(Kind::Open(_))) => {
                // Its size keeps its symbol, its type too.
                if args.get(1, "dtype").is_some() {
                    return self.array_function(id, Lib::Cupy, name, args);
                }
                match &args.positional.first()?.kind {
                    Kind::Open(open) => self.open_like(&Rc::clone(open)),
                    _ => return None,
                }
            }
            _ => return self.array_function(id, Lib::Cupy, name, args),
        })
    }
}
