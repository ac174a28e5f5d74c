//! What is run of a project that says nothing of it: the programs that its build has linked, with arguments that scripts,
//! build files and texts beside them give.

use super::compiler::Compiled;
use crate::lab::quoted;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_text;

/// Programs of one project that are run.
const PROGRAMS: usize = 4;
/// Bytes of a text that is searched.
const TEXT: u64 = 1 << 18;
/// Texts that are searched.
const TEXTS: usize = 40;

/// The commands that run what was linked, from `folder`.
pub(super) fn commands(compiled: &[Compiled], folder: &Utf8Path) -> Vec<String> {
    let linked = compiled
        .iter()
        .filter(|it| it.done && it.links)
        .map(|it| it.output.clone().unwrap_or_else(|| it.folder.join("a.out")));
    let mut programs: Vec<Utf8PathBuf> = Vec::new();
    for program in linked {
        // The newest of a name is what is there.
        if is_program(&program) && !programs.contains(&program) {
            programs.push(program);
        }
    }
    programs.truncate(PROGRAMS);
    let texts = texts(folder);
    let command = |program: &Utf8PathBuf| {
        let arguments = program.file_name().and_then(|name| arguments(name, &texts)).unwrap_or_default();
        let program = quoted(program.as_str());
        if arguments.is_empty() { program } else { format!("{program} {arguments}") }
    };
    programs.iter().map(command).collect()
}

/// Whether a file is a program: a library cannot be run.
fn is_program(path: &Utf8Path) -> bool {
    let library = path.file_name().is_some_and(|name| name.contains(".so") || name.starts_with("lib"));
    path.is_file() && !library && !matches!(path.extension(), Some("o" | "a" | "dll" | "dylib"))
}

/// The texts of a folder that may say how a program is run: scripts first, then build files, then what is read by people.
fn texts(folder: &Utf8Path) -> Vec<String> {
    let Ok(entries) = folder.read_dir_utf8() else { return Vec::new() };
    let rank = |name: &str| {
        let lower = name.to_ascii_lowercase();
        let extension = Utf8Path::new(&lower).extension().map(str::to_owned);
        match extension.as_deref() {
            _ if lower.starts_with("run") => Some(0),
            Some("sh" | "bash") => Some(1),
            _ if lower.contains("makefile") => Some(2),
            _ if lower.starts_with("readme") => Some(3),
            Some("md" | "txt") => Some(4),
            _ => None,
        }
    };
    let mut files: Vec<(u8, Utf8PathBuf)> = entries
        .flatten()
        .filter(|entry| entry.metadata().is_ok_and(|about| about.is_file() && about.len() <= TEXT))
        .filter_map(|entry| Some((rank(entry.file_name())?, entry.path().to_owned())))
        .collect();
    files.sort();
    files.into_iter().take(TEXTS).filter_map(|(_, file)| read_text(file.as_std_path()).ok()).collect()
}

/// The arguments with which a text calls a program; none where none does.
fn arguments(program: &str, texts: &[String]) -> Option<String> {
    texts.iter().flat_map(|text| text.lines()).find_map(|line| {
        let mut words = line.trim().trim_start_matches(['$', '>', '`', '@', '#', ' ']).split_whitespace();
        let first = words.next()?;
        if first.strip_prefix("./").or_else(|| first.rsplit_once('/').map(|(_, name)| name)) != Some(program) {
            return None;
        }
        let plain =
            |word: &&str| !word.contains(['<', '>', '|', '&', ';', '$', '`', '[', ']', '(', ')', '"', '\'', '*']);
        let rest: Vec<&str> = words.collect();
        // `./app <n>` is a usage text.
        (!rest.is_empty() && rest.iter().all(plain)).then(|| rest.join(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_come_from_whoever_calls_the_program() {
        let texts = [
            "#!/bin/sh\n# usage: ./app <n>\n./other 3\n".to_owned(),
            "run: app\n\t./app 64 ../data/in.txt\n".to_owned(),
            "    $ ./tool -s 16\n".to_owned(),
        ];
        assert_eq!(arguments("app", &texts).as_deref(), Some("64 ../data/in.txt"));
        assert_eq!(arguments("tool", &texts).as_deref(), Some("-s 16"));
        assert_eq!(arguments("gone", &texts), None);
    }
}
