//! Fixes on trial: the same experiment on the fixed source must not show the defect any more, and nothing new.

use super::programs::{Tried, Worker};
use crate::lab::Bench;
use crate::outcome::FixedOutcome;
use crate::subject::Subject;
use camino::Utf8Path;
use cudalint_findings::model::{Edit, Evidence, EvidenceRecord, FindingEntry, Verdict};

/// Verifies the fix of a finding. None where there is none, or nobody asked.
pub(super) fn verify(
    worker: &Worker<'_>,
    finding: &FindingEntry,
    subject: &Subject,
    tried: &Tried,
    bench: &Bench<'_>,
) -> Option<FixedOutcome> {
    let source = (worker.request.fixed?)(finding)?;
    let edits: Vec<&Edit> =
        finding.fix.iter().flat_map(|fix| &fix.edits).filter(|edit| edit.path == finding.path).collect();
    let mut outcome = FixedOutcome {
        holds: None,
        reason: String::new(),
        verdict: None,
        evidence: None,
        new_findings: source.new_findings,
        source: String::new(),
    };
    let problem = |reason: String, outcome| Some(FixedOutcome { reason, ..outcome });
    let name = Utf8Path::new(&finding.path).file_name().unwrap_or("source");
    let (bench, file) = match bench.below("fixed").and_then(|bench| {
        let file = bench.write(Utf8Path::new(name), &source.text)?;
        Ok((bench, file))
    }) {
        Ok(written) => written,
        Err(error) => return problem(format!("the fixed source cannot be written: {error}"), outcome),
    };
    outcome.source = bench.relative(&file);
    if !outcome.new_findings.is_empty() {
        outcome.holds = Some(false);
        let reason = format!("linting the fixed source says something new: {}", outcome.new_findings.join("; "));
        return problem(reason, outcome);
    }
    if tried.judgement.verdict != Verdict::Confirmed {
        return problem("the defect was not confirmed, so that no run can show that it is gone".to_owned(), outcome);
    }
    // What stands beside the user's file is found from the fixed one, too.
    let mut flags = subject.flags.clone();
    flags.extend(subject.file.parent().map(|folder| format!("-I{folder}")));
    let fixed = match Subject::read_as(&bench.folder, name, &flags, &subject.options) {
        Ok(fixed) => fixed,
        Err(reason) => return problem(reason, outcome),
    };
    let moved = moved(finding, name, &edits);
    let again = worker.try_programs(&moved, &fixed, &bench, Some(tried.best), Some(&finding.path));
    let judgement = again.judgement;
    let new = new_records(&tried.judgement.evidence, &judgement.evidence);
    (outcome.holds, outcome.reason) = match judgement.verdict {
        Verdict::Confirmed => (Some(false), format!("the defect is still there: {}", judgement.reason)),
        Verdict::NotObserved | Verdict::Refuted if new.is_empty() => {
            (Some(true), "the same experiment shows the defect no more".to_owned())
        }
        Verdict::NotObserved | Verdict::Refuted => {
            (Some(false), format!("something appears that was not there before: {}", new.join("; ")))
        }
        Verdict::Unviable | Verdict::Timeout | Verdict::Unsupported => {
            (None, format!("the fixed source decides nothing: {}", judgement.reason))
        }
    };
    outcome.verdict = Some(judgement.verdict);
    outcome.evidence = Some(judgement.evidence);
    Some(outcome)
}

/// What a tool reports of the fixed source and did not report of the source: kinds at kernels, since lines move.
fn new_records(before: &Evidence, after: &Evidence) -> Vec<String> {
    let same = |a: &EvidenceRecord, b: &EvidenceRecord| a.kind == b.kind && a.kernel == b.kernel;
    let new = after.records.iter().filter(|record| !before.records.iter().any(|known| same(known, record)));
    new.map(|record| record.text.clone()).collect()
}

/// The finding as it stands in the fixed file: its lines moved by the edits before them.
fn moved(finding: &FindingEntry, path: &str, edits: &[&Edit]) -> FindingEntry {
    let mut moved = finding.clone();
    let own = finding.path.as_str();
    let place = |line: &mut u32| *line = line_after(*line, edits);
    moved.path = path.to_owned();
    place(&mut moved.range.start.line);
    place(&mut moved.range.end.line);
    moved.claim = finding.claim.map(&|site| {
        let mut site = site.clone();
        if site.path == own {
            path.clone_into(&mut site.path);
            place(&mut site.range.start.line);
            place(&mut site.range.end.line);
        }
        site
    });
    moved.fix = None;
    moved
}

/// A line's number after the edits that end before it, or on it before its text.
fn line_after(line: u32, edits: &[&Edit]) -> u32 {
    let shift: i64 = edits
        .iter()
        .filter(|edit| edit.range.end.line < line || (edit.range.end.line == line && edit.range.end.column == 1))
        .map(|edit| edit.text.matches('\n').count() as i64 - i64::from(edit.range.end.line - edit.range.start.line))
        .sum();
    u32::try_from(i64::from(line) + shift).unwrap_or(line).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Edit, line_after};
    use cudalint_findings::model::{Position, Range};

    #[test]
    fn lines_move_by_the_edits_before_them() {
        let position = |line, column| Position { cell: None, line, column };
        let edit =
            |start, end, text: &str| Edit { path: String::new(), range: Range { start, end }, text: text.to_owned() };
        let insert = edit(position(3, 1), position(3, 1), "one\ntwo\n");
        let remove = edit(position(5, 1), position(7, 1), "");
        let within = edit(position(9, 4), position(9, 6), "x");
        let edits = [&insert, &remove, &within];
        assert_eq!([2, 3, 4, 7, 8, 9, 10].map(|line| line_after(line, &edits)), [2, 5, 6, 7, 8, 9, 10]);
    }
}
