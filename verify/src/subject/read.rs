//! Subjects are read here, whatever kind of file they are of.

use super::{Subject, cells, load};
use crate::paths::absolute;
use camino::Utf8Path;
use cudalint_findings::model::FindingEntry;
use cudalint_program::ProjectOptions;
use cudalint_syntax::{Build, BuildMacros, FileKind};
use std::sync::Arc;

impl Subject {
    /// Reads the source of a finding. A relative `path` is one below `root`.
    ///
    /// # Errors
    /// A file that cannot be read or is no source text, in one line.
    pub fn read(root: &Utf8Path, path: &str, flags: &[String]) -> Result<Self, String> {
        let build = Build::of_command(flags.iter().map(String::as_str));
        let options = ProjectOptions { build: Arc::new(BuildMacros::new(&build)), ..ProjectOptions::default() };
        Self::read_as(root, path, flags, &options)
    }

    /// As [`Self::read`], with what linting reads the file with. Include folders are those of the flags.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_as(root: &Utf8Path, path: &str, flags: &[String], options: &ProjectOptions) -> Result<Self, String> {
        let file = absolute(&root.join(path));
        let kind = FileKind::of(file.as_std_path())
            .ok_or_else(|| format!("{path}: not a kind of file that is checked (by its extension)"))?;
        let bytes = cudalint_files::read_file(file.as_std_path())
            .map_err(|error| format!("{path}: cannot be read: {error}"))?;
        match kind {
            FileKind::Notebook => cells::read(root, path, bytes, flags, options),
            _ => load::read(root, path, bytes, kind, flags, options),
        }
    }

    /// The program in a string of Python in which a finding stands, as a subject with one stretch; none elsewhere.
    pub fn in_string(&self, finding: &FindingEntry) -> Option<&Subject> {
        let at = self.span_of(finding).start;
        let embedded = self.embedded.get_or_init(|| load::embedded(self));
        embedded.iter().find(|subject| {
            subject.stretches.iter().any(|stretch| stretch.region.span.start <= at && at < stretch.region.span.end)
        })
    }
}
