//! Locks, and who had them when, see `holding.rs`.

use crate::code::{Code, StmtId};
use crate::readings::locks::{LockLoops, TakesLock};
use crate::report::RaceScope;
use rustc_hash::FxHashMap;

/// Who is reached by a fence or by an atomic operation: the larger the more.
pub(super) type Reach = u8;
/// Nobody else.
pub(super) const NOBODY: Reach = 0;
/// The threads of a block.
pub(super) const OF_BLOCK: Reach = 1;
/// All threads.
pub(super) const OF_ALL: Reach = 2;

/// Locks, and the times that they were held.
pub(super) struct Locks<'c> {
    pub(super) loops: LockLoops<'c>,
    pub(super) known: FxHashMap<StmtId, Option<TakesLock>>,
    /// From 1.
    pub(super) sessions: Vec<Session>,
    /// The sessions that are not over.
    pub(super) held: Vec<u32>,
}

/// A lock while the block has it.
#[derive(Clone, Copy)]
pub(super) struct Session {
    pub(super) index: usize,
    pub(super) offset: i64,
    /// Whom its atomic operations reach.
    pub(super) scope: Reach,
    /// The largest fence since the last access.
    pub(super) exit: Reach,
    pub(super) over: bool,
}

impl<'c> Locks<'c> {
    pub(super) fn of(code: &'c Code) -> Self {
        Self { loops: LockLoops::new(code), known: FxHashMap::default(), sessions: Vec::new(), held: Vec::new() }
    }

    /// For a new block.
    pub(super) fn renew(&mut self) {
        for held in self.held.drain(..) {
            if let Some(session) = self.sessions.get_mut(held as usize - 1) {
                session.over = true;
            }
        }
    }

    /// The number of the session that an access belongs to, 0 for none.
    pub(super) fn current(&self) -> u32 {
        self.held.last().copied().unwrap_or_default()
    }

    pub(super) fn is_held(&self) -> bool {
        !self.held.is_empty()
    }

    pub(super) fn several(&self) -> bool {
        self.held.len() > 1
    }

    fn session(&self, number: u32) -> Option<&Session> {
        self.sessions.get((number as usize).checked_sub(1)?)
    }

    /// Whether two accesses are ordered since both are made by who has one lock. That no fence stands behind where it is taken is
    /// not asked: what is done hangs on having it.
    pub(super) fn order(&self, first: u32, second: u32, scope: RaceScope) -> bool {
        let (Some(a), Some(b)) = (self.session(first), self.session(second)) else { return false };
        let needed = if scope == RaceScope::Grid { OF_ALL } else { OF_BLOCK };
        (a.index, a.offset) == (b.index, b.offset)
            && a.scope.min(b.scope) >= needed
            && (first == second || !a.over || a.exit >= needed)
    }
}
