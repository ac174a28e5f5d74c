//! Arithmetic, comparisons and conversions of sums.

use super::state::{Base, State, Truth, Value, has_address, without_bases};
use super::sums::{Fact, Sum};
use super::symbols::{Nature, Op, range};
use super::walk::Walker;
use crate::code::{BinaryOp, Ty};
use std::rc::Rc;

impl Walker<'_> {
    /// Arithmetic and comparisons; `of` is the operands' type.
    pub fn binary(&mut self, op: BinaryOp, [a, b]: [&Value; 2], of: &Ty, ty: &Ty, state: &State) -> Value {
        let nature = self.nature(a).and(self.nature(b));
        let numbers = (range(of).is_some() || is_long(of)).then_some(());
        let (Value::Number(x), Value::Number(y), Some(())) = (a, b, numbers) else {
            return self.binary_of_others(op, [a, b], ty, nature);
        };
        let path = &state.path;
        match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => {
                let sum = match op {
                    BinaryOp::Add => x.plus_times(y, 1),
                    BinaryOp::Sub => x.plus_times(y, -1),
                    _ => x.times(y),
                };
                match sum {
                    Some(_) => self.fitted(sum, ty, is_exact(ty), path),
                    None => self.pure(Op::Other(10, op as u32), &[a.clone(), b.clone()], ty),
                }
            }
            BinaryOp::Lt => compared(Fact::above(y, x), Fact::at_least(x, y), nature),
            BinaryOp::Le => compared(Fact::at_least(y, x), Fact::above(x, y), nature),
            BinaryOp::Gt => compared(Fact::above(x, y), Fact::at_least(y, x), nature),
            BinaryOp::Ge => compared(Fact::at_least(x, y), Fact::above(y, x), nature),
            BinaryOp::Eq | BinaryOp::Ne => {
                let same = Fact::equal(x, y);
                // What is not less and not equal is more.
                let apart = if self.symbols.follows(path, Fact::at_least(x, y)) {
                    Fact::above(x, y)
                } else if self.symbols.follows(path, Fact::at_least(y, x)) {
                    Fact::above(y, x)
                } else {
                    None
                };
                if op == BinaryOp::Eq { compared(same, apart, nature) } else { compared(apart, same, nature) }
            }
            BinaryOp::Div | BinaryOp::Rem => self.divided(op == BinaryOp::Div, x, y, ty, state),
            BinaryOp::Shr if matches!(y.constant(), Some(0..=30)) => {
                let by = Sum::number(1_i64 << y.constant().unwrap_or(0));
                self.divided(true, x, &by, ty, state)
            }
            BinaryOp::Shl if matches!(y.constant(), Some(0..=30)) => {
                self.fitted(x.scaled(1_i64 << y.constant().unwrap_or(0)), ty, false, path)
            }
            BinaryOp::And => self.masked(x, y, ty, state),
            _ => self.pure(Op::Other(4, op as u32), &[a.clone(), b.clone()], ty),
        }
    }

    fn binary_of_others(&mut self, op: BinaryOp, [a, b]: [&Value; 2], ty: &Ty, nature: Nature) -> Value {
        if op.is_comparison() {
            return open(nature);
        }
        match (op, a, b) {
            (BinaryOp::Sub, Value::Address(base, x), Value::Address(other, y))
                if base == other && matches!(base, Base::Object(_) | Base::Parameter(..)) =>
            {
                x.plus_times(y, -1).map_or_else(|| self.fresh(nature), Value::Number)
            }
            _ => {
                let value = self.pure(Op::Other(5, op as u32), &[a.clone(), b.clone()], ty);
                if has_address(a) || has_address(b) { without_bases(&value) } else { value }
            }
        }
    }

    /// `x / y` or `x % y` of numbers that are not negative: `x` is `y` times the quotient and the rest.
    pub fn divided(&mut self, quotient: bool, x: &Sum, y: &Sum, ty: &Ty, state: &State) -> Value {
        if let (Some(x), Some(y @ 1..)) = (x.constant(), y.constant())
            && x >= 0
        {
            return Value::Number(Sum::number(if quotient { x / y } else { x % y }));
        }
        if y.constant() == Some(1) {
            return Value::Number(if quotient { x.clone() } else { Sum::default() });
        }
        let zero = Sum::default();
        let positive = self.symbols.follows(&state.path, Fact::at_least(x, &zero))
            && self.symbols.follows(&state.path, Fact::above(y, &zero));
        let (x_, y_) = (Value::Number(x.clone()), Value::Number(y.clone()));
        if !positive {
            return self.pure(Op::Other(if quotient { 6 } else { 7 }, 0), &[x_, y_], ty);
        }
        let nature = self.symbols.nature(x).and(self.symbols.nature(y));
        let operands = vec![x.clone(), y.clone()];
        let (whole, new) = self.symbols.keyed((Op::Quotient, (0, false), operands.clone()), nature);
        let (rest, _) = self.symbols.keyed((Op::Remainder, (0, false), operands), nature);
        let (q, r) = (Sum::symbol(whole), Sum::symbol(rest));
        if new {
            let all = q.times(y).and_then(|product| product.plus_times(&r, 1));
            let facts = [
                all.and_then(|all| Fact::equal(x, &all)),
                Fact::at_least(&q, &zero),
                Fact::at_least(&r, &zero),
                Fact::above(y, &r),
            ];
            for fact in facts {
                self.symbols.note(whole, fact.clone());
                self.symbols.note(rest, fact);
            }
        }
        Value::Number(if quotient { q } else { r })
    }

    fn masked(&mut self, x: &Sum, y: &Sum, ty: &Ty, state: &State) -> Value {
        let (value, mask) = if y.constant().is_some() { (x, y) } else { (y, x) };
        let most = mask.constant().filter(|mask| (0..=i64::from(i32::MAX)).contains(mask));
        if let Some(most) = most
            && (most + 1).count_ones() == 1
            && self.symbols.follows(&state.path, Fact::at_least(value, &Sum::default()))
        {
            return self.divided(false, value, &Sum::number(most + 1), ty, state);
        }
        let result = self.pure(Op::Other(8, 0), &[Value::Number(x.clone()), Value::Number(y.clone())], ty);
        if let (Value::Number(sum), Some(most)) = (&result, most)
            && let Some(symbol) = sum.as_symbol()
        {
            self.symbols.note(symbol, Fact::at_least(sum, &Sum::default()));
            self.symbols.note(symbol, Fact::at_least(&Sum::number(most), sum));
        }
        result
    }

    /// A value of one type as one of another.
    pub fn converted(&mut self, value: &Value, from: &Ty, to: &Ty, state: &State) -> Value {
        if from == to {
            return value.clone();
        }
        match (value, to) {
            (Value::Truth(_), Ty::Bool) | (Value::Address(..), Ty::Pointer) | (Value::Parts(_), Ty::Aggregate(_)) => {
                value.clone()
            }
            (Value::Number(sum), Ty::Bool) if range(from).is_some() || is_long(from) => {
                let zero = Sum::default();
                let not = if self.symbols.follows(&state.path, Fact::at_least(sum, &zero)) {
                    Fact::above(sum, &zero)
                } else {
                    None
                };
                compared(not, Fact::equal(sum, &zero), self.symbols.nature(sum))
            }
            (_, Ty::Bool) => open(self.nature(value)),
            (Value::Number(sum), Ty::Int { .. }) if range(from).is_some() || is_long(from) => {
                let wider = match (range(from), range(to)) {
                    (Some((least, Some(most))), Some((low, high))) => {
                        low <= least && high.is_none_or(|high| most <= high)
                    }
                    (Some((_, Some(_))), None) => true,
                    _ => false,
                };
                self.fitted(Some(sum.clone()), to, wider, &state.path)
            }
            (Value::Truth(truth), Ty::Int { .. }) => {
                let nature = truth.nature.and(Nature { own: self.free > 0, uniform: true });
                let symbol = self.symbols.add(nature);
                self.symbols.note_range(symbol, &Ty::Bool);
                Value::Number(Sum::symbol(symbol))
            }
            _ => {
                let result = self.pure(Op::Other(9, 0), std::slice::from_ref(value), to);
                if has_address(value) { without_bases(&result) } else { result }
            }
        }
    }
}

fn compared(yes: Option<Fact>, no: Option<Fact>, nature: Nature) -> Value {
    Value::Truth(Rc::new(Truth { yes: yes.into_iter().collect(), no: no.into_iter().collect(), nature }))
}

/// Whether a result of the type is what mathematics says: C++ and Python leave no other for numbers with a sign.
pub(super) const fn is_exact(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { bytes: 4.., signed: true })
}

pub(super) const fn is_long(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { bytes: 8, signed: true })
}

/// The condition that nothing is known of.
fn open(nature: Nature) -> Value {
    Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature }))
}
