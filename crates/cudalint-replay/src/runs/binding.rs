//! What a kernel is compiled for, and what its code says of itself then.

use crate::facts::LaunchFact;
use cudalint_kernel::python::Specialization;
use cudalint_kernel::readings::KernelSummary;
use cudalint_program::ir::FunctionId;
use cudalint_program::types::TypeEnv;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The summaries of one module's kernels, by what they are compiled for: as they are launched first, first.
pub(super) type Summaries = FxHashMap<FunctionId, Vec<(Binding, Arc<KernelSummary>)>>;

/// What a kernel is compiled for: its template arguments, or the types of its arguments in Python.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Binding {
    pub env: TypeEnv,
    pub python: Option<Arc<Specialization>>,
}

impl Binding {
    pub(super) fn of(fact: &LaunchFact) -> Self {
        Self { env: fact.env.clone(), python: fact.python.clone() }
    }

    pub(super) fn is_of(&self, fact: &LaunchFact) -> bool {
        self.env == fact.env && self.python == fact.python
    }
}
