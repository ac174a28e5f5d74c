//! One project from sources to findings: read, parse, lower, join, replay, rules, suppression, levels.

use crate::Progress;
use crate::levels::Levels;
use crate::load::{Loaded, load};
use crate::outcome::{Fault, Part};
use crate::pipeline::{self, Front, Unit};
use crate::provider::Provider;
use crate::rule::{Check, IgnoreContext, ModuleContext, NodeContext, Rule, Sink};
use crate::settings::Settings;
use crate::suppress::{MARK, Suppressions};
use crate::walk::Globs;
use cudalint_findings::{Confidence, Finding, Severity, Sources, Witness};
use cudalint_program::ir::{Module, ModuleId};
use cudalint_program::{Project, ProjectOptions, python};
use cudalint_replay::status::StatusTable;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{FileKind, Language, MacroTable, ParsedRegion, ParserPool, comments, parse_region};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// `NAME` or `NAME=value`.
    pub defines: Vec<String>,
    pub sources: Vec<Source>,
    /// How a real path that nobody named is shown.
    pub shown: &'a (dyn Fn(&std::path::Path) -> String + Sync),
    pub provider: &'a dyn Provider,
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// A file after parsing; its trees are gone.
#[derive(Default)]
struct FileFacts {
    modules: Vec<Module>,
    findings: Vec<Finding>,
    suppressions: Suppressions,
    damaged: bool,
    fault: Option<Fault>,
}

thread_local! {
    static PARSERS: RefCell<ParserPool> = RefCell::new(ParserPool::new());
}

/// Lints a project.
pub(crate) fn lint_project(input: &ProjectInput<'_>) -> Part {
    let mut part = Part::default();
    let files = load(input, &mut part);
    let macros = MacroTable::build(
        files.iter().flat_map(|file| &file.regions).flat_map(|(_, directives)| &directives.defines),
        &input.settings.parse.declaration_macros,
    );
    let steps = Steps::new(files.len() * 2, input.progress);
    let mut units: Vec<Unit<'_>> = Vec::new();
    // Beside each unit its file; beside each file its first unit.
    let mut owner: Vec<usize> = Vec::new();
    let mut first_unit: Vec<usize> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        first_unit.push(units.len());
        for (region, directives) in &file.regions {
            if region.language == Language::Cuda {
                let alone = file.source.kind == FileKind::Markdown;
                units.push(Unit { path: &file.source.path, text: &file.text, directives, alone });
                owner.push(index);
            }
        }
    }
    let front = Front::new(
        &units,
        ProjectOptions {
            include_folders: input.includes.iter().map(|folder| (input.shown)(folder)).collect(),
            defines: input.defines.clone(),
        },
    );

    let python = PythonRules::new(input);
    let mut parsed: Vec<FileFacts> = files
        .par_iter()
        .zip(&first_unit)
        .map(|(file, first)| {
            let facts = guarded(&file.source, || parse_file(file, *first, &front, &macros, &python, input));
            steps.step();
            facts.unwrap_or_else(|fault| {
                let lost = file.regions.iter().filter(|(region, _)| region.language == Language::Cuda);
                FileFacts {
                    modules: lost.map(|_| Module::default()).collect(),
                    fault: Some(fault),
                    ..FileFacts::default()
                }
            })
        })
        .collect();

    let modules = parsed.iter_mut().flat_map(|facts| facts.modules.drain(..)).collect();
    part.faults.extend(parsed.iter_mut().filter_map(|facts| facts.fault.take()));
    let project = front.project(&units, modules);
    let statuses = pipeline::statuses(&project);

    let replayed: Vec<Result<(Vec<Finding>, Vec<(&'static str, u32)>), Fault>> = owner
        .par_iter()
        .enumerate()
        .map(|(id, index)| {
            let Some(file) = files.get(*index).filter(|file| file.source.reported) else {
                steps.step();
                return Ok((Vec::new(), Vec::new()));
            };
            let result =
                guarded(&file.source, || replay_module(&project, ModuleId(id as u32), &statuses, &file.source, input));
            steps.step();
            result
        })
        .collect();

    let mut findings: Vec<Finding> = parsed.iter_mut().flat_map(|facts| facts.findings.drain(..)).collect();
    for result in replayed {
        match result {
            Ok((found, limits)) => {
                findings.extend(found);
                for (cause, count) in limits {
                    *part.statistics.limits.entry(cause.to_owned()).or_default() += u64::from(count);
                }
            }
            Err(fault) => part.faults.push(fault),
        }
    }
    for (file, facts) in files.iter().zip(&parsed) {
        if file.source.reported {
            part.files.checked += 1;
            part.files.damaged += usize::from(facts.damaged);
        }
    }
    part.findings = settle(input, &files, &mut parsed, &owner, &project, findings, &mut part.statistics.suppressed);
    part.sources = texts(&files, &part.findings);
    part
}

/// Counts steps for the progress line.
struct Steps<'a> {
    done: AtomicUsize,
    total: usize,
    tell: &'a (dyn Fn(Progress) + Sync),
}

impl<'a> Steps<'a> {
    fn new(total: usize, tell: &'a (dyn Fn(Progress) + Sync)) -> Self {
        Self { done: AtomicUsize::new(0), total, tell }
    }

    fn step(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.tell)(Progress { done, total: self.total });
    }
}

/// Runs work on one file; a panic becomes a fault of that file.
fn guarded<T>(source: &Source, work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let said = payload
            .downcast_ref::<&str>()
            .copied()
            .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        Fault::internal(&source.path, said.lines().next().unwrap_or(""))
    })
}

/// Python rules by the node kinds they listen to.
struct PythonRules {
    by_kind: Vec<Vec<usize>>,
    any: bool,
}

impl PythonRules {
    fn new(input: &ProjectInput<'_>) -> Self {
        let mut by_kind = vec![Vec::new(); PythonKind::ALL.len() + 1];
        let mut any = false;
        for (index, rule) in input.rules.iter().enumerate() {
            let Check::PythonNodes(kinds, _) = &rule.check else { continue };
            if !input.levels.runs(index) {
                continue;
            }
            any = true;
            for kind in *kinds {
                if let Some(list) = by_kind.get_mut(*kind as usize)
                    && !list.contains(&index)
                {
                    list.push(index);
                }
            }
        }
        Self { by_kind, any }
    }
}

/// Whether a rule runs over a file.
fn runs(input: &ProjectInput<'_>, index: usize, source: &Source) -> bool {
    input.levels.runs(index)
        && !input.overrides.iter().any(|(globs, off)| off.contains(&index) && globs.matches(&source.real))
}

fn parse_file(
    file: &Loaded,
    first_unit: usize,
    front: &Front,
    macros: &MacroTable,
    python: &PythonRules,
    input: &ProjectInput<'_>,
) -> FileFacts {
    let mut facts = FileFacts::default();
    let text = &*file.text;
    let mut spans: Vec<(Range<usize>, bool)> = Vec::new();
    let mut unit = first_unit;
    let listens = file.source.reported && text.contains(MARK);
    for (region, directives) in &file.regions {
        PARSERS.with_borrow_mut(|pool| {
            let parsed = parse_region(text, region, macros, &directives.defines, pool);
            facts.damaged |= !parsed.damage.is_empty();
            match region.language {
                Language::Cuda => {
                    facts.modules.push(front.lower(unit, &parsed, text, directives, pool));
                    unit += 1;
                }
                Language::Python if python.any && file.source.reported => {
                    walk_python(&parsed, file, python, input, &mut facts.findings);
                }
                Language::Python => {}
            }
        });
        if listens {
            let hash = region.language == Language::Python;
            spans.extend(comments(text, region).iter().map(|comment| (comment.span.range(), hash)));
        }
    }
    if listens {
        facts.suppressions = Suppressions::collect(text, &spans, input.rules);
    }
    facts
}

/// One walk over a Python tree for all rules.
fn walk_python(
    parsed: &ParsedRegion,
    file: &Loaded,
    python: &PythonRules,
    input: &ProjectInput<'_>,
    findings: &mut Vec<Finding>,
) {
    let Some(root) = parsed.root() else { return };
    let names: python::PythonNames = pipeline::python_names(parsed, &file.text);
    let context = NodeContext { path: &file.source.path, text: &file.text, python: &names };
    let mut sink = Sink::new(findings);
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        for index in python.by_kind.get(python_kind(node) as usize).into_iter().flatten() {
            if let Some(Check::PythonNodes(_, check)) = input.rules.get(*index).map(|rule| &rule.check)
                && runs(input, *index, &file.source)
            {
                check(&context, node, &mut sink);
            }
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn replay_module(
    project: &Project,
    id: ModuleId,
    statuses: &StatusTable,
    source: &Source,
    input: &ProjectInput<'_>,
) -> (Vec<Finding>, Vec<(&'static str, u32)>) {
    let facts = pipeline::replay(project, id, statuses);
    let context =
        ModuleContext { project, id, module: project.module(id), facts: &facts, architectures: &input.architectures };
    let mut findings = Vec::new();
    let mut sink = Sink::new(&mut findings);
    for (index, rule) in input.rules.iter().enumerate() {
        if let Check::Facts(check) = &rule.check
            && runs(input, index, source)
        {
            check(&context, &mut sink);
        }
    }
    (findings, facts.limits)
}

/// From what rules said to what is shown: damage, doubles, fingerprints, suppression, levels.
fn settle(
    input: &ProjectInput<'_>,
    files: &[Loaded],
    parsed: &mut [FileFacts],
    owner: &[usize],
    project: &Project,
    mut findings: Vec<Finding>,
    suppressed: &mut usize,
) -> Vec<Finding> {
    let places: FxHashMap<Arc<str>, usize> =
        files.iter().enumerate().map(|(index, file)| (Arc::clone(&file.source.path), index)).collect();
    let rules: FxHashMap<&str, usize> =
        input.rules.iter().enumerate().map(|(index, rule)| (rule.info.name, index)).collect();
    // What a module says of a file that nobody asked about is said when that file is asked about.
    findings.retain(|finding| {
        places.get(&finding.place.path).and_then(|index| files.get(*index)).is_some_and(|file| file.source.reported)
    });
    soften_damaged(files, owner, project, &mut findings);
    cudalint_findings::report::sort(&mut findings);
    let mut seen = FxHashSet::default();
    findings.retain(|finding| {
        seen.insert((
            finding.rule.name,
            Arc::clone(&finding.place.path),
            finding.place.range.clone(),
            finding.message.clone(),
        ))
    });
    let mut sources = Sources::new();
    for (path, text) in texts(files, &findings) {
        sources.insert(path, text);
    }
    // Before anything is taken away, so that a suppression does not change the identity of others.
    cudalint_findings::fingerprint::fill(&mut findings, &sources);

    let mut quiet = |parsed: &mut [FileFacts], finding: &Finding| {
        let Some(facts) = places.get(&finding.place.path).and_then(|index| parsed.get_mut(*index)) else {
            return false;
        };
        let Some(rule) = rules.get(finding.rule.name) else { return false };
        let quiet = facts.suppressions.suppresses(*rule, finding);
        *suppressed += usize::from(quiet);
        quiet
    };
    findings.retain(|finding| !quiet(parsed, finding));
    let about = ignore_findings(input, files, parsed);
    findings.extend(about.into_iter().filter(|finding| !quiet(parsed, finding)));

    findings.retain(|finding| input.levels.shows(finding.confidence));
    for finding in &mut findings {
        if let Some(index) = rules.get(finding.rule.name) {
            input.levels.apply(*index, finding);
        }
    }
    findings
}

/// What the rules about suppression comments say.
fn ignore_findings(input: &ProjectInput<'_>, files: &[Loaded], parsed: &mut [FileFacts]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, facts) in files.iter().zip(parsed) {
        if facts.suppressions.comments().is_empty() {
            continue;
        }
        // Rules about comments speak last: whether they are suppressed in vain is not known yet.
        facts.suppressions.judge(|index| {
            runs(input, index, &file.source)
                && input.rules.get(index).is_some_and(|rule| !matches!(rule.check, Check::Ignores(_)))
        });
        let context =
            IgnoreContext { path: &file.source.path, text: &file.text, comments: facts.suppressions.comments() };
        let mut sink = Sink::new(&mut findings);
        for (index, rule) in input.rules.iter().enumerate() {
            if let Check::Ignores(check) = &rule.check
                && runs(input, index, &file.source)
            {
                check(&context, &mut sink);
            }
        }
    }
    findings
}

/// A finding inside a damaged function is *likely* at best and has no fix.
fn soften_damaged(files: &[Loaded], owner: &[usize], project: &Project, findings: &mut [Finding]) {
    let mut damaged: FxHashMap<Arc<str>, Vec<(Range<usize>, String)>> = FxHashMap::default();
    for (id, index) in owner.iter().enumerate() {
        let Some(file) = files.get(*index) else { continue };
        for function in project.module(ModuleId(id as u32)).functions.iter().filter(|function| function.damaged) {
            damaged
                .entry(Arc::clone(&file.source.path))
                .or_default()
                .push((function.span.range(), function.name.to_string()));
        }
    }
    for finding in findings {
        let around = damaged
            .get(&finding.place.path)
            .and_then(|list| list.iter().find(|(range, _)| range.contains(&finding.place.range.start)));
        let Some((_, name)) = around else { continue };
        finding.fix = None;
        finding.severity = finding.severity.min(Severity::Warning);
        if finding.confidence == Confidence::Definite {
            finding.confidence = Confidence::Likely;
            let assumption = if name.is_empty() {
                "the part of this function that could not be read changes nothing here".to_owned()
            } else {
                format!("the part of `{name}` that could not be read changes nothing here")
            };
            finding.witness.get_or_insert_with(Witness::default).assumptions.push(assumption);
        }
    }
}

/// The texts that findings point into.
fn texts(files: &[Loaded], findings: &[Finding]) -> Vec<(Arc<str>, Arc<str>)> {
    let mut wanted: FxHashSet<&str> = FxHashSet::default();
    for finding in findings {
        wanted.insert(&finding.place.path);
        wanted.extend(finding.related.iter().map(|label| &*label.place.path));
        if let Some(fix) = &finding.fix {
            wanted.extend(fix.edits.iter().map(|edit| &*edit.place.path));
        }
        if let Some(witness) = &finding.witness {
            wanted.extend(witness.path.iter().map(|label| &*label.place.path));
            wanted.extend(witness.launch.iter().map(|launch| &*launch.place.path));
            wanted.extend(witness.accesses.iter().map(|access| &*access.place.path));
        }
    }
    files
        .iter()
        .filter(|file| wanted.contains(&*file.source.path))
        .map(|file| (Arc::clone(&file.source.path), Arc::clone(&file.text)))
        .collect()
}
