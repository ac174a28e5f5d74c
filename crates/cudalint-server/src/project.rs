//! The projects around open documents: what has changed in them, and what was said of them last.

use crate::worker::Results;
use cudalint_engine::Kept;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project with open documents.
#[derive(Debug, Default)]
pub struct Project {
    /// The change that it waits for to be linted.
    pub wanted: u64,
    /// Whether somebody asked for what is known of its kernels.
    pub wants_facts: bool,
    /// What the last run has left for the next.
    pub kept: Arc<Kept>,
    /// What was said last.
    pub results: Option<Arc<Results>>,
}

impl Project {
    /// What holds for the documents as they are.
    pub fn current(&self) -> Option<&Arc<Results>> {
        self.results.as_ref().filter(|results| results.change == self.wanted)
    }

    /// Whether it has to be linted.
    pub fn is_stale(&self) -> bool {
        self.current().is_none_or(|results| self.wants_facts && results.facts.is_none())
    }
}

/// All of them, by an anchor: the root of the project, or the folder of a file that is in none.
#[derive(Debug, Default)]
pub struct Projects {
    all: FxHashMap<PathBuf, Project>,
    changes: u64,
}

impl Projects {
    pub fn get(&self, anchor: &Path) -> Option<&Project> {
        self.all.get(anchor)
    }

    pub fn get_mut(&mut self, anchor: &Path) -> Option<&mut Project> {
        self.all.get_mut(anchor)
    }

    /// Notes a change in a project, which may be new.
    pub fn touch(&mut self, anchor: &Path) {
        self.changes += 1;
        self.all.entry(anchor.to_owned()).or_default().wanted = self.changes;
    }

    /// Notes a change in every project.
    pub fn touch_all(&mut self) {
        self.changes += 1;
        for project in self.all.values_mut() {
            project.wanted = self.changes;
        }
    }

    /// Notes a change of a file in those projects that it lies in or that have read it.
    pub fn touch_readers(&mut self, real: &Path) {
        self.changes += 1;
        for (anchor, project) in &mut self.all {
            let reads = project.results.as_ref().is_some_and(|results| results.read.contains(real));
            if reads || real.starts_with(anchor) {
                project.wanted = self.changes;
            }
        }
    }

    /// Forgets projects without open documents.
    pub fn keep(&mut self, open: impl Fn(&Path) -> bool) {
        self.all.retain(|anchor, _| open(anchor));
    }

    /// The project that changed last of those that have to be linted.
    pub fn next(&self) -> Option<(&Path, &Project)> {
        let stale = self.all.iter().filter(|(_, project)| project.is_stale());
        stale.max_by_key(|(_, project)| project.wanted).map(|(anchor, project)| (anchor.as_path(), project))
    }
}
