//! What runs where objects end: the destructors of local variables, which may check errors.

use super::build::Builder;
use super::flow::{Action, Alive, Callee};
use super::known;
use cudalint_program::ir::{FunctionRole, LocalId, ModuleId, Path, Space, TemplateArg, Type, TypeId};
use cudalint_program::{Entry, Name};

/// How deep classes with destructors lie in each other.
const MAX_DEPTH: u32 = 4;
/// Most destructors that one variable runs.
const MAX_DESTRUCTORS: usize = 8;

impl Builder<'_> {
    /// A local variable lives from here on.
    pub(super) fn begin_life(&mut self, id: LocalId) {
        let Some(variable) = self.function.locals.get(id) else { return };
        if !matches!(variable.space, Space::Ordinary) {
            return;
        }
        let mut found = Vec::new();
        let scope = self.function.scope.clone();
        self.destructors(self.id, &scope, variable.ty, 0, &mut found);
        let span = variable.span;
        // What it holds ends after it.
        for (class, destructor) in found.into_iter().rev() {
            self.alive.push(Alive { class, destructor, span });
        }
    }

    /// The destructors that run where an object of a type ends: its own, those of its members and bases, and of what a
    /// container or a smart pointer holds.
    fn destructors(&self, module: ModuleId, inside: &Path, ty: TypeId, depth: u32, into: &mut Vec<(Name, Name)>) {
        if depth > MAX_DEPTH || into.len() >= MAX_DESTRUCTORS {
            return;
        }
        match self.project.module(module).types.get(ty) {
            Some(Type::Qualified { ty, .. } | Type::Array(ty, _)) => {
                self.destructors(module, inside, *ty, depth + 1, into);
            }
            Some(Type::Named { path, args }) => {
                if let Some(entry) = self.project.record(module, inside, path) {
                    return self.destructors_of(entry, depth, into);
                }
                if let Some(entry) = self.project.alias(module, inside, path)
                    && let Some(alias) = self.project.alias_at(entry)
                {
                    return self.destructors(entry.module, &alias.scope, alias.ty, depth + 1, into);
                }
                let name = path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::");
                if known::may_know_errors(&name) || known::waits_at_end(&name) {
                    return into.push((Name::from(name.as_str()), Name::default()));
                }
                for arg in args {
                    if let TemplateArg::Type(ty) | TemplateArg::Ambiguous(ty, _) = arg {
                        self.destructors(module, inside, *ty, depth + 1, into);
                    }
                }
            }
            _ => {}
        }
    }

    pub(super) fn destructors_of(&self, entry: Entry, depth: u32, into: &mut Vec<(Name, Name)>) {
        let Some(record) = self.project.record_at(entry) else { return };
        let functions = record.methods.iter().filter_map(|id| self.project.function_at(entry.module, *id));
        if let Some(own) = functions.into_iter().find(|method| method.role == FunctionRole::Destructor) {
            into.push((record.name.clone(), own.name.clone()));
        }
        let inside = record.scope.within(record.name.clone());
        for ty in record.fields.iter().map(|field| field.ty).chain(record.bases.iter().copied()) {
            self.destructors(entry.module, &inside, ty, depth + 1, into);
        }
    }

    /// The objects end that came alive after so many others, the last first.
    pub(super) fn end_lives(&mut self, from: usize) {
        for alive in self.alive.get(from..).unwrap_or(&[]).to_vec().into_iter().rev() {
            if alive.destructor.is_empty() {
                // Of a class that is out of sight.
                self.push(if known::waits_at_end(&alive.class) { Action::Waits } else { Action::Opaque });
                continue;
            }
            let callee = Callee::Named { name: alive.destructor.clone(), scope: Some(alive.class) };
            self.made_call(callee, alive.destructor, alive.span);
        }
    }
}
