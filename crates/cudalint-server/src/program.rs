//! What the server is a server for.

use cudalint_engine::{Engine, Rule};

/// What the program hands to the server.
#[derive(Clone, Copy)]
pub struct Program {
    /// The rules.
    pub engine: Engine,
    /// The page of a rule, Markdown.
    pub page: fn(&Engine, &Rule) -> String,
}
