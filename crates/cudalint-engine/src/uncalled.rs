//! Host functions that no program can run: nothing outside of their file can name them, and nothing in it does. What is wrong in
//! them does no harm.

use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, Module, ModuleId};
use cudalint_syntax::{Comment, Language, Region, Span, comments};

/// How long a chain of functions may be that only call each other.
const MAX_CALLS: u32 = 4;

/// Endings of files that are compiled by themselves.
const COMPILED: [&str; 6] = [".cu", ".c", ".cc", ".cpp", ".cxx", ".c++"];

/// A file while its functions are looked for in it.
pub(crate) struct Uncalled<'p> {
    module: &'p Module,
    text: &'p str,
    comments: Vec<Comment>,
}

impl<'p> Uncalled<'p> {
    /// The file of a module; nothing where other files may call what stands in it.
    pub(crate) fn of(project: &'p Project, id: ModuleId) -> Option<Self> {
        let module = project.module(id);
        let text = project.source(id);
        let file = id.index() as u32;
        let pastes = |id: ModuleId| project.module(id).macros.iter().any(|defined| defined.body.contains("##"));
        let included = project.includes().reach(file).included.iter().map(|file| ModuleId(*file));
        let compiled = COMPILED.iter().any(|ending| project.path(id).ends_with(ending));
        let alone = compiled
            && module.language == Language::Cuda
            && module.inside.is_none()
            && project.includes().includers(file).is_empty()
            && !included.chain([id]).any(pastes);
        alone.then(|| {
            let region = Region { language: Language::Cuda, span: Span::new(0, text.len()) };
            Self { module, text, comments: comments(text, &region) }
        })
    }

    /// Whether a place stands in a function that nobody can call.
    pub(crate) fn has(&self, at: usize) -> bool {
        let around = self.module.functions.iter().find(|function| {
            function.parent.is_none() && function.body.is_some() && function.span.range().contains(&at)
        });
        around.is_some_and(|function| self.is_uncalled(function, MAX_CALLS))
    }

    fn is_uncalled(&self, function: &Function, calls: u32) -> bool {
        let Some(calls) = calls.checked_sub(1) else { return false };
        let head = self.text.get(function.span.start as usize..function.name_span.start as usize).unwrap_or("");
        if function.space.global || function.space.device || head.contains("__attribute__") || head.contains("[[") {
            return false;
        }
        // A macro that makes a function may make a use of it, too.
        if self.text.get(function.name_span.range()) != Some(&*function.name) {
            return false;
        }
        let inline = function.is_static || !function.template_params.is_empty() && !function.is_specialization;
        // `Class<T>::get`: where the class is out of sight nothing is known of who uses it.
        let qualified = head.trim_end().ends_with("::");
        match (function.role, function.scope.last()) {
            (FunctionRole::Free, _) if inline && !qualified => {
                self.is_unused(&function.name, calls, |other| other.name == function.name)
            }
            // The methods of a class template come into being where somebody names the class.
            (_, Some(class)) if self.is_template(class) => {
                self.is_unused(class, calls, |other| other.scope.last() == Some(class))
            }
            _ => false,
        }
    }

    fn is_template(&self, class: &str) -> bool {
        let mut named = self.module.records.iter().filter(|record| record.name == *class).peekable();
        named.peek().is_some() && named.all(|record| !record.template_params.is_empty() && record.specializes.is_none())
    }

    /// Whether a name stands nowhere but in what it names itself, and in functions that nobody can call.
    fn is_unused(&self, name: &str, calls: u32, own: impl Fn(&Function) -> bool) -> bool {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bytes = self.text.as_bytes();
        let mut uses = self.text.match_indices(name).map(|(at, _)| at).filter(|at| {
            let end = at + name.len();
            let whole = !is_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(end));
            whole && !self.comments.iter().any(|comment| comment.span.range().contains(at))
        });
        !name.is_empty()
            && uses.all(|at| {
                let declared = self.module.records.iter().any(|record| record.span.range().contains(&at))
                    && self.module.records.iter().any(|record| record.name == *name);
                let mut around =
                    self.module.functions.iter().filter(|function| function.span.range().contains(&at)).peekable();
                declared || around.peek().is_some() && around.all(|other| own(other) || self.is_uncalled(other, calls))
            })
    }
}
