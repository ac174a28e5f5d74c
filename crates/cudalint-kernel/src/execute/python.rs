//! Operations that only Python has: `%` with the divisor's sign, indices counted from the end.

use super::lanes::{Mask, SURE};
use super::machine::Machine;
use super::ops;
use super::value::{KNOWN, Val};
use crate::code::{BinaryOp, ExprId, Intrinsic, Ty};
use crate::report::EventKind;
use cudalint_program::ir::Dialect;

/// Salts of the names of what is not known, apart from those of [`Machine::pure`]'s other callers.
const FLOOR_REM: u32 = u32::MAX - 5;
const WRAP: u32 = u32::MAX - 6;

impl Machine<'_> {
    /// The name of a warp operation of CUDA C++ as the kernel's language has it.
    pub(super) fn written(&self, name: &str) -> String {
        match self.code.dialect {
            None => name.to_owned(),
            Some(Dialect::CupyJit) => format!("jit.{}", name.trim_start_matches('_')),
            Some(_) => format!("cuda.{}", name.trim_start_matches('_')),
        }
    }

    /// Python's `a % b` on integers.
    pub(super) fn floor_rem(&mut self, ty: &Ty, a: &Val, b: &Val, id: ExprId) -> Val {
        let rest = ops::binary(BinaryOp::Rem, ty, a, b, &self.act, id);
        if *ty == Ty::SIZE {
            return rest;
        }
        // The rest is moved by the divisor where the signs differ.
        let differ = self.fits_not(&rest, b, ty, id);
        let parting = self.part(&differ);
        if parting.yes.is_empty() {
            return rest;
        }
        let moved = ops::binary(BinaryOp::Add, ty, &rest, b, &self.act, id);
        let mut value = rest.blended(&moved, &parting.yes);
        value.wrapped = None;
        if !parting.unknown.is_empty() {
            let name = self.pure(&[a.clone(), b.clone()], FLOOR_REM, ty);
            value = value.blended(&name, &parting.unknown);
        }
        value
    }

    /// Where a rest is not zero and has another sign than the divisor.
    fn fits_not(&self, rest: &Val, by: &Val, ty: &Ty, id: ExprId) -> Val {
        let zero = Val::constant(0);
        let act = &self.act;
        let a = ops::binary(BinaryOp::Lt, ty, rest, &zero, act, id);
        let b = ops::binary(BinaryOp::Lt, ty, by, &zero, act, id);
        let differ = ops::binary(BinaryOp::Ne, &Ty::INT, &a, &b, act, id);
        let some = ops::binary(BinaryOp::Ne, ty, rest, &zero, act, id);
        ops::binary(BinaryOp::And, &Ty::INT, &differ, &some, act, id)
    }

    /// An index as an offset from the start of its axis; what is negative is reported.
    pub(super) fn wrap_index(&mut self, id: ExprId, what: &Intrinsic, index: &Val, extent: &Val) -> Val {
        let negative = ops::binary(BinaryOp::Lt, &Ty::LONG, index, &Val::constant(0), &self.act, id);
        let parting = self.part(&negative);
        if parting.yes.is_empty() {
            return index.clone();
        }
        if parting.unknown.is_empty() {
            self.negative_index(id, what, index, extent, &parting.yes);
        }
        let sum = ops::binary(BinaryOp::Add, &Ty::LONG, index, extent, &self.act, id);
        let mut value = index.blended(&sum, &parting.yes);
        value.wrapped = None;
        if !parting.unknown.is_empty() {
            let surely = Mask::new(super::lanes::Lanes::from_fn(self.n, |lane| {
                let unknown = parting.unknown.levels()[lane] != super::lanes::OFF;
                if unknown { super::lanes::OFF } else { parting.yes.levels()[lane] }
            }));
            self.negative_index(id, what, index, extent, &surely);
            let name = self.pure(&[index.clone(), extent.clone()], WRAP, &Ty::LONG);
            value = value.blended(&name, &parting.unknown);
        }
        value
    }

    fn negative_index(&mut self, id: ExprId, what: &Intrinsic, index: &Val, extent: &Val, mask: &Mask) {
        let Intrinsic::WrapIndex { array, axis, access, element, from_end: false } = what else { return };
        let mut first = None;
        let mut count = 0;
        for (lane, &level) in mask.levels().iter().enumerate() {
            let (bits, tag) = index.lane(lane);
            if level == SURE && tag == KNOWN && bits < 0 {
                first.get_or_insert((lane, bits));
                count += 1;
            }
        }
        let Some((lane, bits)) = first else { return };
        let kind = EventKind::NegativeIndex {
            site: *element,
            computed: self.code.expr(id).site,
            calls: self.call_sites().to_vec(),
            array: array.to_string(),
            axis: *axis,
            thread: self.thread(lane),
            index: bits,
            extent: match extent.lane(lane) {
                (extent, KNOWN) => Some(extent),
                _ => None,
            },
            access: *access,
        };
        self.event(kind, count);
    }
}
