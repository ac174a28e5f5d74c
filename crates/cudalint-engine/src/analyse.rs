//! What a program does, module by module, and what rules say of it.
//!
//! Error handling, the walks of host code and the kernels are looked at side by side; where cudalint fails on a file, that
//! file says nothing, and the others do not know.

use crate::callers::Calls;
use crate::outcome::{Cut, Executed, Fault, Remains, Statistics};
use crate::project::{ProjectInput, Source};
use crate::relevance::Relevance;
use crate::rule::{Check, ModuleContext, Sink};
use crate::sources::Loaded;
use crate::steps::Steps;
use crate::supposed::Branches;
use cudalint_findings::Finding;
use cudalint_program::Project;
use cudalint_program::guard::guarded;
use cudalint_program::ir::ModuleId;
use cudalint_program::load::Piece;
use cudalint_replay::facts::{Facts, Site};
use cudalint_replay::runs::{self, Basis, Counts, ModuleRuns};
use cudalint_replay::status::{self, HiddenMacros, StatusTable, Survey};
use cudalint_replay::{ProjectScan, Reliance, ReplayOptions, hints, structure};
use cudalint_syntax::{FileKind, Language};
use rayon::prelude::*;
use std::sync::Arc;

/// A piece of a file. The position in the list of all pieces is its module's id.
pub(crate) struct Unit<'a> {
    pub source: &'a Source,
    pub file: &'a Loaded,
    pub piece: &'a Piece,
}

/// What came of one module.
#[derive(Default)]
pub(crate) struct Said {
    pub findings: Vec<Finding>,
    /// What lowering cut short, as phase, cause and count.
    pub lowering: Vec<(&'static str, &'static str, u64)>,
    /// What the walks of host code cut short, by cause.
    pub limits: Vec<(&'static str, u32)>,
    /// How its kernels were executed.
    pub counts: Counts,
    /// Places that executions show at work: what that rests on, and whether all of it was followed.
    pub executed: Vec<(Site, Basis, bool)>,
}

impl Said {
    /// Adds what it says to the counts of a run.
    pub fn count(self, unit: &Unit<'_>, units: &[Unit<'_>], statistics: &mut Statistics) {
        statistics.executed.extend(self.executed.into_iter().filter_map(|(site, basis, whole)| {
            let path = Arc::clone(&units.get(site.module.index())?.source.path);
            Some(Executed { path, start: site.span.start, basis, whole })
        }));
        let host = self.limits.iter().map(|(cause, count)| ("host walk", *cause, u64::from(*count)));
        let kernels = self.counts.cuts().map(|(cause, count)| ("kernels", cause, count));
        for (phase, cause, count) in self.lowering.into_iter().chain(host).chain(kernels) {
            let path = Arc::clone(&unit.source.path);
            *statistics.cuts.entry(Cut { path, phase, cause }).or_default() += count;
        }
        statistics.kernels.add(&self.counts);
    }
}

/// Looks at each unit that has a source; what fails gives nothing, and a fault. A run that is over looks at none.
fn each<T: Default + Send>(
    units: &[Option<&Source>],
    steps: &Steps<'_>,
    look: impl Fn(usize) -> T + Sync,
) -> (Vec<T>, Vec<Option<Fault>>) {
    units
        .par_iter()
        .enumerate()
        .map(|(unit, source)| match source.filter(|_| !steps.are_over()).map(|it| (it, guarded(|| look(unit)))) {
            None => (T::default(), None),
            Some((_, Ok(seen))) => (seen, None),
            Some((source, Err(said))) => (T::default(), Some(Fault::internal(&source.path, &said))),
        })
        .unzip()
}

/// The sources of the modules that may say something about a reported file. Calls are followed from file to file, so that is
/// every module of C++ as soon as one file of C++ is reported or belongs to one that is, and likewise of Python, with the programs
/// in its strings; a fence of a document is alone.
fn wanted<'a>(units: &[Unit<'a>]) -> Vec<Option<&'a Source>> {
    // A program in a string goes with the Python around it.
    let python = |unit: &Unit<'_>| {
        let stretch = &unit.piece.stretch;
        stretch.inside || stretch.region.language == Language::Python
    };
    let any = |language: bool| {
        let mut all = units.iter();
        let matters = |unit: &Unit<'_>| unit.source.reported && !unit.piece.stretch.apart || unit.file.is_partner();
        all.any(|unit| python(unit) == language && matters(unit))
    };
    let (any_python, any_cuda) = (any(true), any(false));
    let joined = |unit: &Unit<'_>| !unit.piece.stretch.apart && if python(unit) { any_python } else { any_cuda };
    units.iter().map(|unit| Some(unit.source).filter(|source| source.reported || joined(unit))).collect()
}

/// What comes of each module. `calls`: what is called out of sight.
pub(crate) fn analyse(
    project: &Project,
    units: &[Unit<'_>],
    calls: &Calls,
    input: &ProjectInput<'_>,
    remains: &mut Remains,
) -> Vec<Result<Said, Fault>> {
    let wanted = wanted(units);
    let id = |unit: usize| ModuleId(unit as u32);
    // Error handling and walks know nothing of each other, so that neither waits where the other joins its modules.
    let (status, walks) = rayon::join(
        || {
            // Code without a word of the GPU, too: it may call what launches, and then what looks at errors.
            let hidden = HiddenMacros::of(project);
            let (surveys, faults) = each(&wanted, input.steps, |unit| {
                let survey = survey(project, id(unit), &hidden);
                if units[unit].file.is_of_callers() { survey.of_caller() } else { survey }
            });
            (guarded(|| StatusTable::join(project, &surveys, &hidden)), surveys, faults)
        },
        || {
            let scan = ProjectScan::new(project, &calls.called);
            let options = ReplayOptions::default();
            let reliance = input.kept.map(|kept| (&kept.facts, Reliance::new(project, &scan, &options)));
            let (walks, faults) = each(&wanted, input.steps, |unit| {
                let walked = match &reliance {
                    Some((kept, reliance)) => kept.walk(reliance, project, &scan, id(unit), &options),
                    None => cudalint_replay::walk_module(project, &scan, id(unit), &options),
                };
                input.steps.step();
                walked
            });
            // Calls are followed from file to file, and an event belongs to the file that it is written in.
            let facts = guarded(|| cudalint_replay::merge(project, walks));
            remains.keep(scan);
            (facts, faults, reliance)
        },
    );
    let ((statuses, surveys, survey_faults), (facts, faults, reliance)) = (status, walks);
    remains.keep(surveys);
    let (Ok(mut statuses), Ok(mut facts)) = (statuses, facts) else {
        let fault = |source: &Source| Fault::internal(&source.path, "while joining files");
        return units.iter().map(|unit| Err(fault(unit.source))).collect();
    };
    for (index, facts) in facts.iter_mut().enumerate() {
        if let Some(status) = statuses.take(id(index)) {
            (facts.status, facts.checkers) = (status.functions, status.checkers);
        }
    }
    let kept = reliance.as_ref().map(|(kept, reliance)| (*kept, reliance));
    let run_faults = run_kernels(project, &wanted, input, kept, &mut facts);
    let faults = survey_faults.into_iter().zip(faults).zip(run_faults).map(|((a, b), c)| a.or(b).or(c));
    let faults: Vec<Option<Fault>> = faults.collect();
    let sources: Vec<&Source> = units.iter().map(|unit| unit.source).collect();
    let relevance = Relevance::new(project, &sources, &facts, calls, input);
    facts
        .into_par_iter()
        .zip(faults)
        .enumerate()
        .map(|(unit, (facts, fault))| {
            let said = match wanted.get(unit).copied().flatten().filter(|_| !input.steps.are_over()) {
                Some(source) => guarded(|| run_rules(project, id(unit), facts, input, source, &relevance))
                    .map_err(|said| Fault::internal(&source.path, &said)),
                None => Ok(Said::default()),
            };
            input.steps.step();
            fault.map_or(said, Err)
        })
        .collect()
}

/// The error handling of one module by itself. What a status is, and what becomes of one that nobody looks at, is another
/// matter in Python: there most calls raise.
fn survey(project: &Project, id: ModuleId, hidden: &HiddenMacros) -> Survey {
    if project.module(id).language == Language::Python {
        Survey::default()
    } else {
        status::survey(project, id, hidden)
    }
}

/// Executes the kernels of each module with the launches that all walks met.
fn run_kernels(
    project: &Project,
    sources: &[Option<&Source>],
    input: &ProjectInput<'_>,
    kept: Option<runs::Kept<'_>>,
    facts: &mut [Facts],
) -> Vec<Option<Fault>> {
    // Figures cost an execution more: nobody pays for them who has not selected a rule that reads them.
    let figures = asks_for_figures(input);
    let (runs, faults) = {
        let launches = runs::collect(project, facts);
        each(sources, input.steps, |unit| match launches.get(unit) {
            Some(launches) => {
                // Only who looks at facts asks what was checked.
                let reported = sources.get(unit).copied().flatten().is_some_and(|source| source.reported);
                let asked =
                    runs::Asked { accounts: input.look.is_some() && reported, figures: figures && reported, kept };
                runs::execute_asked(project, ModuleId(unit as u32), launches, asked)
            }
            None => ModuleRuns::default(),
        })
    };
    runs::hand_out(facts, runs);
    faults
}

/// Whether a rule that was selected reads what kernels cost, or what the host does that only costs time.
fn asks_for_figures(input: &ProjectInput<'_>) -> bool {
    input.rules.iter().enumerate().any(|(index, rule)| rule.figures && input.levels.runs(index))
}

fn run_rules(
    project: &Project,
    id: ModuleId,
    mut facts: Facts,
    input: &ProjectInput<'_>,
    source: &Source,
    relevance: &Relevance<'_>,
) -> Said {
    structure::add_structure(project, id, &mut facts);
    if asks_for_figures(input) {
        hints::add_hints(project, id, &mut facts);
    }
    facts.prefer(|path| relevance.is_walked(path));
    let architectures = &input.reading.architectures;
    let module = project.module(id);
    // What build files name is for files that a compiler is given, and not for examples in documents and programs in strings.
    let target = match source.kind {
        FileKind::Cuda | FileKind::CFamily => input.reading.target_of(&source.real),
        _ => input.reading.target,
    };
    let context = ModuleContext { project, id, module, facts: &facts, architectures, target };
    if let Some(look) = input.look.filter(|_| source.reported) {
        look(&context);
    }
    let branches = std::cell::OnceCell::new();
    let for_hip = project.is_for_hip(id);
    let mut findings = Vec::new();
    for (index, rule) in input.rules.iter().enumerate() {
        if let Check::Facts(check) = &rule.check
            && input.levels.runs(index)
        {
            let first = findings.len();
            check(&context, &mut Sink::new(&mut findings));
            for finding in findings.iter_mut().skip(first) {
                branches.get_or_init(|| Branches::of(project)).name_in(finding, rule, &context);
                if for_hip {
                    finding.texts().for_each(cudalint_program::in_words_of_hip);
                }
            }
        }
    }
    findings.retain_mut(|finding| relevance.judge(id, source, &facts.space_faults, finding));
    let places = facts.runs.iter().flat_map(|run| run.places().map(|site| (site, run.basis, run.is_whole())));
    let executed = places.collect();
    let lowering =
        project.module(id).cuts.iter().map(|(cause, count)| ("lowering", *cause, u64::from(*count))).collect();
    Said { findings, lowering, limits: facts.limits, counts: facts.run_counts, executed }
}
