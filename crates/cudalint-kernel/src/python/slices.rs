//! Subscripts with slices, `...` and `None` in them: views.

use super::Order;
use super::lower::Lowerer;
use super::types::is_integer;
use super::value::{Array, Range, Value};
use crate::code::{BinaryOp, Expr, ExprId, Intrinsic, Ty};
use crate::report::{AccessKind, Site};

impl Lowerer<'_> {
    /// A subscript with slices, `...` or `None` in it.
    pub(super) fn slices(&mut self, array: &Array, items: &[Value], access: AccessKind, site: Site) -> Option<Array> {
        let rank = array.shape.len();
        let used = items.iter().filter(|item| !matches!(item, Value::Ellipsis | Value::None)).count();
        if used > rank || items.iter().filter(|item| matches!(item, Value::Ellipsis)).count() > 1 {
            return None;
        }
        let full = Value::Slice(Box::new([None, None, None]));
        let mut all: Vec<Value> = Vec::new();
        for item in items {
            match item {
                Value::Ellipsis => all.extend(std::iter::repeat_n(full.clone(), rank - used)),
                other => all.push(other.clone()),
            }
        }
        while all.iter().filter(|item| !matches!(item, Value::None)).count() < rank {
            all.push(full.clone());
        }
        let whole = |item: &Value| matches!(item, Value::Slice(parts) if parts.iter().all(Option::is_none));
        if all.iter().all(whole) {
            return Some(array.clone());
        }
        // Rows from one on lie together, as they did before.
        let contiguous = array.order == Order::C
            && all.iter().skip(1).all(whole)
            && matches!(all.first(), Some(Value::Slice(parts)) if parts[2].is_none());
        let strided = self.with_strides(array, site);
        let mut data = strided.data;
        let (mut shape, mut strides) = (Vec::new(), Vec::new());
        let mut axis = 0;
        for item in &all {
            match item {
                Value::None => {
                    let (one, zero) = (self.long(1, site), self.long(0, site));
                    shape.push(one);
                    strides.push(zero);
                    continue;
                }
                Value::Number(id, ty) if is_integer(ty) => {
                    let index = self.wrapped(&strided, axis, *id, ty, access, site);
                    data = self.stepped(data, index, strided.strides[axis], site);
                }
                Value::Slice(parts) => {
                    let range = self.bounds(parts, strided.shape[axis], site)?;
                    if self.fold(range.start) != Some(0) {
                        data = self.stepped(data, range.start, strided.strides[axis], site);
                    }
                    shape.push(range.stop);
                    let stride = self.folded(BinaryOp::Mul, strided.strides[axis], range.step, site);
                    let stride = self.settle(stride);
                    strides.push(stride);
                }
                _ => return None,
            }
            axis += 1;
        }
        let view = Array { data, shape, strides, order: Order::Strided, ..strided };
        if contiguous {
            return Some(Array { order: Order::C, strides: Vec::new(), ..view });
        }
        Some(view)
    }

    /// A slice of an axis: where it starts, how many elements it has (as `stop`), and its step.
    fn bounds(&mut self, parts: &[Option<Value>; 3], extent: ExprId, site: Site) -> Option<Range> {
        let number = |value: &Option<Value>| match value {
            None => Some(None),
            Some(Value::Number(id, ty)) if is_integer(ty) => Some(Some((*id, ty.clone()))),
            Some(_) => None,
        };
        let (start, stop, step) = (number(&parts[0])?, number(&parts[1])?, number(&parts[2])?);
        let step = match step {
            None => 1,
            Some((id, _)) => self.fold(id).filter(|step| *step != 0)?,
        };
        let zero = self.long(0, site);
        let one = self.long(step, site);
        if step < 0 {
            if start.is_some() || stop.is_some() || step != -1 {
                return None;
            }
            let minus = self.long(1, site);
            let last = self.folded(BinaryOp::Sub, extent, minus, site);
            return Some(Range { start: last, stop: extent, step: one, ty: Ty::LONG, endless: false });
        }
        let start = match start {
            None => zero,
            Some((id, ty)) => self.clamped(id, &ty, extent, site),
        };
        let start = self.settle(start);
        let stop = match stop {
            None => extent,
            Some((id, ty)) => self.clamped(id, &ty, extent, site),
        };
        let length = self.folded(BinaryOp::Sub, stop, start, site);
        let length = match self.fold(length) {
            Some(length) => self.long(length.max(0), site),
            None if self.fold(start) == Some(0) => length,
            None => self.push(Expr::Intrinsic(Intrinsic::Max, vec![length, zero]), Ty::LONG, site),
        };
        let count = if step == 1 {
            length
        } else {
            let (more, by) = (self.long(step - 1, site), self.long(step, site));
            let sum = self.folded(BinaryOp::Add, length, more, site);
            self.folded(BinaryOp::Div, sum, by, site)
        };
        let count = self.settle(count);
        Some(Range { start, stop: count, step: one, ty: Ty::LONG, endless: false })
    }

    /// A bound of a slice, brought into the axis.
    fn clamped(&mut self, id: ExprId, ty: &Ty, extent: ExprId, site: Site) -> ExprId {
        let id = self.convert(id, ty, &Ty::LONG);
        if let (Some(value), Some(extent)) = (self.fold(id), self.fold(extent)) {
            let value = if value < 0 { (value + extent).max(0) } else { value.min(extent) };
            return self.long(value, site);
        }
        if self.is_natural(id) {
            return self.push(Expr::Intrinsic(Intrinsic::Min, vec![id, extent]), Ty::LONG, site);
        }
        let id = self.settle(id);
        let zero = self.long(0, site);
        let negative = self.push(Expr::Binary(BinaryOp::Lt, id, zero), Ty::Bool, site);
        let sum = self.push(Expr::Binary(BinaryOp::Add, id, extent), Ty::LONG, site);
        let from_end = self.push(Expr::Intrinsic(Intrinsic::Max, vec![sum, zero]), Ty::LONG, site);
        let from_start = self.push(Expr::Intrinsic(Intrinsic::Min, vec![id, extent]), Ty::LONG, site);
        let choice = self.push(Expr::Select(negative, from_end, from_start), Ty::LONG, site);
        self.settle(choice)
    }
}
