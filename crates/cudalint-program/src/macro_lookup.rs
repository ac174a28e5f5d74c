//! What the lowering asks about macros: the seam between the front end and whoever knows which definitions a file sees.

use crate::ir::MacroDefinition;

/// Macros that are visible in one file.
pub trait MacroLookup {
    /// The definition that a use of `name` means; `None` when there is none, or several that differ.
    fn lookup(&self, name: &str) -> Option<&MacroDefinition>;
}

/// No macro at all.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMacros;

impl MacroLookup for NoMacros {
    fn lookup(&self, _name: &str) -> Option<&MacroDefinition> {
        None
    }
}
