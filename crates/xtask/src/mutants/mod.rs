//! `cargo xtask mutants FOLDER…`: breaks correct programs in one place each and counts how many of the broken ones get a
//! finding. Each round breaks one place of every file, in a copy of the folder, and lints the copy once.

mod points;

use cudalint_engine::{Configuration, Engine, Request};
use cudalint_findings::Confidence;
pub use points::Kind;
use points::{Point, points};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rules that do not speak of what is broken here.
const ERROR_RULES: [&str; 4] =
    ["unchecked-api-call", "unchecked-launch", "async-error-never-observed", "defective-check-macro"];

/// Findings of a file: rule, line, whether definite.
type Findings = BTreeSet<(&'static str, u32, bool)>;

#[derive(Default)]
struct Counts {
    all: usize,
    definite: usize,
    likely: usize,
}

/// Breaks at most `rounds` places of each kind (of all, where none is named) in every `.cu` file below the folders.
///
/// # Errors
/// When files cannot be copied or a run is impossible.
pub fn run(folders: &[PathBuf], rounds: usize, survivors: usize, kinds: &[Kind]) -> Result<(), String> {
    let mut counts: BTreeMap<Kind, Counts> = BTreeMap::new();
    let mut alive = Vec::new();
    for folder in folders {
        let copy = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut files = Vec::new();
        copy_tree(folder, copy.path(), &mut files)?;
        let mut texts = BTreeMap::new();
        for file in &files {
            // What is not UTF-8 is left as it is.
            if let Ok(text) = fs::read_to_string(file) {
                let found = points(&text);
                if !found.is_empty() {
                    texts.insert(file.clone(), (text, found));
                }
            }
        }
        let before = lint(copy.path())?;
        for kind in Kind::ALL.into_iter().filter(|kind| kinds.is_empty() || kinds.contains(kind)) {
            for round in 0..rounds {
                let mut changed: Vec<(&PathBuf, &str, &Point)> = Vec::new();
                for (file, (text, points)) in &texts {
                    let own: Vec<&Point> = points.iter().filter(|point| point.kind == kind).collect();
                    // Spread over the file.
                    let step = own.len().div_ceil(rounds).max(1);
                    if let Some(point) = own.get(round * step) {
                        write(file, &point.apply(text))?;
                        changed.push((file, text, point));
                    }
                }
                if changed.is_empty() {
                    break;
                }
                let after = lint(copy.path())?;
                for (file, text, point) in changed {
                    write(file, text)?;
                    let counts = counts.entry(kind).or_default();
                    counts.all += 1;
                    let none = Findings::new();
                    let old = before.get(file).unwrap_or(&none);
                    let new: Vec<_> = after.get(file).unwrap_or(&none).difference(old).collect();
                    if new.iter().any(|(_, _, definite)| *definite) {
                        counts.definite += 1;
                    } else if !new.is_empty() {
                        counts.likely += 1;
                    } else {
                        let path = file.strip_prefix(copy.path()).unwrap_or(file);
                        let at = folder.join(path);
                        alive.push((kind, format!("{}:{}: {}", at.display(), point.line(text), point.text)));
                    }
                }
            }
        }
    }
    let share = |part: usize, all: usize| if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 };
    for (kind, Counts { all, definite, likely }) in &counts {
        println!(
            "{}: {all} mutants, {definite} definite ({:.0} %), {likely} likely ({:.0} %)",
            kind.words(),
            share(*definite, *all),
            share(*likely, *all)
        );
    }
    // Evenly spread, so that no file and no kind fills the sample.
    let step = alive.len().div_ceil(survivors.max(1)).max(1);
    for (kind, place) in alive.iter().step_by(step) {
        println!("alive: {}: {place}", kind.words());
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies the sources below a folder; `.cu` files go into `files`.
fn copy_tree(from: &Path, to: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let mut open = vec![PathBuf::new()];
    while let Some(relative) = open.pop() {
        let folder = from.join(&relative);
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = relative.join(entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() && cudalint_syntax::FileKind::of(&path).is_some() {
                let target = to.join(&path);
                if let Some(parent) = target.parent() {
                    fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
                }
                fs::copy(from.join(&path), &target).map_err(|error| format!("{}: {error}", target.display()))?;
                if path.extension().is_some_and(|extension| extension == "cu") {
                    files.push(target);
                }
            }
        }
    }
    files.sort();
    Ok(())
}

fn lint(folder: &Path) -> Result<BTreeMap<PathBuf, Findings>, String> {
    let request =
        Request { paths: vec![folder.to_owned()], configuration: Configuration::Isolated, ..Request::default() };
    let outcome = Engine::new(cudalint_rules::RULES).check(&request, &|_| {}).map_err(|error| error.to_string())?;
    let mut all: BTreeMap<PathBuf, Findings> = BTreeMap::new();
    for finding in &outcome.report.findings {
        if finding.confidence == Confidence::Possible || ERROR_RULES.contains(&finding.rule.name) {
            continue;
        }
        let line = outcome.report.sources.start(&finding.place).line;
        let definite = finding.confidence == Confidence::Definite;
        // What stands in a header counts for the file that launches it, too.
        let related = finding.related.iter().map(|label| &label.place.path);
        let files: BTreeSet<&str> = related.chain([&finding.place.path]).map(|path| &**path).collect();
        for file in files {
            all.entry(PathBuf::from(file)).or_default().insert((finding.rule.name, line, definite));
        }
    }
    Ok(all)
}
