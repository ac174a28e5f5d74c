//! What kernels say of themselves, handed to their launches and to their modules.

use super::binding::{Binding, Summaries};
use super::collect::ModuleLaunches;
use super::execute::{Module, ModuleRuns};
use super::{crossings, read_back};
use crate::facts::{EventKind, Facts};
use cudalint_kernel::readings::{KernelSummary, summary};
use cudalint_program::ir::FunctionId;
use std::sync::Arc;

impl Module<'_> {
    /// Reads the kernels of a module as they are launched; those that nobody launches as they stand.
    pub(super) fn summaries(&mut self, launches: &ModuleLaunches<'_>) -> Summaries {
        let mut all = Summaries::default();
        for (kernel, seen) in &launches.kernels {
            let Some(function) = self.project.function_at(self.id, *kernel) else { continue };
            let mut bindings: Vec<Binding> = Vec::new();
            for one in seen {
                if !bindings.iter().any(|known| known.is_of(one.fact)) {
                    bindings.push(Binding::of(one.fact));
                }
            }
            if bindings.is_empty() {
                bindings.push(self.instance(*kernel, function));
            }
            for binding in bindings {
                if function.python.is_some() != binding.python.is_some() {
                    continue;
                }
                if let Some(code) = self.code(*kernel, &binding) {
                    let summary = Arc::new(summary::summary(&code));
                    all.entry(*kernel).or_default().push((binding, summary));
                }
            }
        }
        all
    }
}

/// Hands what came of the kernels of all modules to the facts of their modules, and what kernels say of themselves to their
/// launches as well.
pub fn hand_out(facts: &mut [Facts], runs: Vec<ModuleRuns>) {
    let mut summaries = Vec::new();
    for (facts, runs) in facts.iter_mut().zip(runs) {
        let first = |(kernel, all): (&FunctionId, &Vec<(Binding, Arc<KernelSummary>)>)| {
            all.first().map(|(_, summary)| (*kernel, Arc::clone(summary)))
        };
        facts.kernels = runs.summaries.iter().filter_map(first).collect();
        facts.kernels.sort_by_key(|(kernel, _)| *kernel);
        facts.runs = runs.runs;
        facts.defects = runs.defects;
        facts.run_counts = runs.counts;
        facts.accounts = runs.accounts;
        summaries.push(runs.summaries);
    }
    crossings::hand_out(facts);
    read_back::hand_out(facts);
    for event in facts.iter_mut().flat_map(|facts| &mut facts.events) {
        let EventKind::Launch(fact) = &mut event.kind else { continue };
        let Some((module, kernel)) = fact.kernel else { continue };
        let of_kernel = summaries.get(usize::from(module)).and_then(|all| all.get(&kernel));
        let known = of_kernel.and_then(|all| all.iter().find(|(binding, _)| binding.is_of(fact)));
        fact.kernel_summary = known.map(|(_, summary)| Arc::clone(summary));
    }
}
