//! Functions that no program runs: nothing names them but themselves, comments, code that never runs, and other such functions. What is
//! wrong in them does no harm.
//!
//! Of a `static` function or a template in a source file that is so as soon as its file has no use of it. Of any other it takes a
//! project with a `main`. Where the build files in the folders around it make no library, a declaration is no use; elsewhere others may
//! use what a header declares, and only what no other file names is nobody's. A template in a header is nobody's also where others are
//! handed that: there is no code of it until somebody names it.

use crate::callers::Calls;
use crate::dead::{Dead, dead};
use crate::exports::{Code, Exports, is_inside, is_of_program, is_trial};
use crate::file_uses::File;
use crate::meant::{Meant, Named, expanding};
use crate::others::{Other, Others, words, words_at};
use crate::overloads::{Overloads, Target};
use crate::pasting::{Part, pasted, pastes_blindly};
use crate::roles::{COMPILED, Role};
use crate::unlisted::{Unlisted, is_main};
use cudalint_program::Project;
use cudalint_program::ir::{Function, FunctionRole, MacroDefinition, ModuleId, Type};
use cudalint_replay::facts::Facts;
use cudalint_syntax::Language;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

/// How long a chain of functions may be that only call each other.
pub(crate) const MAX_CALLS: u32 = 6;

/// Functions that are asked about for one place, at most.
const MAX_ASKED: u32 = 200;

/// Bytes of a program that is searched for names, at most.
const MAX_PROGRAM: usize = 16 << 20;

/// Methods that libraries call of allocators that they are given.
const OF_ALLOCATORS: [&str; 4] = ["allocate", "construct", "deallocate", "destroy"];

/// Methods that libraries and the language call of classes that they are given: of locks, containers.
const CALLED_UNSEEN: [&str; 8] = ["begin", "end", "insert", "lock", "push_back", "swap", "try_lock", "unlock"];

/// Who uses a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Users {
    /// Somebody, as far as is known.
    Some,
    /// Nobody in the program: what would have to be otherwise, in words.
    NotInProgram(String),
    /// Nobody: no other file can name it.
    Never,
}

/// The files of a project while names are looked for in them.
pub(crate) struct Uses<'p> {
    pub(crate) files: Vec<File<'p>>,
    /// Whether they are small enough to be searched.
    is_small: bool,
    /// Whether they are also a whole program.
    is_program: bool,
    /// Whether the project has no file that builds it.
    pub(crate) builds_nothing: bool,
    /// Parts of names that macros put together with something else.
    pasted: Vec<Part<'p>>,
    /// All words of the files.
    words: OnceLock<FxHashSet<&'p str>>,
    /// Where the names of functions and classes stand: file and position.
    pub(crate) places: OnceLock<FxHashMap<&'p str, Vec<(usize, usize)>>>,
    /// Which functions calls mean, by types.
    pub(crate) overloads: Overloads<'p>,
    /// Functions and classes by their names.
    named: OnceLock<Named<'p>>,
    /// Macros that may stand for several arguments.
    expanding: OnceLock<FxHashSet<&'p str>>,
    /// Mangled names that the files spell.
    pub(crate) mangled: OnceLock<Vec<&'p str>>,
    /// What of it others may use.
    exports: OnceLock<Exports>,
}

/// A question about one place.
pub(crate) struct Ask<'a, 'p> {
    pub(crate) project: &'p Project,
    pub(crate) others: &'a Others<'p>,
    /// The files that nobody builds.
    pub(crate) unlisted: &'a dyn Fn() -> &'a Unlisted,
    pub(crate) left: Cell<u32>,
    /// Functions that are being asked about: file and place of the name.
    pub(crate) open: RefCell<Vec<(usize, u32)>>,
}

/// Whether the name at a place of a text may mean a function.
type Means<'a> = &'a dyn Fn(&str, usize) -> bool;

/// A function whose uses are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Sought<'a> {
    pub(crate) means: Means<'a>,
    pub(crate) target: &'a Target<'a>,
}

/// Which uses of a name count.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Within {
    /// Those in this file.
    File(usize),
    /// Those in all files; declarations are none.
    Program,
    /// Those in all files, and declarations outside of this one that others are handed; others hardly launch a library's kernels by
    /// themselves.
    Library { home: usize, is_kernel: bool },
    /// Those in all files, and in documents: a template in a header, whoever is handed that.
    Template,
}

impl<'p> Uses<'p> {
    /// `facts`: what the modules do. `calls`: what files without GPU code call. `builds`: folders with build files, and those of them that
    /// make libraries.
    pub(crate) fn new(project: &'p Project, facts: &[Facts], calls: &'p Calls, builds: &[Vec<String>; 2]) -> Self {
        let pasting = |id: ModuleId| project.module(id).macros.iter().filter(|defined| defined.body.contains("##"));
        let pasting: Vec<Vec<&MacroDefinition>> = project.modules().map(|id| pasting(id).collect()).collect();
        let blindly: Vec<bool> = pasting.iter().map(|all| all.iter().any(|defined| pastes_blindly(defined))).collect();
        let builds = builds.each_ref().map(|folders| folders.iter().map(String::as_str).collect::<FxHashSet<_>>());
        let has_main = |id: ModuleId| project.module(id).functions.iter().any(is_main);
        let begins = calls.may_have("main") || project.modules().any(has_main);
        // Where nothing is built by a file, the sources that share a header with the `main` are its program.
        let mains: Vec<u32> = project.modules().filter(|id| has_main(*id)).map(|id| id.index() as u32).collect();
        let is_beside_main = |number: u32| {
            let own = &project.includes().reach(number).included;
            let shares = |main: &u32| {
                let of_main = &project.includes().reach(*main).included;
                *main == number || of_main.has(number) || own.iter().any(|header| of_main.has(*header))
            };
            builds[0].is_empty() && mains.iter().any(shares)
        };
        let file = |id: ModuleId| {
            let (module, number) = (project.module(id), id.index() as u32);
            let reached = project.includes().reach(number).included.iter().map(|file| ModuleId(*file));
            let includers = project.includes().includers(number).iter().map(|file| ModuleId(*file));
            let includers: Vec<ModuleId> = includers.filter(|other| is_compiled(project.path(*other))).collect();
            let included = !includers.is_empty();
            let compiled = is_compiled(project.path(id));
            let alone = compiled
                && module.language == Language::Cuda
                && module.inside.is_none()
                && project.includes().includers(number).is_empty()
                && !reached.clone().chain([id]).any(|id| !pasting[id.index()].is_empty());
            // Headers may stand between it and a source.
            let above = project.includes().reach(number).context.iter().copied().filter(|other| {
                is_compiled(project.path(ModuleId(*other))) && project.includes().reach(*other).included.has(number)
            });
            let above: Vec<ModuleId> = above.map(ModuleId).chain(includers).collect();
            let path: &str = project.path(id);
            let [built, of_library] = builds.each_ref().map(|folders| {
                let mut around = path.match_indices('/').map(|(at, _)| &path[..at]);
                ["", "."].iter().any(|root| folders.contains(root)) || around.any(|folder| folders.contains(folder))
            });
            File {
                path,
                module,
                text: project.source(id),
                comments: OnceLock::new(),
                dead: OnceLock::new(),
                never_run: facts.get(id.index()).map(|facts| facts.never_run.clone()).unwrap_or_default(),
                compiled,
                included,
                alone,
                of_program: built && !of_library || compiled && is_beside_main(number),
                built,
                of_main: !compiled
                    && builds[0].is_empty()
                    && above.iter().any(|other| has_main(*other) && !is_trial(project.path(*other)))
                    && is_inside(path, &above.iter().map(|other| -> &str { project.path(*other) }).collect::<Vec<_>>()),
                in_program: above
                    .iter()
                    .any(|other| is_of_program(project.path(id), project.path(*other), begins && built && !of_library)),
                pastes: reached.chain([id]).any(|id| blindly[id.index()]),
                has_main: has_main(id),
            }
        };
        let files: Vec<File<'p>> = project.modules().map(file).collect();
        let is_small = files.iter().map(|file| file.text.len()).sum::<usize>() <= MAX_PROGRAM;
        let is_program = is_small && begins;
        let pasted = pasting.iter().flatten().flat_map(|defined| pasted(defined)).collect();
        Self {
            files,
            is_small,
            is_program,
            builds_nothing: builds[0].is_empty(),
            pasted,
            words: OnceLock::new(),
            places: OnceLock::new(),
            overloads: Overloads::of(project),
            named: OnceLock::new(),
            expanding: OnceLock::new(),
            mangled: OnceLock::new(),
            exports: OnceLock::new(),
        }
    }

    /// Who uses the function around a place. `around`: what lies beside the program, and the files that nobody builds; without these not
    /// all of the project is known.
    pub(crate) fn of<'a>(
        &self,
        project: &'p Project,
        id: ModuleId,
        at: usize,
        around: Option<(&'a Others<'p>, &'a dyn Fn() -> &'a Unlisted)>,
    ) -> Users {
        let holder = |file: &File<'p>| {
            let functions = file.module.functions.iter_enumerated().filter(|(id, _)| file.module.body != Some(*id));
            let mut functions = functions.map(|(_, function)| function);
            functions.find(|it| it.parent.is_none() && it.body.is_some() && it.span.range().contains(&at))
        };
        let Some((file, function)) = self.files.get(id.index()).and_then(|file| Some((file, holder(file)?))) else {
            return Users::Some;
        };
        if file.alone && file.is_uncalled(function, MAX_CALLS) {
            return Users::Never;
        }
        // No other file can launch a `static` kernel of a source.
        if file.alone && function.space.global && function.is_static && file.is_spelled(function) {
            let same = |other: &Function| other.name == function.name && other.param_count == function.param_count;
            if file.is_unused(&function.name, MAX_CALLS, &same) {
                return Users::NotInProgram(format!("`{}` is launched, which nothing in its file does", function.name));
            }
        }
        let Some((others, unlisted)) = around else { return Users::Some };
        let ask = Ask { project, others, unlisted, left: Cell::new(MAX_ASKED), open: RefCell::default() };
        let is_idle = if file.module.language == Language::Python {
            self.is_idle_in_python(id.index(), function, &ask)
        } else {
            self.is_idle(id.index(), function, &ask, MAX_CALLS)
        };
        if !is_idle {
            return Users::Some;
        }
        let verb = if function.space.global { "launched" } else { "called" };
        Users::NotInProgram(format!("`{}` is {verb}, which nothing in this project does", function.name))
    }

    /// The code of a module that never runs.
    pub(crate) fn dead(&self, project: &'p Project, id: ModuleId) -> &[Dead] {
        self.files.get(id.index()).map_or(&[], |file| file.dead.get_or_init(|| dead(project, id, &file.never_run)))
    }

    /// Whether nothing that runs can call a function. Functions that only call each other run as little as one that nothing calls.
    pub(crate) fn is_idle(&self, at: usize, function: &Function, ask: &Ask<'_, 'p>, calls: u32) -> bool {
        let key = (at, function.name_span.start);
        if ask.open.borrow().contains(&key) {
            return true;
        }
        ask.open.borrow_mut().push(key);
        let is_idle = self.is_unasked_idle(at, function, ask, calls);
        ask.open.borrow_mut().pop();
        is_idle
    }

    /// The same of one that is not being asked about.
    fn is_unasked_idle(&self, at: usize, function: &Function, ask: &Ask<'_, 'p>, calls: u32) -> bool {
        let (Some(calls), Some(left), Some(file)) =
            (calls.checked_sub(1), ask.left.get().checked_sub(1), self.files.get(at))
        else {
            return false;
        };
        ask.left.set(left);
        if is_main(function) || file.module.language != Language::Cuda || file.module.inside.is_some() {
            return false;
        }
        let same = |other: &Function| other.name == function.name && other.param_count == function.param_count;
        let named = self.named.get_or_init(|| Named::of(self.files.iter().map(|file| file.module)));
        let meant = Meant::of(function, named);
        let expanding = self.expanding.get_or_init(|| expanding(self.files.iter().map(|file| file.module)));
        let means = |text: &str, at: usize| meant.at(text, at, &|word| expanding.contains(word));
        let target = Target::new(ModuleId(at as u32), function);
        let sought = Sought { means: &means, target: &target };
        if file.hides(function) {
            return self.is_nowhere(&function.name, &same, Some(sought), Within::File(at), at, ask, calls);
        }
        // Of a template there is no code until somebody names it. One that runs on the device may be made to be launched by others, where
        // nobody shows how.
        let is_generic = (file.is_generic(function) || file.is_made_where_used(function))
            && (function.space.host && !function.space.global || self.is_used_somewhere(function));
        let library = Within::Library { home: at, is_kernel: function.space.global };
        let within = match file.of_program || file.compiled && !file.built && self.is_beside_plain_main(file, ask) {
            true => Within::Program,
            false if file.compiled && (file.built || file.has_main) => library,
            false if file.built && !self.hands_on(library, file.path, ask) => library,
            // A part of the one program that somebody builds by hand.
            false if file.of_main && !ask.others.tell_of(file.path) => Within::Program,
            false if is_generic && !file.compiled => Within::Template,
            false => return false,
        };
        if !file.compiled && !file.in_program && !file.of_main && within != Within::Template {
            return false;
        }
        let all = || self.files.iter().flat_map(|file| words(file.text).map(|(_, word)| word)).collect();
        let is_word = |word: &str| self.words.get_or_init(all).contains(word) || ask.others.spell(word);
        let halves = || (1..function.name.len()).filter_map(|at| function.name.split_at_checked(at));
        let is_pasted = || halves().any(|(first, last)| is_word(first) && is_word(last));
        if file.pastes && is_pasted() || self.pasted.iter().any(|part| part.may_make(&function.name, &is_word)) {
            return false;
        }
        // A module that something loads has no `main`.
        // A kernel is launched by its own library: whoever uses that calls functions of the host.
        let is_whole = self.is_program
            || self.is_small
                && (function.space.global && file.compiled || self.exports(ask).is_some_and(Exports::has_binding));
        // What only a program outside could ask for by its plain name is declared somewhere.
        let is_type = |word: &str| {
            function.scope.segments.iter().any(|own| **own == *word)
                || self.files.iter().any(|file| file.module.aliases.iter().any(|alias| *alias.name == *word))
        };
        let is_space = |word: &str| self.says_only_where(word) || is_type(word);
        if !is_whole || !file.may_be_found(function, within == Within::Program || self.is_program, &is_space) {
            return false;
        }
        let records = || self.files.iter().flat_map(|file| &file.module.records);
        let known = function.scope.last().filter(|class| records().any(|it| it.name == ***class && it.defined));
        // Methods of others may be called by the names that bases out of sight have for them.
        let class = known.filter(|class| self.has_bases_in_sight(class, MAX_CALLS));
        // A name in front of it that is no class of the program's may be anything, unless a namespace declares it.
        let declared = |file: &File<'p>, other: &Function| {
            same(other) && other.scope == function.scope && !file.head(other).trim_end().ends_with("::")
        };
        let in_namespace = |file: &File<'p>| file.module.functions.iter().any(|other| declared(file, other));
        let qualified = file.head(function).trim_end().ends_with("::") && !self.files.iter().any(in_namespace);
        let by_name = match function.role {
            // Operators are written otherwise than they are called.
            _ if !file.is_spelled(function) => false,
            FunctionRole::Free => class.is_some() || !qualified,
            FunctionRole::Method => class.is_some_and(|class| {
                let of_allocator = OF_ALLOCATORS.contains(&&*function.name) && self.is_allocator(class);
                !of_allocator && !CALLED_UNSEEN.contains(&&*function.name)
            }),
            FunctionRole::StaticMethod => class.is_some(),
            _ => false,
        };
        if !by_name && known.is_none() {
            return false;
        }
        let unnamed = |name: &str, own: &dyn Fn(&Function) -> bool, is_function: bool| {
            let means: Means<'_> = &means;
            self.is_nowhere(name, own, is_function.then_some(sought), within, at, ask, calls)
                && ask.others.texts().is_some_and(|texts| {
                    !ask.others.spell(name)
                        || texts.iter().all(|text| match text.role {
                            Role::Quiet if text.names(name) && (ask.unlisted)().quiet.contains(&text.path) => true,
                            Role::Quiet if is_function => {
                                !text.names(name)
                                    || function.role == FunctionRole::Free && text.has_its_own(name)
                                    || !text.uses(name, means)
                                        && !self.hands_on(within, &text.path.to_string_lossy(), ask)
                            }
                            Role::Quiet => !text.names(name) || !text.uses_class(name),
                            Role::Foreign | Role::Script => !text.names(name),
                            // Others are told of it.
                            Role::Document if within == Within::Template => !text.names(name),
                            Role::Build | Role::Document => true,
                        })
                })
        };
        // Of a class that nobody names there is no object.
        let idle = by_name && unnamed(&function.name, &same, true)
            || known.is_some_and(|class| unnamed(class, &|other| other.scope.last() == Some(class), false));
        idle && (function.space.host && !function.space.global || self.is_built_kernel(file, function, ask))
    }

    /// Whether a word is a macro of the project that stands for nothing but where a function runs, or whether it is made part of its callers.
    fn says_only_where(&self, word: &str) -> bool {
        const WHERE: [&str; 8] = [
            "__device__",
            "__forceinline__",
            "__global__",
            "__host__",
            "__inline__",
            "__noinline__",
            "constexpr",
            "inline",
        ];
        let all = self.files.iter().flat_map(|file| &file.module.macros).filter(|defined| defined.name == *word);
        // One that is empty here may say more elsewhere.
        let mut bodies = all.map(|defined| defined.body.trim()).filter(|body| !body.is_empty()).peekable();
        bodies.peek().is_some() && bodies.all(|body| body.split_whitespace().all(|part| WHERE.contains(&part)))
    }

    /// Whether a class may be one that libraries take for an allocator: those have a `value_type`.
    fn is_allocator(&self, class: &str) -> bool {
        let has_it = |file: &File<'p>| file.module.records.iter().any(|record| record.name == *class && record.defined);
        self.files.iter().any(|file| has_it(file) && words_at(file.text, "value_type").next().is_some())
    }

    /// Whether all classes of a name have bases that the project itself defines: what calls their methods by a base names them, too.
    fn has_bases_in_sight(&self, class: &str, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let named = |name: &str| {
            let files = self.files.iter().map(|file| file.module);
            files
                .flat_map(|module| module.records.iter().map(move |record| (module, record)))
                .filter(move |(_, record)| record.name == *name && record.defined)
                .collect::<Vec<_>>()
        };
        let is_in_sight = |base: Option<&Type>| match base {
            Some(Type::Named { path, .. }) => {
                path.last().is_some_and(|name| !named(name).is_empty() && self.has_bases_in_sight(name, depth))
            }
            _ => false,
        };
        named(class).iter().all(|(module, record)| record.bases.iter().all(|base| is_in_sight(module.types.get(*base))))
    }

    /// Whether nothing is built by a file, and a `main` in a file without GPU code includes a header that a source includes, too.
    fn is_beside_plain_main(&self, file: &File<'p>, ask: &Ask<'_, 'p>) -> bool {
        let name = |target: &str| target.rsplit('/').next().map(|name| [format!("/{name}\""), format!("\"{name}\"")]);
        let names: Vec<String> =
            file.module.includes.iter().filter_map(|include| name(&include.target)).flatten().collect();
        let begins = |text: &Other| {
            text.role == Role::Quiet && text.names("main") && names.iter().any(|name| text.text.contains(name.as_str()))
        };
        self.builds_nothing && ask.others.texts().is_some_and(|texts| texts.iter().any(begins))
    }

    /// What of the project others may use.
    fn exports(&self, ask: &Ask<'_, 'p>) -> Option<&Exports> {
        let texts = ask.others.texts()?;
        let code = |file: &'_ File<'p>| Code { path: file.path, text: file.text, has_main: file.has_main };
        Some(self.exports.get_or_init(|| Exports::of(self.files.iter().map(code), texts)))
    }

    /// Whether a declaration in a file is for others, too.
    pub(crate) fn hands_on(&self, within: Within, path: &str, ask: &Ask<'_, 'p>) -> bool {
        let texts = ask.others.texts().unwrap_or_default();
        // A declaration in a source is for that source alone.
        !matches!(within, Within::Program | Within::Template)
            && !is_compiled(path)
            && self.exports(ask).is_none_or(|exports| {
                exports.hands_on(path, texts, matches!(within, Within::Library { is_kernel: true, .. }))
            })
    }
}

fn is_compiled(path: &str) -> bool {
    COMPILED.iter().any(|ending| path.ends_with(ending))
}
