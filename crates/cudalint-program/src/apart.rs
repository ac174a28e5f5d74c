//! Methods that are defined in another file than their class: `void Filter::step() {}` looks like a function of a namespace
//! until the header with `class Filter` is known.

use crate::ir::{Function, FunctionId, FunctionRole, ModuleId, Path};
use crate::project::Project;
use std::sync::Arc;

impl Project {
    /// Gives functions that turn out to be methods their role.
    pub(crate) fn join_methods_apart(&mut self) {
        let mut found: Vec<(ModuleId, Vec<(FunctionId, FunctionRole)>)> = Vec::new();
        for id in self.modules() {
            let functions = self.module(id).functions.iter_enumerated();
            let roles: Vec<(FunctionId, FunctionRole)> = functions
                .filter(|(_, function)| function.role == FunctionRole::Free && function.body.is_some())
                .filter_map(|(at, function)| Some((at, self.role_in_class(id, function)?)))
                .collect();
            if !roles.is_empty() {
                found.push((id, roles));
            }
        }
        for (id, roles) in found {
            // A module that somebody keeps is another one with other roles.
            if let Some((made_of, _)) = &mut self.made_of[id] {
                let mut told = blake3::Hasher::new();
                told.update(made_of.as_bytes());
                told.update(format!("{roles:?}").as_bytes());
                *made_of = told.finalize();
            }
            let module = Arc::make_mut(&mut self.modules[id]);
            for (at, role) in roles {
                module.functions[at].role = role;
            }
        }
    }

    /// What a function is in the class, defined in another file, that it is declared in.
    fn role_in_class(&self, id: ModuleId, function: &Function) -> Option<FunctionRole> {
        let class = function.scope.last()?;
        if !self.has_record(class) {
            return None;
        }
        let record = self.template(id, &Path::default(), &function.scope)?;
        let (module, record) = (self.module(record.module), self.record_at(record)?);
        let same = |other: &&Function| other.name == function.name && other.param_count == function.param_count;
        let declared = record.methods.iter().filter_map(|method| module.functions.get(*method)).find(same)?;
        matches!(declared.role, FunctionRole::Method | FunctionRole::StaticMethod).then_some(declared.role)
    }
}
