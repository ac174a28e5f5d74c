//! `cuda-python`: driver and runtime calls, NVRTC, and `cuda.core`.
//!
//! Functions of the bindings give back a tuple, a status first (the documentation of `cuda.bindings`). What a status is, is
//! not followed: a program that goes on has found none that says otherwise.

use super::Walker;
use super::calls::Args;
use super::copies::{CopyCall, SetCall};
use super::heap::ObjId;
use super::native::NativeLaunch;
use super::value::{Dim, Dims, Dtype, Kind, Maker, Native, Program, Val};
use crate::facts::{CopyKind, MemorySpace, Site};
use crate::quantity::Quantity;
use cudalint_program::ir::ExprId;
use std::rc::Rc;

/// Most values of an array that are kept to see which arguments it packs.
const MAX_PACK: usize = 64;
/// The first part of what `LaunchConfig` becomes.
const CONFIG: &str = "cuda.core.LaunchConfig";

impl Walker<'_> {
    /// A function of the package `cuda`.
    pub(super) fn call_cuda(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        if let Some(name) = name.strip_prefix("core.") {
            return self.call_cuda_core(id, name, args);
        }
        let name = name.rsplit('.').next().unwrap_or(name);
        let values = match name {
            "nvrtcCreateProgram" => {
                let module = args.positional.first().and_then(|code| self.program_in(code));
                vec![Val::from(Kind::Program(Rc::new(Program { maker: Maker::Driver, module })))]
            }
            // The text that is filled in stands for the program from here on.
            "nvrtcGetPTX" | "nvrtcGetCUBIN" | "nvrtcGetLTOIR" => {
                if let ([program, ..], [_, into, ..]) = (args.positional.as_slice(), args.exprs.as_slice())
                    && matches!(program.kind, Kind::Program(_))
                {
                    self.assign(*into, program.clone());
                }
                Vec::new()
            }
            "nvrtcGetPTXSize" | "nvrtcGetCUBINSize" | "nvrtcGetProgramLogSize" => vec![Val::unknown()],
            "nvrtcCompileProgram"
            | "nvrtcAddNameExpression"
            | "nvrtcDestroyProgram"
            | "nvrtcGetProgramLog"
            | "cuInit"
            | "cuCtxSetCurrent"
            | "cuCtxSynchronize"
            | "cuStreamSynchronize"
            | "cudaDeviceSynchronize"
            | "cudaSetDevice"
            | "cudaStreamSynchronize"
            | "cuStreamDestroy"
            | "cuModuleUnload"
            | "cuCtxDestroy"
            | "cuEventRecord"
            | "cuEventSynchronize"
            | "cuCtxPushCurrent" => Vec::new(),
            "cuModuleLoadData" | "cuModuleLoadDataEx" | "cuLibraryLoadData" => {
                let program = args.positional.first().filter(|value| matches!(value.kind, Kind::Program(_)));
                vec![program.cloned().unwrap_or_else(Val::unknown)]
            }
            "cuModuleGetFunction" | "cuLibraryGetKernel" => {
                let title = args.get(1, "name").and_then(Val::str).map(ToOwned::to_owned);
                let module = match &args.positional.first()?.kind {
                    Kind::Program(program) => program.module,
                    _ => None,
                };
                vec![self.native(Maker::Driver, module, title)]
            }
            "cuKernelGetFunction" => vec![args.positional.first().cloned()?],
            "cuMemAlloc" | "cuMemAllocAsync" | "cudaMalloc" | "cudaMallocAsync" => {
                vec![self.allocated(
                    id,
                    name,
                    MemorySpace::Device,
                    args.positional.first()?,
                    args.exprs.first().copied(),
                )]
            }
            "cuMemAllocManaged" | "cudaMallocManaged" => {
                vec![self.allocated(
                    id,
                    name,
                    MemorySpace::Managed,
                    args.positional.first()?,
                    args.exprs.first().copied(),
                )]
            }
            "cuMemcpyHtoD" | "cuMemcpyHtoDAsync" => self.driver_copy(id, name, args, CopyKind::HostToDevice)?,
            "cuMemcpyDtoH" | "cuMemcpyDtoHAsync" => self.driver_copy(id, name, args, CopyKind::DeviceToHost)?,
            "cuMemcpyDtoD" | "cuMemcpyDtoDAsync" => self.driver_copy(id, name, args, CopyKind::DeviceToDevice)?,
            "cudaMemcpy" | "cudaMemcpyAsync" => {
                let direction = match &args.get(3, "kind")?.kind {
                    Kind::Package(path) => path.rsplit('.').next().and_then(direction)?,
                    _ => return None,
                };
                self.driver_copy(id, name, args, direction)?
            }
            "cuMemsetD8" | "cuMemsetD8Async" => self.driver_set(id, name, args, 1)?,
            "cuMemsetD16" | "cuMemsetD16Async" => self.driver_set(id, name, args, 2)?,
            "cuMemsetD32" | "cuMemsetD32Async" => self.driver_set(id, name, args, 4)?,
            "cudaMemset" | "cudaMemsetAsync" => self.driver_set(id, name, args, 1)?,
            "cuMemFree" | "cuMemFreeAsync" | "cudaFree" | "cudaFreeAsync" => Vec::new(),
            "cuLaunchKernel" => {
                self.driver_launch(id, args);
                Vec::new()
            }
            _ => return None,
        };
        let status = self.result_of(id);
        Some(Val::tuple(std::iter::once(status).chain(values).collect()))
    }

    fn driver_copy(&mut self, id: ExprId, api: &str, args: &Args, kind: CopyKind) -> Option<Vec<Val>> {
        let ([to, from, size, ..], [to_expr, from_expr, size_expr, ..]) =
            (args.positional.as_slice(), args.exprs.as_slice())
        else {
            return None;
        };
        let bytes = Dim { q: self.as_int(size).unwrap_or(Quantity::Unknown), why: size.why.clone() };
        let kind_span = args.exprs.get(3).filter(|_| api.starts_with("cuda")).map(|expr| self.span(*expr));
        let call = CopyCall {
            api,
            to: (to.clone(), *to_expr),
            from: (from.clone(), *from_expr),
            bytes,
            size: Ok(*size_expr),
            kind,
            kind_span,
        };
        self.copy(id, &call);
        Some(Vec::new())
    }

    fn driver_set(&mut self, id: ExprId, api: &str, args: &Args, unit: i64) -> Option<Vec<Val>> {
        let ([to, value, count, ..], [to_expr, value_expr, size, ..]) =
            (args.positional.as_slice(), args.exprs.as_slice())
        else {
            return None;
        };
        let count = Dim { q: self.as_int(count).unwrap_or(Quantity::Unknown), why: count.why.clone() };
        let (to, value) = ((to.clone(), *to_expr), (value.clone(), *value_expr));
        self.set_elements(id, &SetCall { api, to, value, count, size: *size, unit });
        Some(Vec::new())
    }

    /// `cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra)`.
    fn driver_launch(&mut self, id: ExprId, args: &Args) {
        let native = match args.positional.first().map(|value| &value.kind) {
            Some(Kind::Native(native)) if args.positional.len() >= 10 && args.exprs.len() == args.positional.len() => {
                Rc::clone(native)
            }
            _ => {
                args.positional.iter().for_each(|value| self.lose(value));
                return;
            }
        };
        let dims = |w: &mut Self, first: usize| {
            let axes = [first, first + 1, first + 2].map(|at| {
                let value = &args.positional[at];
                w.as_int(value).map_or_else(Val::unknown, |q| Val { kind: Kind::Int(q), why: value.why.clone() })
            });
            let span = cudalint_syntax::Span::new(
                w.span(args.exprs[first]).start as usize,
                w.span(args.exprs[first + 2]).end as usize,
            );
            let module = w.module_id();
            Dims { axes, text: w.project.text(module, span).to_owned(), site: Site { module, span } }
        };
        let (grid, block) = (dims(self, 1), dims(self, 4));
        let packed = args.positional[9].clone();
        let values = self.packed_arguments(&packed);
        if values.is_none() {
            self.lose(&packed);
        }
        let name = self.text(args.exprs[0]).to_owned();
        let shared = args.positional.get(7).cloned();
        let launch = NativeLaunch {
            name,
            grid,
            block,
            values: values.unwrap_or_default(),
            shared,
            prepared: false,
            divided: None,
        };
        self.launch_native(id, &native, launch);
    }

    /// What the arguments of a launch are, behind the addresses that are handed over.
    fn packed_arguments(&mut self, packed: &Val) -> Option<Vec<(Val, Option<ExprId>)>> {
        match &packed.kind {
            Kind::Int(Quantity::Known(0)) | Kind::None => Some(Vec::new()),
            Kind::Memory(buffer, _) => self.behind_addresses(*buffer),
            Kind::Array(array) => self.behind_addresses(array.buffer),
            // `((d_a, n), (None, ctypes.c_int))`.
            Kind::Tuple(parts) => {
                let [values, types] = &parts[..] else { return None };
                let (values, types) = (self.items(values)?, self.items(types)?);
                if values.len() != types.len() {
                    return None;
                }
                let typed = |(value, ty): (Val, Val)| match &ty.kind {
                    Kind::Dtype(dtype) => (number(&value, *dtype), None),
                    _ => (value, None),
                };
                Some(values.into_iter().zip(types).map(typed).collect())
            }
            _ => None,
        }
    }

    fn behind_addresses(&self, buffer: ObjId) -> Option<Vec<(Val, Option<ExprId>)>> {
        let addresses = self.packs.get(&buffer)?;
        let behind = |address: &Val| {
            let Kind::Memory(at, Quantity::Known(0)) = &address.kind else { return Val::unknown() };
            let dtype = self.heap.buffer(*at).map_or(Dtype::Unknown, |buffer| buffer.info.dtype);
            match self.packs.get(at).map(AsRef::as_ref) {
                Some([only]) => number(only, dtype),
                _ => Val::unknown(),
            }
        };
        Some(addresses.iter().map(|address| (behind(address), None)).collect())
    }

    /// Takes note of what a small array of the host is made of: it may pack arguments of a launch.
    pub(super) fn note_pack(&mut self, made: &Val, args: &Args) {
        let (Kind::Array(array), Some(from)) = (&made.kind, args.positional.first()) else { return };
        let values = match &from.kind {
            Kind::List(_) | Kind::Tuple(_) => match self.items(from) {
                Some(items) if items.len() <= MAX_PACK => items,
                _ => return,
            },
            Kind::Int(_) | Kind::Float(_) | Kind::Number(..) | Kind::Memory(..) => vec![from.clone()],
            _ => return,
        };
        let plain = |value: &Val| {
            matches!(
                value.kind,
                Kind::Int(_) | Kind::Float(_) | Kind::Number(..) | Kind::Memory(..) | Kind::Unknown | Kind::Open(_)
            )
        };
        if values.iter().all(plain) {
            self.packs.insert(array.buffer, values.into());
        }
    }

    /// A function or class of `cuda.core`.
    fn call_cuda_core(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        Some(match name {
            "Program" => {
                let module = args.get(0, "code").and_then(|code| self.program_in(code));
                Val::from(Kind::Program(Rc::new(Program { maker: Maker::Driver, module })))
            }
            "Device" => Val::package("cuda.core.Device()"),
            "ProgramOptions" | "Device().set_current" | "Device().sync" | "StreamOptions" => Val::none(),
            "Device().create_stream" | "Device().default_stream" | "Stream" | "Stream.from_handle" => {
                Val::package("stream")
            }
            "Device().create_event" | "Event" => Val::package("event"),
            "Device().allocate" => {
                let size = args.get(0, "size").cloned()?;
                let expr = args.expr(0, "size");
                self.allocated(id, "cuda.core.Device.allocate", MemorySpace::Device, &size, expr)
            }
            "LaunchConfig" => {
                let part = |name: &str| args.named(name).cloned();
                let grid = part("grid").or_else(|| args.positional.first().cloned()).unwrap_or_else(Val::unknown);
                let block = part("block").unwrap_or_else(Val::unknown);
                let shared = part("shmem_size").unwrap_or_else(|| Val::int(0));
                Val::tuple(vec![Val::package(CONFIG), grid, block, shared])
            }
            "launch" => {
                self.core_launch(id, args);
                Val::none()
            }
            _ => return None,
        })
    }

    /// `launch(stream, config, kernel, *arguments)`.
    fn core_launch(&mut self, id: ExprId, args: &Args) {
        let lost = |w: &mut Self| args.positional.iter().for_each(|value| w.lose(value));
        let ([_, config, kernel, rest @ ..], [_, config_expr, kernel_expr, ..]) =
            (args.positional.as_slice(), args.exprs.as_slice())
        else {
            return lost(self);
        };
        let (Kind::Native(native), Kind::Tuple(parts)) = (&kernel.kind, &config.kind) else { return lost(self) };
        let [marker, grid, block, shared] = &parts[..] else { return lost(self) };
        if args.open || !matches!(&marker.kind, Kind::Package(path) if &**path == CONFIG) {
            return lost(self);
        }
        let native: Rc<Native> = Rc::clone(native);
        let (text, site) = (self.text(*config_expr).to_owned(), self.site(*config_expr));
        let grid = self.dims(grid, text.clone(), site);
        let block = self.dims(block, text, site);
        let values =
            rest.iter().cloned().enumerate().map(|(at, value)| (value, args.exprs.get(at + 3).copied())).collect();
        let name = self.text(*kernel_expr).to_owned();
        let shared = Some(shared.clone());
        self.launch_native(
            id,
            &native,
            NativeLaunch { name, grid, block, values, shared, prepared: false, divided: None },
        );
    }

    /// The text of a program as memory: it stands for the program.
    pub(super) fn program_attribute(&self, object: &Val, name: &str) -> Option<Val> {
        let text = matches!((&object.kind, name), (Kind::Program(_), "ctypes" | "data" | "code"));
        text.then(|| object.clone())
    }
}

/// A value in an array of a type; an address is one in whatever it stands.
fn number(value: &Val, dtype: Dtype) -> Val {
    match &value.kind {
        Kind::Int(_) | Kind::Float(_) => {
            Val { kind: Kind::Number(dtype, Rc::new(value.clone())), why: value.why.clone() }
        }
        Kind::Number(..) | Kind::Memory(..) | Kind::Array(_) => value.clone(),
        _ => Val::unknown(),
    }
}

fn direction(name: &str) -> Option<CopyKind> {
    Some(match name {
        "cudaMemcpyHostToDevice" => CopyKind::HostToDevice,
        "cudaMemcpyDeviceToHost" => CopyKind::DeviceToHost,
        "cudaMemcpyDeviceToDevice" => CopyKind::DeviceToDevice,
        _ => return None,
    })
}
