//! What the host touches, or gives back, while work that was started may still use it.

use super::apis::Called;
use super::order::{Class, Queue};
use super::started::{Put, Work};
use super::{Out, Walker};
use crate::facts::{Early, EarlyFact, EventKind, MemorySpace, PointerArgument};
use crate::memory::Freed;
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr};
use cudalint_program::Name;
use cudalint_program::ir::{Expr, ExprId, Type};

impl Walker<'_> {
    /// The host touches what a pointer leads to, which work that was started may still do.
    pub(super) fn touches(&mut self, whole: ExprId, pointer: ExprId, out: &Out, write: bool) {
        self.touched_by(whole, pointer, out, write, None);
    }

    /// As [`Self::touches`]; `to`: the function that takes memory of the device as well.
    pub(super) fn touched_by(&mut self, whole: ExprId, pointer: ExprId, out: &Out, write: bool, to: Option<&str>) {
        let Kind::Ptr(Ptr { obj, .. }) = &out.val.kind else { return };
        let obj = *obj;
        if let Some(to) = to.filter(|_| self.memory.get(obj).info.space == MemorySpace::Device) {
            return self.handed_early(whole, (pointer, out), obj, write, to);
        }
        let Some(at) =
            self.timeline.work.iter().position(|work| work.object == obj && !work.waited && (work.writes || write))
        else {
            return;
        };
        if !self.is_reporting() || self.memory.get(obj).freed != Freed::No || self.is_volatile(pointer) {
            return;
        }
        let argument = PointerArgument { pointer: self.pointer(&out.val), ..self.argument(pointer, out) };
        let work = self.timeline.work.remove(at);
        if !self.meets(&work, &argument) {
            return;
        }
        let early = if write { Early::Write } else { Early::Read };
        let span = self.span(whole);
        let to = to.map(Name::from);
        let (what, started, writes) = (work.what, work.site, work.writes);
        let fact = EarlyFact { argument, early, to, what, started, writes, kernel: None, touched: None };
        self.emit(EventKind::Early(Box::new(fact)), span, &[]);
    }

    /// Whether a pointer is declared to lead to `volatile` memory: by such a flag host and kernel tell each other something while
    /// the kernel runs.
    fn is_volatile(&self, pointer: ExprId) -> bool {
        let Some(Expr::Local(local)) = self.kind(self.without_casts(pointer)) else { return false };
        let types = &self.module().types;
        let declared = self.function().and_then(|function| function.locals.get(*local)).map(|local| local.ty);
        let Some(Type::Pointer(to)) = declared.and_then(|ty| types.get(ty)) else { return false };
        matches!(types.get(*to), Some(Type::Qualified { is_volatile: true, .. }))
    }

    /// Whether an access surely meets a piece of work: the work takes the whole object, or begins where the access does.
    pub(super) fn meets(&self, work: &Work, argument: &PointerArgument) -> bool {
        let Some((from, bytes)) = &work.part else { return true };
        let crate::facts::Pointer::Into { buffer, offset } = &argument.pointer else { return false };
        let whole = *from == Quantity::Known(0) && bytes.surely_equals(&buffer.bytes.quantity);
        let inside = match (from, bytes, &offset.quantity) {
            (Quantity::Known(from), Quantity::Known(bytes), Quantity::Known(at)) => {
                (*from..from.saturating_add(*bytes)).contains(at)
            }
            (from, _, at) => *bytes != Quantity::Known(0) && from.surely_equals(at),
        };
        whole || inside
    }

    /// Memory is given back in the order of a stream, while work of another may still use it.
    pub(super) fn frees_early(&mut self, call: Called<'_>, pointer: ExprId, out: &Out) {
        let Kind::Ptr(Ptr { obj, .. }) = &out.val.kind else { return };
        if !call.api.is_asynchronous() || self.timeline.work.is_empty() || !self.is_reporting() {
            return;
        }
        let Some(Put { queue, .. }) = self.timeline.put else { return };
        let obj = *obj;
        // Streams that others hand over may be one, and be ordered by whoever has them.
        let is_own = |queue: Queue| matches!(self.class_of(queue), Class::Waiting | Class::Free);
        let apart = |work: &&Work| {
            work.object == obj
                && !work.waited
                && is_own(work.queue)
                && !self.timeline.order.is_before((work.number, work.queue, self.class_of(work.queue)), queue)
        };
        if !is_own(queue) || self.timeline.capture.is_some() || self.memory.get(obj).info.space != MemorySpace::Device {
            return;
        }
        let Some(work) = self.timeline.work.iter().find(apart).cloned() else { return };
        let argument = self.argument(pointer, out);
        let span = self.span(call.id);
        let fact = EarlyFact {
            argument,
            early: Early::Free,
            to: None,
            kernel: None,
            touched: None,
            what: work.what,
            started: work.site,
            writes: work.writes,
        };
        self.emit(EventKind::Early(Box::new(fact)), span, &[]);
    }
}
