//! Imports: names of packages, and modules of the project.

use super::Walker;
use super::value::{Kind, Val};
use crate::facts::Site;
use cudalint_program::Name;
use cudalint_program::ir::ModuleId;
use std::ops::Range;

/// How deep modules of the project import each other.
const MAX_IMPORTS: usize = 6;

impl Walker<'_> {
    pub(super) fn import(&mut self, range: Range<u32>) {
        let module = self.module_id();
        let imports = &self.project.module(module).imports;
        let all = imports.get(range.start as usize..range.end as usize).unwrap_or(&[]);
        for import in all {
            if import.local.is_empty() {
                self.import_all(&import.path, import.level);
                continue;
            }
            let value = self.imported(&import.path, import.level, import.from);
            let site = Site { module, span: import.span };
            self.bind(&import.local, value, site);
        }
    }

    fn imported(&mut self, path: &str, level: u32, from: bool) -> Val {
        if let Some(found) = self.project_module(path, level) {
            return Val::from(Kind::Module(found));
        }
        if from
            && let Some((parent, name)) = path.rsplit_once('.').or(if level > 0 { Some(("", path)) } else { None })
            && let Some(found) = self.project_module(parent, level)
        {
            return self.of_module(found, &Name::from(name));
        }
        if level > 0 { Val::unknown() } else { Val::package(&cudalint_program::api::python::canonical(path)) }
    }

    /// `from m import *`: the names of a module of the project.
    fn import_all(&mut self, path: &str, level: u32) {
        let Some(found) = self.project_module(path, level) else { return };
        self.load(found);
        let scope = self.module_scope(found);
        let names: Vec<(Name, Val)> = match self.heap.scope(scope) {
            Some(scope) => scope
                .globals
                .iter()
                .filter(|(name, _)| !name.starts_with('_') && !name.contains(' '))
                .map(|(name, (value, _))| (name.clone(), value.clone()))
                .collect(),
            None => Vec::new(),
        };
        let site = Site { module: self.module_id(), span: cudalint_syntax::Span::default() };
        for (name, value) in names {
            self.bind(&name, value, site);
        }
    }

    /// A name of a module of the project.
    pub(super) fn of_module(&mut self, module: ModuleId, name: &Name) -> Val {
        self.load(module);
        let scope = self.module_scope(module);
        if let Some((value, _)) = self.heap.scope(scope).and_then(|scope| scope.globals.get(name)) {
            return value.clone();
        }
        self.defined_later(module, name).unwrap_or_else(Val::unknown)
    }

    /// Runs the code of a module of the project, once.
    fn load(&mut self, module: ModuleId) {
        if self.loaded.len() > MAX_IMPORTS * 4 || self.frames.len() > MAX_IMPORTS || !self.loaded.insert(module) {
            return;
        }
        let Some(body) = self.project.module(module).body else { return };
        let Some(function) = self.project.function_at(module, body) else { return };
        let Some(block) = &function.body else { return };
        let scope = self.module_scope(module);
        self.log.muted += 1;
        self.push(module, body, scope, None);
        let flow = self.block(block);
        self.leave(&flow);
        self.raised = false;
        self.log.muted -= 1;
    }

    fn project_module(&self, path: &str, level: u32) -> Option<ModuleId> {
        // Of these packages it is known what they do; the project may be one of them.
        let package = path.split('.').next().unwrap_or_default();
        if level == 0 && matches!(package, "numba" | "cupy" | "cupyx" | "pycuda" | "numpy") {
            return None;
        }
        let found = self.project.python_module(self.module_id(), path, level)?;
        (found != self.module_id() && self.project.module(found).body.is_some()).then_some(found)
    }

    /// Whether an import surely finds what it names: a file of the project, GPU packages and what comes with Python.
    pub(super) fn is_there(&self, path: &str, level: u32) -> bool {
        level > 0
            || cudalint_program::api::python::is_expected(path.split('.').next().unwrap_or_default())
            || self.project_module(path, level).is_some()
            || path.rsplit_once('.').is_some_and(|(parent, _)| self.project_module(parent, level).is_some())
    }

    /// A function or class of a module whose definition the walk has not reached.
    pub(super) fn defined_later(&mut self, module: ModuleId, name: &Name) -> Option<Val> {
        let found = self.project.module(module);
        let top = |f: &cudalint_program::ir::Function| {
            f.name == *name
                && f.parent.is_none()
                && f.scope.segments.is_empty()
                && !f.python.as_ref().is_some_and(|python| python.is_module)
        };
        let mut same = found.functions.iter().enumerate().filter(|(_, function)| top(function));
        if let (Some((index, _)), None) = (same.next(), same.next()) {
            let id = cudalint_program::ir::FunctionId(index as u32);
            let value = self.function_value(module, id, None);
            // The same kernel each time it is looked up.
            self.set_global(module, name, value.clone(), None);
            return Some(value);
        }
        let index = found.records.iter().position(|record| record.name == *name && record.scope.segments.is_empty())?;
        Some(Val::from(Kind::Class(module, index as u32)))
    }
}
