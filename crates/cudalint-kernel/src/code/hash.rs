//! Code as bytes to hash: fractions by their bits.

use super::{Code, Expr};
use std::hash::{Hash, Hasher};

impl Hash for Code {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Self {
            functions,
            exprs,
            stmts,
            objects,
            launch_bounds,
            dialect,
            arguments,
            hidden_shared,
            damaged,
            gaps,
            identity: _,
        } = self;
        (functions, exprs, stmts, objects).hash(state);
        (launch_bounds, dialect, arguments, hidden_shared, damaged, gaps).hash(state);
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Self::Int(value) => value.hash(state),
            Self::Float(value) => value.to_bits().hash(state),
            Self::Builtin(builtin) => builtin.hash(state),
            Self::Read(place) => place.hash(state),
            Self::Write(place, value) => (place, value).hash(state),
            Self::Update { place, op, value, compute, old } => (place, op, value, compute, old).hash(state),
            Self::VariableAddress(variable) => variable.hash(state),
            Self::ObjectAddress(object) => object.hash(state),
            Self::Offset { base, index, stride } => (base, index, stride).hash(state),
            Self::Unary(op, a) => (op, a).hash(state),
            Self::Not(a) | Self::Convert(a) => a.hash(state),
            Self::Binary(op, a, b) => (op, a, b).hash(state),
            Self::And(a, b) | Self::Or(a, b) => (a, b).hash(state),
            Self::Select(condition, a, b) => (condition, a, b).hash(state),
            Self::Aggregate(all) | Self::Sequence(all) => all.hash(state),
            Self::Leaves { of, first, count } => (of, first, count).hash(state),
            Self::Call(function, args) => (function, args).hash(state),
            Self::Intrinsic(intrinsic, args) => (intrinsic, args).hash(state),
            Self::Statements(block, value) => (block, value).hash(state),
            Self::Opaque { children, effect } => (children, effect).hash(state),
        }
    }
}
