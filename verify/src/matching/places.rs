//! Where a finding's evidence may stand: files with ranges of lines.

use super::Target;
use crate::tools::sanitizer::{Frame, same_path};
use camino::Utf8Path;
use cudalint_findings::model::{Access, FindingEntry, Range};

/// Files with ranges of lines, ends included.
#[derive(Clone, Debug, Default)]
pub(super) struct Places<'a>(Vec<(&'a str, (u32, u32))>);

impl<'a> Places<'a> {
    /// The finding's own range.
    pub(super) fn own(finding: &'a FindingEntry) -> Self {
        Self(vec![(finding.path.as_str(), lines(&finding.range))])
    }

    /// The finding's other places.
    pub(super) fn related(finding: &'a FindingEntry) -> Self {
        Self(finding.related.iter().map(|related| (related.path.as_str(), lines(&related.range))).collect())
    }

    /// Where device code shows the finding: the witness's accesses, and the finding's own range.
    pub(super) fn device(finding: &'a FindingEntry) -> Self {
        let mut places = Self::own(finding);
        for access in finding.witness.iter().flat_map(|witness| &witness.accesses) {
            places.0.extend(of_access(finding, access).0);
        }
        places
    }

    /// Where host code shows it: the finding's own range, the statement around it, and the launch of its witness.
    pub(super) fn host(target: &'a Target<'_>) -> Self {
        let finding = target.finding;
        let mut places = Self::own(finding);
        if let Some(lines) = target.statement {
            places.0.push((finding.path.as_str(), lines));
        }
        if let Some(launch) = finding.witness.as_ref().and_then(|witness| witness.launch.as_ref()) {
            places.0.push((launch.path.as_str(), (launch.line, launch.line)));
        }
        places
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a frame stands at one of the places.
    pub(super) fn has(&self, frame: &Frame) -> bool {
        self.0.iter().any(|(path, lines)| in_lines(frame, path, &[*lines]))
    }

    /// Whether a line of a file is one of the places.
    pub(super) fn covers(&self, file: &str, line: u32) -> bool {
        self.0.iter().any(|(path, (start, end))| (*start..=*end).contains(&line) && same_path(file, path))
    }
}

/// Whether a frame stands in a file outside of the program's folder, which another frame shows: it stands in a file of the
/// finding, whose path begins at that folder.
pub(super) fn in_library(finding: &FindingEntry, frame: &Frame, own: &Frame) -> bool {
    let (Some(file), Some(own)) = (frame.file.as_deref(), own.file.as_deref()) else { return false };
    let paths = std::iter::once(&finding.path).chain(finding.related.iter().map(|related| &related.path));
    let root = paths.into_iter().find_map(|path| {
        let root = own.strip_suffix(path.as_str())?;
        (root.len() > 1 && root.ends_with('/')).then_some(root)
    });
    root.is_some_and(|root| Utf8Path::new(file).is_absolute() && !file.starts_with(root))
}

/// Where an access of the witness stands. A witness says its line and not its file: that is the finding's, or one that the
/// finding names beside, where the kernel stands in another file than the finding.
pub(super) fn of_access<'a>(finding: &'a FindingEntry, access: &Access) -> Places<'a> {
    let mut files = vec![finding.path.as_str()];
    let beside = finding.related.iter().map(|related| related.path.as_str());
    let steps = finding.witness.iter().flat_map(|witness| witness.path.iter().map(|step| step.path.as_str()));
    for file in beside.chain(steps) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    Places(files.into_iter().map(|file| (file, (access.line, access.line))).collect())
}

fn lines(range: &Range) -> (u32, u32) {
    // A range that ends at the first column of a line has nothing of it.
    let end =
        if range.end.column <= 1 && range.end.line > range.start.line { range.end.line - 1 } else { range.end.line };
    (range.start.line, end)
}

/// Whether a frame stands in a file within one of the ranges of lines, ends included.
pub(super) fn in_lines(frame: &Frame, path: &str, ranges: &[(u32, u32)]) -> bool {
    let (Some(file), Some(line)) = (frame.file.as_deref(), frame.line) else { return false };
    ranges.iter().any(|(start, end)| (*start..=*end).contains(&line)) && same_path(file, path)
}
