//! Files that no build compiles and no file includes: what is wrong in them is in nobody's program.
//!
//! That is only known where the build names its sources one by one. Any text of the project that spells a file's name counts as
//! use of it, build files also with the name alone; a pattern with a star covers what it may match. Of several files with a name a build
//! file means the one beside it, one that cannot work where it lies says nothing (`displaced.rs`), and a comment includes no header.

use crate::displaced::{displaced, means_another};
use crate::exports::hands_on_headers;
use crate::listed_neighbours::ListedNeighbours;
use crate::others::{Other, Others, file_names, holds, words, words_at};
use crate::patterns::Patterns;
use crate::roles::{COMPILED, Role};
use crate::switched_off::switched_off;
use cudalint_program::Project;
use cudalint_program::ir::{Function, Module, ModuleId};
use cudalint_syntax::{Language, Region, Span, comments};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// A build has to name so many sources before it says something of those that it does not name, and half of all.
const LEAST: usize = 4;

/// A build has to make so many programs of a folder one by one before it says something of one that it does not name.
const LEAST_PROGRAMS: usize = 2;

/// Macros that make a file a program, or a module that something loads by itself; without one, and without a function that a program
/// begins with, a file is a part of what others build.
const STARTS: [&str; 9] = [
    "PYBIND11_MODULE",
    "PYBIND11_PLUGIN",
    "TORCH_LIBRARY",
    "NB_MODULE",
    "BENCHMARK_MAIN",
    "BOOST_PYTHON_MODULE",
    "CATCH_CONFIG_MAIN",
    "BOOST_TEST_MODULE",
    "DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN",
];

/// Those of them that make modules of Python.
const MODULES: [&str; 3] = ["PYBIND11_MODULE", "TORCH_LIBRARY", "NB_MODULE"];

/// Whether a function is the first of a program, or of a module that something else loads.
pub(crate) fn is_main(function: &Function) -> bool {
    const NAMES: [&str; 6] = ["main", "wmain", "WinMain", "wWinMain", "DllMain", "mexFunction"];
    const BEGINNINGS: [&str; 4] = ["PyInit_", "Java_", "JNI_", "LLVMFuzzer"];
    let is_first = NAMES.contains(&&*function.name) || BEGINNINGS.iter().any(|it| function.name.starts_with(it));
    is_first && function.body.is_some()
}

/// The files that nobody builds.
pub(crate) struct Unlisted {
    /// Of those that are read as programs.
    pub modules: FxHashSet<ModuleId>,
    /// The real paths of those that are asked for names alone.
    pub quiet: FxHashSet<PathBuf>,
}

/// A file of the project's program, or a source without GPU code.
struct File<'p> {
    /// As output shows it; of one without GPU code its real path.
    path: &'p str,
    /// The real folder that it stands in.
    folder: &'p Path,
    module: Option<(ModuleId, &'p Module)>,
    text: &'p str,
    /// Whether a program, or a module that something loads, begins there.
    starts: OnceCell<bool>,
}

impl<'p> File<'p> {
    /// A source without GPU code.
    fn quiet(text: &'p Other) -> Option<Self> {
        let path = text.path.to_str().filter(|path| COMPILED.iter().any(|ending| path.ends_with(ending)))?;
        Some(Self { path, folder: text.folder(), module: None, text: &text.text, starts: OnceCell::new() })
    }

    fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }

    fn stem(&self) -> &str {
        self.name().split_once('.').map_or(self.name(), |(stem, _)| stem)
    }

    fn is_compiled(&self) -> bool {
        COMPILED.iter().any(|ending| self.path.ends_with(ending))
    }

    fn starts(&self) -> bool {
        *self
            .starts
            .get_or_init(|| self.has_main() || STARTS.iter().any(|name| words_at(self.text, name).next().is_some()))
    }

    fn has_main(&self) -> bool {
        self.module.map_or_else(|| has_main(self.text), |(_, module)| module.functions.iter().any(is_main))
    }

    /// Whether it begins only as a module of Python: nobody builds that by hand, whoever does names it in a list or a script.
    fn is_python_module(&self) -> bool {
        self.starts() && !self.has_main() && MODULES.iter().any(|name| words_at(self.text, name).next().is_some())
    }
}

/// Whether a text of C or C++ defines `main`.
fn has_main(text: &str) -> bool {
    let is_defined = |at: usize| {
        let behind = text[at + "main".len()..].trim_start();
        behind.starts_with('(') && ["int", "void"].iter().any(|ty| text[..at].trim_end().ends_with(ty))
    };
    words_at(text, "main").any(is_defined)
}

/// The files that nobody builds. `reals`: the real paths of modules' files by the paths that output shows; `library`:
/// whether a build makes what others use.
pub(crate) fn unlisted(
    project: &Project,
    others: &Others<'_>,
    reals: &FxHashMap<&str, &Path>,
    library: bool,
) -> Unlisted {
    let nothing = || Unlisted { modules: FxHashSet::default(), quiet: FxHashSet::default() };
    let ids = project.modules().filter(|id| {
        let module = project.module(*id);
        module.language == Language::Cuda && module.inside.is_none() && !project.includes().is_alone(id.index() as u32)
    });
    let Some(texts) = others.texts() else { return nothing() };
    let of_module = |id: ModuleId| File {
        path: project.path(id),
        folder: reals.get(&**project.path(id)).copied().and_then(Path::parent).unwrap_or(Path::new("")),
        module: Some((id, project.module(id))),
        text: project.source(id),
        starts: OnceCell::new(),
    };
    let quiet = texts.iter().filter(|text| text.role == Role::Quiet).filter_map(File::quiet);
    let files: Vec<File<'_>> = ids.map(of_module).chain(quiet).collect();
    let patterns = Patterns::of(texts);
    let is_covered: Vec<bool> = files.iter().map(|file| patterns.cover(file.folder, file.name())).collect();
    let off = switched_off(texts);
    let is_off = |text: &Other| text.role == Role::Build && off.contains(&text.folder());
    let mut builds: Vec<&Other> = texts.iter().filter(|text| text.role == Role::Build && !is_off(text)).collect();
    if builds.is_empty() {
        // Scripts that compile are the build then.
        let compiles = |text: &&Other| text.role == Role::Script && words_at(&text.text, "nvcc").next().is_some();
        builds.extend(texts.iter().filter(compiles));
    }
    let built = Words::of(builds.iter().copied());
    let scripted = Words::of(texts.iter().filter(|text| text.role == Role::Script));
    let is_listed = |file: &File<'_>| built.name(file.stem()) || patterns.compose(file.name());
    let is_listed: Vec<bool> = files.iter().map(is_listed).collect();
    let is_read = |file: &File<'_>| file.module.is_some() && file.is_compiled();
    let sources: Vec<usize> = (0..files.len()).filter(|at| is_read(&files[*at]) && !is_covered[*at]).collect();
    let listed = sources.iter().filter(|at| is_listed[**at]).count();
    // What another source includes is part of that, and is listed nowhere.
    let is_part = |at: &usize| {
        files[*at].module.is_some_and(|(id, _)| project.includes().includers(id.index() as u32).iter().next().is_some())
    };
    let left = sources.iter().filter(|at| !is_listed[**at] && !is_part(at)).count();
    let tells = listed >= LEAST && listed >= left;
    // The list of a whole program: what is no program by itself is in none where it is not listed.
    let begins = |at: usize| is_listed[at] && files[at].is_compiled() && files[at].starts();
    let lists_program = listed >= LEAST && (0..files.len()).any(begins);
    // A header that no file of a program includes is in no build, however its sources are listed.
    let is_program = files.iter().any(|file| file.is_compiled() && file.starts());
    let has_build = |file: &File<'_>| builds.iter().any(|build| file.folder.starts_with(build.folder()));
    let programs = builds.iter().any(|build| build.text.contains("add_executable("));
    // Programs of a folder that the build makes one by one. A rule for all files of a kind makes whichever is asked for.
    let makes_any: Vec<(&Path, Vec<&str>)> = builds
        .iter()
        .map(|build| (build.folder(), makes_any(&build.text)))
        .filter(|(_, endings)| !endings.is_empty())
        .collect();
    let mut programs_made: FxHashMap<&Path, usize> = FxHashMap::default();
    for file in sources.iter().filter(|at| is_listed[**at] && files[**at].starts()).map(|at| &files[*at]) {
        *programs_made.entry(file.folder).or_default() += 1;
    }
    let is_made_if_asked = |file: &File<'_>| {
        let makes = |(folder, endings): &(&Path, Vec<&str>)| {
            file.folder.starts_with(folder) && endings.iter().any(|ending| file.path.ends_with(ending))
        };
        makes_any.iter().any(makes)
    };
    // Builds that name all sources of a program, and the folders where its `main` is: another one beside has been in its place once.
    let whole: OnceCell<Vec<(&Path, FxHashSet<&Path>)>> = OnceCell::new();
    let names_program = |file: &File<'_>| {
        let all = whole.get_or_init(|| {
            let mut all = Vec::new();
            for build in &builds {
                let names: FxHashSet<&str> = file_names(&build.text).collect();
                let is_named = |other: &&File<'_>| {
                    names.contains(other.name()) && other.is_compiled() && other.folder.starts_with(build.folder())
                };
                let named: Vec<&File<'_>> = files.iter().filter(is_named).collect();
                if named.len() >= LEAST {
                    let mains = named.iter().filter(|other| other.starts()).map(|other| other.folder);
                    all.push((build.folder(), mains.collect()));
                }
            }
            all
        });
        all.iter().any(|(folder, mains)| file.folder.starts_with(folder) && mains.contains(file.folder))
    };
    let programs_made = |file: &File<'_>| {
        if is_made_if_asked(file) { 0 } else { programs_made.get(&file.folder).copied().unwrap_or_default() }
    };
    // What a package of Python takes along is not followed.
    let packs = |text: &Other| ["setup(", "packages="].iter().any(|mark| text.text.contains(mark));
    let hands_on =
        texts.iter().any(|text| hands_on_headers(text, &|_| true) || text.role != Role::Document && packs(text));
    let neighbours = ListedNeighbours::of(reals.values().copied(), texts);
    let mut spelled: FxHashMap<&str, Vec<&Other>> = FxHashMap::default();
    for (text, name) in texts.iter().flat_map(|text| file_names(&text.text).map(move |name| (text, name))) {
        let by = spelled.entry(name).or_default();
        if by.last().is_none_or(|last| !std::ptr::eq(*last, text)) {
            by.push(text);
        }
    }
    let quiet = texts.iter().filter(|text| text.role == Role::Quiet).map(|text| &*text.path);
    let all_sources: FxHashSet<&Path> = reals.values().copied().chain(quiet).collect();
    let displaced = displaced(texts, &all_sources);
    let is_displaced = |text: &Other| displaced.iter().any(|other| std::ptr::eq(*other, text));
    // Whether a text that spells a file's name says nothing of the file.
    let is_about_another = |text: &Other, file: &File<'_>| {
        is_displaced(text) && file.folder == text.folder()
            || is_off(text)
            || means_another(text, file.folder, file.name(), &all_sources)
            || text.role == Role::Quiet && !file.is_compiled() && !text.names_file(file.name())
    };
    // Names with blanks and the like are looked for as they are.
    let is_plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-+.".contains(&byte));
    let by_name = |name: &str| {
        if is_plain(name) {
            return spelled.get(name).cloned().unwrap_or_default();
        }
        texts.iter().filter(|text| text.text.contains(name)).collect()
    };
    let is_spelled = |file: &File<'_>| {
        let by = by_name(file.name());
        by.iter().any(|text| !std::ptr::eq(text.text.as_str(), file.text) && !is_about_another(text, file))
            || scripted.name(file.stem())
    };
    // As `is_listed`, but by a build that means this file. Mostly it is one around it.
    let of_builds: OnceCell<Vec<Words<'_>>> = OnceCell::new();
    let is_meant = |file: &File<'_>| {
        let words = of_builds.get_or_init(|| builds.iter().map(|text| Words::of(std::iter::once(*text))).collect());
        let all = || builds.iter().zip(words);
        let means = |(text, words): (&&Other, &Words<'_>)| {
            words.name(file.stem())
                && !names_other_kind(&text.text, file)
                && !is_about_another(text, file)
                && !makes_of_another(&text.text, file)
        };
        patterns.compose(file.name())
            || all().filter(|(text, _)| file.folder.starts_with(text.folder())).any(means)
            || all().any(means)
    };
    let is_left = |file: &File<'_>| displaced.iter().any(|makefile| makefile.folder() == file.folder);
    // Beside a program that somebody is told to build by hand, other files may be built.
    let by_hand: FxHashSet<&Path> = sources
        .iter()
        .map(|at| (is_listed[*at], &files[*at]))
        .filter(|(listed, file)| !listed && file.starts() && is_spelled(file))
        .map(|(_, file)| file.folder)
        .collect();
    // A build file around it has had the file once.
    let is_commented_out = |file: &File<'_>| {
        let mut around = builds.iter().filter(|build| file.folder.starts_with(build.folder()));
        around.any(|build| build.comments_out(file.name()))
    };
    // Files that nothing but sources of the program names; who these are is asked below.
    let may_be_idle = |at: &usize| {
        let file = &files[*at];
        let is_left_out = || {
            let is_listed = || neighbours.lists_one_by_one(file.folder, file.name());
            is_left(file) && !is_covered[*at]
                || off.iter().any(|folder| file.folder.starts_with(folder))
                || !(file.starts() && is_made_if_asked(file))
                    && (is_listed() || !is_covered[*at] && is_commented_out(file))
        };
        let by_kind = if file.is_compiled() && file.starts() && !(lists_program && file.is_python_module()) {
            // Where the build makes the other programs of a folder one by one, it is made by hand, if at all.
            !is_covered[*at]
                && (programs_made(file) >= LEAST_PROGRAMS
                    || !is_made_if_asked(file) && names_program(file)
                    || is_kept_copy(file, &files))
                || tells && has_build(file) && !is_covered[*at]
                || is_left_out()
        } else if file.is_compiled() {
            let is_told = (tells || lists_program) && has_build(file) && !is_covered[*at] || is_left_out();
            is_told && (file.is_python_module() || !by_hand.contains(file.folder))
                || !is_covered[*at] && is_kept_copy(file, &files)
        } else {
            // A library that is a part of the project's own programs, and hands on no headers, has no other users.
            (!library && is_program || programs && !hands_on || tells && has_build(file) && !library)
                && !file.path.split('/').any(|folder| folder == "include")
        };
        let is_built = is_listed[*at] && is_meant(file);
        by_kind && !is_built && !file.module.is_some_and(|(_, module)| module.nvrtc) && !is_spelled(file)
    };
    let mut idle: FxHashSet<usize> = (0..files.len()).filter(may_be_idle).collect();
    let wanted: FxHashSet<&str> = idle.iter().filter_map(|at| Some(files.get(*at)?.name())).collect();
    let spelled: Vec<FxHashSet<&str>> = files.iter().map(|file| names_of_files(file, &wanted)).collect();
    // A file that another one names is used where that one is.
    loop {
        let is_used = |at: &usize| {
            let mut all = spelled.iter().enumerate().filter(|(other, _)| other != at && !idle.contains(other));
            all.any(|(_, names)| names.contains(files[*at].name()))
        };
        let used: Vec<usize> = idle.iter().copied().filter(is_used).collect();
        if used.is_empty() {
            break;
        }
        idle.retain(|at| !used.contains(at));
    }
    let idle = || idle.iter().filter_map(|at| files.get(*at));
    Unlisted {
        modules: idle().filter_map(|file| file.module).map(|(id, _)| id).collect(),
        quiet: idle().filter(|file| file.module.is_none()).map(|file| PathBuf::from(file.path)).collect(),
    }
}

/// Those of some names of files that a file spells; of headers outside of comments, since from there nothing is included.
fn names_of_files<'p>(file: &File<'p>, wanted: &FxHashSet<&str>) -> FxHashSet<&'p str> {
    let all: FxHashSet<&str> = file_names(file.text).filter(|name| wanted.contains(name)).collect();
    let is_source = |name: &str| COMPILED.iter().any(|ending| name.ends_with(ending));
    if file.module.is_some_and(|(_, module)| module.language != Language::Cuda || module.inside.is_some())
        || all.iter().all(|name| is_source(name))
    {
        return all;
    }
    let left_out = comments(file.text, &Region { language: Language::Cuda, span: Span::new(0, file.text.len()) });
    let is_code = |name: &&str| file.text.match_indices(*name).any(|(at, _)| !holds(&left_out, at));
    all.into_iter().filter(|name| is_source(name) || is_code(name)).collect()
}

/// Whether a text has a file's name only with the endings of other sources: `matrix.cpp` is not `matrix.cu`.
fn names_other_kind(text: &str, file: &File<'_>) -> bool {
    let stem = file.stem();
    let is_other = |at: usize| {
        let rest = &text[at + stem.len()..];
        let ends = |ending: &&&str| {
            let behind = rest.strip_prefix(**ending);
            behind.is_some_and(|behind| !behind.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '+'))
        };
        COMPILED.iter().find(ends).is_some_and(|ending| !file.path.ends_with(ending))
    };
    let mut places = words_at(text, stem).peekable();
    places.peek().is_some() && places.all(is_other)
}

/// Whether a makefile spells a file's stem for what it makes of another source alone: `solver.o: src/solver_new.cu`.
fn makes_of_another(text: &str, file: &File<'_>) -> bool {
    let makes = |line: &str| {
        let Some((target, from)) = line.split_once(':').filter(|_| !line.starts_with(['\t', '#'])) else {
            return false;
        };
        let object = target.trim().rsplit('/').next().and_then(|name| name.strip_suffix(".o"));
        let is_source = |word: &str| COMPILED.iter().any(|ending| word.ends_with(ending));
        object == Some(file.stem()) && from.split_whitespace().any(is_source)
    };
    text.lines().any(makes) && !file_names(text).any(|name| name == file.name())
}

/// The endings of sources of which a makefile has a rule for all that makes more than objects of them.
fn makes_any(text: &str) -> Vec<&'static str> {
    const PARTS: [&str; 6] = [".o", ".obj", ".d", ".ptx", ".cubin", ".fatbin"];
    let is_for_parts = |line: &str| {
        line.split_once(':').is_some_and(|(target, _)| PARTS.iter().any(|part| target.trim_end().ends_with(part)))
    };
    let mut endings = Vec::new();
    for line in text.lines().filter(|line| line.contains("%.c") && !is_for_parts(line)) {
        for (at, _) in line.match_indices('%') {
            let word = line[at + 1..].split(|letter: char| letter.is_whitespace() || "),;".contains(letter)).next();
            endings.extend(COMPILED.iter().copied().find(|ending| word == Some(*ending)));
        }
    }
    endings
}

/// Whether a file is kept beside the one that it is a copy of: `solver_old.cu` beside `solver.cu`.
fn is_kept_copy(file: &File<'_>, files: &[File<'_>]) -> bool {
    const KEPT: [&str; 12] = [
        "backup",
        "bak",
        "bkp",
        "commented",
        "copy",
        "deprecated",
        "depricated",
        "legacy",
        "obsolete",
        "old",
        "orig",
        "original",
    ];
    let is_digit = |letter: char| letter.is_ascii_digit();
    let is_word = |word: &str| KEPT.contains(&&*word.trim_end_matches(is_digit).to_ascii_lowercase());
    let mut stem = file.stem();
    while let Some((before, _)) = stem.rsplit_once(['_', '-', ' ']).filter(|(_, word)| is_word(word)) {
        stem = before;
    }
    // `bak_solver`, `bak2_solver`, `baksolver`.
    let lower = file.stem().to_ascii_lowercase();
    let begins = KEPT.iter().filter(|word| lower.starts_with(**word));
    let mut stems: Vec<&str> = begins
        .filter_map(|word| Some((word, file.stem().get(word.len()..)?)))
        .flat_map(|(word, rest)| [(word, rest), (word, rest.trim_start_matches(is_digit))])
        .filter_map(|(word, rest)| match rest.trim_start_matches(['_', '-', ' ']) {
            // `copymain` may be a program of its own.
            stem if stem == rest => word.starts_with('b').then_some(stem),
            stem => Some(stem),
        })
        .filter(|stem| !stem.is_empty())
        .collect();
    if stem != file.stem() {
        stems.push(stem);
    }
    let beside = |other: &File<'_>| other.is_compiled() && other.folder == file.folder;
    files.iter().any(|other| beside(other) && stems.contains(&other.stem()))
}

/// The words of some texts.
struct Words<'t> {
    all: FxHashSet<&'t str>,
    texts: Vec<&'t str>,
}

impl<'t> Words<'t> {
    fn of(texts: impl Iterator<Item = &'t Other>) -> Self {
        let texts: Vec<&str> = texts.map(|text| &*text.text).collect();
        Self { all: texts.iter().flat_map(|text| words(text)).map(|(_, word)| word).collect(), texts }
    }

    /// Whether one spells a stem, by itself or as that of a shared library.
    fn name(&self, stem: &str) -> bool {
        if stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return self.all.contains(stem) || self.all.contains(&*format!("lib{stem}"));
        }
        let is_whole = |text: &str, at: usize| {
            let (before, behind) = (&text[..at], &text[at + stem.len()..]);
            !before.ends_with(['-', '+']) && !behind.starts_with(['-', '+'])
        };
        self.texts.iter().any(|text| words_at(text, stem).any(|at| is_whole(text, at)))
    }
}

/// Whether a file holds CUDA C++ under a name by which compilers take it for plain C++, and nothing in the project says otherwise to one.
pub(crate) fn is_taken_for_plain(project: &Project, id: ModuleId, others: &Others<'_>) -> bool {
    // As compilers, CMake and Visual Studio are told.
    const TOLD: [&str; 8] = [
        "-x cu",
        "-x=cu",
        "-xcu",
        "nvc++",
        "LANGUAGE CUDA",
        "LANGUAGE HIP",
        "CUDA_SOURCE_PROPERTY_FORMAT",
        "<CudaCompile Include",
    ];
    let (path, module) = (project.path(id), project.module(id));
    let is_plain = COMPILED.iter().any(|ending| ![".cu", ".hip"].contains(ending) && path.ends_with(ending));
    let holds_cuda = || module.functions.iter().any(|function| function.space.global && function.body.is_some());
    is_plain
        && module.inside.is_none()
        && !module.nvrtc
        && !project.is_for_hip(id)
        && holds_cuda()
        && project.includes().includers(id.index() as u32).is_empty()
        && others
            .texts()
            .is_some_and(|texts| !texts.iter().any(|text| TOLD.iter().any(|told| text.text.contains(told))))
}

/// Whether projects of Visual Studio list a source as a header (`<ClInclude Include="solver.cu" />`), none has it compiled, and no file
/// includes it.
pub(crate) fn is_listed_as_header(project: &Project, id: ModuleId, others: &Others<'_>) -> bool {
    let path = project.path(id);
    // A header with a `main` is a source that was given another name.
    let is_source = || path.ends_with(".cu") || project.module(id).functions.iter().any(is_main);
    let Some(name) = path.rsplit('/').next().filter(|_| is_source()) else { return false };
    let lists = |text: &str, item: &str| {
        let mut rest = text.split(item).skip(1);
        rest.any(|rest| {
            let listed = rest.split('"').nth(1).unwrap_or("");
            rest.starts_with(" Include=") && listed.rsplit(['/', '\\']).next() == Some(name)
        })
    };
    let is_project = |text: &&Other| text.path.extension().is_some_and(|ending| ending == "vcxproj");
    project.includes().includers(id.index() as u32).is_empty()
        && others.texts().is_some_and(|texts| {
            let mut projects = texts.iter().filter(is_project).peekable();
            let compiled =
                |text: &Other| ["<CudaCompile", "<ClCompile", "<CustomBuild"].iter().any(|it| lists(&text.text, it));
            // What belongs to Visual Studio names headers, too.
            let is_studio = |text: &&Other| {
                text.path.extension().is_some_and(|ending| ["vcxproj", "filters", "sln"].iter().any(|it| ending == *it))
            };
            let is_build = |text: &&Other| text.role == Role::Build && !is_studio(text);
            projects.peek().is_some()
                && projects.clone().any(|text| lists(&text.text, "<ClInclude"))
                && !projects.any(compiled)
                && !texts.iter().filter(is_build).any(|text| words_at(&text.text, name).next().is_some())
        })
}
