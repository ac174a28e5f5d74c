//! What a function's parameters are when nothing is given: evaluated where the function is defined.

use super::Walker;
use super::value::{Closure, Defaults, Kind, Val};
use cudalint_program::Name;
use cudalint_program::ir::{ExprId, FunctionId, LocalId, ModuleId};

impl Walker<'_> {
    /// The defaults of a function that is being defined.
    pub(super) fn defaults(&mut self, module: ModuleId, id: FunctionId) -> Defaults {
        let function = self.project.function_at(module, id)?;
        let parameters = function.params().iter().enumerate();
        let written: Vec<(LocalId, ExprId)> =
            parameters.filter_map(|(index, parameter)| Some((LocalId::from(index), parameter.init?))).collect();
        Some(written.into_iter().map(|(local, default)| (local, self.eval(default))).collect())
    }

    /// Notes the defaults of a method of the class whose body is walked.
    pub(super) fn note_defaults(&mut self, module: ModuleId, id: FunctionId) {
        if let Some(defaults) = self.defaults(module, id).filter(|all| !all.is_empty()) {
            let values = Val::tuple(defaults.iter().map(|(_, value)| value.clone()).collect());
            self.note(module, &defaults_key(id), values);
        }
    }

    /// The defaults of a method, as they were when its class was made.
    pub(super) fn noted_defaults(&self, module: ModuleId, id: FunctionId) -> Defaults {
        let Kind::Tuple(values) = self.noted(module, &defaults_key(id))?.kind else { return None };
        let parameters = self.project.function_at(module, id)?.params().iter().enumerate();
        let with_default = parameters.filter(|(_, parameter)| parameter.init.is_some());
        Some(with_default.map(|(index, _)| LocalId::from(index)).zip(values.iter().cloned()).collect())
    }

    /// The value of a parameter's default, where the walk has not come by the function's definition.
    pub(super) fn default_of(&mut self, closure: &Closure, default: ExprId) -> Val {
        let scope = match closure.scope {
            Some(scope) => scope,
            None => self.module_scope(closure.module),
        };
        let Some(body) = self.project.module(closure.module).body else { return Val::unknown() };
        self.push(closure.module, body, scope, None);
        let value = self.eval(default);
        self.frames.pop();
        value
    }
}

/// Where the values of a method's defaults are noted.
fn defaults_key(method: FunctionId) -> Name {
    Name::from(format!("defaults {}", method.0).as_str())
}
