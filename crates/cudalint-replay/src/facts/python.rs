//! Facts that only Python host code has.

use super::Site;
use super::values::{Amount, Step};
use crate::quantity::Assumptions;
use cudalint_program::ir::{FunctionId, ModuleId};

/// How a launch is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LaunchSpelling {
    /// `k<<<grid, block>>>(x)`.
    #[default]
    Chevron,
    /// `cudaLaunchKernel(k, grid, block, …)` and other calls of C++.
    Call,
    /// `k[grid, block](x)` of Numba.
    Numba,
    /// `k(grid, block, (x,))` of `CuPy`'s `RawKernel`.
    CupyRaw,
    /// `k(x, y)` of `CuPy`'s `ElementwiseKernel`.
    CupyBody,
    /// `k[grid, block](x)` and `k(grid, block, (x,))` of `cupyx.jit`.
    CupyJit,
    /// `k(x, block=…, grid=…)` of `PyCUDA`.
    PyCuda,
}

impl LaunchSpelling {
    /// Whether it is written in Python.
    pub const fn is_python(self) -> bool {
        !matches!(self, Self::Chevron | Self::Call)
    }
}

/// Something that goes wrong between Python host code and a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct PythonFault {
    /// What.
    pub kind: PythonFaultKind,
    /// Where.
    pub site: Site,
    /// The host function whose code this is.
    pub function: (ModuleId, FunctionId),
    /// The way there.
    pub path: Vec<Step>,
    /// What it rests on.
    pub assumptions: Assumptions,
}

/// How a number does not fit a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeProblem {
    /// Its bytes are read as those of another type.
    Misread,
    /// It is an integer that is read as a longer one, with zeros behind it: what arrives is the number, unless that is negative.
    Short,
    /// The call raises an exception.
    Refused,
}

/// Why a package refuses to copy one array into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CopyProblem {
    /// They have different numbers of elements.
    Size,
    /// Their elements are of different types.
    ElementType,
}

/// A number that is handed over for a parameter of another type.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongArgument {
    /// The argument as written.
    pub text: String,
    /// Its type: `float` of Python, `float64`.
    pub given: String,
    /// The parameter's type: `float`.
    pub wanted: String,
    /// The parameter.
    pub parameter: String,
    /// The parameter's declaration.
    pub declared: Site,
}

/// What goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum PythonFaultKind {
    /// A copy between two arrays that its package refuses with an exception. At the call.
    CopyRefused {
        /// The function: `copy_to_device`, `set`.
        api: String,
        /// The array that should be written, as written.
        destination: String,
        /// The array that should be read, as written.
        source: String,
        /// Their types of elements, in that order.
        types: (String, String),
        /// How many elements they have.
        sizes: (Amount, Amount),
        /// Where they are made.
        made: (Site, Site),
        /// What does not go together.
        problem: CopyProblem,
        /// The exception's class.
        exception: &'static str,
    },
    /// A number of one type for a parameter of another, without conversion. At the argument.
    ArgumentType {
        /// The kernel.
        kernel: String,
        /// The argument and its parameter.
        argument: WrongArgument,
        /// What comes of it.
        problem: TypeProblem,
        /// Others of the call that the same exception keeps from the kernel.
        others: Vec<WrongArgument>,
    },
    /// An array whose elements are of another type than the kernel's pointer says. At the argument.
    ElementType {
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// The parameter's declaration.
        declared: Site,
        /// The type that the parameter points to: `float`.
        wanted: String,
        /// The array's type of elements: `float64`.
        given: String,
        /// The argument as written.
        text: String,
        /// Where the array is made.
        made: Site,
    },
    /// A view whose elements do not lie in one piece, for a kernel that indexes as if they did. At the argument.
    NotContiguous {
        /// The kernel.
        kernel: String,
        /// Its parameter.
        parameter: String,
        /// The parameter's declaration.
        declared: Site,
        /// The argument as written.
        text: String,
        /// The expression that makes the view: `m.T`, `a[::2]`.
        view: Site,
        /// Whether it is the whole array in another order.
        transposed: bool,
    },
    /// The host looks at an array whose device copy a kernel has changed, and nobody ever fetches the copy. At the look.
    NotCopiedBack {
        /// The kernel.
        kernel: String,
        /// The host array.
        host: String,
        /// Its copy on the device.
        device: String,
        /// The transfer to the device.
        transfer: Site,
        /// The launch that changes the copy.
        launch: Site,
    },
    /// A variable that a kernel has taken as a constant has another value at a later launch. At the assignment.
    CapturedChanged {
        /// The kernel as written.
        kernel: String,
        /// The kernel.
        function: (ModuleId, FunctionId),
        /// The variable.
        name: String,
        /// Its value when the kernel was compiled.
        before: String,
        /// Its value now.
        after: String,
        /// The launch that compiled the kernel.
        compiled: Site,
        /// The later launch.
        launch: Site,
    },
}
