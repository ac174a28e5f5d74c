//! What functions of Python's packages are and do, as far as the words for C do not say it, and how their dotted names are
//! found.

use super::effects::{Arg, Effect, Size};
use super::packages::{Compiler, MathOp, PythonOp};
use super::{ApiId, Function};

/// Packages whose functions are those of C, and hand back tuples that begin with a status (`cuda.bindings`, "Return types").
const BINDINGS: [&str; 6] =
    ["cuda.cuda", "cuda.cudart", "cuda.nvrtc", "cuda.bindings.driver", "cuda.bindings.runtime", "cuda.bindings.nvrtc"];

/// What one package has under several names.
const MOVED: [(&str, &str); 7] = [
    ("numba.cuda.cudadrv.devicearray", "numba.cuda"),
    ("numba.cuda.decorators", "numba.cuda"),
    ("numba.cuda.api", "numba.cuda"),
    ("numba_cuda.numba", "numba"),
    ("numba.np.ufunc", "numba"),
    ("cuda.core.experimental", "cuda.core"),
    ("cupy._core", "cupy"),
];

/// Packages that are there where programs for GPUs run: those for GPUs, and what comes with Python.
const EXPECTED: [&str; 22] = [
    "argparse",
    "builtins",
    "collections",
    "contextlib",
    "copy",
    "ctypes",
    "cuda",
    "cupy",
    "cupyx",
    "dataclasses",
    "functools",
    "itertools",
    "math",
    "numba",
    "numba_cuda",
    "numpy",
    "os",
    "pathlib",
    "pycuda",
    "sys",
    "time",
    "typing",
];

/// Whether an import of a package surely finds it: the program is looked at for its GPU code.
pub fn is_expected(package: &str) -> bool {
    EXPECTED.contains(&package)
}

/// One name for what several dotted names mean.
pub fn canonical(path: &str) -> String {
    let mut path = path.replace("()", "");
    for (from, to) in MOVED {
        if let Some(rest) = path.strip_prefix(from).filter(|rest| rest.is_empty() || rest.starts_with('.')) {
            path = format!("{to}{rest}");
        }
    }
    path
}

/// Whether a package is one of NVIDIA's bindings.
pub fn is_binding(package: &str) -> bool {
    BINDINGS.contains(&package)
}

impl ApiId {
    /// The function of a package that a dotted name means, by the path of its import: `numba.cuda.to_device`. Those of
    /// NVIDIA's bindings are the functions of C.
    pub fn of_python(path: &str) -> Option<Self> {
        let path = canonical(path);
        if let Some((package, name)) = path.rsplit_once('.')
            && is_binding(package)
        {
            return Self::named(name).filter(|api| api.is_cuda_host());
        }
        Self::named(&path).filter(|api| path.contains('.') && (!api.name().ends_with('*') || api.is_of_python()))
    }
}

impl Function {
    /// What it does that is said in words for Python.
    pub fn python_ops(&self) -> impl Iterator<Item = PythonOp> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Python(op) => Some(*op),
            _ => None,
        })
    }

    /// Who compiles what it is given.
    pub fn compiler(&self) -> Option<Compiler> {
        self.python_ops().find_map(|op| match op {
            PythonOp::Compiles(compiler) => Some(compiler),
            _ => None,
        })
    }

    /// The function of numbers that it is.
    pub fn math(&self) -> Option<MathOp> {
        self.python_ops().find_map(|op| match op {
            PythonOp::Math(op) => Some(op),
            _ => None,
        })
    }

    /// Whether it makes an array.
    pub fn makes_array(&self) -> bool {
        self.effects.iter().any(|effect| match effect {
            Effect::Allocates { size, .. } => matches!(size, Size::Elements(_) | Size::Like(_)),
            Effect::Python(op) => matches!(
                op,
                PythonOp::ArrayOf(_) | PythonOp::Range | PythonOp::Spaced(_) | PythonOp::Diagonal | PythonOp::Joins
            ),
            _ => false,
        })
    }

    /// The position of a parameter by its name. A parameter with two names in different packages has both, `a|prototype`.
    pub fn parameter(&self, name: &str) -> Option<Arg> {
        let at = self.params.iter().position(|param| param.split('|').any(|known| known == name))?;
        u8::try_from(at).ok().map(Arg)
    }
}
