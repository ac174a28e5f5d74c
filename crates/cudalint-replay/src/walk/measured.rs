//! Stretches of the host's work that it measures, or records for later.

use super::apis::Called;
use super::order::Queue;
use super::started::{Capture, Clock};
use super::{Frame, Walker};
use crate::facts::{CaptureFact, EventKind, Site, TimedFact};
use cudalint_program::Name;
use cudalint_program::api::effects::{Effect, Space, Work as Waited};
use cudalint_program::ir::ExprId;

impl Walker<'_> {
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
    pub(super) fn checks_capture(&mut self, call: Called<'_>, args: &[ExprId]) {
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
}
