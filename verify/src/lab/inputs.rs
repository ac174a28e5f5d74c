//! What a compiler reads of a scenario's own files: two builds are the same only when all of it is.

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_file;
use std::collections::BTreeMap;

/// Files that are looked into for the files that they include.
const FILES: usize = 2000;
/// Folders below a scenario's that are looked into.
const DEPTH: usize = 4;

/// Files below a scenario's folder, by their paths from there, each with its bytes.
pub(super) type Inputs = BTreeMap<Utf8PathBuf, Vec<u8>>;

/// The files below `folder` that a build may read: its units, what they include, and files that its flags name.
pub(super) fn of(folder: &Utf8Path, units: &[Utf8PathBuf], flags: &[String]) -> Inputs {
    let mut search = Search { folder, include: vec![folder.to_owned()], inputs: Inputs::new(), seen: Vec::new() };
    let mut wanted: Vec<Utf8PathBuf> = units.iter().map(|unit| folder.join(unit)).collect();
    for flag in flags {
        // `-Idir`, `-I dir`, `-include file`, `--options-file=file`, `-Xlinker=…`: what names something is something.
        let value = flag.strip_prefix("-I").or_else(|| flag.split_once('=').map(|(_, value)| value)).unwrap_or(flag);
        for part in value.split(',') {
            let path = folder.join(part);
            if path.is_dir() {
                search.include.push(path);
            } else if path.is_file() {
                wanted.push(path);
            }
        }
    }
    search.follow(wanted);
    // A library is named without its file's name.
    if flags.iter().any(|flag| flag.starts_with("-l") && !flag.starts_with("-lineinfo")) {
        search.take_all(folder, DEPTH, &|file| matches!(file.extension(), Some("a" | "so")));
    }
    search.inputs
}

/// Flags without the scenario's own place in them, so that two scenarios can have the same. Where libraries lie is another
/// matter: a program looks for them when it runs.
pub(super) fn placeless(folder: &Utf8Path, words: &[String]) -> Vec<String> {
    let of_linker = |word: &str| word.starts_with("-L") || word.contains("rpath") || word.contains("-Wl,");
    let inside = format!("{folder}/");
    let placeless = |word: &String| match word.strip_suffix(folder.as_str()) {
        _ if of_linker(word) => word.clone(),
        Some(before) => format!("{before}."),
        None => word.replace(&inside, "./"),
    };
    words.iter().map(placeless).collect()
}

struct Search<'folder> {
    folder: &'folder Utf8Path,
    /// Where included files are looked for, beside the includer's folder.
    include: Vec<Utf8PathBuf>,
    inputs: Inputs,
    seen: Vec<Utf8PathBuf>,
}

impl Search<'_> {
    /// Takes in these files and those that they include. Files outside the folder stay the same during a run and are
    /// only looked through.
    fn follow(&mut self, mut wanted: Vec<Utf8PathBuf>) {
        while let Some(file) = wanted.pop() {
            if self.seen.contains(&file) || self.seen.len() >= FILES {
                continue;
            }
            self.seen.push(file.clone());
            let Ok(bytes) = read_file(file.as_std_path()) else { continue };
            for name in included(&String::from_utf8_lossy(&bytes)) {
                let Some(name) = name else {
                    // A name that a macro makes: it can be any file.
                    self.take_all(self.folder, DEPTH, &is_source);
                    continue;
                };
                let beside = file.parent().map(|parent| parent.join(&name));
                let others = self.include.iter().map(|folder| folder.join(&name));
                wanted.extend(beside.into_iter().chain(others).filter(|path| path.is_file()));
            }
            if let Ok(inside) = file.strip_prefix(self.folder) {
                self.inputs.insert(inside.to_owned(), bytes);
            }
        }
    }

    /// Takes in all files of a kind.
    fn take_all(&mut self, folder: &Utf8Path, depth: usize, kind: &dyn Fn(&Utf8Path) -> bool) {
        let Ok(entries) = folder.read_dir_utf8() else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                if depth > 0 {
                    self.take_all(path, depth - 1, kind);
                }
            } else if kind(path)
                && let (Ok(inside), Ok(bytes)) = (path.strip_prefix(self.folder), read_file(path.as_std_path()))
            {
                self.inputs.insert(inside.to_owned(), bytes);
            }
        }
    }
}

/// What a text's `#include` lines name; none for one whose name a macro makes.
fn included(text: &str) -> Vec<Option<String>> {
    let mut names = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.strip_prefix("_next").unwrap_or(rest).trim_start();
        let quoted = |open: char, close: char| {
            rest.strip_prefix(open).and_then(|rest| rest.split_once(close)).map(|(name, _)| name.to_owned())
        };
        let name = quoted('"', '"').or_else(|| quoted('<', '>'));
        if name.is_some() || !rest.is_empty() {
            names.push(name);
        }
    }
    names
}

/// Whether a compiler may read this file, by its name.
fn is_source(file: &Utf8Path) -> bool {
    let extensions = ["cu", "cuh", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "tpp", "c", "cc", "cpp", "cxx"];
    file.extension().is_some_and(|extension| extensions.contains(&extension))
}

#[cfg(test)]
mod tests {
    use super::{included, placeless};

    #[test]
    fn the_scenarios_place_does_not_make_a_difference() {
        let words =
            ["-I/o/s", "-include", "/o/s/probe.h", "-I/o/sub", "-L/o/s", "-Xlinker=-rpath=/o/s"].map(str::to_owned);
        let placeless = placeless("/o/s".into(), &words);
        assert_eq!(placeless, ["-I.", "-include", "./probe.h", "-I/o/sub", "-L/o/s", "-Xlinker=-rpath=/o/s"]);
    }

    #[test]
    fn includes_are_read_as_they_are_written() {
        let text =
            "#include \"a.h\"\n  #  include <b/c.cuh> // why\n#include NAME\nint include;\n#define include \"x\"\n";
        assert_eq!(included(text), [Some("a.h".to_owned()), Some("b/c.cuh".to_owned()), None]);
    }
}
