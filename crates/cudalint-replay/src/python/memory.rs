//! Memory by its address: `CuPy`'s allocators, memory pointers and the runtime's own functions.

use super::Walker;
use super::attributes::address_of;
use super::calls::Args;
use super::copies::{CopyCall, SetCall, last_part};
use super::value::{Dim, Kind, Val};
use crate::facts::{CopyKind, MemorySpace};
use crate::quantity::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::ExprId;

impl Walker<'_> {
    /// A function of `cupy.cuda` that has to do with memory; `name` begins with `cuda.`.
    pub(super) fn cupy_memory(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        let short = name.trim_start_matches("cuda.").trim_start_matches("memory.");
        let space = match short {
            "alloc" | "malloc_async" | "Memory" | "runtime.malloc" | "runtime.mallocAsync" => MemorySpace::Device,
            "malloc_managed" | "ManagedMemory" | "runtime.mallocManaged" => MemorySpace::Managed,
            "alloc_pinned_memory"
            | "pinned_memory.alloc_pinned_memory"
            | "runtime.hostAlloc"
            | "runtime.mallocHost" => MemorySpace::Pinned,
            _ => return self.cupy_copies(id, short, args),
        };
        let bytes = args.positional.first().or_else(|| args.named("size")).cloned()?;
        let expr = args.expr(0, "size");
        let memory = self.allocated(id, &format!("cupy.{name}"), space, &bytes, expr);
        if space == MemorySpace::Pinned
            && let Kind::Memory(buffer, _) = &memory.kind
            && let Some(buffer) = self.heap.buffer_mut(*buffer)
        {
            // The host writes it in ways that are not followed.
            buffer.held = None;
        }
        Some(memory)
    }

    fn cupy_copies(&mut self, id: ExprId, name: &str, args: &Args) -> Option<Val> {
        let part = |position: usize, name: &str| Some((args.get(position, name)?.clone(), args.expr(position, name)?));
        match name {
            "MemoryPointer" => {
                let Kind::Memory(buffer, start) = args.get(0, "mem")?.kind.clone() else { return None };
                let offset = args.get(1, "offset").cloned()?;
                let offset = self.as_int(&offset).unwrap_or(Quantity::Unknown);
                Some(Val::from(Kind::Memory(buffer, start.plus(&offset))))
            }
            // Somebody else's memory under another name.
            "UnownedMemory" => args.get(0, "ptr").filter(|pointer| matches!(pointer.kind, Kind::Memory(..))).cloned(),
            "runtime.memcpy" | "runtime.memcpyAsync" => {
                let (to, from, (count, size)) = (part(0, "dst")?, part(1, "src")?, part(2, "size")?);
                let (kind, expr) = part(3, "kind")?;
                let bytes = Dim { q: self.as_int(&count).unwrap_or(Quantity::Unknown), why: count.why };
                let (kind, kind_span) = (direction(&kind), self.last_name(expr).or_else(|| Some(self.span(expr))));
                let api = last_part(name);
                self.copy(id, &CopyCall { api, to, from, bytes, size: Ok(size), kind, kind_span });
                Some(Val::none())
            }
            "runtime.memset" | "runtime.memsetAsync" => {
                let (to, value, (count, size)) = (part(0, "ptr")?, part(1, "value")?, part(2, "size")?);
                let count = Dim { q: self.as_int(&count).unwrap_or(Quantity::Unknown), why: count.why };
                self.set_elements(id, &SetCall { api: last_part(name), to, value, count, size, unit: 1 });
                Some(Val::none())
            }
            "runtime.free" | "runtime.freeAsync" => Some(Val::none()),
            _ => None,
        }
    }

    /// A method of memory without a type.
    pub(super) fn memory_method(&mut self, id: ExprId, receiver: &Val, name: &Name, args: &Args) -> Option<Val> {
        let api = name.as_str();
        let kind = match api.trim_end_matches("_async") {
            "copy_from_host" => CopyKind::HostToDevice,
            "copy_from_device" => CopyKind::DeviceToDevice,
            "copy_to_host" => CopyKind::DeviceToHost,
            "copy_from" => CopyKind::Default,
            "memset" => CopyKind::Unknown,
            "free" => return Some(Val::none()),
            _ => return None,
        };
        let own = (receiver.clone(), self.receiver_expr(id)?);
        let other = args.positional.first().or_else(|| args.named("mem")).or_else(|| args.named("src")).cloned();
        let expr = args.expr(0, "mem").or_else(|| args.expr(0, "src"));
        let (count, size) = (args.get(1, "size").cloned()?, args.expr(1, "size")?);
        let count = Dim { q: self.as_int(&count).unwrap_or(Quantity::Unknown), why: count.why };
        if kind == CopyKind::Unknown {
            let value = (args.get(0, "value").cloned()?, args.expr(0, "value")?);
            self.set_elements(id, &SetCall { api, to: own, value, count, size, unit: 1 });
            return Some(Val::none());
        }
        let other = (other?, expr?);
        let (to, from) = if kind == CopyKind::DeviceToHost { (other, own) } else { (own, other) };
        let kind_span = if kind == CopyKind::Default { None } else { self.callee_name(id) };
        self.copy(id, &CopyCall { api, to, from, bytes: count, size: Ok(size), kind, kind_span });
        Some(Val::none())
    }

    /// `a.ctypes.data_as(type)`.
    pub(super) fn address_method(&mut self, attribute: &(Val, Name), name: &Name) -> Option<Val> {
        (attribute.1 == "ctypes" && matches!(name.as_str(), "data_as" | "get_as_parameter"))
            .then(|| address_of(&attribute.0))
    }
}

/// `cudaMemcpyKind` as `CuPy` spells it.
fn direction(kind: &Val) -> CopyKind {
    let number = match &kind.kind {
        Kind::Package(path) => match last_part(path) {
            "memcpyHostToHost" => Some(0),
            "memcpyHostToDevice" => Some(1),
            "memcpyDeviceToHost" => Some(2),
            "memcpyDeviceToDevice" => Some(3),
            "memcpyDefault" => Some(4),
            _ => None,
        },
        _ => kind.known(),
    };
    CopyKind::by_number(number)
}
