//! `cargo xtask mutants FOLDER…`: breaks correct programs in one place each and counts how many of the broken ones get a
//! finding. Each round breaks one place of every file, in a copy of the folder, and lints the copy once.

mod counts;
mod hardware;
mod points;

use counts::Counts;
use cudalint_engine::{Basis, Configuration, Engine, Request};
use cudalint_findings::Confidence;
use hardware::{Broken, Shown};
pub use points::Kind;
use points::{Point, points};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Rules that do not speak of what is broken here.
const ERROR_RULES: [&str; 4] =
    ["unchecked-api-call", "unchecked-launch", "async-error-never-observed", "defective-check-macro"];

/// Rules that say that a kernel was not free of races before it was broken. Lanes of one warp that rely on running in step
/// are an idiom of their own.
const RACE_RULES: [&str; 3] = ["shared-memory-race", "shared-memory-race-across-iterations", "global-memory-race"];

/// Findings of a file: rule, line, whether definite.
type Findings = BTreeSet<(&'static str, u32, bool)>;

/// What a run over a folder says.
struct Said {
    findings: BTreeMap<PathBuf, Findings>,
    /// What of each file was executed, by the first byte of the place, and whether all of that was followed.
    executed: BTreeMap<(PathBuf, u32), (Basis, bool)>,
}

/// What had been seen of the place before it was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Facts,
    FirstBlock,
    Assumption,
    GuessedBlock,
    Racy,
    Nothing,
}

impl Before {
    const ALL: [Self; 6] =
        [Self::Facts, Self::FirstBlock, Self::Assumption, Self::GuessedBlock, Self::Racy, Self::Nothing];

    const fn words(self) -> &'static str {
        match self {
            Self::Facts => "executed with facts",
            Self::FirstBlock => "executed with facts, its first block alone",
            Self::Assumption => "executed with an assumption",
            Self::GuessedBlock => "executed with a guessed block",
            Self::Racy => "executed, with a race of its own",
            Self::Nothing => "not executed",
        }
    }
}

impl Said {
    /// Whether a broken place was executed on facts and followed in every step: where nothing shows then, the change does no
    /// harm there, as with a barrier that another one follows.
    fn is_harmless(&self, file: &Path, point: &Point) -> bool {
        self.executed
            .get(&(file.to_owned(), point.shown_by))
            .is_some_and(|(basis, whole)| *basis == Basis::Facts && *whole)
    }

    fn before(&self, file: &Path, text: &str, point: &Point) -> Before {
        let Some((basis, _)) = self.executed.get(&(file.to_owned(), point.shown_by)) else { return Before::Nothing };
        let (first, last) = point.lines(text);
        let findings = self.findings.get(file).into_iter().flatten();
        if findings.clone().any(|(rule, line, _)| RACE_RULES.contains(rule) && (first..=last).contains(line)) {
            return Before::Racy;
        }
        match basis {
            Basis::Facts => Before::Facts,
            Basis::FirstBlock => Before::FirstBlock,
            Basis::Assumption => Before::Assumption,
            Basis::GuessedBlock => Before::GuessedBlock,
        }
    }
}

/// Breaks at most `rounds` places of each kind (of all, where none is named) in every `.cu` file below the folders. With
/// `jobs`, the programs that can be built as they stand are run on this machine's GPU, broken and not, so many at a time.
///
/// # Errors
/// When files cannot be copied or a run is impossible.
pub fn run(
    folders: &[PathBuf],
    rounds: usize,
    survivors: usize,
    kinds: &[Kind],
    jobs: Option<usize>,
) -> Result<(), String> {
    let mut programs: Vec<Broken> = Vec::new();
    let mut counts: BTreeMap<(Kind, Before), Counts> = BTreeMap::new();
    let (mut alive, mut weak) = (Vec::new(), Vec::new());
    for folder in folders {
        let copy = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut files = Vec::new();
        copy_tree(folder, copy.path(), &mut files)?;
        let mut texts = BTreeMap::new();
        for file in &files {
            // What is not UTF-8 is left as it is.
            if let Ok(text) = cudalint_files::read_text(file) {
                let found = points(&text);
                if !found.is_empty() {
                    texts.insert(file.clone(), (text, found));
                }
            }
        }
        let unbroken = lint(copy.path())?;
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
                let broken = lint(copy.path())?;
                for (file, text, point) in changed {
                    write(file, text)?;
                    let before = unbroken.before(file, text, point);
                    let none = Findings::new();
                    let old = unbroken.findings.get(file).unwrap_or(&none);
                    let new: Vec<_> = broken.findings.get(file).unwrap_or(&none).difference(old).collect();
                    let definite = new.iter().any(|(_, _, definite)| *definite);
                    let likely = !definite && !new.is_empty();
                    let harmless = new.is_empty() && broken.is_harmless(file, point);
                    let one =
                        Counts { all: 1, definite: definite.into(), likely: likely.into(), harmless: harmless.into() };
                    counts.entry((kind, before)).or_default().add(one);
                    if jobs.is_some() {
                        let path = file.strip_prefix(copy.path()).unwrap_or(file).to_owned();
                        let line = point.line(text);
                        let text = point.apply(text);
                        programs.push(Broken { folder: folder.clone(), file: path, line, counts: one, kind, text });
                    }
                    if !definite && !harmless {
                        let path = file.strip_prefix(copy.path()).unwrap_or(file);
                        let at = folder.join(path);
                        let place = format!("{}:{}: {}", at.display(), point.line(text), point.text);
                        let rules: BTreeSet<&str> = new.iter().map(|(rule, ..)| *rule).collect();
                        if rules.is_empty() {
                            alive.push((kind, before, place));
                        } else {
                            weak.push((kind, before, format!("{place}: {}", Vec::from_iter(rules).join(", "))));
                        }
                    }
                }
            }
        }
    }
    for kind in Kind::ALL {
        let of_kind = || Before::ALL.into_iter().filter_map(|before| Some((before, *counts.get(&(kind, before))?)));
        let mut all = Counts::default();
        of_kind().for_each(|(_, part)| all.add(part));
        if all.all > 0 {
            all.print(kind.words());
            of_kind().for_each(|(before, part)| part.print(&format!("    {}", before.words())));
        }
    }
    if let Some(jobs) = jobs {
        compare(&programs, &hardware::run(&programs, jobs));
    }
    // Evenly spread, so that no file and no kind fills the sample.
    for (what, all) in [("alive", &alive), ("likely", &weak)] {
        let step = all.len().div_ceil(survivors.max(1)).max(1);
        for (kind, before, place) in all.iter().step_by(step) {
            println!("{what}: {}: {}: {place}", kind.words(), before.words());
        }
    }
    Ok(())
}

/// Tells how many of the changes that the hardware shows were found, and how many of the others.
fn compare(programs: &[Broken], shown: &[Shown]) {
    for kind in Kind::ALL {
        let mut parts: BTreeMap<&str, Counts> = BTreeMap::new();
        for (program, verdict) in programs.iter().zip(shown) {
            let words = match verdict {
                Shown::Change => "shown by compute-sanitizer",
                Shown::Nothing => "built and run, nothing shown",
                Shown::Unviable(_) => "not built or not run here",
            };
            if program.kind == kind {
                parts.entry(words).or_default().add(program.counts);
            }
        }
        for (words, part) in parts {
            part.print(&format!("{}, {words}", kind.words()));
        }
    }
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

fn lint(folder: &Path) -> Result<Said, String> {
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
    let places = outcome.statistics.executed.into_iter();
    let executed = places.map(|place| ((PathBuf::from(&*place.path), place.start), (place.basis, place.whole)));
    let executed = executed.collect();
    Ok(Said { findings: all, executed })
}
