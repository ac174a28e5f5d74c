//! Methods of memory without a type: `CuPy`'s memory pointers, and addresses of arrays.

use super::Walker;
use super::attributes::address_of;
use super::calls::Args;
use super::copies::{CopyCall, SetCall};
use super::value::{Dim, Val};
use crate::facts::CopyKind;
use crate::quantity::Quantity;
use cudalint_program::Name;
use cudalint_program::ir::ExprId;

impl Walker<'_> {
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
        let asynchronous = api.ends_with("_async");
        self.copy(id, &CopyCall { api, to, from, bytes: count, size: Ok(size), kind, kind_span, asynchronous });
        Some(Val::none())
    }

    /// `a.ctypes.data_as(type)`.
    pub(super) fn address_method(&mut self, attribute: &(Val, Name), name: &Name) -> Option<Val> {
        (attribute.1 == "ctypes" && matches!(name.as_str(), "data_as" | "get_as_parameter"))
            .then(|| address_of(&attribute.0))
    }
}
