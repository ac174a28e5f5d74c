//! Runs a page's fences against a linter that is handed in, and says what did not come out as marked.

use crate::{Fence, FenceKind, Page};
use cudalint_findings::Finding;
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

/// Applies the fixes of findings to one text.
fn apply<'a>(text: &str, findings: impl Iterator<Item = &'a Finding>) -> Result<String, String> {
    let mut edits: Vec<_> =
        findings.filter_map(|finding| finding.fix.as_ref()).flat_map(|fix| fix.edits.iter()).collect();
    if edits.is_empty() {
        return Err("no finding here has a fix".to_owned());
    }
    edits.sort_by_key(|edit| edit.place.range.start);
    let mut mended = String::new();
    let mut at = 0;
    for edit in edits {
        if edit.place.range.start < at {
            return Err("two fixes overlap".to_owned());
        }
        mended.push_str(text.get(at..edit.place.range.start).ok_or("a fix lies outside of the text")?);
        mended.push_str(&edit.text);
        at = edit.place.range.end;
    }
    mended.push_str(text.get(at..).ok_or("a fix lies outside of the text")?);
    Ok(mended)
}
