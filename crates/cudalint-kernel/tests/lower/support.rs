//! One file as a project, and its kernel `k` lowered.

use cudalint_kernel::{Code, lower};
use cudalint_program::cuda::{LowerInput, lower as lower_module};
use cudalint_program::ir::ModuleId;
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::types::TypeEnv;
use cudalint_program::{Project, ProjectOptions, Scope, Source};
use cudalint_syntax::{Language, MacroTable, ParserPool, Region, Span, parse_region, scan_directives};

pub fn project(text: &str) -> Project {
    let directives = scan_directives(text, Span::new(0, text.len()));
    let files = [MacroFile { path: "a.cu", directives: &directives, alone: false }];
    let index = MacroIndex::build(&files, &[], &std::sync::Arc::default());
    let table = MacroTable::build(directives.defines.iter(), &[]);
    let mut pool = ParserPool::default();
    let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
    let parsed = parse_region(text, &region, &table, &directives.defines, &mut pool);
    let macros = index.visible(0);
    let module =
        lower_module(LowerInput { text, parsed: &parsed, directives: &directives, macros: &macros, pool: &mut pool });
    let source = Source { path: "a.cu".into(), text: text.into(), module, alone: false };
    Project::build(vec![source], &ProjectOptions::default())
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
    code(source).to_string()
}
