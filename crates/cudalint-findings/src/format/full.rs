//! `full`: for people. A header line, the source with its labels, the witness in words, help and fix.

use super::snippet::Snippet;
use super::{Options, one_line, paint};
use crate::finding::{Applicability, Finding, Label, Witness};
use crate::report::Report;
use std::fmt::Write;
use std::sync::Arc;

/// Related places shown with their source; the others are named in one line, so that a finding with a hundred places
/// does not fill ten screens.
const SHOWN_RELATED: usize = 8;

/// Everything about every finding, in the order of [`Report::by_importance`], with an empty line after each.
pub fn render(report: &Report, options: &Options) -> String {
    let mut out = String::new();
    let snippets = Snippet::new(options);
    for finding in report.by_importance() {
        finding_text(&mut out, finding, report, &snippets, options);
        out.push('\n');
    }
    out
}

fn finding_text(out: &mut String, finding: &Finding, report: &Report, snippets: &Snippet, options: &Options) {
    let head = format!("{}[{}]", finding.severity.name(), finding.rule.name);
    let head = paint(&head, super::style(finding.severity), options.color);
    let message = one_line(&finding.message);
    let message = paint(&message, "1", options.color);
    let _ = writeln!(out, "{head} ({}): {message}", finding.confidence.name());

    let (shown, unshown) = finding.related.split_at(finding.related.len().min(SHOWN_RELATED));
    let same_file: Vec<&Label> = shown.iter().filter(|label| label.place.path == finding.place.path).collect();
    snippets.render(out, report, &finding.place, &finding.label, &same_file);
    let mut done: Vec<&Arc<str>> = vec![&finding.place.path];
    for label in shown {
        if done.contains(&&label.place.path) {
            continue;
        }
        done.push(&label.place.path);
        let others: Vec<&Label> = shown.iter().filter(|other| other.place.path == label.place.path).collect();
        if let Some((first, rest)) = others.split_first() {
            snippets.render(out, report, &first.place, &first.message, rest);
        }
    }
    if !unshown.is_empty() {
        let places: Vec<String> = unshown
            .iter()
            .map(|label| {
                let line = report.sources.start(&label.place).line;
                if label.place.path == finding.place.path {
                    line.to_string()
                } else {
                    format!("{}:{line}", label.place.path)
                }
            })
            .collect();
        let (what, line) = if places.len() == 1 { ("place", "line") } else { ("places", "lines") };
        note(out, "also", &format!("{} more {what}: {line} {}", places.len(), places.join(", ")), options);
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
        let device = done.evidence.device.as_ref().map(|device| format!(" on {device}")).unwrap_or_default();
        note(out, "verified", &format!("{} by {}{device}", done.verdict.name(), done.evidence.back_end), options);
    }
}

/// The numbers that show a finding, in words.
fn witness_text(out: &mut String, finding: &Finding, witness: &Witness, report: &Report, options: &Options) {
    for step in &witness.path {
        let at = report.sources.start(&step.place);
        let place = if step.place.path == finding.place.path {
            format!("line {}", at.line)
        } else {
            format!("{}:{}", step.place.path, at.line)
        };
        note(out, "path", &format!("{place}: {}", step.message), options);
    }
    if let Some(launch) = &witness.launch {
        let at = report.sources.start(&launch.place);
        let shared = if launch.shared_bytes == 0 { String::new() } else { format!(", {}", launch.shared_bytes) };
        let place = if launch.place.path == finding.place.path {
            format!("at line {}", at.line)
        } else {
            format!("at {}:{}", launch.place.path, at.line)
        };
        let text = format!("<<<{}, {}{shared}>>> {place}", extent(launch.grid), extent(launch.block));
        note(out, "launch", &text, options);
    }
    if !witness.bindings.is_empty() {
        let all: Vec<String> = witness.bindings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        note(out, "with", &all.join(", "), options);
    }
    for access in &witness.accesses {
        let at = report.sources.start(&access.place);
        let text = format!(
            "block {}, thread {}: {} of element {} of {} at line {}",
            extent(access.block),
            extent(access.thread),
            access.kind.name(),
            access.index,
            access.extent,
            at.line
        );
        note(out, "access", &text, options);
    }
    for assumption in &witness.assumptions {
        note(out, "assumed", assumption, options);
    }
}

/// Three extents or indices.
fn extent(axes: [u64; 3]) -> String {
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
            if column + 1 + wide > options.width.max(40) {
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
