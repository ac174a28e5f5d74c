//! What a test framework runs around the block of a test: it makes an object of the fixture, and gives it up behind. All of that may
//! look at errors.

use super::build::Builder;
use super::flow::{Action, Alive, Callee};
use cudalint_program::frameworks::{is_plain_base, test_at};
use cudalint_program::ir::{FunctionRole, ModuleId, Path, Type, TypeId};
use cudalint_program::{Entry, Name};

/// How many bases of a fixture are asked for a method.
const MAX_BASES: u32 = 8;

/// Where a method of a class is.
enum Found {
    /// In this class.
    Of(Name),
    /// Nowhere.
    Nowhere,
    /// Perhaps in a class that is out of sight.
    OutOfSight,
}

impl Builder<'_> {
    /// The object of the fixture lives from here on, if the function is a test that has one.
    pub(super) fn begin_test(&mut self) {
        let function = self.function;
        if function.role != FunctionRole::Free || function.name.starts_with(|first: char| !first.is_ascii_uppercase()) {
            return;
        }
        let text = self.project.source(self.id).get(function.name_span.start as usize..).unwrap_or("");
        let Some(test) = test_at(text) else { return };
        let Some(fixture) = test.fixture else { return };
        let path: Path = fixture.trim_start_matches("::").split("::").map(|part| Name::from(part.trim())).collect();
        let Some(entry) = self.class(self.id, &function.scope, &path) else {
            // Nobody knows what it does.
            let unknown = Alive { class: Name::from(fixture), destructor: Name::default(), span: function.span };
            return self.alive.push(unknown);
        };
        let span = function.span;
        self.construct_record(entry, span);
        let mut ends = Vec::new();
        self.destructors_of(entry, 0, &mut ends);
        self.alive.extend(ends.into_iter().rev().map(|(class, destructor)| Alive { class, destructor, span }));
        let Some([before, behind]) = test.around else { return };
        match self.method_of(entry, before, MAX_BASES) {
            Found::Of(class) => {
                let name = Name::from(before);
                self.made_call(Callee::Named { name: name.clone(), scope: Some(class) }, name, span);
            }
            Found::OutOfSight => self.push(Action::Opaque),
            Found::Nowhere => {}
        }
        match self.method_of(entry, behind, MAX_BASES) {
            Found::Of(class) => self.alive.push(Alive { class, destructor: Name::from(behind), span }),
            Found::OutOfSight => self.alive.push(Alive { class: Name::default(), destructor: Name::default(), span }),
            Found::Nowhere => {}
        }
    }

    /// The class that a path means, through aliases.
    fn class(&self, module: ModuleId, inside: &Path, path: &Path) -> Option<Entry> {
        let project = self.project;
        project.record(module, inside, path).or_else(|| {
            let entry = project.alias(module, inside, path)?;
            let alias = project.alias_at(entry)?;
            self.class_of_type(entry.module, &alias.scope, alias.ty).ok()
        })
    }

    /// The class that a type means; its name where it is out of sight.
    fn class_of_type(&self, module: ModuleId, inside: &Path, ty: TypeId) -> Result<Entry, String> {
        match self.project.module(module).types.get(ty) {
            Some(Type::Named { path, .. }) => self
                .project
                .record(module, inside, path)
                .ok_or_else(|| path.segments.iter().map(Name::as_str).collect::<Vec<_>>().join("::")),
            _ => Err(String::new()),
        }
    }

    /// The class, from one upwards, that has a method.
    fn method_of(&self, entry: Entry, method: &str, left: u32) -> Found {
        let Some((record, left)) = self.project.record_at(entry).zip(left.checked_sub(1)) else {
            return Found::OutOfSight;
        };
        let mut methods = record.methods.iter().filter_map(|id| self.project.function_at(entry.module, *id));
        if methods.any(|function| function.name == *method) {
            return Found::Of(record.name.clone());
        }
        let mut found = Found::Nowhere;
        for base in &record.bases {
            let above = match self.class_of_type(entry.module, &record.scope, *base) {
                Ok(base) => self.method_of(base, method, left),
                Err(name) if is_plain_base(&name) => Found::Nowhere,
                Err(_) => Found::OutOfSight,
            };
            match above {
                Found::Of(class) => return Found::Of(class),
                Found::OutOfSight => found = Found::OutOfSight,
                Found::Nowhere => {}
            }
        }
        found
    }
}
