//! What the rules on Python files share.

use cudalint_program::python::compiled::Assumption;

/// What Numba's compilers raise for a kernel that they refuse.
pub const REFUSALS: [&str; 6] = [
    "TypingError",
    "LoweringError",
    "UnsupportedError",
    "UnsupportedBytecodeError",
    "ForbiddenConstruct",
    "NotImplementedError",
];

/// What must be assumed for something that Numba refuses to compile in a function, in words.
pub fn compile_assumption(assumed: Assumption, function: &str) -> String {
    match assumed {
        Assumption::NoNrt => "Numba's NRT is not turned on for kernels (`NUMBA_CUDA_ENABLE_NRT`)".to_owned(),
        Assumption::Launched => format!("`{function}` is launched, and not called by kernels"),
    }
}
