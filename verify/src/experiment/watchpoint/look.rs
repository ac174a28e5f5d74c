//! A script whose flagged statements and accesses the driver looks at.

use super::asked::{BACK_END, witnessed_block};
use crate::experiment::{Judgement, driver};
use crate::lab::{Bench, Run, RunOutcome};
use crate::scenario::PythonProgram;
use cudalint_findings::model::FindingEntry;

/// Runs it.
///
/// # Errors
/// The judgement where it cannot be run or does not end.
pub(crate) fn look(
    finding: &FindingEntry,
    program: &PythonProgram,
    bench: &Bench<'_>,
) -> Result<RunOutcome, Box<Judgement>> {
    let mut look = driver::look_at(finding);
    if let Some(block) = witnessed_block(finding) {
        look.block = Some(block);
        // Of no thread anything is left out.
        look.threads.clear();
    }
    let (command, environment) = driver::looking(program, bench, &look)?;
    let run = bench.run(&Run::on_device("look", command, environment));
    match Judgement::of_end(&run, BACK_END) {
        Some(judgement) => Err(Box::new(judgement)),
        None => Ok(run),
    }
}
