//! What a thread knows of a value: a number, a name for it (equal names are equal values), or nothing.
//!
//! Integers are kept as `i64`, extended as their type says (`unsigned long` as its bits), floats as the bits of an `f64`.
//! A pointer is an object's number and a byte offset in one word: [`pointer`].

use super::bits::{Affine, Side, Words};
use super::lanes::{Element, Lanes, Mask, OFF};
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

/// The object that all these pointers point into; `None` where they are several.
pub(super) fn one_object_of(pointers: &[i64]) -> Option<u32> {
    let first = *pointers.first()?;
    let other = pointers.iter().fold(0, |other, bits| other | (bits ^ first));
    (other >> OFFSET_BITS == 0).then_some(object_of(first))
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
    /// Bits of each lane and how they are meant.
    Lanes(Words, Tags),
    /// A record's leaves.
    Aggregate(Rc<Vec<Val>>),
}

/// How the bits of each lane are meant.
#[derive(Clone)]
pub(super) enum Tags {
    /// Alike in all lanes.
    One(u8),
    /// Each in its own way.
    Each(Lanes<u8>),
}

impl Tags {
    /// Of each lane; to be kept as one where they are all the same.
    pub(super) fn of(tags: Lanes<u8>) -> Self {
        match tags.get().split_first() {
            Some((first, rest)) if rest.iter().fold(0, |other, tag| other | (tag ^ first)) == 0 => Self::One(*first),
            _ => Self::Each(tags),
        }
    }
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

    pub(super) fn lanes(bits: impl Into<Words>) -> Self {
        Data::Lanes(bits.into(), Tags::One(KNOWN)).into()
    }

    /// A formula over the threads; where there is none, as `f` makes it of the lane.
    pub(super) fn affine(formula: Option<Affine>, n: usize, f: impl FnMut(usize) -> i64) -> Self {
        formula.map_or_else(|| Self::lanes(Lanes::from_fn(n, f)), Self::lanes)
    }

    /// With a tag for each lane.
    pub(super) fn tagged(bits: Lanes<i64>, tags: Lanes<u8>) -> Self {
        Data::Lanes(bits.into(), Tags::of(tags)).into()
    }

    /// Made lane by lane from bits and tag.
    pub(super) fn from_lanes(n: usize, mut f: impl FnMut(usize) -> (i64, u8)) -> Self {
        let (mut bits, mut tags) = (Lanes::any(n), Lanes::any(n));
        for (lane, (bits, tag)) in bits.edit().iter_mut().zip(tags.edit()).enumerate() {
            (*bits, *tag) = f(lane);
        }
        Self::tagged(bits, tags)
    }

    /// Made of bits and tag of each active lane. Lanes that are away count as what the one before them is: most vectors
    /// are of one kind, and such are worked on faster.
    pub(super) fn in_lanes(mask: &Mask, mut f: impl FnMut(usize) -> (i64, u8)) -> Self {
        let levels = mask.levels();
        let (mut bits, mut tags) = (Lanes::any(levels.len()), Lanes::any(levels.len()));
        {
            let (bits, tags) = (bits.edit(), tags.edit());
            let mut last = KNOWN;
            for (lane, ((bits, tag), &level)) in bits.iter_mut().zip(tags.iter_mut()).zip(levels).enumerate() {
                if level == OFF {
                    *bits = 0;
                } else {
                    (*bits, last) = f(lane);
                }
                *tag = last;
            }
            let first = levels.iter().position(|&level| level != OFF);
            if let Some((away, active)) = first.and_then(|first| tags.split_at_mut_checked(first))
                && let Some(&tag) = active.first()
            {
                away.fill(tag);
            }
        }
        Self::tagged(bits, tags)
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
                match tags {
                    Tags::One(tag) => *tag,
                    Tags::Each(tags) => tags.get().get(lane).copied().unwrap_or(UNKNOWN),
                },
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

    /// A vector that holds the same in each of `n` lanes.
    pub(super) fn alike_in(n: usize, bits: i64, tag: u8) -> Self {
        Data::Lanes(Affine::alike(bits, n).into(), Tags::One(tag)).into()
    }

    /// Bits and tag of all lanes, where they are surely all the same; of a vector, too.
    pub(super) fn alike(&self) -> Option<(i64, u8)> {
        match &self.data {
            Data::Undefined | Data::Lanes(_, Tags::One(UNKNOWN)) => Some((0, UNKNOWN)),
            Data::Uniform(bits, tag) => Some((*bits, *tag)),
            Data::Lanes(bits, Tags::One(tag)) => Some((bits.affine()?.same()?, *tag)),
            _ => None,
        }
    }

    /// Whether no lane is surely zero.
    pub(super) fn never_zero(&self) -> bool {
        match &self.data {
            Data::Uniform(bits, tag) => *tag != KNOWN || *bits != 0,
            Data::Lanes(bits, Tags::One(KNOWN)) => {
                bits.affine().is_some_and(|bits| bits.least() > 0 || bits.most() < 0)
            }
            Data::Lanes(_, Tags::One(_)) => true,
            _ => false,
        }
    }

    /// The formula of the bits in all lanes, where there is one.
    pub(super) fn formula(&self) -> Option<&Affine> {
        match &self.data {
            Data::Lanes(bits, _) => bits.affine(),
            _ => None,
        }
    }

    /// As a side of an operation on formulas: a known number or a formula.
    pub(super) fn side(&self) -> Option<Side<'_>> {
        match &self.data {
            Data::Uniform(bits, KNOWN) => Some(Side::One(*bits)),
            Data::Lanes(bits, Tags::One(KNOWN)) => bits.affine().map(Side::Of),
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
            match tags {
                Tags::One(old) if *old == tag => return,
                Tags::One(old) => *tags = Tags::Each(Lanes::filled(n, *old)),
                Tags::Each(_) => {}
            }
            if let Tags::Each(tags) = tags
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
        *self = Data::Lanes(Lanes::filled(n, old).into(), Tags::One(old_tag)).into();
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
        let nothing =
            matches!(new.data, Data::Lanes(_, Tags::One(UNKNOWN))) && matches!(self.alike(), Some((_, UNKNOWN)));
        if matches!(self.data, Data::Lanes(_, Tags::One(UNKNOWN))) && matches!(new.alike(), Some((_, UNKNOWN))) {
            return Self { data: self.data.clone(), shape, wrapped };
        }
        if nothing || (mask.is_everyone() && matches!(new.data, Data::Lanes(..))) {
            return Self { data: new.data.clone(), shape, wrapped };
        }
        let (levels, old, other) = (mask.levels(), self.view(), new.view());
        let bits = picked(levels, old.bits, other.bits);
        let tags = match (old.tags, other.tags) {
            (Of::One(old), Of::One(new)) if old == new => Tags::One(old),
            (old, new) => Tags::of(picked(levels, old, new)),
        };
        Self { data: Data::Lanes(bits.into(), tags), shape, wrapped }
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
            (Data::Lanes(_, Tags::One(UNKNOWN)), _) => return Self { shape: Shape::Other, ..self.clone() },
            _ => {}
        }
        let n = mask.levels().len();
        let mut tags = Lanes::any(n);
        let mut bits = Lanes::any(n);
        {
            let (tags, bits) = (tags.edit(), bits.edit());
            let (ours, theirs) = (self.view(), other.view());
            for (lane, &level) in mask.levels().iter().enumerate() {
                let (mine, tag) = ours.lane(lane);
                bits[lane] = mine;
                tags[lane] = if level == OFF || theirs.lane(lane) == (mine, tag) { tag } else { UNKNOWN };
            }
        }
        Self { wrapped: self.wrapped, ..Self::tagged(bits, tags) }
    }

    /// Whether every lane is a known number.
    pub(super) const fn all_known(&self) -> bool {
        matches!(self.data, Data::Uniform(_, KNOWN) | Data::Lanes(_, Tags::One(KNOWN)))
    }

    /// Bits and tags, to be looked at lane by lane.
    pub(super) fn view(&self) -> View<'_> {
        match &self.data {
            Data::Undefined | Data::Aggregate(_) => View { bits: Bits::One(0), tags: Of::One(UNKNOWN) },
            Data::Uniform(bits, tag) => View { bits: Bits::One(*bits), tags: Of::One(*tag) },
            Data::Lanes(bits, tags) => View {
                bits: Bits::Each(bits.get()),
                tags: match tags {
                    Tags::One(tag) => Of::One(*tag),
                    Tags::Each(tags) => Of::Each(tags.get()),
                },
            },
        }
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

/// Something of each lane of a value.
#[derive(Clone, Copy)]
pub(super) enum Of<'a, T> {
    /// The same in all lanes.
    One(T),
    /// For each lane.
    Each(&'a [T]),
}

/// Bits of a value.
pub(super) type Bits<'a> = Of<'a, i64>;

/// What is `new` in the lanes of the mask and `old` in the others.
fn picked<T: Element>(levels: &[u8], old: Of<'_, T>, new: Of<'_, T>) -> Lanes<T> {
    let mut picked = Lanes::any(levels.len());
    let out = picked.edit().iter_mut().zip(levels);
    match (old, new) {
        (Of::One(old), Of::One(new)) => out.for_each(|(out, &level)| *out = if level == OFF { old } else { new }),
        (Of::One(old), Of::Each(new)) => {
            out.zip(new).for_each(|((out, &level), &new)| *out = if level == OFF { old } else { new });
        }
        (Of::Each(old), Of::One(new)) => {
            out.zip(old).for_each(|((out, &level), &old)| *out = if level == OFF { old } else { new });
        }
        (Of::Each(old), Of::Each(new)) => {
            let both = out.zip(old).zip(new);
            both.for_each(|(((out, &level), &old), &new)| *out = if level == OFF { old } else { new });
        }
    }
    picked
}

/// A value whose making is asked for once, and whose lanes are then at hand.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    bits: Bits<'a>,
    tags: Of<'a, u8>,
}

impl View<'_> {
    /// Bits and tag of a lane.
    #[inline]
    pub(super) fn lane(&self, lane: usize) -> (i64, u8) {
        let bits = match self.bits {
            Bits::One(bits) => bits,
            Bits::Each(bits) => bits[lane],
        };
        let tag = match self.tags {
            Of::One(tag) => tag,
            Of::Each(tags) => tags[lane],
        };
        (bits, tag)
    }

    /// The tag of some lanes, where it is one.
    #[inline]
    pub(super) fn tag_of(&self, lanes: std::ops::Range<usize>) -> Option<u8> {
        match self.tags {
            Of::One(tag) => Some(tag),
            Of::Each(tags) => {
                let (first, rest) = tags.get(lanes)?.split_first()?;
                rest.iter().all(|tag| tag == first).then_some(*first)
            }
        }
    }
}

/// A name made of two.
pub(super) const fn mix(a: u64, b: u64) -> u64 {
    let x = (a ^ b.rotate_left(32)).wrapping_add(b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 32)
}

/// `f` on every lane.
pub(super) fn map1(n: usize, a: &[i64], f: impl Fn(i64) -> i64) -> Lanes<i64> {
    let mut out = Lanes::any(n);
    for (out, &a) in out.edit().iter_mut().zip(a) {
        *out = f(a);
    }
    out
}

/// `f` on every pair of lanes; both sides uniform is the caller's case.
pub(super) fn map2(n: usize, a: Bits<'_>, b: Bits<'_>, f: impl Fn(i64, i64) -> i64) -> Lanes<i64> {
    let mut out = Lanes::any(n);
    let lanes = out.edit();
    match (a, b) {
        (Bits::One(a), Bits::One(b)) => lanes.fill(f(a, b)),
        (Bits::One(a), Bits::Each(b)) => {
            for (out, &b) in lanes.iter_mut().zip(b) {
                *out = f(a, b);
            }
        }
        (Bits::Each(a), Bits::One(b)) => {
            for (out, &a) in lanes.iter_mut().zip(a) {
                *out = f(a, b);
            }
        }
        (Bits::Each(a), Bits::Each(b)) => {
            for ((out, &a), &b) in lanes.iter_mut().zip(a).zip(b) {
                *out = f(a, b);
            }
        }
    }
    out
}
