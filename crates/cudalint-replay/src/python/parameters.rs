//! How a kernel in C++ uses the arrays that it is handed: by which type, and in which order.

use super::Walker;
use super::value::{Array, Dtype, Layout};
use cudalint_kernel::code;
use cudalint_kernel::readings::{self, Use};
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};

impl Walker<'_> {
    /// What a kernel does with the memory behind a parameter.
    fn native_use(&self, (module, id): (ModuleId, FunctionId), env: &TypeEnv, index: usize) -> Option<Use> {
        let code = cudalint_kernel::lower(self.project, module, id, env)?;
        readings::uses::uses(&code).into_iter().nth(index)
    }

    /// Whether a kernel reads a parameter by another type than the declared one, which then says nothing.
    pub(super) fn reads_as_another_type(
        &self,
        kernel: (ModuleId, FunctionId),
        env: &TypeEnv,
        index: usize,
        declared: &Ty,
    ) -> bool {
        let Some(usage) = self.native_use(kernel, env, index) else { return true };
        let scalar = |ty: &code::Ty| match (ty, declared) {
            (code::Ty::Int { bytes, .. }, Ty::Int { bytes: wanted, .. })
            | (code::Ty::Float { bytes }, Ty::Float { bytes: wanted }) => bytes == wanted,
            (code::Ty::Bool, Ty::Bool) => true,
            _ => false,
        };
        usage.types.iter().any(|ty| !scalar(ty)) || usage.types.is_empty() && usage.escapes
    }

    /// Whether the order of elements in memory matters to a kernel: it combines two indices, or the view leaves gaps.
    pub(super) fn indexes_in_order(
        &self,
        kernel: (ModuleId, FunctionId),
        env: &TypeEnv,
        index: usize,
        array: &Array,
    ) -> bool {
        let Some(function) = self.project.function_at(kernel.0, kernel.1) else { return false };
        // A kernel that is told strides does its own arithmetic.
        let strided = function.params().iter().any(|parameter| {
            let name = parameter.name.to_lowercase();
            name.contains("stride") || name.contains("pitch") || name.starts_with("ld") || name.contains("step")
        });
        let ordered = || self.native_use(kernel, env, index).is_some_and(|usage| usage.multiplied);
        !strided && (matches!(array.layout, Layout::Strided(_)) || ordered())
    }
}

/// Element types that surely do not go together: what is given, and what the kernel reads.
pub(super) fn elements_differ(given: Dtype, wanted: &Ty) -> Option<(String, String)> {
    let differ = match (given, wanted) {
        // Single bytes are how raw memory is read.
        (_, Ty::Int { bytes: 1, .. } | Ty::Void | Ty::Bool) => false,
        (Dtype::Int { bytes, .. }, Ty::Int { bytes: wanted, .. })
        | (Dtype::Float { bytes }, Ty::Float { bytes: wanted }) => bytes != *wanted,
        (Dtype::Int { .. } | Dtype::Bool, Ty::Float { .. }) | (Dtype::Float { .. } | Dtype::Bool, Ty::Int { .. }) => {
            true
        }
        _ => false,
    };
    differ.then(|| (given.name(), wanted.name()))
}

/// Whether an element that is given has at least as many bytes as one that the kernel reads.
pub(super) fn is_as_wide(given: Dtype, wanted: &Ty) -> bool {
    let own = match given {
        Dtype::Int { bytes, .. } | Dtype::Float { bytes } => bytes,
        Dtype::Bool => 1,
        _ => return false,
    };
    matches!(wanted, Ty::Int { bytes, .. } | Ty::Float { bytes } if *bytes <= own)
}
