//! Runs a page's fences against a linter that is handed in, and says what did not come out as marked.

use crate::{Fence, FenceKind, Page};
use cudalint_findings::{Applicability, Edit, Finding};
use std::collections::BTreeSet;

/// Files of one example, by name, and the settings that apply: what the linter is given.
pub struct Example<'a> {
    /// Name and text.
    pub files: Vec<(String, &'a str)>,
    /// `cudalint.toml`, where the page has one before the fence.
    pub settings: Option<&'a str>,
}

/// Lints an example: all findings of all rules.
pub type Lint<'a> = dyn Fn(&Example<'_>) -> Result<Vec<Finding>, String> + 'a;

/// Runs every `error`, `clean` and `fixed` fence of a page; the result is what went wrong, in words with the page's
/// lines. Only findings of the page's own rule count. A marked line is met by a finding's own place, or by one of its
/// related places (aggregated findings); a finding whose own place is not marked is wrong.
pub fn run(page: &Page, lint: &Lint<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut settings: Option<&str> = None;
    let mut index = 0;
    while index < page.fences.len() {
        let first = &page.fences[index];
        match first.kind {
            FenceKind::Settings => settings = Some(&first.code),
            FenceKind::Plain => {}
            FenceKind::Fixed => check_fixed(page, index, settings, lint, &mut problems),
            FenceKind::Error | FenceKind::Clean => {
                // Named fences that follow one another under one heading are one project.
                let mut group = vec![first];
                if first.file.is_some() {
                    while let Some(next) = page.fences.get(index + 1) {
                        if next.file.is_none() || next.section != first.section || next.kind == FenceKind::Settings {
                            break;
                        }
                        group.push(next);
                        index += 1;
                    }
                }
                check_group(page, &group, settings, lint, &mut problems);
            }
        }
        index += 1;
    }
    problems
}

fn file_name(fence: &Fence) -> String {
    fence.file.clone().unwrap_or_else(|| format!("example.{}", fence.extension()))
}

fn check_group(page: &Page, group: &[&Fence], settings: Option<&str>, lint: &Lint<'_>, problems: &mut Vec<String>) {
    let example =
        Example { files: group.iter().map(|fence| (file_name(fence), fence.code.as_str())).collect(), settings };
    let findings = match lint(&example) {
        Ok(findings) => findings,
        Err(error) => {
            problems.push(format!("line {}: {error}", group.first().map_or(1, |fence| fence.line)));
            return;
        }
    };
    let line = group.first().map_or(1, |fence| fence.line);
    let fixes = check_fixes(&example, &findings, page, lint);
    problems.extend(fixes.into_iter().map(|problem| format!("line {line}: {problem}")));
    let own: Vec<&Finding> = findings.iter().filter(|finding| finding.rule.name == page.name).collect();
    for fence in group {
        let name = file_name(fence);
        let line_in = |path: &str, offset: usize| {
            (path == name || path.ends_with(&format!("/{name}")))
                .then(|| fence.code.get(..offset).map_or(0, |before| before.matches('\n').count()) + 1)
        };
        let expectations = fence.expectations();
        let marked: BTreeSet<usize> = expectations.iter().map(|expectation| expectation.line).collect();
        for finding in &own {
            let Some(line) = line_in(&finding.place.path, finding.place.range.start) else { continue };
            if !marked.contains(&line) {
                problems.push(format!("line {}: not marked, but fires: {}", fence.line + line - 1, finding.message));
            }
        }
        for expectation in &expectations {
            let at_line = |finding: &&&Finding| {
                line_in(&finding.place.path, finding.place.range.start) == Some(expectation.line)
                    || finding
                        .related
                        .iter()
                        .any(|label| line_in(&label.place.path, label.place.range.start) == Some(expectation.line))
            };
            let line = fence.line + expectation.line - 1;
            let here: Vec<_> = own.iter().filter(at_line).collect();
            if here.is_empty() {
                problems.push(format!("line {line}: marked, but nothing fires"));
            } else if let Some(wanted) = &expectation.message
                && !here.iter().any(|finding| {
                    finding.message.contains(wanted)
                        || finding.related.iter().any(|label| label.message.contains(wanted))
                })
            {
                let said: Vec<_> = here.iter().map(|finding| finding.message.as_str()).collect();
                problems
                    .push(format!("line {line}: the message should contain `{wanted}`, but is: {}", said.join(" | ")));
            }
        }
    }
}

fn check_fixed(page: &Page, index: usize, settings: Option<&str>, lint: &Lint<'_>, problems: &mut Vec<String>) {
    let fence = &page.fences[index];
    let Some(before) = index.checked_sub(1).and_then(|at| page.fences.get(at)) else {
        problems.push(format!("line {}: a `fixed` fence follows the fence that it mends", fence.line));
        return;
    };
    let lint_one = |fence: &Fence| lint(&Example { files: vec![(file_name(fence), &fence.code)], settings });
    match lint_one(before) {
        Err(error) => problems.push(format!("line {}: {error}", before.line)),
        Ok(findings) => {
            let own = findings.iter().filter(|finding| finding.rule.name == page.name);
            match apply(&before.code, own) {
                Ok(text) if unmarked(&text) == fence.code => {}
                Ok(text) => problems.push(format!("line {}: the fix gives instead:\n{text}", fence.line)),
                Err(error) => problems.push(format!("line {}: {error}", before.line)),
            }
        }
    }
    match lint_one(fence) {
        Err(error) => problems.push(format!("line {}: {error}", fence.line)),
        Ok(findings) => problems.extend(
            findings
                .iter()
                .filter(|finding| finding.rule.name == page.name)
                .map(|finding| format!("line {}: the fixed code still fires: {}", fence.line, finding.message)),
        ),
    }
}

/// A text without the marks of lines that fire, which a fix leaves in place.
fn unmarked(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for line in text.lines() {
        let mark = ["// error", "# error"].iter().filter_map(|mark| line.rfind(mark)).min();
        plain.push_str(mark.map_or(line, |at| line.get(..at).unwrap_or(line).trim_end()));
        plain.push('\n');
    }
    plain
}

/// Applies the fixes of findings to one text; of two that touch, the first.
fn apply<'a>(text: &str, findings: impl Iterator<Item = &'a Finding>) -> Result<String, String> {
    let mut edits: Vec<&Edit> = Vec::new();
    for fix in findings.filter_map(|finding| finding.fix.as_ref()) {
        let apart = |edit: &Edit, other: &&Edit| {
            edit == *other
                || edit.place.range.end < other.place.range.start
                || other.place.range.end < edit.place.range.start
        };
        if fix.edits.iter().all(|edit| edits.iter().all(|other| apart(edit, other))) {
            edits.extend(&fix.edits);
        }
    }
    if edits.is_empty() {
        return Err("no finding here has a fix".to_owned());
    }
    cudalint_findings::edits::apply(text, edits).map_err(|error| error.to_string())
}

/// What a finding is before and after an edit: its rule and its function.
fn said(finding: &Finding) -> (&str, &str) {
    (finding.rule.name, &finding.function)
}

/// Applies every fix that the page's rule offers for an example, one by one: its finding has to go, with no other instead, and the
/// fixes that are left converge.
fn check_fixes(example: &Example<'_>, findings: &[Finding], page: &Page, lint: &Lint<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    for finding in findings.iter().filter(|finding| finding.rule.name == page.name) {
        let Some(fix) = finding.fix.as_ref().filter(|fix| fix.applicability != Applicability::Display) else {
            continue;
        };
        let changed: Result<Vec<(String, String)>, String> = example
            .files
            .iter()
            .map(|(name, text)| {
                let edits = fix.edits.iter().filter(|edit| *edit.place.path == **name);
                Ok((name.clone(), cudalint_findings::edits::apply(text, edits).map_err(|error| error.to_string())?))
            })
            .collect();
        let changed = match changed {
            Ok(changed) => changed,
            Err(error) => {
                problems.push(format!("the fix of \"{}\" cannot be applied: {error}", finding.message));
                continue;
            }
        };
        let files = changed.iter().map(|(name, text)| (name.clone(), text.as_str())).collect();
        let after = match lint(&Example { files, settings: example.settings }) {
            Ok(after) => after,
            Err(error) => {
                problems.push(format!("after the fix of \"{}\": {error}", finding.message));
                continue;
            }
        };
        let weight = |findings: &[Finding]| -> usize {
            let same = findings.iter().filter(|other| said(other) == said(finding));
            same.map(|other| 1 + other.related.len()).sum()
        };
        let (was, is) = (weight(findings), weight(&after));
        if is >= was {
            let text = changed.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
            problems.push(format!("the fix of \"{}\" leaves it:\n{text}", finding.message));
        }
        for new in &after {
            let count = |findings: &[Finding]| findings.iter().filter(|other| said(other) == said(new)).count();
            if count(&after) > count(findings) {
                problems.push(format!("the fix of \"{}\" brings: {}: {}", finding.message, new.rule.name, new.message));
            }
        }
    }
    problems
}
