//! Python in the runs of a project: the driver comes into each one that the commands start, and writes down what it comes to.

use crate::lab::{Bench, head_of};
use crate::script_driver;
use crate::tools::traceback::{self, Frame};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use std::collections::HashSet;

/// The variable that names the files of what is come to.
pub(super) const REACHED: &str = "CUDALINT_REACHED";
/// Bytes of one of these files that are read.
const MAX_LOG: u64 = 64 << 20;

/// Writes the driver for all runs of a build.
///
/// # Errors
/// Those of the file system.
pub(super) fn write(bench: &Bench<'_>) -> std::io::Result<Utf8PathBuf> {
    for (name, text) in script_driver::files() {
        bench.write(&Utf8Path::new("python").join(name), text)?;
    }
    Ok(bench.folder.join("python"))
}

/// The variables by which Python finds the driver, and the driver the project.
pub(super) fn environment(driver: &Utf8Path, folders: [&Utf8PathBuf; 2]) -> Vec<(String, String)> {
    let mark = if cfg!(windows) { ";" } else { ":" };
    let set = |name: &str, value: String| (name.to_owned(), value);
    let own = std::env::var("PYTHONPATH").ok().filter(|own| !own.is_empty());
    let path = own.map_or_else(|| driver.to_string(), |own| format!("{driver}{mark}{own}"));
    vec![
        set("PYTHONPATH", path),
        // What was compiled with hooks is no other run's.
        set("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
        set("PYTHONIOENCODING", "utf-8".to_owned()),
        set("PYTHONUNBUFFERED", "1".to_owned()),
        set("NO_COLOR", "1".to_owned()),
        set("CUDALINT_PROJECT", folders.map(ToString::to_string).join(mark)),
    ]
}

/// What the Python programs of a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Python programs that ran.
    pub programs: usize,
    lines: HashSet<(String, u32)>,
    launched: HashSet<(String, String)>,
    /// Exceptions, in their order, whoever caught them.
    pub raised: Vec<Raised>,
}

/// An exception, at the innermost line of the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    /// The file, as findings name it.
    pub path: String,
    /// The line.
    pub line: u32,
    /// Its class without the package.
    pub class: String,
    /// Its words in one line.
    pub words: String,
}

/// A line of the driver's file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fact {
    began: Option<u32>,
    reached: Option<(String, u32)>,
    launched: Option<(String, String)>,
    raised: Option<(String, u32, String, String)>,
}

impl Reached {
    /// Reads the files of a run's programs; `shown` gives a text with paths as findings name them.
    pub(super) fn read(files: &[Utf8PathBuf], shown: impl Fn(&str) -> String) -> Self {
        let mut found = Self::default();
        for file in files {
            found.add(&shown(&head_of(file, MAX_LOG)));
        }
        found
    }

    fn add(&mut self, text: &str) {
        for fact in text.lines().filter_map(|line| serde_json::from_str::<Fact>(line).ok()) {
            self.programs += usize::from(fact.began.is_some());
            self.lines.extend(fact.reached);
            self.launched.extend(fact.launched);
            self.raised.extend(fact.raised.map(|(path, line, class, words)| Raised { path, line, class, words }));
        }
    }

    /// Whether one of these lines of a file ran.
    pub fn ran(&self, path: &str, (first, last): (u32, u32)) -> bool {
        (first..=last).any(|line| self.lines.contains(&(path.to_owned(), line)))
    }

    /// The exceptions in a file, as of a script at `script` that stands for it.
    pub(crate) fn exceptions(&self, path: &str, script: &Utf8Path) -> Vec<traceback::Raised> {
        let of_file = self.raised.iter().filter(|raised| raised.path == path);
        let as_read = |raised: &Raised| traceback::Raised {
            class: raised.class.clone(),
            message: raised.words.clone(),
            frames: vec![Frame { path: script.to_string(), line: raised.line, function: None }],
        };
        of_file.map(as_read).collect()
    }

    /// Whether a kernel was launched: of this name, and of this file where it is a function of Python.
    pub fn launched(&self, path: &str, kernel: &str) -> bool {
        ["", path].iter().any(|path| self.launched.contains(&((*path).to_owned(), kernel.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::Reached;

    #[test]
    fn a_program_that_was_ended_in_the_middle_of_a_line_is_read_to_there() {
        let mut reached = Reached::default();
        reached.add(
            "{\"began\": 1}\n{\"reached\": [\"app/ops.py\", 7]}\n{\"launched\": [\"app/ops.py\", \"scale\"]}\n\
             {\"launched\": [\"\", \"raw\"]}\n{\"raised\": [\"app/ops.py\", 9, \"ValueError\", \"too large\"]}\n{\"rea",
        );
        assert_eq!(reached.programs, 1);
        assert!(reached.ran("app/ops.py", (6, 8)) && !reached.ran("app/ops.py", (8, 9)));
        assert!(reached.launched("app/ops.py", "scale") && !reached.launched("tests/ops.py", "scale"));
        assert!(reached.launched("tests/ops.py", "raw"));
        assert_eq!(reached.raised[0].class, "ValueError");
    }
}
