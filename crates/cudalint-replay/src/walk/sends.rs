//! Memory that is handed to functions which look at no stream: what MPI sends and receives, beside work that was started before or is
//! started while they go on with it.

use super::started::{Handed, Work};
use super::{Out, Walker};
use crate::facts::{Early, EarlyFact, EventKind, PointerArgument, Started};
use crate::host::ObjId;
use crate::memory::Freed;
use crate::value::Kind;
use cudalint_program::Name;
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::Effect;
use cudalint_program::ir::ExprId;

/// Pieces of work that one call is compared with, at most.
const MAX_HANDED: usize = 3;

impl Walker<'_> {
    /// A function that looks at no stream reads or writes what some of its arguments lead to, perhaps behind its call.
    pub(super) fn handed_to(&mut self, id: ExprId, api: ApiId, name: &str, args: &[ExprId], outs: &[Out]) {
        let mut found = false;
        for effect in api.effects {
            let (at, write, to) = match effect {
                Effect::Reads(at) => (at.at(), false, None),
                Effect::Sends(at) => (at.at(), false, Some(name)),
                Effect::Receives(at) => (at.at(), true, Some(name)),
                _ => continue,
            };
            found |= to.is_some();
            let (Some(expr), Some(out)) = (args.get(at), outs.get(at)) else { continue };
            self.touched_by(id, *expr, out, write, to);
            if let (true, Some(name), Kind::Ptr(pointer)) = (api.is_asynchronous(), to, &out.val.kind) {
                let argument = PointerArgument { pointer: self.pointer(&out.val), ..self.argument(*expr, out) };
                let (number, site, to) = (self.number(), self.expr_site(id), Name::from(name));
                self.timeline.handed.push(Handed { number, object: pointer.obj, argument, writes: write, site, to });
                self.leave_trace();
            }
        }
        // Others of the kind may wait for it.
        if !found && api.is_plain_c() {
            self.timeline.handed.clear();
        }
    }

    /// A kernel is given memory that somebody else may still go on with.
    pub(super) fn uses_handed(&mut self, id: ExprId, work: &Work) {
        let meets = |handed: &&Handed| handed.object == work.object && (handed.writes || work.writes);
        let met: Vec<Handed> = self.timeline.handed.iter().filter(meets).take(MAX_HANDED).cloned().collect();
        for Handed { argument, writes, site, to, .. } in met {
            let (early, what) = (Early::Launch, Started::Copy { api: to });
            let kernel = Some(self.crossed(work));
            let fact = EarlyFact { argument, early, to: None, what, started: site, writes, kernel, touched: None };
            let span = self.span(id);
            self.emit(EventKind::Early(Box::new(fact)), span, &[]);
        }
    }

    /// Memory of the device is handed to others while work may still use it. The newest comes first.
    pub(super) fn handed_early(
        &mut self,
        whole: ExprId,
        (pointer, out): (ExprId, &Out),
        obj: ObjId,
        write: bool,
        to: &str,
    ) {
        let meets = |work: &&Work| work.object == obj && !work.waited && (work.writes || write);
        let met: Vec<Work> = self.timeline.work.iter().rev().filter(meets).take(MAX_HANDED).cloned().collect();
        if met.is_empty() || !self.is_reporting() || self.memory.get(obj).freed != Freed::No {
            return;
        }
        let argument = PointerArgument { pointer: self.pointer(&out.val), ..self.argument(pointer, out) };
        let early = if write { Early::Write } else { Early::Read };
        for work in met.into_iter().filter(|work| self.meets(work, &argument)).collect::<Vec<_>>() {
            let kernel = matches!(work.what, Started::Kernel { .. }).then(|| self.crossed(&work));
            let (argument, to) = (argument.clone(), Some(Name::from(to)));
            let (what, started, writes) = (work.what, work.site, work.writes);
            let fact = EarlyFact { argument, early, to, what, started, writes, kernel, touched: None };
            let span = self.span(whole);
            self.emit(EventKind::Early(Box::new(fact)), span, &[]);
        }
    }
}
