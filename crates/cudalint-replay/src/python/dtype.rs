//! Types of array elements.

use cudalint_kernel::code::Ty;

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
        match self {
            Self::Bool => Some(1),
            Self::Int { bytes, .. } | Self::Float { bytes } | Self::Complex { bytes } => Some(bytes as i64),
            Self::Record { bytes, .. } => Some(bytes as i64),
            Self::Unknown | Self::Other => None,
        }
    }

    /// As `NumPy` calls it.
    pub fn name(self) -> String {
        match self {
            Self::Unknown | Self::Other | Self::Record { .. } => String::new(),
            Self::Bool => "bool".to_owned(),
            Self::Int { bytes, signed } => format!("{}int{}", if signed { "" } else { "u" }, u32::from(bytes) * 8),
            Self::Float { bytes } => format!("float{}", u32::from(bytes) * 8),
            Self::Complex { bytes } => format!("complex{}", u32::from(bytes) * 8),
        }
    }

    /// The dtype of a name: `float32`, `f4`, `np.float32`'s last part, a character code.
    pub fn named(name: &str) -> Option<Self> {
        let int = |bytes, signed| Some(Self::Int { bytes, signed });
        let float = |bytes| Some(Self::Float { bytes });
        match name.trim_start_matches(['<', '=', '|']) {
            "bool" | "bool_" | "bool8" | "boolean" | "?" | "b1" => Some(Self::Bool),
            "int8" | "i1" | "byte" | "char" => int(1, true),
            "int16" | "i2" | "short" | "h" => int(2, true),
            "int32" | "i4" | "intc" | "i" => int(4, true),
            "int64" | "i8" | "int" | "int_" | "longlong" | "intp" | "l" | "q" | "long" => int(8, true),
            "uint8" | "u1" | "ubyte" | "uchar" | "B" => int(1, false),
            "uint16" | "u2" | "ushort" | "H" => int(2, false),
            "uint32" | "u4" | "uintc" | "I" => int(4, false),
            "uint64" | "u8" | "uint" | "ulonglong" | "uintp" | "L" | "Q" | "ulong" => int(8, false),
            "float16" | "f2" | "half" | "e" => float(2),
            "float32" | "f4" | "single" | "f" => float(4),
            "float64" | "f8" | "float" | "float_" | "double" | "d" => float(8),
            "complex64" | "c8" | "csingle" | "F" => Some(Self::Complex { bytes: 8 }),
            "complex128" | "c16" | "complex" | "complex_" | "cdouble" | "D" => Some(Self::Complex { bytes: 16 }),
            _ => None,
        }
    }

    /// The type of the kernel's code.
    pub fn ty(self) -> Ty {
        match self {
            Self::Unknown | Self::Other => Ty::Opaque { bytes: None },
            Self::Bool => Ty::Bool,
            Self::Int { bytes, signed } => Ty::Int { bytes, signed },
            Self::Float { bytes } => Ty::Float { bytes },
            Self::Complex { bytes } => Ty::Opaque { bytes: Some(u32::from(bytes)) },
            Self::Record { bytes, .. } => Ty::Opaque { bytes: Some(bytes) },
        }
    }

    /// The dtype of an operation on two arrays (`NumPy`'s `result_type`).
    pub fn promote(self, other: Self) -> Self {
        use Dtype::{Bool, Complex, Float, Int};
        match (self, other) {
            (a, b) if a == b => a,
            (Dtype::Unknown | Dtype::Other | Dtype::Record { .. }, _)
            | (_, Dtype::Unknown | Dtype::Other | Dtype::Record { .. }) => Dtype::Unknown,
            (Bool, b) => b,
            (a, Bool) => a,
            (Int { bytes: a, signed: s }, Int { bytes: b, signed: t }) => match (s, t) {
                _ if s == t => Int { bytes: a.max(b), signed: s },
                (true, false) if a > b => Int { bytes: a, signed: true },
                (false, true) if b > a => Int { bytes: b, signed: true },
                _ if a.max(b) >= 8 => Float { bytes: 8 },
                _ => Int { bytes: a.max(b) * 2, signed: true },
            },
            (Float { bytes: a }, Float { bytes: b }) => Float { bytes: a.max(b) },
            (Int { bytes, .. }, Float { bytes: f }) | (Float { bytes: f }, Int { bytes, .. }) => {
                let least = match bytes {
                    1 => 2,
                    2 => 4,
                    _ => 8,
                };
                Float { bytes: f.max(least) }
            }
            (Complex { bytes: a }, Complex { bytes: b }) => Complex { bytes: a.max(b) },
            (Complex { bytes: a }, Float { bytes: b }) | (Float { bytes: b }, Complex { bytes: a }) => {
                Complex { bytes: a.max(b * 2) }
            }
            (Complex { bytes: a }, Int { bytes: b, .. }) | (Int { bytes: b, .. }, Complex { bytes: a }) => {
                Complex { bytes: if b >= 4 { 16 } else { a } }
            }
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
