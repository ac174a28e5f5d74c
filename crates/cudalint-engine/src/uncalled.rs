//! Host functions that no program runs: nothing names them. What is wrong in them does no harm.
//!
//! Of a `static` function or a template in a source file that is so as soon as its file has no use of it. Of any other it takes a
//! project with a `main` whose build files, those in the folders around the function, make no library.

use crate::callers::Calls;
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, Module, ModuleId};
use cudalint_syntax::{Comment, Language, Region, Span, comments};
use std::sync::OnceLock;

/// How long a chain of functions may be that only call each other.
const MAX_CALLS: u32 = 4;

/// Endings of files that are compiled by themselves.
const COMPILED: [&str; 6] = [".cu", ".c", ".cc", ".cpp", ".cxx", ".c++"];

/// Bytes of a program that is searched for names, at most.
const MAX_PROGRAM: usize = 4 << 20;

/// Who uses a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// Somebody, as far as is known.
    Some,
    /// Nobody in the program.
    NotInProgram,
    /// Nobody: no other file can name it.
    Never,
}

/// The files of a project while names are looked for in them.
pub(crate) struct Uses<'p> {
    files: Vec<File<'p>>,
    /// Whether they are a whole program.
    program: Option<&'p Calls>,
}

/// A file.
struct File<'p> {
    module: &'p Module,
    text: &'p str,
    comments: OnceLock<Vec<Comment>>,
    /// Whether no other file may use what it keeps for itself.
    alone: bool,
    /// Whether its build makes programs alone.
    of_program: bool,
}

impl<'p> Uses<'p> {
    /// `calls`: what files without GPU code call. `builds`: folders with build files, and those of them that make libraries.
    pub(crate) fn new(project: &'p Project, calls: &'p Calls, builds: &[Vec<String>; 2]) -> Self {
        let file = |id: ModuleId| {
            let (module, number) = (project.module(id), id.index() as u32);
            let pastes = |id: ModuleId| project.module(id).macros.iter().any(|defined| defined.body.contains("##"));
            let included = project.includes().reach(number).included.iter().map(|file| ModuleId(*file));
            let alone = COMPILED.iter().any(|ending| project.path(id).ends_with(ending))
                && module.language == Language::Cuda
                && module.inside.is_none()
                && project.includes().includers(number).is_empty()
                && !included.chain([id]).any(pastes);
            let [of_program, of_library] = builds.each_ref().map(|folders| {
                folders.iter().any(|folder| {
                    let rest = project.path(id).strip_prefix(folder.as_str());
                    matches!(folder.as_str(), "" | ".") || rest.is_some_and(|rest| rest.starts_with('/'))
                })
            });
            let of_program = of_program && !of_library;
            File { module, text: project.source(id), comments: OnceLock::new(), alone, of_program }
        };
        let files: Vec<File<'p>> = project.modules().map(file).collect();
        let is_small = files.iter().map(|file| file.text.len()).sum::<usize>() <= MAX_PROGRAM;
        let is_main = |function: &Function| *function.name == *"main" && function.body.is_some();
        let starts = || calls.may_have("main") || files.iter().any(|file| file.module.functions.iter().any(is_main));
        let program = Some(calls).filter(|_| is_small && files.iter().any(|file| file.of_program) && starts());
        Self { files, program }
    }

    /// Who uses the function around a place.
    pub(crate) fn of(&self, id: ModuleId, at: usize) -> Users {
        let around = |file: &File<'p>| {
            let mut functions = file.module.functions.iter();
            functions.find(|it| it.parent.is_none() && it.body.is_some() && it.span.range().contains(&at))
        };
        let Some((file, function)) = self.files.get(id.index()).and_then(|file| Some((file, around(file)?))) else {
            return Users::Some;
        };
        if !file.alone || !file.may_be_unused(function) {
            Users::Some
        } else if file.is_uncalled(function, MAX_CALLS) {
            Users::Never
        } else if self.is_out_of_program(file, function) {
            Users::NotInProgram
        } else {
            Users::Some
        }
    }

    /// Whether no file of the program names a function, or the class that has it.
    fn is_out_of_program(&self, file: &File<'p>, function: &Function) -> bool {
        let Some(calls) = self.program.filter(|_| file.of_program) else { return false };
        // A macro in front of it may make it one that others see, and a virtual function has callers who do not know it.
        let head = file.head(function);
        let is_capital = |word: &str| word.len() > 1 && !word.contains(|letter: char| letter.is_ascii_lowercase());
        let words = || head.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
        if function.extern_c || *function.name == *"main" || words().any(|word| word.len() > 1 && is_capital(word)) {
            return false;
        }
        let class = function.scope.last().filter(|class| {
            let records = self.files.iter().flat_map(|file| &file.module.records);
            let mut named = records.filter(|record| record.name == **class && record.defined).peekable();
            named.peek().is_some() && named.all(|record| record.bases.is_empty())
        });
        // Of files without GPU code it is known what they call.
        let callable = match function.role {
            FunctionRole::Free => class.is_some() || !head.trim_end().ends_with("::"),
            FunctionRole::Method | FunctionRole::StaticMethod => class.is_some(),
            _ => false,
        };
        let nowhere =
            |name: &str, own: &dyn Fn(&Function) -> bool| self.files.iter().all(|file| file.is_unused(name, 0, own));
        callable
            && !calls.may_have(&function.name)
            && (nowhere(&function.name, &|other| other.name == function.name)
                || class.is_some_and(|class| nowhere(class, &|other| other.scope.last() == Some(class))))
    }
}

impl File<'_> {
    /// What stands in front of a function's name.
    fn head(&self, function: &Function) -> &str {
        self.text.get(function.span.start as usize..function.name_span.start as usize).unwrap_or("")
    }

    /// Whether a function runs on the host, and has its name and its calls from what is written here.
    fn may_be_unused(&self, function: &Function) -> bool {
        let head = self.head(function);
        // A macro that makes a function may make a use of it, too.
        let spelled = self.text.get(function.name_span.range()) == Some(&*function.name);
        let of_host = !function.space.global && !function.space.device;
        of_host && spelled && !head.contains("__attribute__") && !head.contains("[[")
    }

    /// Whether nothing can call a function: no other file can name it, and its own does not.
    fn is_uncalled(&self, function: &Function, calls: u32) -> bool {
        let Some(calls) = calls.checked_sub(1).filter(|_| self.may_be_unused(function)) else { return false };
        let inline = function.is_static || !function.template_params.is_empty() && !function.is_specialization;
        // `Class<T>::get`: where the class is out of sight nothing is known of who uses it.
        let qualified = self.head(function).trim_end().ends_with("::");
        match (function.role, function.scope.last()) {
            (FunctionRole::Free, _) if inline && !qualified => {
                self.is_unused(&function.name, calls, &|other| other.name == function.name)
            }
            // The methods of a class template come into being where somebody names the class.
            (_, Some(class)) if self.is_template(class) => {
                self.is_unused(class, calls, &|other| other.scope.last() == Some(class))
            }
            _ => false,
        }
    }

    fn is_template(&self, class: &str) -> bool {
        let mut named = self.module.records.iter().filter(|record| record.name == *class).peekable();
        named.peek().is_some() && named.all(|record| !record.template_params.is_empty() && record.specializes.is_none())
    }

    /// Whether a name stands nowhere but in what it names itself, and in functions that nobody can call.
    fn is_unused(&self, name: &str, calls: u32, own: &dyn Fn(&Function) -> bool) -> bool {
        let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let bytes = self.text.as_bytes();
        let is_whole = |at: usize| {
            !is_word(at.checked_sub(1).and_then(|before| bytes.get(before))) && !is_word(bytes.get(at + name.len()))
        };
        let region = Region { language: self.module.language, span: Span::new(0, self.text.len()) };
        let is_comment = |at: usize| {
            let all = self.comments.get_or_init(|| comments(self.text, &region));
            all.iter().any(|comment| comment.span.range().contains(&at))
        };
        let is_own = |at: usize| {
            let declared =
                self.module.records.iter().any(|record| record.name == *name && record.span.range().contains(&at));
            let mut around =
                self.module.functions.iter().filter(|function| function.span.range().contains(&at)).peekable();
            declared || around.peek().is_some() && around.all(|other| own(other) || self.is_uncalled(other, calls))
        };
        let mut uses = self.text.match_indices(name).map(|(at, _)| at).filter(|at| is_whole(*at));
        !name.is_empty() && uses.all(|at| is_own(at) || is_comment(at))
    }
}
