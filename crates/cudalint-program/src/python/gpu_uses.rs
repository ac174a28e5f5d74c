//! What is found of GPU packages in one Python file, as plain data.

use cudalint_syntax::{PythonChevron, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// The GPU facts of one Python file or fence.
#[derive(Clone, Debug, Default)]
pub struct PythonNames {
    /// Local name to dotted path of what it was imported as, at any level: `cp` to `cupy`, `cuda` to `numba.cuda`, `jit`
    /// to `numba.cuda.jit`.
    pub imports: FxHashMap<String, String>,
    /// Launches in CUDA C++ spelling, in order.
    pub chevrons: Vec<ChevronLaunch>,
    /// Launches that raise an exception, in order.
    pub launches: Vec<MalformedLaunch>,
    /// Uses of names that no known version of a package has, in order.
    pub unknown: Vec<UnknownName>,
    /// Plain functions that are launched like kernels, in order of the definitions.
    pub undecorated: Vec<UndecoratedKernel>,
    /// Memory pointers handed to functions that want arrays, in order.
    pub pointers_as_arrays: Vec<PointerAsArray>,
}

/// A way to write kernels in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framework {
    /// `numba.cuda.jit`.
    Numba,
    /// `cupy.RawKernel` and `cupy.RawModule`.
    CupyRaw,
    /// `cupyx.jit.rawkernel`.
    CupyJit,
    /// `pycuda.compiler.SourceModule`.
    PyCuda,
}

/// `kernel<<<grid, block>>>(args)` in Python.
#[derive(Clone, Debug, PartialEq)]
pub struct ChevronLaunch {
    /// Where its parts stand.
    pub parts: PythonChevron,
    /// What the kernel was made with, where that is known.
    pub framework: Option<Framework>,
    /// The GPU packages that the file imports, where the kernel itself does not tell.
    pub imported: Vec<Framework>,
    /// The function around it.
    pub function: String,
}

/// A launch that raises an exception.
#[derive(Clone, Debug, PartialEq)]
pub struct MalformedLaunch {
    /// The kernel as written at the launch.
    pub kernel: String,
    /// What it was made with.
    pub framework: Framework,
    /// Where the kernel is defined.
    pub definition: Span,
    /// The whole launch.
    pub launch: Span,
    /// The part that is wrong.
    pub span: Span,
    /// What is wrong.
    pub problem: LaunchProblem,
    /// What must be assumed, in words.
    pub assumption: Option<String>,
    /// The function around it.
    pub function: String,
}

/// Which dimensions of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Dimensions {
    Grid,
    Block,
}

/// What is wrong with a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchProblem {
    /// `k[a, …](…)` with a wrong number of elements.
    ElementCount(usize),
    /// `k[n](…)` where `n` is a number.
    NotATuple,
    /// `k(…)` of a kernel that needs `k[grid, block](…)`.
    Unconfigured,
    /// A dimension that is a `float`.
    FloatDimension(Dimensions),
    /// More than three dimensions.
    TooManyDimensions(Dimensions, usize),
    /// A grid or block that is not a tuple, where only a tuple will do.
    DimensionsNotTuple(Dimensions),
    /// The kernel's arguments are not in a tuple.
    ArgumentsNotTuple,
    /// Too few or too many arguments of the launch itself.
    ArgumentCount(usize),
    /// `k[…]` of a kernel that has no subscript.
    NotSubscriptable,
    /// No `block=`.
    MissingBlock,
}

/// A name that no known version of a package has.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownName {
    /// The whole dotted expression up to the name, or the imported name.
    pub span: Span,
    /// As written.
    pub written: String,
    /// The namespace that lacks the name: `cupy.cuda`; for a keyword of `numba.cuda.jit`, that function.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// How it is used.
    pub usage: NameUsage,
    /// What must be assumed, in words.
    pub assumption: Option<String>,
    /// The function around it.
    pub function: String,
}

/// How a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameUsage {
    /// `namespace.name`.
    Attribute,
    /// `from namespace import name` or `import namespace.name`.
    Import,
    /// `namespace(name=…)`.
    Keyword,
}

/// A plain function that is launched like a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct UndecoratedKernel {
    /// Its name.
    pub name: String,
    /// Its name in its definition.
    pub span: Span,
    /// The first launch.
    pub launch: Span,
}

/// A memory pointer handed to a function that wants an array.
#[derive(Clone, Debug, PartialEq)]
pub struct PointerAsArray {
    /// The function as resolved: `cupy.asarray`.
    pub callee: String,
    /// The argument as written.
    pub written: String,
    /// The call.
    pub span: Span,
    /// Where the pointer comes from.
    pub origin: Span,
    /// The function around it.
    pub function: String,
}

/// Packages that the project defines itself, so that the tables of names do not hold for them.
#[derive(Clone, Debug, Default)]
pub struct LocalPackages(FxHashSet<String>);

impl LocalPackages {
    /// Of the paths of a project's files: `src/numba.py` and `cupy/__init__.py` define packages of these names.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found = FxHashSet::default();
        for path in paths {
            let Some(module) = path.strip_suffix(".py") else { continue };
            let module = module.strip_suffix("/__init__").unwrap_or(module);
            let name = module.rsplit('/').next().unwrap_or(module);
            if ["numba", "cupy", "cupyx", "pycuda"].contains(&name) {
                found.insert(name.to_owned());
            }
        }
        Self(found)
    }

    /// Whether the first component of a dotted path is such a package.
    pub fn shadow(&self, path: &str) -> bool {
        !self.0.is_empty() && self.0.contains(path.split('.').next().unwrap_or(path))
    }
}
