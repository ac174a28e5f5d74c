//! What executed kernels did, handed out to the rules: each asks for its own kind of defect.

pub mod bounds;
pub mod parts;
pub mod races;
pub mod unwritten;
pub mod vacuous;

pub use cudalint_replay::runs::defects::{Defect, Formula, Mistake};

use cudalint_engine::{ModuleContext, Sink};
use cudalint_findings::Finding;
use cudalint_program::arch;
use cudalint_replay::runs::KernelRun;
use cudalint_replay::runs::report::Event;
use races::Harm;

/// A defect as one execution shows it.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The execution.
    pub run: &'a KernelRun,
    /// What is reported.
    pub event: &'a Event,
    /// Other events with the same cause, in the order of their places.
    pub alike: Vec<&'a Event>,
    /// The index formula that is the cause, for [`Defect::IndexFormula`].
    pub formula: Option<&'a Formula>,
    /// How sure it is that a race does harm.
    pub harm: Harm,
}

/// The defects of one kind in the executions of a module's kernels: those that rest on facts first.
pub fn shown<'a>(context: &'a ModuleContext<'_>, wanted: Defect) -> impl Iterator<Item = Shown<'a>> {
    let facts = context.facts;
    facts.defects.iter().filter(move |fact| fact.defect == wanted).filter_map(|fact| {
        let run = facts.runs.get(fact.run).filter(|run| !is_refused(context, run))?;
        let events = &run.report.events;
        Some(Shown {
            run,
            event: events.get(fact.event)?,
            alike: fact.alike.iter().filter_map(|event| events.get(*event)).collect(),
            formula: fact.formula.as_ref(),
            harm: fact.harm,
        })
    })
}

/// Whether no device that the program is for makes a launch, since it has not so much shared memory for a block: then the kernel does
/// nothing at all.
fn is_refused(context: &ModuleContext<'_>, run: &KernelRun) -> bool {
    let Some(asked) = run.dynamic_shared.filter(|_| run.launch.is_some()) else { return false };
    let limits = context.architectures.iter().filter_map(|sm| arch::limits(*sm));
    limits
        .map(|limits| limits.shared_opt_in)
        .max()
        .is_some_and(|most| i64::try_from(asked).is_ok_and(|asked| asked > most))
}

/// Reports what a rule makes of each defect of one kind.
pub fn report(
    context: &ModuleContext<'_>,
    sink: &mut Sink<'_>,
    wanted: Defect,
    finding: impl Fn(&ModuleContext<'_>, &Shown<'_>) -> Option<Finding>,
) {
    for shown in shown(context, wanted) {
        sink.report_some(finding(context, &shown));
    }
}
