//! The record of proof: what a GPU has said of findings, kept in a file that a project may commit. A later run on any
//! machine takes it over while the sources that it rests on are the same.
//!
//! An entry rests on the finding as data, and on the files that it, its claim and its witness name, with what these include;
//! for a finding that its project's own build has shown, on all sources and build files of the project's folder.

use super::plan::said;
use super::request::{Error, Request};
use crate::outcome::Outcome;
use crate::receipt::hash;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_files::read_file;
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_syntax::{Span, scan_directives};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Files that one entry rests on.
const FILES: usize = 2000;
/// Bytes of one of them.
const BYTES: u64 = 16 << 20;
/// Folders of a project below one another.
const DEPTH: usize = 12;

/// One proof: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proof {
    /// Fingerprint of the finding.
    pub fingerprint: String,
    /// Hash of what of the finding a verdict depends on.
    pub said: String,
    /// The files that it rests on, by their paths as findings name them, with their hashes.
    pub files: BTreeMap<String, String>,
    /// The version of cudalint.
    pub version: String,
    /// The day, `2026-11-24`.
    pub date: String,
    /// What was said.
    pub outcome: Outcome,
}

/// Reads a ledger; a line that cannot be read is none. A file that is not there is empty.
///
/// # Errors
/// The file is there and cannot be read.
pub(super) fn read(file: &Utf8Path) -> Result<Vec<Proof>, Error> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = cudalint_files::read_text(file.as_std_path())
        .map_err(|error| Error::Folder { path: file.to_owned(), source: std::io::Error::other(error.to_string()) })?;
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// The proof of a finding among these that still holds.
pub(super) fn proof_of(request: &Request<'_>, proofs: &[Proof], finding: &FindingEntry) -> Option<Outcome> {
    let said = hash([said(finding).as_str()]);
    let same = |file: &str, known: &String| hash_of(&request.root.join(file)).is_some_and(|now| now == *known);
    let proof = proofs.iter().rev().find(|proof| {
        proof.fingerprint == finding.fingerprint
            && proof.said == said
            && proof.version == env!("CARGO_PKG_VERSION")
            && proof.files.iter().all(|(file, known)| same(file, known))
    })?;
    let mut outcome = proof.outcome.clone();
    let already = outcome.reason.contains(" (shown on ");
    if !already {
        outcome.reason = format!("{} (shown on {}, as the ledger says)", outcome.reason, proof.date);
    }
    Some(outcome)
}

/// Writes what a run has shown beside what the ledger holds of other findings.
///
/// # Errors
/// Those of the file system.
pub(super) fn write(
    request: &Request<'_>,
    file: &Utf8Path,
    earlier: Vec<Proof>,
    outcomes: &[(usize, Outcome)],
) -> Result<(), Error> {
    let date = today();
    let mut proofs: BTreeMap<String, Proof> =
        earlier.into_iter().map(|proof| (proof.fingerprint.clone(), proof)).collect();
    for (index, outcome) in outcomes {
        let Some(finding) = request.findings.get(*index) else { continue };
        let on_gpu = outcome.verification.evidence.as_ref().is_some_and(|evidence| evidence.device.is_some());
        let decided =
            matches!(outcome.verification.verdict, Some(Verdict::Confirmed | Verdict::NotObserved | Verdict::Refuted));
        let taken_over = outcome.reason.contains("as the ledger says)");
        if !on_gpu || !decided || taken_over {
            continue;
        }
        let proof = Proof {
            fingerprint: finding.fingerprint.clone(),
            said: hash([said(finding).as_str()]),
            files: files_of(request, finding, outcome),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: date.clone(),
            outcome: outcome.clone(),
        };
        proofs.insert(finding.fingerprint.clone(), proof);
    }
    let failed = |source| Error::Folder { path: file.to_owned(), source };
    let mut text = String::new();
    for proof in proofs.values() {
        text.push_str(&serde_json::to_string(proof).map_err(|error| failed(error.into()))?);
        text.push('\n');
    }
    let half = Utf8PathBuf::from(format!("{file}.part"));
    std::fs::write(&half, text).and_then(|()| std::fs::rename(&half, file)).map_err(failed)
}

/// The files that an outcome rests on, with their hashes.
fn files_of(request: &Request<'_>, finding: &FindingEntry, outcome: &Outcome) -> BTreeMap<String, String> {
    let mut open: Vec<Utf8PathBuf> = vec![Utf8PathBuf::from(&finding.path)];
    open.extend(finding.claim.places().into_iter().map(|site| Utf8PathBuf::from(&site.path)));
    open.extend(finding.witness.iter().flat_map(|witness| &witness.path).map(|step| Utf8PathBuf::from(&step.path)));
    let of_project = outcome.attempts.iter().any(|attempt| {
        attempt.program == "in the project's build" && Some(attempt.verdict) == outcome.verification.verdict
    });
    if of_project && let Some(project) = (request.project_for)(&finding.path) {
        sources_below(&project.folder, &request.root, DEPTH, &mut open);
    }
    let mut found = BTreeMap::new();
    let mut seen = BTreeSet::new();
    while let Some(path) = open.pop() {
        if found.len() >= FILES || !seen.insert(path.clone()) {
            continue;
        }
        let whole = request.root.join(&path);
        let Some(hash) = hash_of(&whole) else { continue };
        let text = cudalint_files::read_text(whole.as_std_path()).unwrap_or_default();
        let beside = path.parent().unwrap_or(Utf8Path::new(""));
        for include in scan_directives(&text, Span::new(0, text.len())).includes {
            let target = crate::paths::clean(&beside.join(include.path.as_str()));
            if request.root.join(&target).is_file() {
                open.push(target);
            }
        }
        found.insert(path.into_string(), hash);
    }
    found
}

/// Adds the sources and build files below a folder.
fn sources_below(folder: &Utf8Path, root: &Utf8Path, depth: usize, found: &mut Vec<Utf8PathBuf>) {
    let Ok(entries) = folder.read_dir_utf8() else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 && !name.starts_with('.') && !path.join("run.json").is_file() {
            sources_below(path, root, depth - 1, found);
        } else if kind.is_file() && found.len() < FILES {
            let source = matches!(
                path.extension(),
                Some("cu" | "cuh" | "h" | "hpp" | "cpp" | "cc" | "cxx" | "c" | "inl" | "cmake" | "mk" | "py")
            );
            let build = ["makefile", "cmakelists.txt", "meson.build", "gnumakefile"];
            if source || build.contains(&name.to_ascii_lowercase().as_str()) {
                found.push(path.strip_prefix(root).unwrap_or(path).to_owned());
            }
        }
    }
}

/// The day in Greenwich, `2026-11-24`.
fn today() -> String {
    let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    date_of(seconds / 86_400)
}

/// The date of a day, counted from 1970-01-01: Howard Hinnant's `civil_from_days`, whose years begin in March.
fn date_of(day: u64) -> String {
    let shifted = day + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The hash of a file; none where there is none, or a large one.
fn hash_of(file: &Utf8Path) -> Option<String> {
    if file.metadata().ok()?.len() > BYTES {
        return None;
    }
    let bytes = read_file(file.as_std_path()).ok()?;
    Some(hash([String::from_utf8_lossy(&bytes).as_ref()]))
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn days_have_dates() {
        assert_eq!([0, 59, 11_016, 20_781].map(date_of), ["1970-01-01", "1970-03-01", "2000-02-29", "2026-11-24"]);
    }
}
