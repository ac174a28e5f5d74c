//! Work that the host has started and not waited for, in the order in which it happens on a path.
//!
//! Whatever may wait makes it done: the walk knows of work only what nothing between has waited for. Calls of code out of sight
//! wait, and so does what happens on either side of a condition that nothing decides; work that was started there is forgotten
//! behind it.

use super::apis::Called;
use super::order::{Class, Queue};
use super::started::{Begun, GoesOn, Put, Work};
use super::{Out, Walker};
use crate::facts::{CopyKind, Started};
use crate::host::ObjId;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, ErrorRole, Handle, Work as Waited};
use cudalint_program::ir::{Expr, ExprId, FunctionId, LaunchExpr, ModuleId};
use cudalint_program::visit::walk_expr;
use std::rc::Rc;

/// Most pieces of work that are remembered.
const MAX_WORK: usize = 64;

impl Walker<'_> {
    /// All that was started may be done.
    pub(super) fn may_wait(&mut self) {
        self.recording.waits += 1;
        self.timeline.work.clear();
        if let Some(clock) = &mut self.timeline.clock {
            clock.launched = None;
        }
    }

    /// Code out of sight runs: it may wait, and end a recording.
    pub(super) fn anything_happens(&mut self) {
        self.may_wait();
        self.may_write_members();
        self.timeline.capture = None;
        self.timeline.handed.clear();
        self.device_is_lost();
    }

    /// How much has been started before the sides of a condition.
    pub(super) fn begun(&self) -> Begun {
        Begun {
            count: self.timeline.count,
            made: self.lifetimes.count(),
            switches: self.timeline.switches,
            capture: self.timeline.capture.map(|capture| capture.site),
        }
    }

    /// What was started and made on one side is not there on the other, and nobody knows behind both whether it is.
    pub(super) fn forget_begun(&mut self, before: Begun) {
        self.lifetimes.forget_after(before.made);
        if self.timeline.switches != before.switches {
            self.device_is_lost();
        }
        let timeline = &mut self.timeline;
        if timeline.capture.map(|capture| capture.site) != before.capture {
            timeline.capture = None;
        }
        if timeline.count == before.count {
            return;
        }
        timeline.work.retain(|work| work.number < before.count);
        timeline.handed.retain(|handed| handed.number < before.count);
        timeline.clock = timeline.clock.take().filter(|clock| clock.number < before.count);
        if let Some(clock) = &mut timeline.clock {
            clock.launched = clock.launched.take().filter(|(number, ..)| *number < before.count);
        }
    }

    pub(super) const fn number(&mut self) -> u32 {
        self.timeline.count += 1;
        self.timeline.count - 1
    }

    /// A variable comes into being whose destructor does something with the device.
    pub(super) const fn guards_device(&mut self) {
        self.timeline.guarded = true;
    }

    /// The stream that a call is given.
    pub(super) fn queue_of(&mut self, api: ApiId, args: &[ExprId]) -> Queue {
        let at = api.params.iter().position(|param| ["stream", "hStream"].contains(param));
        match at.map(|at| args.get(at)) {
            Some(Some(stream)) => self.queue(*stream),
            Some(None) => Queue::Default,
            None => Queue::Unknown,
        }
    }

    /// The stream that an expression means, which somebody else evaluates as well.
    pub(super) fn queue(&mut self, stream: ExprId) -> Queue {
        let plain = self.without_casts(stream);
        if !self.is_named_stream(plain) || !self.is_calm(plain) {
            return Queue::Unknown;
        }
        let out = self.eval(plain);
        self.queue_from(plain, &out)
    }

    /// The stream that a value means.
    pub(super) fn queue_from(&self, stream: ExprId, out: &Out) -> Queue {
        let made = |object| self.memory.get(object).info.origin.api().is_some_and(|api| api.creates(Handle::Stream));
        match &out.val.kind {
            Kind::Null => Queue::Default,
            Kind::Int(_) if out.val.known() == Some(0) => Queue::Default,
            Kind::Ptr(pointer) if made(pointer.obj) || self.is_named_stream(self.without_casts(stream)) => {
                Queue::Made(pointer.obj)
            }
            _ => Queue::Unknown,
        }
    }

    fn is_named_stream(&self, plain: ExprId) -> bool {
        matches!(
            self.kind(plain),
            Some(Expr::Local(_) | Expr::Index { .. } | Expr::Member { .. } | Expr::Int { .. } | Expr::Null)
        )
    }

    /// Whether an expression can be evaluated twice: it writes nothing and calls nobody.
    fn is_calm(&self, expr: ExprId) -> bool {
        let mut calm = true;
        walk_expr(self.module(), expr, |_, kind| {
            calm &= !matches!(
                kind,
                Expr::Assign { .. } | Expr::Step { .. } | Expr::Call { .. } | Expr::Lambda { .. } | Expr::Unknown(_)
            );
            calm
        });
        calm
    }

    /// Evaluates the stream that a copy or a set is given, where that does something: nobody else does.
    pub(super) fn evaluates_stream(&mut self, call: Called<'_>, args: &[ExprId]) {
        let at = call.api.params.iter().position(|param| ["stream", "hStream"].contains(param));
        if let Some(stream) = at.and_then(|at| args.get(at))
            && !self.is_calm(*stream)
        {
            self.eval(*stream);
        }
    }

    /// Whether anything has been started that nothing has waited for.
    pub(super) const fn has_begun(&self) -> bool {
        !self.timeline.work.is_empty()
    }

    /// The next number, for something that is put into a stream.
    pub(super) fn puts(&mut self, queue: Queue) -> Put {
        let (number, class) = (self.number(), self.class_of(queue));
        self.timeline.order.put(queue, class, number);
        Put { number, queue }
    }

    /// What a call of CUDA means for work that was started before it.
    pub(super) fn ordered_by(&mut self, call: Called<'_>, args: &[ExprId]) {
        if self.timeline.capture.is_some() {
            self.checks_capture(call, args);
        }
        self.timeline.timed_at_all |= call.api.section == "Event Management";
        self.changes_device(call, args);
        let asynchronous = call.api.is_asynchronous();
        let moves = |effect: &Effect| {
            matches!(
                effect,
                Effect::Copies { .. } | Effect::CopiesSymbol { .. } | Effect::CopiesDescribed(..) | Effect::Sets { .. }
            )
        };
        let blocks = !asynchronous && call.api.effects.iter().any(moves);
        self.timeline.put = None;
        if asynchronous || blocks || call.api.role == ErrorRole::Launches {
            let queue = if blocks { Queue::Default } else { self.queue_of(call.api, args) };
            self.timeline.put = Some(self.puts(queue));
        }
        self.links(call, args);
        // A walk that is recorded may be used again where there is something to wait for.
        if self.timeline.work.is_empty() && self.timeline.clock.is_none() && self.recording.open == 0 {
            return;
        }
        let mut waits = false;
        for effect in call.api.effects {
            match effect {
                Effect::Waits(Waited::Stream(stream)) => {
                    let queue = stream.of(args).map_or(Queue::Unknown, |stream| self.queue(stream));
                    self.waits_for(queue);
                    return;
                }
                Effect::Waits(Waited::Event(event)) => {
                    match event.of(args).and_then(|event| self.event_of(event)) {
                        Some(event) => self.waits_for_event(event),
                        None => self.may_wait(),
                    }
                    return;
                }
                // Copies and sets wait for the default stream, whatever else they wait for.
                Effect::Waits(Waited::Own) if blocks => {}
                Effect::Waits(_) | Effect::Polls(_) | Effect::Resets => waits = true,
                _ => {}
            }
        }
        let passes = asynchronous
            || call.api.launches().is_some()
            || call.api.role == ErrorRole::Launches
            || call.api.is_last_error()
            || ["Error Handling", "Event Management", "Stream Management", "Device Management"]
                .contains(&call.api.section);
        if blocks && !waits {
            self.waits_in_default();
        } else if waits || !passes {
            self.may_wait();
        }
    }

    /// Events that are put into streams, and streams that wait for them.
    fn links(&mut self, call: Called<'_>, args: &[ExprId]) {
        for effect in call.api.effects {
            let (Effect::Records { event, stream } | Effect::Orders { stream, event }) = *effect else { continue };
            self.leave_trace();
            let queue = stream.of(args).map_or(Queue::Default, |stream| self.queue(stream));
            let event = event.of(args).and_then(|event| self.event_of(event));
            let put = self.puts(queue);
            let known = match (event, effect) {
                (Some(event), Effect::Records { .. }) => {
                    self.checks_record(call, event, queue);
                    self.timeline.order.record(event, queue, put.number);
                    true
                }
                (Some(event), _) => self.timeline.order.wait(queue, event),
                // Which event that is nobody knows: what waits for it later, waits for all.
                (None, _) => false,
            };
            if !known {
                self.timeline.order.join(self.timeline.count);
            }
        }
    }

    /// The host waits for a stream, and for what comes before its work.
    fn waits_for(&mut self, queue: Queue) {
        self.leave_trace();
        let left = self.not_behind(queue, |work, _| {
            matches!((queue, work.queue), (Queue::Made(_), Queue::Made(_) | Queue::Default))
        });
        self.retain_work(&left);
    }

    /// The event that an argument names, where that is known.
    fn event_of(&mut self, event: ExprId) -> Option<ObjId> {
        let event = self.without_casts(event);
        match self.is_calm(event).then(|| self.eval(event).val.kind)? {
            Kind::Ptr(pointer) => Some(pointer.obj),
            _ => None,
        }
    }

    /// The host waits for an event, and so for what stands before its record.
    fn waits_for_event(&mut self, event: ObjId) {
        self.leave_trace();
        let behind =
            |work: &Work| self.timeline.order.is_behind(event, (work.number, work.queue, self.class_of(work.queue)));
        let left: Vec<bool> = self.timeline.work.iter().map(|work| behind(work) == Some(false)).collect();
        self.retain_work(&left);
    }

    /// A call that copies or sets waits for the default stream, and perhaps for all that waits for that.
    fn waits_in_default(&mut self) {
        self.leave_trace();
        let left = self.not_behind(Queue::Default, |_, class| class == Class::Free);
        self.retain_work(&left);
    }

    /// Of each piece of work, whether it may go on when a stream has come to what it is given next.
    fn not_behind(&self, queue: Queue, may: impl Fn(&Work, Class) -> bool) -> Vec<bool> {
        let goes_on = |work: &Work| {
            let class = self.class_of(work.queue);
            may(work, class) && !self.timeline.order.is_before((work.number, work.queue, class), queue)
        };
        self.timeline.work.iter().map(goes_on).collect()
    }

    fn retain_work(&mut self, left: &[bool]) {
        let mut left = left.iter();
        self.timeline.work.retain(|_| left.next() == Some(&true));
        if let Some(clock) = &mut self.timeline.clock {
            clock.launched = None;
        }
    }

    /// A copy returns that is done by then, and so is all that comes before it.
    fn comes_back(&mut self, queue: Queue) {
        let left = self.not_behind(queue, |_, class| class != Class::Foreign);
        for (work, _) in self.timeline.work.iter_mut().zip(left).filter(|(_, left)| !left) {
            work.goes_on = GoesOn::No;
        }
    }

    fn remember(&mut self, work: Work) {
        if self.is_reporting() && !self.capturing && !self.timeline.guarded && self.timeline.work.len() < MAX_WORK {
            self.timeline.work.push(work);
        }
    }

    /// A copy or a set is started that may return before it is done. `whole`: its bytes lie in one piece.
    pub(super) fn starts_copy(
        &mut self,
        call: Called<'_>,
        sides: [Option<(ExprId, &Out)>; 2],
        (bytes, whole): (&Val, bool),
        kind: CopyKind,
    ) {
        let Some(Put { number, queue }) = self.timeline.put.filter(|_| self.is_reporting()) else { return };
        let waited = !call.api.is_asynchronous();
        let outs = sides.map(|side| side.map(|(_, out)| out));
        let goes_on = self.goes_on(outs, kind, waited);
        let site = self.expr_site(call.id);
        for (side, writes) in sides.into_iter().zip([true, false]) {
            let Some((expr, out)) = side else { continue };
            let Kind::Ptr(pointer) = &out.val.kind else { continue };
            let offset = self.whole_offset(pointer);
            let (object, part) = (pointer.obj, Some((offset, bytes.quantity())));
            let what = Started::Copy { api: Name::from(call.name) };
            let given = Rc::from([]);
            let work = Work { number, object, part, what, site, writes, queue, given, goes_on, waited };
            if whole {
                self.crosses(call.id, (expr, out), &work);
            }
            // What lies in rows leaves gaps, of which others may make use.
            let goes_on = if whole { goes_on } else { GoesOn::No };
            if !waited || goes_on != GoesOn::No {
                self.remember(Work { goes_on, ..work });
            }
        }
        // To memory that is not locked.
        if goes_on == GoesOn::No && outs[1].is_some_and(|from| self.is_of_device(from)) {
            self.comes_back(queue);
        }
    }

    /// A kernel is started.
    pub(super) fn starts_kernel(
        &mut self,
        id: ExprId,
        launch: &LaunchExpr,
        kernel: Option<(ModuleId, FunctionId)>,
        args: &[(ExprId, Out)],
        stream: Option<&Out>,
    ) {
        let queue = match (launch.config.get(3), stream) {
            (Some(stream), Some(out)) if launch.chevron => self.queue_from(*stream, out),
            (None, _) if launch.chevron => Queue::Default,
            _ => Queue::Unknown,
        };
        let Put { number, .. } = self.puts(queue);
        if !self.is_reporting() {
            return;
        }
        let (site, name) = (self.expr_site(id), self.text(launch.kernel));
        if let Some(clock) = &mut self.timeline.clock
            && clock.launched.is_none()
        {
            clock.launched = Some((number, site, name.clone()));
        }
        let given = self.given_to(args);
        for (index, (expr, out)) in args.iter().enumerate() {
            if let Kind::Ptr(Ptr { obj: object, .. }) = &out.val.kind {
                let writes = !self.reads_only(kernel, index) && !self.only_reads(kernel, index);
                let what = Started::Kernel { name: name.clone(), kernel, parameter: index as u32 };
                let (object, given, goes_on) = (*object, Rc::clone(&given), GoesOn::Yes);
                let work =
                    Work { number, object, part: None, what, site, writes, queue, given, goes_on, waited: false };
                if kernel.is_some() {
                    self.crosses(id, (*expr, out), &work);
                    self.uses_handed(id, &work);
                }
                self.remember(work);
            }
        }
    }
}
