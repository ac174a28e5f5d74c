//! Functions of `PyCUDA`.

use super::Walker;
use super::arrays::Made;
use super::calls::Args;
use super::copies::{CopyCall, SetCall, last_part};
use super::value::{Dim, Dtype, Kind, Layout, Lib, Maker, Program, Transfer, Val};
use crate::facts::{CopyKind, MemorySpace};
use crate::given::Held;
use crate::quantity::Quantity;
use cudalint_program::ir::ExprId;
use std::rc::Rc;

impl Walker<'_> {
    pub(super) fn call_pycuda(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        Some(match name {
            "compiler.SourceModule" | "compiler.DynamicSourceModule" => {
                let module = args.get(0, "source").and_then(|code| self.program_in(code));
                Val::from(Kind::Program(Rc::new(Program { maker: Maker::PyCuda, module })))
            }
            "driver.mem_alloc" | "driver.mem_alloc_async" => {
                let bytes = args.get(0, "bytes").cloned()?;
                self.allocated(id, &format!("pycuda.{name}"), MemorySpace::Device, &bytes, args.expr(0, "bytes"))
            }
            "driver.mem_alloc_like" => {
                let like = args.get(0, "ary").cloned()?;
                let Kind::Array(like) = &like.kind else {
                    return Some(self.allocated(
                        id,
                        "pycuda.driver.mem_alloc_like",
                        MemorySpace::Device,
                        &Val::unknown(),
                        None,
                    ));
                };
                let (bytes, dtype) = (self.bytes_of(like), like.dtype);
                self.typed_memory(id, "pycuda.driver.mem_alloc_like", bytes, dtype)
            }
            "driver.to_device" => {
                let from = args.positional.first().cloned()?;
                let (bytes, dtype) = match &from.kind {
                    Kind::Array(array) => (self.bytes_of(array), array.dtype),
                    _ => (Dim::unknown(), Dtype::Unknown),
                };
                let memory = self.typed_memory(id, "pycuda.driver.to_device", bytes.clone(), dtype);
                self.store(&memory, &bytes, Some(&from));
                memory
            }
            "driver.from_device" | "driver.from_device_like" => {
                let from = args.get(0, "devptr").cloned()?;
                let value = if name == "driver.from_device" {
                    let shape = args.get(1, "shape").cloned().and_then(|shape| self.shape(&shape));
                    let dtype = self.dtype_argument(args.get(2, "dtype"), Dtype::Unknown);
                    self.gpu_array(id, Lib::Numpy, MemorySpace::Host, name, dtype, shape, None)
                } else {
                    let Kind::Array(like) = &args.get(1, "other_ary")?.kind else { return None };
                    let (dtype, shape) = (like.dtype, like.shape.clone());
                    self.gpu_array(id, Lib::Numpy, MemorySpace::Host, name, dtype, shape, None)
                };
                let (Kind::Array(array), Some(expr)) = (&value.kind, args.expr(0, "devptr")) else { return None };
                let bytes = self.bytes_of(array);
                let to = (value.clone(), id);
                let kind = CopyKind::DeviceToHost;
                let api = last_part(name);
                let size = Err(args.exprs.get(1).copied().unwrap_or(id));
                self.copy(id, &CopyCall { api, to, from: (from, expr), bytes, size, kind, kind_span: None });
                value
            }
            "driver.memcpy_htod" | "driver.memcpy_htod_async" => {
                self.memcpy(id, name, args, CopyKind::HostToDevice)?;
                Val::none()
            }
            "driver.memcpy_dtoh" | "driver.memcpy_dtoh_async" => {
                self.memcpy(id, name, args, CopyKind::DeviceToHost)?;
                Val::none()
            }
            "driver.memcpy_dtod" | "driver.memcpy_dtod_async" => {
                self.memcpy(id, name, args, CopyKind::DeviceToDevice)?;
                Val::none()
            }
            "driver.memset_d8"
            | "driver.memset_d16"
            | "driver.memset_d32"
            | "driver.memset_d8_async"
            | "driver.memset_d16_async"
            | "driver.memset_d32_async" => {
                let unit = match last_part(name) {
                    "memset_d8" | "memset_d8_async" => 1,
                    "memset_d16" | "memset_d16_async" => 2,
                    _ => 4,
                };
                let value = |position, name| Some((args.get(position, name)?.clone(), args.expr(position, name)?));
                let (count, size) = value(2, "size")?;
                let (to, data) = (value(0, "dest")?, value(1, "data")?);
                let count = Dim { q: self.as_int(&count).unwrap_or(Quantity::Unknown), why: count.why };
                self.set_elements(id, &SetCall { api: last_part(name), to, value: data, count, size, unit });
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
                let pinned = name.starts_with("driver.pagelocked");
                let space = if pinned { MemorySpace::Pinned } else { MemorySpace::Host };
                self.gpu_array(id, Lib::Numpy, space, name, dtype, shape, None)
            }
            "driver.pagelocked_empty_like"
            | "driver.pagelocked_zeros_like"
            | "driver.managed_empty_like"
            | "driver.managed_zeros_like" => {
                let Kind::Array(like) = &args.positional.first()?.kind else { return None };
                let (dtype, shape) = (like.dtype, like.shape.clone());
                let managed = name.starts_with("driver.managed");
                let (lib, space) =
                    if managed { (Lib::PyCuda, MemorySpace::Managed) } else { (Lib::Numpy, MemorySpace::Pinned) };
                self.gpu_array(id, lib, space, name, dtype, shape, None)
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
                    Kind::Array(made) => Val::array(super::value::Array { layout, ..(*made).clone() }),
                    kind => Val::from(kind),
                }
            }
            "gpuarray.zeros" | "gpuarray.empty" | "gpuarray.GPUArray" | "gpuarray.ones" => {
                let shape = args.get(0, "shape").cloned().and_then(|shape| self.shape(&shape));
                let dtype = self.dtype_argument(args.get(1, "dtype"), Dtype::Float { bytes: 8 });
                // With memory of its own: `GPUArray(…, gpudata=p)` has that of somebody else.
                if args.named("gpudata").is_some() {
                    return None;
                }
                let fresh = name.ends_with("empty") || name.ends_with("GPUArray");
                let held = if fresh { Some(Held::fresh()) } else { None };
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

    /// Memory without a type that is made for elements of one.
    fn typed_memory(&mut self, id: ExprId, api: &str, bytes: Dim, dtype: Dtype) -> Val {
        let site = self.site(id);
        let memory = self.new_memory(api, MemorySpace::Device, bytes, site);
        if let Some(buffer) = self.heap.buffer_mut(memory) {
            buffer.element = dtype;
        }
        Val::from(Kind::Memory(memory, Quantity::Known(0)))
    }

    /// `memcpy_…(dest, src)`: as many bytes as the host's side has; between two places on the device, as the third argument says.
    fn memcpy(&mut self, id: ExprId, name: &str, args: &Args, kind: CopyKind) -> Option<()> {
        let side = |position, name| Some((args.get(position, name)?.clone(), args.expr(position, name)?));
        let (to, from) = (side(0, "dest")?, side(1, "src")?);
        let (bytes, size) = match kind {
            CopyKind::DeviceToDevice => {
                let (size, expr) = side(2, "size")?;
                (Dim { q: self.as_int(&size).unwrap_or(Quantity::Unknown), why: size.why }, Ok(expr))
            }
            _ => {
                let host = if kind == CopyKind::HostToDevice { &from } else { &to };
                let bytes = match &host.0.kind {
                    Kind::Array(array) => self.bytes_of(array),
                    _ => Dim::unknown(),
                };
                (bytes, Err(host.1))
            }
        };
        let kind_span = self.callee_name(id);
        self.copy(id, &CopyCall { api: last_part(name), to, from, bytes, size, kind, kind_span });
        Some(())
    }
}
