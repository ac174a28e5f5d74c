//! What walks know of the whole project beforehand.

use crate::global_writes::GlobalWrites;
use crate::traits::AllTraits;
use crate::walk::Library;
use cudalint_program::Project;
use cudalint_program::api;
use cudalint_program::ir::{FunctionId, ModuleId};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What a replay needs to know of the whole project, found once.
#[derive(Clone, Debug, Default)]
pub struct ProjectScan {
    /// Where code asks for more dynamic shared memory, and for what: the last name of the kernel argument as written.
    asked: Arc<Vec<(ModuleId, String)>>,
    /// What functions have to do with the GPU and with memory.
    pub(crate) traits: Arc<AllTraits>,
    /// Which variables at namespace scope functions may write.
    pub(crate) writes: Arc<GlobalWrites>,
    /// What walks found out about its code.
    pub(crate) library: Arc<Library>,
}

/// How far before an attribute the call that sets it may begin.
const MAX_ARGUMENT: usize = 2000;

impl ProjectScan {
    /// Looks through the texts of a project. `called`: functions that code out of sight calls.
    pub fn new(project: &Project, called: &FxHashSet<String>) -> Self {
        let mut asked = Vec::new();
        for id in project.modules() {
            let text = project.source(id);
            for attribute in api::DYNAMIC_SHARED {
                for at in memchr::memmem::find_iter(text.as_bytes(), attribute) {
                    let argument = text.get(..at).map_or("", innermost_argument);
                    asked.push((id, last_name(argument.split([',', '<']).next().unwrap_or("")).to_owned()));
                }
            }
        }
        Self {
            asked: Arc::new(asked),
            traits: Arc::new(AllTraits::new(project, called)),
            writes: Arc::default(),
            library: Arc::default(),
        }
    }

    /// Where code asks for more dynamic shared memory, and whether for a kernel, to be compared with another time.
    pub(crate) fn asks(&self, project: &Project) -> Vec<(ModuleId, &str, bool)> {
        self.asked.iter().map(|(module, asked)| (*module, asked.as_str(), is_kernel(project, asked))).collect()
    }

    /// Whether code out of the walk's sight may ask for more dynamic shared memory for a kernel: it names it, or it
    /// names no kernel of the project and stands in the file of the launch or the kernel, or in one that these include.
    pub(crate) fn may_ask(&self, project: &Project, launch: ModuleId, kernel: (ModuleId, FunctionId)) -> bool {
        let name = project.function_at(kernel.0, kernel.1).map_or("", |function| function.name.as_str());
        let is_part = |file: ModuleId, of: ModuleId| {
            file == of || project.includes().reach(of.index() as u32).included.has(file.index() as u32)
        };
        self.asked.iter().any(|(module, asked)| {
            asked == name || ((is_part(*module, launch) || is_part(*module, kernel.0)) && !is_kernel(project, asked))
        })
    }
}

/// What stands behind the last parenthesis that is still open.
fn innermost_argument(before: &str) -> &str {
    let mut closed = 0_u32;
    for (at, byte) in before.bytes().enumerate().rev().take(MAX_ARGUMENT) {
        match byte {
            b')' => closed += 1,
            b'(' if closed == 0 => return before.get(at + 1..).unwrap_or(""),
            b'(' => closed -= 1,
            b';' | b'{' | b'}' => return "",
            _ => {}
        }
    }
    ""
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
