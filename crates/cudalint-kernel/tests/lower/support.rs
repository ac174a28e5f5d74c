//! One file as a project, and its kernel `k` lowered.

use crate::dump::Shown;
use cudalint_kernel::{Code, lower};
use cudalint_program::ir::ModuleId;
use cudalint_program::types::TypeEnv;
use cudalint_program::{Project, ProjectOptions, Scope, load_texts};

pub fn project(text: &str) -> Project {
    load_texts(&[("a.cu", text)], &ProjectOptions::default()).unwrap().project
}

/// The kernel `k`, with its template parameters as the first explicit instantiation gives them.
pub fn code(text: &str) -> Code {
    try_code(text).unwrap()
}

/// As [`code`]; `None` where damage hides the kernel.
pub fn try_code(text: &str) -> Option<Code> {
    let project = project(text);
    let module = ModuleId(0);
    let (_, kernel) =
        project.kernels().find(|(module, kernel)| project.function_at(*module, *kernel).unwrap().name == "k")?;
    let env = match project.module(module).instantiations.first() {
        Some(found) => {
            Scope::new(&project, module, None, &TypeEnv::default()).bind((module, kernel), &found.targs, &[])
        }
        None => TypeEnv::default(),
    };
    lower(&project, module, kernel, &env)
}

/// The code as text, without the gaps where there are none.
pub fn text(source: &str) -> String {
    Shown(&code(source)).to_string()
}
