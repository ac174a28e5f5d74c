//! Operators on evaluated operands: numbers, pointers, statuses, and classes whose operators may do anything.

use super::flow::Truth;
use super::{Out, Walker};
use crate::arith;
use crate::facts::{MemorySpace, Origin};
use crate::host::ObjId;
use crate::memory::Freed;
use crate::quantity::{Quantity, union};
use crate::value::{Int, Kind, Val};
use cudalint_program::ir::{BinaryOp, ExprId, UnaryOp};
use cudalint_program::types::Ty;

impl Walker<'_> {
    /// `-x` and the like.
    pub fn unary(&mut self, op: UnaryOp, value: ExprId) -> Out {
        let out = self.eval(value);
        if op == UnaryOp::Not {
            let truth = if self.dry > 0 { Truth::Unknown } else { self.truth(&out).not() };
            return Out::new(truth.val(), Ty::Bool);
        }
        let zero = Val::typed(Quantity::Known(0), 4, true);
        let val = match (op, &out.val.kind) {
            (UnaryOp::Minus, Kind::Float(value)) => Val { kind: Kind::Float(-value), why: out.val.why.clone() },
            (UnaryOp::Minus, Kind::Int(_)) => arith::binary(&mut self.atoms, BinaryOp::Sub, &zero, &out.val),
            (UnaryOp::Plus, _) => match out.ty.promoted() {
                Some(ty) => arith::convert(&mut self.atoms, &out.val, &ty),
                None => out.val.clone(),
            },
            (UnaryOp::BitNot, Kind::Int(Int { q: Quantity::Known(_), .. })) => {
                let ones = Val::typed(Quantity::Known(-1), 4, true);
                arith::binary(&mut self.atoms, BinaryOp::Xor, &out.val, &ones)
            }
            _ => Val { kind: Kind::Unknown, why: out.val.why.clone() },
        };
        let ty = type_of_number(&val).or_else(|| out.ty.promoted()).unwrap_or_else(|| out.ty.value().clone());
        Out::new(val, ty)
    }

    /// `a op b`.
    pub fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> Out {
        let left = self.eval(a);
        let right = self.eval(b);
        // `stream >> x` and other operators of classes may write their operands.
        let class = |out: &Out| {
            matches!(out.ty.value(), Ty::Record(..) | Ty::Library(..) | Ty::Unknown | Ty::Auto)
                && !matches!(out.val.kind, Kind::Int(_) | Kind::Float(_) | Kind::Status | Kind::Str(_))
        };
        if matches!(op, BinaryOp::Shr | BinaryOp::And) && class(&left) && self.is_lvalue(b) {
            let is_stream = op == BinaryOp::Shr && self.is_stream(a, &left.ty);
            if is_stream && right.ty.value().is_scalar() {
                // A stream writes a number once, and does not keep where it is.
                let (place, _) = self.place(b, super::places::Access::Address);
                self.forget_place(&place);
            } else {
                self.hand_out(&right);
                self.forget_lvalue(b);
            }
            if is_stream {
                self.extracted(b, &right.ty);
            }
            return Out { val: Val::unknown(), ty: left.ty, place: left.place };
        }
        if op == BinaryOp::Shl && class(&left) {
            return Out { val: Val::unknown(), ty: left.ty, place: left.place };
        }
        self.operate(op, &left, &right)
    }

    /// `left op right` on evaluated operands.
    pub fn operate(&mut self, op: BinaryOp, left: &Out, right: &Out) -> Out {
        // Statuses compare with success only.
        if let (BinaryOp::Eq | BinaryOp::Ne, Some(success)) = (op, status_test(&left.val, &right.val)) {
            let value = success == (op == BinaryOp::Eq);
            return Out::new(Val { kind: Kind::Success(value), why: None }, Ty::Bool);
        }
        if let (BinaryOp::Eq | BinaryOp::Ne, Some((flag, why))) = (op, flag_test(&left.val, &right.val)) {
            let value = flag == (op == BinaryOp::Eq);
            return Out::new(Val { kind: Kind::Flag(value), why }, Ty::Bool);
        }
        // Literals of different texts are never one array.
        if let (BinaryOp::Eq | BinaryOp::Ne, Kind::Str(one), Kind::Str(other)) = (op, &left.val.kind, &right.val.kind)
            && one != other
        {
            return Out::new(Val::boolean(op == BinaryOp::Ne), Ty::Bool);
        }
        if left.ty.pointee().is_some() || right.ty.pointee().is_some() {
            return self.pointer_arithmetic(op, left, right);
        }
        // Nothing times a number that nobody knows.
        let is_none = |out: &Out| matches!(&out.val.kind, Kind::Float(value) if *value == 0.0);
        let is_number = |out: &Out| matches!(out.ty.value(), Ty::Int { .. } | Ty::Float { .. }) && out.val.is_unknown();
        if op == BinaryOp::Mul && (is_none(left) && is_number(right) || is_none(right) && is_number(left)) {
            let why = union(&left.val.why, &right.val.why);
            return Out::new(Val { kind: Kind::Float(0.0), why }, Ty::DOUBLE);
        }
        let compute = match left.ty.value().common(right.ty.value()) {
            Some(Ty::Float { bytes: 4 }) => arith::binary_in_float,
            _ => arith::binary,
        };
        let val = compute(&mut self.atoms, op, &left.val, &right.val);
        let ty = if op.is_comparison() { Ty::Bool } else { self.common_type(op, left, right, &val) };
        if val.is_unknown() && ty.is_scalar() {
            let why = val.why.clone();
            return Out::new(arith::convert(&mut self.atoms, &Val { kind: Kind::Unknown, why }, &ty), ty);
        }
        Out::new(val, ty)
    }

    /// The type of an operation's result.
    pub fn common_type(&self, op: BinaryOp, left: &Out, right: &Out, val: &Val) -> Ty {
        if let Some(ty) = type_of_number(val)
            && !matches!(ty, Ty::Float { .. })
        {
            return ty;
        }
        let (left, right) = (left.ty.value(), right.ty.value());
        match (left.common(right), left, right) {
            (Some(_), ..) if matches!(op, BinaryOp::Shl | BinaryOp::Shr) => left.promoted().unwrap_or(Ty::Unknown),
            (Some(common), ..) => common,
            (None, float @ Ty::Float { .. }, _) | (None, _, float @ Ty::Float { .. }) => float.clone(),
            _ => Ty::Unknown,
        }
    }

    fn pointer_arithmetic(&mut self, op: BinaryOp, left: &Out, right: &Out) -> Out {
        let why = union(&left.val.why, &right.val.why);
        let (left_to, right_to) = (left.ty.pointee().cloned(), right.ty.pointee().cloned());
        match (op, left_to, right_to) {
            (BinaryOp::Add, Some(to), None) => Out::new(self.advance(&left.val, &right.val, &to), Ty::pointer_to(to)),
            (BinaryOp::Add, None, Some(to)) => Out::new(self.advance(&right.val, &left.val, &to), Ty::pointer_to(to)),
            (BinaryOp::Sub, Some(to), None) => {
                let zero = Val::typed(Quantity::Known(0), 8, true);
                let back = arith::binary(&mut self.atoms, BinaryOp::Sub, &zero, &right.val);
                Out::new(self.advance(&left.val, &back, &to), Ty::pointer_to(to))
            }
            (BinaryOp::Sub, Some(to), Some(_)) => {
                let q = match (&left.val.kind, &right.val.kind) {
                    (Kind::Ptr(a), Kind::Ptr(b)) if a.obj == b.obj && a.path == b.path => {
                        let bytes = a.offset.minus(&b.offset);
                        let size = self.size_of(&to);
                        match (bytes.known(), size.known()) {
                            (Some(bytes), Some(size)) if size > 0 => Quantity::Known(bytes / size),
                            _ => Quantity::Unknown,
                        }
                    }
                    _ => Quantity::Unknown,
                };
                Out::new(Val { kind: Kind::Int(Int { q, bytes: 8, signed: true }), why }, Ty::LONG)
            }
            (BinaryOp::Eq | BinaryOp::Ne, ..) => {
                let kind = match (pointer_null(&left.val), pointer_null(&right.val)) {
                    (Some(true), Some(true)) => Val::boolean(op == BinaryOp::Eq).kind,
                    // An allocation is taken to have succeeded, as its status is.
                    (Some(false), Some(true)) | (Some(true), Some(false)) => Kind::Success(op == BinaryOp::Ne),
                    _ => match self.same_address(&left.val, &right.val) {
                        Some(same) => Val::boolean(same == (op == BinaryOp::Eq)).kind,
                        None => Val::typed(Quantity::Unknown, 1, false).kind,
                    },
                };
                Out::new(Val { kind, why }, Ty::Bool)
            }
            _ if op.is_comparison() => Out::new(Val::typed(Quantity::Unknown, 1, false), Ty::Bool),
            _ => Out::new(Val::unknown(), left.ty.clone()),
        }
    }
}

impl Walker<'_> {
    /// Whether two pointers surely are equal, or surely are not.
    fn same_address(&mut self, a: &Val, b: &Val) -> Option<bool> {
        let (Kind::Ptr(one), Kind::Ptr(other)) = (&self.admit(a.clone()).kind, &self.admit(b.clone()).kind) else {
            return None;
        };
        let at = [self.whole_offset(one).known()?, self.whole_offset(other).known()?];
        if one.obj == other.obj {
            // The host has an address of its own for a variable of the device.
            let info = &self.memory.get(one.obj).info;
            let shadowed = info.origin == Origin::Global && info.space == MemorySpace::Device;
            return (!shadowed).then_some(at[0] == at[1]);
        }
        let kinds = [self.own_memory(one.obj, at[0])?, self.own_memory(other.obj, at[1])?];
        let apart = match kinds {
            [OwnMemory::Heap, _] | [_, OwnMemory::Heap] => true,
            [a, b] => a == OwnMemory::Variable && b == OwnMemory::Variable,
        };
        apart.then_some(false)
    }

    /// Whose memory an address of an object is that no other object has at the same time; `None` where another may have it.
    fn own_memory(&mut self, id: ObjId, at: i64) -> Option<OwnMemory> {
        let bytes = self.buffer(id).bytes.quantity;
        // Behind its end there may be another.
        let inside = at == 0 && bytes.known() != Some(0) || at > 0 && bytes.known().is_some_and(|bytes| at < bytes);
        let object = self.memory.get(id);
        if !inside || object.freed != Freed::No {
            return None;
        }
        match &object.info.origin {
            Origin::Call(api, _) => (api.allocates() && !api.frees()).then_some(OwnMemory::Heap),
            Origin::New => Some(OwnMemory::Heap),
            // What a function returns may have been made in its caller's object.
            Origin::Local
                if matches!(object.info.ty, Ty::Record(..) | Ty::Library(..)) || object.info.name.is_empty() =>
            {
                Some(OwnMemory::Record)
            }
            Origin::Local => Some(OwnMemory::Variable),
            // Two files may declare one variable.
            Origin::Global => Some(OwnMemory::Record),
            _ => None,
        }
    }
}

/// Whose memory an object is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OwnMemory {
    /// An allocation.
    Heap,
    /// A variable that is an object of its own.
    Variable,
    /// A variable that may be another one by another name.
    Record,
}

pub(crate) fn same_kind(a: &Ty, b: &Ty) -> bool {
    match (a, b.value()) {
        (Ty::Record(a, _), Ty::Record(b, _)) => a == b,
        (Ty::Library(..), b) => a.container().zip(b.container()).is_some_and(|(a, b)| a.0 == b.0),
        (Ty::Vector { name: a, .. }, Ty::Vector { name: b, .. }) => a == b,
        _ => false,
    }
}

fn type_of_number(val: &Val) -> Option<Ty> {
    match &val.kind {
        Kind::Int(int) => Some(Ty::Int { bytes: int.bytes, signed: int.signed }),
        Kind::Float(_) | Kind::Ratio(..) => Some(Ty::DOUBLE),
        _ => None,
    }
}

/// Whether a status is compared with success, and then what equality gives.
fn status_test(a: &Val, b: &Val) -> Option<bool> {
    match (&a.kind, &b.kind) {
        (Kind::Status, Kind::Status) => Some(true),
        (Kind::Status, _) if b.known().is_some() => Some(b.known() == Some(0)),
        (_, Kind::Status) if a.known().is_some() => Some(a.known() == Some(0)),
        (Kind::Success(value), _) if b.known().is_some() => Some((b.known() != Some(0)) == *value),
        (_, Kind::Success(value)) if a.known().is_some() => Some((a.known() != Some(0)) == *value),
        // Some other code of the API, whose number is not in sight.
        (Kind::Status, Kind::Unknown | Kind::Int(_)) | (Kind::Unknown | Kind::Int(_), Kind::Status) => Some(false),
        _ => None,
    }
}

fn flag_test(a: &Val, b: &Val) -> Option<(bool, crate::quantity::Assumptions)> {
    match (&a.kind, &b.kind) {
        (Kind::Flag(value), _) if b.known().is_some() => Some(((b.known() != Some(0)) == *value, a.why.clone())),
        (_, Kind::Flag(value)) if a.known().is_some() => Some(((a.known() != Some(0)) == *value, b.why.clone())),
        _ => None,
    }
}

/// Whether a pointer value is surely null, or surely not.
fn pointer_null(val: &Val) -> Option<bool> {
    match &val.kind {
        Kind::Null => Some(true),
        Kind::Int(Int { q: Quantity::Known(0), .. }) => Some(true),
        Kind::Ptr(_) | Kind::Str(_) | Kind::Somewhere(..) => Some(false),
        _ => None,
    }
}

pub(crate) fn combine(left: Truth, right: Truth, and: bool) -> Truth {
    // `||` is `&&` on the opposites.
    if !and {
        return combine(left.not(), right.not(), true).not();
    }
    match (left, right) {
        (Truth::Known(false), _) | (_, Truth::Known(false)) => Truth::Known(false),
        (Truth::Known(true), other) | (other, Truth::Known(true)) => other,
        (Truth::Status(false), _) | (_, Truth::Status(false)) => Truth::Status(false),
        (Truth::Status(true), other) | (other, Truth::Status(true)) => other,
        (Truth::Assumed(false, why), _) => Truth::Assumed(false, why),
        (Truth::Assumed(true, a), Truth::Assumed(value, b)) => Truth::Assumed(value, union(&a, &b)),
        (_, Truth::Assumed(false, why)) => Truth::Assumed(false, why),
        _ => Truth::Unknown,
    }
}
