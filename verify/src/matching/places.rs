//! Where a finding's evidence may stand: files with ranges of lines.

use super::target::Target;
use crate::tools::sanitizer::{Frame, same_path};
use camino::Utf8Path;
use cudalint_findings::model::{FindingEntry, Site};

/// Files with ranges of lines, ends included.
#[derive(Clone, Debug, Default)]
pub(super) struct Places<'a>(Vec<(&'a str, (u32, u32))>);

impl<'a> Places<'a> {
    /// The finding's own range.
    pub(super) fn own(finding: &'a FindingEntry) -> Self {
        Self(vec![(finding.path.as_str(), finding.range.lines())])
    }

    /// A site.
    pub(super) fn at(site: &'a Site) -> Self {
        Self(vec![(site.path.as_str(), site.range.lines())])
    }

    /// The claim's other places.
    pub(super) fn sites(finding: &'a FindingEntry) -> Self {
        Self(finding.claim.sites.iter().map(|site| (site.path.as_str(), site.range.lines())).collect())
    }

    /// Where device code shows the finding: the claim's accesses, and the finding's own range.
    pub(super) fn device(finding: &'a FindingEntry) -> Self {
        let mut places = Self::own(finding);
        places.0.extend(finding.claim.accesses().iter().flat_map(|access| Self::at(&access.site).0));
        places
    }

    /// Where host code shows it: the finding's own range, the statement around it, and the claim's launch.
    pub(super) fn host(target: &'a Target<'_>) -> Self {
        let finding = target.finding;
        let mut places = Self::own(finding);
        if let Some(lines) = target.statement {
            places.0.push((finding.path.as_str(), lines));
        }
        if let Some(launch) = &finding.claim.launch {
            places.0.extend(Self::at(&launch.site).0);
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
    let paths = std::iter::once(&finding.path).chain(finding.claim.places().into_iter().map(|site| &site.path));
    let root = paths.into_iter().find_map(|path| {
        let root = own.strip_suffix(path.as_str())?;
        (root.len() > 1 && root.ends_with('/')).then_some(root)
    });
    root.is_some_and(|root| Utf8Path::new(file).is_absolute() && !file.starts_with(root))
}

/// Whether a frame stands in a file within one of the ranges of lines, ends included.
pub(super) fn in_lines(frame: &Frame, path: &str, ranges: &[(u32, u32)]) -> bool {
    let (Some(file), Some(line)) = (frame.file.as_deref(), frame.line) else { return false };
    ranges.iter().any(|(start, end)| (*start..=*end).contains(&line)) && same_path(file, path)
}
