//! `compile_commands.json`: the include folders that a build uses, and what its commands say about macros. Commands of
//! several files are joined.

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
}

#[derive(Deserialize)]
struct Command {
    directory: PathBuf,
    #[serde(default, rename = "command")]
    line: String,
    #[serde(default)]
    arguments: Vec<String>,
}

/// Reads the file of a project, at its root or in `build/`. Nothing is known where there is none or it is not readable.
pub fn find(root: &Path) -> Commands {
    [root.join("compile_commands.json"), root.join("build/compile_commands.json")]
        .iter()
        .find_map(|file| std::fs::read_to_string(file).ok())
        .map(|text| parse(&text))
        .unwrap_or_default()
}

/// Reads the text of a `compile_commands.json`.
pub fn parse(text: &str) -> Commands {
    let commands: Vec<Command> = serde_json::from_str(text).unwrap_or_default();
    let mut includes = Vec::new();
    let mut known = FxHashSet::default();
    let mut builds = Vec::with_capacity(commands.len());
    for command in &commands {
        let words = if command.arguments.is_empty() { split(&command.line) } else { command.arguments.clone() };
        builds.push(Build::of_command(words.iter().map(String::as_str)));
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
    Commands { includes, build: Build::joined(builds) }
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
        let Commands { includes, build } = parse(
            r#"[
              {"directory": "/p/build", "file": "a.cu",
               "command": "/usr/local/cuda-12.8/bin/nvcc -std=c++20 -UOLD -I../inc -DN=256 -DNAME=\\\"x\\\" -gencode arch=compute_80,code=[sm_80,compute_80] -c a.cu"},
              {"directory": "/p", "file": "b.cu",
               "arguments": ["nvcc", "-I", "inc2", "-DN=512", "-D", "NDEBUG", "-arch=sm_90a", "b.cu"]}
            ]"#,
        );
        assert_eq!(includes, [PathBuf::from("/p/build/../inc"), PathBuf::from("/p/inc2")]);
        assert_eq!(build.defines, ["NAME=\"x\"", "NDEBUG"]);
        assert_eq!(build.architectures, [80, 90]);
        assert_eq!((build.toolkit, build.standard), (Some((12, 8)), Some(202_002)));
        assert_eq!(build.undefines, ["OLD"]);
    }

    #[test]
    fn text_that_is_no_list_of_commands_says_nothing() {
        assert_eq!(parse("{"), Commands::default());
    }
}
