//! What is done before work that was started is done. The work waits in its stream, so that whoever does not wait for it comes
//! too early each time: the host reads other values than those that are there with a wait, memory changes that has another
//! owner by then, a clock tells a time without the work, and the memory that is left is other than behind a wait at the place.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

pub mod memory;
mod moments;

use super::Judgement;
use super::place::Spot;
use super::probed::{BACK_END, Probed, Seen, not_reached, record, usable};
use crate::lab::Bench;
use crate::probe::{Delayed, Plan, Task, Watch, WatchedFunction, WatchedTouch};
use crate::scenario::{CudaProgram, Program};
use crate::tools::probe_log::Early;
use cudalint_findings::Shows;
use cudalint_findings::claim::Then;
use cudalint_findings::model::{FindingEntry, Range, Verdict};

/// Names of the runs: that which numbers, that which comes too early, and two that wait.
const RUNS: [&str; 4] = ["numbers", "early", "waits", "waits-again"];

/// What is asked of one program.
struct Question<'q> {
    work: Spot,
    place: Spot,
    then: Then,
    memory: &'q str,
}

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let unsupported = |reason: &str| Judgement::without_run(Verdict::Unsupported, reason);
    let Program::Cuda(program) = program else {
        return unsupported("work is delayed in whole programs of CUDA C++ only");
    };
    let Shows::TooEarly { work, then, memory } = &finding.claim.shows else {
        return unsupported("the finding claims nothing of what comes before the end of work");
    };
    if program.project.is_some() {
        return Judgement::without_run(Verdict::Unviable, "work is not delayed in the project's own build");
    }
    let spot = |path: &str, range: &Range| Spot::new(path, range, &super::place::Source::find(path, program));
    let question = Question {
        work: spot(&work.path, &work.range),
        place: spot(&finding.path, &finding.range),
        then: *then,
        memory: memory.as_deref().unwrap_or(""),
    };
    question.asked(program, bench).unwrap_or_else(|judgement| judgement)
}

impl Question<'_> {
    fn asked(&self, program: &CudaProgram, bench: &Bench<'_>) -> Result<Judgement, Judgement> {
        let [numbers, early, waits, again] = RUNS;
        let probed = Probed::build(program, bench, "delay", &self.watch()?, &[])?;
        let run = |label: &str, delayed: Option<Delayed>| {
            let seen = probed.run(label, &Plan { task: Task::Delay, delayed, ..Plan::default() });
            usable(&seen).map(|()| seen)
        };
        let seen = run(numbers, None)?;
        let (work, moment) = match moments::of(&seen.trace, &self.work, &self.place, self.then) {
            Ok(found) => found,
            Err(None) => return Err(not_reached(&self.place, &seen)),
            Err(Some(reason)) => return Err(self.judge(&probed, numbers, &seen, Verdict::Unviable, reason)),
        };
        let delayed = |waits| Some(Delayed { work, moment, waits });
        let seen = run(early, delayed(false))?;
        let told = match seen.trace.early.clone() {
            Some(told) if told.problem.is_empty() => told,
            Some(told) => return Err(self.judge(&probed, early, &seen, Verdict::Unviable, told.problem)),
            None => return Err(not_reached(&self.place, &seen)),
        };
        if told.done {
            let reason = format!(
                "the work of line {}, which waits {} ms in its stream, is done when the program comes to {}: something waits for it",
                self.work.line,
                told.delay / 1000,
                self.place.shown(),
            );
            return Ok(self.judge(&probed, early, &seen, Verdict::NotObserved, reason));
        }
        let said = match self.then {
            Then::Clock => Some(clock(&told)),
            Then::Read => memory::read(&told, self.memory),
            Then::Free => memory::owned(&told, self.memory),
            Then::Write | Then::Work => None,
        };
        let said = match said {
            Some(said) => Some(said),
            // Two runs that differ in nothing but a wait at the place, and one more to know what changes by itself.
            None if matches!(self.then, Then::Write | Then::Work | Then::Free) => {
                for label in [waits, again] {
                    let seen = run(label, delayed(true))?;
                    match &seen.trace.early {
                        Some(told) if told.done && told.problem.is_empty() => {}
                        _ => {
                            let reason = "the program does not come to the place with a wait in front of it".to_owned();
                            return Err(self.judge(&probed, label, &seen, Verdict::Unviable, reason));
                        }
                    }
                }
                let left = |label: &str| memory::left(bench, &format!("delay-{label}"));
                memory::different(&left(early)?, &left(waits)?, &left(again)?, "with a wait there")
            }
            None => None,
        };
        let before = format!(
            "the work of line {} waits {} ms in its stream, and the program comes to {} {} ms after it was started",
            self.work.line,
            told.delay / 1000,
            self.place.shown(),
            shown(told.elapsed),
        );
        Ok(match said {
            Some(said) => self.judge(&probed, early, &seen, Verdict::Confirmed, format!("{before}: {said}")),
            None => {
                let reason = format!("{before}; what memory holds is the same as with a wait there");
                self.judge(&probed, early, &seen, Verdict::NotObserved, reason)
            }
        })
    }

    /// What of the program is reported.
    fn watch(&self) -> Result<Watch, Judgement> {
        let lines = (self.place.lines.0..=self.place.lines.1).collect();
        match self.then {
            Then::Read | Then::Write => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                if self.memory.is_empty() || !self.memory.chars().all(is_name) {
                    let reason = format!("`{}` is no name by which its uses can be known", self.memory);
                    return Err(Judgement::without_run(Verdict::Unviable, reason));
                }
                let touch = WatchedTouch { name: self.memory.to_owned(), lines: vec![self.place.line] };
                Ok(Watch { touch: Some(touch), ..Watch::default() })
            }
            Then::Clock => {
                let (name, is_template) = (self.place.name.clone(), self.place.is_template);
                if name.is_empty() {
                    let reason = "the clock is read by no call that could be watched";
                    return Err(Judgement::without_run(Verdict::Unviable, reason));
                }
                let functions = vec![WatchedFunction { name, is_template, lines }];
                Ok(Watch { functions, ..Watch::default() })
            }
            Then::Work | Then::Free => Ok(Watch::default()),
        }
    }

    fn judge(&self, probed: &Probed<'_, '_>, label: &str, seen: &Seen, verdict: Verdict, reason: String) -> Judgement {
        let records = match verdict {
            Verdict::Confirmed => vec![record("order", &self.place, None, reason.clone())],
            _ => Vec::new(),
        };
        let mut judgement = Judgement::of_run(verdict, reason, BACK_END, &seen.run, records);
        judgement.evidence.log = Some(probed.log(label));
        judgement
    }
}

/// A time that does not contain the work.
fn clock(told: &Early) -> String {
    format!(
        "the clock is read then, and the work is done {} ms after it was started: the time does not contain it",
        shown(told.took)
    )
}

/// Microseconds as milliseconds.
fn shown(microseconds: u64) -> String {
    format!("{:.2}", microseconds as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::{Early, clock};
    use crate::tools::probe_log::SeenMemory;

    #[test]
    fn times_are_told_in_milliseconds() {
        let told = Early {
            waits: false,
            done: false,
            elapsed: 12,
            took: 300_456,
            delay: 300_000,
            problem: String::new(),
            seen: SeenMemory::default(),
        };
        assert!(clock(&told).contains("done 300.46 ms after"), "{}", clock(&told));
    }
}
