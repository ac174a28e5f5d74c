//! Arithmetic on all lanes at once, wrapped to its type.

use super::bits::combined;
use super::lanes::{Lanes, Mask, OFF};
use super::symbols::{Opaque, class, names};
use super::value::{Bits, Data, KNOWN, NUMBER, Shape, Tags, UNKNOWN, Val, map1, map2, mix, object_of, offset_of};
use crate::code::{BinaryOp, ExprId, Ty, UnaryOp};
use cudalint_numbers::{self as numbers, Integer, Real};

const fn is_narrow(ty: &Ty) -> bool {
    matches!(ty, Ty::Bool | Ty::Int { bytes: 1 | 2 | 4, .. })
}

/// A float rounded to its type, as bits; `None` for types that are not computed.
pub(super) fn round(ty: &Ty, value: f64) -> Option<i64> {
    let Ty::Float { bytes } = ty else { return None };
    numbers::rounded(value, *bytes).map(|value| value.to_bits() as i64)
}

pub(super) const fn float(bits: i64) -> f64 {
    f64::from_bits(bits as u64)
}

/// Brings all lanes into the range of the type; whether that changed an active one.
pub(super) fn wrap_lanes(ty: &Ty, lanes: &mut [i64], mask: &Mask) -> bool {
    fn go(lanes: &mut [i64], mask: &Mask, f: impl Fn(i64) -> i64) -> bool {
        let mut changed = 0;
        if mask.is_full() {
            for lane in lanes {
                let value = f(*lane);
                changed |= value ^ *lane;
                *lane = value;
            }
        } else {
            for (lane, &level) in lanes.iter_mut().zip(mask.levels()) {
                let value = f(*lane);
                changed |= (value ^ *lane) & -i64::from(level != OFF);
                *lane = value;
            }
        }
        changed != 0
    }
    match ty {
        Ty::Int { bytes: 4, signed: true } => go(lanes, mask, |v| i64::from(v as i32)),
        Ty::Int { bytes: 4, signed: false } => go(lanes, mask, |v| i64::from(v as u32)),
        Ty::Int { bytes: 8, .. } => false,
        _ => go(lanes, mask, |v| ty.wrap(v)),
    }
}

/// One lane of an integer operation in `i64`; `None` where C++ or the hardware gives no value.
#[inline]
fn integer(op: BinaryOp, ty: &Ty, a: i64, b: i64) -> Option<i64> {
    numbers::raw(op, ty.integer(), a, b)
}

/// Whether a sum, difference or product in 64 bits went beyond them. Bits that a shift pushes out are meant to go.
fn overflows(op: BinaryOp, ty: &Ty, a: i64, b: i64) -> bool {
    op != BinaryOp::Shl && numbers::overflows(op, ty.integer(), a, b)
}

fn floats(op: BinaryOp, ty: &Ty, a: i64, b: i64) -> Option<i64> {
    match numbers::real(op, float(a), float(b))? {
        Real::Number(value) => round(ty, value),
        Real::Truth(truth) => Some(i64::from(truth)),
    }
}

fn pointers(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    let same = object_of(a) == object_of(b);
    match op {
        BinaryOp::Sub if same => Some(if a == 0 { 0 } else { offset_of(a) - offset_of(b) }),
        BinaryOp::Eq => Some(i64::from(a == b)),
        BinaryOp::Ne => Some(i64::from(a != b)),
        _ if same && op.is_comparison() => integer(op, &Ty::LONG, a, b),
        _ => None,
    }
}

fn one(op: BinaryOp, ty: &Ty, a: i64, b: i64) -> Option<i64> {
    match ty {
        Ty::Float { .. } => floats(op, ty, a, b),
        Ty::Pointer => pointers(op, a, b),
        _ => integer(op, ty, a, b),
    }
}

/// `a op b`. `operands` is the type of both sides (of the left one for shifts), `result` that of the outcome; `at` names
/// the operation where it goes beyond its type in an active lane.
pub(super) fn binary(op: BinaryOp, operands: &Ty, a: &Val, b: &Val, mask: &Mask, at: ExprId) -> Val {
    let shape = match op {
        BinaryOp::Add => a.shape.plus(b.shape),
        BinaryOp::Sub if b.shape == Shape::Constant => a.shape.plus(b.shape),
        BinaryOp::Mul => a.shape.times(b.shape),
        _ if a.shape == Shape::Constant && b.shape == Shape::Constant => Shape::Constant,
        _ => Shape::Other,
    };
    // What brings a wrapped number back into a range, or only asks about it, is no wrap-around any more.
    let mut wrapped = match op {
        BinaryOp::Rem | BinaryOp::And | BinaryOp::Shr => None,
        _ if op.is_comparison() => None,
        _ => a.wrapped.or(b.wrapped),
    };
    let arithmetic = is_arithmetic(op, operands);
    if let (Data::Uniform(x, s), Data::Uniform(y, t)) = (&a.data, &b.data) {
        let (bits, tag) = if (*s, *t) == (KNOWN, KNOWN) {
            match one(op, operands, *x, *y) {
                Some(raw) => {
                    let bits = if arithmetic { operands.wrap(raw) } else { raw };
                    if arithmetic && may_wrap(op) && (bits != raw || overflows(op, operands, *x, *y)) {
                        wrapped = Some(at);
                    }
                    (bits, KNOWN)
                }
                None => Opaque::new(op, operands).of((*x, NUMBER), (*y, KNOWN)),
            }
        } else {
            Opaque::new(op, operands).of((*x, *s), (*y, *t))
        };
        return Val { data: Data::Uniform(bits, tag), shape, wrapped };
    }
    if a.is_unknown() || b.is_unknown() {
        let zero = |v: &Val| v.uniform() == Some(0);
        if matches!(op, BinaryOp::And | BinaryOp::Mul) && !operands.is_float() && (zero(a) || zero(b)) {
            return Val::known(0);
        }
        return Val::unknown();
    }
    if let (Some(x), Some(y)) = (a.side(), b.side())
        && let Some(formula) = combined(op, operands, x, y)
    {
        return Val { shape, wrapped, ..Val::lanes(formula) };
    }
    let n = mask.levels().len();
    let known = a.all_known() && b.all_known();
    let opaque = Opaque::new(op, operands);
    if !known && let Some((bits, tag)) = opaque.alike(a, b) {
        return Val { shape, wrapped, ..Val::alike_in(n, bits, tag) };
    }
    if !known && let Some(names) = names(op, operands, a, b, n) {
        return Val { shape, wrapped, ..names };
    }
    if known {
        let (bits, went_beyond, holes) = numbers(op, operands, a.bits(), b.bits(), mask);
        if went_beyond {
            wrapped = Some(at);
        }
        if !holes {
            return Val { shape, wrapped, ..Val::lanes(bits) };
        }
    }
    let (left, right) = (a.view(), b.view());
    let value = Val::in_lanes(mask, |lane| {
        let (p, q) = (left.lane(lane), right.lane(lane));
        if p.1 == KNOWN && q.1 == KNOWN {
            match one(op, operands, p.0, q.0) {
                Some(raw) if arithmetic => (operands.wrap(raw), KNOWN),
                Some(raw) => (raw, KNOWN),
                None => (0, UNKNOWN),
            }
        } else {
            opaque.of(p, q)
        }
    });
    Val { shape, wrapped, ..value }
}

/// The results of an operation on numbers in all lanes; whether one of them went beyond its type in an active lane, and
/// whether there is a lane that has none.
fn numbers(op: BinaryOp, operands: &Ty, x: Bits<'_>, y: Bits<'_>, mask: &Mask) -> (Lanes<i64>, bool, bool) {
    let n = mask.levels().len();
    let mut holes = false;
    let mut bits = match (op, operands) {
        (_, Ty::Float { .. } | Ty::Pointer) => slow(n, x, y, &mut holes, |p, q| one(op, operands, p, q)),
        (BinaryOp::Add, _) => map2(n, x, y, i64::wrapping_add),
        (BinaryOp::Sub, _) => map2(n, x, y, i64::wrapping_sub),
        (BinaryOp::Mul, _) => map2(n, x, y, i64::wrapping_mul),
        (BinaryOp::And, _) => map2(n, x, y, |p, q| p & q),
        (BinaryOp::Or, _) => map2(n, x, y, |p, q| p | q),
        (BinaryOp::Xor, _) => map2(n, x, y, |p, q| p ^ q),
        (BinaryOp::Eq, _) => map2(n, x, y, |p, q| i64::from(p == q)),
        (BinaryOp::Ne, _) => map2(n, x, y, |p, q| i64::from(p != q)),
        (BinaryOp::Lt, ty) if !ty.integer().is_u64() => map2(n, x, y, |p, q| i64::from(p < q)),
        (BinaryOp::Le, ty) if !ty.integer().is_u64() => map2(n, x, y, |p, q| i64::from(p <= q)),
        (BinaryOp::Gt, ty) if !ty.integer().is_u64() => map2(n, x, y, |p, q| i64::from(p > q)),
        (BinaryOp::Ge, ty) if !ty.integer().is_u64() => map2(n, x, y, |p, q| i64::from(p >= q)),
        (BinaryOp::Shr, ty) if is_narrow(ty) && matches!(y, Bits::One(0..=31)) => map2(n, x, y, |p, q| p >> q),
        (BinaryOp::Div, ty) if is_narrow(ty) && matches!(y, Bits::One(1..)) => map2(n, x, y, divide),
        (BinaryOp::Rem, ty) if is_narrow(ty) && matches!(y, Bits::One(1..)) => map2(n, x, y, remainder),
        _ => slow(n, x, y, &mut holes, |p, q| integer(op, operands, p, q)),
    };
    let mut went_beyond = false;
    if is_arithmetic(op, operands) {
        let may_wrap = may_wrap(op);
        went_beyond = may_wrap
            && matches!(operands, Ty::Int { bytes: 8, .. })
            && active_pairs(n, x, y, mask).any(|(p, q)| overflows(op, operands, p, q));
        went_beyond |= wrap_lanes(operands, bits.edit(), mask) && may_wrap;
    }
    (bits, went_beyond, holes)
}

/// Whether an operation computes an integer that is brought into the range of its type.
fn is_arithmetic(op: BinaryOp, operands: &Ty) -> bool {
    !operands.is_float() && !op.is_comparison() && *operands != Ty::Pointer
}

/// Whether an integer operation may go beyond its type.
const fn may_wrap(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl)
}

fn active_pairs<'a>(n: usize, a: Bits<'a>, b: Bits<'a>, mask: &'a Mask) -> impl Iterator<Item = (i64, i64)> + 'a {
    let at = |bits: Bits<'a>, lane: usize| match bits {
        Bits::One(bits) => bits,
        Bits::Each(bits) => bits[lane],
    };
    (0..n).filter(move |&lane| mask.levels()[lane] != OFF).map(move |lane| (at(a, lane), at(b, lane)))
}

/// `f` on every pair of lanes; 0 and a mark where it has no value.
fn slow(n: usize, a: Bits<'_>, b: Bits<'_>, holes: &mut bool, f: impl Fn(i64, i64) -> Option<i64>) -> Lanes<i64> {
    let hole = std::cell::Cell::new(false);
    let lanes = map2(n, a, b, |p, q| {
        f(p, q).unwrap_or_else(|| {
            hole.set(true);
            0
        })
    });
    *holes |= hole.get();
    lanes
}

const fn divide(a: i64, b: i64) -> i64 {
    if a >= 0 && (a | b) <= u32::MAX as i64 { (a as u32 / b as u32) as i64 } else { a.wrapping_div(b) }
}

const fn remainder(a: i64, b: i64) -> i64 {
    if a >= 0 && (a | b) <= u32::MAX as i64 { (a as u32 % b as u32) as i64 } else { a.wrapping_rem(b) }
}

/// `f` on every lane that is known; names for the others, salted with `salt`.
pub(super) fn unary(a: &Val, mask: &Mask, salt: u64, f: impl Fn(i64) -> Option<i64>) -> Val {
    let rest = |bits: i64, tag: u8| match tag {
        NUMBER => (mix(bits as u64, salt) as i64, NUMBER),
        KNOWN => (mix(mix(bits as u64, 7), salt) as i64, NUMBER),
        _ => (0, UNKNOWN),
    };
    match &a.data {
        Data::Undefined | Data::Aggregate(_) => Val::unknown(),
        Data::Uniform(bits, tag) => {
            let known = if *tag == KNOWN { f(*bits) } else { None };
            let (bits, tag) = known.map_or_else(|| rest(*bits, *tag), |bits| (bits, KNOWN));
            Data::Uniform(bits, tag).into()
        }
        Data::Lanes(bits, tags) => {
            let n = mask.levels().len();
            if let Some((bits, tag)) = a.alike() {
                let known = if tag == KNOWN { f(bits) } else { None };
                let (bits, tag) = known.map_or_else(|| rest(bits, tag), |bits| (bits, KNOWN));
                return Val::alike_in(n, bits, tag);
            }
            if matches!(tags, Tags::One(NUMBER)) {
                let names = map1(n, bits.get(), |bits| mix(bits as u64, salt) as i64);
                return Data::Lanes(names.into(), Tags::One(NUMBER)).into();
            }
            if matches!(tags, Tags::One(KNOWN)) {
                let hole = std::cell::Cell::new(false);
                let out = map1(n, bits.get(), |x| {
                    f(x).unwrap_or_else(|| {
                        hole.set(true);
                        0
                    })
                });
                if !hole.get() {
                    return Val::lanes(out);
                }
            }
            let view = a.view();
            Val::in_lanes(mask, |lane| {
                let (bits, tag) = view.lane(lane);
                let known = if tag == KNOWN { f(bits) } else { None };
                known.map_or_else(|| rest(bits, tag), |bits| (bits, KNOWN))
            })
        }
    }
}

/// `-a`, `~a`.
pub(super) fn negate(op: UnaryOp, ty: &Ty, a: &Val, mask: &Mask) -> Val {
    let is_float = ty.is_float();
    let value = unary(a, mask, mix(op as u64 + 100, class(ty)), |x| match op {
        UnaryOp::Minus if is_float => round(ty, -float(x)),
        _ => Some(ty.wrap(numbers::unary(op, Integer::LONG, x))),
    });
    let shape = if a.shape == Shape::Constant { Shape::Constant } else { Shape::Other };
    Val { shape, wrapped: a.wrapped, ..value }
}
