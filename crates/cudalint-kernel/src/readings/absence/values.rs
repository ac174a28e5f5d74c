//! Values of which less is known: joined, of some nature, of some type.

use super::state::{Base, Truth, Value};
use super::sums::{Fact, Sum, Symbol};
use super::symbols::{Nature, Op, Symbols, range};
use super::walk::Walker;
use crate::code::Ty;
use std::rc::Rc;

impl Walker<'_> {
    /// One of several values, each with what holds on its way.
    pub fn join_values(&mut self, all: &[Value], paths: &[Vec<Fact>], nature: Nature) -> Value {
        let Some(first) = all.first() else { return self.own() };
        if all.iter().all(|value| value == first) {
            return first.clone();
        }
        let nature = all.iter().fold(nature, |nature, value| nature.and(self.nature(value)));
        match first {
            Value::Number(_) => {
                let sums: Option<Vec<&Sum>> =
                    all.iter().map(|value| if let Value::Number(sum) = value { Some(sum) } else { None }).collect();
                let symbol = self.symbols.add(nature);
                if let Some(sums) = sums {
                    self.bound(symbol, &sums, paths);
                }
                Value::Number(Sum::symbol(symbol))
            }
            Value::Address(base, _) => {
                let same = all.iter().all(|value| matches!(value, Value::Address(other, _) if other == base));
                let symbol = self.symbols.add(nature);
                Value::Address(if same { *base } else { Base::Unknown }, Sum::symbol(symbol))
            }
            Value::Truth(_) => Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature })),
            Value::Parts(parts) => {
                let count = parts.len();
                let leaf = |index: usize| {
                    all.iter()
                        .map(|value| match value {
                            Value::Parts(parts) if parts.len() == count => parts.get(index).cloned(),
                            _ => None,
                        })
                        .collect::<Option<Vec<Value>>>()
                };
                let leaves: Option<Vec<Vec<Value>>> = (0..count).map(leaf).collect();
                match leaves {
                    Some(leaves) => Value::Parts(Rc::new(
                        leaves.iter().map(|values| self.join_values(values, paths, nature)).collect(),
                    )),
                    None => self.fresh(nature),
                }
            }
        }
    }

    /// Bounds that hold of each of several sums: the others, and 0.
    fn bound(&mut self, symbol: Symbol, sums: &[&Sum], paths: &[Vec<Fact>]) {
        if sums.len() > 4 || self.probing > 2 {
            return;
        }
        let own = Sum::symbol(symbol);
        let zero = Sum::default();
        let mut bounds: Vec<&Sum> = vec![&zero];
        bounds.extend(sums);
        for bound in bounds {
            let all = |symbols: &mut Symbols, above: bool| {
                sums.iter().zip(paths).all(|(sum, path)| {
                    let fact = if above { Fact::at_least(sum, bound) } else { Fact::at_least(bound, sum) };
                    symbols.follows(path, fact)
                })
            };
            if all(&mut self.symbols, true) {
                self.symbols.note(symbol, Fact::at_least(&own, bound));
            }
            if all(&mut self.symbols, false) {
                self.symbols.note(symbol, Fact::at_least(bound, &own));
            }
        }
    }

    pub fn nature(&self, value: &Value) -> Nature {
        match value {
            Value::Number(sum) | Value::Address(Base::Object(_) | Base::Parameter(..), sum) => self.symbols.nature(sum),
            Value::Address(_, sum) => self.symbols.nature(sum),
            Value::Truth(truth) => truth.nature,
            Value::Parts(parts) => parts.iter().fold(Nature::COMMON, |all, part| all.and(self.nature(part))),
        }
    }

    /// Anything, of such a nature.
    pub fn fresh(&mut self, nature: Nature) -> Value {
        let nature = nature.and(Nature { own: self.free > 0, uniform: true });
        Value::Number(Sum::symbol(self.symbols.add(nature)))
    }

    /// The same for a thread by itself, where others may have it from another round: only where it leads is kept.
    pub fn apart(&mut self, value: &Value) -> Value {
        match value {
            Value::Number(_) => self.own(),
            Value::Address(base, _) => Value::Address(*base, Sum::symbol(self.symbols.add(Nature::OWN))),
            Value::Truth(_) => Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature: Nature::OWN })),
            Value::Parts(parts) => Value::Parts(Rc::new(parts.iter().map(|part| self.apart(part)).collect())),
        }
    }

    /// Anything, for each thread by itself.
    pub fn own(&mut self) -> Value {
        self.fresh(Nature::OWN)
    }

    /// The result of an operation that depends on its operands alone.
    pub fn pure(&mut self, op: Op, operands: &[Value], ty: &Ty) -> Value {
        let nature = operands.iter().fold(Nature::COMMON, |all, operand| all.and(self.nature(operand)));
        let sums: Option<Vec<Sum>> = operands
            .iter()
            .map(|operand| if let Value::Number(sum) = operand { Some(sum.clone()) } else { None })
            .collect();
        let symbol = match sums {
            Some(sums) => {
                let tag = (ty.bytes().unwrap_or(0), matches!(ty, Ty::Int { signed: true, .. }));
                let (symbol, new) = self.symbols.keyed((op, tag, sums), nature);
                if new {
                    self.symbols.note_range(symbol, ty);
                }
                symbol
            }
            None => {
                let nature = nature.and(Nature { own: self.free > 0, uniform: true });
                let symbol = self.symbols.add(nature);
                self.symbols.note_range(symbol, ty);
                symbol
            }
        };
        match ty {
            Ty::Pointer => Value::Address(Base::Unknown, Sum::symbol(symbol)),
            Ty::Bool => Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature })),
            _ => Value::Number(Sum::symbol(symbol)),
        }
    }

    /// What a type's value is, of which nothing but the type is known.
    pub fn of_type(&mut self, ty: &Ty, nature: Nature) -> Value {
        let nature = nature.and(Nature { own: self.free > 0, uniform: true });
        match ty {
            Ty::Pointer => Value::Address(Base::Unknown, Sum::symbol(self.symbols.add(nature))),
            Ty::Bool => Value::Truth(Rc::new(Truth { yes: Vec::new(), no: Vec::new(), nature })),
            Ty::Aggregate(layout) if !layout.leaves.is_empty() => {
                let leaves = layout.leaves.iter().map(|leaf| self.of_type(&leaf.ty, nature)).collect();
                Value::Parts(Rc::new(leaves))
            }
            _ => {
                let symbol = self.symbols.add(nature);
                self.symbols.note_range(symbol, ty);
                Value::Number(Sum::symbol(symbol))
            }
        }
    }

    /// A sum as the number of a type; of what may leave the range of the type only that it depends on the sum.
    pub fn fitted(&mut self, sum: Option<Sum>, ty: &Ty, exact: bool, path: &[Fact]) -> Value {
        let Some(sum) = sum else { return self.own() };
        if exact || self.fits(&sum, ty, path) {
            return Value::Number(sum);
        }
        self.pure(Op::Wrapped, &[Value::Number(sum)], ty)
    }

    fn fits(&mut self, sum: &Sum, ty: &Ty, path: &[Fact]) -> bool {
        if matches!(ty, Ty::Int { bytes: 8, signed: true }) {
            return true;
        }
        let Some((least, most)) = range(ty) else { return false };
        self.symbols.follows(path, Fact::at_least(sum, &Sum::number(least)))
            && most.is_none_or(|most| self.symbols.follows(path, Fact::at_least(&Sum::number(most), sum)))
    }
}
