//! What a kernel in Python is compiled for: the types of its arguments, what it takes from around it, and the parameters that its code
//! then has.

use crate::code::{Part, Ty};
use cudalint_program::Name;
use cudalint_program::ir::{Dialect, FunctionId, ModuleId};
use std::sync::Arc;

/// The types that a kernel is compiled for, and what it takes from the scopes around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Specialization {
    /// Which language's rules hold.
    pub dialect: Dialect,
    /// One for each parameter of the Python function; of a ufunc one more, for the array of results.
    pub arguments: Vec<ArgumentType>,
    /// Globals and variables of functions around, as they are when the kernel is compiled: at its first launch. What is not listed
    /// is unknown. Sorted by name.
    pub captured: Vec<(Name, Constant)>,
}

/// Type of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentType {
    /// A number; one parameter of the code.
    Scalar(Ty),
    /// An array: its data, then its extents, then (only when [`Order::Strided`]) its strides in bytes.
    Array {
        /// Type of an element; [`Ty::Opaque`] where it is not known, with its size if that is.
        element: Ty,
        /// Number of axes.
        rank: u8,
        /// How it lies in memory.
        order: Order,
    },
    /// An array of records; parameters as those of an array.
    Records {
        /// What an element is.
        record: Arc<Record>,
        /// Number of axes.
        rank: u8,
        /// How it lies in memory.
        order: Order,
    },
    /// A tuple; its elements' parameters in a row.
    Tuple(Vec<ArgumentType>),
    /// `None`; no parameter of the code.
    None,
    /// Nothing is known; one parameter of the code.
    Unknown,
}

/// How an array's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Row by row, without gaps.
    C,
    /// Column by column, without gaps.
    Fortran,
    /// As its strides say.
    Strided,
}

/// A value that a kernel takes from outside as a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    /// An integer; of a `NumPy` scalar with its type, of a plain Python number `int64`.
    Int(i64, Ty),
    /// A truth value.
    Bool(bool),
    /// A floating-point number with its type.
    Float(f64, Ty),
    /// A string.
    Str(Arc<str>),
    /// `None`.
    None,
    /// A tuple (or a list that nobody changes).
    Tuple(Vec<Constant>),
    /// A type of numbers: `numba.float32`, `np.int32`, `float`.
    Type(Ty),
    /// A structured type: `numba.from_dtype(…)`.
    Record(Arc<Record>),
    /// An array that is copied into the kernel: element type, extents, and integers it holds, where known.
    Array {
        /// Type of an element.
        element: Ty,
        /// Extents.
        shape: Vec<i64>,
        /// Values of integer elements in C order.
        values: Option<Arc<[i64]>>,
    },
    /// A function of the project: device code that it calls. For one made inside another function, with what it captures in turn.
    Function(ModuleId, FunctionId, Vec<(Name, Constant)>),
    /// A module or function of a package, by its dotted path: `math`, `numba.cuda.atomic`, `numpy.sqrt`.
    Package(Arc<str>),
}

/// A parameter of the code of a specialized kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// As messages name it: `a`, `a.shape[0]`, `a.strides[1]`, `t[2]`.
    pub name: String,
    /// The Python parameter that it belongs to.
    pub of: usize,
    /// What it holds of it.
    pub part: Part,
    /// Its type.
    pub ty: Ty,
}

/// The parameters that the code of a kernel has for arguments of these types, given the names of the Python parameters.
pub fn parameters(names: &[Name], arguments: &[ArgumentType]) -> Vec<Parameter> {
    let mut all = Vec::new();
    for (of, argument) in arguments.iter().enumerate() {
        let name = names.get(of).map_or_else(String::new, ToString::to_string);
        push(&name, of, argument, 0, &mut all);
    }
    all
}

/// Deepest nesting of tuples.
pub(super) const MAX_NESTING: u32 = 8;

fn push(name: &str, of: usize, argument: &ArgumentType, depth: u32, all: &mut Vec<Parameter>) {
    let mut add = |name: String, part, ty| all.push(Parameter { name, of, part, ty });
    match argument {
        ArgumentType::Scalar(ty) => add(name.to_owned(), Part::Value, ty.clone()),
        ArgumentType::Unknown => add(name.to_owned(), Part::Value, Ty::Opaque { bytes: None }),
        ArgumentType::None => {}
        ArgumentType::Array { rank, order, .. } | ArgumentType::Records { rank, order, .. } => {
            add(name.to_owned(), Part::Data, Ty::Pointer);
            for axis in 0..*rank {
                add(format!("{name}.shape[{axis}]"), Part::Extent(axis), Ty::LONG);
            }
            if *order == Order::Strided {
                for axis in 0..*rank {
                    add(format!("{name}.strides[{axis}]"), Part::Stride(axis), Ty::LONG);
                }
            }
        }
        ArgumentType::Tuple(elements) if depth < MAX_NESTING => {
            for (index, element) in elements.iter().enumerate() {
                push(&format!("{name}[{index}]"), of, element, depth + 1, all);
            }
        }
        ArgumentType::Tuple(_) => {}
    }
}

/// A structured type.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Bytes of one, padding and all.
    pub bytes: u32,
    /// What it is aligned to as a field of another.
    pub align: u32,
    /// Its fields, in order.
    pub fields: Vec<Field>,
}

/// A field of a structured type.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: Name,
    /// Bytes from the record's start.
    pub offset: u32,
    /// What it holds, or what the elements are of the array that it is; of a record its size.
    pub element: Ty,
    /// What an element is aligned to.
    pub align: u32,
    /// The fields of an element that is a record.
    pub record: Option<Arc<Record>>,
    /// Extents, where the field is an array.
    pub shape: Vec<i64>,
}

impl Record {
    /// A field by its name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == *name)
    }
}
