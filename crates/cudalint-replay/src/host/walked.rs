//! What the walks of a module found.

use crate::facts::{Event, NeverRun, PythonFault};
use cudalint_kernel::python::Specialization;
use cudalint_program::ir::{FunctionId, ModuleId};
use std::sync::Arc;

/// What the walks from one module's functions saw, in any module.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// Events in the order of the walks: from `main` first, then from each host function in source order.
    pub events: Vec<Event>,
    /// Stretches of the module's own code that no run of their function comes to.
    pub never_run: Vec<NeverRun>,
    /// What was cut short, by cause.
    pub limits: Vec<(&'static str, u32)>,
    /// What goes wrong between Python host code and its kernels, with the modules of the places.
    pub faults: Vec<(ModuleId, PythonFault)>,
    /// The module's own kernels in Python with the types that they are made for.
    pub kernels: Vec<(FunctionId, Arc<Specialization>)>,
}
