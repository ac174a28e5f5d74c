//! `cudalint facts`: what a rule may ask for, as text, for whoever writes one.

use crate::args::FactsArgs;
use crate::check::{CLEAN, TROUBLE};
use crate::{check, out};
use cudalint_engine::{Engine, ModuleContext};
use cudalint_findings::plain::one_line;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;

/// Prints the facts on the files named and gives the exit code.
pub fn run(engine: &Engine, args: &FactsArgs) -> u8 {
    // By file, and by the place of the piece in it.
    let found: Mutex<BTreeMap<(String, u32), String>> = Mutex::default();
    let look = |context: &ModuleContext<'_>| {
        let mut text = String::new();
        if args.program {
            let _ = writeln!(text, "program:\n{}", context.module.dump());
        }
        text.push_str(&context.facts.dump(context.project, context.id));
        // Nobody fails while it is held.
        if let Ok(mut found) = found.lock() {
            found.insert((context.path().to_string(), context.id.0), text);
        }
    };
    let outcome = check::request(&args.check).and_then(|request| engine.look(&request, &look));
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            out::message("error", &error.0);
            return TROUBLE;
        }
    };
    let mut text = String::new();
    for ((path, _), facts) in found.into_inner().unwrap_or_default() {
        let _ = writeln!(text, "== {}", one_line(&path));
        facts.lines().for_each(|line| {
            let _ = writeln!(text, "{}", one_line(line));
        });
    }
    let written = out::print(&text);
    check::report_problems(&outcome);
    if let Err(problem) = written {
        out::message("error", &problem);
        return TROUBLE;
    }
    if outcome.faults.is_empty() { CLEAN } else { TROUBLE }
}
