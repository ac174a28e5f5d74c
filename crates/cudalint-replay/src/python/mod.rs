//! Python host code walked along its paths: what arrays there are, and which kernels are launched with which numbers.
//!
//! The code of a module runs first, as `python file.py` does; functions that it does not reach are entered with arguments
//! that nobody knows. Values are Python's: integers without bounds, arrays with shape and type, functions with the
//! variables around them. The result is the same events as of the walk of C++ host code.

#![allow(clippy::unused_self)] // Functions of one table have one form.

mod apis;
mod arrays;
mod assigned;
mod attributes;
mod builtins;
mod calls;
mod capture;
mod copies;
mod creation;
mod cupy_bodies;
mod defaults;
mod driver;
mod dtype;
mod dtypes;
mod emit;
mod exprs;
mod faults;
mod files;
pub(crate) mod forks;
mod gufuncs;
mod hand;
mod heap;
mod imports;
mod launches;
mod literals;
mod loops;
mod memory;
mod methods;
mod native;
mod native_faults;
mod ops;
mod parameters;
mod parser;
mod processes;
mod records;
mod reductions;
pub(crate) mod status;
mod stmts;
mod ufuncs;
mod unbound;
mod uncompilable;
mod value;
mod variables;
mod walker;

use crate::host::ObjId;
use crate::host::{ProjectScan, ReplayOptions, Walked};
use cudalint_kernel::python::{Specialization, guess_arguments};
use cudalint_program::ir::{Function, FunctionId, FunctionRole, Module, ModuleId};
use cudalint_program::{Name, Project};
use heap::{Instance, Obj};
use std::collections::BTreeMap;
use std::sync::Arc;
use value::{Kind, Val};
use walker::Walker;

/// How many objects one walk may make.
const MAX_OBJECTS: u32 = 20_000;
/// The code of a module is long where that of a function is short.
const STEPS_OF_A_MODULE: u32 = 3;

/// Walks a Python module.
pub(crate) fn walk_module(project: &Project, scan: &ProjectScan, id: ModuleId, options: ReplayOptions) -> Walked {
    let module = project.module(id);
    let Some(body) = module.body else { return Walked::default() };
    let mut walker = Walker::new(project, scan, id, options);
    let two_ways = project.source(id).contains("__name__");
    // As it is when it is imported: what functions find when somebody calls them.
    walker.as_main = !two_ways;
    walker.log.muted = u32::from(two_ways);
    walker.budget.steps = options.steps_per_entry.saturating_mul(STEPS_OF_A_MODULE);
    walker.run_entry(id, body);
    let imported = (walker.heap.clone(), walker.modules.clone());
    if two_ways {
        walker.log.muted = 0;
        walker.visited.clear();
        walker.modules.clear();
        walker.loaded.clear();
        walker.asked.clear();
        walker.as_main = true;
        walker.budget.steps = options.steps_per_entry.saturating_mul(STEPS_OF_A_MODULE);
        walker.run_entry(id, body);
    }
    walker.as_main = false;
    let declared = declared_globals(module);
    let skips_tests = skips_all_tests(project.source(id));
    for (index, function) in module.functions.iter().enumerate() {
        let entry = FunctionId(index as u32);
        let skipped = skips_tests && function.name.starts_with("test") || is_skipped(project, id, function);
        if !is_entry(function) || skipped || walker.visited.contains(&(id, entry)) {
            continue;
        }
        // The state is that behind the imports.
        walker.heap = imported.0.clone();
        walker.modules.clone_from(&imported.1);
        walker.asked.clear();
        walker.integers.clear();
        walker.budget.steps = options.steps_per_entry;
        walker.forget_declared_globals(id, entry, &declared);
        walker.run_entry(id, entry);
        if walker.heap.count() > MAX_OBJECTS {
            break;
        }
    }
    walker.heap = imported.0;
    walker.modules = imported.1;
    let kernels = walker.own_kernels(id);
    Walked {
        events: std::mem::take(&mut walker.log.events),
        limits: std::mem::take(&mut walker.budget.limits).into_iter().collect(),
        faults: walker.faults,
        kernels,
        never_run: Vec::new(),
    }
}

/// Variables that the functions of a module declare as global, and who does.
fn declared_globals(module: &Module) -> Vec<(FunctionId, &Name)> {
    let functions = module.functions.iter().enumerate().filter(|(_, function)| function.parent.is_none());
    let python = functions.filter_map(|(index, function)| Some((index, function.python.as_deref()?)));
    python.flat_map(|(index, python)| python.outer.iter().map(move |name| (FunctionId(index as u32), name))).collect()
}

/// Whether a function is one that somebody out of sight may call with arguments that nobody knows.
fn is_entry(function: &Function) -> bool {
    let Some(python) = &function.python else { return false };
    function.body.is_some()
        && !python.is_module
        && python.kernel.is_none()
        && function.role != FunctionRole::Lambda
        // The variables around it are not known.
        && function.parent.is_none()
}

/// Whether a module marks all of its tests as ones that are not run.
fn skips_all_tests(source: &str) -> bool {
    let mut marks = source.lines().filter_map(|line| line.strip_prefix("pytestmark"));
    marks.any(|mark| mark.contains("mark.skip") && !mark.contains("skipif"))
}

/// Whether a function is a test that a decorator takes out, or that is known to fail.
fn is_skipped(project: &Project, id: ModuleId, function: &Function) -> bool {
    let module = project.module(id);
    function.python.iter().flat_map(|python| &python.decorators).any(|decorator| {
        let span = module.exprs.get(*decorator).map(|node| node.span).unwrap_or_default();
        let name = project.text(id, span).split('(').next().unwrap_or("").trim();
        let (from, last) = name.rsplit_once('.').unwrap_or(("", name));
        match last {
            "skip" => from.is_empty() || from == "unittest" || from.ends_with("mark"),
            "xfail" => from.ends_with("mark"),
            "expectedFailure" => true,
            _ => false,
        }
    })
}

impl Walker<'_> {
    /// Walks a function as an entry.
    fn run_entry(&mut self, module: ModuleId, id: FunctionId) {
        self.budget.restart();
        self.path.unlearn(0);
        self.frames.clear();
        self.pendings.clear();
        self.heap.commit();
        self.raised = false;
        let Some(function) = self.project.function_at(module, id) else { return };
        let Some(body) = &function.body else { return };
        let is_module = function.python.as_ref().is_some_and(|python| python.is_module);
        let before = self.heap.count();
        if is_module {
            self.loaded.insert(module);
        }
        let scope = self.new_scope(module, function, None);
        self.push(module, id, scope, None);
        if !is_module {
            self.bind_unknown(module, function, scope);
        }
        let flow = self.block(body);
        if let Some(result) = self.leave(&flow) {
            self.lose(&result);
        }
        self.uncollected(before, (module, id));
        self.visited.insert((module, id));
        self.budget.finish();
        self.frames.clear();
        self.heap.commit();
        self.path.unlearn(0);
    }

    /// The kernels of a module with the types that they are made for, and what they take from the module.
    fn own_kernels(&mut self, id: ModuleId) -> Vec<(FunctionId, Arc<Specialization>)> {
        let mut found = Vec::new();
        self.log.muted = 1;
        for (index, function) in self.project.module(id).functions.iter().enumerate() {
            let Some(kernel) = function.python.as_ref().and_then(|python| python.kernel.as_ref()) else { continue };
            if kernel.device || function.body.is_none() {
                continue;
            }
            let function = FunctionId(index as u32);
            let closure = value::Closure { module: id, function, scope: None, defaults: None };
            let arguments = guess_arguments(self.project, id, function).unwrap_or_default();
            let captured = self.captured_by(&closure);
            found.push((function, Arc::new(Specialization { dialect: kernel.dialect, arguments, captured })));
        }
        found
    }

    /// Parameters that whoever calls chooses.
    fn bind_unknown(&mut self, module: ModuleId, function: &Function, scope: ObjId) {
        let called = self.scan.traits.is_mentioned(&function.name);
        let is_method = matches!(function.role, FunctionRole::Method | FunctionRole::Constructor)
            && !function.scope.segments.is_empty();
        for (index, variable) in function.params().iter().enumerate() {
            let python = function.python.as_deref();
            let starred = python.is_some_and(|python| {
                [python.rest, python.keywords].contains(&Some(cudalint_program::ir::LocalId(index as u32)))
            });
            let value = if index == 0 && is_method {
                let class = self.class_of(module, function).map(|record| (module, record));
                let instance = Instance { class, attributes: BTreeMap::new(), open: true };
                Val::from(Kind::Instance(self.heap.add(Obj::Instance(instance))))
            } else if starred {
                Val::unknown()
            } else {
                self.open(variable.name.as_str(), !called)
            };
            if let Some(scope) = self.heap.scope_mut(scope)
                && let Some(slot) = scope.slots.get_mut(index)
            {
                *slot = value;
            }
        }
    }

    /// Variables of the module that other functions assign: any of them may have run before.
    fn forget_declared_globals(&mut self, module: ModuleId, entry: FunctionId, declared: &[(FunctionId, &Name)]) {
        let Some(scope) = self.modules.get(&module).copied() else { return };
        // Changing a scope copies it.
        if declared.iter().any(|(function, _)| *function != entry)
            && let Some(scope) = self.heap.scope_mut(scope)
        {
            for (_, name) in declared.iter().filter(|(function, _)| *function != entry) {
                if let Some((value, _)) = scope.globals.get_mut(*name) {
                    *value = Val::unknown();
                }
            }
        }
    }
}
