//! What a Python script computes, against what it means: the driver repeats what the flagged statement does as it is meant,
//! and compares what both leave in memory.

use super::memory::compared;
use crate::experiment::watchpoint::look;
use crate::experiment::{Judgement, driver};
use crate::lab::{Bench, RunOutcome};
use crate::scenario::PythonProgram;
use crate::tools::probe_log::{Call, Memory};
use cudalint_findings::Shows;
use cudalint_findings::claim::Difference;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Site, Verdict};
use serde::Deserialize;
use std::collections::BTreeSet;

/// A line of the driver's `compare.log`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fact {
    /// A statement on this line ran.
    reached: Option<u32>,
    /// Classes of the kernels that it names.
    kernels: Vec<String>,
    /// A statement on this line launched a kernel.
    launched: Option<u32>,
    grid: [u64; 3],
    block: [u64; 3],
    arguments: Vec<String>,
    /// `argument`, `cover`, `copy` or `captured`.
    kind: String,
    line: u32,
    /// Whether a comparison found a difference.
    differs: Option<bool>,
    /// Why a comparison could not be made.
    problem: Option<String>,
    text: String,
    kernel: Option<String>,
    /// What a call that sets or copies memory did, its function, and whether it raised an exception (not 0).
    memory: Option<Memory>,
    function: String,
    real: i64,
}

/// A line of the driver's `negative.log`.
#[derive(Debug, Deserialize)]
struct Negative {
    site: usize,
    indices: Vec<i64>,
    shape: Option<Vec<i64>>,
    block: [u64; 3],
    thread: [u64; 3],
}

/// A line of the driver's `pairs.log`: where two arrays in dynamic shared memory begin.
#[derive(Debug, Deserialize)]
struct Pair {
    line: u32,
    function: String,
    arrays: [String; 2],
    addresses: [i64; 2],
}

/// What of `sites.json` matters here.
#[derive(Debug, Default, Deserialize)]
struct Logged {
    sites: Vec<Place>,
}

#[derive(Clone, Debug, Deserialize)]
struct Place {
    line: u32,
    text: String,
    function: String,
}

/// Performs the experiment on a script.
pub(super) fn perform(finding: &FindingEntry, program: &PythonProgram, bench: &Bench<'_>) -> Judgement {
    let run = match look(finding, program, bench) {
        Ok(run) => run,
        Err(judgement) => return *judgement,
    };
    let python = bench.lab.machine.python.as_ref();
    let back_end = python.map_or_else(String::new, |python| driver::back_end(python, &program.packages));
    let (verdict, reason, records, log) = judged(finding, bench, &run);
    let mut judgement = Judgement::of_run(verdict, reason, back_end, &run, records);
    judgement.evidence.log = log.or(judgement.evidence.log);
    judgement
}

type Judged = (Verdict, String, Vec<EvidenceRecord>, Option<String>);

fn judged(finding: &FindingEntry, bench: &Bench<'_>, run: &RunOutcome) -> Judged {
    let difference = match &finding.claim.shows {
        Shows::Memory { difference } => Some(difference),
        _ => None,
    };
    if let Some(judged) =
        shared_arrays(finding, bench).filter(|_| matches!(difference, Some(Difference::SameAddress { .. })))
    {
        return judged;
    }
    // A grid's threads and an index below zero are different questions about the same lines.
    let of_cover = driver::cover(finding).is_some();
    if difference.is_none()
        && let Some(judged) = wrapped(finding, bench)
    {
        return judged;
    }
    let (path, mut facts) = driver::entries::<Fact>(bench, "compare.log");
    // What a launch takes is another question.
    facts.retain(|fact| fact.kind != "transfer");
    let log = Some(bench.relative(&path));
    if let Some((verdict, line, text)) = of_memory(finding, difference, &facts) {
        let reason = format!("{}:{line}: {text}", finding.path);
        let records = match verdict {
            Verdict::Confirmed | Verdict::Refuted => {
                vec![EvidenceRecord::at("memory read back", &finding.path, line, text)]
            }
            _ => Vec::new(),
        };
        return (verdict, reason, records, log);
    }
    let asked = |fact: &&Fact| (fact.kind == "cover") == of_cover;
    let compared = || facts.iter().filter(|fact| fact.differs.is_some()).filter(asked);
    if let Some(fact) = compared().find(|fact| fact.differs == Some(true)) {
        let kind = match fact.kind.as_str() {
            "copy" => "copy differs",
            _ => "memory differs",
        };
        let record = EvidenceRecord::at(kind, &finding.path, fact.line, &fact.text).in_kernel(fact.kernel.clone());
        return (Verdict::Confirmed, format!("{}:{}: {}", finding.path, fact.line, fact.text), vec![record], log);
    }
    if let Some(fact) = compared().next() {
        return (Verdict::NotObserved, format!("{}:{}: {}", finding.path, fact.line, fact.text), Vec::new(), log);
    }
    let unviable = |reason: String| (Verdict::Unviable, reason, Vec::new(), None);
    if let Some(problem) = facts.iter().find_map(|fact| fact.problem.clone()) {
        return unviable(format!("nothing could be compared: {problem}"));
    }
    let line = finding.range.start.line;
    if run.failed() {
        return unviable(format!("the script fails by itself: {}", driver::last_line(&run.stderr)));
    }
    if facts.iter().all(|fact| fact.reached.is_none()) {
        return unviable(format!("the script ends without coming to line {line}"));
    }
    unviable(uncompared(&facts, line))
}

/// Whether the finding's array in dynamic shared memory begins where another one does; none where no such array is there.
fn shared_arrays(finding: &FindingEntry, bench: &Bench<'_>) -> Option<Judged> {
    let (path, pairs) = driver::entries::<Pair>(bench, "pairs.log");
    let (first, last) = finding.range.lines();
    let pair = pairs.iter().find(|pair| (first..=last).contains(&pair.line))?;
    let ([one, other], [at, other_at], kernel) = (&pair.arrays, pair.addresses, &pair.function);
    let (verdict, text) = if at == other_at {
        let text = format!("in `{kernel}`, `{one}` and `{other}` both begin at address {at:#x} of shared memory");
        (Verdict::Confirmed, text)
    } else {
        let text =
            format!("in `{kernel}`, `{one}` begins at address {at:#x} of shared memory and `{other}` at {other_at:#x}");
        (Verdict::Refuted, text)
    };
    let record = EvidenceRecord::at("addresses", &finding.path, pair.line, &text).in_kernel(kernel.clone());
    let reason = format!("{}:{}: {text}", finding.path, pair.line);
    Some((verdict, reason, vec![record], Some(bench.relative(&path))))
}

/// What the calls at the place that set or copy memory say, as of CUDA C++; none where there is none.
fn of_memory(
    finding: &FindingEntry,
    difference: Option<&Difference<Site>>,
    facts: &[Fact],
) -> Option<(Verdict, u32, String)> {
    let mut judged = facts.iter().filter_map(|fact| {
        let memory = fact.memory.clone()?;
        let call = Call {
            sequence: 0,
            thread: 0,
            function: fact.function.clone(),
            file: finding.path.clone(),
            line: fact.line,
            id: 0,
            kind: 1,
            real: fact.real,
            handed: fact.real,
            memory: None,
            work: None,
            look: None,
            brought: None,
        };
        let (verdict, text) = compared(difference?, &call, &memory);
        Some((verdict, fact.line, text))
    });
    let first = judged.next()?;
    if first.0 == Verdict::Confirmed {
        return Some(first);
    }
    Some(judged.find(|(verdict, ..)| *verdict == Verdict::Confirmed).unwrap_or(first))
}

/// Why nothing was compared although the place was reached.
fn uncompared(facts: &[Fact], line: u32) -> String {
    let launched = facts.iter().filter(|fact| fact.launched.is_some()).find_map(|fact| {
        let triple = |[x, y, z]: [u64; 3]| format!("({x}, {y}, {z})");
        let kernel = fact.kernel.as_deref()?;
        let arguments = fact.arguments.join(", ");
        Some(format!("launched `{kernel}` [{}, {}] with ({arguments})", triple(fact.grid), triple(fact.block)))
    });
    let kinds: BTreeSet<&str> = facts.iter().flat_map(|fact| &fact.kernels).map(String::as_str).collect();
    match launched {
        Some(launched) => format!("line {line} {launched}, and nothing of that could be compared with what is meant"),
        None if !kinds.is_empty() => {
            let kinds: Vec<&str> = kinds.into_iter().collect();
            format!("line {line} ran, and calls of {} are not compared with what is meant", kinds.join(" or "))
        }
        None => format!("line {line} ran, and did nothing that could be compared with what is meant"),
    }
}

/// An index below zero, which Numba counts from the end of the axis.
fn wrapped(finding: &FindingEntry, bench: &Bench<'_>) -> Option<Judged> {
    let (_, sites) = driver::log(bench, "sites.json");
    let sites: Logged = serde_json::from_str(&sites).ok()?;
    let lines = driver::look_at(finding).lines;
    let here = |place: &&Place| lines.iter().any(|(first, last)| (*first..=*last).contains(&place.line));
    let place_of = |fact: &Negative| sites.sites.get(fact.site).filter(here).cloned();
    sites.sites.iter().find(here)?;
    let (path, facts) = driver::entries::<Negative>(bench, "negative.log");
    let witnessed = |fact: &&Negative| {
        finding.claim.accesses().iter().any(|access| access.thread == fact.thread && access.block == fact.block)
    };
    let own: Vec<&Negative> = facts.iter().filter(|fact| place_of(fact).is_some()).collect();
    let Some(fact) = own.iter().copied().find(witnessed).or(own.first().copied()) else {
        let (_, watched) = driver::log(bench, "watch.log");
        let text = "the accesses are logged, and no index is below zero".to_owned();
        return watched.contains("\nend ").then_some((Verdict::NotObserved, text, Vec::new(), None));
    };
    let place = place_of(fact)?;
    let axis = fact.indices.iter().position(|index| *index < 0)?;
    let index = fact.indices.get(axis)?;
    let taken =
        fact.shape.as_ref().and_then(|shape| shape.get(axis)).map_or_else(String::new, |extent| {
            format!(", which Numba takes for element {} of {extent}", extent + index)
        });
    let triple = |[x, y, z]: [u64; 3]| format!("({x},{y},{z})");
    let text = format!(
        "thread {} of block {} evaluates `{}` with index {index}{taken}",
        triple(fact.thread),
        triple(fact.block),
        place.text
    );
    let record = EvidenceRecord {
        block: Some(fact.block),
        thread: Some(fact.thread),
        ..EvidenceRecord::at("negative index", &finding.path, place.line, &text).in_kernel(place.function)
    };
    Some((Verdict::Confirmed, text, vec![record], Some(bench.relative(&path))))
}
