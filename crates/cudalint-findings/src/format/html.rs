//! A report as one static HTML page: each finding with its source, its witness and what a run said. It needs nothing
//! beside it but the logs and reproducers it links to.

use crate::finding::{Finding, Verdict, Witness};
use crate::report::{Incomplete, Report};
use crate::sources::Source;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What a page shows beside the findings.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// Facts of the run in order: what the machine had, how long it took.
    pub facts: Vec<(String, String)>,
    /// From the page to the outcome folder, for links: empty when the page lies in it, else with a `/` at its end.
    pub base: String,
    /// Where pages of rules lie; no links to them when empty.
    pub rules_url: String,
}

/// Lines of source shown before and after a finding.
const AROUND: usize = 4;
/// Lines of source shown at most for one finding.
const SHOWN: usize = 40;

/// The page.
pub fn render(report: &Report, page: &Page) -> String {
    let mut out = String::from(HEAD);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry(verdict(finding)).or_default() += 1;
    }
    out.push_str("<header><h1>cudalint</h1><ul class=\"counts\">");
    for (name, count) in &counts {
        let _ = write!(out, "<li class=\"{name}\"><b>{count}</b> {}</li>", name.replace('-', " "));
    }
    out.push_str("</ul><dl>");
    for (name, value) in &page.facts {
        let _ = write!(out, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    out.push_str("</dl></header>\n<main>\n");
    if report.findings.is_empty() {
        out.push_str("<p>No findings.</p>\n");
    }
    let mut findings = report.by_importance();
    findings.sort_by_key(|finding| finding.verification.as_ref().is_none_or(|done| done.verdict != Verdict::Confirmed));
    for finding in findings {
        section(&mut out, finding, report, page);
    }
    let rows: Vec<(&str, String)> = report
        .incomplete
        .iter()
        .map(|Incomplete { path, reason }| ("incomplete", format!("{}: {}", escaped(path), escaped(reason))))
        .collect();
    list(&mut out, "Not read or analysed as a whole", &rows);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The verdict's name; `not-verified` before a run.
fn verdict(finding: &Finding) -> &'static str {
    finding.verification.as_ref().map_or("not-verified", |done| done.verdict.name())
}

fn section(out: &mut String, finding: &Finding, report: &Report, page: &Page) {
    let at = report.sources.start(&finding.place);
    let name = verdict(finding);
    let _ = write!(out, "<section id=\"{}\" class=\"{name}\">\n<h2>", escaped(&finding.fingerprint));
    if page.rules_url.is_empty() {
        let _ = write!(out, "{}", escaped(finding.rule.name));
    } else {
        let url = crate::rule_url(&page.rules_url, finding.rule);
        let _ = write!(out, "<a href=\"{}\">{}</a>", escaped(&url), escaped(finding.rule.name));
    }
    let words = finding.verification.as_ref().map_or_else(|| "not verified".to_owned(), crate::Verification::words);
    let _ = write!(
        out,
        " <span class=\"verdict\">{}</span></h2>\n<p class=\"place\">{}:{at} · {} · {}{}</p>\n<p class=\"message\">{}</p>\n",
        escaped(&words),
        escaped(&finding.place.path),
        finding.severity.name(),
        finding.confidence.name(),
        if finding.function.is_empty() {
            String::new()
        } else {
            format!(" · in <code>{}</code>", escaped(&finding.function))
        },
        code_words(&finding.message),
    );
    if let Some(source) = report.sources.get(&finding.place.path) {
        excerpt(out, finding, source);
    }
    if let Some(witness) = &finding.witness {
        witness_list(out, witness, finding, report);
    }
    if let Some(done) = &finding.verification {
        evidence(out, done, page);
    }
    out.push_str("</section>\n");
}

/// The source around the finding and the related places of the same file, flagged lines marked.
fn excerpt(out: &mut String, finding: &Finding, source: &Source) {
    let (lines, text) = (source.lines(), source.text());
    let line_of = |offset: usize| lines.line(offset);
    let first = line_of(finding.place.range.start);
    let last = line_of(finding.place.range.end.saturating_sub(1).max(finding.place.range.start));
    let related: Vec<usize> = finding
        .related
        .iter()
        .filter(|label| label.place.path == finding.place.path)
        .map(|label| line_of(label.place.range.start))
        .collect();
    let near = |line: usize| line.abs_diff(first) <= SHOWN / 2;
    let from = related.iter().copied().filter(|line| near(*line)).fold(first, usize::min).saturating_sub(AROUND);
    let to = related.iter().copied().filter(|line| near(*line)).fold(last, usize::max) + AROUND;
    let to = to.min(lines.len().saturating_sub(1)).min(from + SHOWN);
    // In a notebook no further than the cell.
    let cell = source.cell(finding.place.range.start);
    let base = cell.as_ref().map_or(0, |(cell, _)| line_of(cell.start));
    let from = from.max(base);
    let to = cell.map_or(to, |(_, bytes)| to.min(line_of(bytes.end.saturating_sub(1).max(bytes.start)))).max(from);
    out.push_str("<pre>");
    for line in from..=to {
        let content = text.get(lines.range(text, line)).unwrap_or("");
        let class = if (first..=last).contains(&line) {
            "flagged"
        } else if related.contains(&line) {
            "related"
        } else {
            "plain"
        };
        let _ = writeln!(out, "<span class=\"{class}\"><i>{:>5}</i> {}</span>", line + 1 - base, escaped(content));
    }
    out.push_str("</pre>\n");
}

fn witness_list(out: &mut String, witness: &Witness, finding: &Finding, report: &Report) {
    let place = |place: &crate::Place| {
        let line = report.sources.start(place).line_words();
        if place.path == finding.place.path {
            format!("line {line}")
        } else {
            format!("{}:{line}", escaped(&place.path))
        }
    };
    let mut rows = Vec::new();
    for step in &witness.path {
        rows.push(("path", format!("{}: {}", place(&step.place), code_words(&step.message))));
    }
    if let Some(launch) = &finding.claim.launch {
        let [grid, block] = [launch.grid, launch.block].map(super::full::extent);
        let text = format!(
            "grid {grid}, block {block}, {} bytes of dynamic shared memory, {}",
            launch.shared_bytes,
            place(&launch.site)
        );
        rows.push(("launch", text));
    }
    if !witness.bindings.is_empty() {
        let all: Vec<String> =
            witness.bindings.iter().map(|(name, value)| format!("{} = {value}", escaped(name))).collect();
        rows.push(("with", all.join(", ")));
    }
    for access in finding.claim.accesses() {
        let [block, thread] = [access.block, access.thread].map(super::full::extent);
        rows.push((
            "access",
            format!(
                "block {block}, thread {thread}: {} of element {} of {}, {}",
                access.kind.name(),
                access.index,
                access.extent,
                place(&access.site)
            ),
        ));
    }
    rows.extend(witness.assumptions.iter().map(|assumption| ("assumed", code_words(assumption))));
    list(out, "Witness", &rows);
}

fn evidence(out: &mut String, done: &crate::Verification, page: &Page) {
    let mut rows = Vec::new();
    if !done.reason.is_empty() {
        rows.push(("because", code_words(&done.reason)));
    }
    if !done.evidence.back_end.is_empty() {
        rows.push(("by", escaped(&done.evidence.back_end)));
    }
    for record in &done.evidence.records {
        let axes = |name: &str, axes: Option<[u64; 3]>| {
            axes.map(|axes| format!(" {name} {}", super::full::extent(axes))).unwrap_or_default()
        };
        let place = match (&record.path, record.cell, record.line) {
            (Some(path), Some(cell), Some(line)) => format!(" at {}:cell {}:{line}", escaped(path), cell + 1),
            (Some(path), None, Some(line)) => format!(" at {}:{line}", escaped(path)),
            _ => String::new(),
        };
        let kernel =
            record.kernel.as_ref().map(|kernel| format!(" in <code>{}</code>", escaped(kernel))).unwrap_or_default();
        rows.push((
            "seen",
            format!(
                "{}{kernel}{place}{}{}<pre>{}</pre>",
                escaped(&record.kind),
                axes("block", record.block),
                axes("thread", record.thread),
                escaped(&record.text)
            ),
        ));
    }
    rows.extend(done.evidence.command.iter().map(|command| ("command", format!("<code>{}</code>", escaped(command)))));
    for (name, file) in [("log", &done.evidence.log), ("reproducer", &done.evidence.reproducer)] {
        if let Some(file) = file {
            let href = format!("{}{}", page.base, super::uri::reference(file).0);
            rows.push((name, format!("<a href=\"{}\">{}</a>", escaped(&href), escaped(file))));
        }
    }
    list(out, "Evidence", &rows);
}

fn list(out: &mut String, title: &str, rows: &[(&str, String)]) {
    if rows.is_empty() {
        return;
    }
    let _ = write!(out, "<h3>{title}</h3>\n<dl>");
    for (name, value) in rows {
        let _ = write!(out, "<dt>{name}</dt><dd>{value}</dd>");
    }
    out.push_str("</dl>\n");
}

/// Text in which what stands in back quotes is code.
pub(crate) fn code_words(text: &str) -> String {
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            let _ = write!(out, "<code>{}</code>", escaped(part));
        } else {
            out.push_str(&escaped(part));
        }
    }
    out
}

/// Text as HTML, in content and in attributes; characters that HTML cannot hold are replaced.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if crate::plain::steers(c) || crate::names::byte(c).is_some() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

const HEAD: &str = r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>cudalint: findings and what a GPU said</title>
<style>
:root { color-scheme: light dark; --line: #8884; --confirmed: #c62828; --quiet: #777; --mark: #ff980033; --near: #2196f322; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
h1 { margin: 0; } h2 { font-size: 1.1rem; margin: 0; } h3 { font-size: .9rem; margin: .8rem 0 .2rem; }
section { border: 1px solid var(--line); border-left: 6px solid var(--quiet); border-radius: 6px; margin: 1rem 0; padding: .8rem 1rem; }
section.confirmed { border-left-color: var(--confirmed); }
.verdict { border: 1px solid currentColor; border-radius: 1rem; color: var(--quiet); font-size: .8rem; padding: .1rem .6rem; }
.confirmed .verdict { color: var(--confirmed); }
.place { color: var(--quiet); margin: .2rem 0; } .message { margin: .4rem 0; }
pre { background: #8881; border-radius: 4px; margin: .4rem 0; overflow-x: auto; padding: .5rem; }
pre, code { font: 13px/1.45 ui-monospace, monospace; }
pre span { display: block; } pre span.flagged { background: var(--mark); } pre span.related { background: var(--near); }
pre i { color: var(--quiet); font-style: normal; user-select: none; }
dl { display: grid; gap: .15rem 1rem; grid-template-columns: max-content minmax(0, 1fr); margin: .2rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.counts { display: flex; flex-wrap: wrap; gap: 1.5rem; list-style: none; padding: 0; } .counts b { font-size: 1.4rem; }
.counts .confirmed b { color: var(--confirmed); }
</style>
</head>
<body>
"#;
