//! `compile_commands.json`: the include folders that a build uses, and what its commands say about macros. Commands of
//! several files are joined.

use crate::paths::display;
use cudalint_files::read_text;
use cudalint_findings::Incomplete;
use cudalint_syntax::Build;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What the commands say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Include folders, absolute, in order of first use.
    pub includes: Vec<PathBuf>,
    /// Macros, architectures, toolkit and standard.
    pub build: Build,
    /// Whether some command makes memory of the heap the device's, too.
    pub shares_heap: bool,
    /// The file that they stand in.
    pub file: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Command {
    directory: PathBuf,
    #[serde(default, rename = "command")]
    line: String,
    #[serde(default)]
    arguments: Vec<String>,
}

/// The commands that a project's build has left: those of the first of these files that is there. Nothing is known where there is
/// none; what of it cannot be used is said in `incomplete`, and the rest is used.
pub fn find(root: &Path, incomplete: &mut Vec<Incomplete>) -> Commands {
    let file = places(root).into_iter().map(|folder| folder.join(NAME)).find(|file| file.symlink_metadata().is_ok());
    file.map(|file| read(&file, incomplete)).unwrap_or_default()
}

/// The commands of the file, or of the folder, that a user names.
///
/// # Errors
/// With a sentence, when there is no such file.
pub fn given(build: &Path, incomplete: &mut Vec<Incomplete>) -> Result<Commands, String> {
    let file = if build.is_dir() { build.join(NAME) } else { build.to_owned() };
    if !file.is_file() {
        return Err(format!(
            "-p {}: there is no {NAME}; CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, Bear with `bear -- make`",
            build.display()
        ));
    }
    Ok(read(&file, incomplete))
}

/// The name that `CMake`, Ninja, Meson and Bear give it.
const NAME: &str = "compile_commands.json";
/// A folder with more entries than this is not searched.
const MAX_ENTRIES: usize = 2000;

/// Folders in which builds are made, in the order in which they count: the root, where Bear is called and links are put, then what
/// `CMake`, its presets, editors and Meson are mostly told.
fn places(root: &Path) -> Vec<PathBuf> {
    let mut places = vec![root.to_owned(), root.join("build"), root.join("out")];
    let below = |folder: &Path, wanted: &dyn Fn(&str) -> bool| -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let entries =
            entries.take(MAX_ENTRIES).flatten().filter(|entry| entry.file_name().to_str().is_some_and(wanted));
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        found.sort();
        found
    };
    let beside = ["build-", "build_", "cmake-build-", "out-"];
    let is_build =
        |name: &str| beside.iter().any(|start| name.starts_with(start)) || ["builddir", "_build"].contains(&name);
    places.extend(below(root, &is_build));
    for folder in ["build", "out", "out/build"] {
        places.extend(below(&root.join(folder), &|_| true));
    }
    places
}

fn read(file: &Path, incomplete: &mut Vec<Incomplete>) -> Commands {
    let text = read_text(file).map_err(|error| format!("cannot be read: {error}"));
    let (mut commands, problem) = match text {
        Ok(text) => parse(&text, &|path| read_text(path)),
        Err(problem) => (Commands::default(), Some(problem)),
    };
    incomplete.extend(problem.map(|reason| Incomplete { path: display(file), reason }));
    // Every include is looked for in each of them.
    commands.includes.retain(|folder| folder.is_dir());
    commands.file = Some(file.to_owned());
    commands
}

/// Reads a file of options.
type ReadOptions<'a> = &'a dyn Fn(&Path) -> std::io::Result<String>;

/// The words of commands, those of files of options among them.
struct Words<'a> {
    read: ReadOptions<'a>,
    /// Files of options by path; those of one target are the same.
    files: FxHashMap<PathBuf, Vec<String>>,
    unread: Vec<PathBuf>,
}

/// Files of options in files of options.
const MAX_DEPTH: usize = 4;
/// Words of one command.
const MAX_WORDS: usize = 100_000;

impl Words<'_> {
    /// A command with `@x.rsp`, `--options-file x` and `-optf x,y` replaced by what these files hold.
    fn expand(&mut self, words: Vec<String>, directory: &Path) -> Vec<String> {
        let mut words = words;
        for _ in 0..MAX_DEPTH {
            let mut out: Vec<String> = Vec::with_capacity(words.len());
            let mut found = false;
            let mut rest = words.into_iter().enumerate();
            while let Some((at, word)) = rest.next() {
                let listed = ["--options-file", "-optf"].iter().find_map(|flag| word.strip_prefix(flag));
                let names = match listed {
                    Some("") => rest.next().map(|(_, names)| names),
                    Some(names) => names.strip_prefix('=').map(str::to_owned),
                    // The compiler itself comes first.
                    None => word.strip_prefix('@').filter(|_| at > 0).map(str::to_owned),
                };
                let Some(names) = names.filter(|names| !names.is_empty()) else {
                    out.push(word);
                    continue;
                };
                found = true;
                for name in names.split(',') {
                    if out.len() > MAX_WORDS {
                        break;
                    }
                    out.extend_from_slice(self.of_file(&directory.join(name)));
                }
            }
            words = out;
            if !found {
                break;
            }
        }
        words
    }

    fn of_file(&mut self, file: &Path) -> &[String] {
        if !self.files.contains_key(file) {
            let words = match (self.read)(file) {
                Ok(text) => split(&text),
                Err(_) => {
                    self.unread.push(file.to_owned());
                    Vec::new()
                }
            };
            self.files.insert(file.to_owned(), words);
        }
        self.files.get(file).map_or(&[], Vec::as_slice)
    }
}

/// Reads the text of a `compile_commands.json`; with what is wrong with it.
pub fn parse(text: &str, read: ReadOptions<'_>) -> (Commands, Option<String>) {
    let entries: Vec<serde_json::Value> = match serde_json::from_str(text) {
        Ok(entries) => entries,
        Err(error) => {
            return (Commands::default(), Some(format!("no list of commands, nothing of it is used: {error}")));
        }
    };
    let count = entries.len();
    let mut problem = None;
    let commands: Vec<Command> = entries
        .into_iter()
        .filter_map(|entry| serde_json::from_value(entry).map_err(|error| problem = Some(error)).ok())
        .collect();
    let mut problem =
        problem.map(|error| format!("{} of {count} commands are not used: {error}", count - commands.len()));
    let mut includes = Vec::new();
    let mut known = FxHashSet::default();
    let mut builds = Vec::with_capacity(commands.len());
    let mut shares_heap = false;
    let mut files = Words { read, files: FxHashMap::default(), unread: Vec::new() };
    for command in commands {
        let words = if command.arguments.is_empty() { split(&command.line) } else { command.arguments };
        let words = files.expand(words, &command.directory);
        builds.push(Build::of_command(words.iter().map(String::as_str)));
        shares_heap |= words.iter().any(|word| makes_heap_shared(word));
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let rest = ["-I", "-isystem", "--include-path"].iter().find_map(|flag| word.strip_prefix(flag));
            let folder = match rest {
                Some("") => words.next().map(String::as_str),
                rest => rest.map(|rest| rest.strip_prefix('=').unwrap_or(rest)),
            };
            if let Some(folder) = folder.map(|folder| command.directory.join(folder))
                && known.insert(folder.clone())
            {
                includes.push(folder);
            }
        }
    }
    if let (None, Some(first)) = (&problem, files.unread.first()) {
        let more = files.unread.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        problem = Some(format!("a file of options cannot be read: {}{more}", display(first)));
    }
    (Commands { includes, build: Build::joined(builds), shares_heap, file: None }, problem)
}

/// Whether a word of a command makes memory of the heap the device's, too: `-stdpar`, `-gpu=cc90,managed`, `-gpu=mem:unified`.
pub(crate) fn makes_heap_shared(word: &str) -> bool {
    let memory = |flags: &str| ["managed", "unified"].iter().any(|kind| flags.contains(kind));
    word.strip_prefix("-stdpar").is_some_and(|rest| rest.is_empty() || rest.starts_with("=gpu"))
        || word.strip_prefix("-gpu=").is_some_and(memory)
}

/// Splits a command line into words as a shell does for plain words and quotes.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), close) if open == close => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(letters.next()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_FILES: ReadOptions<'static> = &|_| Err(std::io::Error::from(std::io::ErrorKind::NotFound));

    #[test]
    fn files_of_options_are_read_where_they_are_named() {
        let read: ReadOptions<'_> = &|path| match path.to_str() {
            Some("/p/b/x.rsp") => Ok("-I/usr/inc \"-DN=2\"\n@more.rsp".to_owned()),
            Some("/p/b/more.rsp") => Ok("-DDEEP @more.rsp".to_owned()),
            Some("/p/b/y.rsp") => Ok("-arch=sm_90".to_owned()),
            _ => Err(std::io::Error::from(std::io::ErrorKind::NotFound)),
        };
        let text = r#"[{"directory": "/p/b", "file": "a.cu", "command": "nvcc --options-file x.rsp -optf=y.rsp,z.rsp -c a.cu"}]"#;
        let (Commands { includes, build, .. }, problem) = parse(text, read);
        assert_eq!(includes, [PathBuf::from("/usr/inc")]);
        assert_eq!(build.defines, ["DEEP", "N=2"]);
        assert_eq!(build.architectures, [90]);
        assert_eq!(problem.as_deref(), Some("a file of options cannot be read: /p/b/z.rsp"));
    }

    #[test]
    fn the_first_place_of_a_build_counts() {
        let folder = tempfile::tempdir().unwrap_or_else(|error| unreachable!("{error}"));
        let file = |name: &str| {
            let path = folder.path().join(name);
            let _ = std::fs::create_dir_all(path.parent().unwrap_or(folder.path()));
            let _ = std::fs::write(&path, "[]");
            path
        };
        assert_eq!(find(folder.path(), &mut Vec::new()).file, None);
        for name in [
            "out/build/x64-Release/compile_commands.json",
            "cmake-build-debug/compile_commands.json",
            "build-a/compile_commands.json",
            "build/compile_commands.json",
            "compile_commands.json",
        ] {
            let path = file(name);
            assert_eq!(find(folder.path(), &mut Vec::new()).file, Some(path));
        }
    }

    #[test]
    fn commands_are_joined_and_contradictions_left_out() {
        let (Commands { includes, build, .. }, problem) = parse(
            r#"[
              {"directory": "/p/build", "file": "a.cu",
               "command": "/usr/local/cuda-12.8/bin/nvcc -std=c++20 -UOLD -I../inc -DN=256 -DNAME=\\\"x\\\" -gencode arch=compute_80,code=[sm_80,compute_80] -c a.cu"},
              {"directory": "/p", "file": "b.cu",
               "arguments": ["nvcc", "-I", "inc2", "-DN=512", "-D", "NDEBUG", "-arch=sm_90a", "b.cu"]}
            ]"#,
            NO_FILES,
        );
        assert_eq!(problem, None);
        assert_eq!(includes, [PathBuf::from("/p/build/../inc"), PathBuf::from("/p/inc2")]);
        assert_eq!(build.defines, ["NAME=\"x\"", "NDEBUG"]);
        assert_eq!(build.architectures, [80, 90]);
        assert_eq!((build.toolkit, build.standard), (Some((12, 8)), Some(202_002)));
        assert_eq!(build.undefines, ["OLD"]);
    }

    #[test]
    fn what_is_no_command_is_told_and_the_others_are_used() {
        let (commands, problem) = parse("{", NO_FILES);
        assert_eq!(commands, Commands::default());
        assert!(problem.is_some_and(|problem| problem.starts_with("no list of commands")));
        let (commands, problem) = parse(
            r#"[{"directory": 3}, {"directory": "/p", "file": "a.cu", "arguments": ["nvcc", "-DN=1"]}]"#,
            NO_FILES,
        );
        assert_eq!(commands.build.defines, ["N=1"]);
        assert!(problem.is_some_and(|problem| problem.starts_with("1 of 2 commands are not used")));
    }

    #[test]
    fn flags_that_share_the_heap() {
        for flag in ["-stdpar", "-stdpar=gpu", "-gpu=managed", "-gpu=cc80,managed", "-gpu=mem:unified"] {
            assert!(makes_heap_shared(flag), "{flag}");
        }
        for flag in ["-stdpar=multicore", "-gpu=cc80", "-gpus", "-std=c++17"] {
            assert!(!makes_heap_shared(flag), "{flag}");
        }
    }
}
