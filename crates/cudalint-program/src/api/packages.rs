//! The words for what only functions of Python's packages do.

use super::args::Arg;

/// Who compiles a function of Python for the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compiler {
    /// `numba.cuda.jit`.
    Jit,
    /// `cupyx.jit.rawkernel`.
    Raw,
    /// `numba.cuda.reduce`.
    Reduce,
    /// `numba.vectorize`, which compiles for the CPU unless `target="cuda"` says otherwise, or `numba.cuda.vectorize`.
    Vectorize {
        /// Whether it compiles for the GPU without being told so.
        for_cuda: bool,
    },
    /// `numba.guvectorize`, `numba.cuda.guvectorize`.
    Guvectorize {
        /// Whether it compiles for the GPU without being told so.
        for_cuda: bool,
    },
    /// `numba.jit`: the function stays one of the host.
    Host,
}

/// How a function makes an array of what it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Making {
    /// `array`: always a copy.
    Copy,
    /// `copy`: a copy of an array.
    Clone,
    /// `asarray`: the array itself, where it is one.
    Same,
    /// `ascontiguousarray`: row by row.
    Rows,
    /// `asfortranarray`: column by column.
    Columns,
    /// `require`: as its other arguments say.
    Required,
}

/// What a function that only looks at arrays gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Look {
    Something,
    Truth,
    Nothing,
}

/// Which way an argument travels that is wrapped for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Transfer {
    In,
    Out,
    InOut,
}

/// Functions of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MathOp {
    Sqrt,
    Log2,
    Log,
    Exp2,
    Exp,
    Pow,
    Fmod,
    Rint,
    Floor,
    Ceil,
    Trunc,
    /// Of the type of its operand.
    Abs,
    /// Always a float.
    Fabs,
    Min,
    Max,
    /// Whether a float is of a kind.
    Test,
    /// Of integers, whose value is not followed.
    Whole,
    /// Of floats, whose value is not followed.
    Other,
}

/// What a function of a package of Python does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PythonOp {
    /// Compiles a function, or gives a decorator that does.
    Compiles(Compiler),
    /// Makes a program of the text in an argument.
    Program(Arg),
    /// Finds a kernel by its name in a program, or in the text of one.
    Kernel {
        /// The program.
        of: Arg,
        /// The kernel's name.
        name: Arg,
    },
    /// Makes a kernel of the statements in an argument: `cupy.ElementwiseKernel`.
    Body(Arg),
    /// Fills memory with a program that has been compiled.
    Renders {
        /// The program.
        program: Arg,
        /// The memory.
        into: Arg,
    },
    /// Gives back what it is given, perhaps in other clothes.
    Same(Arg),
    /// A pointer so many bytes behind another.
    Offset {
        /// The other.
        pointer: Arg,
        /// The bytes.
        by: Arg,
    },
    /// Where this argument is given, the array lies in its memory.
    Over(Arg),
    /// Makes an array of its first argument.
    ArrayOf(Making),
    /// `arange`.
    Range,
    /// So many numbers, evenly spaced.
    Spaced(Arg),
    /// `eye`, `identity`.
    Diagonal,
    /// Random numbers.
    Draws {
        /// The argument that says how many; without one each argument is an extent.
        size: Option<Arg>,
        /// Whether they are integers.
        whole: bool,
    },
    /// A generator of random numbers.
    Generator,
    /// Computes each element of a new array.
    Elementwise {
        /// Whether of floats, whatever the operands are.
        float: bool,
    },
    /// Looks at its arguments.
    Looks(Look),
    /// Puts arrays together to one.
    Joins,
    /// The product of matrices.
    Product,
    /// The product of all elements.
    ProductOfAll,
    /// Another view of the same elements.
    Transposes,
    /// With another shape.
    Reshapes,
    /// In one dimension.
    Ravels,
    /// A type of elements.
    Dtype,
    /// A structured type whose fields lie as a C compiler lays them.
    Structure(Arg),
    /// An array over the memory of an argument.
    View,
    /// Fetches an array to the host.
    Fetches,
    /// Wraps an argument of a launch.
    Hands(Transfer),
    /// The configuration of a launch.
    Config,
    /// Starts a kernel of CUDA C++ as `cuLaunchKernel` does.
    Launches,
    /// Starts a kernel as `cuda.core.launch` does.
    CoreLaunches,
    /// Nothing that matters here.
    Nothing,
    /// Says yes: where a program runs, there is a GPU.
    Yes,
    /// A function of numbers.
    Math(MathOp),
}
