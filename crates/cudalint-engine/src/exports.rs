//! Whether what a header declares is for others than the project itself. A library that the project's own programs are linked with,
//! or that is a module which an interpreter loads, has hardly any other users, unless documents tell of its headers: what such a header
//! declares and nothing in the project calls is called by nobody. A library without a program is for others, as soon as its headers are
//! installed or lie in a folder for such.

use crate::first_goal;
use crate::others::{Other, words_at};
use crate::roles::{COMPILED, Role};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// Macros that make a module which an interpreter loads: what it hands on, they say.
const BINDINGS: [&str; 7] = [
    "PYBIND11_MODULE",
    "PYBIND11_PLUGIN",
    "TORCH_LIBRARY",
    "NB_MODULE",
    "BOOST_PYTHON_MODULE",
    "ZEND_GET_MODULE",
    "RCPP_MODULE",
];

/// Endings of headers, and of what headers are made from.
const HEADERS: [&str; 7] = ["cuh", "h", "hh", "hpp", "hxx", "in", "inl"];

/// Folders of headers that are made for others.
const PUBLIC: [&str; 5] = ["api", "include", "includes", "interface", "public"];

/// What of a project others may use.
pub(crate) struct Exports {
    /// Folders, from the project's own, of the builds that hand on headers.
    installs: Vec<PathBuf>,
    /// The project makes a module that an interpreter loads.
    has_binding: bool,
    /// It makes programs: the folders whose code that is for, from the project's own.
    programs: Vec<PathBuf>,
    /// It has no program but trials.
    only_trials: bool,
}

/// A file of C or C++, or a text of one.
pub(crate) struct Code<'t> {
    pub path: &'t str,
    pub text: &'t str,
    pub has_main: bool,
}

impl Exports {
    /// `sources`: what is read as programs.
    pub fn of<'t>(sources: impl Iterator<Item = Code<'t>> + Clone, texts: &[Other]) -> Self {
        let binds = |text: &str| BINDINGS.iter().any(|name| words_at(text, name).next().is_some());
        // A call of `main` is written by nobody.
        let begins = |text: &str| words_at(text, "main").any(|at| text[at + 4..].trim_start().starts_with('('));
        let root = texts.iter().map(Other::folder).reduce(common).unwrap_or(Path::new(""));
        let quiet = || texts.iter().filter(|text| text.role == Role::Quiet);
        let tries = |text: &Other| is_trial(&below(root, &text.path).to_string_lossy());
        // Other builds do not say of what they link whether it is a program. One of a makefile is made of what lies in its folder.
        let made = |text: &Other| {
            let is_make = text.path.file_name().is_some_and(|name| name.eq_ignore_ascii_case("makefile"));
            if text.text.to_ascii_lowercase().contains("add_executable(") {
                Some(PathBuf::new())
            } else {
                (is_make && first_goal::is_program(&text.text)).then(|| below(root, text.folder()).to_owned())
            }
        };
        let mut programs = sources.clone();
        let has_program = programs.any(|code| code.has_main && !is_trial(code.path))
            || quiet().any(|text| begins(&text.text) && !tries(text));
        let builds = texts.iter().filter(|text| text.role == Role::Build);
        let holds_header = |folder: &Path| {
            let mut headers = sources.clone().filter(|code| !COMPILED.iter().any(|ending| code.path.ends_with(ending)));
            headers.any(|code| Path::new(code.path).ancestors().skip(1).any(|above| above.ends_with(folder)))
        };
        let installing = texts
            .iter()
            .filter(|text| hands_on_headers(text, &|folder| holds_header(&below(root, text.folder()).join(folder))));
        // A script is started from where the build is, and a build may name what lies above it.
        let built: FxHashSet<&Path> = texts.iter().filter(|text| text.role == Role::Build).map(Other::folder).collect();
        let around = |text: &Other| -> PathBuf {
            let of_whole = !text.text.to_ascii_lowercase().contains("project(");
            let climbs = text.text.contains("../")
                || of_whole && ["{CMAKE_SOURCE_DIR}", "{PROJECT_SOURCE_DIR}"].iter().any(|up| text.text.contains(up));
            let mut above = text.path.ancestors().skip(if climbs { 2 } else { 1 });
            below(root, above.find(|folder| built.contains(folder)).unwrap_or(root)).to_owned()
        };
        let installs = installing.map(around).collect();
        let mut bound = sources;
        Self {
            installs,
            has_binding: bound.any(|code| binds(code.text)) || quiet().any(|text| binds(&text.text)),
            programs: builds.filter_map(made).collect(),
            only_trials: !has_program,
        }
    }

    /// Whether the project makes a module that an interpreter loads.
    pub fn has_binding(&self) -> bool {
        self.has_binding
    }

    /// Whether others may use what a header declares. `is_kernel`: it is a kernel, which a library launches by itself. Where a project makes
    /// a program of its own, others seldom take more of it than its documents tell them to.
    pub fn hands_on(&self, path: &str, texts: &[Other], is_kernel: bool) -> bool {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_within = |of: &PathBuf| Path::new(folders).ancestors().any(|folder| folder.ends_with(of));
        let has_program = || self.programs.iter().any(is_within);
        let is_of_program = has_program() && !self.only_trials;
        let is_installed = !is_of_program && !is_kernel && self.installs.iter().any(is_within);
        let is_kept = is_of_program || self.has_binding || !is_public(folders) && (is_kernel || has_program());
        is_installed || !is_kept || texts.iter().any(|text| text.hands_on(name))
    }
}

/// Whether a build or a script hands on headers: installs them, makes them a part of a package, or copies them. `holds_header`: whether
/// there are headers in a folder, given from the text's own.
pub(crate) fn hands_on_headers(text: &Other, holds_header: &dyn Fn(&Path) -> bool) -> bool {
    const MARKS: [&str; 1] = ["FILE_SET"];
    const LISTS: [&str; 4] = ["package_data", "data_files", "headers=", "MANIFEST"];
    if !matches!(text.role, Role::Build | Role::Script) {
        return false;
    }
    let text = &*text.text;
    let installs = |(at, mark): (usize, &str)| {
        let rest = text.get(at + mark.len()..).unwrap_or("");
        let inside = rest.split(')').next().unwrap_or(rest);
        let mut words = inside.split_whitespace().map(|word| word.trim_matches('"'));
        let kind = words.find(|word| ["DIRECTORY", "FILES", "PROGRAMS"].contains(word));
        kind.is_some_and(|kind| {
            words.take_while(|word| *word != "DESTINATION" && *word != "TYPE").any(|word| {
                let word = word.strip_prefix("${CMAKE_CURRENT_SOURCE_DIR}/").unwrap_or(word);
                let path = Path::new(word.strip_prefix("./").unwrap_or(word).trim_end_matches('/'));
                let is_plain = !word.contains(['$', '*']) && !word.is_empty();
                match path.extension() {
                    _ if !is_plain => true,
                    Some(ending) if kind != "DIRECTORY" => {
                        ending.to_str().is_none_or(|ending| HEADERS.contains(&ending))
                    }
                    _ => {
                        kind == "DIRECTORY" && (path.parent().is_none() || word.starts_with('.') || holds_header(path))
                    }
                }
            })
        })
    };
    let names = |text: &str| [".h", ".cuh", "include"].iter().any(|ending| text.contains(ending));
    let copies = |line: &str| ["cp ", "install ", "copy"].iter().any(|word| line.contains(word)) && names(line);
    // `PUBLIC_HEADER DESTINATION` says where they go, if there are any.
    let lists_headers = |(at, mark): (usize, &str)| !text[at + mark.len()..].trim_start().starts_with("DESTINATION");
    text.match_indices("install(").any(installs)
        || text.match_indices("PUBLIC_HEADER").any(lists_headers)
        || MARKS.iter().any(|mark| text.contains(mark))
        || LISTS.iter().any(|list| text.contains(list))
            && [".h'", ".h\"", ".cuh", ".hpp"].iter().any(|ending| text.contains(ending))
        || text.lines().any(copies)
}

/// Whether folders are those of headers that are made for others.
fn is_public(folders: &str) -> bool {
    folders.split('/').any(|folder| PUBLIC.contains(&&*folder.to_ascii_lowercase()))
}

/// Whether a program tries what is made for others: a test, an example, a measurement.
pub(crate) fn is_trial(path: &str) -> bool {
    const TRIALS: [&str; 6] = ["bench", "demo", "example", "sample", "test", "tutorial"];
    path.split('/').any(|part| TRIALS.iter().any(|trial| part.to_ascii_lowercase().contains(trial)))
}

/// Whether a header belongs to a program, and is not for others, because a source has it as a part. `begins`: whether a program begins in
/// the project, and the builds around make nothing but programs.
pub(crate) fn is_of_program(header: &str, source: &str, begins: bool) -> bool {
    let (header, source) = (folders(header), folders(source));
    let Some(at) = header.split('/').position(|folder| folder == "include") else {
        // Beside trials of a library that is headers alone, these are its product.
        return header == source || begins && !is_trial(source);
    };
    // `include` beside the sources' folder.
    let mut parts = source.split('/');
    let same = header.split('/').take(at).all(|folder| parts.next() == Some(folder));
    begins && same && parts.next().is_some_and(|folder| ["src", "source"].contains(&folder))
}

/// Whether a header lies below the folders of all sources that include it, and in none that is made for others.
pub(crate) fn is_inside(header: &str, sources: &[&str]) -> bool {
    sources.iter().all(|source| Path::new(header).starts_with(folders(source))) && !is_public(folders(header))
}

/// A path without its last part.
fn folders(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folders, _)| folders)
}

/// The folder that two folders have in common.
pub(crate) fn common<'t>(one: &'t Path, other: &Path) -> &'t Path {
    one.ancestors().find(|above| other.starts_with(above)).unwrap_or(Path::new(""))
}

/// A path below a folder.
fn below<'t>(root: &Path, path: &'t Path) -> &'t Path {
    path.strip_prefix(root).unwrap_or(path)
}
