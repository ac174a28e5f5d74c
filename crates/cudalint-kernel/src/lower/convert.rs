//! Conversions: arithmetic ones, to and from records, and the binding of references.

use super::lifetime::Own;
use super::state::{At, Lent, Lowerer, Out};
use crate::code::{self, Effect, Expr, ExprId};
use cudalint_program::types::Ty;
use rustc_hash::FxHashMap;

impl Lowerer<'_> {
    /// The value converted to a type, as an initialization or a cast does it.
    pub(super) fn convert(&mut self, out: &Out, to: &Ty) -> ExprId {
        let to = match to {
            Ty::Reference(target) => {
                let target = (**target).clone();
                return self.bind_reference(out, &target, Lent::Changeable);
            }
            Ty::Array(of, _) => Ty::Pointer(of.clone()),
            to => to.clone(),
        };
        let from = out.ty.decayed();
        if from == to {
            let object = matches!(to, Ty::Record(..)) && !matches!(out.at, At::Value(_));
            return if object && self.has_own(Own::Copy, &to) { self.copied(out) } else { self.load(out) };
        }
        match (&from, &to) {
            (Ty::Record(..), Ty::Record(..)) => self.convert_record(out, &to),
            (Ty::Record(..), _) if to != Ty::Unknown && to != Ty::Auto => self.convert_from_record(out, &to),
            (_, Ty::Record(..)) => match self.convert_by_constructor(out, &to) {
                Some(id) => id,
                None => self.not_converted(out, &to),
            },
            (Ty::Library(..), Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Pointer(_))
                if let Some(value) = self.atomic_value(out) =>
            {
                self.convert(&value, &to)
            }
            (Ty::Library(..), Ty::Pointer(_)) => match self.library_pointer(out) {
                Some(id) => id,
                None => self.not_converted(out, &to),
            },
            _ => {
                let id = self.load(out);
                self.convert_value(id, &to)
            }
        }
    }

    /// A scalar in another scalar type.
    pub(super) fn convert_value(&mut self, id: ExprId, to: &Ty) -> ExprId {
        let target = self.ty(to);
        self.convert_code(id, target)
    }

    /// A scalar in another type.
    pub(super) fn convert_code(&mut self, id: ExprId, target: code::Ty) -> ExprId {
        let Some(node) = self.code.exprs.get(id) else { return id };
        if node.ty == target || matches!(target, code::Ty::Void | code::Ty::Opaque { bytes: None }) {
            return id;
        }
        let site = node.site;
        match (&node.kind, &target) {
            (Expr::Int(value), code::Ty::Int { bytes, signed }) => {
                let value = cudalint_numbers::Integer::new(*bytes, *signed).wrap(*value);
                self.push(Expr::Int(value), target, site)
            }
            (Expr::Int(value), code::Ty::Bool) => {
                let value = i64::from(*value != 0);
                self.push(Expr::Int(value), target, site)
            }
            (Expr::Int(value), code::Ty::Pointer) if *value == 0 => self.push(Expr::Int(0), target, site),
            (Expr::Int(value), code::Ty::Float { .. }) if value.unsigned_abs() < 1 << 24 => {
                let value = *value as f64;
                self.push(Expr::Float(value), target, site)
            }
            (Expr::Float(value), code::Ty::Float { bytes }) => {
                let value = if *bytes == 8 { *value } else { f64::from(*value as f32) };
                self.push(Expr::Float(value), target, site)
            }
            _ => self.push(Expr::Convert(id), target, site),
        }
    }

    /// The value as `bool`.
    pub(super) fn truth(&mut self, out: &Out) -> ExprId {
        self.convert(out, &Ty::Bool)
    }

    fn not_converted(&mut self, out: &Out, to: &Ty) -> ExprId {
        if out.ty != Ty::Unknown {
            self.gap("conversion");
        }
        let id = self.load(out);
        let ty = self.ty(to);
        self.push(Expr::Opaque { children: vec![id], effect: Effect::None }, ty, out.site)
    }

    /// A record as its base, or the same template with arguments that are not known on one side.
    fn convert_record(&mut self, out: &Out, to: &Ty) -> ExprId {
        if let Some(id) = self.convert_by_constructor(out, to) {
            return id;
        }
        if let Some(offset) = self.offset_of_base(&out.ty, to) {
            let part = self.part(out, offset, to, out.site);
            return self.load(&part);
        }
        self.not_converted(out, to)
    }

    /// Where a base, at any depth, begins in a record.
    pub(super) fn offset_of_base(&self, record: &Ty, base: &Ty) -> Option<u32> {
        let mut left = vec![(record.clone(), 0_u32)];
        for _ in 0..32 {
            let (next, at) = left.pop()?;
            if next == *base {
                return Some(at);
            }
            let Ty::Record(entry, env) = &next else { continue };
            let (Some(found), Some(scope)) = (self.project.record_at(*entry), self.scope_in(*entry, env)) else {
                continue;
            };
            for inner in &found.bases {
                let inner = scope.resolve(*inner);
                if let Some(offset) = self.base_offset(&next, &inner) {
                    left.push((inner, at + offset));
                }
            }
        }
        None
    }

    fn convert_from_record(&mut self, out: &Out, to: &Ty) -> ExprId {
        match self.conversion_operator(out, to) {
            Some(value) if value.ty.decayed() == *to => self.load(&value),
            Some(value) => {
                let id = self.load(&value);
                self.convert_value(id, to)
            }
            None => self.not_converted(out, to),
        }
    }

    /// The address that a reference to `target` gets. A copy stands in where the value has another type or is computed. It
    /// does so, too, where a `const T&` is bound to a scalar in a register, which then can stay one: see [`Self::lend`].
    pub(super) fn bind_reference(&mut self, out: &Out, target: &Ty, lent: Lent) -> ExprId {
        let unknown = |ty: &Ty| matches!(ty, Ty::Unknown | Ty::Auto);
        let same = out.ty == *target || unknown(target) || unknown(&out.ty);
        match out.at {
            At::Value(_) => {
                let id = if same { self.load(out) } else { self.convert(out, target) };
                let ty = if same { out.ty.clone() } else { target.clone() };
                self.address(&Out { at: At::Value(id), ty, ..out.clone() })
            }
            At::Register { .. } if super::groups::kind_of(&out.ty).is_some() => {
                let id = self.convert(out, target);
                self.temporary(id, out.site)
            }
            At::Register { variable, .. } if lent != Lent::Changeable && is_scalar(target) => {
                let id = self.convert(out, target);
                let copy = self.temporary(id, out.site);
                if same {
                    self.body.copied.push((copy, variable, out.clone(), lent));
                }
                copy
            }
            _ if same || matches!(target, Ty::Array(..)) => self.address(out),
            _ => {
                if let (Ty::Record(of, _), Ty::Record(to, _)) = (&out.ty, target) {
                    // Of one template, whose arguments are not spelled alike: what may be changed is the object itself.
                    if of == to && lent == Lent::Changeable {
                        return self.address(out);
                    }
                    return match self.offset_of_base(&out.ty, target) {
                        Some(offset) => {
                            let address = self.address(out);
                            self.offset(address, offset, out.site)
                        }
                        None => {
                            let id = self.convert(out, target);
                            self.temporary(id, out.site)
                        }
                    };
                }
                let (from, to) = (self.ty(&out.ty), self.ty(target));
                if from == to {
                    return self.address(out);
                }
                let id = self.convert(out, target);
                self.temporary(id, out.site)
            }
        }
    }

    /// Gives references to variables in registers the variable itself instead of a copy, where the two may come to differ:
    /// the variable is reached in other ways, too, or is changed while the reference is kept.
    pub(super) fn lend(&mut self) {
        let copied = std::mem::take(&mut self.body.copied);
        if copied.is_empty() {
            return;
        }
        let mut stores: FxHashMap<code::VariableId, u32> = FxHashMap::default();
        for id in &self.body.register_uses {
            if let Some(
                Expr::Write(code::Place::Register { variable, .. }, _)
                | Expr::Update { place: code::Place::Register { variable, .. }, .. },
            ) = self.kind(*id)
            {
                *stores.entry(*variable).or_default() += 1;
            }
        }
        // A parameter has its value without a store.
        let parameters = self.body.parameters;
        let changes = |variable: code::VariableId| {
            stores.get(&variable).copied().unwrap_or_default() > u32::from(variable.0 >= parameters)
        };
        for (copy, variable, place, lent) in copied {
            let in_memory = self.body.variables.get(variable).is_some_and(|found| found.in_memory);
            if in_memory || (lent == Lent::Kept && changes(variable)) {
                let address = self.address(&place);
                if let Some(node) = self.code.exprs.get_mut(copy) {
                    node.kind = Expr::Sequence(vec![address]);
                }
            }
        }
    }

    /// The value of a library wrapper as a pointer: what the executor keeps for it is its address.
    fn library_pointer(&mut self, out: &Out) -> Option<ExprId> {
        self.shared_memory_wrapper(out)
    }
}

/// Whether values of a type are single numbers or addresses.
pub(super) const fn is_scalar(ty: &Ty) -> bool {
    matches!(ty, Ty::Bool | Ty::Int { .. } | Ty::Float { .. } | Ty::Enum { .. } | Ty::Pointer(_))
}
