//! Calls of the CUDA runtime and driver: what they do to memory.

use super::{Out, Walker};
use crate::facts::{CopyKind, EventKind, MemorySpace, PointerArgument};
use crate::given::Held;
use crate::memory::{Freed, ObjectInfo, Place, root};
use crate::quantity::Quantity;
use crate::ty::Ty;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId};

/// Prefixes of library calls that return a status and write only through pointers they are given.
const LIBRARIES: [&str; 13] = [
    "cuda", "cublas", "cufft", "cudnn", "curand", "cusparse", "cusolver", "nccl", "nvrtc", "nvml", "npp", "cupti",
    "nvtx",
];

impl<'p> Walker<'p> {
    /// A call of a CUDA library by name; `None` when the name is not one.
    pub fn api_call(&mut self, id: ExprId, name: &str, args: &'p [ExprId]) -> Option<Out> {
        let driver = name.starts_with("cu") && name.as_bytes().get(2).is_some_and(u8::is_ascii_uppercase);
        if !driver && !LIBRARIES.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let plain = name.strip_suffix("_v2").unwrap_or(name);
        let plain = plain.strip_suffix("_ptsz").unwrap_or(plain);
        match (plain, args) {
            (
                "cudaMalloc" | "cuMemAlloc" | "cudaMallocAsync" | "cuMemAllocAsync" | "cudaMallocFromPoolAsync",
                [p, n, ..],
            ) => {
                self.allocate(id, name, *p, *n, MemorySpace::Device);
                for rest in &args[2..] {
                    self.eval(*rest);
                }
            }
            ("cudaMallocManaged" | "cuMemAllocManaged", [p, n, ..]) => {
                self.allocate(id, name, *p, *n, MemorySpace::Managed);
            }
            ("cudaMallocHost" | "cudaHostAlloc" | "cuMemAllocHost" | "cuMemHostAlloc", [p, n, ..]) => {
                self.allocate(id, name, *p, *n, MemorySpace::Pinned);
            }
            ("cudaMallocPitch", [p, pitch, width, height]) => {
                let outs = [self.eval(*p), self.eval(*pitch), self.eval(*width), self.eval(*height)];
                self.write_through(&outs[1], Val::size(Quantity::Unknown));
                self.allocate_unsized(id, name, *p, &outs[0]);
            }
            (
                "cudaFree" | "cuMemFree" | "cudaFreeAsync" | "cuMemFreeAsync" | "cudaFreeHost" | "cuMemFreeHost",
                [p, rest @ ..],
            ) => {
                let out = self.eval(*p);
                for arg in rest {
                    self.eval(*arg);
                }
                self.free_value(id, name, *p, &out);
            }
            ("cudaMemcpy" | "cudaMemcpyAsync", [dst, src, n, kind, ..]) => {
                self.copy(id, name, [*dst, *src, *n], Some(*kind), CopyKind::Default);
            }
            ("cudaMemcpy" | "cudaMemcpyAsync", [dst, src, n]) => {
                self.copy(id, name, [*dst, *src, *n], None, CopyKind::Unknown);
            }
            ("cuMemcpyHtoD" | "cuMemcpyHtoDAsync", [dst, src, n, ..]) => {
                self.copy(id, name, [*dst, *src, *n], None, CopyKind::HostToDevice);
            }
            ("cuMemcpyDtoH" | "cuMemcpyDtoHAsync", [dst, src, n, ..]) => {
                self.copy(id, name, [*dst, *src, *n], None, CopyKind::DeviceToHost);
            }
            ("cuMemcpyDtoD" | "cuMemcpyDtoDAsync", [dst, src, n, ..]) => {
                self.copy(id, name, [*dst, *src, *n], None, CopyKind::DeviceToDevice);
            }
            ("cuMemcpy" | "cuMemcpyAsync", [dst, src, n, ..]) => {
                self.copy(id, name, [*dst, *src, *n], None, CopyKind::Default);
            }
            ("cudaMemcpyToSymbol" | "cudaMemcpyToSymbolAsync", [symbol, src, n, rest @ ..]) => {
                self.copy_symbol(id, name, *symbol, *src, *n, rest, true);
            }
            ("cudaMemcpyFromSymbol" | "cudaMemcpyFromSymbolAsync", [dst, symbol, n, rest @ ..]) => {
                self.copy_symbol(id, name, *symbol, *dst, *n, rest, false);
            }
            ("cudaMemset" | "cudaMemsetAsync", [p, value, n, ..]) => self.set(id, name, *p, *value, *n, 1),
            ("cuMemsetD8" | "cuMemsetD8Async", [p, value, n, ..]) => self.set(id, name, *p, *value, *n, 1),
            ("cuMemsetD16" | "cuMemsetD16Async", [p, value, n, ..]) => self.set(id, name, *p, *value, *n, 2),
            ("cuMemsetD32" | "cuMemsetD32Async", [p, value, n, ..]) => self.set(id, name, *p, *value, *n, 4),
            ("cudaHostRegister" | "cuMemHostRegister", [p, ..]) => {
                let outs = self.arguments(args);
                let _ = p;
                if let Some(Kind::Ptr(pointer)) = outs.first().map(|out| &out.val.kind) {
                    self.move_to(pointer.obj, MemorySpace::Pinned);
                }
            }
            ("cudaHostGetDevicePointer" | "cuMemHostGetDevicePointer", [_, _, ..]) => {
                let outs = self.arguments(args);
                let val = outs.get(1).map_or_else(Val::unknown, |out| out.val.clone());
                self.write_through(&outs[0], val);
            }
            ("cudaGetSymbolAddress", [_, symbol]) => {
                let target = self.eval(args[0]);
                let (place, ty) = self.symbol(*symbol);
                let val = self.address(&place, &ty);
                self.write_through(&target, val);
            }
            ("cudaFuncSetAttribute" | "cuFuncSetAttribute", [kernel, attribute, value]) => {
                self.set_attribute(*kernel, *attribute, *value);
            }
            ("cudaGetErrorString" | "cudaGetErrorName", _) => {
                self.arguments(args);
                return Some(Out::new(Val::unknown(), Ty::pointer(Ty::Int { bytes: 1, signed: true })));
            }
            // Not a status call but a macro or type of the same prefix.
            ("cudaCreateChannelDesc" | "make_cudaExtent" | "make_cudaPos" | "make_cudaPitchedPtr", _) => {
                for out in self.arguments(args) {
                    self.escape_pointers(&out.val);
                }
                return Some(Out::unknown());
            }
            _ => {
                if plain == "cudaStreamBeginCapture" || plain == "cuStreamBeginCapture" {
                    self.capturing = true;
                    self.leave_trace();
                }
                let outs = self.arguments(args);
                for out in &outs {
                    self.memory.reached_by_device(&out.val, false);
                    self.written_by_library(out);
                }
            }
        }
        Some(Out::new(Val::from(Kind::Status), Ty::INT))
    }

    /// A library may write what it is given the address of; it frees nothing and knows no more.
    pub fn written_by_library(&mut self, out: &Out) {
        let mut pointers = Vec::new();
        out.val.pointers(&mut pointers);
        for object in pointers {
            self.memory.forget(object, &root());
        }
    }

    /// Stores through a pointer argument.
    pub fn write_through(&mut self, target: &Out, val: Val) {
        let ty = target.ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let place = self.pointed_place(&target.val, &ty);
        // `(void**)&p` says nothing of the type that is stored.
        self.memory.store(&place, val);
    }

    /// The variable and static pointee type behind an out-parameter `(void**)&p`.
    fn out_pointer(&mut self, expr: ExprId) -> (Out, Ty, String) {
        let out = self.eval(expr);
        let inner = self.without_casts(expr);
        let static_ty = if inner == expr { out.ty.clone() } else { self.type_of(inner) };
        let pointer_ty = static_ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let pointee = pointer_ty.pointee().cloned().unwrap_or(Ty::Unknown);
        let text = match self.node(inner).map(|node| &node.kind) {
            Some(Expr::AddressOf(value)) => self.text(*value),
            _ => self.text(inner),
        };
        (out, pointee, text)
    }

    fn allocate(&mut self, id: ExprId, api: &str, target: ExprId, count: ExprId, space: MemorySpace) {
        let (out, pointee, text) = self.out_pointer(target);
        let bytes = self.eval(count);
        let shape = self.shape(count);
        let size = crate::arith::convert(&mut self.atoms, &bytes.val, &Ty::SIZE);
        let element = self.known_size(&pointee);
        let info = ObjectInfo {
            name: Name::from(text.as_str()),
            site: self.expr_site(id),
            ty: pointee.clone(),
            space,
            api: Name::from(api),
            array: true,
            element,
        };
        let object = self.create_object(info, size, Val::unknown());
        self.memory.set_held(object, Some(Held::fresh()));
        let pointer = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: true });
        self.write_through(&out, Val::from(pointer));
        if !self.wants(id) {
            return;
        }
        let buffer = self.buffer(object);
        let kind = EventKind::Allocate {
            buffer,
            count: shape,
            pointer_text: text,
            element,
            element_name: self.type_name(&pointee),
        };
        let span = self.span(id);
        self.emit(kind, span, &[count]);
    }

    fn allocate_unsized(&mut self, id: ExprId, api: &str, target: ExprId, out: &Out) {
        let ((), pointee, text) = {
            let inner = self.without_casts(target);
            let ty = self.type_of(inner);
            let pointee = ty.pointee().and_then(Ty::pointee).cloned().unwrap_or(Ty::Unknown);
            ((), pointee, self.text(inner).trim_start_matches('&').to_owned())
        };
        let info = ObjectInfo {
            name: Name::from(text.as_str()),
            site: self.expr_site(id),
            element: self.known_size(&pointee),
            ty: pointee,
            space: MemorySpace::Device,
            api: Name::from(api),
            array: true,
        };
        let object = self.create_object(info, Val::size(Quantity::Unknown), Val::unknown());
        let pointer = Kind::Ptr(Ptr { obj: object, path: root(), offset: Quantity::Known(0), array: true });
        self.write_through(out, Val::from(pointer));
    }

    /// Bytes of a pointee, unless it is `void` or out of sight.
    pub fn known_size(&mut self, ty: &Ty) -> Option<i64> {
        match ty {
            Ty::Void | Ty::Unknown | Ty::Auto | Ty::Opaque(_) => None,
            other => self.size_of(other).known(),
        }
    }

    /// Memory is given back.
    pub fn free_value(&mut self, id: ExprId, api: &str, expr: ExprId, out: &Out) {
        let device_api = api.starts_with("cu");
        if device_api && self.wants(id) {
            let argument = self.argument(expr, out);
            let span = self.span(id);
            self.emit(EventKind::Free { api: Name::from(api), argument }, span, &[]);
        }
        if let Kind::Ptr(pointer) = &out.val.kind {
            self.memory.get_mut(pointer.obj).freed = Freed::Yes;
        }
    }

    fn move_to(&mut self, object: crate::memory::ObjId, space: MemorySpace) {
        let info = self.memory.get(object).info.clone();
        let moved = ObjectInfo {
            name: info.name.clone(),
            site: info.site,
            ty: info.ty.clone(),
            space,
            api: info.api.clone(),
            array: info.array,
            element: info.element,
        };
        self.memory.get_mut(object).info = std::rc::Rc::new(moved);
    }

    fn copy(&mut self, id: ExprId, api: &str, [dst, src, n]: [ExprId; 3], kind: Option<ExprId>, implied: CopyKind) {
        let (to, from, bytes) = (self.eval(dst), self.eval(src), self.eval(n));
        let kind_value = kind.map(|kind| self.eval(kind).val);
        let direction = match &kind_value {
            Some(val) => direction(val),
            None => implied,
        };
        self.shown_to_device(&from);
        if !self.wants(id) {
            return self.contents_change(&to);
        }
        let (destination, source) = (self.argument(dst, &to), self.argument(src, &from));
        let before = self.held_before(&to);
        self.copied(id, api, destination, source, n, &bytes, direction, kind.map(|kind| self.span(kind)), &to);
        let size = crate::arith::convert(&mut self.atoms, &bytes.val, &Ty::SIZE);
        self.held_after_copy(before, &to, &from, &size);
    }

    /// Pointers in what is copied can be followed on the other side.
    fn shown_to_device(&mut self, from: &Out) {
        let mut shown = Vec::new();
        if let Kind::Ptr(source) = &from.val.kind {
            self.memory.get(source.obj).pointers(&[], &mut shown);
        }
        self.memory.escaped.extend(shown);
    }

    #[allow(clippy::too_many_arguments)]
    fn copied(
        &mut self,
        id: ExprId,
        api: &str,
        destination: PointerArgument,
        source: PointerArgument,
        n: ExprId,
        bytes: &Out,
        kind: CopyKind,
        kind_span: Option<cudalint_syntax::Span>,
        to: &Out,
    ) {
        let size = crate::arith::convert(&mut self.atoms, &bytes.val, &Ty::SIZE);
        let count = self.shape_for(n, &[&destination, &source]);
        let event = EventKind::Copy {
            api: Name::from(api),
            destination,
            source,
            bytes: self.amount(&size),
            count,
            kind,
            kind_span,
            asynchronous: api.contains("Async"),
        };
        let span = self.span(id);
        self.emit(event, span, &[n]);
        self.contents_change(to);
    }

    /// What a pointer leads to gets other contents.
    pub fn contents_change(&mut self, out: &Out) {
        match &out.val.kind {
            Kind::Ptr(pointer) => self.memory.forget(pointer.obj, &pointer.path.clone()),
            Kind::Unknown => self.memory.forget_escaped(),
            _ => {}
        }
    }

    /// A `__device__` variable named as such, by address, or (formerly) by a string.
    fn symbol(&mut self, expr: ExprId) -> (Place, Ty) {
        let inner = self.without_casts(expr);
        match self.node(inner).map(|node| &node.kind) {
            Some(Expr::AddressOf(value)) => self.place(*value, super::places::Access::Address),
            _ if self.is_lvalue(inner) => self.place(inner, super::places::Access::Address),
            _ => (Place::Unknown, Ty::Unknown),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn copy_symbol(
        &mut self,
        id: ExprId,
        api: &str,
        symbol: ExprId,
        other: ExprId,
        n: ExprId,
        rest: &'p [ExprId],
        to_symbol: bool,
    ) {
        let (place, ty) = self.symbol(symbol);
        let address = self.address(&place, &ty);
        let outs = self.arguments(rest);
        let address = match outs.first() {
            Some(offset) => self.advance(&address, &offset.val, &Ty::Int { bytes: 1, signed: false }),
            None => address,
        };
        let element = match &ty {
            Ty::Array(inner, _) => (**inner).clone(),
            other => other.clone(),
        };
        let symbol_out = Out::new(address, Ty::pointer(element.clone()));
        let (out, bytes) = (self.eval(other), self.eval(n));
        let symbol_argument = PointerArgument {
            pointer: match self.pointer(&symbol_out.val) {
                // Only variables of the device are symbols.
                crate::facts::Pointer::Into { buffer, offset } if buffer.space != MemorySpace::Host => {
                    crate::facts::Pointer::Into { buffer, offset }
                }
                _ => crate::facts::Pointer::Unknown,
            },
            text: self.text(symbol),
            span: self.span(symbol),
            element: self.known_size(&element),
            element_name: self.type_name(&element),
        };
        self.shown_to_device(&out);
        let host = self.argument(other, &out);
        let kind = match outs.get(1) {
            Some(kind) => direction(&kind.val),
            None if to_symbol => CopyKind::HostToDevice,
            None => CopyKind::DeviceToHost,
        };
        let kind_span = rest.get(1).map(|kind| self.span(*kind));
        let (destination, source, to) =
            if to_symbol { (symbol_argument, host, symbol_out) } else { (host, symbol_argument, out) };
        self.copied(id, api, destination, source, n, &bytes, kind, kind_span, &to);
    }

    fn set(&mut self, id: ExprId, api: &str, p: ExprId, value: ExprId, n: ExprId, unit: i64) {
        let (to, what, count) = (self.eval(p), self.eval(value), self.eval(n));
        let bytes = crate::arith::convert(&mut self.atoms, &count.val, &Ty::SIZE);
        let bytes = Val::size(bytes.quantity().times(&Quantity::Known(unit))).because(&bytes.why);
        if !self.wants(id) {
            return self.contents_change(&to);
        }
        let set_value = match &what.val.kind {
            Kind::Float(_) | Kind::Ratio(..) => {
                let ty = if unit == 4 { Ty::Int { bytes: 4, signed: false } } else { Ty::INT };
                crate::arith::convert(&mut self.atoms, &what.val, &ty)
            }
            _ => what.val.clone(),
        };
        let destination = self.argument(p, &to);
        let shape = self.shape_for(n, &[&destination]);
        let event = EventKind::Set {
            api: Name::from(api),
            destination,
            value: self.amount(&set_value),
            value_text: self.text(value),
            value_span: self.span(value),
            bytes: self.amount(&bytes),
            count: shape,
            unit,
        };
        let span = self.span(id);
        self.emit(event, span, &[n]);
        let before = self.held_before(&to);
        self.contents_change(&to);
        self.held_after_set(before, &to, &what.val, &bytes, unit);
    }

    fn set_attribute(&mut self, kernel: ExprId, attribute: ExprId, value: ExprId) {
        let name = self.text(attribute);
        let out = self.eval(self.without_casts(kernel));
        let value = self.eval(value);
        if !name.contains("MaxDynamicSharedMemorySize") && !name.contains("MAX_DYNAMIC_SHARED_SIZE_BYTES") {
            return;
        }
        self.any_opt_in = true;
        self.leave_trace();
        if let Kind::Function(module, function, _) = &out.val.kind {
            // Another instance of the same template may get another size: the larger counts, an unknown one most.
            let new = match (self.opt_in.get(&(*module, *function)), value.val.known()) {
                (Some(old), Some(new)) => match old.known() {
                    Some(old) => Val::int(old.max(new)),
                    None => Val::unknown(),
                },
                (None, Some(new)) => Val::int(new),
                _ => Val::unknown(),
            };
            self.opt_in.insert((*module, *function), new);
        } else {
            self.unknown_opt_in = true;
        }
    }
}

/// `cudaMemcpyKind` by its value.
fn direction(val: &Val) -> CopyKind {
    if val.why.is_some() {
        return CopyKind::Unknown;
    }
    CopyKind::by_number(val.known())
}
