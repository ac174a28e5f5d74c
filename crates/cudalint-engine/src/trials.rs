//! Code of a project that only tries or measures the rest of it: a status that it drops is nobody's but its author's, who looks at what
//! it prints.

use crate::exports::common;
use cudalint_findings::{Finding, Shows};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use rustc_hash::FxHashMap;
use std::path::Path;

/// Words of a folder's name that say so.
const TRIALS: [&str; 12] = [
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "microbench",
    "microbenchmarks",
    "playground",
    "test",
    "testing",
    "tests",
    "unittest",
    "unittests",
];

/// The folder of tests or measurements that a file stands in, if other code for the GPU stands outside of any.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// By module, below the folder that all of the project's files have in common.
    folders: Vec<Option<String>>,
}

impl Trials {
    /// `reals`: the real paths of modules' files by the paths that output shows.
    pub fn of(project: &Project, reals: &FxHashMap<&str, &Path>) -> Self {
        let folder = |id: ModuleId| reals.get(&**project.path(id)).and_then(|real| real.parent());
        let Some(root) = project.modules().filter_map(folder).reduce(common) else {
            return Self::default();
        };
        let trial = |id: ModuleId| {
            let below = folder(id)?.strip_prefix(root).ok()?;
            let names = below.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
            names.into_iter().find(|name| is_trial(name))
        };
        let folders: Vec<Option<String>> = project.modules().map(trial).collect();
        let has_kernel = |id: &ModuleId| project.module(*id).functions.iter().any(|function| function.space.global);
        let outside = project.modules().zip(&folders).any(|(id, folder)| folder.is_none() && has_kernel(&id));
        if outside { Self { folders } } else { Self::default() }
    }

    /// What a finding on a dropped status needs, in words.
    pub fn holds(&self, id: ModuleId, finding: &Finding) -> Option<String> {
        let folder = self.folders.get(id.index())?.as_ref()?;
        let drops = matches!(finding.claim.shows, Shows::UnreadStatus { .. });
        drops.then(|| format!("somebody else depends on what stands in `{folder}`"))
    }
}

/// Whether a folder's name says that tests or measurements are in it.
fn is_trial(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|letter: char| !letter.is_ascii_alphabetic()).any(|word| TRIALS.contains(&word))
}
