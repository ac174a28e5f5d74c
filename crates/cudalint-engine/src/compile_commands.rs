//! `compile_commands.json`: the include folders that a build uses, and what its commands say about macros. Commands of
//! several files are joined.

use crate::walk::display;
use cudalint_files::read_text;
use cudalint_findings::Incomplete;
use cudalint_syntax::Build;
use rustc_hash::FxHashSet;
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
}

#[derive(Deserialize)]
struct Command {
    directory: PathBuf,
    #[serde(default, rename = "command")]
    line: String,
    #[serde(default)]
    arguments: Vec<String>,
}

/// Reads the file of a project, at its root or in `build/`. Nothing is known where there is none; what of it cannot be
/// used is said in `incomplete`, and the rest is used.
pub fn find(root: &Path, incomplete: &mut Vec<Incomplete>) -> Commands {
    let files = [root.join("compile_commands.json"), root.join("build/compile_commands.json")];
    let Some(file) = files.iter().find(|file| file.symlink_metadata().is_ok()) else { return Commands::default() };
    let read = read_text(file).map_err(|error| format!("cannot be read: {error}"));
    let (mut commands, problem) = match read {
        Ok(text) => parse(&text),
        Err(problem) => (Commands::default(), Some(problem)),
    };
    incomplete.extend(problem.map(|reason| Incomplete { path: display(file), reason }));
    // Every include is looked for in each of them.
    commands.includes.retain(|folder| folder.is_dir());
    commands
}

/// Reads the text of a `compile_commands.json`; with what is wrong with it.
pub fn parse(text: &str) -> (Commands, Option<String>) {
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
    let problem = problem.map(|error| format!("{} of {count} commands are not used: {error}", count - commands.len()));
    let mut includes = Vec::new();
    let mut known = FxHashSet::default();
    let mut builds = Vec::with_capacity(commands.len());
    let mut shares_heap = false;
    for command in &commands {
        let words = if command.arguments.is_empty() { split(&command.line) } else { command.arguments.clone() };
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
    (Commands { includes, build: Build::joined(builds), shares_heap }, problem)
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

    #[test]
    fn commands_are_joined_and_contradictions_left_out() {
        let (Commands { includes, build, .. }, problem) = parse(
            r#"[
              {"directory": "/p/build", "file": "a.cu",
               "command": "/usr/local/cuda-12.8/bin/nvcc -std=c++20 -UOLD -I../inc -DN=256 -DNAME=\\\"x\\\" -gencode arch=compute_80,code=[sm_80,compute_80] -c a.cu"},
              {"directory": "/p", "file": "b.cu",
               "arguments": ["nvcc", "-I", "inc2", "-DN=512", "-D", "NDEBUG", "-arch=sm_90a", "b.cu"]}
            ]"#,
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
        let (commands, problem) = parse("{");
        assert_eq!(commands, Commands::default());
        assert!(problem.is_some_and(|problem| problem.starts_with("no list of commands")));
        let (commands, problem) =
            parse(r#"[{"directory": 3}, {"directory": "/p", "file": "a.cu", "arguments": ["nvcc", "-DN=1"]}]"#);
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
