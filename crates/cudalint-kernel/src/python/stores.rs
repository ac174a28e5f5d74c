//! Writes: elements, views and fields, and those to who knows where.

use super::lower::Lowerer;
use super::value::{Array, Value};
use crate::code::{Effect, Expr, ExprId, Place, Stmt, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::ir;

impl<'p> Lowerer<'p> {
    /// `a[i].x = value`, `a.x = value`.
    pub(super) fn assign_attribute(
        &mut self,
        target: ir::ExprId,
        base: ir::ExprId,
        name: &Name,
        value: &Value,
        site: Site,
    ) {
        match self.expr(base) {
            Value::Record(of) if self.assign_field(&of, name, value, site) => {}
            Value::Array(array) if array.record.is_some() => match self.field_of_array(&array, name, site) {
                Some(view) => {
                    let all = Value::Slice(Box::new([None, None, None]));
                    self.assign_subscript(&view, Some(&array), &[all], value, site);
                }
                None => self.assign_lost(target, value, site),
            },
            _ => self.assign_lost(target, value, site),
        }
    }

    /// A target that is not understood: a field that nobody knows, mostly.
    pub(super) fn assign_lost(&mut self, target: ir::ExprId, value: &Value, site: Site) {
        let array = self.array_around(target);
        self.lost_store("target of an assignment", array.as_ref(), std::slice::from_ref(value), site);
    }

    /// The array that a target is a part of: `a` of `a[i].x` and of `a[i]["x"]`.
    pub(super) fn array_around(&mut self, target: ir::ExprId) -> Option<Array> {
        let mut at = target;
        for _ in 0..8 {
            match self.node(at).map(|node| &node.kind)? {
                ir::Expr::Index { base, .. } | ir::Expr::Member { base, .. } => at = *base,
                ir::Expr::Local(_) | ir::Expr::Name { .. } => {
                    return match self.expr(at) {
                        Value::Array(array) => Some(*array),
                        _ => None,
                    };
                }
                _ => return None,
            }
        }
        None
    }

    /// A write to who knows where in an array, or anywhere at all.
    pub(super) fn lost_store(&mut self, cause: &'static str, array: Option<&Array>, parts: &[Value], site: Site) {
        self.gap(cause);
        let mut children = Vec::new();
        for part in parts {
            part.leaves(&mut children);
        }
        let address = match array {
            Some(array) => {
                let index = self.push(Expr::Opaque { children, effect: Effect::None }, Ty::LONG, site);
                self.push(Expr::Offset { base: array.data, index, stride: 1 }, Ty::Pointer, site)
            }
            None => self.push(Expr::Opaque { children, effect: Effect::None }, Ty::Pointer, site),
        };
        let byte = Ty::Int { bytes: 1, signed: false };
        let value = self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, byte.clone(), site);
        let write = self.push(Expr::Write(Self::memory(address, &byte), value), byte, site);
        self.emit(Stmt::Expr(write), site);
    }

    /// A place in memory.
    pub(super) fn memory(address: ExprId, element: &Ty) -> Place {
        Self::memory_in(address, element.bytes().unwrap_or(1))
    }

    /// A place in memory that is part of an element of so many bytes.
    pub(super) const fn memory_in(address: ExprId, unit: u32) -> Place {
        Place::Memory { address, element: unit, volatile: false }
    }

    /// `a[i] = v` in loops over views.
    pub(super) fn store(&mut self, address: ExprId, element: &Ty, value: &Value, site: Site) {
        self.store_part((address, element.bytes().unwrap_or(1)), element, value, site);
    }

    /// Writes a part of an element of so many bytes.
    pub(super) fn store_part(&mut self, (address, unit): (ExprId, u32), element: &Ty, value: &Value, site: Site) {
        let stored = match value {
            Value::Number(id, from) if !matches!(element, Ty::Opaque { .. }) => self.convert(*id, from, element),
            // A record is read as a whole.
            Value::Record(of) => {
                let whole = Ty::Opaque { bytes: Some(of.record.bytes) };
                self.push(Expr::Read(Self::memory(of.address, &whole)), element.clone(), site)
            }
            other => {
                let mut children = Vec::new();
                other.leaves(&mut children);
                self.push(Expr::Opaque { children, effect: Effect::None }, element.clone(), site)
            }
        };
        let write = self.push(Expr::Write(Self::memory_in(address, unit), stored), element.clone(), site);
        self.emit(Stmt::Expr(write), site);
    }

    /// `target = value` for an element or a view.
    pub(super) fn assign_element(&mut self, around: ir::ExprId, indices: &'p [ir::ExprId], value: &Value, site: Site) {
        let base = self.expr(around);
        let items: Vec<Value> = indices.iter().map(|index| self.expr(*index)).collect();
        let array = if matches!(base, Value::Array(_)) { None } else { self.array_around(around) };
        self.assign_subscript(&base, array.as_ref(), &items, value, site);
    }

    pub(super) fn update_element(
        &mut self,
        around: ir::ExprId,
        indices: &'p [ir::ExprId],
        op: ir::BinaryOp,
        right: &Value,
        at: Site,
        site: Site,
    ) {
        let base = self.expr(around);
        let items: Vec<Value> = indices.iter().map(|index| self.expr(*index)).collect();
        if let Value::Record(of) = &base
            && let Some(name) = self.field_named(&of.record, &items)
            && self.update_field(of, &name, op, right, at, site)
        {
            return;
        }
        if !matches!(base, Value::Array(_)) {
            let array = self.array_around(around);
            let parts: Vec<Value> = std::iter::once(right.clone()).chain(items).collect();
            return self.lost_store("assignment to part of what is not known", array.as_ref(), &parts, at);
        }
        self.update_subscript(&base, &items, op, right, at, site);
    }
}
