//! The memory of a walk over C++: every variable and every allocation is an [`Object`], whose cells are named by paths of
//! fields and byte offsets.

mod join;
mod object;
mod place;
mod reach;

use crate::given::Held;
use crate::host::{Mark, ObjId, ObjSet, Store};
use crate::quantity::Assumptions;
use crate::value::{Kind, Val};
pub(crate) use object::{Freed, Object, ObjectInfo};
pub(crate) use place::{CellPath, Key, Place, extend, root};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;
use std::sync::Arc;

/// The memory of a walk.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    objects: Store<Object>,
    /// Variables at namespace scope that project code out of sight may write.
    pub shared: ObjSet,
    /// Of those, the ones that no other file of the project names.
    pub own: ObjSet,
    /// Allocations of which something was known in some state, so that only these are asked what they hold.
    holders: ObjSet,
    /// What objects were asked for that code out of sight may write, since somebody asked.
    pub asked: Asked,
    /// The same on paths that nothing comes of: there it only matters to what has escaped.
    pub aside: Asked,
}

impl Deref for Memory {
    type Target = Store<Object>;

    fn deref(&self) -> &Store<Object> {
        &self.objects
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut Store<Object> {
        &mut self.objects
    }
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
    pub const SHARED: Self = Self(2);
    const BY_HOST: Self = Self(4);
    const BY_DEVICE: Self = Self(8);

    /// Both.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Memory {
    /// A new object. What it holds may be an aggregate by value.
    pub fn create(&mut self, mut object: Object) -> ObjId {
        if matches!(object.root.kind, Kind::Aggregate(_)) {
            let value = object.root.clone();
            object.write(&root(), value);
        }
        self.add(object)
    }

    /// Stores into a part of an object.
    fn write(&mut self, id: ObjId, path: &CellPath, value: Val) {
        let object = self.slot(id);
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
    pub fn step_aside(&mut self) -> Aside {
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

    /// Adds assumptions to everything written since the mark.
    pub fn taint_since(&mut self, mark: Mark, why: &Assumptions) {
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
