//! The operators of C++ and Python that compute.

/// Unary operators that compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Plus,
    Minus,
    Not,
    BitNot,
}

/// Binary operators. `Div` is that of C++, which cuts towards zero; Python's are `FloorDiv` and `TrueDiv`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    TrueDiv,
    Rem,
    Pow,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

impl BinaryOp {
    /// Whether the result is a truth value.
    pub const fn is_comparison(self) -> bool {
        matches!(self, Self::Lt | Self::Le | Self::Gt | Self::Ge | Self::Eq | Self::Ne)
    }

    /// What a comparison says of two values in this order; `None` for other operators.
    pub const fn holds(self, order: std::cmp::Ordering) -> Option<bool> {
        Some(match self {
            Self::Lt => order.is_lt(),
            Self::Le => order.is_le(),
            Self::Gt => order.is_gt(),
            Self::Ge => order.is_ge(),
            Self::Eq => order.is_eq(),
            Self::Ne => order.is_ne(),
            _ => return None,
        })
    }
}
