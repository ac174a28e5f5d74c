//! Stores: assignments, compound assignments, increments.

use super::lifetime::Own;
use super::operators::{assignment_name, binary_name};
use super::state::{At, Lowerer, Out};
use crate::code::{self, BinaryOp, Effect, Expr, Place};
use crate::report::Site;
use cudalint_program::types::Ty;

impl Lowerer<'_> {
    /// `target = value`.
    pub(super) fn assign(&mut self, target: &Out, value: &Out, site: Site) -> Out {
        if matches!(target.ty, Ty::Record(..))
            && let Some(out) = self.user_operator("operator=", &[target.clone(), value.clone()], site)
        {
            return out;
        }
        if value.ty != target.ty
            && let Some(out) = self.atomic_operator(None, target, value, true, site)
        {
            return out;
        }
        if let Ty::Record(entry, _) = target.ty
            && value.ty == target.ty
        {
            if self.parts_have_own(Own::Assignment, &target.ty, entry) {
                let done = self.stored_in_its_own_way(target, value, "assignment of parts");
                return self.computed(done, target.ty.clone(), site);
            }
            let value = self.load(value);
            return self.store(target, value);
        }
        let value = self.convert(value, &target.ty);
        self.store(target, value)
    }

    /// Stores a value that has the place's type.
    pub(super) fn store(&mut self, target: &Out, value: code::ExprId) -> Out {
        let Some(place) = self.place(target) else {
            let At::Value(id) = target.at else { return target.clone() };
            // `++` on what a function returns by value, or a place that is not understood.
            self.gap("assignment to a value");
            return self.unknown(vec![id, value], Effect::Writes, target.ty.clone(), target.site);
        };
        let ty = self.ty(&target.ty);
        let id = self.push_access(Expr::Write(place, value), ty, target.site);
        if let (Ty::Record(..), At::Register { count: 0, .. }) = (&target.ty, target.at) {
            self.body.copies.push(id);
        }
        Out { volatile: target.volatile, ..self.computed(id, target.ty.clone(), target.site) }
    }

    /// `target op= value`.
    pub(super) fn compound(&mut self, op: BinaryOp, target: &Out, value: &Out, site: Site) -> Out {
        if matches!(target.ty, Ty::Record(..) | Ty::Vector { .. }) {
            let both = [target.clone(), value.clone()];
            if let Some(out) = assignment_name(Some(op)).and_then(|name| self.user_operator(name, &both, site)) {
                return out;
            }
            if binary_name(op).is_some() {
                return self.once(target, |this, target| {
                    let result = this.binary(op, target, value, site);
                    this.assign(target, &result, site)
                });
            }
        }
        if let Some(out) = self.atomic_operator(Some(op), target, value, false, site) {
            return out;
        }
        if let Ty::Pointer(of) = &target.ty {
            let of = (**of).clone();
            let Some(bytes) = self.bytes_of(value, &of, site) else { return self.lost_update(target, value) };
            return self.update(target, op, bytes, code::Ty::Pointer, false);
        }
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let value_ty = value.ty.decayed();
        let compute = if shift { target.ty.promoted() } else { target.ty.common(&value_ty) };
        match compute {
            Some(compute) => {
                let value = self.convert(value, &compute);
                let compute = self.ty(&compute);
                self.update(target, op, value, compute, false)
            }
            None if matches!(value.ty, Ty::Record(..)) => match self.scalar_conversion(value) {
                Some(value) => self.compound(op, target, &value, site),
                None => self.lost_update(target, value),
            },
            None => self.lost_update(target, value),
        }
    }

    /// An index in bytes.
    fn bytes_of(&mut self, index: &Out, of: &Ty, site: Site) -> Option<code::ExprId> {
        let size = self.size_of(of)?;
        if !matches!(index.ty.promoted(), Some(Ty::Int { .. })) {
            return None;
        }
        let index = self.convert(index, &Ty::Int { bytes: 8, signed: true });
        if let Some(Expr::Int(value)) = self.kind(index) {
            let value = value.checked_mul(i64::from(size))?;
            return Some(self.int(value, code::Ty::LONG, site));
        }
        if size == 1 {
            return Some(index);
        }
        let size = self.int(i64::from(size), code::Ty::LONG, site);
        Some(self.push(Expr::Binary(BinaryOp::Mul, index, size), code::Ty::LONG, site))
    }

    fn update(&mut self, target: &Out, op: BinaryOp, value: code::ExprId, compute: code::Ty, old: bool) -> Out {
        let Some(place) = self.place(target) else { return self.store(target, value) };
        let ty = self.ty(&target.ty);
        let id = self.push_access(Expr::Update { place, op, value, compute, old }, ty, target.site);
        Out { volatile: target.volatile, ..self.computed(id, target.ty.clone(), target.site) }
    }

    fn lost_update(&mut self, target: &Out, value: &Out) -> Out {
        if target.ty != Ty::Unknown && value.ty != Ty::Unknown {
            self.gap("operator");
        }
        let value = self.load(value);
        if matches!(target.at, At::Value(_)) {
            return self.store(target, value);
        }
        self.once(target, |this, target| {
            let old = this.load(target);
            let ty = this.ty(&target.ty);
            let id = this.push(Expr::Opaque { children: vec![old, value], effect: Effect::None }, ty, target.site);
            this.store(target, id)
        })
    }

    /// Does something with a place that looks at its address more than once: an address that does something itself, or that
    /// is long, is computed once. Else `*p-- += v` would step `p` twice, and a chain of such targets double with each link.
    pub(super) fn once(&mut self, target: &Out, work: impl FnOnce(&mut Self, &Out) -> Out) -> Out {
        let At::Memory { address, element } = target.at else { return work(self, target) };
        if self.is_plain(address) {
            return work(self, target);
        }
        let ty = self.code_ty(address);
        let variable = self.variable("", ty.clone(), target.site);
        let place = || Place::Register { variable, first: 0, count: 0 };
        let first = self.push_access(Expr::Write(place(), address), ty.clone(), target.site);
        let address = self.push_access(Expr::Read(place()), ty, target.site);
        let done = work(self, &Out { at: At::Memory { address, element }, ..target.clone() });
        let at = match done.at {
            At::Value(id) => At::Value(self.behind(first, id)),
            At::Memory { address, element } => At::Memory { address: self.behind(first, address), element },
            register @ At::Register { .. } => register,
        };
        Out { at, ..done }
    }

    /// A value that is computed after something else.
    fn behind(&mut self, first: code::ExprId, value: code::ExprId) -> code::ExprId {
        let Some(node) = self.code.exprs.get(value) else { return value };
        let (ty, site) = (node.ty.clone(), node.site);
        self.push(Expr::Sequence(vec![first, value]), ty, site)
    }

    /// Whether an expression does nothing besides having a value, and is short.
    fn is_plain(&self, id: code::ExprId) -> bool {
        let mut open = vec![id];
        let mut left = 48;
        while let Some(id) = open.pop() {
            left -= 1;
            let Some(kind) = self.kind(id).filter(|_| left > 0) else { return false };
            match kind {
                Expr::Int(_)
                | Expr::Float(_)
                | Expr::Builtin(_)
                | Expr::VariableAddress(_)
                | Expr::ObjectAddress(_)
                | Expr::Read(Place::Register { .. }) => {}
                Expr::Read(Place::Memory { address, .. }) => open.push(*address),
                Expr::Offset { base, index, .. } => open.extend([*base, *index]),
                Expr::Unary(_, one) | Expr::Not(one) | Expr::Convert(one) | Expr::Leaves { of: one, .. } => {
                    open.push(*one);
                }
                Expr::Binary(_, a, b) | Expr::And(a, b) | Expr::Or(a, b) => open.extend([*a, *b]),
                Expr::Select(a, b, c) => open.extend([*a, *b, *c]),
                Expr::Aggregate(parts) => open.extend(parts),
                Expr::Opaque { children, effect: Effect::None | Effect::Pure(_) } => open.extend(children),
                _ => return false,
            }
        }
        true
    }

    /// `++x`, `x--`.
    pub(super) fn step(&mut self, target: &Out, by: i8, prefix: bool, site: Site) -> Out {
        let op = if by < 0 { BinaryOp::Sub } else { BinaryOp::Add };
        let one = self.int(1, code::Ty::INT, site);
        let one = self.computed(one, Ty::INT, site);
        if let Some(out) = self.atomic_operator(Some(op), target, &one, !prefix, site) {
            return out;
        }
        match &target.ty {
            Ty::Record(..) => {
                let name = if by < 0 { "operator--" } else { "operator++" };
                let mut args = vec![target.clone()];
                if !prefix {
                    let zero = self.int(0, code::Ty::INT, site);
                    args.push(self.computed(zero, Ty::INT, site));
                }
                match self.user_operator(name, &args, site) {
                    Some(out) => out,
                    None => self.lost_update(target, &one),
                }
            }
            Ty::Pointer(of) => {
                let Some(size) = self.size_of(of) else { return self.lost_update(target, &one) };
                let bytes = self.int(i64::from(size), code::Ty::LONG, site);
                self.update(target, op, bytes, code::Ty::Pointer, !prefix)
            }
            ty => {
                let Some(compute) = ty.common(&Ty::INT) else { return self.lost_update(target, &one) };
                let compute = self.ty(&compute);
                let one = match compute {
                    code::Ty::Float { .. } => self.push(Expr::Float(1.0), compute.clone(), site),
                    _ => self.int(1, compute.clone(), site),
                };
                self.update(target, op, one, compute, !prefix)
            }
        }
    }
}
