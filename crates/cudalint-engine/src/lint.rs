//! One project from sources to findings: read, parse, lower, join, replay, rules, suppression, levels.

use crate::guard::guarded;
use crate::levels::Levels;
use crate::load::{Loaded, Piece, load};
use crate::outcome::{Executed, Fault, Part, Remains};
use crate::pipeline::{self, Front, Unit};
use crate::provider::Provider;
use crate::rule::{Check, ModuleContext, Rule, Sink};
use crate::settings::Settings;
use crate::settle::{damaged_functions, settle, texts};
use crate::steps::Steps;
use crate::supposed::Branches;
use crate::suppress::{MARK, Remark, Suppressions};
use crate::unmentioned::{unmentioned, waits};
use crate::walk::Globs;
use cudalint_findings::{Finding, Incomplete};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::python::LocalPackages;
use cudalint_program::{Name, Project, ProjectOptions};
use cudalint_replay::facts::{Facts, Site};
use cudalint_replay::runs::{Basis, Counts, ModuleRuns};
use cudalint_syntax::{
    BuildMacros, FileKind, Language, MacroTable, ParserPool, Refusal, Span, comments, parse_region_without,
};
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
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

/// What is linted, and how.
pub(crate) struct ProjectInput<'a> {
    pub rules: &'static [&'static Rule],
    pub levels: &'a Levels,
    pub settings: &'a Settings,
    /// Paths with the rules that are off there.
    pub overrides: Vec<(Globs, Vec<usize>)>,
    pub architectures: Vec<u32>,
    pub includes: Vec<PathBuf>,
    /// The macros that the build defines.
    pub build: Arc<BuildMacros>,
    pub sources: Vec<Source>,
    /// GPU packages that the project itself defines.
    pub local_packages: LocalPackages,
    /// How a real path that nobody named is shown.
    pub shown: &'a (dyn Fn(&std::path::Path) -> String + Sync),
    pub provider: &'a dyn Provider,
    pub steps: &'a Steps<'a>,
}

/// A file after parsing; its trees are gone.
#[derive(Default)]
pub(crate) struct FileFacts {
    modules: Vec<Module>,
    pub suppressions: Suppressions,
    damaged: bool,
    /// Why one of its stretches was not parsed.
    refusal: Option<Refusal>,
    fault: Option<Fault>,
    /// What its code names.
    names: FxHashSet<Name>,
}

thread_local! {
    static PARSERS: RefCell<ParserPool> = RefCell::new(ParserPool::new());
}

/// Lints a project.
pub(crate) fn lint_project(input: &ProjectInput<'_>) -> Part {
    let mut part = Part::default();
    let files = load(input, &mut part);
    let macros = MacroTable::build(
        // A program in a string says nothing of other files' macros.
        files
            .iter()
            .flat_map(|file| &file.stretches)
            .filter(|piece| !piece.stretch.inside)
            .flat_map(|piece| &piece.directives.defines),
        &input.settings.parse.declaration_macros,
    )
    .with_build(Arc::clone(&input.build));
    let mut units: Vec<Unit<'_>> = Vec::new();
    // Beside each unit its file; beside each file its first unit.
    let mut owner: Vec<usize> = Vec::new();
    let mut first_unit: Vec<usize> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        first_unit.push(units.len());
        for piece in &file.stretches {
            units.push(Unit { path: &file.source.path, piece });
            owner.push(index);
        }
    }
    // Every file is parsed; every unit is looked at, then judged.
    input.steps.expect(files.len() + 2 * units.len());
    let front = Front::new(
        &units,
        ProjectOptions {
            include_folders: input.includes.iter().map(|folder| (input.shown)(folder)).collect(),
            build: Arc::clone(&input.build),
            declaration_macros: input.settings.parse.declaration_macros.clone(),
        },
    );

    let parse = |(index, without): (usize, &[Span])| {
        let (Some(file), Some(first)) = (files.get(index), first_unit.get(index)) else { return FileFacts::default() };
        let facts = guarded(&file.source, || parse_file(file, *first, without, &front, &macros, input));
        input.steps.step();
        facts.unwrap_or_else(|fault| {
            let modules = file.stretches.iter().map(pipeline::nothing).collect();
            FileFacts { modules, fault: Some(fault), ..FileFacts::default() }
        })
    };
    let (late, early): (Vec<usize>, Vec<usize>) = (0..files.len()).partition(|index| waits(&files[*index]));
    let mut parsed: Vec<FileFacts> = early.par_iter().map(|index| parse((*index, &[]))).collect();
    // What the others name says what of a large header is worth a tree.
    if !late.is_empty() {
        let headers: Vec<&Loaded> = late.iter().map(|index| &files[*index]).collect();
        let names: Vec<FxHashSet<Name>> = parsed.iter_mut().map(|facts| std::mem::take(&mut facts.names)).collect();
        let stretches = early.iter().flat_map(|index| &files[*index].stretches);
        let bodies = stretches.flat_map(|piece| &piece.directives.defines);
        let texts = bodies.map(|define| define.body.as_str()).chain(input.build.given().map(|(_, value)| value));
        let without = unmentioned(&headers, &names, texts, &macros);
        let waited: Vec<FileFacts> =
            late.par_iter().zip(&without).map(|(index, without)| parse((*index, without))).collect();
        let (mut early, mut late) = (early.iter().zip(parsed).peekable(), late.iter().zip(waited).peekable());
        parsed = (0..files.len())
            .filter_map(|index| {
                early.next_if(|(at, _)| **at == index).or_else(|| late.next_if(|(at, _)| **at == index))
            })
            .map(|(_, facts)| facts)
            .collect();
    }

    let modules = parsed.iter_mut().flat_map(|facts| facts.modules.drain(..)).collect();
    part.faults.extend(parsed.iter_mut().filter_map(|facts| facts.fault.take()));
    let project = front.project(&units, modules);

    let mut findings: Vec<Finding> = Vec::new();
    let results = replay(&project, &files, &units, &owner, input, &mut part.remains);
    for ((index, unit), result) in owner.iter().zip(&units).zip(results) {
        match result {
            Ok((mut found, limits, counts, executed)) => {
                if let Some(file) = files.get(*index).filter(|_| unit.piece.stretch.inside) {
                    drop_unwritable_fixes(&mut found, file, unit.piece);
                }
                findings.extend(found);
                if files.get(*index).is_some_and(|file| file.source.reported) {
                    part.statistics.kernels.add(&counts);
                    part.statistics.executed.extend(executed.into_iter().filter_map(|(site, basis, whole)| {
                        let file = files.get(*owner.get(site.module.index())?)?;
                        Some(Executed { path: Arc::clone(&file.source.path), start: site.span.start, basis, whole })
                    }));
                    for (cause, count) in limits {
                        *part.statistics.limits.entry(cause.to_owned()).or_default() += u64::from(count);
                    }
                }
            }
            Err(fault) => part.faults.push(fault),
        }
    }
    // What went wrong in a file that nobody asked about is told when that file is asked about.
    let reported: FxHashSet<&str> =
        files.iter().filter(|file| file.source.reported).map(|file| &*file.source.path).collect();
    part.faults.retain(|fault| !fault.internal || reported.contains(fault.path.as_str()));
    for (file, facts) in files.iter().zip(&parsed) {
        if file.source.reported {
            part.files.checked += 1;
            part.files.damaged += usize::from(facts.damaged);
            part.incomplete.extend(facts.refusal.map(|refusal| Incomplete {
                path: file.source.path.to_string(),
                reason: format!("not analysed: {refusal}"),
            }));
        }
    }
    let damaged = damaged_functions(&files, &owner, &project);
    part.findings = settle(input, &files, &mut parsed, &damaged, findings, &mut part.statistics.suppressed);
    part.sources = texts(&files, &part.findings);
    part.remains.keep((files, parsed, project));
    part
}

/// Fixes of a program in a string are edits of the string: those stay that mean the same in each kind of string.
fn drop_unwritable_fixes(findings: &mut [Finding], file: &Loaded, piece: &Piece) {
    for finding in findings {
        let plain = |edit: &cudalint_findings::Edit| {
            let range = edit.place.range.clone();
            file.text.get(range.clone()) == piece.stretch.text.get(range)
                && !edit.text.contains(['\\', '"', '\'', '{', '}', '%', '$', '\n', '\r'])
        };
        finding.fix.take_if(|fix| !fix.edits.iter().all(plain));
    }
}

/// Whether a rule runs over a file.
pub(crate) fn runs(input: &ProjectInput<'_>, index: usize, source: &Source) -> bool {
    input.levels.runs(index)
        && !input.overrides.iter().any(|(globs, off)| off.contains(&index) && globs.matches(&source.real))
}

fn parse_file(
    file: &Loaded,
    first_unit: usize,
    without: &[Span],
    front: &Front,
    macros: &MacroTable,
    input: &ProjectInput<'_>,
) -> FileFacts {
    let mut facts = FileFacts::default();
    let text = &*file.text;
    let mut remarks: Vec<Remark<'_>> = Vec::new();
    let listens = file.source.reported && text.contains(MARK);
    for (index, piece) in file.stretches.iter().enumerate() {
        let Piece { stretch, directives } = piece;
        let (region, text) = (&stretch.region, &stretch.text);
        PARSERS.with_borrow_mut(|pool| {
            let parsed = parse_region_without(text, region, without, macros, &directives.defines, pool);
            facts.damaged |= !parsed.damage.is_empty();
            facts.refusal = facts.refusal.or(parsed.refusal);
            let module = match region.language {
                Language::Cuda => {
                    let (module, names) = front.lower(first_unit + index, &parsed, piece, pool);
                    if facts.names.is_empty() {
                        facts.names = names;
                    } else {
                        facts.names.extend(names);
                    }
                    module
                }
                Language::Python => {
                    let cells = file.cells.iter().map(|cell| cell.start).collect();
                    let packages = Some(&input.local_packages).filter(|_| file.source.reported);
                    pipeline::lower_python(&parsed, text, cells, packages)
                }
            };
            facts.modules.push(module);
        });
        if listens {
            let end = region.span.end as usize;
            let inside = text.get(..end).filter(|_| stretch.inside).map(|text| (text, region.span.start as usize));
            let python = region.language == Language::Python;
            let found = comments(text, region).into_iter();
            remarks.extend(found.map(|comment| Remark { range: comment.span.range(), python, inside }));
        }
    }
    if listens {
        remarks.sort_by_key(|remark| remark.range.start);
        facts.suppressions = Suppressions::collect(text, &remarks, input.rules);
    }
    facts
}

/// What one module's rules say, the budgets that ran out, how its kernels were executed, and which places that shows at work: what
/// that rests on, and whether all of it was followed.
type Said = (Vec<Finding>, Vec<(&'static str, u32)>, Counts, Vec<(Site, Basis, bool)>);

/// Looks at each unit that has a source; what fails gives nothing, and a fault.
fn each<T: Default + Send>(
    units: &[Option<&Source>],
    look: impl Fn(usize) -> T + Sync,
) -> (Vec<T>, Vec<Option<Fault>>) {
    units
        .par_iter()
        .enumerate()
        .map(|(unit, source)| match source.map(|source| guarded(source, || look(unit))) {
            None => (T::default(), None),
            Some(Ok(seen)) => (seen, None),
            Some(Err(fault)) => (T::default(), Some(fault)),
        })
        .unzip()
}

/// Replays every module that may say something about a reported file. Calls are followed from file to file, so that is
/// every module of C++ as soon as one file of C++ is reported, and likewise of Python, with the programs in its strings; a
/// fence of a document is alone.
fn replay(
    project: &Project,
    files: &[Loaded],
    units: &[Unit<'_>],
    owner: &[usize],
    input: &ProjectInput<'_>,
    remains: &mut Remains,
) -> Vec<Result<Said, Fault>> {
    let source = |unit: usize| owner.get(unit).and_then(|index| files.get(*index)).map(|file| &file.source);
    let asked = |unit: usize| source(unit).is_some_and(|source| source.reported);
    // A program in a string goes with the Python around it.
    let python = |piece: &Piece| piece.stretch.inside || piece.stretch.region.language == Language::Python;
    let any = |wanted: bool| {
        let mut all = units.iter().enumerate();
        all.any(|(index, unit)| python(unit.piece) == wanted && asked(index) && !unit.piece.stretch.apart)
    };
    let (any_python, any_cuda) = (any(true), any(false));
    let wanted = |unit: usize| {
        let joined = units
            .get(unit)
            .is_some_and(|unit| !unit.piece.stretch.apart && if python(unit.piece) { any_python } else { any_cuda });
        asked(unit) || joined
    };
    let wanted_source: Vec<Option<&Source>> =
        (0..units.len()).map(|unit| source(unit).filter(|_| wanted(unit))).collect();
    // Error handling and walks know nothing of each other, so that neither waits where the other joins its modules.
    let (status, walks) = rayon::join(
        || {
            let (surveys, faults) = each(&wanted_source, |unit| pipeline::survey(project, ModuleId(unit as u32)));
            let table = catch_unwind(AssertUnwindSafe(|| pipeline::statuses(project, &surveys)));
            (table, surveys, faults)
        },
        || {
            let scan = pipeline::scan(project);
            let (walks, faults) = each(&wanted_source, |unit| {
                let walked = pipeline::walk(project, &scan, ModuleId(unit as u32));
                input.steps.step();
                walked
            });
            let facts = catch_unwind(AssertUnwindSafe(|| pipeline::merge(project, walks)));
            remains.keep(scan);
            (facts, faults)
        },
    );
    let ((statuses, surveys, survey_faults), (facts, faults)) = (status, walks);
    remains.keep(surveys);
    let (Ok(statuses), Ok(mut facts)) = (statuses, facts) else {
        let fault = |unit: usize| source(unit).map(|source| Fault::internal(&source.path, "while joining files"));
        return (0..units.len()).map(|unit| fault(unit).map_or_else(|| Ok(Said::default()), Err)).collect();
    };
    pipeline::add_statuses(&mut facts, statuses);
    let run_faults = run_kernels(project, &wanted_source, &mut facts);
    let faults = survey_faults.into_iter().zip(faults).zip(run_faults).map(|((a, b), c)| a.or(b).or(c));
    let faults: Vec<Option<Fault>> = faults.collect();
    facts
        .into_par_iter()
        .zip(faults)
        .enumerate()
        .map(|(unit, (facts, fault))| {
            let said = match wanted_source.get(unit).copied().flatten() {
                Some(source) => guarded(source, || run_rules(project, ModuleId(unit as u32), facts, input)),
                None => Ok(Said::default()),
            };
            input.steps.step();
            fault.map_or(said, Err)
        })
        .collect()
}

/// Executes the kernels of each module with the launches that all walks met.
fn run_kernels(project: &Project, sources: &[Option<&Source>], facts: &mut [Facts]) -> Vec<Option<Fault>> {
    let (runs, faults) = {
        let launches = pipeline::launches(project, facts);
        each(sources, |unit| match launches.get(unit) {
            Some(launches) => pipeline::run_kernels(project, ModuleId(unit as u32), launches),
            None => ModuleRuns::default(),
        })
    };
    pipeline::hand_out(facts, runs);
    faults
}

fn run_rules(project: &Project, id: ModuleId, mut facts: Facts, input: &ProjectInput<'_>) -> Said {
    pipeline::complete(project, id, &mut facts);
    let context =
        ModuleContext { project, id, module: project.module(id), facts: &facts, architectures: &input.architectures };
    let branches = std::cell::OnceCell::new();
    let mut findings = Vec::new();
    for (index, rule) in input.rules.iter().enumerate() {
        if let Check::Facts(check) = &rule.check
            && input.levels.runs(index)
        {
            let first = findings.len();
            check(&context, &mut Sink::new(&mut findings));
            for finding in findings.iter_mut().skip(first) {
                branches.get_or_init(|| Branches::of(project)).name_in(finding, rule);
            }
        }
    }
    let places = facts.runs.iter().flat_map(|run| run.places().map(|site| (site, run.basis, run.is_whole())));
    let executed = places.collect();
    (findings, facts.limits, facts.run_counts, executed)
}
