//! Values of the program's own records: made by their constructors, or field by field.

use super::arguments::Writer;
use crate::subject::{PointerUses, spelled};
use cudalint_program::Scope;
use cudalint_program::ir::{FunctionId, FunctionRole};
use cudalint_program::types::{Ty, TypeEnv};

use cudalint_program::Entry;

/// Records within records that are filled.
const MAX_DEPTH: u32 = 3;
/// Fields of one record that are filled.
const MAX_FIELDS: usize = 40;

impl Writer<'_> {
    /// Declares a value of a record type.
    ///
    /// # Errors
    /// Which argument of its constructor cannot be made.
    pub fn construct(&mut self, name: &str, spelled: &str, entry: Entry, env: &TypeEnv) -> Result<(), String> {
        let constructors = self.constructors(entry);
        let Some((function, required)) = constructors.iter().copied().min_by_key(|(_, required)| *required) else {
            self.lines.push(format!("{spelled} {name}{{}};"));
            self.fields(name, entry, env);
            return Ok(());
        };
        if required == 0 {
            self.lines.push(format!("{spelled} {name};"));
            return Ok(());
        }
        if self.depth >= MAX_DEPTH {
            return Err(format!("`{spelled}` needs values of too many other types"));
        }
        let signature = self
            .subject
            .signature_in(entry.module, function)
            .ok_or_else(|| format!("the constructor of `{spelled}` is out of sight"))?;
        let uses = crate::subject::variable_uses(&self.subject.project, entry.module, function);
        // The chosen numbers are those of the function that is called, not of the constructor.
        let numbers = std::mem::take(&mut self.numbers);
        let extents = std::mem::take(&mut self.extents);
        self.depth += 1;
        let mut arguments = Vec::new();
        let mut failed = None;
        for (position, parameter) in signature.parameters.iter().take(required).enumerate() {
            let uses = uses.get(&crate::subject::Var::Local(parameter.local)).cloned().unwrap_or_default();
            match self.argument(parameter, position, &uses) {
                Ok(argument) => arguments.push(argument),
                Err(reason) => failed = failed.or(Some(reason)),
            }
        }
        self.depth -= 1;
        self.numbers = numbers;
        self.extents = extents;
        if let Some(reason) = failed {
            return Err(reason);
        }
        self.lines.push(format!("{spelled} {name}({});", arguments.join(", ")));
        Ok(())
    }

    /// The constructors of a record that are no copies or moves, each with the number of arguments that it needs.
    fn constructors(&self, entry: Entry) -> Vec<(FunctionId, usize)> {
        let project = &self.subject.project;
        let Some(record) = project.record_at(entry) else { return Vec::new() };
        let module = project.module(entry.module);
        let scope = record.scope.within(record.name.clone());
        let own = |id: &FunctionId| {
            module
                .functions
                .get(*id)
                .is_some_and(|function| function.role == FunctionRole::Constructor && function.scope == scope)
        };
        (0..module.functions.len() as u32)
            .map(FunctionId)
            .filter(own)
            .filter_map(|id| {
                let signature = self.subject.signature_in(entry.module, id)?;
                let copies = signature.parameters.len() == 1
                    && matches!(&signature.parameters.first()?.resolved, Ty::Reference(to) if matches!(&**to, Ty::Record(of, _) if *of == entry));
                let required = signature.parameters.iter().take_while(|parameter| !parameter.has_default).count();
                (!copies).then_some((id, required))
            })
            .collect()
    }

    /// Whether a plain record holds pointers, itself or in a record within.
    pub fn has_pointers(&self, entry: Entry, env: &TypeEnv) -> bool {
        let project = &self.subject.project;
        let mut left = vec![(entry, env.clone())];
        for _ in 0..16 {
            let Some((entry, env)) = left.pop() else { return false };
            let Some(record) = project.record_at(entry).filter(|_| self.constructors(entry).is_empty()) else {
                return false;
            };
            let scope = Scope::new(project, entry.module, None, &env);
            for field in &record.fields {
                match scope.resolve(field.ty) {
                    Ty::Pointer(_) => return true,
                    Ty::Record(inner, env) => left.push((inner, env)),
                    _ => {}
                }
            }
        }
        false
    }

    /// Gives the fields of a plain record values. Records with constructors are left as those made them.
    pub fn fields(&mut self, prefix: &str, entry: Entry, env: &TypeEnv) {
        if self.depth >= MAX_DEPTH || !self.constructors(entry).is_empty() {
            return;
        }
        let project = std::sync::Arc::clone(&self.subject.project);
        let Some(record) = project.record_at(entry).filter(|record| !record.is_union && record.bases.is_empty()) else {
            return;
        };
        let module = project.module(entry.module);
        let scope = Scope::new(&project, entry.module, None, env);
        self.depth += 1;
        for field in record.fields.iter().filter(|field| !field.name.is_empty()).take(MAX_FIELDS) {
            if field.init.is_some() {
                continue;
            }
            let target = format!("{prefix}.{}", field.name);
            match scope.resolve(field.ty) {
                Ty::Int { bytes, .. } => {
                    let chosen = self.number(&field.name, bytes);
                    self.lines.push(format!("{target} = {}; // {}", chosen.value, chosen.why));
                }
                Ty::Float { bytes } if bytes >= 4 => self.lines.push(format!("{target} = 1.0f;")),
                Ty::Record(inner, env) => self.fields(&target, inner, &env),
                ty @ Ty::Pointer(_) => {
                    let text = spelled(module, field.ty, 0);
                    if let Some(made) = self.memory_for(&target, &ty, &text, &PointerUses::default()) {
                        self.lines.push(format!("{target} = {made};"));
                    }
                }
                _ => {}
            }
        }
        self.depth -= 1;
    }
}
