//! What becomes of every status and of every launch's own error: a structural analysis of host functions, so that code
//! on every path is seen.
//!
//! Two passes. [`survey`] reduces each function of one module to its [`flow::Flow`] and needs nothing of other modules,
//! so that modules can be surveyed on any number of threads. [`StatusTable::join`] then resolves calls between
//! functions, settles what each function checks for its callers and its callees, and makes the facts.

mod build;
mod build_expr;
mod callbacks;
mod comparisons;
mod constructors;
mod destructors;
mod double_reads;
mod exits;
mod failures;
mod fixtures;
pub(crate) mod flow;
mod handles;
mod hidden;
mod join;
mod known;
mod later;
mod report;
mod sites;
mod solve;
mod survey;
mod targets;

pub use hidden::HiddenMacros;
pub use survey::{ModuleStatus, Survey};

use crate::checkers;
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionId, FunctionRole, Module, ModuleId, Type, TypeId};
pub(crate) use report::weight;
use survey::FunctionSurvey;

/// Reduces the host functions and macros of one module.
pub fn survey(project: &Project, id: ModuleId, hidden: &HiddenMacros) -> Survey {
    let module = project.module(id);
    let included = &project.includes().reach(id.index() as u32).included;
    let own_and_included = included.iter().map(|file| project.module(ModuleId(*file))).chain([module]);
    let of_module = build::OfModule {
        legacy_blas: own_and_included
            .flat_map(|file| &file.includes)
            .any(|include| file_name(&include.target) == "cublas.h"),
        has_throwing_classes: memchr::memmem::find(project.source(id).as_bytes(), b"thrust::").is_some(),
        hidden_macros: hidden.near(project, id),
    };
    let device: Vec<_> = module
        .functions
        .iter()
        .filter(|function| function.body.is_some() && is_device(function))
        .map(|function| function.span)
        .collect();
    let mut functions = Vec::new();
    let mut draft = flow::Draft::default();
    for (index, function) in module.functions.iter().enumerate() {
        let in_device = function.role == FunctionRole::Lambda && device.iter().any(|span| span.contains(function.span));
        if function.body.is_none() || is_device(function) || in_device {
            continue;
        }
        let flow = build::build(project, id, function, &of_module, &mut draft);
        let parameters = function.params().iter();
        functions.push(FunctionSurvey {
            id: FunctionId(index as u32),
            name: function.name.clone(),
            scope: function.scope.last().cloned(),
            role: function.role,
            required: parameters.clone().take_while(|parameter| parameter.init.is_none()).count() as u32,
            parameters: function.param_count,
            variadic: function.variadic || function.template_params.iter().any(|parameter| parameter.pack),
            returns_status: is_status_type(module, function.returns),
            extern_c: function.extern_c,
            returns_number: matches!(module.types.get(function.returns), Some(Type::Int { .. } | Type::Bool)),
            damaged: function.damaged || flow.lost,
            flow,
        });
    }
    let on_both = |function: &&Function| function.body.is_some() && function.space.host && function.space.device;
    let of_both = module.functions.iter().filter(on_both).map(|function| function.name.clone()).collect();
    Survey {
        functions,
        of_both,
        macros: checkers::shapes(module),
        of_caller: false,
        used_macros: checkers::used_macros(project, id),
    }
}

fn is_device(function: &Function) -> bool {
    function.space.global || function.space.device
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn is_status_type(module: &Module, ty: TypeId) -> bool {
    match module.types.get(ty) {
        Some(Type::Named { path, .. }) => build::is_status_name(path.last()),
        Some(Type::Qualified { ty: inner, .. }) => {
            matches!(module.types.get(*inner), Some(Type::Named { path, .. }) if build::is_status_name(path.last()))
        }
        _ => false,
    }
}

/// The facts on error handling of a whole project.
#[derive(Debug, Default)]
pub struct StatusTable {
    modules: Vec<ModuleStatus>,
}

impl StatusTable {
    /// Joins the surveys of all modules, in the order of the project's modules.
    pub fn join(project: &Project, surveys: &[Survey], hidden: &HiddenMacros) -> Self {
        let mut modules = join::join(project, surveys, hidden);
        for (id, module) in project.modules().zip(&mut modules) {
            if project.module(id).language == cudalint_syntax::Language::Python {
                module.functions = crate::python::status::functions(project, id);
            }
        }
        Self { modules }
    }

    /// The facts of one module.
    pub fn module(&self, id: ModuleId) -> Option<&ModuleStatus> {
        self.modules.get(id.index())
    }

    /// Moves out the facts of one module.
    pub fn take(&mut self, id: ModuleId) -> Option<ModuleStatus> {
        self.modules.get_mut(id.index()).map(std::mem::take)
    }
}
