//! `compile_commands.json`: the include folders, macros and architectures that a build uses. Commands of several files
//! are joined; a macro with two values in two commands is left out, since neither holds everywhere.

use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What the commands say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// Include folders, absolute, in order of first use.
    pub includes: Vec<PathBuf>,
    /// `NAME` or `NAME=value`.
    pub defines: Vec<String>,
    /// `major * 10 + minor`, sorted.
    pub architectures: Vec<u32>,
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
pub fn find(root: &Path) -> Build {
    [root.join("compile_commands.json"), root.join("build/compile_commands.json")]
        .iter()
        .find_map(|file| std::fs::read_to_string(file).ok())
        .map(|text| parse(&text))
        .unwrap_or_default()
}

/// Reads the text of a `compile_commands.json`.
pub fn parse(text: &str) -> Build {
    let commands: Vec<Command> = serde_json::from_str(text).unwrap_or_default();
    let mut build = Build::default();
    let mut defines: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut architectures = BTreeSet::new();
    for command in &commands {
        let words = if command.arguments.is_empty() { split(&command.line) } else { command.arguments.clone() };
        let mut words = words.into_iter().peekable();
        while let Some(word) = words.next() {
            let mut value = |flag: &str| -> Option<String> {
                let rest = word.strip_prefix(flag)?;
                if rest.is_empty() { words.next() } else { Some(rest.trim_start_matches('=').to_owned()) }
            };
            if let Some(folder) = value("-I").or_else(|| value("-isystem")).or_else(|| value("--include-path")) {
                let folder = command.directory.join(folder);
                if !build.includes.contains(&folder) {
                    build.includes.push(folder);
                }
            } else if let Some(define) = value("-D").or_else(|| value("--define-macro")) {
                let name = define.split('=').next().unwrap_or_default().to_owned();
                defines.entry(name).or_default().insert(define);
            } else if let Some(target) = value("-gencode")
                .or_else(|| value("--generate-code"))
                .or_else(|| value("-arch"))
                .or_else(|| value("--gpu-architecture"))
            {
                architectures.extend(architectures_in(&target));
            }
        }
    }
    build.defines = defines.into_values().filter(|values| values.len() == 1).flatten().collect();
    build.architectures = architectures.into_iter().collect();
    build
}

/// The numbers after `sm_` in `arch=compute_80,code=[sm_80,compute_80]`; those after `compute_` where no `sm_` is.
fn architectures_in(text: &str) -> Vec<u32> {
    let after = |mark: &str| -> Vec<u32> {
        text.match_indices(mark)
            .filter_map(|(at, _)| {
                let digits: String = text.get(at + mark.len()..)?.chars().take_while(char::is_ascii_digit).collect();
                digits.parse().ok()
            })
            .collect()
    };
    let real = after("sm_");
    if real.is_empty() { after("compute_") } else { real }
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
        let build = parse(
            r#"[
              {"directory": "/p/build", "file": "a.cu",
               "command": "nvcc -I../inc -DN=256 -DNAME=\\\"x\\\" -gencode arch=compute_80,code=[sm_80,compute_80] -c a.cu"},
              {"directory": "/p", "file": "b.cu",
               "arguments": ["nvcc", "-I", "inc2", "-DN=512", "-D", "NDEBUG", "-arch=sm_90a", "b.cu"]}
            ]"#,
        );
        assert_eq!(build.includes, [PathBuf::from("/p/build/../inc"), PathBuf::from("/p/inc2")]);
        assert_eq!(build.defines, ["NAME=\"x\"", "NDEBUG"]);
        assert_eq!(build.architectures, [80, 90]);
    }

    #[test]
    fn text_that_is_no_list_of_commands_says_nothing() {
        assert_eq!(parse("{"), Build::default());
    }
}
