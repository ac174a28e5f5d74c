//! Functions of `PyCUDA`.

use super::Walker;
use super::arrays::Made;
use super::calls::Args;
use super::emit::amount;
use super::val::{Dim, Dtype, Kind, Layout, Lib, Maker, Program, Transfer, Val};
use crate::facts::{CopyKind, CountShape, EventKind, MemorySpace};
use crate::given::Held;
use crate::value::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::ExprId;
use std::rc::Rc;

impl Walker<'_> {
    pub(super) fn call_pycuda(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        let site = self.site(id);
        Some(match name {
            "compiler.SourceModule" | "compiler.DynamicSourceModule" => {
                let module = args.get(0, "source").and_then(|code| self.program_in(code));
                Val::from(Kind::Program(Rc::new(Program { maker: Maker::PyCuda, module })))
            }
            "driver.mem_alloc" | "driver.managed_empty" | "driver.mem_alloc_async"
                if name != "driver.managed_empty" =>
            {
                let bytes = args.positional.first().cloned()?;
                let bytes = Dim { q: self.as_int(&bytes).unwrap_or(Quantity::Unknown), why: bytes.why };
                let memory = self.new_memory(&format!("pycuda.{name}"), bytes, site);
                Val::from(Kind::Memory(memory, Quantity::Known(0)))
            }
            "driver.to_device" => {
                let from = args.positional.first().cloned()?;
                let bytes = match &from.kind {
                    Kind::Array(array) => self.bytes_of(array),
                    _ => Dim::unknown(),
                };
                let memory = self.new_memory("pycuda.driver.to_device", bytes, site);
                if let Some(buffer) = self.heap.buffer_mut(memory) {
                    buffer.held = None;
                }
                Val::from(Kind::Memory(memory, Quantity::Known(0)))
            }
            "driver.memcpy_htod" | "driver.memcpy_htod_async" => {
                self.memcpy(id, name, args, CopyKind::HostToDevice);
                Val::none()
            }
            "driver.memcpy_dtoh" | "driver.memcpy_dtoh_async" => {
                self.memcpy(id, name, args, CopyKind::DeviceToHost);
                Val::none()
            }
            "driver.memcpy_dtod" | "driver.memset_d8" | "driver.memset_d32" | "driver.memset_d16" => {
                if let Some(Kind::Memory(buffer, _)) = args.positional.first().map(|value| value.kind.clone()) {
                    self.wrote(buffer);
                }
                Val::none()
            }
            "driver.In" | "driver.Out" | "driver.InOut" => {
                let kind = match name {
                    "driver.In" => Transfer::In,
                    "driver.Out" => Transfer::Out,
                    _ => Transfer::InOut,
                };
                Val::from(Kind::Transfer(kind, Rc::new(args.positional.first().cloned()?)))
            }
            "driver.pagelocked_empty" | "driver.pagelocked_zeros" | "driver.aligned_empty" | "driver.aligned_zeros" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Unknown);
                self.gpu_array(id, Lib::Numpy, MemorySpace::Host, name, dtype, shape, None)
            }
            "driver.managed_empty" | "driver.managed_zeros" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Unknown);
                self.gpu_array(id, Lib::PyCuda, MemorySpace::Managed, name, dtype, shape, None)
            }
            "gpuarray.to_gpu" | "gpuarray.to_gpu_async" => {
                let from = args.positional.first().cloned()?;
                let Kind::Array(array) = &from.kind else {
                    let Kind::Open(open) = &from.kind else { return None };
                    return Some(self.open_like(&Rc::clone(open)));
                };
                let (dtype, shape) = (array.dtype, array.shape.clone());
                let layout = array.layout.clone();
                let value = self.gpu_array(id, Lib::PyCuda, MemorySpace::Device, name, dtype, shape, None);
                match value.kind {
                    Kind::Array(made) => Val::array(super::val::Array { layout, ..(*made).clone() }),
                    kind => Val::from(kind),
                }
            }
            "gpuarray.zeros" | "gpuarray.empty" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Float { bytes: 8 });
                let held = if name.ends_with("empty") { Some(Held::fresh()) } else { None };
                self.gpu_array(id, Lib::PyCuda, MemorySpace::Device, name, dtype, shape, held)
            }
            "gpuarray.zeros_like" | "gpuarray.empty_like" => match &args.positional.first()?.kind {
                Kind::Array(like) => {
                    let (dtype, shape) = (like.dtype, like.shape.clone());
                    let held = if name.ends_with("empty_like") { Some(Held::fresh()) } else { None };
                    self.gpu_array(id, Lib::PyCuda, MemorySpace::Device, name, dtype, shape, held)
                }
                _ => return None,
            },
            "gpuarray.arange" => {
                let value = self.array_function(id, Lib::Numpy, "arange", args)?;
                let Kind::Array(array) = &value.kind else { return None };
                let dtype = if args.named("dtype").is_some() { array.dtype } else { Dtype::Unknown };
                let shape = array.shape.clone();
                self.gpu_array(id, Lib::PyCuda, MemorySpace::Device, name, dtype, shape, None)
            }
            "driver.Stream" => Val::package("stream"),
            "driver.Event" => Val::package("event"),
            "driver.init" | "driver.Context.synchronize" | "autoinit" => Val::none(),
            _ => return None,
        })
    }

    #[allow(clippy::too_many_arguments)] // What an array is made with.
    fn gpu_array(
        &mut self,
        id: ExprId,
        lib: Lib,
        space: MemorySpace,
        name: &str,
        dtype: Dtype,
        shape: Option<Rc<[Dim]>>,
        held: Option<std::sync::Arc<Held>>,
    ) -> Val {
        let site = self.site(id);
        let api = format!("pycuda.{name}");
        let made = Made { lib, space, api: &api, dtype, shape, layout: Layout::C, held };
        Val::array(self.new_array(made, site))
    }

    fn memcpy(&mut self, id: ExprId, name: &str, args: &Args, kind: CopyKind) {
        let [to, from, ..] = args.positional.as_slice() else { return };
        let (to, from) = (to.clone(), from.clone());
        let host = if kind == CopyKind::HostToDevice { &from } else { &to };
        let bytes = match &host.kind {
            Kind::Array(array) => self.bytes_of(array),
            _ => Dim::unknown(),
        };
        let site = self.site(id);
        if let [first, second, ..] = args.exprs.as_slice()
            && self.wants(site)
        {
            let api = name.rsplit('.').next().unwrap_or(name);
            let event = EventKind::Copy {
                api: Name::from(api),
                destination: self.pointer_argument(&to, *first),
                source: self.pointer_argument(&from, *second),
                bytes: amount(&bytes),
                count: CountShape { text: bytes.q.to_string(), span: site.span, opaque: true, ..CountShape::default() },
                kind,
                kind_span: None,
                asynchronous: api.ends_with("async"),
            };
            let mentioned = args.exprs.clone();
            self.emit(event, site, &mentioned);
        }
        match &to.kind {
            Kind::Memory(buffer, offset) => {
                let old = self.heap.buffer(*buffer).and_then(|buffer| buffer.held.clone());
                let held = Held::after_write(old.as_deref(), offset.clone(), bytes.q.clone(), &bytes.why);
                if let Some(buffer) = self.heap.buffer_mut(*buffer) {
                    buffer.held = held;
                }
            }
            Kind::Array(array) => self.wrote(array.buffer),
            _ => {}
        }
    }
}
