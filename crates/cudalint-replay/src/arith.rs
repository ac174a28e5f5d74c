//! Arithmetic as C does it: promotions, conversions and wrap-around for numbers, polynomials for symbols.

use crate::quantity::{Atom, AtomKind, ClosedOp, Poly, Terms};
use crate::quantity::{Quantity, union};
use crate::value::{Int, Kind, Val};
use cudalint_numbers::{self as numbers, Integer, Real};
use cudalint_program::ir::BinaryOp;
use cudalint_program::types::Ty;
use rustc_hash::FxHashMap;

/// Products that are kept, at most.
const MAX_PRODUCTS: usize = 16;

/// Makes atoms, the same one for the same operation.
#[derive(Debug, Default)]
pub(crate) struct Atoms {
    next: u32,
    /// How often sizes of types were asked for.
    asked: u32,
    /// Products that the host computes in a signed type of 32 bits: nobody means inputs with which one does not fit, and what it is then is
    /// not defined.
    products: Vec<Poly>,
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

    /// What has been computed in a signed type of 32 bits so far.
    pub fn products(&self) -> &[Poly] {
        &self.products
    }

    fn note_product(&mut self, product: &Quantity, ty: Integer) {
        if let Quantity::Symbolic(poly) = product
            && ty == Integer::new(4, true)
            && poly.terms.iter().any(|(factors, _)| factors.len() > 1)
            && self.products.len() < MAX_PRODUCTS
            && !self.products.contains(poly)
        {
            self.products.push(poly.clone());
        }
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
            // The low bits of a multiple of a power of two.
            (ClosedOp::And, Some(mask @ 1..=0xffff_ffff))
                if (mask + 1).count_ones() == 1 && a.divided_exactly(mask + 1).is_some() =>
            {
                return Quantity::Known(0);
            }
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

/// An integer converted to a type of integers.
pub(crate) fn convert_int(int: &Int, bytes: u8, signed: bool) -> Quantity {
    match &int.q {
        Quantity::Known(value) => Quantity::Known(Integer::new(bytes, signed).wrap(*value)),
        // A symbol keeps its value where it surely fits, and is taken to where both types hold counts.
        Quantity::Symbolic(_) if bytes >= 4 || bytes >= int.bytes => int.q.clone(),
        _ => Quantity::Unknown,
    }
}

/// A value converted to a type.
pub(crate) fn convert(atoms: &mut Atoms, value: &Val, ty: &Ty) -> Val {
    let why = &value.why;
    let kind = match (&value.kind, ty.value()) {
        (Kind::Int(_), Ty::Pointer(_)) if value.known() == Some(0) => Kind::Null,
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
            Quantity::Known(value) => Kind::Float(round(int.ty().number(*value) as f64, *bytes)),
            q @ Quantity::Symbolic(_) => Kind::Ratio(q.clone(), 1),
            Quantity::Unknown => Kind::Unknown,
        },
        (Kind::Float(value), Ty::Int { bytes, signed }) if value.abs() < 9e18 => {
            let whole = Integer::new(*bytes, *signed).wrap(value.trunc() as i64);
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
    numbers::rounded(value, bytes).unwrap_or(value)
}

/// An operation on numbers of which the wider one is a `float`: operands and result are rounded to that, as machines do that compute in it:
/// `100 / 0.1f` is 1000, and not a little less.
pub(crate) fn binary_in_float(atoms: &mut Atoms, op: BinaryOp, a: &Val, b: &Val) -> Val {
    let single = |val: &Val| {
        let kind = match &val.kind {
            Kind::Float(value) => Kind::Float(round(*value, 4)),
            Kind::Int(int) if int.q.known().is_some() => {
                Kind::Float(round(int.ty().number(int.q.known().unwrap_or_default()) as f64, 4))
            }
            other => other.clone(),
        };
        Val { kind, why: val.why.clone() }
    };
    let result = binary(atoms, op, &single(a), &single(b));
    // What a comparison says is no number of the type.
    if op.is_comparison() { result } else { single(&result) }
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
    // Whole numbers are what they are, however they were computed.
    let whole = [x, y].iter().all(|value| value.fract() == 0.0 && value.abs() < 1e9);
    match numbers::real(op, x, y) {
        // What a division by zero gives, and whether two fractions are equal, is nothing to build on.
        _ if matches!(op, BinaryOp::Eq | BinaryOp::Ne) && !whole => Kind::Unknown,
        _ if matches!(op, BinaryOp::Div | BinaryOp::TrueDiv) && y == 0.0 => Kind::Unknown,
        Some(Real::Number(value)) => Kind::Float(value),
        Some(Real::Truth(truth)) => Kind::Int(Int { q: Quantity::Known(i64::from(truth)), bytes: 1, signed: false }),
        None => Kind::Unknown,
    }
}

fn integers(atoms: &mut Atoms, op: BinaryOp, x: &Int, y: &Int) -> Kind {
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let ty @ Integer { bytes, signed } = if shift { x.ty().promoted() } else { x.ty().common(y.ty()) };
    let (a, b) = (convert_int(x, bytes, signed), if shift { y.q.clone() } else { convert_int(y, bytes, signed) });
    if op.is_comparison() {
        let q = match compare(op, &a, &b, ty) {
            Quantity::Unknown => open_comparison(atoms, op, &a, &b),
            q => q,
        };
        return Kind::Int(Int { q, bytes: 1, signed: false });
    }
    let q = match (&a, &b) {
        (Quantity::Known(p), Quantity::Known(q)) => known(op, *p, *q, ty),
        _ => match op {
            BinaryOp::Add => a.plus(&b),
            BinaryOp::Sub => a.minus(&b),
            BinaryOp::Mul => {
                let product = a.times(&b);
                atoms.note_product(&product, ty);
                product
            }
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

fn known(op: BinaryOp, p: i64, q: i64, ty: Integer) -> Quantity {
    let Some(outcome) = numbers::binary(op, ty, p, q) else { return Quantity::Unknown };
    // A size that ran over is meant to be another: nobody computes sizes modulo 2^32.
    let grows = matches!(op, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl);
    if grows && !outcome.exact && ty.number(p) >= 0 && ty.number(q) >= 0 {
        return Quantity::Unknown;
    }
    Quantity::Known(outcome.value)
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

fn compare(op: BinaryOp, a: &Quantity, b: &Quantity, ty: Integer) -> Quantity {
    let ordering = match (a, b) {
        (Quantity::Known(p), Quantity::Known(q)) => ty.number(*p).cmp(&ty.number(*q)),
        _ => match a.constant_difference(b) {
            Some(difference) => difference.cmp(&0),
            None => return Quantity::Unknown,
        },
    };
    op.holds(ordering).map_or(Quantity::Unknown, |truth| Quantity::Known(i64::from(truth)))
}
