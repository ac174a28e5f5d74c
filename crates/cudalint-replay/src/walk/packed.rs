//! Arrays of pointers to a kernel's arguments, as `cudaLaunchKernel` takes them.

use super::{Out, Walker};
use crate::facts::{EventKind, MemorySpace, PackedFact, PackedFault};
use crate::memory::{Key, Place};
use crate::quantity::Quantity;
use crate::value::Kind;
use cudalint_program::ir::{ExprId, FunctionId, ModuleId};
use cudalint_program::types::Ty;

/// Most parameters of a kernel that are looked at.
const MAX_PARAMETERS: u32 = 64;

impl Walker<'_> {
    /// The array that a launch reads its kernel's parameters from.
    pub(super) fn check_packed(
        &mut self,
        (named, list): (ExprId, ExprId),
        array: &Out,
        kernel: Option<(ModuleId, FunctionId)>,
    ) {
        let Kind::Ptr(array) = &array.val.kind else { return };
        if !self.is_reporting() {
            return;
        }
        let count = match self.memory.get(array.obj).info.ty.value() {
            Ty::Array(_, Quantity::Known(count)) if array.path.is_empty() && array.offset == Quantity::Known(0) => {
                Some(*count)
            }
            _ => None,
        };
        let wants = kernel.and_then(|(module, id)| Some(self.project.function_at(module, id)?.param_count));
        let mut fault = None;
        for index in 0..wants.unwrap_or(MAX_PARAMETERS).min(MAX_PARAMETERS) {
            if count.is_some_and(|count| i64::from(index) >= count) {
                fault = wants.map(|wants| PackedFault::TooFew { has: index, wants });
                break;
            }
            let path = crate::memory::extend(&array.path, Key::At(8 * i64::from(index)));
            let cell = self.memory.load(&Place::Cell(array.obj, path));
            match &cell.kind {
                Kind::Ptr(target) => {
                    let info = &self.memory.get(target.obj).info;
                    if info.space == MemorySpace::Device && info.origin.api().is_some_and(|api| api.is_cuda_host()) {
                        fault = Some(PackedFault::Device { index, name: info.name.clone() });
                        break;
                    }
                }
                Kind::Int(_) if cell.known().is_some_and(|value| value != 0) => {
                    fault = Some(PackedFault::Number { index });
                    break;
                }
                _ => {}
            }
        }
        if let Some(fault) = fault {
            let span = self.span(list);
            let fact = PackedFact { text: self.text(list), kernel: self.text(named), fault };
            self.emit(EventKind::Packed(Box::new(fact)), span, &[]);
        }
    }
}
