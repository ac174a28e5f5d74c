//! Records: elements with fields, of `np.dtype([("x", np.float32), …])`.
//!
//! Numba hands the record of an array over as its address and reads a field where it is used; a field of a whole array is a
//! view of it, with its strides (`record_getattr`, `array_record_getattr` of `arrayobj.py`). A field that does not lie at
//! a multiple of its size is refused when the kernel is compiled (`sentry_record_alignment`), so that nothing is known of it here.

use super::lower::Lowerer;
use super::specialization::{Field, Order, Record};
use super::types::Fixed;
use super::value::{Array, Reference, Value};
use crate::code::{BinaryOp, Effect, Expr, ExprId, Ty};
use crate::report::Site;
use cudalint_program::Name;
use std::sync::Arc;

impl Lowerer<'_> {
    /// The name of a field that a subscript gives, by itself or by its number.
    pub(super) fn field_named(&self, record: &Record, items: &[Value]) -> Option<Name> {
        match items {
            [Value::Fixed(Fixed::Str(name))] => Some(Name::from(&**name)),
            [Value::Number(id, _)] => {
                let at = usize::try_from(self.fold(*id)?).ok()?;
                record.fields.get(at).map(|field| field.name.clone())
            }
            _ => None,
        }
    }

    /// `r.x` of a record in memory: a number, an array, or a record again.
    pub(super) fn field_of(&mut self, of: &Reference, name: &str, site: Site) -> Value {
        let Some(field) = of.record.field(name).filter(|field| is_aligned(field)).cloned() else {
            return self.lost("field of a record", &[Value::Record(Box::new(of.clone()))], Effect::None, site);
        };
        let address = self.field_address(of.address, &field, site);
        if !field.shape.is_empty() {
            return Value::Array(Box::new(self.array_of_field(&of.name, &field, address, site)));
        }
        match &field.record {
            Some(record) => {
                let inner =
                    Reference { name: Arc::clone(&of.name), address, record: Arc::clone(record), unit: of.unit };
                Value::Record(Box::new(inner))
            }
            None => self.load_part((address, of.unit), &field.element, site),
        }
    }

    /// `a.x`, `a["x"]` of an array of records: the field of each.
    pub(super) fn field_of_array(&mut self, array: &Array, name: &str, site: Site) -> Option<Value> {
        let field = array.record.as_ref()?.field(name).filter(|field| is_aligned(field))?.clone();
        let strided = self.with_strides(array, site);
        let data = self.field_address(strided.data, &field, site);
        let inner = self.array_of_field(&array.name, &field, data, site);
        let inner = self.with_strides(&inner, site);
        let (mut shape, mut strides) = (strided.shape.clone(), strided.strides.clone());
        shape.extend(inner.shape);
        strides.extend(inner.strides);
        let (element, record) = (field.element, field.record);
        // Of an array in a record the elements of the array count.
        let unit = strided.record.as_ref().filter(|_| field.shape.is_empty()).map(|record| record.bytes);
        Some(Value::Array(Box::new(Array {
            element,
            record,
            unit,
            data,
            shape,
            strides,
            order: Order::Strided,
            ..strided
        })))
    }

    /// `r.x = value`; whether that was understood.
    pub(super) fn assign_field(&mut self, of: &Reference, name: &str, value: &Value, site: Site) -> bool {
        let Some(field) = of.record.field(name).filter(|field| is_aligned(field)).cloned() else { return false };
        let address = self.field_address(of.address, &field, site);
        if field.shape.is_empty() {
            self.store_part((address, of.unit), &field.element, value, site);
            return true;
        }
        let array = self.array_of_field(&of.name, &field, address, site);
        let all = Value::Slice(Box::new([None, None, None]));
        self.assign_subscript(&Value::Array(Box::new(array)), None, &[all], value, site);
        true
    }

    /// `r.x op= value`; whether that was understood.
    pub(super) fn update_field(
        &mut self,
        of: &Reference,
        name: &str,
        op: BinaryOp,
        right: &Value,
        at: Site,
        site: Site,
    ) -> bool {
        let field = of.record.field(name).filter(|field| is_aligned(field) && field.shape.is_empty()).cloned();
        let Some(field) = field.filter(|field| field.record.is_none()) else { return false };
        let address = self.field_address(of.address, &field, site);
        self.update_at((address, of.unit), &field.element, op, right, at, site);
        true
    }

    fn field_address(&mut self, base: ExprId, field: &Field, site: Site) -> ExprId {
        if field.offset == 0 {
            return base;
        }
        let index = self.long(i64::from(field.offset), site);
        self.push(Expr::Offset { base, index, stride: 1 }, Ty::Pointer, site)
    }

    fn array_of_field(&mut self, name: &Arc<str>, field: &Field, data: ExprId, site: Site) -> Array {
        let shape = field.shape.iter().map(|extent| self.long(*extent, site)).collect();
        Array {
            name: Arc::clone(name),
            element: field.element.clone(),
            record: field.record.clone(),
            unit: None,
            order: Order::C,
            data,
            shape,
            strides: Vec::new(),
        }
    }
}

const fn is_aligned(field: &Field) -> bool {
    field.align > 0 && field.offset.is_multiple_of(field.align)
}
