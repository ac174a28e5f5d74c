//! The project index: all modules, their texts, and the names that cross files.

use crate::ir::{Module, ModuleId};
use cudalint_syntax::Span;
use std::sync::Arc;

/// All modules of a run.
#[derive(Debug, Default)]
pub struct Project {
    modules: Vec<Module>,
    sources: Vec<(Arc<str>, Arc<str>)>,
}

impl Project {
    /// A module.
    pub fn module(&self, id: ModuleId) -> &Module {
        &self.modules[id.index()]
    }

    /// The path of a module's file as given by the user.
    pub fn path(&self, id: ModuleId) -> &Arc<str> {
        &self.sources[id.index()].0
    }

    /// Text of a span of a module's file; empty when out of range.
    pub fn text(&self, id: ModuleId, span: Span) -> &str {
        self.sources[id.index()].1.get(span.range()).unwrap_or("")
    }
}
