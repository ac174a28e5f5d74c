//! Variables of a function: registers for the parts of their values, or the value itself where it never changes.

use super::Order;
use super::lower::Lowerer;
use super::types::{PyTy, unify};
use super::value::{Array, Value};
use crate::code::{BinaryOp, Effect, Expr, ExprId, Place, Stmt, Ty};
use crate::report::Site;
use cudalint_program::Name;
use cudalint_program::ir::{self, LocalId};
use std::sync::Arc;

impl Lowerer<'_> {
    pub(super) fn local_name(&self, local: LocalId) -> Name {
        let local = self.context.scan.origin(local);
        let found = self.context.function.and_then(|function| function.locals.get(local));
        found.map(|found| found.name.clone()).unwrap_or_default()
    }

    /// What a variable holds.
    pub(super) fn read_local(&mut self, local: LocalId, site: Site) -> Value {
        let slot = self.body.slots.entry(local).or_default();
        slot.read = true;
        if let Some(value) = slot.value.clone() {
            return self.at_site(&value, site);
        }
        if let Some(ty) = slot.ty.clone()
            && let Some(value) = self.registers(local, &ty, site)
        {
            return value;
        }
        if let Some(slot) = self.body.slots.get_mut(&local) {
            slot.missed = true;
        }
        self.unknown(Vec::new(), Effect::None, site)
    }

    /// A number read here; what is more keeps the place where it came to be.
    fn at_site(&mut self, value: &Value, site: Site) -> Value {
        let moved = |this: &mut Self, id: ExprId| match this.code.exprs.get(id).map(|n| n.kind.clone()) {
            Some(kind @ (Expr::Int(_) | Expr::Float(_) | Expr::Read(Place::Register { .. }))) => {
                let ty = this.ty_of(id);
                this.push(kind, ty, site)
            }
            _ => id,
        };
        match value {
            Value::Number(id, ty) => Value::Number(moved(self, *id), ty.clone()),
            Value::Opaque(id) => Value::Opaque(moved(self, *id)),
            other => other.clone(),
        }
    }

    /// Registers for a variable of a type; it holds them from now on.
    fn registers(&mut self, local: LocalId, ty: &PyTy, site: Site) -> Option<Value> {
        let name = self.local_name(local);
        let mut types = Vec::new();
        ty.leaves(&mut types);
        let natural = self.body.slots.get(&local).is_some_and(|slot| !slot.negative);
        // Of what has several parts only extents are known not to be negative.
        let extents = match ty {
            PyTy::Array { rank, .. } => 1..usize::from(*rank) + 1,
            PyTy::Number(_) if natural => 0..1,
            _ => 0..0,
        };
        let mut reads = Vec::new();
        for (at, ty) in types.iter().enumerate() {
            let label = if types.len() == 1 { name.to_string() } else { format!("{name}.{at}") };
            let variable = self.variable(&label, ty.clone(), site);
            if extents.contains(&at) && matches!(ty, Ty::Int { .. }) {
                self.body.natural.insert(variable);
            }
            let read = self.read_register(variable, site);
            reads.push(read);
        }
        let name: Arc<str> = Arc::from(name.as_str());
        let value = Value::from_leaves(ty, &name, &mut reads.into_iter());
        let slot = self.body.slots.entry(local).or_default();
        slot.value.clone_from(&value);
        slot.ty = Some(ty.clone());
        value
    }

    /// `name = value`; `target` is the name's occurrence, where it stands alone.
    pub(super) fn assign_local(&mut self, local: LocalId, target: Option<ir::ExprId>, value: &Value, site: Site) {
        let Some(ty) = value.ty() else {
            // Slices, ranges and methods are no values that two assignments could share.
            let slot = self.body.slots.entry(local).or_default();
            slot.value = Some(value.clone());
            return;
        };
        let uses = self.context.scan.get(local);
        let slot = self.body.slots.entry(local).or_default();
        let unified = match &slot.ty {
            None => ty,
            Some(before) => unify(self.dialect, before, &ty),
        };
        let changed = slot.ty.as_ref().is_some_and(|before| *before != unified);
        let missed = slot.missed;
        slot.ty = Some(unified.clone());
        if changed {
            slot.value = None;
        }
        if changed || missed {
            self.body.stale = true;
        }
        let mut leaves = Vec::new();
        let converted = self.coerce(value, &unified, site);
        converted.leaves(&mut leaves);
        self.note_sign(local, &leaves);
        if uses.definitions <= 1 {
            return self.bind(local, &unified, &leaves, &uses, target, site);
        }
        if matches!(unified, PyTy::None | PyTy::Fixed(_)) {
            self.body.slots.entry(local).or_default().value = Some(converted);
            return;
        }
        let held = match self.body.slots.get(&local).and_then(|slot| slot.value.clone()) {
            Some(value) => value,
            None => match self.registers(local, &unified, site) {
                Some(value) => value,
                None => return,
            },
        };
        let begins = target.is_some_and(|target| uses.begins_at(target));
        let mut registers = Vec::new();
        held.leaves(&mut registers);
        for (register, leaf) in registers.into_iter().zip(leaves) {
            let Some(Expr::Read(Place::Register { variable, .. })) =
                self.code.exprs.get(register).map(|node| node.kind.clone())
            else {
                continue;
            };
            if begins {
                self.emit(Stmt::Declare(variable), site);
            }
            let write = self.write_register(variable, leaf, site);
            self.emit(Stmt::Expr(write), site);
        }
    }

    /// A variable with one assignment: its constant parts stay what they are, the others go into registers.
    fn bind(
        &mut self,
        local: LocalId,
        ty: &PyTy,
        leaves: &[ExprId],
        uses: &super::scan::Uses,
        target: Option<ir::ExprId>,
        site: Site,
    ) {
        let name = self.local_name(local);
        let begins = target.is_some_and(|target| uses.begins_at(target));
        let single = leaves.len() == 1;
        let mut parts = Vec::new();
        for (at, leaf) in leaves.iter().enumerate() {
            if self.is_constant(*leaf) {
                parts.push(*leaf);
                continue;
            }
            let label = if single { name.to_string() } else { format!("{name}.{at}") };
            let variable = self.variable(&label, self.ty_of(*leaf), site);
            if self.is_natural(*leaf) {
                self.body.natural.insert(variable);
            }
            if !uses.in_loop {
                self.body.constant.insert(variable);
            }
            if begins {
                self.emit(Stmt::Declare(variable), site);
            }
            let write = self.write_register(variable, *leaf, site);
            self.emit(Stmt::Expr(write), site);
            let read = self.read_register(variable, site);
            parts.push(read);
        }
        let name: Arc<str> = Arc::from(name.as_str());
        let value = Value::from_leaves(ty, &name, &mut parts.into_iter());
        self.body.slots.entry(local).or_default().value = value;
    }

    /// A variable that is given something perhaps negative may be negative.
    fn note_sign(&mut self, local: LocalId, leaves: &[ExprId]) {
        let [leaf] = leaves else { return };
        let natural = self.is_natural(*leaf);
        let slot = self.body.slots.entry(local).or_default();
        if !natural && !slot.negative {
            slot.negative = true;
            // Its register has been taken for one without negative numbers.
            if slot.read || slot.value.is_some() {
                self.body.stale = true;
            }
        }
    }

    /// `name op= number` on a register; `false` where it takes more than that.
    pub(super) fn update_local(
        &mut self,
        local: LocalId,
        op: BinaryOp,
        value: ExprId,
        compute: &Ty,
        site: Site,
    ) -> bool {
        let Some(Value::Number(register, ty)) = self.body.slots.get(&local).and_then(|slot| slot.value.clone()) else {
            return false;
        };
        let Some(Expr::Read(Place::Register { variable, .. })) =
            self.code.exprs.get(register).map(|node| node.kind.clone())
        else {
            return false;
        };
        if self.body.constant.contains(&variable) || ty != *compute {
            return false;
        }
        let place = Place::Register { variable, first: 0, count: 0 };
        // Rounding down and cutting off are the same where nothing is negative.
        let op = match op {
            BinaryOp::FloorDiv if self.body.natural.contains(&variable) => BinaryOp::Div,
            op => op,
        };
        let keeps = match op {
            BinaryOp::Shr | BinaryOp::Shl => true,
            BinaryOp::Add | BinaryOp::Mul | BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::And | BinaryOp::Or => {
                self.is_natural(value)
            }
            _ => false,
        };
        let update = self.push(Expr::Update { place, op, value, compute: compute.clone(), old: false }, ty, site);
        self.emit(Stmt::Expr(update), site);
        let slot = self.body.slots.entry(local).or_default();
        if !keeps && !slot.negative {
            slot.negative = true;
            self.body.stale = true;
        }
        true
    }

    /// A value as a variable of another type holds it.
    pub(super) fn coerce(&mut self, value: &Value, to: &PyTy, site: Site) -> Value {
        match (value, to) {
            (Value::Number(id, from), PyTy::Number(ty)) => Value::Number(self.convert(*id, from, ty), ty.clone()),
            (Value::Number(..), PyTy::Fixed(fixed)) => Value::Fixed(fixed.clone()),
            (Value::Tuple(all), PyTy::Tuple(types)) if all.len() == types.len() => {
                Value::Tuple(all.iter().zip(types).map(|(one, ty)| self.coerce(one, ty, site)).collect())
            }
            (Value::Array(array), PyTy::Array { order: Order::Strided, .. }) if array.order != Order::Strided => {
                let array = self.with_strides(array, site);
                Value::Array(Box::new(array))
            }
            (_, PyTy::Opaque) if !matches!(value, Value::Opaque(_)) => {
                let mut children = Vec::new();
                value.leaves(&mut children);
                self.unknown(children, Effect::None, site)
            }
            _ => value.clone(),
        }
    }

    /// A number as one of another type.
    pub(super) fn convert(&mut self, id: ExprId, from: &Ty, to: &Ty) -> ExprId {
        if from == to {
            return id;
        }
        let site = self.site_of_code(id);
        match (self.code.exprs.get(id).map(|node| node.kind.clone()), to) {
            (Some(Expr::Int(value)), Ty::Int { .. } | Ty::Bool) => {
                self.push(Expr::Int(to.wrap(value)), to.clone(), site)
            }
            (Some(Expr::Int(value)), Ty::Float { bytes: 4 | 8 }) => {
                self.push(Expr::Float(value as f64), to.clone(), site)
            }
            (Some(Expr::Builtin(builtin)), Ty::Int { bytes: 4 | 8, .. }) => {
                self.push(Expr::Builtin(builtin), to.clone(), site)
            }
            _ => self.push(Expr::Convert(id), to.clone(), site),
        }
    }

    /// The same array with its strides written out.
    pub(super) fn with_strides(&mut self, array: &Array, site: Site) -> Array {
        if array.order == Order::Strided {
            return array.clone();
        }
        let mut array = array.clone();
        for part in &mut array.shape {
            *part = self.settle(*part);
        }
        array.strides = self.strides(&array, site);
        array.order = Order::Strided;
        array
    }

    /// Bytes from one element to the next along each axis.
    pub(super) fn strides(&mut self, array: &Array, site: Site) -> Vec<ExprId> {
        if array.order == Order::Strided {
            return array.strides.clone();
        }
        let rank = array.shape.len();
        let mut strides = vec![ExprId(0); rank];
        let Some(bytes) = array.element.bytes() else {
            return (0..rank)
                .map(|_| self.push(Expr::Opaque { children: Vec::new(), effect: Effect::None }, Ty::LONG, site))
                .collect();
        };
        let mut step = self.push(Expr::Int(i64::from(bytes)), Ty::LONG, site);
        let axes: Vec<usize> = if array.order == Order::C { (0..rank).rev().collect() } else { (0..rank).collect() };
        for axis in axes {
            strides[axis] = step;
            let product = self.folded(BinaryOp::Mul, step, array.shape[axis], site);
            step = self.settle(product);
        }
        strides
    }

    /// `a op b` on `int64`, as a number where it is one.
    pub(super) fn folded(&mut self, op: BinaryOp, a: ExprId, b: ExprId, site: Site) -> ExprId {
        match (op, self.fold(a), self.fold(b)) {
            (_, Some(x), Some(y)) => {
                if let Some(value) = cudalint_numbers::python(op, x, y) {
                    return self.push(Expr::Int(value), Ty::LONG, site);
                }
            }
            (BinaryOp::Add | BinaryOp::Sub, _, Some(0)) | (BinaryOp::Mul, _, Some(1)) => return a,
            (BinaryOp::Add, Some(0), _) | (BinaryOp::Mul, Some(1), _) => return b,
            _ => {}
        }
        let (from_a, from_b) = (self.ty_of(a), self.ty_of(b));
        let a = self.convert(a, &from_a, &Ty::LONG);
        let b = self.convert(b, &from_b, &Ty::LONG);
        self.push(Expr::Binary(op, a, b), Ty::LONG, site)
    }
}
