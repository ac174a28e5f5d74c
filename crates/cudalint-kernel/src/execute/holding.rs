//! Locks that the running block has: what two threads do that have the same one is ordered, where its operations and the fences beside
//! them reach both.

use super::locks::{NOBODY, OF_ALL, OF_BLOCK, Reach, Session};
use super::machine::Machine;
use super::touch::Touch;
use super::value::{Data, KNOWN, Val, object_of, offset_of};
use crate::code::{Code, Expr, ExprId, Intrinsic, Scope, StmtId};
use crate::report::AccessKind;

/// Most times that locks are taken in one run and looked at.
const MOST: usize = 256;

impl Machine<'_> {
    /// Takes a lock, where a loop does that and nothing else; false where it has to be run.
    pub(super) fn take_lock(&mut self, id: StmtId, condition: Option<ExprId>) -> bool {
        let Some(condition) = condition else { return false };
        let Some(function) = self.frames.last().map(|frame| frame.function) else { return false };
        let loops = &mut self.locks.loops;
        let known = self.locks.known.entry(id).or_insert_with(|| loops.takes_lock(function, id));
        let Some(lock) = *known else { return false };
        if self.act.sure() == 0 || self.act.maybe() > 0 || self.locks.sessions.len() >= MOST {
            return false;
        }
        let address = self.eval(lock.address);
        let Data::Uniform(bits, KNOWN) = address.data else { return false };
        let Some(index) = (object_of(bits) as usize).checked_sub(1) else { return false };
        self.eval(condition);
        let scope = reach_of(lock.scope);
        self.locks.sessions.push(Session { index, offset: offset_of(bits), scope, exit: OF_ALL, over: false });
        self.locks.held.push(self.locks.sessions.len() as u32);
        self.forget_global();
        true
    }

    /// A fence.
    pub(super) fn fence(&mut self, scope: Scope) {
        let reach = reach_of(scope);
        for held in &self.locks.held {
            if let Some(session) = self.locks.sessions.get_mut(*held as usize - 1) {
                session.exit = session.exit.max(reach);
            }
        }
    }

    /// An access while locks are held: the free value that is stored in one gives it back, what is touched besides needs a fence
    /// behind it.
    pub(super) fn access_in_lock(&mut self, touch: Touch<'_>, index: usize, address: &Val) {
        if self.locks.held.is_empty() {
            return;
        }
        let here = match address.data {
            Data::Uniform(bits, KNOWN) => Some(offset_of(bits)),
            _ => None,
        };
        let sessions = &mut self.locks.sessions;
        let is_of = |held: &u32| {
            let session = sessions.get(*held as usize - 1);
            session.is_some_and(|session| session.index == index && Some(session.offset) == here)
        };
        if let Some(at) = self.locks.held.iter().rposition(is_of) {
            if touch.kind.writes() {
                let held = self.locks.held.remove(at);
                let (scope, ordered) = atomic_at(self.code, touch.at);
                if let Some(session) = self.locks.sessions.get_mut(held as usize - 1) {
                    session.over = true;
                    session.scope = session.scope.min(scope);
                    session.exit = session.exit.max(ordered);
                }
            }
            return;
        }
        if self.objects.get(index).is_some_and(super::memory::Memory::is_global) && touch.kind != AccessKind::Atomic {
            for held in &self.locks.held {
                if let Some(session) = self.locks.sessions.get_mut(*held as usize - 1) {
                    session.exit = NOBODY;
                }
            }
        }
    }
}

const fn reach_of(scope: Scope) -> Reach {
    match scope {
        Scope::Thread => NOBODY,
        Scope::Block => OF_BLOCK,
        Scope::Device | Scope::System => OF_ALL,
    }
}

/// Whom an operation that gives a lock back reaches, and for whom it orders what stands before it.
fn atomic_at(code: &Code, at: ExprId) -> (Reach, Reach) {
    match &code.expr(at).kind {
        Expr::Intrinsic(Intrinsic::Atomic { scope, ordered, .. }, _) => {
            let reach = reach_of(*scope);
            (reach, if *ordered { reach } else { NOBODY })
        }
        // A plain store is seen by all, some time.
        _ => (OF_ALL, NOBODY),
    }
}
