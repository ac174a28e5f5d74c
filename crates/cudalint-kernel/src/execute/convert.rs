//! Conversions between scalar types, and arithmetic on pointers.

use super::bits::{Affine, Side, fits};
use super::lanes::Mask;
use super::ops::{float, round, unary, wrap_lanes};
use super::symbols::class;
use super::value::{
    Bits, Data, KNOWN, NUMBER, SOMEWHERE, Tags, UNKNOWN, Val, map2, mix, object_of, place_of, pointer, somewhere,
};
use crate::code::{ExprId, Ty};

/// Converted from one scalar type to another; `at` names the conversion where it cuts an integer short.
pub(super) fn convert(from: &Ty, to: &Ty, a: &Val, mask: &Mask, at: ExprId) -> Val {
    if from == to {
        return a.clone();
    }
    match (from, to) {
        (Ty::Bool | Ty::Int { .. }, Ty::Int { bytes, .. }) => {
            // Widening keeps the number; so does every conversion of numbers that fit.
            let widens = from.bytes().unwrap_or(8) < u32::from(*bytes)
                && (!matches!(from, Ty::Int { signed: true, .. })
                    || matches!(to, Ty::Int { signed: true, .. } | Ty::Int { bytes: 8, .. }));
            if widens && a.all_known() {
                return a.clone();
            }
            match &a.data {
                Data::Lanes(bits, Tags::One(KNOWN)) if bits.affine().is_some_and(|affine| fits(to, affine)) => {
                    a.clone()
                }
                Data::Lanes(bits, Tags::One(KNOWN)) => {
                    let mut bits = bits.clone();
                    let cut = wrap_lanes(to, bits.edit(), mask);
                    let wrapped = if cut { Some(at) } else { a.wrapped };
                    Val { data: Data::Lanes(bits, Tags::One(KNOWN)), shape: a.shape, wrapped }
                }
                _ => {
                    let value = unary(a, mask, mix(200, class(to)), |x| Some(to.wrap(x)));
                    let cut = a.uniform().is_some_and(|x| to.wrap(x) != x);
                    Val { shape: a.shape, wrapped: if cut { Some(at) } else { a.wrapped }, ..value }
                }
            }
        }
        (Ty::Pointer, Ty::Bool) => {
            let somewhere = unary(a, mask, 201, |x| Some(i64::from(x != 0)));
            match &a.data {
                Data::Uniform(_, SOMEWHERE) => Val::known(1),
                _ => somewhere,
            }
        }
        (Ty::Float { .. }, Ty::Bool) => unary(a, mask, 202, |x| Some(i64::from(float(x) != 0.0))),
        (_, Ty::Bool) => unary(a, mask, 203, |x| Some(i64::from(x != 0))),
        (Ty::Bool | Ty::Int { .. }, Ty::Float { .. }) => {
            let unsigned = *from == Ty::SIZE;
            unary(a, mask, mix(204, class(to)), |x| round(to, if unsigned { x as u64 as f64 } else { x as f64 }))
        }
        (Ty::Float { .. }, Ty::Float { .. }) => unary(a, mask, mix(205, class(to)), |x| round(to, float(x))),
        (Ty::Float { .. }, Ty::Int { .. }) => unary(a, mask, mix(206, class(to)), |x| {
            let value = float(x).trunc();
            // The compiler may fuse, reorder and approximate: so close to a whole number either may come out.
            let (gap, size) = ((float(x) - float(x).round()).abs(), float(x).abs().max(1.0));
            if gap != 0.0 && gap < size * 1e-5 {
                return None;
            }
            (value.abs() < 9e18).then_some(value as i64).filter(|&value| to.wrap(value) == value)
        }),
        (Ty::Pointer, Ty::Pointer) => a.clone(),
        (Ty::Pointer, Ty::Int { .. }) => unary(a, mask, mix(207, class(to)), |x| if x == 0 { Some(0) } else { None }),
        (Ty::Bool | Ty::Int { .. }, Ty::Pointer) => match a.uniform() {
            Some(0) => Val::known(0),
            _ => Val::unknown(),
        },
        _ => Val::unknown(),
    }
}

/// `base + index * stride` on pointers.
pub(super) fn offset(base: &Val, index: &Val, stride: i64, mask: &Mask) -> Val {
    let shape = base.shape.plus(index.shape);
    let wrapped = index.wrapped.or(base.wrapped);
    let step = |p: (i64, u8), i: (i64, u8)| -> (i64, u8) {
        match (p.1, i.1) {
            (KNOWN, KNOWN) if i.0 == 0 => p,
            (KNOWN, KNOWN) if p.0 != 0 => {
                let moved = p.0.wrapping_add(i.0.wrapping_mul(stride));
                if object_of(moved) == object_of(p.0) {
                    (moved, KNOWN)
                } else {
                    (somewhere(object_of(p.0), 0), SOMEWHERE)
                }
            }
            (SOMEWHERE, KNOWN) if i.0 == 0 => p,
            (SOMEWHERE, _) if place_of(p.0) == 0 => p,
            (KNOWN | SOMEWHERE, KNOWN | NUMBER) if p.0 != 0 => {
                let name = mix(mix(p.0 as u64, i.0 as u64), mix(u64::from(i.1), stride as u64));
                (somewhere(object_of(p.0), name | 1), SOMEWHERE)
            }
            (KNOWN | SOMEWHERE, _) if p.0 != 0 => (somewhere(object_of(p.0), 0), SOMEWHERE),
            (NUMBER, KNOWN) if i.0 == 0 => p,
            (NUMBER, KNOWN | NUMBER) => (mix(mix(p.0 as u64, i.0 as u64), mix(u64::from(i.1), 300)) as i64, NUMBER),
            _ => (0, UNKNOWN),
        }
    };
    match (&base.data, &index.data) {
        (Data::Undefined | Data::Aggregate(_), _) => return Val::unknown(),
        (Data::Uniform(p, s), Data::Uniform(i, t)) => {
            let (bits, tag) = step((*p, *s), (*i, *t));
            return Val { data: Data::Uniform(bits, tag), shape, wrapped };
        }
        (Data::Uniform(p, s), Data::Undefined | Data::Aggregate(_)) => {
            let (bits, tag) = step((*p, *s), (0, UNKNOWN));
            return Data::Uniform(bits, tag).into();
        }
        _ => {}
    }
    let n = mask.levels().len();
    if let (Some(from), Some(by)) = (base.side(), index.side())
        && let Some(moved) = way_of(from, by, stride)
    {
        return Val { shape, wrapped, ..Val::lanes(moved) };
    }
    let bases = base.alike().or_else(|| match base.side() {
        // Where in the object it points to does not matter.
        Some(Side::Of(at)) if matches!(index.alike(), Some((_, UNKNOWN))) => one_object(at),
        _ => None,
    });
    if let (Some(p), Some(i)) = (bases, index.alike())
        && (p.1, i.1) != (KNOWN, KNOWN)
    {
        let (bits, tag) = step(p, i);
        return Val { shape, wrapped, ..Val::alike_in(n, bits, tag) };
    }
    if let Some(named) = named_places(base, index, stride, n) {
        return Val { shape, wrapped, ..named };
    }
    if base.all_known() && index.all_known() {
        let bits = map2(n, base.bits(), index.bits(), |p, i| p.wrapping_add(i.wrapping_mul(stride)));
        let mut left_object = 0;
        match base.bits() {
            Bits::One(p) => {
                left_object |= i64::from(p == 0);
                for &moved in bits.get() {
                    left_object |= i64::from(object_of(moved) ^ object_of(p));
                }
            }
            Bits::Each(base) => {
                for (&moved, &p) in bits.get().iter().zip(base) {
                    left_object |= i64::from(object_of(moved) ^ object_of(p)) | i64::from(p == 0);
                }
            }
        }
        if left_object == 0 {
            return Val { shape, wrapped, ..Val::lanes(bits) };
        }
    }
    let (base, index) = (base.view(), index.view());
    let value = Val::in_lanes(mask, |lane| step(base.lane(lane), index.lane(lane)));
    Val { shape, wrapped, ..value }
}

/// `base + index * stride` where of all indices only names are known: places in the objects that have only names, too.
fn named_places(base: &Val, index: &Val, stride: i64, n: usize) -> Option<Val> {
    let Data::Lanes(_, Tags::One(NUMBER)) = index.data else { return None };
    let salt = mix(u64::from(NUMBER), stride as u64);
    let place = |p: i64, i: i64| somewhere(object_of(p), mix(mix(p as u64, i as u64), salt) | 1);
    let bits = match (&base.data, base.side()) {
        (Data::Uniform(p, SOMEWHERE), _) if place_of(*p) == 0 => return Some(Val::alike_in(n, *p, SOMEWHERE)),
        (Data::Uniform(0, _), _) => return None,
        (Data::Uniform(p, KNOWN | SOMEWHERE), _) => map2(n, Bits::One(*p), index.bits(), place),
        (_, Some(Side::Of(at))) if one_object(at).is_some() => map2(n, base.bits(), index.bits(), place),
        _ => return None,
    };
    Some(Data::Lanes(bits.into(), Tags::One(SOMEWHERE)).into())
}

/// A pointer to the start of the object that all lanes point into.
fn one_object(pointers: &Affine) -> Option<(i64, u8)> {
    let object = object_of(pointers.least());
    (object != 0 && object == object_of(pointers.most())).then(|| (pointer(object, 0), KNOWN))
}

/// `base + index * stride` as a formula, where every lane stays in the one object that all of `base` points into.
fn way_of(base: Side<'_>, index: Side<'_>, stride: i64) -> Option<Affine> {
    let object = object_of(base.least());
    let moved = match index {
        Side::One(by) => base.plus(Side::One(by.checked_mul(stride)?))?,
        Side::Of(by) => base.plus(Side::Of(&by.times(stride)?))?,
    };
    let stays = |bits: i64| object_of(bits) == object;
    (object != 0 && stays(base.most()) && stays(moved.least()) && stays(moved.most())).then_some(moved)
}
