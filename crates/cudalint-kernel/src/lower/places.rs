//! Places: reading, taking addresses, members and elements.

use super::lifetime::Own;
use super::state::{At, Lowerer, Out};
use crate::code::{self, Effect, Expr, ExprId, Place};
use crate::report::Site;
use cudalint_numbers::Quantity;
use cudalint_program::Name;
use cudalint_program::types::Ty;
use std::sync::Arc;

impl Lowerer<'_> {
    /// An integer.
    pub(super) fn int(&mut self, value: i64, ty: code::Ty, site: Site) -> ExprId {
        self.push(Expr::Int(value), ty, site)
    }

    /// A computed value.
    #[allow(clippy::unused_self)] // Reads like the other makers of outs.
    pub(super) fn computed(&self, id: ExprId, ty: Ty, site: Site) -> Out {
        Out { at: At::Value(id), ty, volatile: false, site }
    }

    /// A value that is not known.
    pub(super) fn unknown(&mut self, children: Vec<ExprId>, effect: Effect, ty: Ty, site: Site) -> Out {
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Opaque { children, effect }, code_ty, site);
        self.computed(id, ty, site)
    }

    pub(super) fn opaque_pointer(&mut self, children: Vec<ExprId>, site: Site) -> ExprId {
        self.push(Expr::Opaque { children, effect: Effect::None }, code::Ty::Pointer, site)
    }

    /// `address` moved by some bytes.
    pub(super) fn offset(&mut self, address: ExprId, bytes: u32, site: Site) -> ExprId {
        if bytes == 0 {
            return address;
        }
        if let Some(Expr::Offset { base, index, stride: 1 }) = self.kind(address).cloned()
            && let Some(Expr::Int(before)) = self.kind(index)
        {
            let index = self.int(before + i64::from(bytes), code::Ty::LONG, site);
            return self.push(Expr::Offset { base, index, stride: 1 }, code::Ty::Pointer, site);
        }
        let index = self.int(i64::from(bytes), code::Ty::LONG, site);
        self.push(Expr::Offset { base: address, index, stride: 1 }, code::Ty::Pointer, site)
    }

    #[allow(clippy::unused_self)]
    /// The place of an out for reading and storing; `None` for a computed value.
    pub(super) fn place(&self, out: &Out) -> Option<Place> {
        match out.at {
            At::Value(_) => None,
            At::Register { variable, first, count } => Some(Place::Register { variable, first, count }),
            At::Memory { address, element } => Some(Place::Memory { address, element, volatile: out.volatile }),
        }
    }

    /// Notes an expression whose place may be a register.
    pub(super) fn push_access(&mut self, kind: Expr, ty: code::Ty, site: Site) -> ExprId {
        let register = matches!(
            &kind,
            Expr::Read(Place::Register { .. })
                | Expr::Write(Place::Register { .. }, _)
                | Expr::Update { place: Place::Register { .. }, .. }
        );
        let id = self.push(kind, ty, site);
        if register {
            self.body.register_uses.push(id);
        }
        id
    }

    /// The value; of an array the address of its first element.
    pub(super) fn load(&mut self, out: &Out) -> ExprId {
        match (&out.ty, out.at) {
            (Ty::Array(..), At::Register { .. } | At::Memory { .. }) => self.address(out),
            (_, At::Value(id)) => id,
            _ => {
                let ty = self.ty(&out.ty);
                match self.place(out) {
                    Some(place) => self.push_access(Expr::Read(place), ty, out.site),
                    None => self.opaque_pointer(Vec::new(), out.site),
                }
            }
        }
    }

    /// The value as an out of its decayed type.
    pub(super) fn loaded(&mut self, out: &Out) -> Out {
        let id = self.load(out);
        Out { at: At::Value(id), ty: out.ty.decayed(), volatile: out.volatile, site: out.site }
    }

    /// What has to be evaluated where the value is not used; `None` for nothing.
    pub(super) fn effect_of(&mut self, out: &Out) -> Option<ExprId> {
        let id = match out.at {
            At::Value(id) | At::Memory { address: id, .. } => id,
            At::Register { .. } => return None,
        };
        match self.kind(id) {
            Some(Expr::Int(_) | Expr::Float(_) | Expr::VariableAddress(_) | Expr::ObjectAddress(_)) => None,
            Some(Expr::Opaque { children, effect: Effect::None }) if children.is_empty() => None,
            _ => Some(id),
        }
    }

    /// As [`Lowerer::effect_of`], for a statement's value, which nobody uses: compilers leave out what is only read and computed for it.
    pub(super) fn effect_of_statement(&mut self, out: &Out) -> Option<ExprId> {
        self.effect_of(out).filter(|id| !self.only_computes(*id))
    }

    /// Whether an expression does nothing but read and compute; one of many parts is taken for more.
    fn only_computes(&self, id: ExprId) -> bool {
        let mut open = vec![id];
        let mut left = 64;
        while let Some(id) = open.pop() {
            left -= 1;
            if left == 0 {
                return false;
            }
            match self.kind(id) {
                Some(
                    Expr::Int(_)
                    | Expr::Float(_)
                    | Expr::Builtin(_)
                    | Expr::VariableAddress(_)
                    | Expr::ObjectAddress(_)
                    | Expr::Read(Place::Register { .. }),
                ) => {}
                Some(Expr::Read(Place::Memory { address, volatile: false, .. })) => open.push(*address),
                Some(Expr::Offset { base, index, .. }) => open.extend([*base, *index]),
                Some(Expr::Unary(_, value) | Expr::Not(value) | Expr::Convert(value)) => open.push(*value),
                Some(Expr::Binary(_, a, b)) => open.extend([*a, *b]),
                _ => return false,
            }
        }
        true
    }

    /// As [`Lowerer::effect_of`], with something in any case.
    pub(super) fn discard(&mut self, out: &Out) -> ExprId {
        match self.effect_of(out) {
            Some(id) => id,
            None => self.int(0, code::Ty::INT, out.site),
        }
    }

    /// The address of a place; a value is put into a temporary variable first.
    pub(super) fn address(&mut self, out: &Out) -> ExprId {
        match out.at {
            At::Memory { address, .. } => address,
            At::Register { variable, first, .. } => {
                let mut offset = 0;
                if let Some(found) = self.body.variables.get_mut(variable) {
                    found.in_memory = true;
                    if let code::Ty::Aggregate(layout) = &found.ty {
                        offset = layout.leaves.get(usize::from(first)).map_or(0, |leaf| leaf.offset);
                    }
                }
                let address = self.push(Expr::VariableAddress(variable), code::Ty::Pointer, out.site);
                self.offset(address, offset, out.site)
            }
            At::Value(id) => {
                let address = self.temporary(id, out.site);
                if self.has_own(Own::Destructor, &out.ty)
                    && let Some(Expr::Sequence(parts)) = self.kind(address)
                {
                    let variable = parts.last().copied();
                    self.body.temporaries.extend(variable);
                }
                address
            }
        }
    }

    /// Puts a value into a variable of its own and gives that variable's address.
    pub(super) fn temporary(&mut self, value: ExprId, site: Site) -> ExprId {
        let ty = self.code_ty(value);
        let element = ty.bytes().unwrap_or(0);
        let variable = self.variable("", ty.clone(), site);
        if let Some(found) = self.body.variables.get_mut(variable) {
            found.in_memory = true;
        }
        let address = self.push(Expr::VariableAddress(variable), code::Ty::Pointer, site);
        let place = Place::Memory { address, element, volatile: false };
        let write = self.push(Expr::Write(place, value), ty, site);
        let again = self.push(Expr::VariableAddress(variable), code::Ty::Pointer, site);
        self.push(Expr::Sequence(vec![write, again]), code::Ty::Pointer, site)
    }

    /// `base.name`, the base already dereferenced.
    pub(super) fn member(&mut self, base: &Out, name: &Name, site: Site) -> Out {
        let Some(field) = self.field(&base.ty, name) else {
            return self.no_member(base, name, site);
        };
        let reference = matches!(field.ty, Ty::Reference(_));
        let part = self.part(base, field.offset, &field.ty, site);
        if !reference {
            return part;
        }
        let target = field.ty.value().clone();
        let holder = Out { ty: Ty::pointer_to(target.clone()), ..part };
        let address = self.load(&holder);
        self.pointed(address, target, holder.volatile, site)
    }

    fn no_member(&mut self, base: &Out, name: &Name, site: Site) -> Out {
        if let Some(found) = self.static_member(&base.ty, name, site) {
            return found;
        }
        if base.ty != Ty::Unknown {
            self.gap("member out of sight");
        }
        match base.at {
            // Still a place in memory, whose address is not known.
            At::Memory { address, .. } => {
                let address = self.opaque_pointer(vec![address], site);
                Out { at: At::Memory { address, element: 0 }, ty: Ty::Unknown, volatile: false, site }
            }
            At::Value(id) => self.unknown(vec![id], Effect::None, Ty::Unknown, site),
            At::Register { .. } => {
                let address = self.address(base);
                let address = self.opaque_pointer(vec![address], site);
                Out { at: At::Memory { address, element: 0 }, ty: Ty::Unknown, volatile: false, site }
            }
        }
    }

    /// The part of an aggregate at an offset.
    pub(super) fn part(&mut self, base: &Out, offset: u32, ty: &Ty, site: Site) -> Out {
        let volatile = base.volatile;
        let stored = match ty {
            Ty::Reference(to) => Ty::Pointer(Arc::clone(to)),
            ty => ty.clone(),
        };
        let made = |at| Out { at, ty: stored.clone(), volatile, site };
        match base.at {
            At::Memory { address, element } => {
                let address = self.offset(address, offset, site);
                made(At::Memory { address, element })
            }
            At::Register { variable, first, .. } => match self.leaf_range(&base.ty, offset, ty) {
                Some((at, count)) => made(At::Register { variable, first: first + at, count }),
                None => {
                    let address = self.address(base);
                    let address = self.offset(address, offset, site);
                    let element = self.size_of(&stored).unwrap_or(0);
                    made(At::Memory { address, element })
                }
            },
            At::Value(id) => match self.leaf_range(&base.ty, offset, ty) {
                Some((at, 1)) if !matches!(stored, Ty::Array(..) | Ty::Record(..) | Ty::Vector { .. }) => {
                    if let Some(Expr::Aggregate(parts)) = self.kind(id)
                        && let Some(part) = parts.get(usize::from(at)).copied()
                        && parts.iter().all(|part| {
                            self.code.exprs.get(*part).is_some_and(|node| {
                                matches!(node.kind, Expr::Builtin(_) | Expr::Int(_) | Expr::Float(_))
                            })
                        })
                    {
                        return made(At::Value(part));
                    }
                    let code_ty = self.ty(&stored);
                    let id = self.push(Expr::Leaves { of: id, first: at, count: 1 }, code_ty, site);
                    made(At::Value(id))
                }
                Some((at, count)) if !matches!(stored, Ty::Array(..)) => {
                    let code_ty = self.ty(&stored);
                    let id = self.push(Expr::Leaves { of: id, first: at, count }, code_ty, site);
                    made(At::Value(id))
                }
                _ => {
                    let address = self.temporary(id, site);
                    let address = self.offset(address, offset, site);
                    let element = self.size_of(&stored).unwrap_or(0);
                    made(At::Memory { address, element })
                }
            },
        }
    }

    /// What a pointer points to.
    pub(super) fn pointed(&mut self, address: ExprId, ty: Ty, volatile: bool, site: Site) -> Out {
        let element = self.size_of(&ty).unwrap_or(0);
        Out { at: At::Memory { address, element }, ty: canonical(ty), volatile, site }
    }

    /// `*p`.
    pub(super) fn deref(&mut self, pointer: &Out, site: Site) -> Out {
        match &pointer.ty {
            Ty::Pointer(to) | Ty::Array(to, _) => {
                let to = (**to).clone();
                let address = self.load(pointer);
                self.pointed(address, to, pointer.volatile, site)
            }
            Ty::Record(..) => match self.user_operator("operator*", std::slice::from_ref(pointer), site) {
                Some(out) => out,
                None => self.lost(pointer, site),
            },
            Ty::Library(name, _) if &**name == super::meaning::FUNCTION => pointer.clone(),
            _ => self.lost(pointer, site),
        }
    }

    /// A place that nobody knows.
    fn lost(&mut self, from: &Out, site: Site) -> Out {
        self.gap("pointer of unknown type");
        let id = self.load(from);
        let address = self.opaque_pointer(vec![id], site);
        Out { at: At::Memory { address, element: 0 }, ty: Ty::Unknown, volatile: from.volatile, site }
    }

    /// `base[index]`.
    pub(super) fn element(&mut self, base: &Out, index: &Out, site: Site) -> Out {
        let of = match &base.ty {
            Ty::Pointer(of) | Ty::Array(of, _) => Arc::clone(of),
            Ty::Record(..) => {
                let args = [base.clone(), index.clone()];
                return match self.user_operator("operator[]", &args, site) {
                    Some(out) => out,
                    None => self.lost_element(base, index, site),
                };
            }
            _ if matches!(index.ty, Ty::Pointer(_) | Ty::Array(..)) => return self.element(index, base, site),
            _ => return self.lost_element(base, index, site),
        };
        if let (Ty::Array(_, Quantity::Known(count)), At::Register { .. }, At::Value(at)) =
            (&base.ty, base.at, index.at)
            && let Some(at) = self.fold(at).filter(|at| (0..*count).contains(at))
            && let Some(size) = self.size_of(&of)
        {
            return self.part(base, at as u32 * size, &of, site);
        }
        let address = match base.ty {
            Ty::Array(..) => self.address(base),
            _ => self.load(base),
        };
        let address = self.advance(address, index, &of, false, site);
        let element = self.size_of(&of).unwrap_or(0);
        Out { at: At::Memory { address, element }, ty: canonical((*of).clone()), volatile: base.volatile, site }
    }

    fn lost_element(&mut self, base: &Out, index: &Out, site: Site) -> Out {
        if base.ty != Ty::Unknown {
            self.gap("index into unknown type");
        }
        let base = self.load(base);
        let index = self.load(index);
        let address = self.opaque_pointer(vec![base, index], site);
        Out { at: At::Memory { address, element: 0 }, ty: Ty::Unknown, volatile: false, site }
    }

    /// `address` moved by an index in elements of a type.
    pub(super) fn advance(&mut self, address: ExprId, index: &Out, of: &Ty, back: bool, site: Site) -> ExprId {
        let ty = index.ty.promoted();
        let (Some(size), Some(ty @ Ty::Int { .. })) = (self.size_of(of), ty) else {
            let index = self.load(index);
            return self.opaque_pointer(vec![address, index], site);
        };
        let index = self.convert(index, &ty);
        let stride = if back { -i64::from(size) } else { i64::from(size) };
        self.push(Expr::Offset { base: address, index, stride }, code::Ty::Pointer, site)
    }
}

use super::types::canonical;
