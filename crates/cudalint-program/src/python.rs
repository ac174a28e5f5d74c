//! What a Python file's imports and definitions say about names.

use rustc_hash::FxHashMap;

/// Names of one Python file: aliases of GPU packages and kernels.
#[derive(Debug, Default)]
pub struct PythonNames {
    /// Local name to dotted path of what it was imported as: `cp` to `cupy`, `cuda` to `numba.cuda`, `jit` to
    /// `numba.cuda.jit`.
    pub imports: FxHashMap<String, String>,
}
