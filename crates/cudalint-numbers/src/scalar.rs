//! Scalar types: their sizes, and their names in C++, CUDA, `NumPy` and Numba.

use crate::Integer;
use std::cmp::Ordering;

/// A type of truth values or numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `bool`, one byte.
    Bool,
    /// Integers and characters.
    Int(Integer),
    /// Floating-point numbers of 2, 4 or 8 bytes.
    Float {
        /// Size.
        bytes: u8,
    },
    /// Complex numbers of 8 or 16 bytes: two floating-point numbers of half the size.
    Complex {
        /// Size of both parts together.
        bytes: u8,
    },
}

impl Scalar {
    /// `int`.
    pub const INT: Self = Self::Int(Integer::INT);
    /// `double`.
    pub const DOUBLE: Self = Self::Float { bytes: 8 };

    /// Size.
    pub const fn bytes(self) -> u8 {
        match self {
            Self::Bool => 1,
            Self::Int(ty) => ty.bytes,
            Self::Float { bytes } | Self::Complex { bytes } => bytes,
        }
    }

    /// Whether it holds negative numbers.
    pub const fn is_signed(self) -> bool {
        !matches!(self, Self::Bool | Self::Int(Integer { signed: false, .. }))
    }

    /// Whether it is a type of floating-point numbers.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::Float { .. })
    }

    /// The type that a name or keywords of C++ stand for without any declaration: `unsigned long long`, `uint8_t`, `half`.
    /// `char` is signed, as it is on x86.
    pub fn of_cpp(name: &str) -> Option<Self> {
        Some(match name {
            "bool" | "_Bool" => Self::Bool,
            "char" | "int8_t" | "__int8" => Self::int(1),
            "uint8_t" | "uchar" | "char8_t" | "u_char" | "u_int8_t" => Self::uint(1),
            "short" | "int16_t" | "__int16" => Self::int(2),
            "uint16_t" | "ushort" | "char16_t" | "u_short" | "u_int16_t" => Self::uint(2),
            "int" | "int32_t" | "signed" | "wchar_t" | "__int32" => Self::int(4),
            "unsigned" | "uint32_t" | "uint" | "char32_t" | "u_int" | "u_int32_t" => Self::uint(4),
            "long" | "int64_t" | "ssize_t" | "ptrdiff_t" | "intptr_t" | "intmax_t" | "__int64" => Self::int(8),
            "uint64_t" | "size_t" | "ulong" | "uintptr_t" | "uintmax_t" | "u_long" | "u_int64_t" => Self::uint(8),
            "float" => Self::Float { bytes: 4 },
            "double" => Self::DOUBLE,
            "half" | "__half" | "nv_bfloat16" | "__nv_bfloat16" | "__bfloat16" => Self::Float { bytes: 2 },
            keywords if keywords.contains(char::is_whitespace) => return Self::of_keywords(keywords),
            _ => return None,
        })
    }

    /// Several keywords in any order: `long unsigned int`.
    fn of_keywords(keywords: &str) -> Option<Self> {
        let (mut signed, mut long, mut short) = (true, false, false);
        let mut base = "";
        for word in keywords.split_whitespace() {
            match word {
                "unsigned" => signed = false,
                "signed" => {}
                "long" | "__int64" => long = true,
                "short" => short = true,
                "int" | "char" | "double" | "float" => base = word,
                _ => return None,
            }
        }
        let bytes = match base {
            // 16 bytes on the host, and as `double` on the device.
            "double" => return if long { None } else { Some(Self::DOUBLE) },
            "float" => return Some(Self::Float { bytes: 4 }),
            "char" => 1,
            _ if short => 2,
            _ if long => 8,
            _ => 4,
        };
        Some(Self::Int(Integer::new(bytes, signed)))
    }

    /// The type that a name of `NumPy`, `CuPy`, Numba or a dtype string stands for: `float32`, `<f4`, a character code.
    pub fn of_numpy(name: &str) -> Option<Self> {
        Some(match name.trim_start_matches(['<', '|', '=']) {
            "bool" | "bool_" | "bool8" | "boolean" | "?" | "b1" => Self::Bool,
            "int8" | "i1" | "byte" | "char" | "b" => Self::int(1),
            "int16" | "i2" | "short" | "h" => Self::int(2),
            "int32" | "i4" | "intc" | "i" => Self::int(4),
            "int64" | "i8" | "int" | "int_" | "intp" | "long" | "long_" | "longlong" | "ssize_t" | "l" | "q" => {
                Self::int(8)
            }
            "uint8" | "u1" | "ubyte" | "uchar" | "B" => Self::uint(1),
            "uint16" | "u2" | "ushort" | "H" => Self::uint(2),
            "uint32" | "u4" | "uintc" | "I" => Self::uint(4),
            "uint64" | "u8" | "uint" | "uintp" | "ulong" | "ulonglong" | "size_t" | "L" | "Q" => Self::uint(8),
            "float16" | "f2" | "half" | "e" => Self::Float { bytes: 2 },
            "float32" | "f4" | "single" | "f" => Self::Float { bytes: 4 },
            "float64" | "f8" | "float" | "float_" | "double" | "d" => Self::DOUBLE,
            "complex64" | "c8" | "csingle" | "F" => Self::Complex { bytes: 8 },
            "complex128" | "c16" | "complex" | "complex_" | "cdouble" | "D" => Self::Complex { bytes: 16 },
            _ => return None,
        })
    }

    /// As [`Self::of_numpy`], for a name of Numba, whose `float_` is the smaller one.
    pub fn of_numba(name: &str) -> Option<Self> {
        if name == "float_" { Some(Self::Float { bytes: 4 }) } else { Self::of_numpy(name) }
    }

    /// The name in C++; empty for complex numbers, which have none.
    pub const fn cpp_name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Int(Integer { bytes, signed }) => match (bytes, signed) {
                (1, true) => "char",
                (1, false) => "unsigned char",
                (2, true) => "short",
                (2, false) => "unsigned short",
                (4, true) => "int",
                (4, false) => "unsigned int",
                (_, true) => "long long",
                (_, false) => "unsigned long long",
            },
            Self::Float { bytes: 2 } => "half",
            Self::Float { bytes: 4 } => "float",
            Self::Float { .. } => "double",
            Self::Complex { .. } => "",
        }
    }

    /// The name in `NumPy`.
    pub fn numpy_name(self) -> String {
        let bits = u32::from(self.bytes()) * 8;
        match self {
            Self::Bool => "bool".to_owned(),
            Self::Int(Integer { signed, .. }) => format!("{}int{bits}", if signed { "" } else { "u" }),
            Self::Float { .. } => format!("float{bits}"),
            Self::Complex { .. } => format!("complex{bits}"),
        }
    }

    /// The type of an operation on two arrays: `numpy.promote_types`.
    #[must_use]
    pub fn numpy_common(self, other: Self) -> Self {
        use Scalar::{Bool, Complex, Float, Int};
        match (self, other) {
            (Bool, ty) | (ty, Bool) => ty,
            (Int(a), Int(b)) if a.signed == b.signed => Int(if a.bytes >= b.bytes { a } else { b }),
            (Int(a), Int(b)) => {
                let (signed, unsigned) = if a.signed { (a, b) } else { (b, a) };
                match (signed.bytes.cmp(&unsigned.bytes), unsigned.bytes) {
                    (Ordering::Greater, _) => Int(signed),
                    (_, 8) => Self::DOUBLE,
                    (_, bytes) => Self::int(bytes * 2),
                }
            }
            (Float { bytes: a }, Float { bytes: b }) => Float { bytes: a.max(b) },
            (Complex { bytes: a }, Complex { bytes: b }) => Complex { bytes: a.max(b) },
            (Float { bytes: float }, Int(int)) | (Int(int), Float { bytes: float }) => {
                Float { bytes: float.max(holding(int)) }
            }
            (Complex { bytes }, Float { bytes: part }) | (Float { bytes: part }, Complex { bytes }) => {
                Complex { bytes: bytes.max(part * 2) }
            }
            (Complex { bytes }, Int(int)) | (Int(int), Complex { bytes }) => {
                Complex { bytes: bytes.max(holding(int) * 2) }
            }
        }
    }

    const fn int(bytes: u8) -> Self {
        Self::Int(Integer::new(bytes, true))
    }

    const fn uint(bytes: u8) -> Self {
        Self::Int(Integer::new(bytes, false))
    }
}

/// Bytes of the floating-point type that `NumPy` takes for integers of a type.
const fn holding(int: Integer) -> u8 {
    match int.bytes {
        1 => 2,
        2 => 4,
        _ => 8,
    }
}

/// CUDA's vector types (`uchar4`, `dim3`, `half2`) by name: the type of a lane and the number of lanes.
pub fn cuda_vector(name: &str) -> Option<(Scalar, u8)> {
    match name {
        "dim3" => return Some((Scalar::uint(4), 3)),
        "half2" | "__half2" | "nv_bfloat162" | "__nv_bfloat162" => return Some((Scalar::Float { bytes: 2 }, 2)),
        _ => {}
    }
    let lanes = name.bytes().last().filter(|last| (b'1'..=b'4').contains(last))? - b'0';
    let element = name.get(..name.len() - 1)?;
    let element = match element {
        "longlong" => Scalar::int(8),
        "ulonglong" => Scalar::uint(8),
        "char" | "uchar" | "short" | "ushort" | "int" | "uint" | "long" | "ulong" | "float" | "double" => {
            Scalar::of_cpp(element)?
        }
        _ => return None,
    };
    Some((element, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cpp() {
        for (name, expected) in [
            ("unsigned long long int", Some(Scalar::uint(8))),
            ("long unsigned", Some(Scalar::uint(8))),
            ("short int", Some(Scalar::int(2))),
            ("unsigned char", Some(Scalar::uint(1))),
            ("long double", None),
            ("size_t", Some(Scalar::uint(8))),
            ("__nv_bfloat16", Some(Scalar::Float { bytes: 2 })),
            ("unsigned thing", None),
            ("float4", None),
            ("", None),
        ] {
            assert_eq!(Scalar::of_cpp(name), expected, "{name}");
        }
        for ty in [Scalar::Bool, Scalar::int(1), Scalar::uint(2), Scalar::INT, Scalar::uint(8), Scalar::DOUBLE] {
            assert_eq!(Scalar::of_cpp(ty.cpp_name()), Some(ty));
            assert_eq!(Scalar::of_numpy(&ty.numpy_name()), Some(ty));
        }
    }

    #[test]
    fn names_of_python() {
        assert_eq!(Scalar::of_numpy("<f4"), Some(Scalar::Float { bytes: 4 }));
        assert_eq!(Scalar::of_numpy("float_"), Some(Scalar::DOUBLE));
        assert_eq!(Scalar::of_numba("float_"), Some(Scalar::Float { bytes: 4 }));
        assert_eq!(Scalar::of_numpy("str"), None);
        assert_eq!(Scalar::Complex { bytes: 16 }.numpy_name(), "complex128");
    }

    #[test]
    fn vector_types() {
        assert_eq!(cuda_vector("ulonglong2"), Some((Scalar::uint(8), 2)));
        assert_eq!(cuda_vector("float3"), Some((Scalar::Float { bytes: 4 }, 3)));
        assert_eq!(cuda_vector("dim3"), Some((Scalar::uint(4), 3)));
        for name in ["float5", "half4", "size_t4", "4", "", "\u{e4}4"] {
            assert_eq!(cuda_vector(name), None, "{name}");
        }
    }

    #[test]
    fn promotion_is_that_of_numpy() {
        let named = |name: &str| Scalar::of_numpy(name);
        for (a, b, expected) in [
            ("bool", "int8", "int8"),
            ("int8", "uint8", "int16"),
            ("int32", "uint8", "int32"),
            ("int16", "uint32", "int64"),
            ("int64", "uint64", "float64"),
            ("uint16", "uint64", "uint64"),
            ("int8", "float16", "float16"),
            ("uint16", "float16", "float32"),
            ("int32", "float32", "float64"),
            ("float32", "float64", "float64"),
            ("complex64", "float64", "complex128"),
            ("complex64", "float32", "complex64"),
            ("complex64", "int16", "complex64"),
            ("complex64", "int32", "complex128"),
        ] {
            let found = named(a).zip(named(b)).map(|(a, b)| (a.numpy_common(b), b.numpy_common(a)));
            assert_eq!(found, named(expected).map(|ty| (ty, ty)), "{a} with {b}");
        }
    }
}
