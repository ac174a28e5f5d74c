//! What copies to the host read that nobody has written: of kernels, their executions say what they leave alone.

use super::collect::Seen;
use super::execute::{Module, facts_of};
use super::numbers::numbers;
use super::{Basis, KernelRun};
use crate::facts::{EventKind, Facts, KernelWrite, ReadBackFact};
use crate::given::{Given, Held, HeldContents};
use crate::quantity::Quantity;
use cudalint_kernel::report::{Coverage, ExecutionReport};
use cudalint_kernel::{Argument, Budget, Code, LaunchInput};
use cudalint_program::ir::FunctionId;
use std::sync::Arc;

/// Most blocks of a launch that are all executed to find what it leaves alone, with most lane-operations.
const MOST_BLOCKS: u64 = 1024;
const MOST_OPERATIONS: u64 = 2_000_000;

impl Module<'_> {
    /// Of a launch of which only some blocks were executed: executes all, for what they leave unwritten.
    pub(super) fn follow_all_blocks(&mut self, code: &Code, launch: &LaunchInput, report: &mut ExecutionReport) {
        let Coverage { blocks, of_blocks, operations, .. } = report.coverage;
        let expected = operations / blocks.max(1) * of_blocks;
        if blocks == of_blocks || of_blocks > MOST_BLOCKS || expected > MOST_OPERATIONS.min(self.operations_left) {
            return;
        }
        let budget = Budget {
            lane_operations: MOST_OPERATIONS,
            blocks: of_blocks as u32,
            iterations: u32::MAX,
            ..Budget::default()
        };
        let whole = self.executed(code, launch, &budget, &[]);
        self.count(&whole);
        for (buffer, of_all) in report.buffers.iter_mut().zip(whole.buffers) {
            buffer.left = of_all.left;
        }
    }

    /// Executes a launch that is given memory which others have written in part: once more, with what they have left unwritten.
    pub(super) fn behind_others(&mut self, kernel: FunctionId, seen: &Seen<'_>) {
        if !seen.fact.given.iter().any(|given| given.written_by().is_some()) {
            return;
        }
        let mut fact = seen.fact.clone();
        let mut any = false;
        for given in &mut fact.given {
            let Given::Pointer { buffer, held: Some(held), .. } = given else { continue };
            let HeldContents::WrittenBy(filled, kernels) = &held.contents else { continue };
            let Some(bytes) = buffer.bytes.quantity.known().filter(|_| buffer.bytes.assumptions.is_none()) else {
                continue;
            };
            if let Some(left) = self.left_of(bytes, filled, kernels) {
                any = true;
                let written = left.iter().fold(vec![(0, bytes)], |written, left| without(&written, *left));
                let ranges = written.iter().map(|(from, to)| (Quantity::Known(*from), Quantity::Known(to - from)));
                let contents = HeldContents::WrittenOnly(ranges.collect());
                *held = Arc::new(Held { contents, assumptions: held.assumptions.clone() });
            }
        }
        let Some(function) = self.project.function_at(self.id, kernel).filter(|_| any) else { return };
        let behind = Seen { event: seen.event, fact: &fact };
        if let Ok(numbers) = numbers(&fact, function, &facts_of(&behind)) {
            // What becomes of the launch was noted before.
            _ = self.run(kernel, &behind, numbers, None);
        }
    }

    /// What launches of this module's kernels have left unwritten of memory of so many bytes.
    fn left_of(&self, bytes: i64, filled: &[(Quantity, Quantity)], kernels: &[KernelWrite]) -> Option<Stretches> {
        let mut left: Stretches = vec![(0, bytes)];
        for (start, length) in filled {
            let start = start.known()?;
            left = without(&left, (start, start.checked_add(length.known()?)?));
        }
        let mut kernels = kernels.iter().filter(|write| !write.only_reads);
        for write in kernels.clone().filter(|write| write.kernel.0 == self.id) {
            let runs = self.runs.get(&write.kernel.1)?.iter().map(|(_, run)| run);
            left = common(&left, &left_by(runs, write)?);
        }
        let own = kernels.all(|write| write.kernel.0 == self.id);
        (own && !left.is_empty()).then_some(left)
    }
}

/// Stretches of bytes, each from its first one to behind its end.
type Stretches = Vec<(i64, i64)>;

/// Says of each such copy what it reads that nobody has written.
pub(super) fn hand_out(facts: &mut [Facts]) {
    let mut found: Vec<(usize, usize, Stretches)> = Vec::new();
    for (module, of_module) in facts.iter().enumerate() {
        for (at, event) in of_module.events.iter().enumerate() {
            if let EventKind::ReadBack(fact) = &event.kind
                && let Some(unwritten) = unwritten(facts, fact)
            {
                found.push((module, at, unwritten));
            }
        }
    }
    for (module, at, unwritten) in found {
        let event = facts.get_mut(module).and_then(|facts| facts.events.get_mut(at));
        if let Some(EventKind::ReadBack(fact)) = event.map(|event| &mut event.kind) {
            fact.unwritten = unwritten;
        }
    }
}

/// What of a copy's bytes nobody has written; `None` where somebody may have written any of them.
fn unwritten(facts: &[Facts], fact: &ReadBackFact) -> Option<Stretches> {
    let mut left: Stretches = vec![(fact.from, fact.from.checked_add(fact.bytes)?)];
    for (start, length) in &fact.filled {
        let start = start.known()?;
        left = without(&left, (start, start.checked_add(length.known()?)?));
    }
    for write in fact.kernels.iter().filter(|write| !write.only_reads) {
        let runs = facts.get(write.kernel.0.index()).map_or(&[][..], |facts| &facts.runs);
        left = common(&left, &left_by(runs.iter(), write)?);
    }
    (!left.is_empty()).then_some(left)
}

/// What a launch surely leaves alone, whatever its way: all executions of it rest on facts and were followed to the end.
fn left_by<'r>(runs: impl Iterator<Item = &'r KernelRun>, write: &KernelWrite) -> Option<Stretches> {
    let is_of = |run: &&KernelRun| {
        run.kernel == write.kernel
            && run.launched.iter().any(|(site, given)| *site == write.site && given[..] == write.given[..])
    };
    let mut left: Option<Stretches> = None;
    for run in runs.filter(is_of) {
        let Some(Argument::Pointer { buffer, .. }) = run.input.arguments.get(write.parameter as usize) else {
            return None;
        };
        let used = run.report.buffers.get(*buffer)?;
        if run.basis != Basis::Facts {
            continue;
        }
        let own: Stretches = used.left.iter().map(|(from, to)| (*from as i64, *to as i64)).collect();
        left = Some(left.map_or_else(|| own.clone(), |left| common(&left, &own)));
    }
    left
}

/// What is left of stretches without one.
fn without(all: &[(i64, i64)], gone: (i64, i64)) -> Stretches {
    let parts = all.iter().flat_map(|(from, to)| [(*from, gone.0.min(*to)), (gone.1.max(*from), *to)]);
    parts.filter(|(from, to)| from < to).collect()
}

/// What two lists of stretches have in common, in order.
fn common(one: &[(i64, i64)], other: &[(i64, i64)]) -> Stretches {
    let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.0.max(b.0), a.1.min(b.1))));
    let mut both: Stretches = pairs.filter(|(from, to)| from < to).collect();
    both.sort_unstable();
    both
}
