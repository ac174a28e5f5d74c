//! The names of a project, by their last segments.

use crate::crowd::{Answers, Crowd, Entry};
use crate::ir::{Module, ModuleId};
use crate::name::Name;
use cudalint_syntax::Language;
use rustc_hash::FxHashMap;

/// Things by the last segment of their names.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) functions: Table,
    /// Functions of the names that very many have, by the last segment of their scopes too.
    pub(crate) crowds: FxHashMap<Name, Crowd>,
    pub(crate) records: Table,
    /// Specializations of class templates, by the template's name.
    pub(crate) specializations: Table,
    pub(crate) aliases: Table,
    pub(crate) namespace_aliases: Table,
    pub(crate) enumerators: Table,
    pub(crate) enums: Table,
    pub(crate) globals: Table,
    /// What lookups of types of the names that very many have were answered.
    pub(crate) answers: FxHashMap<(TypeName, Name), Answers>,
}

/// A table of names of types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeName {
    /// `typedef` and `using`.
    Alias,
    /// Records and class templates.
    Template,
}

/// Names that more have than this are looked up by scope too: template libraries have thousands of `operator()`.
pub(crate) const CROWDED: usize = 32;

pub(crate) type Table = FxHashMap<Name, Vec<Entry>>;

impl Tables {
    /// Makes room for the answers of the names that very many have: nothing is added to the tables any more.
    pub(crate) fn expect_crowds(&mut self) {
        let tables = [(TypeName::Alias, &self.aliases), (TypeName::Template, &self.records)];
        let crowded = tables.into_iter().flat_map(|(which, table)| {
            let names = table.iter().filter(|(_, entries)| entries.len() > CROWDED);
            names.map(move |(name, _)| ((which, name.clone()), Answers::default()))
        });
        self.answers = crowded.collect();
    }

    /// Adds what a module of C++ defines. Python's names are found by its own rules.
    pub(crate) fn add(&mut self, id: ModuleId, module: &Module) {
        fn add<'m>(table: &mut Table, id: ModuleId, names: impl Iterator<Item = &'m Name>) {
            for (index, name) in names.enumerate() {
                if !name.is_empty() {
                    table.entry(name.clone()).or_default().push(Entry { module: id, index: index as u32 });
                }
            }
        }
        if module.language != Language::Cuda {
            return;
        }
        add(&mut self.functions, id, module.functions.iter().map(|it| &it.name));
        add(&mut self.records, id, module.records.iter().map(|it| &it.name));
        for (index, record) in module.records.iter().enumerate() {
            if let Some(of) = &record.specializes {
                let entry = Entry { module: id, index: index as u32 };
                self.specializations.entry(of.template.clone()).or_default().push(entry);
            }
        }
        add(&mut self.aliases, id, module.aliases.iter().map(|it| &it.name));
        add(&mut self.namespace_aliases, id, module.namespace_aliases.iter().map(|it| &it.name));
        add(&mut self.enumerators, id, module.enumerators.iter().map(|it| &it.name));
        add(&mut self.enums, id, module.enumerators.iter().map(|it| &it.of));
        add(&mut self.globals, id, module.globals.iter().map(|it| &it.name));
    }
}
