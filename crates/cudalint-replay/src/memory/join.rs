//! What branches leave behind, and how the states after them become one.

use super::{CellPath, Freed, Memory, ObjId, Object};
use crate::algebra::Poly;
use crate::given::Held;
use crate::val::{Kind, Val};
use crate::value::Assumptions;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a branch left behind, relative to a mark.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// In order of their ids.
    objects: Vec<(ObjId, Rc<Object>)>,
}

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

impl Memory {
    /// What a diff relative to `mark` says of every object that it or the current state has written since.
    fn other_side(&mut self, diff: Diff, mark: usize) -> Vec<(ObjId, Rc<Object>)> {
        let changed = self.changed_since(mark);
        if diff.objects.is_empty() {
            return changed;
        }
        let mut all = Vec::with_capacity(changed.len() + diff.objects.len());
        let mut written = diff.objects.into_iter().peekable();
        for (id, old) in changed {
            while let Some(before) = written.next_if(|(other, _)| *other < id) {
                all.push(before);
            }
            all.push(written.next_if(|(other, _)| *other == id).unwrap_or((id, old)));
        }
        all.extend(written);
        all
    }

    /// What was written since the mark, as it is now.
    pub fn diff(&self, mark: usize) -> Diff {
        let written = self.written_since(mark).into_iter();
        Diff { objects: written.map(|id| (id, Rc::clone(&self.objects[id.0 as usize]))).collect() }
    }

    /// Makes a diff that is relative to `from` relative to the earlier mark `to`.
    pub fn rebase(&mut self, diff: &mut Diff, from: usize, to: usize) {
        let mut ids: Vec<ObjId> = self.journal.get(to..from).unwrap_or(&[]).iter().map(|(id, _)| *id).collect();
        if ids.is_empty() {
            return;
        }
        ids.sort_unstable();
        ids.dedup();
        ids.retain(|id| diff.objects.binary_search_by_key(id, |(known, _)| *known).is_err());
        let later = self.changed_since(from);
        diff.objects.extend(ids.into_iter().map(|id| {
            let at = later.binary_search_by_key(&id, |(known, _)| *known);
            let old = at.ok().and_then(|at| later.get(at)).map_or(&self.objects[id.0 as usize], |(_, old)| old);
            (id, Rc::clone(old))
        }));
        diff.objects.sort_unstable_by_key(|(id, _)| *id);
    }

    /// Replaces the current state by the diff's, which is relative to `mark`.
    pub fn replace(&mut self, diff: Diff, mark: usize) {
        self.undo(mark);
        for (id, object) in diff.objects {
            self.put(id, object);
        }
    }

    /// Makes the state that of the diff (relative to `mark`) by writing, so that the journal keeps both.
    pub fn adopt(&mut self, diff: Diff, mark: usize) {
        let targets = self.other_side(diff, mark);
        self.generation += 1;
        for (id, object) in targets {
            self.put(id, object);
        }
    }

    /// Joins the state that the diff (relative to `mark`) stands for with the current one.
    pub fn join(&mut self, diff: Diff, mark: usize, rule: &JoinRule) {
        let mut lost = Vec::new();
        for (id, other) in self.other_side(diff, mark) {
            self.log(id);
            let current = &mut self.objects[id.0 as usize];
            let joined = join_objects(current, &other, rule, &mut lost);
            *current = Rc::new(joined);
        }
        self.escaped.extend(lost);
    }
}

fn join_objects(current: &Object, other: &Object, rule: &JoinRule, lost: &mut Vec<ObjId>) -> Object {
    let default = match rule {
        JoinRule::Either | JoinRule::Where(_) => None,
        JoinRule::Current(why) => Some(why),
    };
    let join = |a: &Val, b: &Val, lost: &mut Vec<ObjId>| {
        let blended = if let JoinRule::Where(truth) = rule { Val::blend(truth, a, b) } else { None };
        blended.unwrap_or_else(|| Val::join(a, b, default, lost))
    };
    let same_cells = match (&current.cells, &other.cells) {
        (None, None) => true,
        (Some(a), Some(b)) => Rc::ptr_eq(a, b),
        _ => false,
    };
    let root = join(&current.root, &other.root, lost);
    let bytes = join(&current.bytes, &other.bytes, lost);
    let cells = if same_cells {
        current.cells.clone()
    } else {
        let mut cells: BTreeMap<CellPath, Val> = BTreeMap::new();
        let keys = current.cells.iter().chain(&other.cells).flat_map(|c| c.keys());
        for key in keys {
            if !cells.contains_key(key) {
                cells.insert(key.clone(), join(&flat(&current.read(key)), &flat(&other.read(key)), lost));
            }
        }
        (!cells.is_empty()).then(|| Rc::new(cells))
    };
    let freed = if current.freed != other.freed && default.is_none() { Freed::Maybe } else { current.freed };
    let held = Held::join(current.held.as_ref(), other.held.as_ref());
    Object { info: current.info.clone(), bytes, root, cells, freed, held }
}

/// The value of a part without the cells below it, which are joined by themselves.
fn flat(value: &Val) -> Val {
    if let Kind::Aggregate(parts) = &value.kind { parts.whole.clone() } else { value.clone() }
}
