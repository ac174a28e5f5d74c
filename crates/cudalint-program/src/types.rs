//! Resolved types: names followed through aliases, template parameters bound to what they stand for.

use crate::crowd::Entry;
use crate::ir::{FunctionId, ModuleId, TemplateParam};
use crate::name::Name;
use cudalint_numbers::{Integer, Quantity, Scalar, cuda_vector};
use std::sync::{Arc, OnceLock};

/// A resolved type. `const` and `volatile` are dropped.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// `void`.
    Void,
    /// `bool`.
    Bool,
    /// Integers and characters.
    Int {
        /// Size.
        bytes: u8,
        /// Signedness.
        signed: bool,
    },
    /// Floating-point numbers of 2, 4 or 8 bytes.
    Float {
        /// Size.
        bytes: u8,
    },
    /// CUDA vector types and `dim3`.
    Vector {
        /// Its name.
        name: Name,
        /// Type of one lane.
        lane: Scalar,
        /// Number of lanes.
        lanes: u8,
    },
    /// `T*`.
    Pointer(Arc<Ty>),
    /// `T&`.
    Reference(Arc<Ty>),
    /// `T[n]`; on the host `n` may be a symbol.
    Array(Arc<Ty>, Quantity),
    /// A record of the project with what its template parameters stand for.
    Record(Entry, TypeEnv),
    /// An enum of the project: one of its enumerators, and its integer type.
    Enum {
        /// One of its enumerators.
        of: Entry,
        /// Size.
        bytes: u8,
        /// Signedness.
        signed: bool,
    },
    /// A type whose definition is out of sight, with its full name as written (`std::vector`) and its arguments.
    Library(Arc<str>, Arc<[Argument]>),
    /// A function type.
    Function,
    /// `auto` that nothing explains.
    Auto,
    /// Nothing is known.
    Unknown,
}

/// What a template parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A type.
    Type(Ty),
    /// An integer of the parameter's type; only the walk of host code binds symbols.
    Value(Quantity),
    /// A function, with what its own parameters stand for.
    Function(ModuleId, FunctionId, TypeEnv),
    /// Not known here: the name must not be looked up anywhere else.
    Unknown,
}

/// What template parameters stand for. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct TypeEnv {
    bindings: Option<Arc<Bindings>>,
}

/// Bindings, outermost first, and what tells them from others once somebody has asked.
#[derive(Debug, Default)]
struct Bindings {
    list: Vec<(Name, Argument)>,
    mark: OnceLock<Option<u64>>,
}

impl Clone for Bindings {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), mark: OnceLock::new() }
    }
}

impl PartialEq for TypeEnv {
    fn eq(&self, other: &Self) -> bool {
        match (&self.bindings, &other.bindings) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a.list == b.list,
            (a, b) => a.is_none() && b.is_none(),
        }
    }
}

impl TypeEnv {
    /// With these bindings.
    pub fn new(bindings: Vec<(Name, Argument)>) -> Self {
        let bindings = (!bindings.is_empty()).then(|| Arc::new(Bindings { list: bindings, mark: OnceLock::new() }));
        Self { bindings }
    }

    /// Every parameter bound to nothing known.
    pub fn unbound(params: &[TemplateParam]) -> Self {
        Self::new(params.iter().map(|param| (param.name.clone(), Argument::Unknown)).collect())
    }

    /// What a name stands for; the innermost binding counts.
    pub fn get(&self, name: &str) -> Option<&Argument> {
        self.bindings
            .as_ref()?
            .list
            .iter()
            .rev()
            .find(|(bound, _)| bound.as_str() == name)
            .map(|(_, argument)| argument)
    }

    /// Adds a binding, which hides one of the same name.
    pub fn push(&mut self, name: Name, argument: Argument) {
        let bindings = Arc::make_mut(self.bindings.get_or_insert_default());
        bindings.list.push((name, argument));
        bindings.mark = OnceLock::new();
    }

    /// Whether nothing is bound.
    pub const fn is_empty(&self) -> bool {
        self.bindings.is_none()
    }

    /// With more bindings, which hide equal names.
    #[must_use]
    pub fn with(&self, more: impl IntoIterator<Item = (Name, Argument)>) -> Self {
        let mut bindings = self.bindings.as_ref().map(|bindings| bindings.list.clone()).unwrap_or_default();
        bindings.extend(more);
        Self::new(bindings)
    }

    /// All bindings, outermost first.
    pub fn iter(&self) -> impl Iterator<Item = &(Name, Argument)> {
        self.bindings.iter().flat_map(|bindings| bindings.list.iter())
    }

    /// What `make` makes of the bindings to tell them from others: made once. That of no bindings is 0.
    pub(crate) fn marked(&self, make: impl FnOnce(&[(Name, Argument)]) -> Option<u64>) -> Option<u64> {
        let Some(bindings) = &self.bindings else { return Some(0) };
        *bindings.mark.get_or_init(|| make(&bindings.list))
    }
}

impl Argument {
    /// The number that it is.
    pub const fn number(&self) -> Option<i64> {
        match self {
            Self::Value(value) => value.known(),
            _ => None,
        }
    }
}

/// Library types whose elements are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
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

impl Ty {
    /// `int`.
    pub const INT: Self = Self::Int { bytes: 4, signed: true };
    /// `char`.
    pub const CHAR: Self = Self::Int { bytes: 1, signed: true };
    /// `unsigned char`, a byte.
    pub const BYTE: Self = Self::Int { bytes: 1, signed: false };
    /// `unsigned`.
    pub const UINT: Self = Self::Int { bytes: 4, signed: false };
    /// `long long`, `ptrdiff_t`.
    pub const LONG: Self = Self::Int { bytes: 8, signed: true };
    /// `size_t`.
    pub const SIZE: Self = Self::Int { bytes: 8, signed: false };
    /// `double`.
    pub const DOUBLE: Self = Self::Float { bytes: 8 };

    /// A scalar type; complex numbers are none of C++'s.
    pub const fn of_scalar(ty: Scalar) -> Self {
        match ty {
            Scalar::Bool => Self::Bool,
            Scalar::Int(ty) => Self::of_integer(ty),
            Scalar::Float { bytes } => Self::Float { bytes },
            Scalar::Complex { .. } => Self::Unknown,
        }
    }

    /// A type of integers.
    pub const fn of_integer(ty: Integer) -> Self {
        Self::Int { bytes: ty.bytes, signed: ty.signed }
    }

    /// `T*`.
    pub fn pointer_to(ty: Self) -> Self {
        Self::Pointer(Arc::new(ty))
    }

    /// A type that a container of the library declares: `std::vector<float>::value_type`.
    pub fn library_member(&self, name: &str) -> Option<Self> {
        let (_, element, _) = self.container()?;
        match name {
            "value_type" | "element_type" => Some(element.clone()),
            "size_type" => Some(Self::SIZE),
            "difference_type" => Some(Self::LONG),
            _ => None,
        }
    }

    /// The type without a reference around it.
    pub fn value(&self) -> &Self {
        match self {
            Self::Reference(inner) => inner,
            other => other,
        }
    }

    /// A CUDA vector type by its name; one that is none is not known.
    pub fn vector(name: &str) -> Self {
        cuda_vector(name).map_or(Self::Unknown, |(lane, lanes)| Self::Vector { name: Name::from(name), lane, lanes })
    }

    /// A type of a library, by its name, of these elements.
    pub fn library_of(name: &str, element: Self) -> Self {
        Self::Library(name.into(), [Argument::Type(element)].into())
    }

    /// The library container that it is, with its elements' type and, of `std::array`, their number.
    pub fn container(&self) -> Option<(Container, &Self, Quantity)> {
        let Self::Library(name, args) = self else { return None };
        let element = match args.first() {
            Some(Argument::Type(ty)) => ty,
            _ => &Self::Unknown,
        };
        let kind = match (last_segment(name), &**args) {
            // An allocator of its own may give memory of any kind, as `universal_vector` does.
            ("vector" | "host_vector", [] | [_]) => Container::Vector,
            ("device_vector" | "device_uvector", _) => Container::DeviceVector,
            ("device_ptr", _) => Container::DevicePointer,
            ("string", _) => return Some((Container::String, &Self::CHAR, Quantity::Unknown)),
            ("unique_ptr" | "shared_ptr", _) => match element {
                Self::Array(of, _) => return Some((Container::SmartPointer, of, Quantity::Unknown)),
                _ => Container::SmartPointer,
            },
            ("array", [_, count]) => {
                let count = if let Argument::Value(count) = count { count.clone() } else { Quantity::Unknown };
                return Some((Container::Array, element, count));
            }
            _ => return None,
        };
        Some((kind, element, Quantity::Unknown))
    }

    /// Whether nothing is known of values of the type.
    pub fn is_unknown(&self) -> bool {
        match self.value() {
            Self::Auto | Self::Unknown => true,
            ty @ Self::Library(..) => ty.container().is_none(),
            _ => false,
        }
    }

    /// This type, or another where nothing is known of this one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self.is_unknown() { other } else { self }
    }

    /// Whether values are rows of elements.
    pub fn is_array(&self) -> bool {
        match self.value() {
            Self::Array(..) => true,
            ty => matches!(ty.container(), Some((Container::Array, ..))),
        }
    }

    /// Whether values of the type are one number or address.
    pub fn is_scalar(&self) -> bool {
        matches!(self.value(), Self::Bool | Self::Int { .. } | Self::Float { .. } | Self::Pointer(_))
    }

    /// The type that a value has when it is passed or given to `auto`: arrays become pointers, references their target.
    #[must_use]
    pub fn decayed(&self) -> Self {
        match self.value() {
            Self::Array(element, _) => Self::Pointer(Arc::clone(element)),
            other => other.clone(),
        }
    }

    /// What a pointer, an array or a smart pointer points to.
    pub fn pointee(&self) -> Option<&Self> {
        match self.value() {
            Self::Pointer(to) | Self::Array(to, _) => Some(to),
            ty => match ty.container() {
                Some((Container::SmartPointer, to, _)) => Some(to),
                _ => None,
            },
        }
    }

    /// What indexing or dereferencing gives: of pointers, arrays, and of library containers and smart pointers.
    pub fn element(&self) -> Option<&Self> {
        match self.value() {
            Self::Pointer(to) | Self::Array(to, _) => Some(to),
            Self::Library(name, args) if is_sequence(name) || is_pointer_like(name) => match args.first() {
                Some(Argument::Type(ty)) => Some(ty),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether this is a pointer.
    pub fn is_pointer(&self) -> bool {
        matches!(self.value(), Self::Pointer(_))
    }

    /// Size and signedness of an integer, truth value or enum.
    pub fn integer(&self) -> Option<(u8, bool)> {
        match self.value() {
            Self::Int { bytes, signed } | Self::Enum { bytes, signed, .. } => Some((*bytes, *signed)),
            Self::Bool => Some((1, false)),
            _ => None,
        }
    }

    /// The type after integer promotion; `None` when it is no arithmetic type.
    pub fn promoted(&self) -> Option<Self> {
        match self.value() {
            Self::Float { bytes } => Some(Self::Float { bytes: *bytes }),
            other => other.integer().map(|(bytes, signed)| Self::of_integer(Integer::new(bytes, signed).promoted())),
        }
    }

    /// The type of `a + b` by the usual arithmetic conversions; `None` when one is no arithmetic type.
    pub fn common(&self, other: &Self) -> Option<Self> {
        Some(match (self.promoted()?, other.promoted()?) {
            (Self::Float { bytes: a }, Self::Float { bytes: b }) => Self::Float { bytes: a.max(b) },
            (float @ Self::Float { .. }, _) | (_, float @ Self::Float { .. }) => float,
            (Self::Int { bytes: a, signed: s }, Self::Int { bytes: b, signed: t }) => {
                Self::of_integer(Integer::new(a, s).common(Integer::new(b, t)))
            }
            _ => return None,
        })
    }

    /// The name for messages, where the type has a short one; else empty.
    pub fn name(&self) -> String {
        match self {
            Self::Void => "void".into(),
            Self::Bool => "bool".into(),
            Self::Int { bytes, signed } => Scalar::Int(Integer::new(*bytes, *signed)).cpp_name().into(),
            Self::Float { bytes } => Scalar::Float { bytes: *bytes }.cpp_name().into(),
            Self::Vector { name, .. } => name.to_string(),
            Self::Pointer(to) => match to.name() {
                name if name.is_empty() => name,
                name => format!("{name}*"),
            },
            Self::Reference(to) | Self::Array(to, _) => to.name(),
            Self::Library(name, _) => name.to_string(),
            _ => String::new(),
        }
    }
}

/// Which lane of a vector type a name stands for.
pub fn lane_named(name: &str) -> Option<u8> {
    ["x", "y", "z", "w"].iter().position(|lane| *lane == name).map(|at| at as u8)
}

/// The name without the namespaces before it.
pub fn last_segment(name: &str) -> &str {
    // Asked of every library type that a value has: most have one namespace or none.
    match name.rfind(':') {
        Some(at) if name[..at].ends_with(':') => &name[at + 1..],
        Some(_) => name.rsplit("::").next().unwrap_or(name),
        None => name,
    }
}

/// Whether a library type is a sequence whose first argument is its element type.
pub fn is_sequence(name: &str) -> bool {
    matches!(
        name,
        "std::vector"
            | "vector"
            | "std::array"
            | "array"
            | "std::span"
            | "cuda::std::span"
            | "cuda::std::array"
            | "thrust::device_vector"
            | "thrust::host_vector"
            | "thrust::universal_vector"
            | "device_vector"
            | "host_vector"
    )
}

/// Whether a library type is used like a pointer to its first argument.
pub fn is_pointer_like(name: &str) -> bool {
    matches!(
        name,
        "std::unique_ptr"
            | "unique_ptr"
            | "std::shared_ptr"
            | "shared_ptr"
            | "thrust::device_ptr"
            | "device_ptr"
            | "thrust::unique_ptr"
    )
}

/// `std::is_same_v<T, U>` and other questions about types whose answer is known. Of integers only sizes and signs are kept here:
/// where several types have the same, equal ones may differ.
pub fn type_trait(name: &str, types: &[Ty]) -> Option<bool> {
    let is_open = |ty: &Ty| matches!(ty, Ty::Unknown | Ty::Auto);
    if types.iter().any(is_open) {
        return None;
    }
    match (name.strip_suffix("_v").unwrap_or(name), types) {
        ("is_same", [Ty::Int { bytes: 1 | 8, .. }, _]) if types[0] == types[1] => None,
        ("is_same", [a, b]) => Some(a == b),
        ("is_floating_point", [ty]) => Some(matches!(ty, Ty::Float { .. })),
        ("is_integral", [ty]) => Some(matches!(ty, Ty::Int { .. } | Ty::Bool)),
        ("is_pointer", [ty]) => Some(matches!(ty, Ty::Pointer(_))),
        ("is_signed", [ty]) => Some(matches!(ty, Ty::Float { .. } | Ty::Int { signed: true, .. })),
        ("is_unsigned", [ty]) => Some(matches!(ty, Ty::Bool | Ty::Int { signed: false, .. })),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn arithmetic_conversions_follow_c() {
        let uint = Ty::Int { bytes: 4, signed: false };
        let long = Ty::Int { bytes: 8, signed: true };
        let short = Ty::Int { bytes: 2, signed: false };
        assert_eq!(Ty::INT.common(&uint), Some(uint.clone()));
        assert_eq!(uint.common(&long), Some(long.clone()));
        assert_eq!(long.common(&Ty::SIZE), Some(Ty::SIZE));
        assert_eq!(short.common(&short), Some(Ty::INT));
        assert_eq!(Ty::Bool.common(&Ty::Bool), Some(Ty::INT));
        assert_eq!(Ty::SIZE.common(&Ty::Float { bytes: 4 }), Some(Ty::Float { bytes: 4 }));
        assert_eq!(Ty::INT.common(&Ty::pointer_to(Ty::INT)), None);
    }

    #[test]
    fn inner_bindings_hide_outer_ones() {
        let env =
            TypeEnv::new(vec![(Name::from("T"), Argument::Unknown), (Name::from("N"), Argument::Value(1.into()))]);
        let env = env.with([(Name::from("T"), Argument::Type(Ty::INT))]);
        assert_eq!(env.get("T").unwrap(), &Argument::Type(Ty::INT));
        assert_eq!(env.get("N").unwrap(), &Argument::Value(1.into()));
        assert_eq!(env.get("U"), None);
    }
}
