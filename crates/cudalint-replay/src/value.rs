//! Values inside the walk: integers with their C type, pointers into objects, aggregates, functions.

use crate::facts::{MemorySpace, Site};
use crate::host::ObjId;
use crate::memory::{CellPath, Key, Place};
use crate::quantity::Poly;
use crate::quantity::{Assumptions, Quantity, union};
use cudalint_numbers::Integer;
use cudalint_program::Name;
use cudalint_program::ir::{FunctionId, LocalId, ModuleId};
use cudalint_program::types::{Ty, TypeEnv};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;

/// Most terms of an integer that is one thing or another by a condition.
const MAX_BLENDED_TERMS: usize = 12;

/// A value with what it rests on.
#[derive(Clone, Debug)]
pub(crate) struct Val {
    pub kind: Kind,
    pub why: Assumptions,
}

/// An integer with its C type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Int {
    pub q: Quantity,
    pub bytes: u8,
    pub signed: bool,
}

impl Int {
    /// Its type.
    pub const fn ty(&self) -> Integer {
        Integer::new(self.bytes, self.signed)
    }
}

/// A pointer into an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ptr {
    pub obj: ObjId,
    /// The part it was taken of.
    pub path: CellPath,
    /// Bytes from the start of that part.
    pub offset: Quantity,
    /// Whether the part is addressed by byte offsets.
    pub array: bool,
}

/// An aggregate: the value of every part without a cell, and the cells.
#[derive(Clone, Debug)]
pub(crate) struct Aggregate {
    pub whole: Val,
    pub cells: Rc<BTreeMap<CellPath, Val>>,
}

/// A lambda with what it captured.
#[derive(Clone, Debug)]
pub(crate) struct Closure {
    pub module: ModuleId,
    pub function: FunctionId,
    /// The frame's variables where it was made, by name.
    pub captured: Rc<Vec<(Name, Place, Ty)>>,
    /// What its capture list makes, by its own variables: the objects live as long as it does.
    pub made: Vec<(LocalId, Place, Ty)>,
    pub this: Option<Place>,
    pub this_ty: Ty,
    pub env: TypeEnv,
}

/// Kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Anything.
    Unknown,
    /// Surely never given a value: the variable and its declaration.
    Uninit(Rc<(Name, Site)>),
    /// An integer.
    Int(Int),
    /// A truth value read from the environment or the command line: the value under its assumption.
    Flag(bool),
    /// The status of an API call, which is success on the path that goes on.
    Status,
    /// A truth value that tests such a status: what it is on success.
    Success(bool),
    /// A floating-point number.
    Float(f64),
    /// A quotient that is exact as a real number: an integer by a positive number (`n / 256.0`).
    Ratio(Quantity, i64),
    /// A string literal.
    Str(Arc<str>),
    /// A null pointer.
    Null,
    /// A pointer into an object.
    Ptr(Ptr),
    /// A pointer to memory whose space is sure but whose allocation is not in sight.
    Somewhere(MemorySpace, Rc<str>),
    /// A record, array or container by value.
    Aggregate(Rc<Aggregate>),
    /// A function.
    Function(ModuleId, FunctionId, TypeEnv),
    /// A lambda.
    Closure(Rc<Closure>),
}

impl From<Kind> for Val {
    fn from(kind: Kind) -> Self {
        Self { kind, why: None }
    }
}

impl Val {
    pub const fn unknown() -> Self {
        Self { kind: Kind::Unknown, why: None }
    }

    /// An `int`.
    pub fn int(value: i64) -> Self {
        Self::typed(Quantity::Known(value), 4, true)
    }

    /// A `size_t`.
    pub fn size(q: Quantity) -> Self {
        Self::typed(q, 8, false)
    }

    pub fn typed(q: Quantity, bytes: u8, signed: bool) -> Self {
        Self::from(Kind::Int(Int { q, bytes, signed }))
    }

    pub fn boolean(value: bool) -> Self {
        Self::typed(Quantity::Known(i64::from(value)), 1, false)
    }

    pub fn aggregate(whole: Self, cells: Rc<BTreeMap<CellPath, Self>>) -> Self {
        Self::from(Kind::Aggregate(Rc::new(Aggregate { whole, cells })))
    }

    /// The same value, resting on more.
    #[must_use]
    pub fn because(mut self, why: &Assumptions) -> Self {
        if why.is_some() {
            self.why = union(&self.why, why);
        }
        self
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self.kind, Kind::Unknown)
    }

    /// As an integer quantity.
    pub fn quantity(&self) -> Quantity {
        match &self.kind {
            Kind::Int(int) => int.q.clone(),
            Kind::Null => Quantity::Known(0),
            _ => Quantity::Unknown,
        }
    }

    pub fn known(&self) -> Option<i64> {
        match &self.kind {
            Kind::Int(Int { q: Quantity::Known(value), .. }) => Some(*value),
            _ => None,
        }
    }

    /// The part of a value that has no cells of its own there: unset stays unset, zero stays zero.
    pub fn part(&self, path: &[Key]) -> Self {
        if path.is_empty() {
            return self.clone();
        }
        match &self.kind {
            Kind::Uninit(_) => self.clone(),
            Kind::Aggregate(parts) => part_of(&parts.whole, &parts.cells, path),
            Kind::Int(Int { q: Quantity::Known(0), bytes: 0, .. }) => self.clone(),
            _ => Self { kind: Kind::Unknown, why: self.why.clone() },
        }
    }

    /// All bytes zero, of whatever type (`calloc`, static storage, `{}`): an integer of zero bytes marks it.
    pub fn zeroed() -> Self {
        Self::typed(Quantity::Known(0), 0, false)
    }

    pub fn is_zeroed(&self) -> bool {
        matches!(self.kind, Kind::Int(Int { q: Quantity::Known(0), bytes: 0, .. }))
    }

    /// The objects that pointers in it lead to.
    pub fn pointers(&self, into: &mut Vec<ObjId>) {
        match &self.kind {
            Kind::Ptr(pointer) => into.push(pointer.obj),
            Kind::Aggregate(parts) => {
                parts.whole.pointers(into);
                for value in parts.cells.values() {
                    value.pointers(into);
                }
            }
            Kind::Closure(closure) => {
                let made = closure.made.iter().map(|(_, place, _)| place);
                for place in closure.captured.iter().map(|(_, place, _)| place).chain(made) {
                    if let Place::Cell(obj, _) | Place::Weak(obj, _) = place {
                        into.push(*obj);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether both are surely the same.
    pub fn same(a: &Self, b: &Self) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Unknown, Kind::Unknown) | (Kind::Null, Kind::Null) | (Kind::Status, Kind::Status) => true,
            (Kind::Int(x), Kind::Int(y)) => x == y && !x.q.is_unknown(),
            (Kind::Float(x), Kind::Float(y)) => x.to_bits() == y.to_bits(),
            (Kind::Ratio(x, m), Kind::Ratio(y, n)) => m == n && x == y,
            (Kind::Success(x), Kind::Success(y)) => x == y,
            (Kind::Flag(x), Kind::Flag(y)) => x == y && a.why == b.why,
            (Kind::Str(x), Kind::Str(y)) => x == y,
            (Kind::Ptr(x), Kind::Ptr(y)) => x == y && !x.offset.is_unknown(),
            (Kind::Somewhere(x, _), Kind::Somewhere(y, _)) => x == y,
            (Kind::Uninit(x), Kind::Uninit(y)) => x.1 == y.1,
            (Kind::Function(m, f, _), Kind::Function(n, g, _)) => m == n && f == g,
            (Kind::Closure(x), Kind::Closure(y)) => Rc::ptr_eq(x, y),
            (Kind::Aggregate(x), Kind::Aggregate(y)) => {
                Rc::ptr_eq(x, y) || (Self::same(&x.whole, &y.whole) && Rc::ptr_eq(&x.cells, &y.cells))
            }
            _ => false,
        }
    }

    /// `c ? a : b` for symbols: `b + c * (a - b)` with a truth value for `c`; none where the values are no integers of
    /// one type, or the sum grows too long to be worth it.
    pub fn blend(truth: &Poly, a: &Self, b: &Self) -> Option<Self> {
        let (Kind::Int(x), Kind::Int(y)) = (&a.kind, &b.kind) else { return None };
        if x.q.is_unknown() || y.q.is_unknown() || x.bytes != y.bytes || x.signed != y.signed || x.q == y.q {
            return None;
        }
        let q = y.q.plus(&Quantity::Symbolic(truth.clone()).times(&x.q.minus(&y.q)));
        let short = matches!(&q, Quantity::Symbolic(poly) if poly.terms.len() <= MAX_BLENDED_TERMS);
        short.then(|| Self { kind: Kind::Int(Int { q, ..x.clone() }), why: union(&a.why, &b.why) })
    }

    /// Whether this value is surely what becomes of it when it is joined with another.
    pub fn stays(&self, other: &Self) -> bool {
        let why = match (&self.why, &other.why) {
            (None, _) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (Some(_), None) => false,
        };
        why && Self::same(self, other)
    }

    /// Whether nothing is known of it, and it rests on nothing.
    pub fn is_blank(&self) -> bool {
        self.why.is_none() && matches!(self.kind, Kind::Unknown | Kind::Int(Int { q: Quantity::Unknown, .. }))
    }

    /// Whether nothing is known of either, in the same way.
    pub fn is_blank_as(&self, other: &Self) -> bool {
        self.is_blank()
            && other.is_blank()
            && match (&self.kind, &other.kind) {
                (Kind::Int(a), Kind::Int(b)) => a == b,
                (Kind::Unknown, Kind::Unknown) => true,
                _ => false,
            }
    }

    /// One value for two paths; with a default the current one stays, resting on it. Pointers that get lost are
    /// noted.
    pub fn join(current: &Self, other: &Self, default: Option<&Assumptions>, lost: &mut Vec<ObjId>) -> Self {
        if Self::same(current, other) {
            // Either path may be the one taken: the value is sure only where what both rest on holds.
            return Self { kind: current.kind.clone(), why: union(&current.why, &other.why) };
        }
        if let Some(why) = default {
            other.pointers(lost);
            return current.clone().because(why);
        }
        current.pointers(lost);
        other.pointers(lost);
        match (&current.kind, &other.kind) {
            (Kind::Int(a), Kind::Int(b)) if a.bytes == b.bytes && a.signed == b.signed => {
                Self::typed(Quantity::Unknown, a.bytes, a.signed)
            }
            // The same buffer at different offsets is still that buffer.
            (Kind::Ptr(a), Kind::Ptr(b)) if a.obj == b.obj && a.path == b.path && a.array == b.array => Self {
                kind: Kind::Ptr(Ptr { offset: Quantity::Unknown, ..a.clone() }),
                why: union(&current.why, &other.why),
            },
            _ => Self::unknown(),
        }
    }
}

/// The value of a part of what these cells and, where there is none, the whole say: its own cells put together.
pub(crate) fn part_of(whole: &Val, cells: &BTreeMap<CellPath, Val>, path: &[Key]) -> Val {
    let mut inside = cells
        .range::<[Key], _>((Bound::Included(path), Bound::Unbounded))
        .take_while(|(key, _)| key.starts_with(path))
        .peekable();
    let own = inside.next_if(|(key, _)| key.len() == path.len()).map(|(_, value)| value);
    if let (Some(value), None) = (own, inside.peek()) {
        return value.clone();
    }
    let parts: BTreeMap<CellPath, Val> =
        inside.map(|(key, value)| (key[path.len()..].iter().cloned().collect(), value.clone())).collect();
    let whole = own.map_or_else(|| around(whole, cells, path), Clone::clone);
    if parts.is_empty() { whole } else { Val::aggregate(whole, Rc::new(parts)) }
}

/// What the nearest cell around a part says of it, or the whole.
pub(crate) fn around(whole: &Val, cells: &BTreeMap<CellPath, Val>, path: &[Key]) -> Val {
    let nearest =
        (1..path.len()).rev().find_map(|length| cells.get(&path[..length]).map(|value| value.part(&path[length..])));
    nearest.unwrap_or_else(|| whole.part(path))
}
