//! How the states of an object after two paths become one.

use super::object::{Freed, Object};
use super::place::CellPath;
use crate::given::Held;
use crate::host::{JoinRule, Joined, ObjId, Stored};
use crate::value::{Kind, Val};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

impl Stored for Object {
    const OF_ITS_PATH: bool = false;

    fn join(current: &Self, other: &Self, rule: &JoinRule, lost: &mut Vec<ObjId>) -> Joined<Self> {
        join_objects(current, other, rule, lost)
    }
}

/// One object for two paths.
fn join_objects(current: &Object, other: &Object, rule: &JoinRule, lost: &mut Vec<ObjId>) -> Joined<Object> {
    let default = rule.default();
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
