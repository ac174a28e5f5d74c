//! Extents that are meant to be alike: two containers or two images that one launch works on have one size, unless the program
//! says otherwise. And what comes between the beginnings of two rows is no less than a row.

use crate::facts::LaunchFact;
use crate::quantity::{Atom, AtomKind};
use std::collections::BTreeMap;

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

/// Whether an input is called what lies between the beginnings of two rows: a stride, a pitch, a leading dimension.
fn is_row_step(name: &str) -> bool {
    const LEADING: [&str; 4] = ["ld", "lda", "ldb", "ldc"];
    let name = name.rsplit(['.', '>', ':']).next().unwrap_or(name).to_ascii_lowercase();
    let name = name.trim_matches('_');
    LEADING.contains(&name) || ["stride", "pitch", "linesize", "rowbytes"].iter().any(|part| name.contains(part))
}

/// Inputs that are no less than others: what lies between two rows beside how long the launch's rows are.
pub(super) fn row_steps(fact: &LaunchFact, inputs: &[Atom]) -> Vec<(Atom, Atom)> {
    let mut found = Vec::new();
    let widths = fact.grid.axes[0].quantity.inputs();
    for step in inputs.iter().filter(|atom| is_row_step(atom.name())) {
        let widths = widths.iter().filter(|width| !is_row_step(width.name()) && inputs.contains(width));
        found.extend(widths.map(|width| (step.clone(), width.clone())));
    }
    found
}

/// Whether values of inputs, by their ids, keep rows apart.
pub(super) fn keep_rows_apart(steps: &[(Atom, Atom)], at: &BTreeMap<u32, i64>) -> bool {
    let value = |atom: &Atom| at.get(&atom.id()).copied();
    steps.iter().all(|(step, width)| match (value(step), value(width)) {
        (Some(step), Some(width)) => step >= width,
        _ => true,
    })
}
