//! Python in a project's own run: its tests, or whatever its commands start. One run alone tells what they come to; what a
//! finding's method needs beside is made for all findings that need it, or for this one.

use super::probed::ending;
use super::run_alone::Tested;
use super::{Judgement, driver, exception, output, sanitizer, watchpoint};
use crate::lab::{Bench, first_error};
use crate::project::{self, Reached};
use crate::scenario::{Program, Project, PythonProgram};
use crate::tools::sanitizer::base_name;
use cudalint_findings::model::{FindingEntry, Method, Verdict};

/// Performs the experiment of the finding's method.
pub(super) fn perform(
    finding: &FindingEntry,
    program: &PythonProgram,
    project: &Project,
    bench: &Bench<'_>,
) -> Judgement {
    let built = match project::built(bench, project, project::put_for_scripts(bench)) {
        Ok(built) => built,
        Err(failure) => return Judgement::of_project(&failure),
    };
    let alone = project::alone(bench, &built);
    let python = bench.lab.machine.python.as_ref();
    let back_end = python.map_or_else(|| "Python".to_owned(), |python| driver::back_end(python, &program.packages));
    if let Some(judgement) = Judgement::of_end(&alone.run, "run alone") {
        return judgement;
    }
    let unviable =
        |reason: String| Judgement::of_run(Verdict::Unviable, reason, back_end.clone(), &alone.run, Vec::new());
    if alone.reached.programs == 0 {
        let last = driver::last_line(&alone.run.stderr);
        return unviable(format!("the commands started no Python that the driver could come into: {last}"));
    }
    if !comes_to(finding, &alone.reached) {
        let (path, line) = (&finding.path, finding.range.start.line);
        // Tests that cannot be imported come to nothing.
        let ended = alone.run.failed().then(|| {
            let said = first_error(&format!("{}\n{}", alone.run.stderr, alone.run.stdout));
            format!(
                "; it ended with {}{}",
                ending(&alone.run),
                said.map(|line| format!(": {line}")).unwrap_or_default()
            )
        });
        let reason = format!("the run never came to {path}:{line}{}", ended.unwrap_or_default());
        return Judgement { reached: Some(false), ..unviable(reason) };
    }
    let own = Program::Python(program.clone());
    let judgement = match finding.verification.method {
        Method::Exception => exception::in_project(finding, program, &Tested { built, alone, back_end }),
        Method::Output => output::perform(finding, &own, bench),
        Method::Watchpoint => watchpoint::perform(finding, &own, bench),
        Method::Memcheck
        | Method::Racecheck
        | Method::Initcheck
        | Method::Synccheck
        | Method::Leakcheck
        | Method::ApiError => sanitizer::in_project(finding, program, &Tested { built, alone, back_end }, bench),
        _ => unviable("the run comes to it, and this method needs a program of its own in Python".to_owned()),
    };
    Judgement { reached: Some(true), ..judgement }
}

/// Whether a run came to a finding: its kernel was launched, or its line or that of its launch ran.
fn comes_to(finding: &FindingEntry, reached: &Reached) -> bool {
    let function = finding.function.as_deref().map(base_name);
    let kernel = finding.claim.kernel.as_deref().map(base_name);
    let of_kernel = function.iter().any(|name| reached.launched(&finding.path, name));
    // The line of a kernel's definition runs when its file is imported.
    let on_host = kernel.is_none() || kernel != function;
    let at_launch = finding.claim.launch.as_ref().map(|launch| &launch.site);
    of_kernel
        || (on_host && reached.ran(&finding.path, finding.range.lines()))
        || at_launch.is_some_and(|site| reached.ran(&site.path, site.range.lines()))
}
