//! Operators, as Python and `NumPy` mean them.

use super::Walker;
use super::dtype::{FLOAT, INT};
use super::heap::Obj;
use super::value::{Dtype, Kind, Text, Val};
use crate::quantity::{ClosedOp, Poly};
use crate::quantity::{Quantity, union};
use cudalint_numbers::{self as numbers, Integer};
use cudalint_program::ir::{BinaryOp, ExprId};
use std::rc::Rc;

impl Walker<'_> {
    /// `a op= b`: containers and arrays are changed in place.
    pub(super) fn update(&mut self, op: BinaryOp, old: &Val, value: &Val, id: ExprId) -> Val {
        match &old.kind {
            Kind::Array(array) => {
                self.wrote(array.buffer);
                self.looked_at(value, id);
                old.clone()
            }
            Kind::List(list) => {
                let more = self.items(value);
                if let Obj::List(items) = self.heap.get_mut(*list) {
                    *items = items.take().zip(more).map(|(mut items, more)| {
                        items.extend(more);
                        items
                    });
                }
                old.clone()
            }
            _ => self.binary(op, old, value, id),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: &Val, b: &Val, id: ExprId) -> Val {
        let why = union(&a.why, &b.why);
        if matches!(a.kind, Kind::Array(_)) || matches!(b.kind, Kind::Array(_)) {
            if matches!((&a.kind, &b.kind), (Kind::None, _) | (_, Kind::None)) && op.is_comparison() {
                return Val::boolean(op == BinaryOp::Ne);
            }
            self.looked_at(a, id);
            self.looked_at(b, id);
            return self.array_operation(op, a, b);
        }
        // Addresses.
        if let (Kind::Memory(buffer, offset), Some(q), BinaryOp::Add | BinaryOp::Sub) = (&a.kind, b.quantity(), op) {
            let (buffer, offset) = (*buffer, if op == BinaryOp::Add { offset.plus(&q) } else { offset.minus(&q) });
            return Val { kind: Kind::Memory(buffer, offset), why };
        }
        if op.is_comparison()
            && let Some(value) = self.compare_objects(op, a, b)
        {
            return value.because(&why);
        }
        match (&a.kind, &b.kind) {
            (Kind::Str(x), Kind::Str(y)) if op == BinaryOp::Add => {
                let both = x.whole.as_deref().zip(y.whole.as_deref());
                let text = both
                    .filter(|(x, y)| x.len() + y.len() <= super::value::MAX_TEXT)
                    .map(|(x, y)| Rc::from(format!("{x}{y}").as_str()));
                let end = y.ending().filter(|_| text.is_none()).map(Rc::from);
                return Val::from(Kind::Str(Rc::new(Text {
                    whole: text,
                    end,
                    origin: x.origin.or(y.origin),
                    file: None,
                })));
            }
            // A path: `folder + "/kernels.cu"`, `folder / "kernels.cu"`.
            (Kind::Unknown | Kind::Open(_), Kind::Str(y)) if op == BinaryOp::Add && y.whole.is_some() => {
                let end = y.whole.clone();
                return Val::from(Kind::Str(Rc::new(Text { end, ..Text::default() }))).because(&why);
            }
            (Kind::Unknown | Kind::Open(_) | Kind::Str(_), Kind::Str(_)) if op == BinaryOp::TrueDiv => {
                return Val::joined_path(&[a, b]).because(&why);
            }
            (Kind::Str(x), _) if op == BinaryOp::Rem => {
                // `"…%d…" % n`: what comes out is still that literal's program.
                return Val::from(Kind::Str(Rc::new(Text::of(None, x.origin))));
            }
            (Kind::Tuple(x), Kind::Tuple(y)) if op == BinaryOp::Add => {
                if !self.budget.may_copy(x.len() + y.len()) {
                    return Val { kind: Kind::Unknown, why };
                }
                return Val::tuple(x.iter().chain(y.iter()).cloned().collect()).because(&why);
            }
            (Kind::Tuple(x), Kind::Int(Quantity::Known(times))) if op == BinaryOp::Mul && *times <= 16 => {
                let times = usize::try_from(*times).unwrap_or(0);
                return Val::tuple(x.iter().cloned().cycle().take(x.len() * times).collect()).because(&why);
            }
            (Kind::List(x), Kind::List(_)) if op == BinaryOp::Add => {
                let (left, right) = (self.items(&Val::from(Kind::List(*x))), self.items(b));
                let all = left.zip(right).map(|(mut left, right)| {
                    left.extend(right);
                    left
                });
                return Val::from(Kind::List(self.heap.add(Obj::List(all))));
            }
            (Kind::List(x), Kind::Int(Quantity::Known(times))) if op == BinaryOp::Mul && (0..=4096).contains(times) => {
                let items = self.items(&Val::from(Kind::List(*x)));
                let times = usize::try_from(*times).unwrap_or(0);
                let all = items
                    .filter(|items| items.len() * times <= 4096)
                    .map(|items| items.iter().cloned().cycle().take(items.len() * times).collect());
                return Val::from(Kind::List(self.heap.add(Obj::List(all))));
            }
            _ => {}
        }
        let known = |value: &Val| matches!(value.kind, Kind::Open(_)) || value.quantity().is_some() || is_float(value);
        // An unknown operand beside a number is a number: nothing else would do where sizes are computed.
        if !known(a)
            || !known(b)
            || (matches!(a.kind, Kind::Open(_)) && matches!(b.kind, Kind::Open(_)) && op.is_comparison())
        {
            return Val { kind: if op.is_comparison() { Kind::Bool(Quantity::Unknown) } else { Kind::Unknown }, why };
        }
        let kind = if is_float(a) || is_float(b) {
            self.floats(op, a, b)
        } else {
            let (Some(x), Some(y)) = (self.as_int(a), self.as_int(b)) else { return Val { kind: Kind::Unknown, why } };
            match (self.integers(op, &x, &y), &a.kind, &b.kind, op) {
                (Kind::Int(q), Kind::Bool(_), Kind::Bool(_), BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) => {
                    Kind::Bool(q)
                }
                (kind, ..) => kind,
            }
        };
        match result_type(op, a, b) {
            Some(dtype) => numpy_number(dtype, kind).because(&why),
            None => Val { kind, why },
        }
    }

    fn compare_objects(&mut self, op: BinaryOp, a: &Val, b: &Val) -> Option<Val> {
        let equality = matches!(op, BinaryOp::Eq | BinaryOp::Ne);
        if !equality {
            return None;
        }
        let truth = |same: bool| Some(Val::boolean(same == (op == BinaryOp::Eq)));
        match (&a.kind, &b.kind) {
            (Kind::Str(x), Kind::Str(y)) => match (&x.whole, &y.whole) {
                (Some(x), Some(y)) => truth(x == y),
                _ => Some(Val::from(Kind::Bool(Quantity::Unknown))),
            },
            (Kind::None, Kind::None) => truth(true),
            (Kind::None, Kind::Unknown | Kind::Unset | Kind::Open(_))
            | (Kind::Unknown | Kind::Unset | Kind::Open(_), Kind::None) => {
                Some(Val::from(Kind::Bool(Quantity::Unknown)))
            }
            (Kind::None, _) | (_, Kind::None) => truth(false),
            (Kind::Dtype(x), Kind::Dtype(y)) if *x != Dtype::Unknown && *y != Dtype::Unknown => truth(x == y),
            (Kind::Tuple(x), Kind::Tuple(y)) if x.len() != y.len() => truth(false),
            (Kind::Tuple(x), Kind::Tuple(y)) if x.iter().zip(y.iter()).all(|(x, y)| Val::same(x, y)) => truth(true),
            _ => None,
        }
    }

    fn floats(&mut self, op: BinaryOp, a: &Val, b: &Val) -> Kind {
        let truth = |value: bool| Kind::Bool(Quantity::Known(i64::from(value)));
        if let (Some(x), Some(y)) = (a.number(), b.number()) {
            return match op {
                BinaryOp::Add => Kind::Float(Some(x + y)),
                BinaryOp::Sub => Kind::Float(Some(x - y)),
                BinaryOp::Mul => Kind::Float(Some(x * y)),
                BinaryOp::Div | BinaryOp::TrueDiv if y != 0.0 => Kind::Float(Some(x / y)),
                BinaryOp::FloorDiv if y != 0.0 => Kind::Float(Some((x / y).floor())),
                BinaryOp::Pow => Kind::Float(Some(x.powf(y))),
                BinaryOp::Lt => truth(x < y),
                BinaryOp::Le => truth(x <= y),
                BinaryOp::Gt => truth(x > y),
                BinaryOp::Ge => truth(x >= y),
                BinaryOp::Eq => truth((x - y).abs() == 0.0),
                BinaryOp::Ne => truth((x - y).abs() != 0.0),
                _ => Kind::Float(None),
            };
        }
        if op.is_comparison() {
            return Kind::Bool(Quantity::Unknown);
        }
        let whole = |value: &Val| {
            value
                .number()
                .filter(|number| number.fract() == 0.0 && (1.0..1e9).contains(number))
                .map(|number| number as i64)
        };
        match (&a.kind, op) {
            (Kind::Ratio(q, by), BinaryOp::Div | BinaryOp::TrueDiv) => {
                whole(b).and_then(|d| by.checked_mul(d)).map_or(Kind::Float(None), |by| Kind::Ratio(q.clone(), by))
            }
            (Kind::Ratio(q, by), BinaryOp::Mul) => {
                whole(b).map_or(Kind::Float(None), |f| Kind::Ratio(q.times(&Quantity::Known(f)), *by))
            }
            (_, BinaryOp::Div | BinaryOp::TrueDiv) if !is_float(a) => match (self.as_int(a), whole(b)) {
                (Some(q), Some(by)) => Kind::Ratio(q, by),
                _ => Kind::Float(None),
            },
            (_, BinaryOp::Mul) if !is_float(a) => match (self.as_int(a), whole(b)) {
                (Some(q), Some(by)) => Kind::Ratio(q.times(&Quantity::Known(by)), 1),
                _ => Kind::Float(None),
            },
            _ => Kind::Float(None),
        }
    }

    /// Integers without bounds: division rounds down.
    pub(super) fn integers(&mut self, op: BinaryOp, x: &Quantity, y: &Quantity) -> Kind {
        if op.is_comparison() {
            return Kind::Bool(self.compare(op, x, y));
        }
        if matches!(op, BinaryOp::Div | BinaryOp::TrueDiv) {
            return match (x, y) {
                (Quantity::Known(x), Quantity::Known(y)) if *y != 0 => Kind::Float(Some(*x as f64 / *y as f64)),
                (_, Quantity::Known(y)) if *y > 0 && !x.is_unknown() => Kind::Ratio(x.clone(), *y),
                _ => Kind::Float(None),
            };
        }
        let known = x.known().zip(y.known());
        Kind::Int(match op {
            BinaryOp::Add => x.plus(y),
            BinaryOp::Sub => x.minus(y),
            BinaryOp::Mul => x.times(y),
            BinaryOp::FloorDiv => self.floor_div(x, y),
            BinaryOp::Rem => match known {
                Some((x, y)) => numbers::floor_rem(x, y).filter(|_| y > 0).map_or(Quantity::Unknown, Quantity::Known),
                None => self.atoms.closed(ClosedOp::Rem, x, y),
            },
            BinaryOp::Pow => match known {
                Some((x, y)) if y < 0 => return Kind::Float(Some((x as f64).powf(y as f64))),
                Some((x, y)) => numbers::python(op, x, y).map_or(Quantity::Unknown, Quantity::Known),
                None if y.known() == Some(2) => x.times(x),
                None => Quantity::Unknown,
            },
            BinaryOp::Shl => self.atoms.closed(ClosedOp::Shl, x, y),
            BinaryOp::Shr => self.atoms.closed(ClosedOp::Shr, x, y),
            BinaryOp::And => self.atoms.closed(ClosedOp::And, x, y),
            BinaryOp::Or => self.atoms.closed(ClosedOp::Or, x, y),
            BinaryOp::Xor => self.atoms.closed(ClosedOp::Xor, x, y),
            _ => Quantity::Unknown,
        })
    }

    /// `x // y`.
    pub(super) fn floor_div(&mut self, x: &Quantity, y: &Quantity) -> Quantity {
        if let (Some(x), Some(y)) = (x.known(), y.known()) {
            let floor = numbers::python(BinaryOp::FloorDiv, x, y).filter(|_| y > 0);
            return floor.map_or(Quantity::Unknown, Quantity::Known);
        }
        // `-(-n // b)` rounds up.
        if let (Some(poly), Some(by)) = (x.poly(), y.known().filter(|by| *by > 0)) {
            let negated = Poly::constant(0).plus_times(&poly, -1);
            if let Some(negated) =
                negated.filter(|negated| negated.as_constant().is_none() && negated.is_non_negative(0))
            {
                let up = Quantity::from_poly(negated).plus(&Quantity::Known(by - 1));
                let quotient = self.atoms.closed(ClosedOp::Div, &up, &Quantity::Known(by));
                return Quantity::Known(0).minus(&quotient);
            }
        }
        self.atoms.closed(ClosedOp::Div, x, y)
    }

    /// `x / y` rounded up.
    pub(super) fn ceil_div(&mut self, x: &Quantity, by: i64) -> Quantity {
        if let Some(x) = x.known() {
            return Quantity::Known((x + by - 1).div_euclid(by.max(1)));
        }
        let up = x.plus(&Quantity::Known(by - 1));
        self.atoms.closed(ClosedOp::Div, &up, &Quantity::Known(by))
    }

    fn compare(&mut self, op: BinaryOp, x: &Quantity, y: &Quantity) -> Quantity {
        if let Some(difference) = x.constant_difference(y) {
            return op.holds(difference.cmp(&0)).map_or(Quantity::Unknown, |truth| Quantity::Known(i64::from(truth)));
        }
        match op {
            BinaryOp::Lt => self.atoms.closed(ClosedOp::Lt, x, y),
            BinaryOp::Le => self.atoms.closed(ClosedOp::Le, x, y),
            BinaryOp::Gt => self.atoms.closed(ClosedOp::Lt, y, x),
            BinaryOp::Ge => self.atoms.closed(ClosedOp::Le, y, x),
            BinaryOp::Eq => self.atoms.closed(ClosedOp::Eq, x, y),
            _ => self.atoms.closed(ClosedOp::Ne, x, y),
        }
    }
}

pub(super) fn is_float(value: &Val) -> bool {
    match &value.kind {
        Kind::Float(_) | Kind::Ratio(..) => true,
        Kind::Number(dtype, _) => matches!(dtype, Dtype::Float { .. }),
        _ => false,
    }
}

/// The type of a result that is a scalar of `NumPy`: Python's own numbers bend to the other's type.
fn result_type(op: BinaryOp, a: &Val, b: &Val) -> Option<Dtype> {
    let bent = |dtype: Dtype, other: &Kind| match (other, dtype) {
        (Kind::Float(_) | Kind::Ratio(..), Dtype::Int { .. } | Dtype::Bool) => FLOAT,
        (Kind::Int(_), Dtype::Bool) => INT,
        _ => dtype,
    };
    let dtype = match (&a.kind, &b.kind) {
        (Kind::Number(x, _), Kind::Number(y, _)) => x.promote(*y),
        (Kind::Number(x, _), other) | (other, Kind::Number(x, _)) => bent(*x, other),
        _ => return None,
    };
    match op {
        _ if op.is_comparison() => None,
        BinaryOp::Div | BinaryOp::TrueDiv => Some(dtype.divided()),
        _ => Some(dtype),
    }
}

/// A number as a scalar of `NumPy` holds it: integers wrap around, floats are rounded.
pub(super) fn numpy_number(dtype: Dtype, kind: Kind) -> Val {
    let inner = match (dtype, kind) {
        (_, kind @ Kind::Ratio(..)) => return Val::from(kind),
        (Dtype::Int { bytes, signed }, Kind::Int(Quantity::Known(number)) | Kind::Bool(Quantity::Known(number))) => {
            Kind::Int(Quantity::Known(Integer::new(bytes, signed).wrap(number)))
        }
        (Dtype::Int { .. }, Kind::Int(q) | Kind::Bool(q)) => Kind::Int(q),
        (Dtype::Float { bytes: 8 }, Kind::Float(number)) => Kind::Float(number),
        (Dtype::Float { bytes: 4 }, Kind::Float(number)) => Kind::Float(number.map(|number| f64::from(number as f32))),
        (Dtype::Float { .. }, _) => Kind::Float(None),
        _ => return Val::unknown(),
    };
    Val::from(Kind::Number(dtype, Rc::new(Val::from(inner))))
}
