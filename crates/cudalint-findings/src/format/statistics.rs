//! `--statistics`: findings by rule, and what limits the analysis met, as a table.

use crate::report::Report;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Counts of findings by rule, the most frequent first, then of the limits given, each with what it limits; a limit
/// that was never met is left out.
pub fn render(report: &Report, limits: &[(String, usize)]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in &report.findings {
        *counts.entry(finding.rule.name).or_default() += 1;
    }
    let mut rules: Vec<(&str, usize)> = counts.into_iter().collect();
    rules.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let limits: Vec<(&str, usize)> =
        limits.iter().filter(|(_, count)| *count > 0).map(|(name, count)| (name.as_str(), *count)).collect();

    let widest = rules.iter().chain(&limits).map(|(_, count)| *count).max().unwrap_or(0).to_string().len();
    let mut out = String::new();
    for (name, count) in rules {
        let _ = writeln!(out, "{count:>widest$}  {name}");
    }
    if !limits.is_empty() {
        out.push_str("limits met:\n");
        for (name, count) in limits {
            let _ = writeln!(out, "{count:>widest$}  {}", crate::plain::one_line(name));
        }
    }
    out
}
