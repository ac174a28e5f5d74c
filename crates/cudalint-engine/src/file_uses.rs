//! A file of a project while names are looked for in it: what it declares, what of it is no code, and whether others can name a function of
//! it at all.

use crate::dead::{Dead, dead};
use crate::others::{holds, names_file, words, words_at};
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, Module, ModuleId};
use cudalint_replay::facts::NeverRun;
use cudalint_syntax::{Comment, Region, Span, comments};
use std::sync::OnceLock;

/// A file.
#[allow(clippy::struct_excessive_bools)] // Independent properties of a file.
pub(crate) struct File<'p> {
    pub path: &'p str,
    pub module: &'p Module,
    pub text: &'p str,
    pub comments: OnceLock<Vec<Comment>>,
    pub dead: OnceLock<Vec<Dead>>,
    /// Stretches that walks of its functions never come to.
    pub never_run: Vec<NeverRun>,
    /// Whether it is compiled by itself.
    pub compiled: bool,
    /// Whether it is part of another file that is compiled by itself.
    pub included: bool,
    /// Whether no other file may use what it keeps for itself.
    pub alone: bool,
    /// Whether its build makes programs alone.
    pub of_program: bool,
    /// Whether a build file stands around it.
    pub built: bool,
    /// Of a header: whether it belongs to a program, and is not for others.
    pub in_program: bool,
    /// Of a header: whether no file builds the project, and a program below whose folder it lies has it as a part.
    pub of_main: bool,
    /// Whether macros make names there of which they say no part.
    pub pastes: bool,
    pub has_main: bool,
}

impl<'p> File<'p> {
    /// What stands in front of a function's name.
    pub fn head(&self, function: &Function) -> &'p str {
        self.text.get(function.span.start as usize..function.name_span.start as usize).unwrap_or("")
    }

    /// Whether a function has its name and its calls from what is written here.
    pub fn is_spelled(&self, function: &Function) -> bool {
        let head = self.head(function);
        // A macro that makes a function may make a use of it, too.
        let spelled = self.text.get(function.name_span.range()) == Some(&*function.name);
        let before = self.text.get(..function.span.start as usize).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        let has_attribute = |text: &str| text.contains("__attribute__") || text.contains("[[");
        spelled && !has_attribute(head) && !has_attribute(line)
    }

    /// Whether a function runs on the host, and has its name and its calls from what is written here.
    pub fn may_be_unused(&self, function: &Function) -> bool {
        self.is_spelled(function) && !function.space.global && !function.space.device
    }

    /// Whether whoever uses a function spells its name somewhere, or that of the class whose operator it is. `whole`: all that is linked to
    /// it is in sight. `is_space`: whether a word is a macro that only says where functions run.
    pub fn may_be_found(&self, function: &Function, whole: bool, is_space: &dyn Fn(&str) -> bool) -> bool {
        let is_capital = |word: &str| {
            word.len() > 1 && !word.contains(|letter: char| letter.is_ascii_lowercase()) && !is_space(word)
        };
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut words = self.head(function).split(|letter| !is_part(letter));
        // What stands for nothing is no part of the function, as read.
        let before = self.text.get(..function.span.start as usize).unwrap_or("").trim_end();
        let line = before.rsplit('\n').next().unwrap_or("").trim_start();
        let last = line.rsplit(|letter| !is_part(letter)).next().unwrap_or(line);
        let marked = !line.starts_with('#') && !line.starts_with("//") && is_capital(last);
        let of_device = function.space.global || !function.space.host;
        // A macro in front of it may make it one that others see. Languages without C++'s names know those of C, and Fortran puts `_`
        // behind them.
        let seen = function.extern_c && (!whole || of_device || function.name.ends_with('_'));
        let by_class = function.name.starts_with("operator") && function.scope.last().is_some();
        (self.is_spelled(function) || by_class) && !seen && (of_device || !marked && !words.any(is_capital))
    }

    /// Whether no other file can name a function.
    pub fn hides(&self, function: &Function) -> bool {
        let generic = !function.template_params.is_empty() && !function.is_specialization;
        let qualified = self.head(function).trim_end().ends_with("::");
        let made =
            |name: &str| self.module.instantiations.iter().any(|it| it.path.last().is_some_and(|last| **last == *name));
        self.alone
            && self.may_be_unused(function)
            && function.role == FunctionRole::Free
            && (self.is_own(function) || generic && !made(&function.name))
            && !qualified
    }

    /// Whether a function of a source is its own: there is no code of an inline one for others either.
    fn is_own(&self, function: &Function) -> bool {
        const INLINE: [&str; 4] = ["inline", "__inline", "__inline__", "__forceinline__"];
        let mut said = words(self.head(function)).map(|(_, word)| word);
        function.is_static || self.compiled && said.any(|word| INLINE.contains(&word))
    }

    /// Whether nothing can call a function: no other file can name it, and its own does not.
    pub fn is_uncalled(&self, function: &Function, calls: u32) -> bool {
        let Some(calls) = calls.checked_sub(1).filter(|_| self.may_be_unused(function)) else { return false };
        let inline = self.is_own(function) || !function.template_params.is_empty() && !function.is_specialization;
        // `Class<T>::get`: where the class is out of sight nothing is known of who uses it.
        let qualified = self.head(function).trim_end().ends_with("::");
        match (function.role, function.scope.last()) {
            (FunctionRole::Free, _) if inline && !qualified => {
                // Another function of the name is an overload, which may call it.
                let same = |other: &Function| other.name == function.name && other.param_count == function.param_count;
                self.is_unused(&function.name, calls, &same)
            }
            // The methods of a class template come into being where somebody names the class.
            (_, Some(class)) if self.is_template(class) => {
                self.is_unused(class, calls, &|other| other.scope.last() == Some(class))
            }
            _ => false,
        }
    }

    /// Whether a function is a template, or a method of one, that the file holds.
    pub fn is_generic(&self, function: &Function) -> bool {
        let own = !function.template_params.is_empty() && !function.is_specialization;
        own || function.scope.last().is_some_and(|class| self.is_template(class))
    }

    /// Whether there is no code of a function of a header until somebody names it: each file has its own.
    pub fn is_made_where_used(&self, function: &Function) -> bool {
        !self.compiled
            && function.role == FunctionRole::Free
            && function.scope.segments.is_empty()
            && function.is_static
    }

    pub fn is_template(&self, class: &str) -> bool {
        let mut named = self.module.records.iter().filter(|record| record.name == *class).peekable();
        named.peek().is_some() && named.all(|record| !record.template_params.is_empty() && record.specializes.is_none())
    }

    /// Whether a name stands nowhere in the file but in what it names itself, and in functions that nobody can call.
    pub fn is_unused(&self, name: &str, calls: u32, own: &dyn Fn(&Function) -> bool) -> bool {
        let is_own = |at: usize| {
            let mut around =
                self.module.functions.iter().filter(|function| function.span.range().contains(&at)).peekable();
            self.declares(name, at)
                || around.peek().is_some() && around.all(|other| own(other) || self.is_uncalled(other, calls))
        };
        !name.is_empty() && words_at(self.text, name).all(|at| is_own(at) || self.is_no_code(at))
    }

    pub fn is_comment(&self, at: usize) -> bool {
        let region = Region { language: self.module.language, span: Span::new(0, self.text.len()) };
        holds(self.comments.get_or_init(|| comments(self.text, &region)), at)
    }

    /// Whether a place is in a comment, in the name of a file, or in a branch of `#if` that is not the program.
    pub fn is_no_code(&self, at: usize) -> bool {
        names_file(self.text, at)
            || self.is_comment(at)
            || !self.is_left_out() && self.module.passed_over.iter().any(|span| span.range().contains(&at))
    }

    /// Whether a place stands between the quotes of a line, among other words.
    pub fn is_prose(&self, at: usize) -> bool {
        let from = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[from..].lines().next().unwrap_or("");
        let quotes: Vec<usize> = line
            .match_indices('"')
            .map(|(quote, _)| quote)
            .filter(|quote| !line[..*quote].ends_with(['\\', '\'']))
            .collect();
        let mut strings = quotes.chunks_exact(2).filter_map(|pair| Some((pair[0], line.get(pair[0] + 1..pair[1])?)));
        strings.any(|(begin, words)| {
            let inside = begin + from < at && at < begin + from + 1 + words.len();
            inside && words.trim().contains(' ')
        })
    }

    /// Whether a class's name at a place outside of functions' bodies says whose a member is, that pointers to objects of it are kept or
    /// taken, or that there is such a class.
    pub fn makes_no_object(&self, class: &str, at: usize) -> bool {
        let (before, behind) = (self.text.get(..at).unwrap_or(""), self.text.get(at + class.len()..).unwrap_or(""));
        let (before, behind) = (before.trim_end(), behind.trim_start());
        let points = behind.strip_prefix('*').is_some_and(|rest| rest.trim_start().starts_with(['>', ',']));
        let announced = behind.starts_with(';') && ["class", "struct"].iter().any(|word| before.ends_with(word));
        // What a variable starts with is code.
        let begun = before.rsplit([';', '{', '}']).next().unwrap_or("");
        let defines = behind.starts_with("::") && !begun.contains(['=', '(']);
        let mut around = self.module.functions.iter().filter(|function| function.span.range().contains(&at)).peekable();
        match around.peek() {
            None => defines || points || announced,
            // What takes a pointer is declared.
            Some(_) => behind.starts_with(['*', '&']) && around.all(|function| function.body.is_none()),
        }
    }

    /// Whether all of a file is passed over: another program has it, or another file's guard has the same name as its own.
    pub fn is_left_out(&self) -> bool {
        self.module.functions.is_empty() && self.module.records.is_empty()
    }

    /// Whether a class of a name is declared at a place.
    pub fn declares(&self, name: &str, at: usize) -> bool {
        self.module.records.iter().any(|record| record.name == *name && record.span.range().contains(&at))
    }

    /// Whether a name at a place is a variable of the function around it, which hides what has the name elsewhere.
    pub fn is_variable(&self, name: &str, at: usize) -> bool {
        let calls = self.text.get(at + name.len()..).is_some_and(|behind| behind.trim_start().starts_with(['(', '<']));
        let has_it = |function: &Function| {
            function.body.is_some()
                && function.span.range().contains(&at)
                && function.locals.iter().any(|local| local.name == *name)
        };
        !calls && self.module.functions.iter().any(has_it)
    }

    /// Whether a place is in an explicit instantiation, which calls nothing.
    pub fn instantiates(&self, at: usize) -> bool {
        self.module.instantiations.iter().any(|it| it.span.range().contains(&at))
    }

    pub fn is_dead_at(&self, at: usize, project: &Project, index: usize) -> bool {
        let stretches = self.dead.get_or_init(|| dead(project, ModuleId(index as u32), &self.never_run));
        stretches.iter().any(|dead| dead.span.range().contains(&at))
    }
}
