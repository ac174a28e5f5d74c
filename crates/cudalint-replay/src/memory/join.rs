//! What branches leave behind, and how the states after them become one.

use super::{CellPath, Freed, Memory, ObjId, ObjSet, Object};
use crate::given::Held;
use crate::quantity::Assumptions;
use crate::quantity::Poly;
use crate::value::{Kind, Val};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// What a branch left behind, relative to a mark.
#[derive(Debug, Default)]
pub(crate) struct Diff {
    /// Each once, in no order.
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
        let mut met = self.empty_set();
        let mut all = diff.objects;
        met.extend(all.iter().map(|(id, _)| *id));
        // What was journaled first is how it was at the mark.
        let others = self.journal_since(mark).iter().filter(|(id, _)| met.insert(*id));
        all.extend(others.map(|(id, old)| (*id, Rc::clone(old))));
        self.met = met;
        all
    }

    /// What was written since the mark, as it is now.
    pub fn diff(&mut self, mark: usize) -> Diff {
        let mut met = self.empty_set();
        let written = self.journal_since(mark).iter().filter(|(id, _)| met.insert(*id));
        let objects = written.map(|(id, _)| (*id, Rc::clone(&self.objects[id.0 as usize]))).collect();
        self.met = met;
        Diff { objects }
    }

    /// Makes a diff that is relative to `from` relative to the earlier mark `to`.
    pub fn rebase(&mut self, diff: &mut Diff, from: usize, to: usize) {
        let between = self.journal.get(to..from).unwrap_or(&[]);
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
            match join_objects(current, &other, rule, &mut lost) {
                Joined::Current => {}
                Joined::Other => *current = other,
                Joined::New(joined) => *current = Rc::new(joined),
            }
        }
        self.escaped.extend(lost);
    }
}

/// What becomes of an object for two paths.
enum Joined {
    /// It stays.
    Current,
    /// It is as on the other path.
    Other,
    New(Object),
}

/// One object for two paths.
fn join_objects(current: &Object, other: &Object, rule: &JoinRule, lost: &mut Vec<ObjId>) -> Joined {
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
    let same_held = match (&current.held, &other.held) {
        (None, _) => true,
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    if same_cells
        && same_held
        && current.freed == other.freed
        && current.root.stays(&other.root)
        && current.bytes.stays(&other.bytes)
    {
        return Joined::Current;
    }
    let root = join(&current.root, &other.root, lost);
    // Mostly one of the paths has forgotten the value: then nothing new is made.
    if current.cells.is_none()
        && other.cells.is_none()
        && current.freed == other.freed
        && current.bytes.is_blank_as(&other.bytes)
        && root.is_blank()
        && Rc::ptr_eq(&current.info, &other.info)
    {
        if current.held.is_none() && current.root.is_blank_as(&root) {
            return Joined::Current;
        }
        if other.held.is_none() && other.root.is_blank_as(&root) {
            return Joined::Other;
        }
    }
    let bytes = join(&current.bytes, &other.bytes, lost);
    let cells = if same_cells { current.cells.clone() } else { join_cells(current, other, |a, b| join(a, b, lost)) };
    let freed = if current.freed != other.freed && default.is_none() { Freed::Maybe } else { current.freed };
    let held = Held::join(current.held.as_ref(), other.held.as_ref());
    Joined::New(Object { info: current.info.clone(), bytes, root, cells, freed, held })
}

/// The cells that either of two objects has.
fn join_cells(
    current: &Object,
    other: &Object,
    mut join: impl FnMut(&Val, &Val) -> Val,
) -> Option<Rc<BTreeMap<CellPath, Val>>> {
    let (mut left, mut right) = (cells(current).peekable(), cells(other).peekable());
    let mut joined = Vec::new();
    loop {
        let order = match (left.peek(), right.peek()) {
            (Some((a, _)), Some((b, _))) => a.cmp(b),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => break,
        };
        let a = if order == Ordering::Greater { None } else { left.next() };
        let b = if order == Ordering::Less { None } else { right.next() };
        let Some((key, _)) = a.or(b) else { break };
        let value = match (a, b) {
            (Some((_, a)), Some((_, b))) => join(flat(a), flat(b)),
            (Some((_, a)), None) => join(flat(a), flat(&other.around(key))),
            (None, Some((_, b))) => join(flat(&current.around(key)), flat(b)),
            (None, None) => break,
        };
        joined.push((key.clone(), value));
    }
    (!joined.is_empty()).then(|| Rc::new(joined.into_iter().collect()))
}

fn cells(object: &Object) -> impl Iterator<Item = (&CellPath, &Val)> {
    object.cells.iter().flat_map(|cells| cells.iter())
}

/// The value of a part without the cells below it, which are joined by themselves.
fn flat(value: &Val) -> &Val {
    if let Kind::Aggregate(parts) = &value.kind { &parts.whole } else { value }
}
