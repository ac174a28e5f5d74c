//! Arithmetic, comparison and the operators that programs define for their own types.

use super::state::{Lowerer, Out};
use crate::code::{self, BinaryOp, Effect, Expr, UnaryOp};
use crate::report::Site;
use cudalint_program::types::Ty;
use std::sync::Arc;

impl Lowerer<'_> {
    /// `a op b`.
    pub(super) fn binary(&mut self, op: BinaryOp, a: &Out, b: &Out, site: Site) -> Out {
        let user = |ty: &Ty| matches!(ty, Ty::Record(..) | Ty::Vector { .. });
        if (user(&a.ty) || user(&b.ty))
            && let Some(name) = binary_name(op)
            && let Some(out) = self.user_operator(name, &[a.clone(), b.clone()], site)
        {
            return out;
        }
        let (left, right) = (a.ty.decayed(), b.ty.decayed());
        if let (Ty::Library(..), Some(value)) = (&left, self.atomic_value(a)) {
            return self.binary(op, &value, b, site);
        }
        if let (Ty::Library(..), Some(value)) = (&right, self.atomic_value(b)) {
            return self.binary(op, a, &value, site);
        }
        match (&left, &right) {
            (Ty::Pointer(_), _) | (_, Ty::Pointer(_)) => return self.pointer_binary(op, a, b, site),
            (Ty::Record(..), _) if !matches!(right, Ty::Record(..)) => {
                // `wrapper + 1` by the wrapper's conversion.
                if let Some(value) = self.scalar_conversion(a) {
                    return self.binary(op, &value, b, site);
                }
            }
            (_, Ty::Record(..)) if !matches!(left, Ty::Record(..)) => {
                if let Some(value) = self.scalar_conversion(b) {
                    return self.binary(op, a, &value, site);
                }
            }
            _ => {}
        }
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let common = if shift { left.promoted() } else { left.common(&right) };
        let Some(common) = common else {
            return self.unknown_binary(op, a, b, site);
        };
        if matches!(common, Ty::Float { .. }) && !is_float_op(op) {
            return self.unknown_binary(op, a, b, site);
        }
        let x = self.convert(a, &common);
        let y = if shift && right.promoted().is_none() {
            return self.unknown_binary(op, a, b, site);
        } else {
            self.convert(b, &common)
        };
        let ty = if op.is_comparison() { Ty::Bool } else { common };
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Binary(op, x, y), code_ty, site);
        self.computed(id, ty, site)
    }

    fn unknown_binary(&mut self, op: BinaryOp, a: &Out, b: &Out, site: Site) -> Out {
        let known = |ty: &Ty| !matches!(ty, Ty::Unknown | Ty::Auto);
        if known(&a.ty) && known(&b.ty) {
            self.gap("operator");
        }
        let ty = match (op.is_comparison(), &a.ty) {
            (true, _) => Ty::Bool,
            // Lanes by lanes, or by one number.
            (false, Ty::Vector { .. }) => a.ty.clone(),
            _ if matches!(b.ty, Ty::Vector { .. }) => b.ty.clone(),
            _ => Ty::Unknown,
        };
        let children = vec![self.load(a), self.load(b)];
        self.unknown(children, Effect::None, ty, site)
    }

    fn pointer_binary(&mut self, op: BinaryOp, a: &Out, b: &Out, site: Site) -> Out {
        let (left, right) = (a.ty.decayed(), b.ty.decayed());
        let volatile = a.volatile || b.volatile;
        let moved = |this: &mut Self, pointer: &Out, index: &Out, of: &Arc<Ty>, back: bool| {
            let address = this.load(pointer);
            let id = this.advance(address, index, of, back, site);
            Out { volatile, ..this.computed(id, Ty::Pointer(Arc::clone(of)), site) }
        };
        match (op, &left, &right) {
            (BinaryOp::Add, Ty::Pointer(of), _) if !matches!(right, Ty::Pointer(_)) => moved(self, a, b, of, false),
            (BinaryOp::Add, _, Ty::Pointer(of)) if !matches!(left, Ty::Pointer(_)) => moved(self, b, a, of, false),
            (BinaryOp::Sub, Ty::Pointer(of), _) if !matches!(right, Ty::Pointer(_)) => moved(self, a, b, of, true),
            (BinaryOp::Sub, Ty::Pointer(of), Ty::Pointer(_)) => {
                let (x, y) = (self.load(a), self.load(b));
                let long = Ty::Int { bytes: 8, signed: true };
                let bytes = self.push(Expr::Binary(BinaryOp::Sub, x, y), code::Ty::LONG, site);
                match self.size_of(of) {
                    Some(1) => self.computed(bytes, long, site),
                    Some(size) if size > 0 => {
                        let size = self.int(i64::from(size), code::Ty::LONG, site);
                        let id = self.push(Expr::Binary(BinaryOp::Div, bytes, size), code::Ty::LONG, site);
                        self.computed(id, long, site)
                    }
                    _ => self.unknown(vec![bytes], Effect::None, long, site),
                }
            }
            _ if op.is_comparison() => {
                let x = self.convert(a, &Ty::pointer_to(Ty::Void));
                let y = self.convert(b, &Ty::pointer_to(Ty::Void));
                let id = self.push(Expr::Binary(op, x, y), code::Ty::Bool, site);
                self.computed(id, Ty::Bool, site)
            }
            _ => self.unknown_binary(op, a, b, site),
        }
    }

    /// `-x`, `!x`, `~x`, `+x`.
    pub(super) fn unary(&mut self, op: UnaryOp, out: &Out, site: Site) -> Out {
        if let Ty::Record(..) | Ty::Vector { .. } = out.ty {
            let name = match op {
                UnaryOp::Plus => "operator+",
                UnaryOp::Minus => "operator-",
                UnaryOp::Not => "operator!",
                UnaryOp::BitNot => "operator~",
            };
            if let Some(found) = self.user_operator(name, std::slice::from_ref(out), site) {
                return found;
            }
        }
        if op == UnaryOp::Not {
            let value = self.truth(out);
            let id = self.push(Expr::Not(value), code::Ty::Bool, site);
            return self.computed(id, Ty::Bool, site);
        }
        let Some(ty) = out.ty.decayed().promoted() else {
            if op == UnaryOp::Plus && matches!(out.ty.decayed(), Ty::Pointer(_)) {
                return self.loaded(out);
            }
            let id = self.load(out);
            let ty = if matches!(out.ty, Ty::Vector { .. }) { out.ty.clone() } else { Ty::Unknown };
            return self.unknown(vec![id], Effect::None, ty, site);
        };
        let value = self.convert(out, &ty);
        let code_ty = self.ty(&ty);
        let id = match (op, self.kind(value)) {
            (UnaryOp::Plus, _) => value,
            (UnaryOp::Minus, Some(Expr::Int(number))) if *number != i64::MIN && signed(&ty) => {
                let number = cudalint_numbers::Integer::new(code_ty.bytes().unwrap_or(8) as u8, true).wrap(-*number);
                self.int(number, code_ty, site)
            }
            (UnaryOp::Minus, Some(Expr::Float(number))) => {
                let number = -*number;
                self.push(Expr::Float(number), code_ty, site)
            }
            (UnaryOp::Minus, _) => self.push(Expr::Unary(UnaryOp::Minus, value), code_ty, site),
            _ => self.push(Expr::Unary(UnaryOp::BitNot, value), code_ty, site),
        };
        self.computed(id, ty, site)
    }

    /// `c ? a : b`.
    pub(super) fn select(&mut self, condition: &Out, yes: &Out, no: &Out, site: Site) -> Out {
        let condition = self.truth(condition);
        if let Some(value) = self.fold(condition) {
            let ty = Self::select_type(yes, no);
            let (live, other) = if value != 0 { (yes, no) } else { (no, yes) };
            return match ty {
                // The other one has a say in the type of a number.
                None if other.ty == Ty::Unknown
                    && super::convert::is_scalar(&live.ty)
                    && !matches!(live.ty, Ty::Pointer(_)) =>
                {
                    let children = vec![self.load(live)];
                    self.unknown(children, Effect::None, Ty::Unknown, site)
                }
                Some(ty) if ty != live.ty.decayed() => {
                    let id = self.convert(live, &ty);
                    self.computed(id, ty, site)
                }
                _ => live.clone(),
            };
        }
        let Some(ty) = Self::select_type(yes, no) else {
            // What each side reads, it reads where the condition says so only.
            let [a, b] = [yes, no].map(|side| {
                let children = vec![self.load(side)];
                self.push(Expr::Opaque { children, effect: Effect::None }, code::Ty::INT, site)
            });
            let either = self.push(Expr::Select(condition, a, b), code::Ty::INT, site);
            return self.unknown(vec![either], Effect::None, Ty::Unknown, site);
        };
        let volatile = yes.volatile || no.volatile;
        if ty == Ty::Void {
            let (a, b) = (self.discard(yes), self.discard(no));
            let id = self.push(Expr::Select(condition, a, b), code::Ty::Void, site);
            return self.computed(id, ty, site);
        }
        let (a, b) = (self.convert(yes, &ty), self.convert(no, &ty));
        let code_ty = self.ty(&ty);
        let id = self.push(Expr::Select(condition, a, b), code_ty, site);
        Out { volatile, ..self.computed(id, ty, site) }
    }

    fn select_type(yes: &Out, no: &Out) -> Option<Ty> {
        let (a, b) = (yes.ty.decayed(), no.ty.decayed());
        if a == b {
            return Some(a);
        }
        if let Some(common) = a.common(&b) {
            return Some(common);
        }
        match (&a, &b) {
            (Ty::Pointer(to), Ty::Pointer(_)) if **to == Ty::Void => Some(b),
            (Ty::Pointer(_), _) => Some(a),
            (_, Ty::Pointer(_)) => Some(b),
            (Ty::Record(..), _) if !matches!(b, Ty::Record(..) | Ty::Unknown) => Some(b),
            (_, Ty::Record(..)) if !matches!(a, Ty::Record(..) | Ty::Unknown) => Some(a),
            _ => None,
        }
    }
}

fn signed(ty: &Ty) -> bool {
    matches!(ty, Ty::Int { signed: true, .. })
}

const fn is_float_op(op: BinaryOp) -> bool {
    op.is_comparison() || matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

/// The name of the function that defines an operator.
pub(super) const fn binary_name(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "operator+",
        BinaryOp::Sub => "operator-",
        BinaryOp::Mul => "operator*",
        BinaryOp::Div => "operator/",
        BinaryOp::Rem => "operator%",
        BinaryOp::Shl => "operator<<",
        BinaryOp::Shr => "operator>>",
        BinaryOp::And => "operator&",
        BinaryOp::Or => "operator|",
        BinaryOp::Xor => "operator^",
        BinaryOp::Lt => "operator<",
        BinaryOp::Le => "operator<=",
        BinaryOp::Gt => "operator>",
        BinaryOp::Ge => "operator>=",
        BinaryOp::Eq => "operator==",
        BinaryOp::Ne => "operator!=",
        BinaryOp::FloorDiv | BinaryOp::TrueDiv | BinaryOp::Pow => return None,
    })
}

/// The name of the function that defines `a op= b`.
pub(super) const fn assignment_name(op: Option<BinaryOp>) -> Option<&'static str> {
    Some(match op {
        None => "operator=",
        Some(BinaryOp::Add) => "operator+=",
        Some(BinaryOp::Sub) => "operator-=",
        Some(BinaryOp::Mul) => "operator*=",
        Some(BinaryOp::Div) => "operator/=",
        Some(BinaryOp::Rem) => "operator%=",
        Some(BinaryOp::Shl) => "operator<<=",
        Some(BinaryOp::Shr) => "operator>>=",
        Some(BinaryOp::And) => "operator&=",
        Some(BinaryOp::Or) => "operator|=",
        Some(BinaryOp::Xor) => "operator^=",
        _ => return None,
    })
}
