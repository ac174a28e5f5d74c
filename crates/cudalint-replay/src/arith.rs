//! Arithmetic as C does it: promotions, conversions and wrap-around for numbers, polynomials for symbols.

use crate::algebra::{Atom, AtomKind, ClosedOp, Poly, Terms};
use crate::quantity::{Quantity, union};
use crate::ty::Ty;
use crate::value::{Int, Kind, Val};
use cudalint_program::ir::BinaryOp;
use rustc_hash::FxHashMap;

/// Makes atoms, the same one for the same operation.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    next: u32,
    /// How often sizes of types were asked for.
    asked: u32,
    /// Of which types, since somebody wants to know.
    pub sized: Option<Vec<Box<str>>>,
    closed: FxHashMap<(ClosedOp, Poly, Poly), Atom>,
    sizes: FxHashMap<String, Atom>,
}

impl Atoms {
    /// How many there are, with how often sizes were asked for: as long as it stays the same nothing has been named.
    pub const fn count(&self) -> (u32, u32) {
        (self.next, self.asked)
    }

    /// Leaves out this many, as if they had been made.
    pub const fn skip(&mut self, count: u32) {
        self.next += count;
    }

    /// A new atom of its own.
    pub fn fresh(&mut self, name: &str, kind: AtomKind) -> Quantity {
        let id = self.next;
        self.next += 1;
        Quantity::from_poly(Poly::atom(Atom::new(id, name.to_owned(), kind)))
    }

    /// `sizeof(T)` of a type by its name.
    pub fn size_of(&mut self, name: &str) -> Quantity {
        self.asked += 1;
        if let Some(sized) = self.sized.as_mut().filter(|sized| !sized.iter().any(|known| **known == *name)) {
            sized.push(name.into());
        }
        if let Some(atom) = self.sizes.get(name) {
            return Quantity::from_poly(Poly::atom(atom.clone()));
        }
        let atom = Atom::new(self.next, format!("sizeof({name})"), AtomKind::SizeOf);
        self.next += 1;
        self.sizes.insert(name.to_owned(), atom.clone());
        Quantity::from_poly(Poly::atom(atom))
    }

    /// An operation that no polynomial expresses.
    pub fn closed(&mut self, op: ClosedOp, a: &Quantity, b: &Quantity) -> Quantity {
        if let (Quantity::Known(a), Quantity::Known(b)) = (a, b) {
            return op.apply(*a, *b).map_or(Quantity::Unknown, Quantity::Known);
        }
        let (Some(a), Some(b)) = (a.poly(), b.poly()) else { return Quantity::Unknown };
        if a.terms.len() + b.terms.len() > 12 {
            return Quantity::Unknown;
        }
        match (op, b.as_constant()) {
            (ClosedOp::Div, Some(divisor)) => {
                if let Some(exact) = a.divided_exactly(divisor) {
                    return Quantity::from_poly(exact);
                }
            }
            (ClosedOp::Div, None) if b.terms.len() == 1 => {
                if let Some(exact) = cancel(&a, &b) {
                    return Quantity::from_poly(exact);
                }
            }
            (ClosedOp::Rem, Some(divisor)) if a.divided_exactly(divisor).is_some() => return Quantity::Known(0),
            (ClosedOp::Shl, Some(shift @ 0..=40)) => {
                return Quantity::from_poly(a).times(&Quantity::Known(1 << shift));
            }
            (ClosedOp::Shr, Some(shift @ 0..=40)) => {
                return self.closed(ClosedOp::Div, &Quantity::from_poly(a), &Quantity::Known(1 << shift));
            }
            (ClosedOp::Min | ClosedOp::Max, _) => {
                let (left, right) = (Quantity::from_poly(a.clone()), Quantity::from_poly(b.clone()));
                if let Some(difference) = left.constant_difference(&right) {
                    return if (difference <= 0) == (op == ClosedOp::Min) { left } else { right };
                }
            }
            _ => {}
        }
        let key = (op, a, b);
        if let Some(atom) = self.closed.get(&key) {
            return Quantity::from_poly(Poly::atom(atom.clone()));
        }
        let atom = Atom::new(self.next, String::new(), AtomKind::Closed(op, key.1.clone(), key.2.clone()));
        self.next += 1;
        self.closed.insert(key, atom.clone());
        Quantity::from_poly(Poly::atom(atom))
    }
}

/// `a / b` for a single-term `b` that divides every term of `a`, its atoms being counts other than 0.
fn cancel(a: &Poly, b: &Poly) -> Option<Poly> {
    let (product, coefficient) = b.terms.iter().next()?;
    let mut terms = Vec::with_capacity(a.terms.len());
    for (term, c) in a.terms.iter() {
        let mut rest = term.clone();
        for atom in product {
            let at = rest.iter().position(|other| other == atom)?;
            rest.remove(at);
        }
        if c.checked_rem(*coefficient)? != 0 {
            return None;
        }
        terms.push((rest, c.checked_div(*coefficient)?));
    }
    Some(Poly::of(Terms::sum(terms)?))
}

/// A number in the range of its type, as C wraps it. An unsigned 64-bit number above the signed range keeps its bits.
pub(crate) fn wrap(value: i128, bytes: u8, signed: bool) -> i64 {
    match (bytes, signed) {
        (1, true) => i64::from(value as i8),
        (1, false) => i64::from(value as u8),
        (2, true) => i64::from(value as i16),
        (2, false) => i64::from(value as u16),
        (4, true) => i64::from(value as i32),
        (4, false) => i64::from(value as u32),
        _ => value as i64,
    }
}

/// The mathematical number that the bits of an integer stand for.
fn widen(value: i64, bytes: u8, signed: bool) -> i128 {
    if bytes == 8 && !signed { i128::from(value as u64) } else { i128::from(value) }
}

/// The common type of two operands.
fn common(a: &Int, b: &Int) -> (u8, bool) {
    let promote = |int: &Int| if int.bytes < 4 { (4, true) } else { (int.bytes, int.signed) };
    let ((m, s), (n, t)) = (promote(a), promote(b));
    match m.cmp(&n) {
        std::cmp::Ordering::Greater => (m, s),
        std::cmp::Ordering::Less => (n, t),
        std::cmp::Ordering::Equal => (m, s && t),
    }
}

/// An integer converted to a type of integers.
pub(crate) fn convert_int(int: &Int, bytes: u8, signed: bool) -> Quantity {
    match &int.q {
        Quantity::Known(value) => Quantity::Known(wrap(widen(*value, int.bytes, int.signed), bytes, signed)),
        // A symbol keeps its value where it surely fits, and is taken to where both types hold counts.
        Quantity::Symbolic(_) if bytes >= 4 || bytes >= int.bytes => int.q.clone(),
        _ => Quantity::Unknown,
    }
}

/// A value converted to a type.
pub(crate) fn convert(atoms: &mut Atoms, value: &Val, ty: &Ty) -> Val {
    let why = &value.why;
    let kind = match (&value.kind, ty.value()) {
        (Kind::Int(_), Ty::Ptr(_)) if value.known() == Some(0) => Kind::Null,
        (Kind::Int(int), Ty::Bool) => match &int.q {
            Quantity::Known(value) => {
                Kind::Int(Int { q: Quantity::Known(i64::from(*value != 0)), bytes: 1, signed: false })
            }
            Quantity::Symbolic(_) if int.bytes == 1 && !int.signed => value.kind.clone(),
            Quantity::Symbolic(_) => {
                let q = atoms.closed(ClosedOp::Ne, &int.q, &Quantity::Known(0));
                Kind::Int(Int { q, bytes: 1, signed: false })
            }
            Quantity::Unknown => Kind::Unknown,
        },
        (Kind::Int(int), Ty::Int { bytes, signed }) => {
            Kind::Int(Int { q: convert_int(int, *bytes, *signed), bytes: *bytes, signed: *signed })
        }
        (Kind::Int(int), Ty::Float { bytes }) => match &int.q {
            Quantity::Known(value) => Kind::Float(round(widen(*value, int.bytes, int.signed) as f64, *bytes)),
            q @ Quantity::Symbolic(_) => Kind::Ratio(q.clone(), 1),
            Quantity::Unknown => Kind::Unknown,
        },
        (Kind::Float(value), Ty::Int { bytes, signed }) if value.abs() < 9e18 => {
            let whole = wrap(value.trunc() as i128, *bytes, *signed);
            // Out of range is undefined, so no number is right.
            let fits = (whole as f64 - value.trunc()).abs() < 0.5;
            let q = if fits { Quantity::Known(whole) } else { Quantity::Unknown };
            Kind::Int(Int { q, bytes: *bytes, signed: *signed })
        }
        (Kind::Ratio(q, by), Ty::Int { bytes, signed }) => {
            let q = atoms.closed(ClosedOp::Div, q, &Quantity::Known(*by));
            Kind::Int(Int { q, bytes: *bytes, signed: *signed })
        }
        (Kind::Float(value), Ty::Float { bytes }) => Kind::Float(round(*value, *bytes)),
        (Kind::Null, Ty::Int { bytes, signed }) => {
            Kind::Int(Int { q: Quantity::Known(0), bytes: *bytes, signed: *signed })
        }
        (Kind::Ptr(_) | Kind::Str(_) | Kind::Function(..), Ty::Int { .. } | Ty::Float { .. } | Ty::Bool) => {
            Kind::Unknown
        }
        (Kind::Unknown, Ty::Int { bytes, signed }) => {
            Kind::Int(Int { q: Quantity::Unknown, bytes: *bytes, signed: *signed })
        }
        _ => return value.clone(),
    };
    Val { kind, why: why.clone() }
}

fn round(value: f64, bytes: u8) -> f64 {
    if bytes == 4 { f64::from(value as f32) } else { value }
}

/// An operation on two numbers; `Unknown` for everything else.
pub(crate) fn binary(atoms: &mut Atoms, op: BinaryOp, a: &Val, b: &Val) -> Val {
    let why = union(&a.why, &b.why);
    let kind = match (&a.kind, &b.kind) {
        (Kind::Int(x), Kind::Int(y)) => integers(atoms, op, x, y),
        (Kind::Float(x), Kind::Float(y)) => floats(op, *x, *y),
        (Kind::Float(x), Kind::Int(y)) => match (&y.q, op) {
            (Quantity::Known(y), _) => floats(op, *x, *y as f64),
            (Quantity::Symbolic(_), BinaryOp::Mul) => scaled(&y.q, 1, *x),
            _ => Kind::Unknown,
        },
        (Kind::Int(x), Kind::Float(y)) => match &x.q {
            Quantity::Known(x) => floats(op, *x as f64, *y),
            Quantity::Symbolic(_) if op == BinaryOp::Div => divided(&x.q, 1, *y),
            Quantity::Symbolic(_) if op == BinaryOp::Mul => scaled(&x.q, 1, *y),
            _ => Kind::Unknown,
        },
        (Kind::Ratio(q, by), Kind::Float(y)) if op == BinaryOp::Div => divided(q, *by, *y),
        (Kind::Ratio(q, by), Kind::Float(y)) if op == BinaryOp::Mul => scaled(q, *by, *y),
        (Kind::Ratio(q, by), Kind::Float(y)) if op == BinaryOp::Add => shifted(q, *by, *y),
        (Kind::Ratio(q, by), Kind::Float(y)) if op == BinaryOp::Sub => shifted(q, *by, -*y),
        (Kind::Ratio(q, by), Kind::Int(Int { q: Quantity::Known(y), .. })) if op == BinaryOp::Div => {
            divided(q, *by, *y as f64)
        }
        _ => Kind::Unknown,
    };
    if matches!(kind, Kind::Unknown) && op.is_comparison() {
        return Val { kind: Kind::Int(Int { q: Quantity::Unknown, bytes: 1, signed: false }), why };
    }
    Val { kind, why }
}

fn divided(q: &Quantity, by: i64, divisor: f64) -> Kind {
    if divisor.fract() == 0.0 && (1.0..1e9).contains(&divisor) {
        return by.checked_mul(divisor as i64).map_or(Kind::Unknown, |by| Kind::Ratio(q.clone(), by));
    }
    Kind::Unknown
}

fn scaled(q: &Quantity, by: i64, factor: f64) -> Kind {
    if factor.fract() == 0.0 && (1.0..1e9).contains(&factor) {
        return Kind::Ratio(q.times(&Quantity::Known(factor as i64)), by);
    }
    Kind::Unknown
}

/// `q / by + y` for halves: `n / 256.0 + 0.5`.
fn shifted(q: &Quantity, by: i64, y: f64) -> Kind {
    let halves = y * 2.0;
    if halves.fract() != 0.0 || halves.abs() > 1e6 {
        return Kind::Unknown;
    }
    match (by.checked_mul(halves as i64), by.checked_mul(2)) {
        (Some(added), Some(by)) => Kind::Ratio(q.times(&Quantity::Known(2)).plus(&Quantity::Known(added)), by),
        _ => Kind::Unknown,
    }
}

fn floats(op: BinaryOp, x: f64, y: f64) -> Kind {
    let truth = |value: bool| Kind::Int(Int { q: Quantity::Known(i64::from(value)), bytes: 1, signed: false });
    match op {
        BinaryOp::Add => Kind::Float(x + y),
        BinaryOp::Sub => Kind::Float(x - y),
        BinaryOp::Mul => Kind::Float(x * y),
        BinaryOp::Div | BinaryOp::TrueDiv if y != 0.0 => Kind::Float(x / y),
        BinaryOp::Lt => truth(x < y),
        BinaryOp::Le => truth(x <= y),
        BinaryOp::Gt => truth(x > y),
        BinaryOp::Ge => truth(x >= y),
        _ => Kind::Unknown,
    }
}

fn integers(atoms: &mut Atoms, op: BinaryOp, x: &Int, y: &Int) -> Kind {
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let (bytes, signed) = if shift { common(x, x) } else { common(x, y) };
    let (a, b) = (convert_int(x, bytes, signed), if shift { y.q.clone() } else { convert_int(y, bytes, signed) });
    if op.is_comparison() {
        let q = match compare(op, &a, &b, bytes, signed) {
            Quantity::Unknown => open_comparison(atoms, op, &a, &b),
            q => q,
        };
        return Kind::Int(Int { q, bytes: 1, signed: false });
    }
    let q = match (&a, &b) {
        (Quantity::Known(p), Quantity::Known(q)) => known(op, *p, *q, bytes, signed),
        _ => match op {
            BinaryOp::Add => a.plus(&b),
            BinaryOp::Sub => a.minus(&b),
            BinaryOp::Mul => a.times(&b),
            BinaryOp::Div => atoms.closed(ClosedOp::Div, &a, &b),
            BinaryOp::Rem => atoms.closed(ClosedOp::Rem, &a, &b),
            BinaryOp::Shl => atoms.closed(ClosedOp::Shl, &a, &b),
            BinaryOp::Shr => atoms.closed(ClosedOp::Shr, &a, &b),
            BinaryOp::And => atoms.closed(ClosedOp::And, &a, &b),
            BinaryOp::Or => atoms.closed(ClosedOp::Or, &a, &b),
            BinaryOp::Xor => atoms.closed(ClosedOp::Xor, &a, &b),
            _ => Quantity::Unknown,
        },
    };
    Kind::Int(Int { q, bytes, signed })
}

fn known(op: BinaryOp, p: i64, q: i64, bytes: u8, signed: bool) -> Quantity {
    let (a, b) = (widen(p, bytes, signed), widen(q, bytes, signed));
    let shift = || u32::try_from(q).ok().filter(|shift| *shift < u32::from(bytes) * 8);
    let result = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::Shl => shift().and_then(|shift| a.checked_shl(shift)),
        BinaryOp::Shr => shift().and_then(|shift| a.checked_shr(shift)),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        _ => None,
    };
    let Some(value) = result else { return Quantity::Unknown };
    let wrapped = wrap(value, bytes, signed);
    // A size that ran over is meant to be another: nobody computes sizes modulo 2^32.
    let ran_over =
        matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl) && widen(wrapped, bytes, signed) != value;
    if ran_over && value.unsigned_abs() >> 31 != 0 && a >= 0 && b >= 0 {
        return Quantity::Unknown;
    }
    Quantity::Known(wrapped)
}

/// A comparison that the inputs decide.
fn open_comparison(atoms: &mut Atoms, op: BinaryOp, a: &Quantity, b: &Quantity) -> Quantity {
    match op {
        BinaryOp::Lt => atoms.closed(ClosedOp::Lt, a, b),
        BinaryOp::Le => atoms.closed(ClosedOp::Le, a, b),
        BinaryOp::Gt => atoms.closed(ClosedOp::Lt, b, a),
        BinaryOp::Ge => atoms.closed(ClosedOp::Le, b, a),
        BinaryOp::Eq => atoms.closed(ClosedOp::Eq, a, b),
        _ => atoms.closed(ClosedOp::Ne, a, b),
    }
}

fn compare(op: BinaryOp, a: &Quantity, b: &Quantity, bytes: u8, signed: bool) -> Quantity {
    let ordering = match (a, b) {
        (Quantity::Known(p), Quantity::Known(q)) => widen(*p, bytes, signed).cmp(&widen(*q, bytes, signed)),
        _ => match a.constant_difference(b) {
            Some(difference) => difference.cmp(&0),
            None => return Quantity::Unknown,
        },
    };
    let truth = match op {
        BinaryOp::Lt => ordering.is_lt(),
        BinaryOp::Le => ordering.is_le(),
        BinaryOp::Gt => ordering.is_gt(),
        BinaryOp::Ge => ordering.is_ge(),
        BinaryOp::Eq => ordering.is_eq(),
        _ => ordering.is_ne(),
    };
    Quantity::Known(i64::from(truth))
}
