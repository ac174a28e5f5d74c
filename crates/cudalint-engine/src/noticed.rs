//! Faults that nobody overlooks who builds and runs the code: the compiler refuses the file, an exception ends each run that comes by,
//! the host is stopped, or a status that the code itself looks at says so. Where a project shows that it builds and ships that code, such
//! a fault would have been mended before it was kept, so that a mistake of ours, or code that is never run, is the likelier reason; and
//! whoever has it is told without us. It is *possible* there.

use crate::project::{ProjectInput, Source};
use cudalint_findings::claim::User;
use cudalint_findings::{Finding, Group, Place, Shows};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use cudalint_replay::facts::{Facts, StatusUse};
use cudalint_syntax::{FileKind, Language};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Files that say how a package of Python is built and installed.
const PACKAGES: [&str; 3] = ["setup.py", "setup.cfg", "pyproject.toml"];

/// What the code looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// The status of a call.
    Call,
    /// Whether a launch was accepted, and with that also how its kernel ends.
    Launch,
    /// How a launched kernel ends, by a later wait: that the launch was refused is not reported there.
    Wait,
}

/// Where a project looks at what its calls and launches return, and what of it is built.
pub(crate) struct Noticed<'p> {
    project: &'p Project,
    /// Launches and calls whose failure the code looks at, by file.
    looked_at: FxHashMap<&'p str, Vec<(Range<usize>, Look)>>,
    /// Folders with build files, as output shows them.
    building: &'p [String],
    /// Folders with packages of Python.
    packages: Vec<&'p Path>,
    in_work: &'p (dyn Fn(&Source) -> bool + Sync),
}

impl<'p> Noticed<'p> {
    /// `facts`: those of its modules.
    pub fn new(project: &'p Project, facts: &[Facts], input: &'p ProjectInput<'_>) -> Self {
        let mut looked_at: FxHashMap<&str, Vec<(Range<usize>, Look)>> = FxHashMap::default();
        for (id, facts) in project.modules().zip(facts) {
            let launches = facts.status.iter().flat_map(|function| &function.launches);
            // What code out of sight might look at is looked at by nobody whom we know.
            let seen = launches.filter(|launch| (launch.checked || launch.only_by_sync) && launch.unseen.is_empty());
            let calls = facts.status.iter().flat_map(|function| &function.calls);
            let read = calls.filter(|call| call.usage == StatusUse::Consumed);
            let spans =
                seen.map(|launch| (launch.span.range(), if launch.checked { Look::Launch } else { Look::Wait }));
            let spans = spans.chain(read.map(|call| (call.span.range(), Look::Call)));
            looked_at.entry(&**project.path(id)).or_default().extend(spans);
        }
        let is_package = |path: &&PathBuf| path.file_name().is_some_and(|name| PACKAGES.iter().any(|it| name == *it));
        let others = input.others.as_deref().unwrap_or_default();
        let packages = others.iter().filter(is_package).filter_map(|path| path.parent()).collect();
        Self { project, looked_at, building: &input.reading.builds[0], packages, in_work: input.in_work }
    }

    /// Why a finding of a module can hardly be so, in words, where its fault would have been noticed.
    pub fn contradicts(&self, id: ModuleId, source: &Source, finding: &Finding) -> Option<String> {
        let in_python = self.is_python(id);
        if (self.in_work)(source)
            || !self.is_noticed(in_python, finding)
            || !self.is_in_use(in_python, source, &finding.place.path)
        {
            return None;
        }
        let what = match &finding.claim.shows {
            Shows::CompileError => "a compiler has not been given this code yet",
            _ => "this code has not been run yet, though the project ships it",
        };
        Some(what.to_owned())
    }

    /// Whether everybody sees the fault who builds and runs its code: for other devices and toolkits, and with other inputs, it need not
    /// have been there.
    fn is_noticed(&self, in_python: bool, finding: &Finding) -> bool {
        if finding.rule.group == Group::Portability || !finding.claim.inputs.is_empty() {
            return false;
        }
        match &finding.claim.shows {
            Shows::CompileError | Shows::Exception { .. } => true,
            Shows::BadAddress { user: User::Host, .. } => true,
            Shows::BadAddress { user: User::Call { .. }, .. } => {
                in_python || self.has_look(&finding.place, &[Look::Call])
            }
            Shows::BadAddress { user: User::Kernel { .. }, .. } => {
                in_python || self.looks_at_launch(finding, &[Look::Launch, Look::Wait])
            }
            Shows::RefusedLaunch { .. } => in_python || self.looks_at_launch(finding, &[Look::Launch]),
            _ => false,
        }
    }

    /// Whether the code looks at the launch by which a fault shows: the one that is named, or a place of the finding's.
    fn looks_at_launch(&self, finding: &Finding, by: &[Look]) -> bool {
        let launch = finding.claim.launch.as_ref().map(|launch| &launch.site);
        let places = launch.into_iter().chain([&finding.place]).chain(finding.related.iter().map(|label| &label.place));
        places.into_iter().any(|place| self.has_look(place, by))
    }

    fn has_look(&self, place: &Place, by: &[Look]) -> bool {
        let spans = self.looked_at.get(&*place.path);
        let sees = |(span, look): &(Range<usize>, Look)| span.contains(&place.range.start) && by.contains(look);
        spans.is_some_and(|spans| spans.iter().any(sees))
    }

    /// Whether the project builds the file, or installs it as a part of a package.
    pub fn is_in_use(&self, in_python: bool, source: &Source, path: &str) -> bool {
        if in_python {
            let installed = || self.packages.iter().any(|folder| source.real.starts_with(folder));
            return source.kind == FileKind::Python && installed();
        }
        let is_code = matches!(source.kind, FileKind::Cuda | FileKind::CFamily);
        is_code
            && self.building.iter().any(|folder| {
                let rest = path.strip_prefix(folder.as_str());
                matches!(folder.as_str(), "" | ".") || rest.is_some_and(|rest| rest.starts_with('/'))
            })
    }

    fn is_python(&self, id: ModuleId) -> bool {
        let module = self.project.module(id);
        module.language == Language::Python || module.inside.is_some()
    }
}
