//! Types of array elements.

use cudalint_kernel::code::Ty;
use cudalint_numbers::{Integer, Scalar};

pub(super) const FLOAT: Dtype = Dtype::Float { bytes: 8 };
pub(super) const INT: Dtype = Dtype::Int { bytes: 8, signed: true };
/// Bytes that stand in for an element whose type is not known: which index lies beyond the end does not depend on it.
pub(super) const STAND_IN_BYTES: i64 = 4;

/// Types of array elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dtype {
    Unknown,
    Bool,
    Int {
        bytes: u8,
        signed: bool,
    },
    Float {
        bytes: u8,
    },
    Complex {
        bytes: u8,
    },
    /// A structured type, by its number in the walk, and other types of which only the size is known.
    Record {
        id: u16,
        bytes: u32,
    },
    /// Something else: strings, objects.
    Other,
}

impl Dtype {
    pub const fn bytes(self) -> Option<i64> {
        match (self, self.scalar()) {
            (Self::Record { bytes, .. }, _) => Some(bytes as i64),
            (_, Some(scalar)) => Some(scalar.bytes() as i64),
            (_, None) => None,
        }
    }

    /// As `NumPy` calls it.
    pub fn name(self) -> String {
        self.scalar().map(Scalar::numpy_name).unwrap_or_default()
    }

    /// The dtype of a name: `float32`, `f4`, `np.float32`'s last part, a character code.
    pub fn named(name: &str) -> Option<Self> {
        Scalar::of_numpy(name).map(Self::of_scalar)
    }

    const fn of_scalar(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool,
            Scalar::Int(Integer { bytes, signed }) => Self::Int { bytes, signed },
            Scalar::Float { bytes } => Self::Float { bytes },
            Scalar::Complex { bytes } => Self::Complex { bytes },
        }
    }

    const fn scalar(self) -> Option<Scalar> {
        Some(match self {
            Self::Bool => Scalar::Bool,
            Self::Int { bytes, signed } => Scalar::Int(Integer::new(bytes, signed)),
            Self::Float { bytes } => Scalar::Float { bytes },
            Self::Complex { bytes } => Scalar::Complex { bytes },
            Self::Unknown | Self::Record { .. } | Self::Other => return None,
        })
    }

    /// The type of the kernel's code.
    pub fn ty(self) -> Ty {
        match (self, self.scalar()) {
            (Self::Record { bytes, .. }, _) => Ty::Opaque { bytes: Some(bytes) },
            (_, Some(scalar)) => Ty::of_scalar(scalar),
            (_, None) => Ty::Opaque { bytes: None },
        }
    }

    /// The dtype of an operation on two arrays (`NumPy`'s `result_type`).
    pub fn promote(self, other: Self) -> Self {
        match (self.scalar(), other.scalar()) {
            _ if self == other => self,
            (Some(a), Some(b)) => Self::of_scalar(a.numpy_common(b)),
            _ => Self::Unknown,
        }
    }

    /// The dtype of a sum: small integers are added as 64 bits.
    pub const fn summed(self) -> Self {
        match self {
            Self::Bool => Self::Int { bytes: 8, signed: true },
            Self::Int { signed, .. } => Self::Int { bytes: 8, signed },
            other => other,
        }
    }

    /// The dtype of true division.
    pub fn divided(self) -> Self {
        match self {
            Self::Bool | Self::Int { .. } => Self::Float { bytes: 8 },
            other => other,
        }
    }
}
