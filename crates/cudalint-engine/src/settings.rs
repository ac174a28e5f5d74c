//! The settings file: `cudalint.toml`, or `[tool.cudalint]` in `pyproject.toml`. Read into data, and checked so that
//! every mistake is reported with its file, line, key and the nearest right name.

use crate::rule::Rule;
use crate::selectors;
use cudalint_findings::Severity;
use cudalint_syntax::preprocessor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Settings of one project.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// Which rules run, and how bad their findings are.
    pub lint: LintSettings,
    /// Globs, relative to this file, of what is neither linted nor indexed unless it is named on the command line.
    pub exclude: Vec<String>,
    /// Architectures to judge limits by, as in `["sm_80", "sm_90"]`. Without it, those of `compile_commands.json`, and
    /// without that, `sm_80` and newer.
    pub arch: Vec<String>,
    /// How sources are read.
    pub parse: ParseSettings,
    /// The index of the project.
    pub index: IndexSettings,
    /// How the project is built and run, for `cudalint verify`.
    pub verify: VerifySettings,
    /// Rules that are on or off below certain paths.
    #[serde(rename = "override", skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<Override>,
    /// A baseline, relative to this file: findings that it lists are not reported. `cudalint --write-baseline` writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// What output says.
    pub output: OutputSettings,
    /// The folder for the cache, below the project's root. Without it, `.cudalint_cache` there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_dir: Option<String>,
}

/// `[output]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputSettings {
    /// Where the pages of the rules lie, for links: the page of a rule is at this, its group and its name with `.md`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules_url: Option<String>,
}

/// `[lint]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LintSettings {
    /// Rules and groups (or `all`) that run. Without it: the groups correctness, suspicious and portability.
    pub select: Vec<String>,
    /// Rules and groups that do not run.
    pub ignore: Vec<String>,
    /// Levels by rule or group. A level other than `off` also turns the rule on.
    pub levels: BTreeMap<String, Level>,
    /// The least confidence that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_confidence: Option<MinConfidence>,
}

/// `[parse]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParseSettings {
    /// Macros that stand in front of declarations and mean nothing to the analysis: `["MYLIB_API"]`.
    pub declaration_macros: Vec<String>,
    /// Folders, relative to this file, in which `#include`s are looked for.
    pub include_paths: Vec<String>,
    /// Macros that are defined from outside: `["NDEBUG", "BLOCK=256"]`.
    pub defines: Vec<String>,
    /// Macros that are surely not defined, also where the build would: `["USE_DOUBLE"]`.
    pub undefines: Vec<String>,
    /// Version of the CUDA toolkit, as in `"12.8"`, which `CUDART_VERSION` and its like tell. Without it, that of the
    /// paths in `compile_commands.json`, and without that, 12.4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolkit: Option<String>,
    /// Standard of C++, as in `"c++20"`, which `__cplusplus` tells. Without it, that of `compile_commands.json`, and
    /// without that, C++17.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard: Option<String>,
}

impl ParseSettings {
    /// Major and minor version of the toolkit.
    pub fn toolkit(&self) -> Option<(u32, u32)> {
        preprocessor::version_of(self.toolkit.as_deref()?)
    }

    /// The value of `__cplusplus`.
    pub fn standard(&self) -> Option<u32> {
        preprocessor::standard_of(self.standard.as_deref()?)
    }
}

/// `[index]`.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct IndexSettings {
    /// Bytes of sources up to which the whole project is indexed; above it, only the paths given and what they include.
    pub max_bytes: u64,
}

impl Default for IndexSettings {
    fn default() -> Self {
        Self { max_bytes: 64 << 20 }
    }
}

/// `[verify]`: commands as a shell reads them, which start in this file's folder. `{build}` in them is a folder of their
/// own; without it the folder is copied, and the copy is built.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerifySettings {
    /// What removes what an earlier build has left: `"make clean"`.
    pub clean: Option<String>,
    /// What builds: `"make"`, `"cmake -S . -B {build} && cmake --build {build}"`.
    pub build: Option<String>,
    /// What runs what was built, one after the other: `["./app small.txt"]`, `["ctest --test-dir {build}"]`.
    pub run: Vec<String>,
    /// The same for folders below this file's, in which their commands start; the first that holds a file counts.
    pub folder: Vec<VerifyFolder>,
}

/// One `[[verify.folder]]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerifyFolder {
    /// The folder, relative to this file.
    pub path: String,
    /// As in `[verify]`.
    pub clean: Option<String>,
    /// As in `[verify]`.
    pub build: Option<String>,
    /// As in `[verify]`.
    pub run: Vec<String>,
}

/// One `[[override]]`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Override {
    /// Globs relative to this file.
    pub paths: Vec<String>,
    /// Rules and groups that run there, whatever holds elsewhere.
    pub select: Vec<String>,
    /// Rules and groups that do not run there.
    pub ignore: Vec<String>,
}

/// How bad a rule's findings are, or that it is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Level {
    Error,
    Warning,
    Info,
    Off,
}

impl Level {
    /// As a severity; `None` for off.
    pub const fn severity(self) -> Option<Severity> {
        match self {
            Self::Error => Some(Severity::Error),
            Self::Warning => Some(Severity::Warning),
            Self::Info => Some(Severity::Info),
            Self::Off => None,
        }
    }
}

/// The least confidence that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum MinConfidence {
    Definite,
    Likely,
    Possible,
}

/// A settings file that was read.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// What it says.
    pub settings: Settings,
    /// The file; `None` for the defaults.
    pub file: Option<PathBuf>,
}

impl Loaded {
    /// The baseline that they name.
    pub fn baseline(&self) -> Option<PathBuf> {
        let folder = self.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        self.settings.baseline.as_ref().map(|name| folder.join(name))
    }
}

/// What is wrong with a settings file.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{}:{line}: {problem}", path.display())]
pub struct SettingsError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, in bytes of the text; the start where no place is known.
    pub range: Range<usize>,
    /// The key and what is wrong with it.
    pub problem: String,
}

/// `pyproject.toml`, as far as it concerns cudalint.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Pyproject {
    tool: Tool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tool {
    cudalint: Option<Settings>,
}

/// Reads the text of a settings file. A file called `pyproject.toml` is read at its table `[tool.cudalint]`; the result
/// is `None` when it has none.
///
/// # Errors
/// When the text is not TOML, or a key or value is not known.
pub fn parse(path: &Path, text: &str, rules: &[&Rule]) -> Result<Option<Settings>, SettingsError> {
    let pyproject = path.file_name().is_some_and(|name| name == "pyproject.toml");
    let error = |at: Option<Range<usize>>, problem: String| {
        let range = at.unwrap_or(0..0);
        let line = text.get(..range.start).map_or(1, |before| before.matches('\n').count() + 1);
        SettingsError { path: path.to_owned(), line, range, problem }
    };
    let document =
        DeTable::parse(text).map_err(|problem| error(problem.span(), format!("not TOML: {}", problem.message())))?;
    let read = if pyproject {
        toml::from_str::<Pyproject>(text).map(|pyproject| pyproject.tool.cudalint)
    } else {
        toml::from_str::<Settings>(text).map(Some)
    };
    let settings = read.map_err(|problem| {
        let at = problem.span();
        let start = at.as_ref().map_or(0, |span| span.start);
        error(at, describe(document.get_ref(), start, problem.message()))
    })?;
    let Some(settings) = settings else { return Ok(None) };
    let prefix: &[&str] = if pyproject { &["tool", "cudalint"] } else { &[] };
    let fail = |key: &[&str], value: &str, problem: String| {
        let keys: Vec<&str> = prefix.iter().chain(key).copied().collect();
        let at = locate(document.get_ref(), &keys, value);
        error(at, format!("`{}`: {problem}", keys.join(".")))
    };
    for (key, list) in [("select", &settings.lint.select), ("ignore", &settings.lint.ignore)] {
        for name in list {
            selectors::selector(rules, name).map_err(|problem| fail(&["lint", key], name, problem))?;
        }
    }
    for name in settings.lint.levels.keys() {
        selectors::selector(rules, name).map_err(|problem| fail(&["lint", "levels"], name, problem))?;
    }
    for entry in &settings.overrides {
        for (key, names) in [("select", &entry.select), ("ignore", &entry.ignore)] {
            for name in names {
                selectors::selector(rules, name).map_err(|problem| fail(&["override", key], name, problem))?;
            }
        }
        for glob in &entry.paths {
            globset::Glob::new(glob)
                .map_err(|problem| fail(&["override", "paths"], glob, format!("not a glob: {problem}")))?;
        }
    }
    for glob in &settings.exclude {
        globset::Glob::new(glob).map_err(|problem| fail(&["exclude"], glob, format!("not a glob: {problem}")))?;
    }
    if let (Some(version), None) = (&settings.parse.toolkit, settings.parse.toolkit()) {
        return Err(fail(&["parse", "toolkit"], version, "not a version; write it as `12.8`".to_owned()));
    }
    if let (Some(name), None) = (&settings.parse.standard, settings.parse.standard()) {
        return Err(fail(&["parse", "standard"], name, "not a standard of C++; write it as `c++20`".to_owned()));
    }
    if let Some(folder) = &settings.cache_dir
        && !Path::new(folder).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        let problem = "no folder below the project's root; `--cache-dir` may name any".to_owned();
        return Err(fail(&["cache-dir"], folder, problem));
    }
    for arch in &settings.arch {
        architecture(arch).map_err(|problem| fail(&["arch"], arch, problem))?;
    }
    Ok(Some(settings))
}

/// `sm_90a`, `compute_80`, `90` as `major * 10 + minor`.
///
/// # Errors
/// With a sentence, when it is not an architecture.
pub fn architecture(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
    let digits = digits.strip_suffix(['a', 'f']).unwrap_or(digits);
    match digits.parse::<u32>() {
        Ok(number) if cudalint_program::arch::limits(number).is_some() => Ok(number),
        Ok(_) => Err(format!("`{text}` is not an architecture that cudalint knows")),
        Err(_) => Err(format!("`{text}` is not an architecture; write it as `sm_80`")),
    }
}

/// Words for a mistake that the deserializer found, with the key it concerns.
fn describe(document: &DeTable<'_>, at: usize, message: &str) -> String {
    let keys = keys_at(document, at);
    let key = keys.join(".");
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut quoted = rest.split('`').skip(1).step_by(2);
        let wrong = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        let parent = keys.iter().take(keys.len().saturating_sub(1)).map(String::as_str).collect::<Vec<_>>();
        let full = parent.iter().copied().chain([wrong]).collect::<Vec<_>>().join(".");
        return match selectors::nearest(wrong, known.iter().copied()) {
            Some(near) => format!("`{full}`: unknown key; did you mean `{near}`?"),
            None => format!("`{full}`: unknown key; known here: {}", known.join(", ")),
        };
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let mut quoted = rest.split('`').skip(1).step_by(2);
        let wrong = quoted.next().unwrap_or_default();
        let known: Vec<&str> = quoted.collect();
        return match selectors::nearest(wrong, known.iter().copied()) {
            Some(near) => format!("`{key}`: unknown value `{wrong}`; did you mean `{near}`?"),
            None => format!("`{key}`: unknown value `{wrong}`; known: {}", known.join(", ")),
        };
    }
    let said = message.replace("a sequence", "a list").replace("sequence", "list").replace("a map", "a table");
    if key.is_empty() { said } else { format!("`{key}`: {said}") }
}

/// The dotted key whose name or value covers an offset.
fn keys_at(table: &DeTable<'_>, at: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut table = table;
    'down: loop {
        // A header `[lint]` gives the table a span of its own that may not cover its entries, so children go first.
        let mut covering: Option<(&str, &DeValue<'_>)> = None;
        for (key, value) in table {
            if key.span().contains(&at) || covers(value.get_ref(), &value.span(), at) {
                covering = Some((key.get_ref(), value.get_ref()));
                if !value.span().contains(&at) || value.get_ref().as_table().is_some() {
                    break;
                }
            }
        }
        let Some((key, value)) = covering else { return keys };
        keys.push(key.to_owned());
        let mut inner = value;
        loop {
            match inner {
                DeValue::Table(below) => {
                    table = below;
                    continue 'down;
                }
                DeValue::Array(list) => {
                    let Some(item) = list.iter().find(|item| covers(item.get_ref(), &item.span(), at)) else {
                        return keys;
                    };
                    inner = item.get_ref();
                }
                _ => return keys,
            }
        }
    }
}

/// Whether a value, or anything inside it, lies over an offset. The nesting of a TOML text is bounded by its parser.
fn covers(value: &DeValue<'_>, span: &Range<usize>, at: usize) -> bool {
    if span.contains(&at) {
        return true;
    }
    match value {
        DeValue::Table(table) => {
            table.iter().any(|(key, value)| key.span().contains(&at) || covers(value.get_ref(), &value.span(), at))
        }
        DeValue::Array(list) => list.iter().any(|item| covers(item.get_ref(), &item.span(), at)),
        _ => false,
    }
}

/// The place of the string `value` (or of the key `value`) at or below a dotted key.
fn locate(table: &DeTable<'_>, keys: &[&str], value: &str) -> Option<Range<usize>> {
    let Some((first, rest)) = keys.split_first() else {
        return table.iter().find(|(key, _)| key.get_ref() == value).map(|(key, _)| key.span());
    };
    let (_, found) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match found.get_ref() {
        DeValue::Table(below) => locate(below, rest, value),
        DeValue::Array(list) => list.iter().find_map(|item| match item.get_ref() {
            DeValue::Table(below) => locate(below, rest, value),
            other => (other.as_str() == Some(value)).then(|| item.span()),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn problem(file: &str, text: &str) -> String {
        parse(Path::new(file), text, &[]).unwrap_err().to_string()
    }

    #[test]
    fn a_mistake_is_told_with_its_line_key_and_the_nearest_name() {
        assert_eq!(
            problem("cudalint.toml", "arch = [\"sm_80\"]\n[lint]\nselct = []\n"),
            "cudalint.toml:3: `lint.selct`: unknown key; did you mean `select`?"
        );
        assert_eq!(
            problem("cudalint.toml", "[lint]\nselect = 3\n"),
            "cudalint.toml:2: `lint.select`: invalid type: integer `3`, expected a list"
        );
        assert_eq!(
            problem("cudalint.toml", "[lint.levels]\ncorrectness = \"eror\"\n"),
            "cudalint.toml:2: `lint.levels.correctness`: unknown value `eror`; did you mean `error`?"
        );
        assert_eq!(
            problem("cudalint.toml", "[lint]\nselect = [\n  \"all\",\n  \"corectness\",\n]\n"),
            "cudalint.toml:4: `lint.select`: there is no rule or group `corectness`; did you mean `correctness`?"
        );
        assert_eq!(
            problem("cudalint.toml", "\n[[override]]\npaths = [\"a/**\"]\nignore = [\"pedantc\"]\n"),
            "cudalint.toml:4: `override.ignore`: there is no rule or group `pedantc`; did you mean `pedantic`?"
        );
        assert_eq!(
            problem("pyproject.toml", "[tool.cudalint.index]\nmax-bytes = \"x\"\n"),
            "pyproject.toml:2: `tool.cudalint.index.max-bytes`: invalid type: string \"x\", expected u64"
        );
        assert_eq!(
            problem("cudalint.toml", "arch = [\"volta\"]\n"),
            "cudalint.toml:1: `arch`: `volta` is not an architecture; write it as `sm_80`"
        );
        assert!(problem("cudalint.toml", "a = = 1\n").starts_with("cudalint.toml:1: not TOML: "));
    }

    #[test]
    fn a_pyproject_without_the_table_has_no_settings() {
        assert!(parse(Path::new("pyproject.toml"), "[project]\nname = \"x\"\n", &[]).unwrap().is_none());
    }
}
