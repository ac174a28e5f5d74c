//! From the program form to [`Code`]: names, types, templates and overloads resolved.
//!
//! Every expression lowers to an [`Out`]: a value, a register or a place in memory, with its C++ type. Whether a
//! variable can stay a register is known only when the whole function has been read: a variable whose address is asked
//! for is marked, and the places that were lowered as registers are turned into memory at the end
//! (`instances::finish`).

mod assembly;
mod assign;
mod calls;
mod closures;
mod construct;
mod convert;
mod copies;
mod declare;
mod exprs;
mod fold;
mod groups;
mod instances;
mod intrinsics;
mod library;
mod library_types;
mod lifetime;
mod lists;
mod meaning;
mod methods;
mod numbers;
mod objects;
mod operators;
mod overloads;
mod placement;
mod places;
mod ranges;
mod state;
mod stmts;
mod templates;
mod types;

use crate::code::Code;
use cudalint_program::ir::{FunctionId, ModuleId};
use cudalint_program::types::TypeEnv;
use cudalint_program::{Project, Scope};
use state::{Key, Lowerer};

/// Lowers a kernel with its template parameters bound as in `env`, and every device function that it reaches. `None` where
/// there is no such function or it has no body.
pub fn lower(project: &Project, module: ModuleId, kernel: FunctionId, env: &TypeEnv) -> Option<Code> {
    let function = project.function_at(module, kernel)?;
    function.body.as_ref()?;
    let mut lowerer = Lowerer::new(project, module);
    lowerer.instance(Key::plain(module, kernel, env.clone()))?;
    lowerer.run();
    let bound = function.launch_bounds.and_then(|(threads, _)| {
        let scope = Scope::new(project, module, Some(kernel), env);
        u32::try_from(scope.eval(threads)?).ok()
    });
    let mut code = lowerer.code;
    code.launch_bounds = bound;
    let mut gaps: Vec<(&'static str, u32)> = lowerer.gaps.into_iter().collect();
    gaps.sort_unstable();
    code.gaps = gaps;
    Some(code)
}
