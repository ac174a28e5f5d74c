//! Types as the walk uses them: names resolved, template parameters bound.

use crate::quantity::Quantity;
use crate::value::Val;
use cudalint_numbers::{Integer, Scalar};
use cudalint_program::Name;
use cudalint_program::ir::ModuleId;
use std::rc::Rc;

/// A resolved type; qualifiers are dropped.
#[derive(Clone, Debug)]
pub(crate) enum Ty {
    Void,
    Bool,
    Int {
        bytes: u8,
        signed: bool,
    },
    Float {
        bytes: u8,
    },
    /// A CUDA vector type: `bytes` of one lane.
    Vector {
        name: Name,
        bytes: u8,
        signed: bool,
        float: bool,
        lanes: u8,
    },
    Ptr(Rc<Ty>),
    /// `const` when a write through it is not possible.
    Ref(Rc<Ty>, bool),
    Array(Rc<Ty>, Quantity),
    /// A record of a module with its template arguments.
    Record(ModuleId, u32, Rc<Env>),
    /// A library container.
    Container(Container, Rc<Ty>, Quantity),
    Function,
    Auto,
    /// A name that is not in sight: a template parameter without an argument, or a type of a foreign header.
    Opaque(Name),
    Unknown,
}

/// Library types that the walk knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    /// `std::vector`, `thrust::host_vector`.
    Vector,
    /// `thrust::device_vector`.
    DeviceVector,
    /// `std::array`.
    Array,
    /// `std::string`.
    String,
    /// `std::unique_ptr`, `std::shared_ptr`.
    SmartPointer,
    /// `thrust::device_ptr`: the value is the pointer itself, and host code may look through it by copies.
    DevicePointer,
}

/// What template parameters stand for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    pub entries: Vec<(Name, Argument)>,
}

/// A template argument.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Type(Ty),
    Value(Val),
}

impl Env {
    /// The argument of a parameter.
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.entries.iter().rev().find(|(entry, _)| entry.as_str() == name).map(|(_, argument)| argument)
    }

    /// Whether `name` is bound to a type other than a pointer-erasing unknown.
    pub fn ty(&self, name: &str) -> Option<&Ty> {
        match self.get(name) {
            Some(Argument::Type(ty)) => Some(ty),
            _ => None,
        }
    }
}

impl Ty {
    pub const SIZE: Self = Self::Int { bytes: 8, signed: false };
    pub const INT: Self = Self::Int { bytes: 4, signed: true };

    /// A scalar type; complex numbers are none of C++'s.
    pub const fn of_scalar(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool,
            Scalar::Int(Integer { bytes, signed }) => Self::Int { bytes, signed },
            Scalar::Float { bytes } => Self::Float { bytes },
            Scalar::Complex { .. } => Self::Unknown,
        }
    }

    pub fn pointer(to: Self) -> Self {
        Self::Ptr(Rc::new(to))
    }

    /// The type without a reference around it.
    pub fn value(&self) -> &Self {
        match self {
            Self::Ref(inner, _) => inner,
            other => other,
        }
    }

    /// What a pointer or array points to.
    pub fn pointee(&self) -> Option<&Self> {
        match self.value() {
            Self::Ptr(to) | Self::Array(to, _) => Some(to),
            Self::Container(Container::SmartPointer, to, _) => Some(to),
            _ => None,
        }
    }

    pub fn is_pointer(&self) -> bool {
        matches!(self.value(), Self::Ptr(_))
    }

    pub fn is_array(&self) -> bool {
        matches!(self.value(), Self::Array(..) | Self::Container(Container::Array, ..))
    }

    /// Whether values of the type are one cell.
    pub fn is_scalar(&self) -> bool {
        matches!(self.value(), Self::Bool | Self::Int { .. } | Self::Float { .. } | Self::Ptr(_))
    }

    /// Whether nothing is known about it.
    pub fn is_unknown(&self) -> bool {
        matches!(self.value(), Self::Auto | Self::Unknown | Self::Opaque(_))
    }

    /// The name for messages.
    pub fn name(&self) -> String {
        match self {
            Self::Void => "void".into(),
            Self::Bool => "bool".into(),
            // Host code counts with it.
            Self::Int { bytes: 8, signed: false } => "size_t".into(),
            Self::Int { bytes, signed } => Scalar::Int(Integer::new(*bytes, *signed)).cpp_name().into(),
            Self::Float { bytes } => Scalar::Float { bytes: *bytes }.cpp_name().into(),
            Self::Vector { name, .. } | Self::Opaque(name) => name.to_string(),
            Self::Ptr(to) => format!("{}*", to.name()),
            Self::Ref(to, _) => to.name(),
            Self::Array(to, _) => to.name(),
            _ => String::new(),
        }
    }
}
