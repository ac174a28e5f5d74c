//! One project on its way through a run: its files, and what they are linted with.

use crate::kept::Kept;
use crate::levels::Levels;
use crate::provider::Provider;
use crate::reading::Reading;
use crate::rule::{ModuleContext, Rule};
use crate::settings::Settings;
use crate::steps::Steps;
use crate::walk::Globs;
use cudalint_files::Bounds;
use cudalint_syntax::FileKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a project.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    /// As output shows it.
    pub path: Arc<str>,
    /// Its identity.
    pub real: PathBuf,
    pub kind: FileKind,
    /// Whether it was named itself.
    pub explicit: bool,
    /// Whether findings in it are wanted; else it is there for the index.
    pub reported: bool,
}

/// What an `[[override]]` says: rules by their places in the table.
pub(crate) struct Local {
    pub globs: Globs,
    pub on: Vec<usize>,
    pub off: Vec<usize>,
}

/// What looks at each module of the reported files as rules do.
pub(crate) type Look<'a> = &'a (dyn Fn(&ModuleContext<'_>) + Sync);

/// What is linted, and how.
pub(crate) struct ProjectInput<'a> {
    pub rules: &'static [&'static Rule],
    pub levels: &'a Levels,
    pub settings: &'a Settings,
    /// Paths with the rules that are on or off there; the last that says something of a rule counts.
    pub overrides: Vec<Local>,
    /// Rules that run for the sake of such paths alone.
    pub only_local: Vec<usize>,
    /// How its files are read.
    pub reading: Reading,
    pub sources: Vec<Source>,
    /// Sources of the language that the run is not about: scripts that are read where they name one of the sources, or programs that
    /// are read where a script among the sources names them.
    pub partners: Vec<Source>,
    /// Files beside the sources that may name these and their functions; none where not all of the project is known.
    pub others: Option<Vec<PathBuf>>,
    /// Where its includes may lead.
    pub bounds: Bounds,
    /// How a real path that nobody named is shown.
    pub shown: &'a (dyn Fn(&Path) -> String + Sync),
    pub provider: &'a dyn Provider,
    /// Whether somebody is at work on a file: it is named by itself, an editor holds it, or only what a change touches is asked for. Then
    /// it need not have been built or run yet.
    pub in_work: &'a (dyn Fn(&Source) -> bool + Sync),
    pub steps: &'a Steps<'a>,
    /// Who else looks at what rules are given.
    pub look: Option<Look<'a>>,
    /// What earlier runs have left.
    pub kept: Option<&'a Kept>,
}

impl ProjectInput<'_> {
    /// Whether a rule runs over a file.
    pub fn runs(&self, rule: usize, source: &Source) -> bool {
        let runs = self.levels.runs(rule) && !self.only_local.contains(&rule);
        let said = self.overrides.iter().rev().filter(|local| local.on.contains(&rule) || local.off.contains(&rule));
        let mut here = said.filter(|local| local.globs.matches(&source.real));
        here.next().map_or(runs, |local| !local.off.contains(&rule) && self.levels.runs(rule))
    }
}
