//! The objects of a walk, written through a journal so that a branch costs what it writes.
//!
//! A fork remembers a mark in the journal; undoing and joining look only at objects written since. Objects are shared
//! between the current state, the journal and what branches left behind, and copied when one of them is written.

use super::objects::{ObjId, ObjSet};
use crate::quantity::{Assumptions, Poly};
use std::rc::Rc;

/// How two states become one.
#[derive(Clone, Debug)]
pub(crate) enum JoinRule {
    /// Nothing says which: what differs is unknown.
    Either,
    /// The current state holds under these assumptions.
    Current(Assumptions),
    /// The current state holds where this is 1, the other where it is 0: integers become `other + c * (current - other)`.
    Where(Poly),
}

impl JoinRule {
    /// What the current state rests on where it is kept.
    pub const fn default(&self) -> Option<&Assumptions> {
        match self {
            Self::Either | Self::Where(_) => None,
            Self::Current(why) => Some(why),
        }
    }
}

/// What becomes of an object for two paths.
pub(crate) enum Joined<O> {
    /// It stays.
    Current,
    /// It is as on the other path.
    Other,
    New(O),
}

/// What a store can hold.
pub(crate) trait Stored: Clone {
    /// Whether an object that comes into being on a path keeps what that path made of it: nobody else reaches it. It is
    /// not so where an object may come into being when it is first looked at, as variables of C++ at namespace scope do.
    const OF_ITS_PATH: bool;

    /// One object for two paths. Objects that pointers led to which get lost are noted.
    fn join(current: &Self, other: &Self, rule: &JoinRule, lost: &mut Vec<ObjId>) -> Joined<Self>;
}

/// A point to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark {
    /// How long the journal was.
    journal: usize,
    /// How many objects there were.
    objects: u32,
}

/// What a branch left behind, relative to a mark.
#[derive(Clone, Debug)]
pub(crate) struct Diff<O> {
    /// Each once, in no order.
    objects: Vec<(ObjId, Rc<O>)>,
    /// How many there were in all.
    count: u32,
}

/// All objects.
#[derive(Clone, Debug)]
pub(crate) struct Store<O> {
    objects: Vec<Rc<O>>,
    /// The generation in which each object was last journaled.
    logged: Vec<u32>,
    generation: u32,
    journal: Vec<(ObjId, Rc<O>)>,
    /// Objects whose address may be known where the walk does not see: never shrinks within a walk.
    pub escaped: ObjSet,
    /// Objects met in a search, kept for its room.
    pub met: ObjSet,
    /// The first object that was written, of those written since somebody asked.
    pub lowest: u32,
}

impl<O> Default for Store<O> {
    fn default() -> Self {
        Self {
            objects: Vec::new(),
            logged: Vec::new(),
            generation: 0,
            journal: Vec::new(),
            escaped: ObjSet::default(),
            met: ObjSet::default(),
            lowest: 0,
        }
    }
}

impl<O: Stored> Store<O> {
    /// A new object.
    pub fn add(&mut self, object: O) -> ObjId {
        let id = ObjId(self.count());
        self.objects.push(Rc::new(object));
        self.logged.push(self.generation);
        id
    }

    /// How many objects there are.
    pub const fn count(&self) -> u32 {
        self.objects.len() as u32
    }

    /// An object.
    pub fn get(&self, id: ObjId) -> &O {
        &self.objects[id.0 as usize]
    }

    /// An object, to be written.
    pub fn get_mut(&mut self, id: ObjId) -> &mut O {
        Rc::make_mut(self.slot(id))
    }

    /// An object as it is shared with other states, to be written or replaced.
    pub fn slot(&mut self, id: ObjId) -> &mut Rc<O> {
        self.log(id);
        &mut self.objects[id.0 as usize]
    }

    /// All objects, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (ObjId, &O)> {
        self.objects.iter().enumerate().map(|(index, object)| (ObjId(index as u32), &**object))
    }

    /// Remembers an object as it is, if that has not been done since the last mark.
    pub fn log(&mut self, id: ObjId) {
        self.lowest = self.lowest.min(id.0);
        let index = id.0 as usize;
        if self.logged[index] != self.generation {
            self.logged[index] = self.generation;
            self.journal.push((id, Rc::clone(&self.objects[index])));
        }
    }

    /// A point to return to.
    pub fn mark(&mut self) -> Mark {
        self.generation += 1;
        Mark { journal: self.journal.len(), objects: self.count() }
    }

    /// What was journaled since the mark.
    fn journal_since(&self, mark: Mark) -> &[(ObjId, Rc<O>)] {
        self.journal.get(mark.journal..).unwrap_or(&[])
    }

    /// Ids of the objects written since the mark, in order.
    pub fn written_since(&mut self, mark: Mark) -> Vec<ObjId> {
        let mut met = self.empty_set();
        met.extend(self.journal_since(mark).iter().map(|(id, _)| *id));
        let written = met.iter().collect();
        self.met = met;
        written
    }

    /// A set for a search, to be put back into `met`.
    pub fn empty_set(&mut self) -> ObjSet {
        let mut set = std::mem::take(&mut self.met);
        set.clear();
        set
    }

    /// Returns to the mark.
    pub fn undo(&mut self, mark: Mark) {
        while self.journal.len() > mark.journal {
            if let Some((id, old)) = self.journal.pop()
                && !(O::OF_ITS_PATH && id.0 >= mark.objects)
            {
                self.objects[id.0 as usize] = old;
            }
        }
        self.generation += 1;
    }

    /// What the objects that were made since the mark have been given since then stays, whatever earlier mark is returned to.
    pub fn keep_made(&mut self, since: Mark) {
        let later = self.journal.split_off(since.journal.min(self.journal.len()));
        self.journal.extend(later.into_iter().filter(|(id, _)| id.0 < since.objects));
    }

    /// What was written since the mark, as it is now.
    pub fn diff(&mut self, mark: Mark) -> Diff<O> {
        let mut met = self.empty_set();
        let written = self.journal_since(mark).iter().filter(|(id, _)| met.insert(*id));
        let objects = written.map(|(id, _)| (*id, Rc::clone(&self.objects[id.0 as usize]))).collect();
        self.met = met;
        Diff { objects, count: self.count() }
    }

    /// Makes a diff that is relative to `from` relative to the earlier mark `to`.
    pub fn rebase(&mut self, diff: &mut Diff<O>, from: Mark, to: Mark) {
        let between = self.journal.get(to.journal..from.journal).unwrap_or(&[]);
        if between.is_empty() {
            return;
        }
        let mut missing = ObjSet::default();
        missing.extend(between.iter().map(|(id, _)| *id));
        for (id, _) in &diff.objects {
            missing.remove(*id);
        }
        // As they were at `from`: journaled after it, or still so.
        for (id, old) in self.journal_since(from) {
            if missing.remove(*id) {
                diff.objects.push((*id, Rc::clone(old)));
            }
        }
        diff.objects.extend(missing.iter().map(|id| (id, Rc::clone(&self.objects[id.0 as usize]))));
    }

    /// What a diff relative to `mark` says of every object that it or the current state has written since.
    fn other_side(&mut self, diff: Diff<O>, mark: Mark) -> Vec<(ObjId, Rc<O>)> {
        let mut met = self.empty_set();
        let mut all = diff.objects;
        met.extend(all.iter().map(|(id, _)| *id));
        // What was journaled first is how it was at the mark.
        let others = self.journal_since(mark).iter();
        let others = others.filter(|(id, _)| !(O::OF_ITS_PATH && id.0 >= diff.count) && met.insert(*id));
        all.extend(others.map(|(id, old)| (*id, Rc::clone(old))));
        self.met = met;
        all
    }

    /// Replaces the current state by the diff's, which is relative to `mark`.
    pub fn replace(&mut self, diff: Diff<O>, mark: Mark) {
        self.undo(mark);
        for (id, object) in diff.objects {
            *self.slot(id) = object;
        }
    }

    /// Makes the state that of the diff (relative to `mark`) by writing, so that the journal keeps both.
    pub fn adopt(&mut self, diff: Diff<O>, mark: Mark) {
        let targets = self.other_side(diff, mark);
        self.generation += 1;
        for (id, object) in targets {
            *self.slot(id) = object;
        }
    }

    /// Joins the state at the mark with the current one.
    pub fn join_mark(&mut self, mark: Mark) {
        self.join(Diff { objects: Vec::new(), count: mark.objects }, mark, &JoinRule::Either);
    }

    /// Nobody holds a mark any more: what objects were before need not be kept.
    pub fn commit(&mut self) {
        self.journal.clear();
        self.generation += 1;
    }

    /// Joins the state that the diff (relative to `mark`) stands for with the current one.
    pub fn join(&mut self, diff: Diff<O>, mark: Mark, rule: &JoinRule) {
        let mut lost = Vec::new();
        for (id, other) in self.other_side(diff, mark) {
            self.log(id);
            let current = &mut self.objects[id.0 as usize];
            match O::join(current, &other, rule, &mut lost) {
                Joined::Current => {}
                Joined::Other => *current = other,
                Joined::New(joined) => *current = Rc::new(joined),
            }
        }
        self.escaped.extend(lost);
    }
}
