//! `cudalint coverage`: what each kernel was checked for and how, what is shown of it, and why not more.

use crate::args::{CoverageArgs, CoverageFormat};
use crate::check::{CLEAN, TROUBLE};
use crate::{check, out};
use cudalint_engine::{Engine, ModuleContext};
use cudalint_findings::Sources;
use cudalint_findings::coverage::{Document, Kernel, page, table};
use std::sync::Mutex;

/// What modules have said so far.
#[derive(Default)]
struct Collected {
    kernels: Vec<Kernel>,
    sources: Sources,
}

/// Prints what was checked in the files named and gives the exit code.
pub fn run(engine: &Engine, args: &CoverageArgs) -> u8 {
    let collected: Mutex<Collected> = Mutex::default();
    let look = |context: &ModuleContext<'_>| {
        // Nobody fails while it is held.
        if let Ok(mut collected) = collected.lock() {
            for account in &context.facts.accounts {
                let kernel = cudalint_engine::coverage::kernel(context, account, &mut collected.sources);
                collected.kernels.push(kernel);
            }
        }
    };
    let outcome = check::request(&args.check()).and_then(|request| engine.look(&request, &look));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            out::message("error", &error.0);
            return TROUBLE;
        }
    };
    let Collected { kernels, sources } = collected.into_inner().unwrap_or_default();
    let document = Document::new(kernels, outcome.report.incomplete.clone());
    let text = match args.output_format {
        CoverageFormat::Table => table::render(&document),
        CoverageFormat::Json => document.json(),
        CoverageFormat::Html => page::render(&document, &sources),
    };
    let written = match &args.output_file {
        None => out::print(&text),
        Some(file) => std::fs::write(file, &text)
            .map_err(|error| format!("--output-file {}: cannot be written: {error}", file.display())),
    };
    check::report_problems(&outcome);
    if let Err(problem) = written {
        out::message("error", &problem);
        return TROUBLE;
    }
    if outcome.faults.is_empty() { CLEAN } else { TROUBLE }
}
