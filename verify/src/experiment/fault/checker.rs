//! Checkers that fail to check: the call disappears with the check in another build, is made again when it fails, or the
//! error that is reported is not the one that was found.

use super::places::{MAX_PLACES, failure_of, spots};
use crate::api;
use crate::experiment::Judgement;
use crate::experiment::place::{Source, Spot, calls_word};
use crate::experiment::probed::{BACK_END, Probed, Seen, ending, not_reached, record, usable};
use crate::lab::{Bench, End};
use crate::probe::{Plan, Site, Task, Watch};
use crate::scenario::CudaProgram;
use crate::tools::probe_log::{Call, Event, Trace};
use cudalint_findings::Fault;
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_program::api::effects::ErrorRole;
use std::collections::BTreeSet;

use super::definition::Definition;

/// Macros that may take a checker's call away, beside `NDEBUG`, that are tried.
const MAX_SWITCHES: usize = 4;

pub(super) fn perform(
    finding: &FindingEntry,
    fault: Fault,
    program: &CudaProgram,
    bench: &Bench<'_>,
) -> Result<Judgement, Judgement> {
    let source = Source::find(&finding.path, program);
    let definition = Definition::around(&source, &finding.range);
    let places = spots(finding, program);
    let Some(primary) = places.first() else { return Err(Judgement::without_run(Verdict::Unviable, "no place")) };
    let uses = match &definition {
        Some(definition) => {
            Uses { spot: primary, calls: CallsOf::Macro { names: definition.names(&source), source: &source } }
        }
        None => Uses { spot: primary, calls: CallsOf::Places(&places) },
    };
    match fault {
        Fault::ClearedError => {
            return last_error(program, bench, &uses, places.get(1).filter(|_| definition.is_none()));
        }
        Fault::RepeatedCall => return twice(program, bench, &uses),
        _ => {}
    }
    let mut switches = vec!["NDEBUG".to_owned()];
    for name in definition.iter().flat_map(|definition| &definition.conditions) {
        if !switches.contains(name) {
            switches.insert(0, name.clone());
        }
    }
    switches.truncate(MAX_SWITCHES);
    disappears(program, bench, &uses, &switches)
}

/// The calls that a checker is given.
struct Uses<'a> {
    /// The place of the finding.
    spot: &'a Spot,
    calls: CallsOf<'a>,
}

enum CallsOf<'a> {
    /// Those on lines that use a macro by one of these names.
    Macro { names: Vec<String>, source: &'a Source },
    /// Those at places that the finding names.
    Places(&'a [Spot]),
}

impl Uses<'_> {
    fn of<'trace>(&self, trace: &'trace Trace) -> Vec<&'trace Call> {
        match &self.calls {
            CallsOf::Macro { names, source } => {
                let in_other_file = |call: &Call| cudalint_files::read_text(call.file.as_ref()).unwrap_or_default();
                trace
                    .calls()
                    .filter(|call| {
                        let uses = |line: &str| {
                            !line.trim_start().starts_with('#') && names.iter().any(|name| calls_word(line, name))
                        };
                        if crate::experiment::place::same_file(&call.file, &self.spot.path) {
                            uses(source.line(call.line))
                        } else {
                            let text = in_other_file(call);
                            text.lines().nth((call.line as usize).saturating_sub(1)).is_some_and(uses)
                        }
                    })
                    .collect()
            }
            CallsOf::Places(places) => {
                let mut calls: Vec<&Call> = places.iter().flat_map(|place| place.calls(trace)).collect();
                calls.sort_by_key(|call| call.sequence);
                calls.dedup_by_key(|call| call.sequence);
                calls
            }
        }
    }
}

/// What a run showed of a checker.
fn judge(verdict: Verdict, reason: String, seen: &Seen, probed: &Probed<'_, '_>, label: &str) -> Judgement {
    let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, Vec::new());
    judgement.evidence.log = Some(probed.log(label));
    judgement
}

/// Two builds that differ in one macro: in one of them, the calls are not made.
fn disappears(
    program: &CudaProgram,
    bench: &Bench<'_>,
    uses: &Uses<'_>,
    switches: &[String],
) -> Result<Judgement, Judgement> {
    let mut last = None;
    for (index, switch) in switches.iter().enumerate() {
        let sides = [("without", format!("-U{switch}")), ("with", format!("-D{switch}"))];
        let mut seen = Vec::new();
        for (side, flag) in sides {
            let label = format!("{side}-{}", index + 1);
            match Probed::build(program, bench, &label, &Watch::default(), std::slice::from_ref(&flag)) {
                Ok(probed) => {
                    let run = probed.run("trace", &Plan::default());
                    usable(&run)?;
                    seen.push((flag, probed, run));
                }
                Err(judgement) => last = Some(judgement),
            }
        }
        let [(first_flag, first, first_run), (second_flag, second, second_run)] = seen.as_slice() else { continue };
        let (kept, gone) = match (uses.of(&first_run.trace).len(), uses.of(&second_run.trace).len()) {
            (0, 0) => {
                last = Some(not_reached(uses.spot, first_run));
                continue;
            }
            (_, 0) => ((first_flag, first, first_run), (second_flag, second, second_run)),
            (0, _) => ((second_flag, second, second_run), (first_flag, first, first_run)),
            _ => {
                let reason = format!("with and without `{switch}` the calls are made");
                last = Some(judge(Verdict::NotObserved, reason, second_run, second, "trace"));
                continue;
            }
        };
        let (kept_flag, _, kept_run) = kept;
        let (gone_flag, gone_program, gone_run) = gone;
        if !gone_run.trace.ended || !matches!(gone_run.run.end, End::Exit(_)) {
            let reason = format!("built with {gone_flag}, the program ended with {}", ending(&gone_run.run));
            last = Some(judge(Verdict::NotObserved, reason, gone_run, gone_program, "trace"));
            continue;
        }
        let calls = uses.of(&kept_run.trace);
        let places: BTreeSet<String> =
            calls.iter().map(|call| format!("`{}` at line {}", call.function, call.line)).collect();
        let places: Vec<String> = places.into_iter().take(MAX_PLACES).collect();
        let reason = format!(
            "built with `{gone_flag}`, the program comes to its end and makes none of the calls that it makes with `{kept_flag}`: {}",
            places.join(", ")
        );
        let mut judgement = judge(Verdict::Confirmed, reason.clone(), gone_run, gone_program, "trace");
        judgement.evidence.records = vec![record("call not made", uses.spot, None, reason)];
        return Ok(judgement);
    }
    Err(last.unwrap_or_else(|| Judgement::without_run(Verdict::Unviable, "no build could be compared")))
}

/// A call in the checker fails once, on its last turn: it is made again.
fn twice(program: &CudaProgram, bench: &Bench<'_>, uses: &Uses<'_>) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &["-UNDEBUG".to_owned()])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let calls = uses.of(&baseline.trace);
    let Some(call) = calls.iter().find(|call| call.real == 0) else { return Err(not_reached(uses.spot, &baseline)) };
    let count = |trace: &Trace| trace.calls().filter(|other| other.id == call.id && other.file == call.file).count();
    let turns = count(&baseline.trace);
    let sites = vec![(Site::Call(call.id), failure_of(&call.function))];
    let plan = Plan { task: Task::Status, sites, turn: turns as u64, ..Plan::default() };
    let failing = probed.run("injected", &plan);
    if !failing.trace.calls().any(|other| other.id == call.id && other.handed != other.real) {
        let reason = format!("`{}` at line {} did not come to fail", call.function, call.line);
        return Ok(judge(Verdict::Unviable, reason, &failing, &probed, "injected"));
    }
    let mut evaluations =
        failing.trace.calls().filter(|other| other.id == call.id && other.file == call.file).skip(turns);
    let Some(again) = evaluations.next() else {
        let reason = format!("when `{}` at line {} failed, it was not made again", call.function, call.line);
        return Ok(judge(Verdict::Refuted, reason, &failing, &probed, "injected"));
    };
    let told = failing.trace.events.iter().find_map(|event| match event {
        Event::Words(words) if words.sequence > again.sequence => Some(words.code),
        _ => None,
    });
    let told = told.map(|code| format!(", and the text of status {code} is what is reported")).unwrap_or_default();
    let reason = format!(
        "when `{}` at line {} failed once, the checker made the call again; the second time it returned {}{told}",
        call.function, call.line, again.real
    );
    let mut judgement = judge(Verdict::Confirmed, reason.clone(), &failing, &probed, "injected");
    judgement.evidence.records = vec![record("call made twice", uses.spot, None, reason)];
    Ok(judgement)
}

/// The first read of the last error finds one: the second finds none.
fn last_error(
    program: &CudaProgram,
    bench: &Bench<'_>,
    uses: &Uses<'_>,
    first: Option<&Spot>,
) -> Result<Judgement, Judgement> {
    let probed = Probed::build(program, bench, "fault", &Watch::default(), &["-UNDEBUG".to_owned()])?;
    let baseline = probed.run("baseline", &Plan::default());
    usable(&baseline)?;
    let reads: Vec<&Call> = match first {
        Some(first) => first.calls(&baseline.trace),
        None => uses.of(&baseline.trace),
    };
    let Some(read) = reads.iter().filter(|call| clears(call)).min_by_key(|call| (call.line, call.id)) else {
        return Err(not_reached(first.unwrap_or(uses.spot), &baseline));
    };
    let plan = Plan { task: Task::Status, sites: vec![(Site::Call(read.id), 1)], turn: 1, ..Plan::default() };
    let failing = probed.run("injected", &plan);
    let found = failing.trace.calls().find(|call| call.id == read.id && call.handed != call.real);
    let Some(found) = found else {
        let reason = format!("the read of the last error at line {} did not come to find one", read.line);
        return Ok(judge(Verdict::Unviable, reason, &failing, &probed, "injected"));
    };
    let second = failing.trace.calls().find(|call| {
        let here = match &uses.calls {
            CallsOf::Macro { .. } => call.line == read.line && call.file == read.file,
            CallsOf::Places(_) => uses.spot.holds(&call.file, call.line),
        };
        call.sequence > found.sequence && clears(call) && call.id != read.id && here
    });
    let Some(second) = second else {
        let reason = format!("after an error was read at line {}, the last error was not read again", read.line);
        return Ok(judge(Verdict::Refuted, reason, &failing, &probed, "injected"));
    };
    if second.handed != 0 {
        let reason = format!("the second read of the last error returned {}", second.handed);
        return Ok(judge(Verdict::NotObserved, reason, &failing, &probed, "injected"));
    }
    let reason = format!(
        "the read of the last error at line {} found status {}; that at line {} found none (0) any more",
        read.line, found.handed, second.line
    );
    let mut judgement = judge(Verdict::Confirmed, reason.clone(), &failing, &probed, "injected");
    judgement.evidence.records = vec![record("last error read twice", uses.spot, None, reason)];
    Ok(judgement)
}

/// Whether a call reads the last error and clears it.
fn clears(call: &Call) -> bool {
    api::is(&call.function, |api| api.role == ErrorRole::Clears)
}
