//! One object: what it is, and what its parts hold.

use super::place::{CellPath, Key};
use crate::facts::{MemorySpace, Origin, Site};
use crate::given::Held;
use crate::host::ObjId;
use crate::value::{Kind, Val, around, part_of};
use cudalint_program::Name;
use cudalint_program::types::Ty;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

/// Whether an allocation has been freed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freed {
    No,
    Maybe,
    Yes,
}

/// What does not change over an object's life.
#[derive(Debug)]
pub(crate) struct ObjectInfo {
    pub name: Name,
    pub site: Site,
    pub ty: Ty,
    pub space: MemorySpace,
    /// What brought it into being.
    pub origin: Origin,
    /// Whether it is addressed by byte offsets: an array or an allocation.
    pub array: bool,
    /// Bytes of an element of the pointer it was first assigned to.
    pub element: Option<i64>,
}

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    pub info: Rc<ObjectInfo>,
    /// Size in bytes, an integer; for variables computed from the type when asked for.
    pub bytes: Val,
    /// The value of the whole, or of every part that has no cell.
    pub root: Val,
    pub cells: Option<Rc<BTreeMap<CellPath, Val>>>,
    pub freed: Freed,
    /// What an allocation is known to hold; `None` where nothing is. Whoever writes makes it so, and may say more then.
    pub held: Option<Arc<Held>>,
}

impl Object {
    /// Whether anything about its contents can be forgotten.
    pub fn says_something(&self) -> bool {
        !matches!(self.root.kind, Kind::Unknown) || self.cells.is_some() || self.held.is_some()
    }

    /// The value of a part.
    pub fn read(&self, path: &[Key]) -> Val {
        match &self.cells {
            None => self.root.part(path),
            Some(cells) if path.is_empty() => Val::aggregate(self.root.clone(), cells.clone()),
            Some(cells) => part_of(&self.root, cells, path),
        }
    }

    /// The value of a part that has no cell of its own: what the nearest cell around it says, or the whole.
    pub fn around(&self, path: &[Key]) -> Val {
        self.cells.as_ref().map_or_else(|| self.root.part(path), |cells| around(&self.root, cells, path))
    }

    /// This object where something else is stored into it as a whole.
    pub fn overwritten(&self, value: Val) -> Self {
        let (root, cells) = whole(value);
        Self { info: self.info.clone(), bytes: self.bytes.clone(), root, cells, freed: self.freed, held: None }
    }

    /// Stores into a part.
    pub fn write(&mut self, path: &CellPath, value: Val) {
        self.held = None;
        if path.is_empty() {
            (self.root, self.cells) = whole(value);
            return;
        }
        let cells = Rc::make_mut(self.cells.get_or_insert_with(Rc::default));
        let doomed: Vec<CellPath> = cells
            .range::<[Key], _>((Bound::Excluded(&**path), Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(path))
            .map(|(key, _)| key.clone())
            .collect();
        for key in doomed {
            cells.remove(&key);
        }
        if let Kind::Aggregate(parts) = &value.kind {
            cells.insert(path.clone(), parts.whole.clone());
            for (tail, part) in parts.cells.iter() {
                cells.insert(path.iter().chain(tail.iter()).cloned().collect(), part.clone());
            }
        } else {
            cells.insert(path.clone(), value);
        }
    }

    /// What every pointer stored in a part leads to.
    pub fn pointers(&self, path: &[Key], into: &mut Vec<ObjId>) {
        self.root.pointers(into);
        if let Some(cells) = &self.cells {
            for (key, value) in cells.iter() {
                if key.starts_with(path) {
                    value.pointers(into);
                }
            }
        }
    }
}

/// A value as the whole of an object: what its parts without a cell are, and the cells.
fn whole(value: Val) -> (Val, Option<Rc<BTreeMap<CellPath, Val>>>) {
    match &value.kind {
        Kind::Aggregate(parts) => (parts.whole.clone(), Some(parts.cells.clone())),
        _ => (value, None),
    }
}
