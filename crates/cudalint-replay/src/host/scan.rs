//! What walks know of the whole project beforehand.

use crate::traits::AllTraits;
use crate::walk::Library;
use cudalint_program::Project;
use cudalint_program::ir::{FunctionId, ModuleId};
use std::sync::Arc;

/// What a replay needs to know of the whole project, found once.
#[derive(Clone, Debug, Default)]
pub struct ProjectScan {
    /// Where code asks for more dynamic shared memory, and for what: the last name of the kernel argument as written.
    asked: Arc<Vec<(ModuleId, String)>>,
    /// What functions have to do with the GPU and with memory.
    pub(crate) traits: Arc<AllTraits>,
    /// What walks found out about its code.
    pub(crate) library: Arc<Library>,
}

impl ProjectScan {
    /// Looks through the texts of a project.
    pub fn new(project: &Project) -> Self {
        let mut asked = Vec::new();
        for id in project.modules() {
            let text = project.source(id);
            // The quick test first: few files do it.
            if !text.contains("FuncSetAttribute") {
                continue;
            }
            for attribute in ["MaxDynamicSharedMemorySize", "MAX_DYNAMIC_SHARED_SIZE_BYTES"] {
                for (at, _) in text.match_indices(attribute) {
                    let from = text.get(..at).and_then(|before| before.rfind("FuncSetAttribute"));
                    let argument = from.and_then(|from| text.get(from..at)).unwrap_or("");
                    let argument = argument.split_once('(').map_or("", |(_, rest)| rest);
                    asked.push((id, last_name(argument.split([',', '<']).next().unwrap_or("")).to_owned()));
                }
            }
        }
        Self { asked: Arc::new(asked), traits: Arc::new(AllTraits::new(project)), library: Arc::default() }
    }

    /// Whether code out of the walk's sight may ask for more dynamic shared memory for a kernel: it names it, or it
    /// names no kernel of the project and stands in the same file as the launch or the kernel.
    pub(crate) fn may_ask(&self, project: &Project, launch: ModuleId, kernel: (ModuleId, FunctionId)) -> bool {
        let name = project.function_at(kernel.0, kernel.1).map_or("", |function| function.name.as_str());
        self.asked.iter().any(|(module, asked)| {
            asked == name || ((*module == launch || *module == kernel.0) && !is_kernel(project, asked))
        })
    }
}

fn is_kernel(project: &Project, name: &str) -> bool {
    project.kernels().any(|(module, id)| project.function_at(module, id).is_some_and(|function| function.name == *name))
}

/// The last identifier of an argument: `(const void*)ns::k` names `k`.
fn last_name(text: &str) -> &str {
    let text = text.trim().trim_end_matches(')').trim_end();
    let start = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |at| at + 1);
    text.get(start..).unwrap_or("")
}
