//! Operations that have a meaning: barriers, atomics, copies, numbers of threads in groups.

use super::state::{Base, Kind, State, Touch, Value};
use super::state::{Refusal, with_base};
use super::sums::{Fact, Sum};
use super::symbols::{Nature, Op, range};
use super::walk::{Walked, Walker};
use crate::code::{ExprId, Group, Intrinsic, Ty};
use crate::report::Site;

impl Walker<'_> {
    pub(super) fn intrinsic(
        &mut self,
        what: &Intrinsic,
        operands: &[ExprId],
        id: ExprId,
        state: &mut State,
    ) -> Walked<Value> {
        let node = self.code.expr(id);
        let (site, ty) = (node.site, &node.ty);
        let mut values = Vec::new();
        for operand in operands {
            values.push(self.eval(*operand, state)?);
        }
        if state.dead {
            return Ok(self.own());
        }
        let bytes_of =
            |walker: &Self, index: usize| operands.get(index).and_then(|operand| walker.code.expr(*operand).ty.bytes());
        match what {
            Intrinsic::BlockBarrier | Intrinsic::GridBarrier => {
                self.barrier(site, state)?;
                return Ok(self.own());
            }
            Intrinsic::BlockVote(_) => {
                self.barrier(site, state)?;
                return Ok(self.of_type(ty, Nature::COMMON));
            }
            Intrinsic::Atomic { bytes, .. } => {
                let size = Some(u32::from(*bytes));
                self.touch_operand(
                    &values,
                    0,
                    Touch { kind: Kind::Atomic, size, element: u32::from(*bytes) },
                    site,
                    state,
                )?;
                values.iter().skip(1).for_each(|value| self.store(value, site));
            }
            Intrinsic::LoadCached => {
                let size = ty.bytes();
                self.touch_operand(
                    &values,
                    0,
                    Touch { kind: Kind::Read, size, element: size.unwrap_or(0) },
                    site,
                    state,
                )?;
                return Ok(with_base(&self.of_type(ty, Nature::OWN), Base::Loaded));
            }
            Intrinsic::StoreCached => {
                let size = bytes_of(self, 1);
                values.iter().skip(1).for_each(|value| self.store(value, site));
                self.touch_operand(
                    &values,
                    0,
                    Touch { kind: Kind::Write, size, element: size.unwrap_or(0) },
                    site,
                    state,
                )?;
            }
            Intrinsic::AsyncCopy | Intrinsic::GroupAsyncCopy => {
                self.doubt_all(&values, "an asynchronous copy", site)?;
            }
            Intrinsic::Copy | Intrinsic::Set | Intrinsic::TileLoad | Intrinsic::TileStore => {
                self.doubt_all(&values, "an operation on many elements", site)?;
            }
            Intrinsic::BlockPrimitive | Intrinsic::WarpPrimitive => {
                self.doubt_all(&values, "an operation of a library", site)?;
            }
            Intrinsic::Min | Intrinsic::Max => return Ok(self.extreme(*what == Intrinsic::Min, &values, ty)),
            Intrinsic::Bits(which) => return Ok(self.pure(Op::Other(20, *which as u32), &values, ty)),
            Intrinsic::FloatMath(which) => return Ok(self.pure(Op::Other(21, *which as u32), &values, ty)),
            Intrinsic::Abs => return Ok(self.pure(Op::Other(22, 0), &values, ty)),
            Intrinsic::Exit => {
                let open = std::mem::take(&mut state.open);
                self.close(&open);
                state.dead = true;
            }
            Intrinsic::GroupRank(group) => return Ok(self.rank(*group, ty, state)),
            Intrinsic::GroupSize(group) => return Ok(self.size(*group, ty, state)),
            Intrinsic::DynamicSharedBytes => return Ok(self.pure(Op::Other(23, 0), &[], ty)),
            Intrinsic::FloorRem => {
                if let [Value::Number(a), Value::Number(b)] = values.as_slice()
                    && self.symbols.follows(&state.path, Fact::at_least(a, &Sum::default()))
                {
                    return Ok(self.divided(false, a, b, ty, state));
                }
                return Ok(self.pure(Op::Other(24, 0), &values, ty));
            }
            Intrinsic::WrapIndex { .. } => {
                if let Some(Value::Number(index)) = values.first()
                    && self.symbols.follows(&state.path, Fact::at_least(index, &Sum::default()))
                {
                    return Ok(Value::Number(index.clone()));
                }
                return Ok(self.pure(Op::Other(25, 0), &values, ty));
            }
            _ => {}
        }
        Ok(self.of_type(ty, Nature::OWN))
    }

    fn touch_operand(
        &mut self,
        values: &[Value],
        index: usize,
        how: Touch,
        site: Site,
        state: &mut State,
    ) -> Walked<()> {
        match values.get(index) {
            Some(address) => self.touch(address, how, site, state),
            None => Err(Refusal { cause: "an address that is not followed", site }),
        }
    }

    /// Nothing is said of what the operands point to.
    fn doubt_all(&mut self, values: &[Value], cause: &'static str, site: Site) -> Walked<()> {
        for value in values {
            match value {
                Value::Address(Base::Unknown, _) => {
                    return Err(Refusal { cause: "a pointer of which nobody knows where it leads", site });
                }
                Value::Address(base, _) => self.doubt(*base, cause, site),
                Value::Parts(parts) => self.doubt_all(parts, cause, site)?,
                Value::Number(_) | Value::Truth(_) => {}
            }
        }
        Ok(())
    }

    fn extreme(&mut self, least: bool, values: &[Value], ty: &Ty) -> Value {
        let op = if least { Op::Least } else { Op::Greatest };
        let result = self.pure(op, values, ty);
        let integer = range(ty).is_some() || matches!(ty, Ty::Int { .. });
        if let (Value::Number(sum), [Value::Number(a), Value::Number(b)], true) = (&result, values, integer)
            && let Some(symbol) = sum.as_symbol()
        {
            for one in [a, b] {
                let fact = if least { Fact::at_least(one, sum) } else { Fact::at_least(sum, one) };
                self.symbols.note(symbol, fact);
            }
            // What both are above, the lesser of them is, too.
            let zero = Sum::default();
            let above = |walker: &mut Self, it: &Sum| walker.symbols.follows(&[], Fact::at_least(it, &zero));
            if least && above(self, a) && above(self, b) {
                self.symbols.note(symbol, Fact::at_least(sum, &zero));
            }
        }
        result
    }

    /// A thread's number in its block.
    fn rank_in_block(&self) -> Option<Sum> {
        let [x, y, z] = &self.threads;
        let [width, height, _] = &self.extents;
        let rows = y.plus_times(&z.times(height)?, 1)?;
        x.plus_times(&rows.times(width)?, 1)
    }

    fn rank(&mut self, group: Group, ty: &Ty, state: &State) -> Value {
        let Some(rank) = self.rank_in_block() else { return self.own() };
        match group {
            Group::Block => self.fitted(Some(rank), ty, false, &state.path),
            Group::Tile(lanes) => self.divided(false, &rank, &Sum::number(i64::from(lanes)), ty, state),
            Group::Thread => Value::Number(Sum::default()),
            Group::Grid | Group::Coalesced => self.of_type(ty, Nature::OWN),
        }
    }

    fn size(&mut self, group: Group, ty: &Ty, state: &State) -> Value {
        match group {
            Group::Block => {
                let [x, y, z] = &self.extents;
                let all = x.times(y).and_then(|xy| xy.times(z));
                self.fitted(all, ty, false, &state.path)
            }
            Group::Tile(lanes) => Value::Number(Sum::number(i64::from(lanes))),
            Group::Thread => Value::Number(Sum::number(1)),
            Group::Grid => self.pure(Op::Other(26, 0), &[], ty),
            Group::Coalesced => self.of_type(ty, Nature::OWN),
        }
    }
}
