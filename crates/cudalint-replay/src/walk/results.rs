//! Launches of whose results nobody ever reads anything: what the kernel writes is freed, or left behind, without a copy, another
//! launch or a call that takes it.

use super::Walker;
use super::started::Results;
use crate::facts::{EventKind, MemorySpace, UnreadFact};
use crate::host::ObjId;
use crate::memory::Freed;
use crate::speaks::speaks_by_parameters;
use crate::value::{Kind, Ptr};
use cudalint_program::ir::{ExprId, FunctionId, ModuleId};

/// Most launches that are remembered.
const MAX_LAUNCHES: usize = 64;

impl Walker<'_> {
    /// A kernel is launched: it may read what others have written, and may write what it is given.
    pub(super) fn computes(
        &mut self,
        id: ExprId,
        named: ExprId,
        kernel: Option<(ModuleId, FunctionId)>,
        args: &[(ExprId, super::Out)],
    ) {
        for (_, out) in args {
            self.is_read(out);
        }
        if !self.is_reporting() || self.capturing || self.timeline.results.len() >= MAX_LAUNCHES {
            return;
        }
        let Some(target) = kernel.filter(|kernel| speaks_by_parameters(self.project, *kernel)) else { return };
        let mut written = Vec::new();
        for (index, (_, out)) in args.iter().enumerate() {
            let number = out.ty.value().is_scalar() && !out.ty.value().is_pointer();
            match &out.val.kind {
                Kind::Ptr(Ptr { obj, .. }) => {
                    let info = &self.memory.get(*obj).info;
                    let own =
                        info.space == MemorySpace::Device && info.origin.api().is_some_and(|api| api.is_cuda_host());
                    match (self.reads_only(Some(target), index), own) {
                        (true, _) => {}
                        (false, true) => written.push(*obj),
                        (false, false) => return,
                    }
                }
                Kind::Null => {}
                _ if number || self.reads_only(Some(target), index) => {}
                // Who knows where it leads, or what is in it.
                _ => return,
            }
        }
        if !written.is_empty() {
            let (site, kernel, timed) = (self.expr_site(id), self.text(named), self.timeline.timed_at_all);
            self.timeline.results.push(Results { site, kernel, written, timed });
        }
    }

    /// Somebody may read what a value leads to.
    pub(super) fn is_read(&mut self, out: &super::Out) {
        if self.timeline.results.is_empty() {
            return;
        }
        let mut pointers = Vec::new();
        out.val.pointers(&mut pointers);
        // What is handed over by its address may lead on.
        for object in pointers.clone() {
            self.memory.get(object).pointers(&[], &mut pointers);
        }
        self.timeline.results.retain(|results| !results.written.iter().any(|object| pointers.contains(object)));
    }

    /// An object is read.
    pub(super) fn is_read_from(&mut self, object: ObjId) {
        self.timeline.results.retain(|results| !results.written.contains(&object));
    }

    /// The entry has come to its end: what nobody has read by now nobody reads.
    pub(super) fn tell_unread(&mut self) {
        if !self.is_reporting() || self.ended {
            return;
        }
        for results in std::mem::take(&mut self.timeline.results) {
            let gone = |object: &ObjId| {
                self.memory.get(*object).freed == Freed::Yes
                    && !self.memory.escaped.contains(*object)
                    && !self.lifetimes.kept.contains(*object)
            };
            if !results.written.iter().all(gone) {
                continue;
            }
            let written = results.written.iter().map(|object| self.memory.get(*object).info.name.clone()).collect();
            let fact =
                UnreadFact { kernel: results.kernel, written, timed: results.timed || self.timeline.timed_at_all };
            self.record_event(EventKind::Unread(Box::new(fact)), results.site, Vec::new());
        }
    }
}
