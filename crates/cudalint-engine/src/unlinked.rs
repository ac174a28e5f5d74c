//! Kernels that are launched, declared, and defined nowhere in the project: a file that launches one can be compiled, and becomes part of
//! no program.

use crate::others::words_at;
use cudalint_program::Project;
use cudalint_program::ir::{Expr, Function, ModuleId};

/// What a file needs to be part of a program, in words, where it launches a kernel that the project does not have. To be asked where all
/// files of the project are known.
pub(crate) fn unlinked(project: &Project, id: ModuleId) -> Option<String> {
    let module = project.module(id);
    let kernel = module.exprs.iter().find_map(|node| {
        let Expr::Launch(launch) = &node.kind else { return None };
        let Expr::Name { path, .. } = &module.exprs.get(launch.kernel)?.kind else { return None };
        let name = path.last().filter(|_| launch.chevron && node.expansion.is_none())?;
        let all: Vec<&Function> = project
            .functions_named(name)
            .into_iter()
            .filter_map(|(module, id)| project.function_at(module, id))
            .collect();
        let declares = |function: &&Function| {
            function.space.global && function.body.is_none() && function.template_params.is_empty() && !function.damaged
        };
        let is_declared = !all.is_empty() && all.iter().all(declares) && !project.has_macro(id, name);
        (is_declared && !is_made(project, name)).then_some(name)
    })?;
    Some(format!("`{kernel}`, which is launched here and defined nowhere in this project, is part of the program"))
}

/// Whether a name stands somewhere where a macro may make a definition of it: elsewhere than in a declaration or a launch, and in files
/// that were not understood whole.
fn is_made(project: &Project, name: &str) -> bool {
    project.modules().any(|id| {
        let (text, module) = (&**project.source(id), project.module(id));
        let mut places = words_at(text, name).peekable();
        if places.peek().is_some() && !module.damage.is_empty() {
            return true;
        }
        let is_declared = |at: usize| module.functions.iter().any(|function| function.name_span.start as usize == at);
        let is_launched = |at: usize| text[at + name.len()..].trim_start().starts_with('<');
        let is_comment = |at: usize| text[..at].rsplit('\n').next().unwrap_or("").contains("//");
        places.any(|at| !is_declared(at) && !is_launched(at) && !is_comment(at))
    })
}
