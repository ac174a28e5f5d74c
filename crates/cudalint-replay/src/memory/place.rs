//! Places: which part of which object.

use crate::host::ObjId;
use cudalint_program::Name;
use std::rc::Rc;

/// A step from an object to a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A field, or a hidden part of a container (`#size`).
    Field(Name),
    /// A byte offset into an array or a buffer.
    At(i64),
}

/// A path to a part of an object.
pub(crate) type CellPath = Rc<[Key]>;

/// The empty path.
pub(crate) fn root() -> CellPath {
    // Asked for at every look at a variable, so it is made once.
    thread_local! {
        static ROOT: CellPath = Rc::from([]);
    }
    ROOT.with(Clone::clone)
}

/// `path` with one step more.
pub(crate) fn extend(path: &CellPath, key: Key) -> CellPath {
    if path.is_empty() {
        return Rc::from([key]);
    }
    path.iter().cloned().chain([key]).collect()
}

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
