//! Texts of a project beside the sources that are read as programs: build files, scripts, documents, programs in other languages, and C
//! and C++ without GPU code. They are asked for names alone: what a build lists, and who may use a file or a function. Nothing is read
//! before a finding makes somebody ask.

use crate::project::Source;
use crate::provider::Provider;
use cudalint_syntax::{Comment, FileKind, FileText, Language, Region, Span, comments};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Bytes of such texts that are read, at most: of a project with more nothing is said of who uses what.
const MAX_BYTES: usize = 24 << 20;
/// A longer file is data, unless it is one of C or C++, or lists what is compiled.
const MAX_FILE: usize = 1 << 20;

/// What a text is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// It says what is built.
    Build,
    /// A script, or settings of one: it may build, run or load something.
    Script,
    /// Words for people.
    Document,
    /// A program in another language, or a part of one in C++ that is no file of its own.
    Foreign,
    /// C or C++ without GPU code.
    Quiet,
}

/// A text.
pub(crate) struct Other {
    pub path: PathBuf,
    pub role: Role,
    pub text: String,
    comments: OnceLock<Vec<Comment>>,
}

impl Other {
    pub fn new(path: PathBuf, role: Role, text: String) -> Self {
        Self { path, role, text, comments: OnceLock::new() }
    }

    /// The folder that it stands in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Whether a place of C or C++ is in a comment.
    fn is_comment(&self, at: usize) -> bool {
        let region = Region { language: Language::Cuda, span: Span::new(0, self.text.len()) };
        holds(self.comments.get_or_init(|| comments(&self.text, &region)), at)
    }

    /// Whether a file of C or C++ does more with a function than declare it.
    pub fn uses(&self, name: &str) -> bool {
        words_at(&self.text, name).any(|at| !self.is_comment(at) && !is_declared(&self.text, at, name.len()))
    }

    /// Whether it spells a word outside of comments of C and C++.
    pub fn names(&self, name: &str) -> bool {
        words_at(&self.text, name).any(|at| self.role != Role::Quiet || !self.is_comment(at))
    }
}

/// Whether a place is in one of these comments, which are in order.
pub(crate) fn holds(comments: &[Comment], at: usize) -> bool {
    let next = comments.partition_point(|comment| comment.span.range().end <= at);
    comments.get(next).is_some_and(|comment| comment.span.range().contains(&at))
}

/// All of them, read when somebody asks.
pub(crate) struct Others<'p> {
    listed: Vec<(PathBuf, Role)>,
    provider: &'p dyn Provider,
    texts: OnceLock<Option<Vec<Other>>>,
}

impl<'p> Others<'p> {
    /// `paths`: files that are none of the project's sources. `sources`: all sources. `taken`: those that are read as programs.
    pub fn new(paths: &[PathBuf], sources: &[Source], taken: &FxHashSet<&Path>, provider: &'p dyn Provider) -> Self {
        let quiet = sources.iter().filter(|source| !taken.contains(source.real.as_path())).filter_map(|source| {
            let role = match source.kind {
                FileKind::Cuda | FileKind::CFamily => Role::Quiet,
                // Most of them came with the other paths.
                FileKind::Python | FileKind::Notebook | FileKind::Markdown => return None,
            };
            Some((source.real.clone(), role))
        });
        let named = paths.iter().filter(|path| !taken.contains(path.as_path()));
        let named = named.filter_map(|path| Some((path.clone(), role(path)?)));
        let mut listed: Vec<(PathBuf, Role)> = named.chain(quiet).collect();
        listed.sort();
        listed.dedup();
        Self { listed, provider, texts: OnceLock::new() }
    }

    /// Them; nothing where they are too many.
    pub fn texts(&self) -> Option<&[Other]> {
        self.texts.get_or_init(|| self.read()).as_deref()
    }

    fn read(&self) -> Option<Vec<Other>> {
        let mut bytes = 0;
        let mut texts = Vec::new();
        for (path, role) in &self.listed {
            // What cannot be read may say anything; so may anything else that is not here.
            let Ok(content) = self.provider.read(path) else { continue };
            let lists = path.file_name().is_some_and(|name| name == "compile_commands.json");
            if content.len() > MAX_FILE && *role != Role::Quiet && !lists {
                continue;
            }
            bytes += content.len();
            if bytes > MAX_BYTES {
                return None;
            }
            let text = match role {
                Role::Quiet => FileText::from_bytes(FileKind::CFamily, content).ok()?.source.text().to_owned(),
                Role::Build | Role::Script => without_comments(path, &String::from_utf8_lossy(&content)),
                Role::Document | Role::Foreign => String::from_utf8_lossy(&content).into_owned(),
            };
            texts.push(Other::new(path.clone(), *role, text));
        }
        Some(texts)
    }
}

/// What a file is for, by its name; nothing for one that is no text that names anything.
pub(crate) fn role(path: &Path) -> Option<Role> {
    const BUILDS: [&str; 22] = [
        "cmake", "mk", "mak", "make", "am", "ac", "m4", "bzl", "bazel", "gn", "gyp", "gypi", "vcxproj", "filters",
        "props", "targets", "sln", "pro", "pri", "ninja", "pbxproj", "qbs",
    ];
    const SCRIPTS: [&str; 20] = [
        "sh", "bash", "zsh", "csh", "bat", "cmd", "ps1", "py", "ipynb", "yml", "yaml", "toml", "json", "cfg", "ini",
        "in", "lua", "pl", "rb", "nix",
    ];
    const FOREIGN: [&str; 30] = [
        "pyx", "pxd", "pyi", "i", "swg", "f", "for", "f90", "f95", "f03", "f08", "java", "kt", "cs", "rs", "go", "jl",
        "m", "mm", "r", "inl", "ipp", "tpp", "txx", "ixx", "inc", "def", "map", "swift", "cl",
    ];
    const NAMES: [&str; 10] = [
        "makefile",
        "build",
        "workspace",
        "sconstruct",
        "sconscript",
        "jamfile",
        "jamroot",
        "wscript",
        "make.",
        "cmakelists",
    ];
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_build = NAMES.iter().any(|start| name.starts_with(start))
        || name.contains("makefile")
        || ["meson.build", "setup.py", "build.rs", "compile_commands.json", "xmake.lua", "premake5.lua"]
            .contains(&&*name)
        || name.starts_with("configure") && !name.ends_with(".md");
    if is_build || BUILDS.contains(&ending) {
        Some(Role::Build)
    } else if SCRIPTS.contains(&ending) || name.contains("dockerfile") {
        Some(Role::Script)
    } else if ["md", "rst", "txt", "tex", "adoc"].contains(&ending) || name.starts_with("readme") {
        Some(Role::Document)
    } else {
        FOREIGN.contains(&ending).then_some(Role::Foreign)
    }
}

/// A text without what stands behind `#`, where that is how comments are written.
fn without_comments(path: &Path, text: &str) -> String {
    const OTHERWISE: [&str; 12] =
        ["vcxproj", "filters", "props", "targets", "sln", "lua", "json", "ipynb", "bat", "cmd", "pbxproj", "rs"];
    if path.extension().is_some_and(|ending| OTHERWISE.iter().any(|other| ending == *other)) {
        return text.to_owned();
    }
    let is_mark = |line: &str, at: usize| at == 0 || line[..at].ends_with([' ', '\t', ')', '"', '\\']);
    let code = |line: &str| {
        let mark = line.match_indices('#').map(|(at, _)| at).find(|at| is_mark(line, *at));
        mark.unwrap_or(line.len())
    };
    text.lines().fold(String::with_capacity(text.len()), |all, line| all + &line[..code(line)] + "\n")
}

/// Where a word stands by itself in a text.
pub(crate) fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !word.is_empty()
            && !is_part(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_part(bytes.get(at + word.len()))
    })
}

/// Whether a name, of so many bytes, stands where a function of C or C++ is declared: `void name(int);`.
fn is_declared(text: &str, at: usize, length: usize) -> bool {
    const LONG: usize = 2000;
    const NO_TYPES: [&str; 10] =
        ["return", "else", "do", "case", "throw", "new", "delete", "goto", "co_return", "co_await"];
    let (Some(before), Some(behind)) = (text.get(..at), text.get(at + length..)) else { return false };
    let start = before.rfind([';', '{', '}', '#']).map_or(0, |last| last + 1);
    let head = before.get(start..).unwrap_or("").replace("::", " ").replace("extern \"C\"", " ");
    let typed = head.trim_end().ends_with(|last: char| last.is_ascii_alphanumeric() || "_*&>".contains(last));
    let plain = !head.contains(['=', '(', '?', ':', '"', '[', '.']);
    let mut words = head.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    if !typed || !plain || words.any(|word| NO_TYPES.contains(&word)) {
        return false;
    }
    let behind = behind.trim_start();
    if !behind.starts_with('(') {
        return false;
    }
    let mut depth = 0_u32;
    for (index, letter) in behind.char_indices().take(LONG) {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            '{' | '}' | ';' => return false,
            _ => {}
        }
        if depth == 0 {
            let rest = behind.get(index + 1..).unwrap_or("").trim_start();
            return rest.trim_start_matches("noexcept").trim_start().starts_with(';');
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{Other, Role, is_declared, role, words_at};
    use std::path::{Path, PathBuf};

    #[test]
    fn declarations_are_no_uses() {
        for (text, expected) in [
            ("void run(int n);", true),
            ("extern \"C\" float *run(const float *in, int n);", true),
            ("namespace a {\nstd::size_t run(int n) noexcept;\n}", true),
            ("int main() { run(1); }", false),
            ("int main() { return run(1); }", false),
            ("int main() { int n = run(1); }", false),
            ("void (*table[])(int) = {run};", false),
            ("void run(int n) { go(n); }", false),
        ] {
            let at = words_at(text, "run").next();
            assert_eq!(at.map(|at| is_declared(text, at, 3)), Some(expected), "{text}");
        }
        let other = Other::new(PathBuf::from("a.h"), Role::Quiet, "// run(1)\nvoid run(int n);\n".to_owned());
        assert!(!other.uses("run") && other.names("run"));
    }

    #[test]
    fn files_are_for_something_by_their_names() {
        for (name, expected) in [
            ("CMakeLists.txt", Some(Role::Build)),
            ("Makefile.in", Some(Role::Build)),
            ("run.sh", Some(Role::Script)),
            ("README.md", Some(Role::Document)),
            ("solver.F90", Some(Role::Foreign)),
            ("image.png", None),
        ] {
            assert_eq!(role(Path::new(name)), expected, "{name}");
        }
    }
}
