//! All facts on one module.

use super::{
    Checker, DefectFact, EndedCall, Event, ForkFact, FreedTwice, FunctionStatus, ImplicitTransfer, KernelSummary,
    ParameterFault, PythonFault, RedundantWait, SpaceFault, StaticCall, Step, UnreadLog,
};
use crate::runs::{Counts, KernelAccount, KernelRun};
use cudalint_kernel::python::Specialization;
use cudalint_program::ir::FunctionId;
use cudalint_syntax::Span;
use std::sync::Arc;

/// All that is known about one module after the replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// Events in the order of their sites, each site's distinct outcomes once.
    pub events: Vec<Event>,
    /// Error handling by function.
    pub status: Vec<FunctionStatus>,
    /// Checkers defined in this module.
    pub checkers: Vec<Checker>,
    /// Kernels of this module with what their code says of itself: as they are launched first, or else as it stands.
    pub kernels: Vec<(FunctionId, Arc<KernelSummary>)>,
    /// Kernels of this module executed, in the order of the kernels, those that rest on nothing but facts first.
    pub runs: Vec<KernelRun>,
    /// What is wrong in these executions, by what it is: each once.
    pub defects: Vec<DefectFact>,
    /// How many launches of this module's kernels that were, and why not more.
    pub run_counts: Counts,
    /// What each kernel of this module was checked for and how; empty unless somebody asks.
    pub accounts: Vec<KernelAccount>,
    /// Calls across execution spaces, in order.
    pub space_faults: Vec<SpaceFault>,
    /// Calls of functions that some toolkits or architectures no longer have, in order.
    pub ended_calls: Vec<EndedCall>,
    /// Programs compiled at run time whose log nobody reads.
    pub unread_logs: Vec<UnreadLog>,
    /// Processes that are forked after they have used CUDA.
    pub forks: Vec<ForkFact>,
    /// Memory that a function gives back twice by one name, wherever it comes from.
    pub freed_twice: Vec<FreedTwice>,
    /// Calls of CUDA before `main` and after it.
    pub static_calls: Vec<StaticCall>,
    /// Kernel parameters that are not plain data, in order.
    pub parameter_faults: Vec<ParameterFault>,
    /// Kernels of this module in Python with the types that they are made for, as far as they themselves say, and what they
    /// take from the module.
    pub python_kernels: Vec<(FunctionId, Arc<Specialization>)>,
    /// What goes wrong between Python host code and its kernels, in the order of the sites.
    pub python: Vec<PythonFault>,
    /// Waits that nothing needs; empty unless somebody asks.
    pub redundant_waits: Vec<RedundantWait>,
    /// Arrays of Python's host code that launches copy again and again; empty unless somebody asks.
    pub implicit_transfers: Vec<ImplicitTransfer>,
    /// Stretches of host code that no run of their function comes to, in order.
    pub never_run: Vec<NeverRun>,
    /// What was cut short, by cause: for `--statistics`.
    pub limits: Vec<(&'static str, u32)>,
}

/// A statement of host code that no run of its function comes to: a condition before it has another value whenever it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeverRun {
    /// The statement, in the module of the facts.
    pub span: Span,
    /// The condition.
    pub condition: Span,
}

impl Facts {
    /// All steps on the ways to what happens.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        let events = self.events.iter().map(|event| &event.path);
        let runs = self.runs.iter().map(|run| &run.path);
        events.chain(runs).chain(self.python.iter().map(|fault| &fault.path)).flatten()
    }
}
