//! Work that the host has started and not waited for, in the order in which it happens on a path.
//!
//! Whatever may wait makes it done: the walk knows of work only what nothing between has waited for. Calls of code out of sight
//! wait, and so does what happens on either side of a condition that nothing decides; work that was started there is forgotten
//! behind it.

use super::apis::Called;
use super::order::{Class, Queue};
use super::started::{Begun, Capture, Clock, GoesOn, Put, Work};
use super::{Frame, Out, Walker};
use crate::facts::{
    CaptureFact, CopyKind, Early, EarlyFact, EventKind, MemorySpace, PackedFact, PackedFault, PointerArgument, Site,
    Started, TimedFact,
};
use crate::host::ObjId;
use crate::memory::{Freed, Key, Place};
use crate::quantity::Quantity;
use crate::value::{Kind, Ptr, Val};
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Effect, ErrorRole, Handle, Space, Work as Waited};
use cudalint_program::ir::{Expr, ExprId, FunctionId, LaunchExpr, ModuleId, Type};
use cudalint_program::types::Ty;
use cudalint_program::visit::walk_expr;
use std::rc::Rc;

/// Most pieces of work that are remembered.
const MAX_WORK: usize = 64;
/// Most parameters of a kernel that are looked at.
const MAX_PARAMETERS: u32 = 64;

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
    fn queue_of(&mut self, api: ApiId, args: &[ExprId]) -> Queue {
        let at = api.params.iter().position(|param| ["stream", "hStream"].contains(param));
        match at.map(|at| args.get(at)) {
            Some(Some(stream)) => self.queue(*stream),
            Some(None) => Queue::Default,
            None => Queue::Unknown,
        }
    }

    /// The stream that an expression means, which somebody else evaluates as well.
    fn queue(&mut self, stream: ExprId) -> Queue {
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

    /// The host looks at a clock.
    pub(super) fn looks_at_clock(&mut self, id: ExprId) {
        if !self.is_reporting() {
            return;
        }
        self.leave_trace();
        self.timeline.timed_at_all = true;
        let (site, number) = (self.expr_site(id), self.number());
        let before = self.timeline.clock.replace(Clock { number, site, launched: None });
        let measured = before.and_then(|clock| Some((clock.site, clock.launched?)));
        match (measured, self.timeline.timed.take()) {
            (Some((first, (_, launch, kernel))), _) => {
                self.timeline.timed = Some(self.log.events.len());
                let site = self.called_beside(launch).unwrap_or(site);
                let path = self.calls("a lambda");
                self.record_event(EventKind::Timed(Box::new(TimedFact { first, launch, kernel })), site, path);
            }
            // The wait is measured as well: the launch alone is what was asked for.
            (None, Some(at)) => {
                if matches!(self.log.events.get(at).map(|event| &event.kind), Some(EventKind::Timed(_))) {
                    self.log.events.remove(at);
                }
            }
            (None, None) => {}
        }
    }

    /// The call that leads here in the function that a place is in; none where that is the function around.
    fn called_beside(&self, place: Site) -> Option<Site> {
        let holds = |frame: &Frame| {
            let function = frame.function.and_then(|id| self.project.function_at(frame.module, id));
            function.is_some_and(|function| {
                let span = function.span;
                frame.module == place.module && span.start <= place.span.start && place.span.end <= span.end
            })
        };
        let at = self.frames.iter().rposition(holds)?;
        self.frames.get(at + 1)?.call
    }

    /// From here on the work of a stream is recorded.
    pub(super) fn begins_capture(&mut self, call: Called<'_>, args: &[ExprId]) {
        let queue = self.queue_of(call.api, args);
        let mode = call.api.params.iter().position(|param| *param == "mode").and_then(|at| args.get(at));
        let mode = mode.map(|mode| self.eval(*mode).val.known());
        // What was launched before it the graph may read.
        self.timeline.results.clear();
        if self.is_reporting() {
            // 2 is `cudaStreamCaptureModeRelaxed`.
            let relaxed = !matches!(mode, Some(Some(0 | 1)));
            self.timeline.capture = Some(Capture { site: self.expr_site(call.id), queue, relaxed });
        }
    }

    /// Work is run again.
    pub(super) const fn ends_capture(&mut self) {
        self.timeline.capture = None;
    }

    /// A call is made while a stream is recorded.
    fn checks_capture(&mut self, call: Called<'_>, args: &[ExprId]) {
        let Some(capture) = self.timeline.capture.filter(|_| self.is_reporting()) else { return };
        let refused = call.api.effects.iter().any(|effect| match effect {
            Effect::Waits(Waited::Device) => true,
            Effect::Waits(Waited::Stream(stream)) => {
                let queue = stream.of(args).map_or(Queue::Unknown, |stream| self.queue(stream));
                matches!(queue, Queue::Made(_)) && queue == capture.queue
            }
            Effect::Waits(Waited::Own) => !capture.relaxed,
            Effect::Allocates { space: Space::Device | Space::Managed, .. } => {
                !capture.relaxed && !call.api.is_asynchronous()
            }
            _ => false,
        });
        if refused {
            // Only the first is told: the recording is invalid from then on.
            self.timeline.capture = None;
            let span = self.span(call.id);
            let fact = CaptureFact { api: Name::from(call.name), begun: capture.site };
            self.emit(EventKind::Captured(Box::new(fact)), span, &[]);
        }
    }

    /// The array that a launch reads its kernel's parameters from.
    pub(super) fn check_packed(
        &mut self,
        (named, list): (ExprId, ExprId),
        array: &Out,
        kernel: Option<(ModuleId, FunctionId)>,
    ) {
        let Kind::Ptr(array) = &array.val.kind else { return };
        if !self.is_reporting() {
            return;
        }
        let count = match self.memory.get(array.obj).info.ty.value() {
            Ty::Array(_, Quantity::Known(count)) if array.path.is_empty() && array.offset == Quantity::Known(0) => {
                Some(*count)
            }
            _ => None,
        };
        let wants = kernel.and_then(|(module, id)| Some(self.project.function_at(module, id)?.param_count));
        let mut fault = None;
        for index in 0..wants.unwrap_or(MAX_PARAMETERS).min(MAX_PARAMETERS) {
            if count.is_some_and(|count| i64::from(index) >= count) {
                fault = wants.map(|wants| PackedFault::TooFew { has: index, wants });
                break;
            }
            let path = crate::memory::extend(&array.path, Key::At(8 * i64::from(index)));
            let cell = self.memory.load(&Place::Cell(array.obj, path));
            match &cell.kind {
                Kind::Ptr(target) => {
                    let info = &self.memory.get(target.obj).info;
                    if info.space == MemorySpace::Device && info.origin.api().is_some_and(|api| api.is_cuda_host()) {
                        fault = Some(PackedFault::Device { index, name: info.name.clone() });
                        break;
                    }
                }
                Kind::Int(_) if cell.known().is_some_and(|value| value != 0) => {
                    fault = Some(PackedFault::Number { index });
                    break;
                }
                _ => {}
            }
        }
        if let Some(fault) = fault {
            let span = self.span(list);
            let fact = PackedFact { text: self.text(list), kernel: self.text(named), fault };
            self.emit(EventKind::Packed(Box::new(fact)), span, &[]);
        }
    }
}
