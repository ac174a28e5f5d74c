//! `full`: for people. A header line, the source with its labels, the witness in words, help and fix.

use super::common::{Options, paint};
use super::snippet::Snippet;
use crate::finding::{Applicability, Finding, Label, LaunchWitness, Place, Witness};
use crate::lines::floor_char_boundary;
use crate::plain::one_line;
use crate::report::Report;
use crate::sources::Sources;
use std::fmt::Write;
use std::sync::Arc;

/// Related places that are all shown with their source. Of more, the first few are, and the others are named by their
/// lines, so that a finding with a hundred places does not fill ten screens.
const ALL_RELATED: usize = 6;
/// Related places shown when there are more than [`ALL_RELATED`].
const FEW_RELATED: usize = 3;
/// Related places named by their lines; only the machine formats list all of more.
const NAMED_RELATED: usize = 40;
/// Records of a tool that are shown; the evidence holds all.
const SHOWN_RECORDS: usize = 2;

/// Everything about every finding, in the order of [`Report::by_importance`], with an empty line after each; of what is
/// folded ([`Options::fold`]) a line.
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    let snippets = Snippet::new(options);
    for finding in super::folded::listed(report, options) {
        finding_text(&mut out, finding, report, &snippets, options);
        out.push('\n');
    }
    out.push_str(&super::folded::line(report, options));
    out.push_str(&super::common::incomplete(report, options));
    out
}

fn finding_text(out: &mut String, finding: &Finding, report: &Report, snippets: &Snippet, options: &Options) {
    let head = super::common::head(finding, options);
    let message = one_line(&finding.message);
    let message = paint(&message, "1", options.color);
    let _ = writeln!(out, "{head} ({}): {message}", finding.confidence.name());

    // A related place that is the primary one only adds its words.
    let (same, related): (Vec<&Label>, Vec<&Label>) =
        finding.related.iter().partition(|label| label.place == finding.place);
    let words = match same.first() {
        Some(same) if finding.label.is_empty() => &same.message,
        _ => &finding.label,
    };
    let shown = if related.len() > ALL_RELATED { FEW_RELATED } else { related.len() };
    let (shown, named) = related.split_at(shown);
    let of_file =
        |path: &Arc<str>| -> Vec<&Label> { shown.iter().filter(|label| label.place.path == *path).copied().collect() };
    snippets.render(out, report, &finding.place, words, &of_file(&finding.place.path));
    let mut done: Vec<&Arc<str>> = vec![&finding.place.path];
    for label in shown {
        if !done.contains(&&label.place.path) {
            done.push(&label.place.path);
            if let Some((first, rest)) = of_file(&label.place.path).split_first() {
                snippets.render(out, report, &first.place, &first.message, rest);
            }
        }
    }
    if !named.is_empty() {
        // A line that has several of them is named once.
        let mut places: Vec<&Place> = named.iter().map(|label| &label.place).collect();
        places.sort_by_key(|place| (place.path != finding.place.path, &place.path, place.range.start));
        let mut lines: Vec<String> = Vec::new();
        for place in places {
            let line = report.sources.start(place).line_words();
            let file = if place.path == finding.place.path { String::new() } else { format!("{}:", place.path) };
            let text = format!("{file}{line}");
            if lines.last() != Some(&text) {
                lines.push(text);
            }
        }
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let more = if lines.len() > NAMED_RELATED { ", …" } else { "" };
        lines.truncate(NAMED_RELATED);
        let text = format!("{} more, at {word} {}{more}", named.len(), lines.join(", "));
        note(out, "also", &text, options);
    }
    if let Some(witness) = &finding.witness {
        witness_text(out, finding, witness, report, options);
    }
    if let Some(help) = &finding.help {
        note(out, "help", help, options);
    }
    if let Some(fix) = &finding.fix {
        let review = match fix.applicability {
            Applicability::Safe => "",
            Applicability::Unsafe => " (needs review)",
            Applicability::Display => " (to be done by hand)",
        };
        note(out, "fix", &format!("{}{review}", fix.message), options);
    }
    if let Some(done) = &finding.verification {
        let back_end = match done.evidence.back_end.as_str() {
            "" | "none" => String::new(),
            back_end => format!(" by {back_end}"),
        };
        note(out, "verified", &format!("{}{back_end}", done.words()), options);
        if !done.reason.is_empty() {
            note(out, "because", &done.reason, options);
        }
        for record in done.evidence.records.iter().take(SHOWN_RECORDS) {
            note(out, "seen", record.text.lines().next().unwrap_or(""), options);
        }
        if let Some(reproducer) = &done.evidence.reproducer {
            note(out, "reproducer", reproducer, options);
        }
    }
}

/// The configuration of a launch as its language writes it.
pub(super) fn configuration(launch: &LaunchWitness, sources: &Sources) -> String {
    let [grid, block] = [launch.grid, launch.block].map(extent);
    match (launch.shared_bytes, is_python(&launch.site, sources)) {
        (0, false) => format!("<<<{grid}, {block}>>>"),
        (bytes, false) => format!("<<<{grid}, {block}, {bytes}>>>"),
        (0, true) => format!("[{grid}, {block}]"),
        (bytes, true) => format!("[{grid}, {block}, 0, {bytes}]"),
    }
}

/// Whether a place is in Python: by its file's name, in a document by the word of the fence around it, in a notebook by what a
/// magic on the cell's first line makes of the cell.
fn is_python(place: &Place, sources: &Sources) -> bool {
    let ends = |end: &str| place.path.ends_with(end);
    if ends(".py") {
        return true;
    }
    let Some(source) = sources.get(&place.path) else { return ends(".ipynb") };
    let at = floor_char_boundary(source.text(), place.range.start);
    if ends(".ipynb") {
        let cell = source.cell(at).and_then(|(_, bytes)| source.text().get(bytes)).unwrap_or("");
        return !(cell.trim_start().starts_with("%%") && cell.contains("__global__"));
    }
    let before = source.text().get(..at).unwrap_or("");
    let mut lines = before.lines().rev().map(|line| line.trim_start_matches([' ', '\t', '-', '*', '+', '>']));
    let fence = lines.find(|line| line.starts_with("```") || line.starts_with("~~~"));
    let word = fence.map(|line| line.trim_start_matches(['`', '~', ' ', '{', '.']).to_ascii_lowercase());
    let word = word.as_deref().and_then(|line| line.split(|c: char| !c.is_ascii_alphanumeric()).next());
    matches!(word, Some("python" | "python3" | "py"))
}

/// The numbers that show a finding, in words.
fn witness_text(out: &mut String, finding: &Finding, witness: &Witness, report: &Report, options: &Options) {
    let line = |place: &Place| {
        let at = report.sources.start(place);
        match at.cell {
            _ if place.path != finding.place.path => format!("{}:{}", place.path, at.line_words()),
            Some(cell) => format!("cell {}, line {}", cell + 1, at.line),
            None => format!("line {}", at.line),
        }
    };
    for step in &witness.path {
        note(out, "path", &format!("{}: {}", line(&step.place), step.message), options);
    }
    if let Some(launch) = &finding.claim.launch {
        note(out, "launch", &format!("{} at {}", configuration(launch, &report.sources), line(&launch.site)), options);
    }
    if !witness.bindings.is_empty() {
        let all: Vec<String> = witness.bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        note(out, "with", &all.join(", "), options);
    }
    for access in finding.claim.accesses() {
        let [block, thread] = [access.block, access.thread].map(extent);
        let (kind, index, extent, at) = (access.kind.name(), access.index, access.extent, line(&access.site));
        let text = format!("block {block}, thread {thread}: {kind} of element {index} of {extent} at {at}");
        note(out, "access", &text, options);
    }
    for assumption in &witness.assumptions {
        note(out, "assumed", assumption, options);
    }
}

/// Three extents or indices.
pub(super) fn extent(axes: [u64; 3]) -> String {
    let [x, y, z] = axes;
    format!("({x}, {y}, {z})")
}

/// A line of words under the source: a name, then text wrapped to the width.
fn note(out: &mut String, name: &str, text: &str, options: &Options) {
    let indent = "    ";
    let _ = write!(out, "{indent}{}", paint(&format!("{name}:"), "36", options.color));
    let mut column = indent.len() + name.len() + 1;
    for line in text.lines() {
        for word in one_line(line).split_whitespace() {
            let wide = word.chars().count();
            // What a build server may take for a command begins no line.
            if column + 1 + wide > options.width.max(40) && !word.starts_with("::") {
                out.push('\n');
                out.push_str(indent);
                out.push_str("   ");
                column = indent.len() + 3;
            }
            out.push(' ');
            out.push_str(word);
            column += 1 + wide;
        }
    }
    out.push('\n');
}
