//! Function-like macros, reduced to what matters for statuses, and how code uses them.

use super::tokens::Token;
use cudalint_program::Name;
use cudalint_syntax::Span;
use rustc_hash::FxHashSet;

/// A function-like macro, reduced to what matters for statuses.
#[derive(Clone, Debug)]
pub(crate) struct MacroShape {
    /// Its name.
    pub name: Name,
    /// The directive.
    pub(super) span: Span,
    pub(super) name_span: Span,
    pub(super) params: Vec<Name>,
    pub(super) tokens: Vec<Token>,
    pub(super) conditions: Vec<Box<str>>,
    /// Whether it compares, tests or hands on what it is given, in this definition.
    pub looks_at_status: bool,
    /// Whether it takes exactly one argument.
    pub takes_one: bool,
    /// Whether the body speaks of CUDA statuses.
    pub(super) speaks_of_status: bool,
}

impl MacroShape {
    /// The parameters of this definition that GPU calls are given for.
    pub(super) fn params_given_calls(
        &self,
        used: &FxHashSet<(usize, usize, u32)>,
        module: usize,
        place: usize,
    ) -> Vec<&Name> {
        let given = |position: usize| used.contains(&(module, place, position as u32));
        self.params.iter().enumerate().filter(|(position, _)| given(*position)).map(|(_, name)| name).collect()
    }

    pub(super) fn mentions_any_param(&self) -> bool {
        self.params.iter().any(|param| {
            let name = if param.as_str() == "..." { "__VA_ARGS__" } else { param.as_str() };
            self.tokens.iter().any(|token| token.is_word() && *token.text == *name)
        })
    }

    /// The place of a token: bodies are joined over continued lines, so only the first line can be told exactly.
    pub(super) fn place_of(&self, _token: usize) -> Span {
        self.name_span
    }
}

/// How the code of one module uses macros.
#[derive(Debug, Default)]
pub(crate) struct Used {
    /// Macros in whose arguments GPU calls stand, with the positions of those arguments.
    pub with_calls: FxHashSet<(Name, u32)>,
    /// Macros that are given a call that may end otherwise when it is made a second time: one that forgets the last error, or a
    /// function of the project.
    pub not_again: FxHashSet<Name>,
}
