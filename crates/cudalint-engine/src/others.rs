//! Texts of a project beside the sources that are read as programs: build files, scripts, documents, programs in other languages, and C
//! and C++ without GPU code. They are asked for names alone: what a build lists, and who may use a file or a function. Nothing is read
//! before a finding makes somebody ask.

use crate::project::Source;
use crate::provider::Provider;
use crate::roles::{COMPILED, Role, role};
use cudalint_syntax::{Comment, FileKind, FileText, FunctionText, Language, Region, Span, comments, function_texts};
use memchr::memmem;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::Hasher;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of such texts that are read, at most: of a project with more nothing is said of who uses what.
const MAX_BYTES: usize = 24 << 20;
/// A longer file is data, unless it is one of C or C++, or lists what is compiled.
const MAX_FILE: usize = 1 << 20;

/// A text.
pub(crate) struct Other {
    pub path: PathBuf,
    pub role: Role,
    pub text: String,
    /// What stands behind `#` in a build file or a script.
    commented: String,
    comments: OnceLock<Vec<Comment>>,
}

impl Other {
    pub fn new(path: PathBuf, role: Role, text: String) -> Self {
        let (text, commented) = match role {
            Role::Build | Role::Script => without_comments(&path, text),
            Role::Quiet | Role::Document | Role::Foreign => (text, String::new()),
        };
        Self { path, role, text, commented, comments: OnceLock::new() }
    }

    /// Whether the name of a file stands in a part of it that is commented out.
    pub fn comments_out(&self, name: &str) -> bool {
        file_names(&self.commented).any(|other| other == name)
    }

    /// What stands behind `#` in a build file or a script.
    pub fn commented(&self) -> &str {
        &self.commented
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

    /// Whether a file of C or C++ does more with a function than declare it. `means`: whether the name at a place of a text may mean it.
    pub fn uses(&self, name: &str, means: &dyn Fn(&str, usize) -> bool) -> bool {
        words_at(&self.text, name).any(|at| {
            let counts = !self.is_comment(at) && !names_file(&self.text, at) && means(&self.text, at);
            counts && !is_declared(&self.text, at, name.len())
        })
    }

    /// Whether a source of C or C++ defines a function of a name that is no method: it means its own, and is a part of another program than
    /// one that has the name from elsewhere.
    pub fn has_its_own(&self, name: &str) -> bool {
        let is_it = |function: &FunctionText<'_>| function.name == name && function.class.is_none();
        self.path.to_str().is_some_and(|path| COMPILED.iter().any(|ending| path.ends_with(ending)))
            && function_texts(&self.text).iter().any(is_it)
    }

    /// Whether a file of C or C++ does more with a class than declare it.
    pub fn uses_class(&self, name: &str) -> bool {
        let places: Vec<usize> = words_at(&self.text, name).filter(|at| !self.is_comment(*at)).collect();
        let own: Vec<Range<usize>> = places.iter().filter_map(|at| class_at(&self.text, *at, name)).collect();
        places.iter().any(|at| !names_file(&self.text, *at) && !own.iter().any(|span| span.contains(at)))
    }

    /// Whether a file of C or C++ spells the name of another one outside of comments.
    pub fn names_file(&self, name: &str) -> bool {
        self.text.match_indices(name).any(|(at, _)| !self.is_comment(at))
    }

    /// Whether others learn from it that a header of this name is theirs to include. A document that lists it among a project's files does
    /// not say so.
    pub fn hands_on(&self, header: &str) -> bool {
        let names = |text: &str| words_at(text, header).next().is_some();
        match self.role {
            Role::Foreign | Role::Script => names(&self.text),
            Role::Document => {
                const ALONE: [&str; 3] = ["header-only", "header only", "single header"];
                const TAKING: [&str; 5] = ["include", "copy", "drop", "import", "link"];
                let is_folder = |line: &str, at: usize, word: &str| line[at + word.len()..].starts_with('/');
                let takes = |line: &str| {
                    let takes = |word: &&str| line.match_indices(*word).any(|(at, _)| !is_folder(line, at, word));
                    TAKING.iter().any(takes)
                };
                let told = |line: &str| names(line) && takes(&line.to_ascii_lowercase());
                names(&self.text)
                    && (self.text.lines().any(told) || {
                        let text = self.text.to_ascii_lowercase();
                        ALONE.iter().any(|words| text.contains(words))
                    })
            }
            Role::Build | Role::Quiet => false,
        }
    }

    /// Whether it spells a word outside of comments of C and C++.
    pub fn names(&self, name: &str) -> bool {
        words_at(&self.text, name).any(|at| self.role != Role::Quiet || !self.is_comment(at))
    }
}

/// The declaration of a class whose name stands at a place, if one does.
fn class_at(text: &str, at: usize, name: &str) -> Option<Range<usize>> {
    let before = text.get(..at)?.trim_end();
    let is_key = |key: &str| {
        let rest = before.strip_suffix(key);
        rest.is_some_and(|rest| !rest.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_'))
    };
    // `friend class X;` and `enum class X` are declarations, too.
    if !["class", "struct"].iter().any(|key| is_key(key)) {
        return None;
    }
    let mut depth = 0_u32;
    for (index, letter) in text.get(at + name.len()..)?.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth <= 1 => return Some(at..at + name.len() + index),
            '}' => depth -= 1,
            ';' if depth == 0 => return Some(at..at + name.len() + index),
            // `struct X make()`, `struct X *x = …`, `template <class X>`
            '(' | '=' | '>' | '*' | '&' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether a place is in an `#include`, which names a file.
pub(crate) fn names_file(text: &str, at: usize) -> bool {
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or("");
    line.trim_start().strip_prefix('#').is_some_and(|rest| rest.trim_start().starts_with("include"))
}

fn hash(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word.as_bytes());
    hasher.finish()
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
    /// The hashes of all words in them.
    words: OnceLock<FxHashSet<u64>>,
    mangled: OnceLock<Vec<String>>,
    /// How often somebody has asked for a word.
    asked: AtomicUsize,
}

/// So many words are looked for one by one, before it pays to know all words that there are.
const FEW: usize = 100;

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
        Self {
            listed,
            provider,
            texts: OnceLock::new(),
            words: OnceLock::new(),
            mangled: OnceLock::new(),
            asked: AtomicUsize::new(0),
        }
    }

    /// Whether one of them, or of the files that are not read, has a name.
    pub fn lists(&self, name: &str) -> bool {
        self.listed.iter().any(|(path, _)| path.file_name().is_some_and(|own| own == name))
    }

    /// Whether a file can be read, whatever it is.
    pub fn can_read(&self, path: &Path) -> bool {
        self.provider.read(path).is_ok()
    }

    /// Whether one of them, or of the files that are not read, lies in or below a folder.
    pub fn has_folder(&self, folder: &Path) -> bool {
        self.listed.iter().any(|(path, _)| path.starts_with(folder))
    }

    /// Them; nothing where they are too many.
    pub fn texts(&self) -> Option<&[Other]> {
        self.texts.get_or_init(|| self.read()).as_deref()
    }

    fn each(&self) -> impl Iterator<Item = &str> {
        self.texts().unwrap_or_default().iter().map(|text| &*text.text)
    }

    /// Whether documents, scripts or programs in other languages hand on a header; also where they are too many to be read.
    pub fn tell_of(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.texts().is_none_or(|texts| texts.iter().any(|text| text.hands_on(name)))
    }

    /// Whether a word may stand in one of them, be it in a comment.
    pub fn spell(&self, word: &str) -> bool {
        let is_one = words(word).next().is_some_and(|(_, first)| first == word);
        if !is_one || self.asked.fetch_add(1, Ordering::Relaxed) < FEW {
            return is_one && self.each().any(|text| words_at(text, word).next().is_some());
        }
        let all = || self.each().flat_map(words).map(|(_, word)| hash(word)).collect();
        self.words.get_or_init(all).contains(&hash(word))
    }

    /// Which of these pieces of text one of them holds, however many they are: each is read for that alone.
    pub fn first_of<'t>(&self, pieces: &[&'t str]) -> Option<&'t str> {
        const MOST: usize = 128 << 20;
        let mut left = MOST;
        self.listed.iter().find_map(|(path, _)| {
            let content = self.provider.read(path).ok().filter(|content| content.len() <= MAX_FILE)?;
            left = left.checked_sub(content.len())?;
            pieces.iter().copied().find(|piece| memmem::find(&content, piece.as_bytes()).is_some())
        })
    }

    /// Mangled names that they spell.
    pub fn mangled(&self) -> &[String] {
        self.mangled.get_or_init(|| self.each().flat_map(mangled).map(str::to_owned).collect())
    }

    fn read(&self) -> Option<Vec<Other>> {
        let mut bytes = 0;
        let mut texts = Vec::new();
        for (path, role) in &self.listed {
            // What cannot be read may say anything; so may anything else that is not here.
            let Ok(content) = self.provider.read(path) else { continue };
            let lists = path.file_name().is_some_and(|name| name == "compile_commands.json");
            // A program that somebody has built names what is in its sources.
            let is_binary = *role != Role::Quiet && memchr::memchr(0, &content[..content.len().min(8192)]).is_some();
            if is_binary || content.len() > MAX_FILE && *role != Role::Quiet && !lists {
                continue;
            }
            bytes += content.len();
            if bytes > MAX_BYTES {
                return None;
            }
            let text = match role {
                Role::Quiet => FileText::from_bytes(FileKind::CFamily, content.clone()).map_or_else(
                    // Words are words in a file that is not linted, too.
                    |_| String::from_utf8_lossy(&content).into_owned(),
                    |file| file.source.text().to_owned(),
                ),
                Role::Build | Role::Script | Role::Document | Role::Foreign => {
                    String::from_utf8_lossy(&content).into_owned()
                }
            };
            // Documentation that was made from the sources has maps of its pictures, which name them all.
            if *role == Role::Foreign && text.starts_with("<map") {
                continue;
            }
            texts.push(Other::new(path.clone(), *role, text));
        }
        Some(texts)
    }
}

/// A text without what stands behind `#`, where that is how comments are written, and what that is.
fn without_comments(path: &Path, text: String) -> (String, String) {
    const OTHERWISE: [&str; 13] =
        ["in", "vcxproj", "filters", "props", "targets", "sln", "lua", "json", "ipynb", "bat", "cmd", "pbxproj", "rs"];
    if path.extension().is_some_and(|ending| OTHERWISE.iter().any(|other| ending == *other)) {
        return (text, String::new());
    }
    let is_mark = |line: &str, at: usize| at == 0 || line[..at].ends_with([' ', '\t', ')', '"', '\\']);
    let code = |line: &str| {
        let mark = line.match_indices('#').map(|(at, _)| at).find(|at| is_mark(line, *at));
        mark.unwrap_or(line.len())
    };
    let (mut kept, mut left_out) = (String::with_capacity(text.len()), String::new());
    for line in text.lines() {
        let (before, behind) = line.split_at(code(line));
        kept.extend([before, "\n"]);
        left_out.extend([behind, "\n"]);
    }
    (kept, left_out)
}

/// What may be names of files of C and C++ in a text.
pub(crate) fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-+.".contains(byte);
    text.match_indices('.').filter_map(move |(dot, _)| {
        let ending = bytes.get(dot + 1..)?;
        let length = ending.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'+').count();
        let before = bytes.get(..dot)?.iter().rev().take_while(part).count();
        let is_source = matches!(ending.first(), Some(b'c' | b'h' | b'i' | b't'));
        (is_source && before > 0).then(|| text.get(dot - before..dot + 1 + length)).flatten()
    })
}

/// The words of a text, with where they begin.
pub(crate) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    const PART: [bool; 256] = {
        let mut part = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            part[byte] = (byte as u8).is_ascii_alphanumeric() || byte as u8 == b'_';
            byte += 1;
        }
        part
    };
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| PART[usize::from(*byte)];
    let mut at = 0;
    std::iter::from_fn(move || {
        at += bytes.get(at..)?.iter().position(is_part)?;
        let start = at;
        at += bytes[start..].iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len() - start);
        Some((start, text.get(start..at)?))
    })
}

/// Where a word stands by itself in a text.
pub(crate) fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, word).filter(move |at| {
        !word.is_empty()
            && !is_part(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && !is_part(bytes.get(at + word.len()))
    })
}

/// The mangled names of C++ in a text.
pub(crate) fn mangled(text: &str) -> impl Iterator<Item = &str> {
    let begins = |at: &usize| !text[..*at].ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_');
    memmem::find_iter(text.as_bytes(), "_Z").filter(begins).filter_map(|at| Some(words(&text[at..]).next()?.1))
}

/// Whether a name, of so many bytes, stands where a function of C or C++ is declared: `void name(int);`.
fn is_declared(text: &str, at: usize, length: usize) -> bool {
    const LONG: usize = 2000;
    const NO_TYPES: [&str; 10] =
        ["return", "else", "do", "case", "throw", "new", "delete", "goto", "co_return", "co_await"];
    let (Some(before), Some(behind)) = (text.get(..at), text.get(at + length..)) else { return false };
    // What is called by the name of its class or namespace is declared in there.
    if before.trim_end().ends_with("::") {
        return false;
    }
    let start = before.rfind([';', '{', '}', '#']).map_or(0, |last| last + 1);
    let head = before.get(start..).unwrap_or("");
    let head = if before.get(..start).is_some_and(|before| before.ends_with('#')) {
        // What stands in a macro may be anything.
        let Some((_, rest)) = head.split_once('\n').filter(|(line, _)| !line.trim_end().ends_with('\\')) else {
            return false;
        };
        rest
    } else {
        head
    };
    let head = head.rsplit("*/").next().unwrap_or(head);
    let head: Vec<&str> = head.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
    let head = head.join(" ").replace("::", " ").replace("extern \"C\"", " ");
    let typed = head.trim_end().ends_with(|last: char| last.is_ascii_alphanumeric() || "_*&>".contains(last));
    let plain = !head.contains(['=', '(', '?', ':', '"', '[', '.', '-', '+', '!']) && !head.contains("<<");
    let words = head.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    if !typed || !plain || words.peek().is_none() || words.any(|word| NO_TYPES.contains(&word)) {
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
    use super::{Other, Role, is_declared, words_at};
    use std::path::PathBuf;

    #[test]
    fn declarations_are_no_uses() {
        for (text, expected) in [
            ("void run(int n);", true),
            ("extern \"C\" float *run(const float *in, int n);", true),
            ("namespace a {\nstd::size_t run(int n) noexcept;\n}", true),
            ("int main() { run(1); }", false),
            ("int main() { return run(1); }", false),
            ("int main() { int n = run(1); }", false),
            ("int main() { it->run(1); }", false),
            ("#define GO run(1);", false),
            ("#include \"a.h\"\n// It runs.\nvoid run(int n);", true),
            ("int main() { out << run(1); *run(1); }", false),
            ("void (*table[])(int) = {run};", false),
            ("void f() { One::run(n); }", false),
            ("void run(int n) { go(n); }", false),
        ] {
            let at = words_at(text, "run").next();
            assert_eq!(at.map(|at| is_declared(text, at, 3)), Some(expected), "{text}");
        }
        let other = Other::new(PathBuf::from("a.h"), Role::Quiet, "// run(1)\nvoid run(int n);\n".to_owned());
        assert!(!other.uses("run", &|_, _| true) && other.names("run"));
    }
}
