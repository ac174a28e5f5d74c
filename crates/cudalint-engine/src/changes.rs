//! What a change touched, as `git` says it: lines of files that differ from a revision, and files that git does not know yet.

use cudalint_findings::{Finding, Place, Sources};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What differs in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Touched {
    /// All of it is new.
    whole: bool,
    /// Lines, from 1, that were added or changed.
    lines: Vec<RangeInclusive<u32>>,
    /// Lines, from 1, behind which some are gone; 0 is the file's start.
    gone: Vec<u32>,
}

/// What differs from a revision, by the real paths of files.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    files: FxHashMap<PathBuf, Touched>,
}

impl Changes {
    /// What differs between the working tree and the revision from which the present one and `revision` have parted, in the
    /// repositories around these folders.
    ///
    /// # Errors
    /// With a sentence: there is no git, a folder is in no repository, or there is no such revision in one.
    pub fn since(revision: &str, folders: &BTreeSet<PathBuf>) -> Result<Self, String> {
        let mut changes = Self::default();
        let mut repositories = BTreeSet::new();
        for folder in folders {
            let Some(repository) = folder.ancestors().find(|above| above.join(".git").exists()) else {
                return Err(format!("--since {revision}: {} is in no git repository", folder.display()));
            };
            repositories.insert(repository);
        }
        for repository in repositories {
            changes.add(repository, revision)?;
        }
        Ok(changes)
    }

    fn add(&mut self, repository: &Path, revision: &str) -> Result<(), String> {
        let wrong = |problem: String| format!("--since {revision}: {problem} (in {})", repository.display());
        let top = git(repository, &["rev-parse", "--show-toplevel"]).map_err(wrong)?;
        let top = PathBuf::from(os_text(top.strip_suffix(b"\n").unwrap_or(&top)));
        let top = std::fs::canonicalize(&top).unwrap_or(top);
        let commit = format!("{revision}^{{commit}}");
        let verified = git(repository, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]);
        verified.map_err(|problem| {
            if problem.is_empty() { wrong("git knows no such revision".to_owned()) } else { wrong(problem) }
        })?;
        let base = git(repository, &["merge-base", "--end-of-options", &commit, "HEAD"]).map_err(|problem| {
            if problem.is_empty() {
                wrong(
                    "it has no revision in common with HEAD; a shallow clone may lack it (`git fetch --unshallow`)"
                        .to_owned(),
                )
            } else {
                wrong(problem)
            }
        })?;
        let base = String::from_utf8_lossy(&base).trim().to_owned();
        // All that a user's settings could change of the form is said here.
        let diff = git(
            repository,
            &[
                "diff",
                "--unified=0",
                "--inter-hunk-context=0",
                "--no-color",
                "--no-ext-diff",
                "--no-textconv",
                "--no-relative",
                "--find-renames",
                "--ignore-submodules",
                "--src-prefix=a/",
                "--dst-prefix=b/",
                &base,
                "--",
            ],
        )
        .map_err(wrong)?;
        for (name, touched) in parse(&diff) {
            self.files.insert(top.join(os_text(&name)), touched);
        }
        let new = git(&top, &["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]).map_err(wrong)?;
        for name in new.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            self.files.insert(top.join(os_text(name)), Touched { whole: true, ..Touched::default() });
        }
        Ok(())
    }

    /// Whether a change touched any place of a finding: lines that it added or changed; or lines that it took away between the
    /// flagged place and accesses beside it, as a barrier may be.
    pub fn touch(&self, finding: &Finding, sources: &Sources, real: &dyn Fn(&str) -> PathBuf) -> bool {
        let path = finding.witness.iter().flat_map(|witness| &witness.path).map(|label| &label.place);
        let mut places = std::iter::once(&finding.place)
            .chain(finding.related.iter().map(|label| &label.place))
            .chain(finding.claim.places())
            .chain(path);
        let lines = |place: &Place| {
            sources.get(&place.path).map(|source| {
                let line = |at: usize| source.lines().line(at) as u32 + 1;
                let last = place.range.end.saturating_sub(1).max(place.range.start);
                (line(place.range.start), line(last), source.is_notebook())
            })
        };
        let hit = |place: &Place, touched: &Touched| match lines(place) {
            // Lines of a notebook are those of its cells.
            None | Some((_, _, true)) => true,
            Some((first, last, false)) => {
                touched.whole || touched.lines.iter().any(|changed| *changed.start() <= last && *changed.end() >= first)
            }
        };
        if places.any(|place| self.files.get(&real(&place.path)).is_some_and(|changed| hit(place, changed))) {
            return true;
        }
        // Between the flagged place and the accesses.
        let Some(changed) = self.files.get(&real(&finding.place.path)) else { return false };
        let beside = finding.claim.accesses().iter().map(|access| &access.site);
        let beside = beside.filter(|place| place.path == finding.place.path);
        let span =
            std::iter::once(&finding.place).chain(beside).filter_map(lines).fold(None, |span, (first, last, _)| {
                Some(span.map_or((first, last), |(from, to): (u32, u32)| (from.min(first), to.max(last))))
            });
        span.is_some_and(|(first, last)| changed.gone.iter().any(|line| *line + 1 >= first && *line <= last))
    }
}

/// Runs git and gives what it wrote, or its first complaint; an empty one where it only failed.
fn git(folder: &Path, args: &[&str]) -> Result<Vec<u8>, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(["--no-pager", "-c", "core.quotePath=true", "-c", "core.fsmonitor=false"]);
    // What git writes of itself is read by people alone; a lock for its index would disturb others.
    command.args(args).stdin(Stdio::null()).env("GIT_OPTIONAL_LOCKS", "0");
    let output = command.output().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "the program `git` is not there".to_owned(),
        _ => format!("`git` cannot be started: {error}"),
    })?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("").trim_start_matches("fatal: ").to_owned())
}

/// Bytes of git as a name of a file.
fn os_text(bytes: &[u8]) -> std::ffi::OsString {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        OsStr::from_bytes(bytes).to_owned()
    }
    #[cfg(not(unix))]
    {
        String::from_utf8_lossy(bytes).into_owned().into()
    }
}

/// Reads what `git diff --unified=0` wrote: names of files as they are now, and what differs in each.
fn parse(diff: &[u8]) -> Vec<(Vec<u8>, Touched)> {
    let mut files: Vec<(Vec<u8>, Touched)> = Vec::new();
    // Lines of the piece at hand that are content, whatever they look like.
    let mut content = 0_u64;
    let mut named = false;
    for line in diff.split(|byte| *byte == b'\n') {
        if content > 0 && matches!(line.first(), Some(b'+' | b'-')) {
            content -= 1;
            continue;
        }
        if line.starts_with(b"diff --git ") {
            named = false;
        } else if let Some(name) = line.strip_prefix(b"+++ ") {
            // The other side of a file that is gone is no file of ours.
            if let Some(name) = unquoted(name).strip_prefix(b"b/") {
                files.push((name.to_vec(), Touched::default()));
                named = true;
            }
        } else if let Some(((_, old), (start, new))) = line.strip_prefix(b"@@ ").and_then(hunk) {
            content = u64::from(old) + u64::from(new);
            let Some((_, touched)) = files.last_mut().filter(|_| named) else { continue };
            if new == 0 {
                touched.gone.push(start);
            } else {
                touched.lines.push(start..=start.saturating_add(new - 1));
            }
        }
    }
    files
}

/// `-3,0 +4,2 @@ …` as start and number of lines of both sides.
fn hunk(line: &[u8]) -> Option<((u32, u32), (u32, u32))> {
    let text = std::str::from_utf8(line.get(..line.windows(3).position(|part| part == b" @@")?)?).ok()?;
    let (old, new) = text.split_once(' ')?;
    let side = |text: &str| -> Option<(u32, u32)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    Some((side(old.strip_prefix('-')?)?, side(new.strip_prefix('+')?)?))
}

/// A name as git writes it: in quotes with escapes where it has odd characters, and with a tabulator behind it where it has blanks.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let name = name.strip_suffix(b"\r").unwrap_or(name);
    let Some(inside) = name.strip_prefix(b"\"").and_then(|rest| rest.get(..rest.iter().rposition(|b| *b == b'"')?))
    else {
        return name.strip_suffix(b"\t").unwrap_or(name).to_vec();
    };
    let mut out = Vec::with_capacity(inside.len());
    let mut bytes = inside.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b't') => out.push(b'\t'),
            Some(b'n') => out.push(b'\n'),
            Some(b'v') => out.push(11),
            Some(b'f') => out.push(12),
            Some(b'r') => out.push(b'\r'),
            Some(digit @ b'0'..=b'3') => {
                let rest = [bytes.next(), bytes.next()];
                let value = rest
                    .iter()
                    .flatten()
                    .fold(u32::from(digit - b'0'), |value, digit| value * 8 + u32::from(digit.wrapping_sub(b'0') & 7));
                out.push(value as u8);
            }
            Some(other) => out.push(other),
            None => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_read_by_its_counts_and_not_by_its_looks() {
        let diff = b"diff --git a/x.cu b/x.cu\n--- a/x.cu\n+++ b/x.cu\n@@ -3,0 +4,2 @@ f\n+++ b/other.cu\n+@@ -1 +1 @@\n@@ -9 +11 @@\n-a\n+b\n@@ -20,3 +21,0 @@\n---- a\n-b\n-c\ndiff --git a/gone.cu b/gone.cu\n--- a/gone.cu\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n";
        let files = parse(diff);
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].0, b"x.cu");
        assert_eq!(files[0].1.lines, [4..=5, 11..=11]);
        assert_eq!(files[0].1.gone, [21]);
    }

    #[test]
    fn names_with_odd_characters_are_read_back() {
        assert_eq!(unquoted(b"b/a b.cu\t"), b"b/a b.cu");
        assert_eq!(unquoted(b"\"b/gr\\303\\266\\303\\237e\\t\\\"x\\\".cu\""), "b/größe\t\"x\".cu".as_bytes());
    }
}
