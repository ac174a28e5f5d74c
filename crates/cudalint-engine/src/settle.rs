//! From what rules said to what is shown: damage, doubles, fingerprints, suppression, levels.

use crate::analyse::Unit;
use crate::outcome::Text;
use crate::project::ProjectInput;
use crate::rule::{Check, IgnoreContext, Sink};
use crate::sources::Loaded;
use crate::suppress::Suppressions;
use cudalint_findings::{Confidence, Finding, Severity, Shows, Sources, Witness};
use cudalint_program::Project;
use cudalint_program::ir::ModuleId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::Arc;

/// Of a launch in a loop that is refused in several of its rounds, the first round: it is one mistake, whatever the sizes of each. A surer
/// finding speaks for those before it.
fn one_refusal_a_launch(findings: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut refused: FxHashMap<(&str, Arc<str>, usize), Vec<usize>> = FxHashMap::default();
    for finding in findings {
        if !matches!(finding.claim.shows, Shows::RefusedLaunch { .. }) {
            kept.push(finding);
            continue;
        }
        let key = (finding.rule.name, Arc::clone(&finding.place.path), finding.place.range.start);
        let there = refused.entry(key).or_default();
        let same = |first: &Finding| first.place == finding.place && first.claim.shows == finding.claim.shows;
        match there.iter().copied().find(|index| kept.get(*index).is_some_and(same)) {
            Some(index) if kept[index].confidence < finding.confidence => kept[index] = finding,
            Some(_) => {}
            None => {
                there.push(kept.len());
                kept.push(finding);
            }
        }
    }
    kept
}

/// Settles the findings of a project; the result has its final levels and is in the order of files.
pub(crate) fn settle(
    input: &ProjectInput<'_>,
    files: &[Loaded],
    suppressions: &mut [Suppressions],
    damaged: &Damaged,
    mut findings: Vec<Finding>,
    suppressed: &mut usize,
) -> Vec<Finding> {
    let places: FxHashMap<Arc<str>, usize> =
        files.iter().enumerate().map(|(index, file)| (Arc::clone(&file.source.path), index)).collect();
    let rules: FxHashMap<&str, usize> =
        input.rules.iter().enumerate().map(|(index, rule)| (rule.info.name, index)).collect();
    // What a module says of a file that nobody asked about is said when that file is asked about.
    findings.retain(|finding| {
        let file = places.get(&finding.place.path).and_then(|index| files.get(*index));
        let rule = rules.get(finding.rule.name).copied();
        file.is_some_and(|file| file.source.reported && rule.is_none_or(|rule| input.runs(rule, &file.source)))
    });
    soften_damaged(damaged, &mut findings);
    let mut findings = one_refusal_a_launch(findings);
    cudalint_findings::report::sort(&mut findings);
    // Doubles stand one behind the other.
    findings.dedup_by(|later, first| {
        later.rule.name == first.rule.name && later.place == first.place && later.claim == first.claim
    });
    let mut sources = Sources::new();
    for Text { path, content, cells, .. } in texts(files, &findings) {
        sources.insert_notebook(path, content, cells);
    }
    // Before anything is taken away, so that a suppression does not change the identity of others.
    cudalint_findings::fingerprint::fill(&mut findings, &sources);

    let mut quiet = |suppressions: &mut [Suppressions], finding: &Finding| {
        let Some(comments) = places.get(&finding.place.path).and_then(|index| suppressions.get_mut(*index)) else {
            return false;
        };
        let Some(rule) = rules.get(finding.rule.name) else { return false };
        let quiet = comments.suppresses(*rule, finding);
        *suppressed += usize::from(quiet);
        quiet
    };
    findings.retain(|finding| !quiet(suppressions, finding));
    let about = ignore_findings(input, files, suppressions);
    findings.extend(about.into_iter().filter(|finding| !quiet(suppressions, finding)));

    findings.retain(|finding| input.levels.shows(finding.confidence));
    for finding in &mut findings {
        if let Some(index) = rules.get(finding.rule.name) {
            input.levels.apply(*index, finding);
        }
    }
    findings
}

/// What the rules about suppression comments say.
fn ignore_findings(input: &ProjectInput<'_>, files: &[Loaded], suppressions: &mut [Suppressions]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (file, comments) in files.iter().zip(suppressions) {
        if comments.comments().is_empty() {
            continue;
        }
        // Rules about comments speak last: whether they are suppressed in vain is not known yet.
        comments.judge(|index| {
            input.runs(index, &file.source)
                && input.rules.get(index).is_some_and(|rule| !matches!(rule.check, Check::Ignores(_)))
        });
        let context = IgnoreContext { path: &file.source.path, text: &file.file.text, comments: comments.comments() };
        let mut sink = Sink::new(&mut findings);
        for (index, rule) in input.rules.iter().enumerate() {
            if let Check::Ignores(check) = &rule.check
                && input.runs(index, &file.source)
            {
                check(&context, &mut sink);
            }
        }
    }
    findings
}

/// A damaged function.
pub(crate) struct DamagedFunction {
    range: Range<usize>,
    name: String,
    /// The string that its program stands in, for C++ in a string of Python.
    inside: Option<Range<usize>>,
}

/// What of a project could not be read.
#[derive(Default)]
pub(crate) struct Damaged {
    /// Damaged functions, by path.
    functions: FxHashMap<Arc<str>, Vec<DamagedFunction>>,
    /// Programs in strings, by path.
    programs: FxHashMap<Arc<str>, Vec<Range<usize>>>,
}

/// The damaged functions of a project.
pub(crate) fn damaged_functions(units: &[Unit<'_>], project: &Project) -> Damaged {
    let mut damaged = Damaged::default();
    for (id, unit) in units.iter().enumerate() {
        let path = &unit.source.path;
        let module = project.module(ModuleId(id as u32));
        let inside = module.inside.map(cudalint_syntax::Span::range);
        if let Some(range) = &inside {
            damaged.programs.entry(Arc::clone(path)).or_default().push(range.clone());
        }
        for function in module.functions.iter().filter(|function| function.damaged) {
            damaged.functions.entry(Arc::clone(path)).or_default().push(DamagedFunction {
                range: function.span.range(),
                name: function.name.to_string(),
                inside: inside.clone(),
            });
        }
    }
    damaged
}

/// A finding inside a damaged function is *likely* at best and has no fix. What is damaged of the Python around a string says
/// nothing of the C++ in it.
fn soften_damaged(damaged: &Damaged, findings: &mut [Finding]) {
    for finding in findings {
        let Some(functions) = damaged.functions.get(&finding.place.path) else { continue };
        let start = finding.place.range.start;
        let programs = damaged.programs.get(&finding.place.path);
        let program = programs.and_then(|list| list.iter().find(|range| range.contains(&start)));
        let around =
            functions.iter().find(|function| function.range.contains(&start) && function.inside.as_ref() == program);
        let Some(DamagedFunction { name, .. }) = around else { continue };
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

/// The texts that findings point into, with the cells of notebooks.
pub(crate) fn texts(files: &[Loaded], findings: &[Finding]) -> Vec<Text> {
    let mut wanted: FxHashSet<&str> = FxHashSet::default();
    for finding in findings {
        wanted.insert(&finding.place.path);
        wanted.extend(finding.related.iter().map(|label| &*label.place.path));
        if let Some(fix) = &finding.fix {
            wanted.extend(fix.edits.iter().map(|edit| &*edit.place.path));
        }
        wanted.extend(finding.claim.places().into_iter().map(|place| &*place.path));
        if let Some(witness) = &finding.witness {
            wanted.extend(witness.path.iter().map(|label| &*label.place.path));
        }
    }
    files
        .iter()
        .filter(|file| wanted.contains(&*file.source.path))
        .map(|Loaded { source, file, .. }| {
            Text::new(Arc::clone(&source.path), Arc::clone(&file.text), &file.cells, &source.real, source.kind)
        })
        .collect()
}
