//! Work of one stream that touches what work of another may still use.

use super::order::{Class, Queue};
use super::started::{GoesOn, Work};
use super::{Out, Walker};
use crate::facts::{
    CopyKind, CrossedFact, CrossedStream, CrossedWork, EventKind, GivenTo, MemorySpace, PointerArgument,
};
use crate::memory::Freed;
use crate::quantity::Quantity;
use crate::value::{Kind, Val};
use cudalint_program::ir::ExprId;
use std::rc::Rc;

/// Most pieces of work that are told to meet another.
const MAX_MET: usize = 4;

impl Walker<'_> {
    /// Tells of the work that another piece meets, where nothing orders them.
    pub(super) fn crosses(&mut self, id: ExprId, (expr, out): (ExprId, &Out), work: &Work) {
        let own = self.class_of(work.queue);
        if self.timeline.work.is_empty() || own == Class::Foreign || self.capturing || self.timeline.guarded {
            return;
        }
        let object = self.memory.get(work.object);
        let by_cuda = object.info.origin.api().is_some_and(|api| api.is_cuda_host());
        if object.info.space != MemorySpace::Device || object.freed != Freed::No || !by_cuda {
            return;
        }
        let meets = |other: &&Work| {
            let class = self.class_of(other.queue);
            other.object == work.object
                && other.number != work.number
                && (other.writes || work.writes)
                && other.goes_on != GoesOn::No
                && (class == Class::Free || own == Class::Free || (class == Class::Waiting && own == Class::Waiting))
                && !self.timeline.order.is_before((other.number, other.queue, class), work.queue)
        };
        let met: Vec<Work> = self.timeline.work.iter().filter(meets).take(MAX_MET).cloned().collect();
        for other in met {
            let argument = PointerArgument { pointer: self.pointer(&out.val), ..self.argument(expr, out) };
            let fact = CrossedFact { argument, first: self.crossed(&other), second: self.crossed(work), meeting: None };
            let span = self.span(id);
            self.emit(EventKind::Crossed(Box::new(fact)), span, &[]);
        }
    }

    pub(super) fn crossed(&self, work: &Work) -> CrossedWork {
        let stream = match work.queue {
            Queue::Made(stream) => {
                let name = self.memory.get(stream).info.name.clone();
                let free = self.class_of(work.queue) == Class::Free;
                if free { CrossedStream::NonBlocking(name) } else { CrossedStream::Made(name) }
            }
            _ => CrossedStream::Default,
        };
        CrossedWork {
            what: work.what.clone(),
            site: work.site,
            stream,
            writes: work.writes,
            part: work.part.clone(),
            given: work.given.to_vec(),
            may_be_done: work.goes_on == GoesOn::Perhaps,
        }
    }

    /// Whether a copy or a set goes on behind its call, as CUDA says ("API synchronization behavior"). What is read from memory that
    /// is not locked is taken to other memory first, and may be on its way from there; what is written there is there.
    pub(super) fn goes_on(&self, [to, from]: [Option<&Out>; 2], kind: CopyKind, waited: bool) -> GoesOn {
        let space = |out: &Out| match &out.val.kind {
            Kind::Ptr(pointer) => Some(self.memory.get(pointer.obj).info.space),
            _ => None,
        };
        let Some(from) = from else { return GoesOn::Yes };
        match (to.and_then(space), space(from)) {
            (Some(MemorySpace::Device), Some(MemorySpace::Device)) => GoesOn::Yes,
            (Some(MemorySpace::Device), Some(MemorySpace::Host)) => GoesOn::Perhaps,
            (Some(MemorySpace::Device), Some(MemorySpace::Pinned)) if !waited => GoesOn::Yes,
            (Some(MemorySpace::Device), None) if kind == CopyKind::HostToDevice && !waited => GoesOn::Perhaps,
            (Some(MemorySpace::Pinned), Some(MemorySpace::Device)) if !waited => GoesOn::Yes,
            _ => GoesOn::No,
        }
    }

    /// Whether a pointer leads to memory of the device.
    pub(super) fn is_of_device(&self, out: &Out) -> bool {
        matches!(&out.val.kind, Kind::Ptr(pointer) if self.memory.get(pointer.obj).info.space == MemorySpace::Device)
    }

    /// What tells a launch from others at its place.
    pub(super) fn given_to(&mut self, args: &[(ExprId, Out)]) -> Rc<[GivenTo]> {
        args.iter().map(|(_, out)| self.given_as(&out.val)).collect()
    }

    fn given_as(&mut self, val: &Val) -> GivenTo {
        match &val.kind {
            Kind::Ptr(pointer) => GivenTo::Into(self.memory.get(pointer.obj).info.site, self.whole_offset(pointer)),
            _ => match val.quantity() {
                Quantity::Unknown => GivenTo::Other,
                number => GivenTo::Number(number),
            },
        }
    }
}
