//! What the macros of a project stand for, as far as the mask must know: attributes, namespaces, pragmas, or code.

use crate::defines::Define;
use rustc_hash::FxHashMap;

/// Macro definitions of all files of a project, classified.
#[derive(Clone, Debug, Default)]
pub struct MacroTable {
    classes: FxHashMap<String, Class>,
}

/// What a macro's body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Code that must stay in the tree.
    Other,
}

impl MacroTable {
    /// Builds the table from the definitions of all files. `declaration_macros` are names that the user says stand for
    /// nothing the grammar should see.
    pub fn build<'d>(defines: impl IntoIterator<Item = &'d Define>, declaration_macros: &[String]) -> Self {
        let mut table = Self::default();
        for define in defines {
            table.classes.insert(define.name.clone(), Class::Other);
        }
        for name in declaration_macros {
            table.classes.insert(name.clone(), Class::Other);
        }
        table
    }
}
