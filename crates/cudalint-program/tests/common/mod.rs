//! Small projects from texts, through the front end.
#![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons)]

use cudalint_program::cuda::{LowerInput, lower};
use cudalint_program::ir::{FunctionId, ModuleId, Path};
use cudalint_program::macro_index::{MacroFile, MacroIndex};
use cudalint_program::{Name, Project, ProjectOptions, Source};
use cudalint_syntax::{
    BuildMacros, Directives, Language, MacroTable, ParserPool, Region, Span, parse_region, scan_directives,
};
use std::sync::Arc;

/// A project of these files; one whose path ends in `.md` stands for itself.
#[allow(dead_code)]
pub fn project(files: &[(&str, &str)], defines: &[&str]) -> Project {
    let (sources, options) = sources(files, defines);
    Project::build(sources, &options)
}

/// The modules of these files.
pub fn sources(files: &[(&str, &str)], defines: &[&str]) -> (Vec<Source>, ProjectOptions) {
    let directives: Vec<Directives> =
        files.iter().map(|(_, text)| scan_directives(text, Span::new(0, text.len()))).collect();
    let list: Vec<MacroFile<'_>> = files
        .iter()
        .zip(&directives)
        .map(|((path, _), directives)| MacroFile { path, directives, alone: path.ends_with(".md") })
        .collect();
    let build = Arc::new(BuildMacros::with_defines(defines.iter().copied()));
    let options = ProjectOptions { build: Arc::clone(&build), ..ProjectOptions::default() };
    let index = MacroIndex::build(&list, &options.include_folders, &build);
    let table = MacroTable::build(directives.iter().flat_map(|d| &d.defines), &[]).with_build(build);
    let mut pool = ParserPool::default();
    let sources = files
        .iter()
        .zip(&directives)
        .enumerate()
        .map(|(at, ((path, text), directives))| {
            let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
            let parsed = parse_region(text, &region, &table, &directives.defines, &mut pool);
            let macros = index.visible(at);
            let module = lower(LowerInput { text, parsed: &parsed, directives, macros: &macros, pool: &mut pool });
            Source { path: (*path).into(), text: (*text).into(), module, alone: path.ends_with(".md") }
        })
        .collect();
    (sources, options)
}

/// A path from `a::b`.
pub fn path(text: &str) -> Path {
    text.split("::").filter(|part| !part.is_empty()).map(Name::from).collect()
}

/// The function of a module with this name that has a body.
#[allow(dead_code)]
pub fn function(project: &Project, module: ModuleId, name: &str) -> FunctionId {
    let functions = &project.module(module).functions;
    FunctionId(functions.iter().position(|f| f.name == *name && f.body.is_some()).unwrap() as u32)
}
