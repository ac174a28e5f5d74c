//! Functions of the bits of integers.

use super::access::unknown_of;
use super::lanes::Lanes;
use super::machine::Machine;
use super::ops;
use super::value::{Val, mix};
use crate::code::{BinaryOp, Bits, ExprId, Ty};

impl Machine<'_> {
    /// What such a function gives: known where its operands are, else the same for the same operands.
    pub(super) fn bit_function(&mut self, what: Bits, id: ExprId, operands: &[ExprId], values: &[Val]) -> Val {
        let code = self.code;
        let ty = &code.expr(id).ty;
        let first = values.first().cloned().unwrap_or_else(Val::unknown);
        match what {
            Bits::PopCount => self.bits(operands, &first, 61, |x, _| i64::from(x.count_ones())),
            Bits::LeadingZeros => self.bits(operands, &first, 62, |x, size| i64::from(x.leading_zeros()) - (64 - size)),
            Bits::FirstSet => {
                self.bits(operands, &first, 63, |x, _| if x == 0 { 0 } else { i64::from(x.trailing_zeros()) + 1 })
            }
            Bits::ReverseBits => {
                self.bits(operands, &first, 64, |x, size| ty.wrap((x.reverse_bits() >> (64 - size)) as i64))
            }
            Bits::Mul24 => {
                let second = values.get(1).cloned().unwrap_or_else(Val::unknown);
                let signed = matches!(ty, Ty::Int { signed: true, .. });
                let cut = |v: &Val| {
                    ops::unary(v, &self.act, 65, |x| Some(if signed { (x << 40) >> 40 } else { x & 0xff_ffff }))
                };
                let (a, b) = (cut(&first), cut(&second));
                let shape = first.shape.times(second.shape);
                Val { shape, ..ops::binary(BinaryOp::Mul, ty, &a, &b, &self.act, id) }
            }
            Bits::MulHigh => {
                let Ty::Int { bytes, signed } = *ty else { return unknown_of(ty) };
                let shift = u32::from(bytes) * 8;
                self.of_known(what, ty, values, |[x, y]| {
                    if signed {
                        ((i128::from(x) * i128::from(y)) >> shift) as i64
                    } else {
                        ((u128::from(x as u64) * u128::from(y as u64)) >> shift) as i64
                    }
                })
            }
            Bits::FunnelLeft => self.of_known(what, ty, values, |[low, high, by]| {
                let both = (high as u64) << 32 | (low as u64 & 0xffff_ffff);
                ((both << (by & 31)) >> 32) as i64
            }),
            Bits::FunnelRight => self.of_known(what, ty, values, |[low, high, by]| {
                let both = (high as u64) << 32 | (low as u64 & 0xffff_ffff);
                (both >> (by & 31)) as i64
            }),
            Bits::PickBytes => self.of_known(what, ty, values, |[x, y, which]| {
                let both = (y as u64) << 32 | (x as u64 & 0xffff_ffff);
                let byte = |at: u32| ((both >> ((which >> (4 * at) & 7) * 8)) & 0xff) << (8 * at);
                (0..4).map(byte).sum::<u64>() as i64
            }),
            Bits::SumOfDifference => self.of_known(what, ty, values, |[x, y, more]| (x - y).abs() + more),
        }
    }

    /// A function of one operand and of how many bits that has.
    fn bits(&self, operands: &[ExprId], value: &Val, salt: u64, f: impl Fn(u64, i64) -> i64) -> Val {
        let size = operands.first().and_then(|&operand| self.code.expr(operand).ty.bytes()).unwrap_or(4);
        let size = i64::from(size.clamp(1, 8)) * 8;
        let keep = if size == 64 { u64::MAX } else { (1 << size) - 1 };
        ops::unary(value, &self.act, mix(salt, size as u64), |x| Some(f(x as u64 & keep, size)))
    }

    /// A function of several operands, where all of them are known.
    fn of_known<const N: usize>(&mut self, what: Bits, ty: &Ty, values: &[Val], f: impl Fn([i64; N]) -> i64) -> Val {
        let Ok(all) = <&[Val; N]>::try_from(values) else { return unknown_of(ty) };
        if !all.iter().all(Val::all_known) {
            return self.pure(values, u32::MAX - 16 - what as u32, ty);
        }
        if all.iter().all(|value| value.uniform().is_some()) {
            return Val::known(ty.wrap(f(all.each_ref().map(|value| value.uniform().unwrap_or(0)))));
        }
        Val::lanes(Lanes::from_fn(self.n, |lane| ty.wrap(f(all.each_ref().map(|value| value.lane(lane).0)))))
    }
}
