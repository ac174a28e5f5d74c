//! The verdict that a tool's report gives.

use crate::lab::End;
use crate::matching::{Code, Fit, Target, code_of, describe, evidence, fit};
use crate::tools::sanitizer::{Category, Notice, Record, SanitizerReport, base_name};
use cudalint_findings::model::{EvidenceRecord, Method, Verdict};

/// Matching records that become evidence.
const RECORDS: usize = 8;

/// Whether a run came to the finding's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It did.
    Reached,
    /// It did not: in words.
    Missed(String),
    /// Nothing tells.
    Unknown,
    /// Nothing tells, and the program fails by itself: its last words.
    Failed(String),
}

/// What was seen of a run under a tool.
#[derive(Clone, Debug)]
pub struct Seen<'a> {
    /// What the tool said.
    pub report: &'a SanitizerReport,
    /// How the tool ended.
    pub end: &'a End,
    /// Whether the same program, alone, came to the finding's place.
    pub reach: Reach,
    /// The tool: `memcheck`.
    pub tool: &'a str,
}

/// A verdict with its reason and records.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// In one sentence, why.
    pub reason: String,
    /// Matching records, or a few of those that were seen instead.
    pub records: Vec<EvidenceRecord>,
}

/// Judges what a tool said of a program.
pub fn judge(target: &Target<'_>, seen: &Seen<'_>) -> Judged {
    let fits: Vec<(&Record, Fit)> = seen.report.records.iter().map(|record| (record, fit(target, record))).collect();
    if let Some(judged) = confirmed(target, seen, &fits) {
        return judged;
    }
    let (verdict, reason) = undecided(target, seen).unwrap_or_else(|| not_observed(seen));
    let mut others: Vec<(&Record, &Fit)> = Vec::new();
    for (record, fit) in &fits {
        let new = |other: &&(&Record, &Fit)| describe(other.0) == describe(record);
        if others.len() < RECORDS && !others.iter().any(|other| new(&other)) {
            others.push((record, fit));
        }
    }
    // What says most of the finding: a record of its own kind, else the first.
    let nearest = others
        .iter()
        .find(|(_, fit)| !fit.reason().ends_with("another kind of fault than the finding's"))
        .or(others.first())
        .map(|(_, fit)| format!("; {} saw {}", seen.tool, fit.reason()));
    Judged {
        verdict,
        reason: format!("{reason}{}", nearest.unwrap_or_default()),
        records: others.iter().map(|(record, _)| evidence(target, record)).collect(),
    }
}

fn confirmed(target: &Target<'_>, seen: &Seen<'_>, fits: &[(&Record, Fit)]) -> Option<Judged> {
    let mut matching: Vec<&(&Record, Fit)> = fits.iter().filter(|(_, fit)| fit.matches()).collect();
    // The witness's own thread first.
    matching.sort_by_key(|(_, fit)| !matches!(fit, Fit::Matches { same_thread: true, .. }));
    let (_, best) = matching.first()?;
    let more = match matching.len() - 1 {
        0 => String::new(),
        1 => ", and one record more".to_owned(),
        count => format!(", and {count} records more"),
    };
    Some(Judged {
        verdict: Verdict::Confirmed,
        reason: format!("{} saw {}{more}", seen.tool, best.reason()),
        records: matching.iter().take(RECORDS).map(|(record, _)| evidence(target, record)).collect(),
    })
}

/// Why the report decides nothing; none where it does.
fn undecided(target: &Target<'_>, seen: &Seen<'_>) -> Option<(Verdict, String)> {
    let report = seen.report;
    match seen.end {
        End::TimedOut => {
            return Some((Verdict::Timeout, format!("the run under {} took too long and was ended", seen.tool)));
        }
        End::OverLimit(problem) => {
            return Some((Verdict::Unviable, format!("the run under {} {problem}", seen.tool)));
        }
        End::NotStarted(problem) => return Some((Verdict::Unsupported, problem.clone())),
        End::Enough => {
            let reason = format!("the run under {} was ended once it had shown all that it was made for", seen.tool);
            return Some((Verdict::Unviable, reason));
        }
        End::Interrupted => return Some((Verdict::Unsupported, "interrupted".to_owned())),
        End::Exit(_) | End::Signal(_) => {}
    }
    if report.notices.contains(&Notice::NoCuda) {
        return Some((Verdict::Unviable, "the program ended without a call of CUDA".to_owned()));
    }
    if let Some(words) = report.refusal() {
        return Some((Verdict::Unsupported, format!("{} cannot work here: {words}", seen.tool)));
    }
    if !report.complete {
        let problem = report.problems.first().map_or("it left no report", String::as_str);
        return Some((Verdict::Unsupported, format!("{} did not come to its end: {problem}", seen.tool)));
    }
    if report.unprinted > 0 {
        let printed = report.records.len();
        let reason = format!("{} left out {} records behind the first {printed}", seen.tool, report.unprinted);
        return Some((Verdict::Unviable, reason));
    }
    if let Some(record) = ending(target, report) {
        let reason = format!("another fault ended the finding's kernel, or came before it ({})", describe(record));
        return Some((Verdict::Unviable, reason));
    }
    match &seen.reach {
        Reach::Missed(reason) => Some((Verdict::Unviable, reason.clone())),
        Reach::Failed(words) => Some((Verdict::Unviable, format!("the program fails by itself: {words}"))),
        Reach::Reached => None,
        Reach::Unknown if report.program_failed() => {
            Some((Verdict::Unviable, "the program did not end well, and nothing tells how far it came".to_owned()))
        }
        Reach::Unknown => None,
    }
}

/// A fault after which the finding's kernel did not go on, so that what would have come did not happen: one in that kernel,
/// or one that made every later call fail.
fn ending<'r>(target: &Target<'_>, report: &'r SanitizerReport) -> Option<&'r Record> {
    let ends = |record: &&Record| {
        matches!(
            record.category,
            Category::InvalidAccess { .. }
                | Category::DeviceFault { .. }
                | Category::DeviceHeap { .. }
                | Category::Barrier { .. }
        )
    };
    let function = target.function.as_deref().map(base_name);
    let own = |record: &&Record| {
        let names = record.device.iter().map(|frame| base_name(&frame.function));
        let kernel = record.kernel.iter().map(|kernel| kernel.base.clone());
        names.chain(kernel).any(|name| function.as_deref() == Some(name.as_str()))
    };
    let handed_on = report.records.iter().any(|record| {
        matches!(&record.category, Category::ApiError { code: Some(code), .. } if code_of(*code) == Code::Earlier)
    });
    // Only memcheck reports failing calls.
    let memcheck = matches!(target.verification.method, Method::Memcheck | Method::ApiError | Method::Leakcheck);
    let mut faults = report.records.iter().filter(ends);
    if handed_on || !memcheck { faults.next() } else { faults.find(own) }
}

fn not_observed(seen: &Seen<'_>) -> (Verdict, String) {
    let how = match seen.reach {
        Reach::Reached => "the run came to the finding's place",
        _ => "the program ran to its end",
    };
    (Verdict::NotObserved, format!("{how}, and {} saw no such fault", seen.tool))
}
