//! Names of variables that nothing declares, in a file all of whose includes are in sight or are headers of C, C++ and CUDA that declare few
//! variables: no compiler takes it.
//!
//! Where a declaration may be that was not understood, the name counts as declared: any place outside of functions where it stands, any
//! place before the use in the same function, another file that is included, an option that a build or a script gives a compiler.

use crate::others::{holds, words_at};
use cudalint_program::Project;
use cudalint_program::ir::{BinaryOp, Expr, ExprId, Function, FunctionRole, Module, ModuleId, Path};
use cudalint_syntax::{Comment, Language, Region, Span, comments};
use std::cell::OnceCell;

/// What a file says of names.
pub(crate) struct Declared<'p> {
    project: &'p Project,
    id: ModuleId,
    /// Whether a build or a script spells a word.
    given: &'p dyn Fn(&str) -> bool,
    comments: OnceCell<Vec<Comment>>,
    /// Whether macros in sight put names together.
    pastes: OnceCell<bool>,
}

impl<'p> Declared<'p> {
    pub fn new(project: &'p Project, id: ModuleId, given: &'p dyn Fn(&str) -> bool) -> Self {
        Self { project, id, given, comments: OnceCell::new(), pastes: OnceCell::new() }
    }

    fn text(&self) -> &'p str {
        self.project.source(self.id)
    }

    /// The file's comments.
    pub fn comments(&self) -> &[Comment] {
        let text = self.text();
        let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
        self.comments.get_or_init(|| comments(text, &region))
    }

    fn sees(&self, module: ModuleId) -> bool {
        let included = &self.project.includes().reach(self.id.index() as u32).included;
        module == self.id || included.has(module.index() as u32)
    }

    fn pastes(&self) -> bool {
        let pastes = |module: &Module| module.macros.iter().any(|defined| defined.body.contains("##"));
        *self.pastes.get_or_init(|| {
            self.project.modules().filter(|id| self.sees(*id)).any(|id| pastes(self.project.module(id)))
        })
    }

    /// Those of an expression's operands that would have to be variables: what is given a value or whose address is taken, numbers that are
    /// computed with, arrays and their indices.
    pub fn variables(expr: &Expr) -> Vec<ExprId> {
        // With `|` flags of libraries are put together, and `<<` prints what these have for streams.
        const OF_FLAGS: [BinaryOp; 4] = [BinaryOp::Shl, BinaryOp::Shr, BinaryOp::Or, BinaryOp::And];
        match expr {
            Expr::Assign { target, .. } | Expr::Step { target, .. } | Expr::AddressOf(target) => vec![*target],
            Expr::Binary(op, a, b) if !OF_FLAGS.contains(op) => vec![*a, *b],
            Expr::Index { base, indices } => indices.iter().copied().chain([*base]).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a name that stands in a function, and means nothing that the program knows, is declared nowhere.
    pub fn lacks(&self, name: &str, use_of_it: usize, function: &Function) -> bool {
        let text = self.text();
        let module = self.project.module(self.id);
        let spells = |other: ModuleId| words_at(self.project.source(other), name).next().is_some();
        let may_declare = |at: usize| {
            let around = |other: &&Function| other.body.is_some() && other.span.range().contains(&at);
            let mut around = module.functions.iter().filter(around).peekable();
            let is_outside = around.peek().is_none();
            let is_before = at < use_of_it && function.span.range().contains(&at);
            (is_outside || is_before) && !holds(self.comments(), at)
        };
        is_own_name(name)
            && self.is_asked(function)
            && !self.pastes()
            && !words_at(text, name).any(may_declare)
            && !self.project.modules().any(|other| other != self.id && self.sees(other) && spells(other))
            && !(self.given)(name)
    }

    /// Whether nothing in sight declares a function of the file before a place in another function. Names that the libraries of C, C++ and
    /// CUDA may have as well are not asked.
    pub fn lacks_before(&self, name: &str, use_of_it: usize, function: &Function) -> bool {
        let module = self.project.module(self.id);
        let spells = |other: ModuleId| words_at(self.project.source(other), name).next().is_some();
        let may_declare = |at: usize| {
            let around = |other: &Function| other.body.is_some() && other.span.range().contains(&at);
            let is_outside = !module.functions.iter().any(around);
            (is_outside || function.span.range().contains(&at)) && !holds(self.comments(), at)
        };
        is_of_no_library(name)
            && self.is_asked(function)
            && !self.pastes()
            && !words_at(self.text(), name).take_while(|at| *at < use_of_it).any(may_declare)
            && !self.project.modules().any(|other| other != self.id && self.sees(other) && spells(other))
            && !(self.given)(name)
    }

    /// Whether a name of which nothing is known but that it is launched is declared nowhere: no library has kernels for programs to launch.
    pub fn lacks_kernel(&self, name: &str) -> bool {
        let text = self.text();
        let spells = |other: ModuleId| words_at(self.project.source(other), name).next().is_some();
        let is_launch = |at: usize| text[at + name.len()..].trim_start().starts_with("<<<");
        !self.pastes()
            && words_at(text, name).all(|at| is_launch(at) || holds(self.comments(), at))
            && !self.project.modules().any(|other| other != self.id && self.sees(other) && spells(other))
            && !(self.given)(name)
    }

    /// Whether all names of a function have to be declared where it is: no part of a template, and of a class only where its text is in sight.
    fn is_asked(&self, function: &Function) -> bool {
        let of_class = !matches!(function.role, FunctionRole::Free | FunctionRole::Lambda);
        let record = || {
            let entry = self.project.record(self.id, &Path::default(), &function.scope)?;
            self.sees(entry.module).then(|| self.project.record_at(entry)).flatten()
        };
        function.template_params.is_empty()
            && function.parent.is_none()
            && !function.damaged
            && (!of_class || record().is_some_and(|record| record.template_params.is_empty()))
    }
}

/// Whether programs give such names to variables of their own, and headers of C, C++ and CUDA to none: small letters first, with a capital
/// or a `_` inside.
fn is_own_name(name: &str) -> bool {
    const OF_OTHERS: [&str; 8] =
        ["threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "not_eq", "and_eq", "or_eq"];
    const BEGINNINGS: [&str; 8] =
        ["cuda", "cu", "nv", "std", "memory_order", "match_", "format_", "program_invocation"];
    let bytes = name.as_bytes();
    let is_joined = bytes.windows(2).any(|pair| {
        (pair[0].is_ascii_lowercase() || pair[0].is_ascii_digit()) && (pair[1].is_ascii_uppercase() || pair[1] == b'_')
    });
    is_joined
        && bytes.first().is_some_and(u8::is_ascii_lowercase)
        && !name.ends_with("_t")
        && !OF_OTHERS.contains(&name)
        && !BEGINNINGS.iter().any(|start| name.starts_with(start))
}

/// Whether no function of C, C++ or CUDA is called so: names of programs, and a few words that they use for nothing else.
fn is_of_no_library(name: &str) -> bool {
    const WORDS: [&str; 14] = [
        "allocate",
        "cleanup",
        "display",
        "error",
        "help",
        "init",
        "initialize",
        "load",
        "output",
        "run",
        "setup",
        "test",
        "update",
        "usage",
    ];
    is_own_name(name) || WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::is_own_name;

    #[test]
    fn names_of_programs_are_told_from_those_of_headers() {
        for name in ["time_taken", "numRows", "d_allocated"] {
            assert!(is_own_name(name), "{name}");
        }
        for name in ["errno", "optind", "size_t", "threadIdx", "M_PI", "cudaSuccess", "memory_order_relaxed", "left"] {
            assert!(!is_own_name(name), "{name}");
        }
    }
}
