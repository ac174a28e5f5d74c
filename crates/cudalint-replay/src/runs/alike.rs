//! Extents that are meant to be alike: two containers or two images that one launch works on have one size, unless the program
//! says otherwise.

use crate::quantity::{Atom, AtomKind};

/// How extents of objects from outside are named, by what they are the extents of.
const EXTENTS: [&str; 3] = [".size()", ".rows", ".cols"];

fn extent(name: &str) -> Option<&'static str> {
    EXTENTS.into_iter().find(|extent| name.ends_with(extent) || name == &extent[1..])
}

/// Whether two inputs are the same extent of two objects.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    extent(one).is_some_and(|found| extent(other) == Some(found))
}

/// Whether some of the inputs are sizes of containers and others are not: a number that comes beside a container has to do with its
/// size, in a way that nobody sees.
pub(super) fn mixes_sizes(atoms: &[Atom]) -> bool {
    let free = || atoms.iter().filter(|atom| matches!(atom.kind(), AtomKind::Input));
    let is_size = |atom: &Atom| atom.name().ends_with(".size()");
    free().any(is_size) && !free().all(is_size)
}
