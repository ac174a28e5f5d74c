//! An execution while it is classified.

use super::unread::{computes_for_nobody, is_unread};
use crate::runs::KernelRun;
use cudalint_kernel::readings::{Formula, formula, sinks};
use cudalint_kernel::report::{Event, EventKind, ObjectKind, Site};
use cudalint_kernel::{Argument, Code};
use cudalint_program::Project;

/// An execution with the code that was executed.
#[derive(Clone, Copy)]
pub(super) struct Executed<'a> {
    pub project: &'a Project,
    pub run: &'a KernelRun,
    pub code: Option<&'a Code>,
}

impl Executed<'_> {
    /// The wrong formulas in the index of an access.
    pub fn formulas(&self, access: Site) -> Vec<Formula> {
        self.code.map_or_else(Vec::new, |code| formula::formulas(code, access))
    }

    /// The parameters behind which lies memory that nobody looks at when the kernel is through, each with its buffer.
    pub fn sinks(&self) -> Vec<(usize, usize)> {
        let concerned =
            |event: &Event| matches!(event.kind, EventKind::Race { .. } | EventKind::UninitializedRead { .. });
        if !self.run.report.events.iter().any(concerned) {
            return Vec::new();
        }
        let arguments = &self.run.input.arguments;
        let given = arguments.iter().enumerate().filter_map(|(parameter, argument)| match argument {
            Argument::Pointer { buffer, .. } => Some((parameter, *buffer)),
            _ => None,
        });
        let once = |buffer: usize| {
            let leads = |argument: &&Argument| match argument {
                Argument::Pointer { buffer: other, .. } => *other == buffer,
                Argument::Record(_) => true,
                _ => false,
            };
            arguments.iter().filter(leads).count() == 1
        };
        let unread = |buffer: usize| {
            let allocation = self.run.buffers.get(buffer).and_then(|buffer| buffer.allocation.as_ref());
            allocation.is_some_and(|allocation| is_unread(self.project, allocation))
        };
        given.filter(|(_, buffer)| once(*buffer) && unread(*buffer)).collect()
    }

    /// Whether nobody reads anything of what all launches with these numbers compute.
    pub fn computes_for_nobody(&self) -> bool {
        let launches = &self.run.launched;
        !launches.is_empty() && launches.iter().all(|(launch, _)| computes_for_nobody(self.project, *launch))
    }

    /// Whether all that an event changes is in memory that nobody looks at, or in no memory.
    pub fn fills_sinks(&self, event: &Event, sinks: &[(usize, usize)]) -> bool {
        let (reads, written) = match &event.kind {
            EventKind::Race { object, first, second, .. } => {
                let reads: Vec<Site> = [first, second]
                    .into_iter()
                    .filter(|access| !access.kind.writes())
                    .map(|access| access.site)
                    .collect();
                let written = reads.is_empty().then_some(object);
                (reads, written)
            }
            EventKind::UninitializedRead { access, .. } => (vec![access.site], None),
            EventKind::NegativeIndex { site, access, .. } if !access.writes() => (vec![*site], None),
            // Compilers leave out a read of which nothing comes.
            EventKind::OutOfBounds { access, .. } if !access.kind.writes() => {
                return self.code.is_some_and(|code| sinks::only_fills_shared(code, access.site));
            }
            _ => return false,
        };
        let is_sink =
            |kind| matches!(kind, ObjectKind::Buffer(number) if sinks.iter().any(|(_, buffer)| *buffer == number));
        let parameters: Vec<usize> = sinks.iter().map(|(parameter, _)| *parameter).collect();
        // What is read may go into no memory at all.
        (!sinks.is_empty() || written.is_none())
            && written.is_none_or(|object| is_sink(object.kind))
            && self.code.is_some_and(|code| sinks::only_fills(code, &reads, &parameters))
    }
}
