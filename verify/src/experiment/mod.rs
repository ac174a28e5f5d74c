//! Experiments: one a method. Each takes a finding, a program that would show it and a bench, and gives a judgement.

pub mod clean;
pub mod compile;
pub mod counters;
pub mod delay;
pub mod driver;
pub mod exception;
pub mod fault;
mod judgement;
pub mod output;
mod place;
pub mod probed;
mod run_alone;
pub mod sanitizer;
mod second;
mod tested;
pub mod time;
pub mod watchpoint;

pub use judgement::Judgement;

use crate::lab::Bench;
use crate::scenario::Program;
use cudalint_findings::model::{FindingEntry, Method, Verdict};

/// Performs the experiment of the finding's method on one program, and asks a second method where the first has passed the
/// finding over or says that it does not hold.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let judgement = by_method(finding, program, bench);
    second::opinion(finding, program, bench, judgement)
}

fn by_method(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    if let Program::Python(own) = program
        && let Some(project) = &own.project
    {
        return tested::perform(finding, own, project, bench);
    }
    match finding.verification.method {
        Method::Memcheck
        | Method::Racecheck
        | Method::Initcheck
        | Method::Synccheck
        | Method::Leakcheck
        | Method::ApiError => sanitizer::perform(finding, program, bench),
        Method::Exception => exception::perform(finding, program, bench),
        Method::Output => output::perform(finding, program, bench),
        Method::Watchpoint => watchpoint::perform(finding, program, bench),
        Method::FaultInjection => fault::perform(finding, program, bench),
        Method::Compile => compile::perform(finding, program, bench),
        Method::Counters => counters::perform(finding, program, bench),
        Method::Time => time::perform(finding, program, bench),
        Method::Delay => delay::perform(finding, program, bench),
        Method::None => Judgement::without_run(Verdict::Unsupported, "no run can show findings of this rule"),
    }
}
