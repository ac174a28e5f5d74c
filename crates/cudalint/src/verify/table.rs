//! The table at the end of a verifying run: rules down, verdicts across.

use crate::check::counted;
use cudalint_findings::{Report, Verdict};
use cudalint_verify::run;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const VERDICTS: [Verdict; 6] = [
    Verdict::Confirmed,
    Verdict::NotObserved,
    Verdict::Refuted,
    Verdict::Unviable,
    Verdict::Timeout,
    Verdict::Unsupported,
];

/// The table, and a line that says where the time went. Verdicts that nothing has take no column.
pub fn of(report: &Report, outcome: &run::RunReport) -> String {
    let mut rows: BTreeMap<&str, [usize; VERDICTS.len()]> = BTreeMap::new();
    for finding in &report.findings {
        let Some(done) = &finding.verification else { continue };
        let row = rows.entry(finding.rule.name).or_default();
        if let Some(place) = VERDICTS.iter().position(|verdict| *verdict == done.verdict) {
            row[place] += 1;
        }
    }
    let total: [usize; VERDICTS.len()] = std::array::from_fn(|place| rows.values().map(|row| row[place]).sum());
    let columns: Vec<usize> = (0..VERDICTS.len()).filter(|place| total[*place] > 0).collect();
    let mut text = String::new();
    if !columns.is_empty() {
        let wide = rows.keys().map(|rule| rule.len()).max().unwrap_or(0).max("all".len());
        let _ = write!(text, "{:wide$}", "");
        for place in &columns {
            let _ = write!(text, "  {}", VERDICTS[*place].name());
        }
        text.push('\n');
        for (name, row) in rows.iter().map(|(name, row)| (*name, row)).chain([("all", &total)]) {
            let _ = write!(text, "{name:wide$}");
            for place in &columns {
                let width = VERDICTS[*place].name().len();
                let _ = write!(text, "  {:>width$}", row[*place]);
            }
            text.push('\n');
        }
    }
    let verified = counted(outcome.outcomes.len(), "finding");
    let _ = write!(text, "Verified {verified}");
    if outcome.taken_over > 0 {
        let _ = write!(text, ", {} of them in an earlier run", outcome.taken_over);
    }
    if outcome.outcomes.len() < outcome.selected {
        let _ = write!(text, " of {}", outcome.selected);
    }
    let _ = writeln!(text, ": {}.", times(outcome));
    text.push_str(&reached(outcome));
    text
}

/// What the project's own run comes to, in one line; nothing where no project was run.
fn reached(outcome: &run::RunReport) -> String {
    let attempts = || outcome.outcomes.iter().flat_map(|(_, outcome)| &outcome.attempts);
    let told: Vec<(bool, Verdict)> = attempts().filter_map(|it| Some((it.reached?, it.verdict))).collect();
    if told.is_empty() {
        return String::new();
    }
    let to = told.iter().filter(|(reached, _)| *reached).count();
    let shown = told.iter().filter(|(reached, verdict)| *reached && *verdict == Verdict::Confirmed).count();
    format!(
        "The project's own run comes to {to} of {}: it shows {shown}, and {} without a fault.\n",
        counted(told.len(), "finding"),
        to - shown
    )
}

/// Where the time went, in words.
pub fn times(outcome: &run::RunReport) -> String {
    let times = &outcome.times;
    format!(
        "{:.1} s with {} at one time ({:.1} s of compiling, {:.1} s of running, {:.1} s of waiting in all)",
        times.wall,
        counted(times.jobs, "finding"),
        // The sum of nothing is a negative zero.
        times.build + 0.0,
        times.run + 0.0,
        times.wait + 0.0
    )
}
