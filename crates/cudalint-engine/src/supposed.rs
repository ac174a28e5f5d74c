//! Findings that need a branch of an `#if` group which some builds have and others lack: that is an assumption, and named.

use crate::rule::{ModuleContext, Rule, default_severity};
use cudalint_findings::{Confidence, Finding, Label, Method, Place, Witness};
use cudalint_program::Project;
use cudalint_program::ir::Supposed;
use cudalint_replay::facts::StepKind;
use std::sync::Arc;

/// The branches of a project's files that are the program under a condition only.
pub(crate) struct Branches<'p> {
    of_files: Vec<File<'p>>,
}

/// A file that has such branches.
struct File<'p> {
    path: &'p Arc<str>,
    text: &'p str,
    branches: &'p [Supposed],
}

impl<'p> Branches<'p> {
    /// Those of all files.
    pub(crate) fn of(project: &'p Project) -> Self {
        let files = project.modules().map(|id| File {
            path: project.path(id),
            text: project.source(id),
            branches: &project.module(id).supposed,
        });
        Self { of_files: files.filter(|file| !file.branches.is_empty()).collect() }
    }

    /// The branches around a place, with their files.
    fn around<'f>(&'f self, place: &'f Place) -> impl Iterator<Item = (&'f File<'p>, &'p Supposed)> {
        let at = place.range.start;
        let files = self.of_files.iter().filter(|file| *file.path == place.path);
        files
            .flat_map(|file| file.branches.iter().map(move |branch| (file, branch)))
            .filter(move |(_, branch)| branch.span.range().contains(&at))
    }

    /// Names what a finding needs besides: other places of it stand under conditions that its own place does not. Whoever
    /// compiles its own place meets those of that place, but for code that a build without options lacks: code that a
    /// function has in some builds beside its own, or a branch that was chosen since the other one has nothing for a GPU.
    pub(crate) fn name_in(&self, finding: &mut Finding, rule: &Rule, context: &ModuleContext<'_>) {
        // Where nobody looks at statuses, other places are more of the same.
        if self.of_files.is_empty() || matches!(rule.info.method, Method::FaultInjection | Method::None) {
            return;
        }
        let own = self.around(&finding.place).filter(|(_, branch)| !branch.extra && !branch.chosen);
        let mut own: Vec<&Arc<str>> = own.map(|(_, branch)| &branch.condition).collect();
        let path = finding.witness.iter().flat_map(|witness| &witness.path);
        let extra = self.around(&finding.place).filter(|(_, branch)| branch.extra || branch.chosen);
        let mut needed: Vec<&Arc<str>> = extra.map(|(_, branch)| &branch.condition).collect();
        for label in finding.related.iter().chain(path) {
            for (file, branch) in self.around(&label.place) {
                if branch.chosen {
                    needed.push(&branch.condition);
                    continue;
                }
                match way(file, branch, label, context) {
                    // What leads here makes the finding's own place run.
                    Way::Only => own.push(&branch.condition),
                    Way::OneOfSeveral | Way::None => needed.push(&branch.condition),
                    Way::TheSame => {}
                }
            }
        }
        needed.sort();
        needed.dedup();
        needed.retain(|condition| !own.contains(condition));
        let confidence = match (finding.confidence, needed.len()) {
            (_, 0) => return,
            (Confidence::Definite, 1) => Confidence::Likely,
            _ => Confidence::Possible,
        };
        if !rule.confidence.contains(&confidence) && confidence != Confidence::Possible {
            return;
        }
        finding.confidence = confidence;
        finding.severity = default_severity(rule.info.group, confidence);
        let witness = finding.witness.get_or_insert_with(Witness::default);
        witness.assumptions.extend(needed.into_iter().map(ToString::to_string));
    }
}

/// How a fact of a branch leads to a finding.
enum Way {
    /// It is a launch or a call, and no other branch has one of that kernel or function.
    Only,
    /// Other branches launch the kernel just so, or call the function.
    TheSame,
    /// Other branches launch the kernel, or call the function, but otherwise.
    OneOfSeveral,
    /// It is no launch, and no call on the way.
    None,
}

/// What the fact that a label tells is to a finding, where it stands in a branch.
fn way(file: &File<'_>, branch: &Supposed, label: &Label, context: &ModuleContext<'_>) -> Way {
    let text = |range: std::ops::Range<usize>| file.text.get(range).unwrap_or("");
    let fact = text(label.place.range.clone());
    let (name, all) = match fact.split_once("<<<") {
        Some((kernel, _)) => (format!("{}<<<", kernel.trim_end()), fact.split_inclusive(">>>").next().unwrap_or(fact)),
        None if is_call(&label.place, context) => (fact.split_inclusive('(').next().unwrap_or(fact).into(), fact),
        None => return Way::None,
    };
    let (group, own) = (branch.group.range(), branch.span.range());
    let others = [text(group.start..own.start), text(own.end..group.end)];
    let contain = |part: &str| others.iter().any(|other| other.contains(part));
    match (contain(&name), contain(all)) {
        (false, _) => Way::Only,
        (true, true) => Way::TheSame,
        (true, false) => Way::OneOfSeveral,
    }
}

/// Whether a place is that of a call on the way to something that happens.
fn is_call(place: &Place, context: &ModuleContext<'_>) -> bool {
    let mut calls = context.facts.steps().filter(|step| step.kind == StepKind::Call);
    calls.any(|step| step.site.span.range() == place.range && *context.project.path(step.site.module) == place.path)
}
