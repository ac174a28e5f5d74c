//! A baseline: the findings that a project had when it took cudalint up, so that only new ones are reported. A finding is known by
//! its file, its rule, its function and the flagged text, and not by its line; of several that are alike in all of that, as many
//! are known as were counted. A file or a function that has moved takes its findings along.

use crate::levels::Levels;
use crate::paths::{display, display_from, real_path, shown_path};
use cudalint_files::read_text;
use cudalint_findings::fingerprint::content;
use cudalint_findings::names;
use cudalint_findings::{Finding, Report, Sources};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the file's form.
const VERSION: u32 = 1;

/// Which baseline holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BaselineChoice {
    /// That of each project's settings.
    #[default]
    Settings,
    /// None.
    None,
    /// This file.
    File(PathBuf),
}

/// Findings that are known, all alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Their file, as seen from the baseline's folder, with `/`.
    pub path: String,
    /// Their rule.
    pub rule: String,
    /// Their function; empty at file scope.
    #[serde(default)]
    pub function: String,
    /// What they are, wherever they stand: [`content`].
    pub fingerprint: String,
    /// How many there are.
    #[serde(default = "one")]
    pub count: usize,
}

const fn one() -> usize {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

/// The known findings of a file.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The file.
    pub file: PathBuf,
    folder: PathBuf,
    entries: Vec<Entry>,
}

/// What a baseline did to a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Its file.
    pub file: PathBuf,
    /// How many findings it kept quiet.
    pub hidden: usize,
    /// What it lists and this run would have found, but did not; each with how many are missing.
    pub gone: Vec<Entry>,
}

/// What a run looked at.
#[derive(Default)]
pub(crate) struct Checked {
    /// Real paths of reported files, each with the place of its levels.
    pub files: FxHashMap<PathBuf, usize>,
    pub levels: Vec<Levels>,
    /// Whether every confidence that the settings want was wanted.
    pub whole: bool,
}

fn folder_of(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    real_path(folder)
}

impl Baseline {
    /// Reads a baseline.
    ///
    /// # Errors
    /// With a sentence, when it cannot be read or is none.
    pub fn read(file: &Path) -> Result<Self, String> {
        let name = file.display();
        let text = read_text(file).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                format!("baseline {name}: there is no such file; `cudalint --write-baseline {name}` writes it")
            }
            _ => format!("baseline {name}: cannot be read: {error}"),
        })?;
        let document: Document = serde_json::from_str(&text)
            .map_err(|error| format!("baseline {name}: not a baseline: {error}; `--write-baseline` writes one"))?;
        if document.version != VERSION {
            let version = document.version;
            return Err(format!(
                "baseline {name}: of version {version}, and this cudalint reads version {VERSION}: write it anew with `--write-baseline`"
            ));
        }
        Ok(Self { file: file.to_owned(), folder: folder_of(file), entries: document.findings })
    }

    /// The findings of a report as a baseline that will be kept in `file`.
    pub fn of(report: &Report, file: &Path) -> Self {
        let folder = folder_of(file);
        let mut counts: BTreeMap<(String, String, String, String), usize> = BTreeMap::new();
        for finding in &report.findings {
            let path = display_from(&shown_path(&finding.place.path), &folder, false);
            let fingerprint = content(finding, &report.sources);
            let key = (path, finding.rule.name.to_owned(), finding.function.clone(), fingerprint);
            *counts.entry(key).or_default() += 1;
        }
        let entries = counts.into_iter().map(|((path, rule, function, fingerprint), count)| Entry {
            path,
            rule,
            function,
            fingerprint,
            count,
        });
        Self { file: file.to_owned(), entries: entries.collect(), folder }
    }

    /// How many findings it knows.
    pub fn len(&self) -> usize {
        self.entries.iter().map(|entry| entry.count).sum()
    }

    /// Whether it knows none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The text of the file: one entry a line, sorted, so that changes of two branches can be joined line by line.
    pub fn text(&self) -> String {
        let lines: Vec<String> = self
            .entries
            .iter()
            .filter_map(|entry| serde_json::to_string(entry).ok())
            .map(|it| format!("    {it}"))
            .collect();
        if lines.is_empty() {
            return format!("{{\n  \"version\": {VERSION},\n  \"findings\": []\n}}\n");
        }
        format!("{{\n  \"version\": {VERSION},\n  \"findings\": [\n{}\n  ]\n}}\n", lines.join(",\n"))
    }

    /// Takes known findings out of a list.
    pub(crate) fn hide(
        &self,
        findings: &mut Vec<Finding>,
        sources: &Sources,
        rules: &[&str],
        checked: &Checked,
    ) -> Known {
        let mut left: Vec<usize> = self.entries.iter().map(|entry| entry.count).collect();
        let paths: Vec<PathBuf> =
            self.entries.iter().map(|entry| real_path(&self.folder.join(names::path(&entry.path)))).collect();
        let mut exact: FxHashMap<(&Path, &str, &str), usize> = FxHashMap::default();
        for (index, (entry, path)) in self.entries.iter().zip(&paths).enumerate() {
            exact.insert((path, &entry.rule, &entry.fingerprint), index);
        }
        let take = |index: Option<usize>, left: &mut Vec<usize>| -> bool {
            let count = index.and_then(|index| left.get_mut(index)).filter(|count| **count > 0);
            count.map(|count| *count -= 1).is_some()
        };
        let before = findings.len();
        let mut real: FxHashMap<String, PathBuf> = FxHashMap::default();
        findings.retain(|finding| {
            let path = &*finding.place.path;
            let path = real.entry(path.to_owned()).or_insert_with(|| shown_path(path));
            let content = content(finding, sources);
            !take(exact.get(&(path.as_path(), finding.rule.name, content.as_str())).copied(), &mut left)
        });
        // What is known of a place where it is no more may have moved.
        let mut moved: FxHashMap<(&str, &str), Vec<usize>> = FxHashMap::default();
        for (index, (entry, path)) in self.entries.iter().zip(&paths).enumerate() {
            if left.get(index).is_some_and(|count| *count > 0) && (checked.files.contains_key(path) || !path.exists()) {
                moved.entry((&entry.rule, &entry.fingerprint)).or_default().push(index);
            }
        }
        if !moved.is_empty() {
            findings.retain(|finding| {
                let content = content(finding, sources);
                let places = moved.get(&(finding.rule.name, content.as_str()));
                !places.is_some_and(|places| places.iter().any(|index| take(Some(*index), &mut left)))
            });
        }
        let would_be_found = |entry: &Entry, path: &Path| {
            let Some(index) = rules.iter().position(|rule| *rule == entry.rule) else { return true };
            let levels = checked.files.get(path).and_then(|levels| checked.levels.get(*levels));
            match levels {
                Some(levels) => checked.whole && levels.runs(index),
                None => !path.exists(),
            }
        };
        let gone = self
            .entries
            .iter()
            .zip(&paths)
            .zip(left)
            .filter(|((entry, path), count)| *count > 0 && would_be_found(entry, path));
        let gone = gone.map(|((entry, _), count)| Entry { count, ..entry.clone() }).collect();
        Known { file: self.file.clone(), hidden: before - findings.len(), gone }
    }
}

impl Entry {
    /// `src/a.cu: unchecked-api-call in main`.
    pub fn words(&self) -> String {
        let of = if self.function.is_empty() { String::new() } else { format!(" in `{}`", self.function) };
        let times = if self.count == 1 { String::new() } else { format!(", {} times", self.count) };
        format!("{}: {}{of}{times}", display(&names::path(&self.path)), self.rule)
    }
}
