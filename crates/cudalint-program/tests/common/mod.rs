//! Small projects from texts, through the front end.
#![allow(clippy::unwrap_used, clippy::case_sensitive_file_extension_comparisons)]

use cudalint_program::ir::{FunctionId, ModuleId, Path};
use cudalint_program::{Name, Project, ProjectOptions, load_texts};
use cudalint_syntax::BuildMacros;
use std::sync::Arc;

/// A project of these files; the one fence of a file whose path ends in `.md` stands for itself.
#[allow(dead_code)]
pub fn project(files: &[(&str, &str)], defines: &[&str]) -> Project {
    let build = Arc::new(BuildMacros::with_defines(defines.iter().copied()));
    load_texts(files, &ProjectOptions { build, ..ProjectOptions::default() }).unwrap().project
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
