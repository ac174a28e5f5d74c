//! The memory of a walk: objects with cells, written through a journal so that a branch costs what it writes.
//!
//! Every variable and every allocation is an [`Object`]. A cell is named by a path of fields and byte offsets. A fork
//! remembers a mark in the journal; undoing and joining look only at objects written since. Objects are shared between
//! the current state, the journal and what branches left behind, and copied when one of them is written.

mod join;
mod object;
mod reach;
mod set;

use crate::given::Held;
use crate::quantity::Assumptions;
use crate::value::{Kind, Val};
pub(crate) use join::{Diff, JoinRule};
pub(crate) use object::{CellPath, Freed, Key, ObjId, Object, ObjectInfo, extend, part_of, root};
pub(crate) use set::ObjSet;
use std::rc::Rc;
use std::sync::Arc;

/// Where a value can be stored.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A known cell.
    Cell(ObjId, CellPath),
    /// Some cell of a known part: a store forgets the whole part.
    Weak(ObjId, CellPath),
    /// Somewhere out of sight: a store may reach every object whose address has got out.
    Unknown,
    /// Surely no object that the walk follows (memory of the device, a string literal).
    Nowhere,
}

/// All objects.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    objects: Vec<Rc<Object>>,
    /// The generation in which each object was last journaled.
    logged: Vec<u32>,
    generation: u32,
    journal: Vec<(ObjId, Rc<Object>)>,
    /// Objects whose address may be known where the walk does not see: never shrinks within a walk.
    pub escaped: ObjSet,
    /// Variables at namespace scope that project code out of sight may write.
    pub shared: ObjSet,
    /// Of those, the ones that no other file of the project names.
    pub own: ObjSet,
    /// Allocations of which something was known in some state, so that only these are asked what they hold.
    holders: ObjSet,
    /// Objects met in a search, kept for its room.
    met: ObjSet,
    /// The first object that was written, of those written since somebody asked.
    pub lowest: u32,
    /// What objects were asked for that code out of sight may write, since somebody asked.
    pub asked: Asked,
    /// The same on paths that nothing comes of: there it only matters to what has escaped.
    pub aside: Asked,
}

/// Which objects were asked for to forget something of them: those that escaped, those at namespace scope, those that
/// code without the GPU may write, those that device code may write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked(u8);

/// What was written and asked for before a path began of which nothing comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aside {
    lowest: u32,
    asked: Asked,
}

impl Asked {
    const NOTHING: Self = Self(0);
    const ESCAPED: Self = Self(1);
    const SHARED: Self = Self(2);
    const BY_HOST: Self = Self(4);
    const BY_DEVICE: Self = Self(8);

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Memory {
    /// A new object. What it holds may be an aggregate by value.
    pub fn create(&mut self, mut object: Object) -> ObjId {
        let id = ObjId(self.objects.len() as u32);
        if matches!(object.root.kind, Kind::Aggregate(_)) {
            let value = object.root.clone();
            object.write(&root(), value);
        }
        self.objects.push(Rc::new(object));
        self.logged.push(self.generation);
        id
    }

    /// How many objects there are.
    pub const fn count(&self) -> u32 {
        self.objects.len() as u32
    }

    /// An object.
    pub fn get(&self, id: ObjId) -> &Object {
        &self.objects[id.0 as usize]
    }

    /// An object, to be written.
    pub fn get_mut(&mut self, id: ObjId) -> &mut Object {
        self.log(id);
        Rc::make_mut(&mut self.objects[id.0 as usize])
    }

    /// Remembers an object as it is, if that has not been done since the last mark.
    fn log(&mut self, id: ObjId) {
        self.lowest = self.lowest.min(id.0);
        let index = id.0 as usize;
        if self.logged[index] != self.generation {
            self.logged[index] = self.generation;
            self.journal.push((id, Rc::clone(&self.objects[index])));
        }
    }

    /// Puts another object in the place of one.
    fn put(&mut self, id: ObjId, object: Rc<Object>) {
        self.log(id);
        self.objects[id.0 as usize] = object;
    }

    /// Stores into a part of an object.
    fn write(&mut self, id: ObjId, path: &CellPath, value: Val) {
        self.log(id);
        let object = &mut self.objects[id.0 as usize];
        match Rc::get_mut(object) {
            Some(object) => object.write(path, value),
            // What is overwritten need not be copied before.
            None if path.is_empty() => *object = Rc::new(object.overwritten(value)),
            None => Rc::make_mut(object).write(path, value),
        }
    }

    /// Says what an allocation holds.
    pub fn set_held(&mut self, id: ObjId, held: Option<Arc<Held>>) {
        if held.is_some() {
            self.holders.insert(id);
        }
        self.get_mut(id).held = held;
    }

    /// A path begins of which nothing comes: what is written on it is undone.
    pub const fn step_aside(&mut self) -> Aside {
        let before = Aside { lowest: self.lowest, asked: self.asked };
        self.lowest = u32::MAX;
        self.asked = Asked::NOTHING;
        before
    }

    /// Such a path ends.
    pub fn step_back(&mut self, before: Aside) {
        self.aside = self.aside.with(self.asked);
        (self.lowest, self.asked) = (before.lowest, before.asked);
    }

    /// A point to return to.
    pub fn mark(&mut self) -> usize {
        self.generation += 1;
        self.journal.len()
    }

    /// What was journaled since the mark.
    fn journal_since(&self, mark: usize) -> &[(ObjId, Rc<Object>)] {
        self.journal.get(mark..).unwrap_or(&[])
    }

    /// Ids of the objects written since the mark, in order.
    pub fn written_since(&mut self, mark: usize) -> Vec<ObjId> {
        let mut met = self.empty_set();
        met.extend(self.journal_since(mark).iter().map(|(id, _)| *id));
        let written = met.iter().collect();
        self.met = met;
        written
    }

    /// A set for a search, to be put back into `met`.
    fn empty_set(&mut self) -> ObjSet {
        let mut set = std::mem::take(&mut self.met);
        set.clear();
        set
    }

    /// Returns to the mark.
    pub fn undo(&mut self, mark: usize) {
        while self.journal.len() > mark {
            if let Some((id, old)) = self.journal.pop() {
                self.objects[id.0 as usize] = old;
            }
        }
        self.generation += 1;
    }

    /// Adds assumptions to everything written since the mark.
    pub fn taint_since(&mut self, mark: usize, why: &Assumptions) {
        for id in self.written_since(mark) {
            let object = self.get_mut(id);
            object.held = object.held.as_ref().map(|held| Arc::new(Held::because(held, why)));
            object.root = object.root.clone().because(why);
            if let Some(cells) = &mut object.cells {
                for value in Rc::make_mut(cells).values_mut() {
                    *value = value.clone().because(why);
                }
            }
        }
    }

    /// The value at a place.
    pub fn load(&self, place: &Place) -> Val {
        match place {
            Place::Cell(id, path) => self.get(*id).read(path),
            Place::Weak(id, path) => match self.get(*id).read(path).kind {
                // Nothing was ever stored: no index makes a difference.
                Kind::Uninit(origin) => Val::from(Kind::Uninit(origin)),
                _ => Val::unknown(),
            },
            Place::Unknown | Place::Nowhere => Val::unknown(),
        }
    }

    /// Stores at a place.
    pub fn store(&mut self, place: &Place, value: Val) {
        match place {
            Place::Cell(id, path) => self.write(*id, path, value),
            Place::Weak(id, path) => {
                self.escape_from(&value);
                self.forget(*id, path);
            }
            Place::Unknown => {
                self.escape_from(&value);
                self.forget_escaped();
            }
            Place::Nowhere => {}
        }
    }
}
