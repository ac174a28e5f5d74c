//! What is verified: the findings of a check of this process, or of a document that another machine wrote.

use crate::args::VerifyArgs;
use crate::check;
use camino::Utf8PathBuf;
use cudalint_engine::Engine;
use cudalint_files::{read_file, read_text};
use cudalint_findings::model::{Document, FindingEntry, VERSION};
use cudalint_findings::{Report, RuleInfo, Sources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Findings and where their files are.
pub struct Input {
    /// The findings.
    pub report: Report,
    /// The folder that their relative paths start from, absolute.
    pub root: Utf8PathBuf,
    /// Whether a check of this process has just made them.
    pub fresh: bool,
    /// What could not be read, in one line each.
    pub faults: Vec<String>,
}

/// Checks, or reads a document.
pub fn read(engine: &Engine, args: &VerifyArgs) -> Result<Input, String> {
    let documents: Vec<&PathBuf> =
        args.check.paths.iter().filter(|path| path.extension().is_some_and(|word| word == "json")).collect();
    match documents.as_slice() {
        [] => {
            let outcome = check::request(&args.check)
                .and_then(|request| check::lint(engine, &args.check, &request))
                .map_err(|error| error.0)?;
            let faults = outcome.faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
            Ok(Input { report: outcome.report, root: here()?, fresh: true, faults })
        }
        [file] if args.check.paths.len() == 1 => of_document(engine, file, args.sources.as_deref()),
        _ => Err("a findings document is verified alone: give no other paths with it".to_owned()),
    }
}

fn here() -> Result<Utf8PathBuf, String> {
    let folder = std::env::current_dir().map_err(|error| format!("the current folder is not known: {error}"))?;
    Utf8PathBuf::from_path_buf(folder).map_err(|path| format!("{}: the path is not UTF-8", path.display()))
}

fn of_document(engine: &Engine, file: &Path, sources: Option<&Path>) -> Result<Input, String> {
    let text = read_text(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    let refused = |error: serde_json::Error| {
        format!(
            "{}: not a findings document: {error}; `cudalint check --output-format json` writes one",
            file.display()
        )
    };
    // A document of another version has other fields.
    let value: serde_json::Value = serde_json::from_str(&text).map_err(refused)?;
    if let Some(version) =
        value.get("version").and_then(serde_json::Value::as_u64).filter(|it| *it != u64::from(VERSION))
    {
        return Err(format!(
            "{}: a findings document of version {version}, and this cudalint reads version {VERSION}: lint again with this \
             cudalint (`cudalint check --output-format json`), or verify the sources themselves",
            file.display()
        ));
    }
    let document: Document = serde_json::from_value(value).map_err(refused)?;
    let root = root_of(&document, file, sources)?;
    let mut texts = Sources::new();
    let mut missing = Vec::new();
    for path in paths(&document) {
        match read_file(root.join(path).as_std_path()) {
            Ok(bytes) => cudalint_engine::add_text(&mut texts, path, &bytes),
            Err(error) => missing.push(format!("{}: cannot be read: {error}", root.join(path))),
        }
    }
    let own: BTreeSet<&str> = document.findings.iter().map(|finding| finding.path.as_str()).collect();
    if !own.is_empty() && own.iter().all(|path| texts.get(path).is_none()) {
        return Err(format!(
            "{}: none of the files that it names is below {root}; name their folder with --sources",
            file.display()
        ));
    }
    let report = document.restore(texts, &|entry| info(engine, entry));
    Ok(Input { report, root, fresh: false, faults: missing })
}

/// Every path that a document names.
fn paths(document: &Document) -> BTreeSet<&str> {
    let mut all = BTreeSet::new();
    for finding in &document.findings {
        all.insert(finding.path.as_str());
        all.extend(finding.related.iter().map(|related| related.path.as_str()));
        all.extend(finding.claim.places().into_iter().map(|site| site.path.as_str()));
        if let Some(witness) = &finding.witness {
            all.extend(witness.path.iter().map(|step| step.path.as_str()));
        }
        all.extend(finding.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.path.as_str()));
    }
    all
}

/// The folder that the document's paths start from: as given, else here, else beside the document.
fn root_of(document: &Document, file: &Path, given: Option<&Path>) -> Result<Utf8PathBuf, String> {
    let here = here()?;
    if let Some(folder) = given {
        let folder = here.as_std_path().join(folder);
        if !folder.is_dir() {
            return Err(format!("--sources {}: no such folder", folder.display()));
        }
        return Utf8PathBuf::from_path_buf(folder).map_err(|path| format!("{}: the path is not UTF-8", path.display()));
    }
    let holds = |root: &Utf8PathBuf| document.findings.iter().any(|finding| root.join(&finding.path).is_file());
    if holds(&here) {
        return Ok(here);
    }
    let beside = file.parent().and_then(|folder| Utf8PathBuf::from_path_buf(here.as_std_path().join(folder)).ok());
    Ok(beside.filter(holds).unwrap_or(here))
}

/// What is known of an entry's rule. A rule that this cudalint does not have is described by the entry.
fn info(engine: &Engine, entry: &FindingEntry) -> &'static RuleInfo {
    let group = entry.group;
    if let Some(rule) = engine.rules().iter().find(|rule| rule.info.name == entry.rule)
        && rule.info.method == entry.verification.method
        && rule.info.group == group
    {
        return &rule.info;
    }
    // A few bytes for each finding of a rule that is not ours, for as long as the program runs.
    Box::leak(Box::new(RuleInfo {
        name: Box::leak(entry.rule.clone().into_boxed_str()),
        group,
        summary: "",
        page: "",
        method: entry.verification.method,
        guidelines: &[],
        cwe: None,
    }))
}
