//! What is asked of logged accesses, of which copy of the source, and what the answer comes to.

use crate::experiment::Judgement;
use crate::lab::RunOutcome;
use crate::subject::{Stretch, Subject};
use crate::watch::copy::{self, Copy};
use crate::watch::judge::{Answer, Question};
use crate::watch::log::Logged;
use crate::watch::{HEADER, sites, whole};
use cudalint_findings::Shows;
use cudalint_findings::claim::AccessFault;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Range, Verdict};
use cudalint_syntax::Span;
use std::collections::BTreeSet;

/// What evidence calls it.
pub(super) const BACK_END: &str = "cudalint watchpoints";
/// What a finding says of the logged accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// One access goes beyond its object.
    Bounds,
    /// One access reads an element within its object, in shared memory, that nobody has written.
    Unwritten,
    /// Two accesses have no order.
    Race,
    /// Threads of one block are at a barrier a different number of times.
    Arrivals,
}

impl Asked {
    pub fn of(finding: &FindingEntry) -> Self {
        match finding.claim.shows {
            Shows::Access { fault: AccessFault::Unwritten, .. } => Self::Unwritten,
            Shows::Access { .. } => Self::Bounds,
            Shows::Barrier => Self::Arrivals,
            _ => Self::Race,
        }
    }

    pub fn answer(self, question: &Question<'_>) -> Answer {
        match self {
            Self::Bounds => question.bounds(),
            Self::Unwritten => question.unwritten(),
            Self::Race => question.race(),
            Self::Arrivals => question.arrivals(),
        }
    }
}

/// The header of a copy. Where nobody may have written an element, all accesses of the witness's block are logged.
pub(super) fn header_for(finding: &FindingEntry) -> String {
    match witnessed_block(finding) {
        Some([x, y, z]) => format!("#define CUDALINT_WATCH_BLOCK {x}u, {y}u, {z}u\n{HEADER}"),
        None => HEADER.to_owned(),
    }
}

/// The block whose accesses are all logged; none where accesses on some lines are, of all blocks.
pub(super) fn witnessed_block(finding: &FindingEntry) -> Option<[u64; 3]> {
    finding.claim.accesses().first().map(|access| access.block).filter(|_| Asked::of(finding) == Asked::Unwritten)
}

/// The copy of a subject's text. `number_of` gives a line (from 1) its line in the user's file.
pub(super) fn copy_of(
    finding: &FindingEntry,
    subject: &Subject,
    stretch: &Stretch,
    number_of: impl Fn(u32) -> Option<u32>,
) -> Result<Copy, String> {
    let module = subject.module(stretch).ok_or_else(|| format!("{}: no CUDA C++", subject.path))?;
    let (text, root) = (&subject.text, stretch.parsed.root());
    if Asked::of(finding) == Asked::Arrivals {
        let (first, last) = finding.range.lines();
        let own = |line: u32| number_of(line).is_some_and(|shown| (first..=last).contains(&shown));
        let barriers = sites::barriers(module, text, own);
        if barriers.is_empty() {
            return Err(format!("no call of a block's barrier stands at line {first}"));
        }
        return Ok(copy::with_arrivals(text, module, root, &barriers, first));
    }
    if Asked::of(finding) == Asked::Unwritten {
        let (start, end) = (finding.range.start, finding.range.end);
        let (first, last) = finding.range.lines();
        let line_of =
            |shown: u32| (1..).zip(text.lines()).map(|(line, _)| line).find(|line| number_of(*line) == Some(shown));
        let (Some(from), Some(to)) = (line_of(first), line_of(last)) else {
            return Err(format!("the program has no line {first} of {}", finding.path));
        };
        let to = if last < end.line { subject.offset(to + 1, 1) } else { subject.offset(to, end.column) };
        let span = Span::new(subject.offset(from, start.column) as usize, to as usize);
        let places = whole::of_shared_array(module, text, span)?;
        return Ok(copy::at_places(text, module, root, &places, number_of));
    }
    let wanted = wanted_lines(finding);
    let copy =
        copy::with_watchpoints(text, module, root, |line| number_of(line).filter(|shown| wanted.contains(shown)));
    if copy.sites.is_empty() {
        let line = finding.range.start.line;
        return Err(format!("no access to memory that could be watched stands at line {line}"));
    }
    Ok(copy)
}

/// The lines at which a finding's accesses stand.
pub(super) fn wanted_lines(finding: &FindingEntry) -> BTreeSet<u32> {
    let range = |range: &Range| {
        let (first, last) = range.lines();
        first..=last
    };
    let mut lines: BTreeSet<u32> = range(&finding.range).collect();
    let accesses = finding.claim.accesses();
    if accesses.is_empty() {
        let sites = finding.claim.sites.iter().filter(|site| site.path == finding.path);
        lines.extend(sites.flat_map(|site| range(&site.range)));
    }
    lines.extend(accesses.iter().filter(|access| access.site.path == finding.path).map(|access| access.site.line()));
    lines
}

/// The record of a thread at the kernel's end.
fn arrivals(access: &Logged, record: EvidenceRecord) -> EvidenceRecord {
    let triple = |[x, y, z]: [u64; 3]| format!("({x},{y},{z})");
    let text = format!(
        "thread {} of block {} comes to the kernel's end and was at the barrier {} times, launch {}",
        triple(access.thread),
        triple(access.block),
        access.size,
        access.launch
    );
    EvidenceRecord { text, ..record }
}

pub(super) fn judgement(
    finding: &FindingEntry,
    question: &Question<'_>,
    answer: Answer,
    run: &RunOutcome,
    log: &str,
) -> Judgement {
    let record = |kind: &str, access: &Logged| EvidenceRecord {
        kind: kind.to_owned(),
        kernel: question.kernel(access).map(str::to_owned),
        path: Some(finding.path.clone()),
        line: question.site(access).map(|site| site.line),
        block: Some(access.block),
        thread: Some(access.thread),
        text: question.described(access),
        ..EvidenceRecord::default()
    };
    let (verdict, reason, records) = match answer {
        Answer::Race(a, b) => (
            Verdict::Confirmed,
            "two threads touch the same bytes, one of them writes, and no barrier stands between".to_owned(),
            vec![record("race", &a), record("race", &b)],
        ),
        Answer::Outside(access, (base, bytes)) => (
            Verdict::Confirmed,
            format!("the access lies outside its object, {bytes} bytes at {base:#x}"),
            vec![record("out of bounds", &access)],
        ),
        Answer::Unwritten(access) => (
            Verdict::Confirmed,
            "no thread of the block has written what is read there, and all accesses of the block are logged"
                .to_owned(),
            vec![record("uninitialized read", &access)],
        ),
        Answer::Arrivals(more, fewer) => (
            Verdict::Confirmed,
            format!(
                "two threads of one block come to the kernel's end: one was at the barrier {} times, the other {}",
                more.size, fewer.size
            ),
            [more, fewer].map(|access| arrivals(&access, record("barrier arrivals", &access))).into(),
        ),
        Answer::Inside(access) => (
            Verdict::Refuted,
            "the witness's own access was made, and lies within its object".to_owned(),
            vec![record("in bounds", &access)],
        ),
        Answer::NotSeen(reason) => (Verdict::NotObserved, reason, Vec::new()),
        Answer::NotReached => {
            let reason = match &question.log.off {
                Some(why) => format!("nothing was logged at the finding's lines: {why}"),
                None if question.log.launches.is_empty() => "the program launches no kernel".to_owned(),
                None => {
                    let failed = question.log.launches.iter().find_map(|it| it.status.filter(|status| *status != 0));
                    // What a kernel wrote down before it failed may be lost.
                    failed.map_or_else(
                        || "the finding's lines were not reached".to_owned(),
                        |status| {
                            format!(
                                "nothing was logged at the finding's lines, and a kernel failed with error {status}"
                            )
                        },
                    )
                }
            };
            (Verdict::Unviable, reason, Vec::new())
        }
    };
    let mut judgement = Judgement::of_run(verdict, reason, BACK_END, run, records);
    if !question.log.launches.is_empty() {
        judgement.evidence.log = Some(log.to_owned());
    }
    judgement
}
