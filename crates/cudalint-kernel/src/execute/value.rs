//! What a thread knows of a value: a number, a name for it (equal names are equal values), or nothing.
//!
//! Integers are kept as `i64`, extended as their type says (`unsigned long` as its bits), floats as the bits of an `f64`.
//! A pointer is an object's number and a byte offset in one word: [`pointer`].

use super::lanes::{Lanes, Mask, OFF};
use crate::code::ExprId;
use std::rc::Rc;

/// The bits are the value.
pub(super) const KNOWN: u8 = 0;
/// The bits are a name: lanes with the same name hold the same value.
pub(super) const NUMBER: u8 = 1;
/// Nothing is known.
pub(super) const UNKNOWN: u8 = 2;
/// A pointer to somewhere in the object that the bits name; its low bits are a name for the place, or 0.
pub(super) const SOMEWHERE: u8 = 3;

const OFFSET_BITS: u32 = 44;
const MIDDLE: i64 = 1 << (OFFSET_BITS - 1);

/// Most objects that pointers can tell apart.
pub(super) const MAX_OBJECTS: usize = 1 << (63 - OFFSET_BITS);

/// The pointer to byte `offset` of object `id`. The null pointer is 0; objects are numbered from 1.
pub(super) const fn pointer(id: u32, offset: i64) -> i64 {
    ((id as i64) << OFFSET_BITS).wrapping_add(offset.wrapping_add(MIDDLE))
}

/// The object of a pointer; 0 for null.
pub(super) const fn object_of(bits: i64) -> u32 {
    (bits >> OFFSET_BITS) as u32
}

/// The byte offset of a pointer that is not null.
pub(super) const fn offset_of(bits: i64) -> i64 {
    (bits & ((1 << OFFSET_BITS) - 1)) - MIDDLE
}

/// A pointer to a place in `id` that has only a name; 0 for none.
pub(super) const fn somewhere(id: u32, name: u64) -> i64 {
    ((id as i64) << OFFSET_BITS) | (name & ((1 << OFFSET_BITS) - 1)) as i64
}

/// The name of the place that a pointer to somewhere points to; 0 for none.
pub(super) const fn place_of(bits: i64) -> u64 {
    (bits & ((1 << OFFSET_BITS) - 1)) as u64
}

/// How a value came to be, as far as reports ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// In no way that matters.
    Other,
    /// From constants and parameters only.
    Constant,
    /// `threadIdx.a`.
    Thread(u8),
    /// `blockIdx.a`.
    Block(u8),
    /// `blockDim.a`.
    Dim(u8),
    /// `blockIdx.a * blockDim.a`.
    BlockStart(u8),
    /// `blockIdx.a * blockDim.a + threadIdx.a`, plus constants.
    Plain,
}

impl Shape {
    /// Of a sum or difference.
    pub(super) const fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, Self::Constant) => Self::Constant,
            (Self::Plain, Self::Constant) | (Self::Constant, Self::Plain) => Self::Plain,
            (Self::BlockStart(a), Self::Thread(b)) | (Self::Thread(a), Self::BlockStart(b)) if a == b => Self::Plain,
            (Self::BlockStart(a), Self::Constant) | (Self::Constant, Self::BlockStart(a)) => Self::BlockStart(a),
            _ => Self::Other,
        }
    }

    /// Of a product.
    pub(super) const fn times(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, Self::Constant) => Self::Constant,
            (Self::Block(a), Self::Dim(b)) | (Self::Dim(a), Self::Block(b)) if a == b => Self::BlockStart(a),
            _ => Self::Other,
        }
    }
}

/// A value with what is remembered of its making.
#[derive(Clone)]
pub(super) struct Val {
    pub(super) data: Data,
    pub(super) shape: Shape,
    /// An integer operation on the way to it went beyond its type in an active lane.
    pub(super) wrapped: Option<ExprId>,
}

/// What is known of a value, lane by lane.
#[derive(Clone)]
pub(super) enum Data {
    /// Never given a value.
    Undefined,
    /// The same in every lane: bits and how they are meant.
    Uniform(i64, u8),
    /// Bits of each lane; without tags all are known.
    Lanes(Lanes<i64>, Option<Lanes<u8>>),
    /// A record's leaves.
    Aggregate(Rc<Vec<Val>>),
}

impl From<Data> for Val {
    fn from(data: Data) -> Self {
        Self { data, shape: Shape::Other, wrapped: None }
    }
}

impl Val {
    pub(super) fn unknown() -> Self {
        Data::Uniform(0, UNKNOWN).into()
    }

    pub(super) fn undefined() -> Self {
        Data::Undefined.into()
    }

    pub(super) fn known(bits: i64) -> Self {
        Data::Uniform(bits, KNOWN).into()
    }

    pub(super) fn constant(bits: i64) -> Self {
        Self { data: Data::Uniform(bits, KNOWN), shape: Shape::Constant, wrapped: None }
    }

    pub(super) fn number(bits: u64) -> Self {
        Data::Uniform(bits as i64, NUMBER).into()
    }

    pub(super) fn lanes(bits: Lanes<i64>) -> Self {
        Data::Lanes(bits, None).into()
    }

    /// With tags, which are dropped where all lanes are known.
    pub(super) fn tagged(bits: Lanes<i64>, tags: Lanes<u8>) -> Self {
        if tags.get().iter().all(|&tag| tag == KNOWN) {
            Self::lanes(bits)
        } else {
            Data::Lanes(bits, Some(tags)).into()
        }
    }

    pub(super) fn aggregate(leaves: Vec<Self>) -> Self {
        Data::Aggregate(Rc::new(leaves)).into()
    }

    /// Bits and tag of a lane.
    pub(super) fn lane(&self, lane: usize) -> (i64, u8) {
        match &self.data {
            Data::Undefined | Data::Aggregate(_) => (0, UNKNOWN),
            Data::Uniform(bits, tag) => (*bits, *tag),
            Data::Lanes(bits, tags) => (
                bits.get().get(lane).copied().unwrap_or_default(),
                tags.as_ref().map_or(KNOWN, |tags| tags.get().get(lane).copied().unwrap_or(UNKNOWN)),
            ),
        }
    }

    /// The value of all lanes, where it is one known number.
    pub(super) const fn uniform(&self) -> Option<i64> {
        match self.data {
            Data::Uniform(bits, KNOWN) => Some(bits),
            _ => None,
        }
    }

    /// Whether it may differ between the threads of a block.
    pub(super) const fn varies(&self) -> bool {
        matches!(self.data, Data::Lanes(..))
    }

    /// Whether nothing is known in any lane.
    pub(super) const fn is_unknown(&self) -> bool {
        matches!(self.data, Data::Undefined | Data::Uniform(_, UNKNOWN))
    }

    /// Changes one lane.
    pub(super) fn set_lane(&mut self, n: usize, lane: usize, bits: i64, tag: u8) {
        if let Data::Lanes(words, tags) = &mut self.data {
            if let Some(word) = words.edit().get_mut(lane) {
                *word = bits;
            }
            if tag != KNOWN && tags.is_none() {
                *tags = Some(Lanes::filled(n, KNOWN));
            }
            if let Some(tags) = tags
                && let Some(slot) = tags.edit().get_mut(lane)
            {
                *slot = tag;
            }
            return;
        }
        let (old, old_tag) = self.lane(0);
        if (old, old_tag) == (bits, tag) && tag != UNKNOWN {
            return;
        }
        let tags = (old_tag != KNOWN || tag != KNOWN).then(|| Lanes::filled(n, old_tag));
        *self = Data::Lanes(Lanes::filled(n, old), tags).into();
        self.set_lane(n, lane, bits, tag);
    }

    /// `new` in the lanes of the mask, this in the others.
    pub(super) fn blended(&self, new: &Self, mask: &Mask) -> Self {
        if mask.is_empty() {
            return self.clone();
        }
        let shape = if self.shape == new.shape { self.shape } else { Shape::Other };
        let wrapped = new.wrapped.or(self.wrapped);
        match (&self.data, &new.data) {
            (Data::Aggregate(old), Data::Aggregate(new)) if old.len() == new.len() => {
                return Self::aggregate(old.iter().zip(new.iter()).map(|(old, new)| old.blended(new, mask)).collect());
            }
            (Data::Aggregate(old), _) => {
                return Self::aggregate(old.iter().map(|old| old.blended(&Self::unknown(), mask)).collect());
            }
            (_, Data::Aggregate(new)) => {
                return Self::aggregate(new.iter().map(|new| Self::unknown().blended(new, mask)).collect());
            }
            (Data::Uniform(old, tag), Data::Uniform(new, new_tag)) if old == new && tag == new_tag => {
                return Self { data: self.data.clone(), shape, wrapped };
            }
            _ => {}
        }
        let levels = mask.levels();
        let n = levels.len();
        let (old_bits, new_bits) = (self.bits(), new.bits());
        let mut bits = Lanes::any(n);
        let out = bits.edit();
        match (old_bits, new_bits) {
            (Bits::One(old), Bits::One(new)) => {
                for (out, &level) in out.iter_mut().zip(levels) {
                    *out = if level == OFF { old } else { new };
                }
            }
            (Bits::One(old), Bits::Each(new)) => {
                for ((out, &level), &new) in out.iter_mut().zip(levels).zip(new) {
                    *out = if level == OFF { old } else { new };
                }
            }
            (Bits::Each(old), Bits::One(new)) => {
                for ((out, &level), &old) in out.iter_mut().zip(levels).zip(old) {
                    *out = if level == OFF { old } else { new };
                }
            }
            (Bits::Each(old), Bits::Each(new)) => {
                for (((out, &level), &old), &new) in out.iter_mut().zip(levels).zip(old).zip(new) {
                    *out = if level == OFF { old } else { new };
                }
            }
        }
        let value = if self.all_known() && new.all_known() {
            Self::lanes(bits)
        } else {
            let tags = Lanes::from_fn(n, |lane| if levels[lane] == OFF { self.lane(lane).1 } else { new.lane(lane).1 });
            Self::tagged(bits, tags)
        };
        Self { shape, wrapped, ..value }
    }

    /// Where the lanes of the mask hold something else in `other`, nothing is known any more.
    pub(super) fn agreed(&self, other: &Self, mask: &Mask) -> Self {
        match (&self.data, &other.data) {
            (Data::Aggregate(a), Data::Aggregate(b)) if a.len() == b.len() => {
                return Self::aggregate(a.iter().zip(b.iter()).map(|(a, b)| a.agreed(b, mask)).collect());
            }
            (Data::Aggregate(leaves), _) | (_, Data::Aggregate(leaves)) => {
                return Self::aggregate(vec![Self::unknown(); leaves.len()]);
            }
            (Data::Uniform(a, s), Data::Uniform(b, t)) if a == b && s == t => return self.clone(),
            (Data::Undefined, Data::Undefined) => return self.clone(),
            _ => {}
        }
        let n = mask.levels().len();
        let mut tags = Lanes::any(n);
        let mut bits = Lanes::any(n);
        {
            let (tags, bits) = (tags.edit(), bits.edit());
            for (lane, &level) in mask.levels().iter().enumerate() {
                let (mine, tag) = self.lane(lane);
                bits[lane] = mine;
                tags[lane] = if level == OFF || other.lane(lane) == (mine, tag) { tag } else { UNKNOWN };
            }
        }
        Self { wrapped: self.wrapped, ..Self::tagged(bits, tags) }
    }

    /// Whether every lane is a known number.
    pub(super) const fn all_known(&self) -> bool {
        matches!(self.data, Data::Uniform(_, KNOWN) | Data::Lanes(_, None))
    }

    /// The bits as one or as a slice.
    pub(super) fn bits(&self) -> Bits<'_> {
        match &self.data {
            Data::Lanes(bits, _) => Bits::Each(bits.get()),
            Data::Uniform(bits, _) => Bits::One(*bits),
            Data::Undefined | Data::Aggregate(_) => Bits::One(0),
        }
    }
}

/// Bits of a value.
#[derive(Clone, Copy)]
pub(super) enum Bits<'a> {
    /// The same in all lanes.
    One(i64),
    /// For each lane.
    Each(&'a [i64]),
}

/// A name made of two.
pub(super) const fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(32)).wrapping_add(b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 32)
}
