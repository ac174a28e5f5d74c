//! Programs that launch the kernels as their findings describe, built and run under the tools of compute-sanitizer.

use super::launches::{self, Launch};
use super::look::Told;
use crate::differential::compare::{Claim, Tally};
use crate::differential::generate::{HELPERS, Kernel};
use crate::differential::run::{Program, main_text};
use crate::differential::{Mode, observe};
use cudalint_findings::Confidence;
use std::fmt::Write as _;
use std::path::Path;
use std::{fmt, fs};

/// A kernel of which something is told, with launches that show it.
pub struct Shown<'a> {
    pub kernel: &'a Kernel,
    pub told: Vec<Told>,
    pub launches: Vec<Launch>,
}

/// What came of one program.
pub enum Outcome {
    Compared(Box<Tally>),
    /// It was not built or did not run, for this reason.
    Failed(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compared(tally) => write!(f, "{}", tally.short()),
            Self::Failed(why) => write!(f, "not compared: {why}"),
        }
    }
}

/// What came of all programs.
#[derive(Default)]
pub struct Total {
    tally: Tally,
    compared: usize,
    failed: Vec<String>,
}

impl Total {
    /// Adds what came of a program, if it was begun.
    pub fn add(&mut self, outcome: Option<Outcome>) {
        match outcome {
            Some(Outcome::Compared(tally)) => {
                self.tally.add(*tally);
                self.compared += 1;
            }
            Some(Outcome::Failed(why)) => self.failed.push(why),
            None => {}
        }
    }

    /// How many findings were not there.
    pub fn absent(&self) -> usize {
        self.tally.absent()
    }
}

impl fmt::Display for Total {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} programs on the GPU, {} not compared", self.compared, self.failed.len())?;
        for why in &self.failed {
            writeln!(f, "not compared: {why}")?;
        }
        write!(f, "{}", self.tally)
    }
}

/// Builds the program of a group of kernels, runs it and compares.
///
/// # Errors
/// When the program cannot be written.
pub fn compare(out: &Path, number: usize, shown: &[Shown<'_>]) -> Result<Outcome, String> {
    let path = out.join(format!("u{number:03}.cu"));
    let mut text = format!("#include <cstdio>\n#include <cstdlib>\n{HELPERS}");
    let mut kernels = Vec::new();
    let mut claims = Vec::new();
    for Shown { kernel, told, launches } in shown {
        // Lines of what is told are those of a file that has the helpers and this kernel.
        let before = text.lines().count() - HELPERS.lines().count();
        text.push_str(&kernel.device);
        kernels.push((kernel.name.clone(), before + HELPERS.lines().count() + 1, text.lines().count()));
        let _ = writeln!(text, "void run_{}() {{", kernel.name);
        for launch in launches {
            text.push_str(&launches::body(kernel, launch));
        }
        text.push_str("}\n");
        claims.extend(told.iter().map(|told| Claim {
            path: path.clone(),
            rule: told.fault.rule_of_tool(told.rule),
            // With its launch, what is told is a fact.
            confidence: Confidence::Definite,
            line: told.line + before,
            related: told.fault.lines.iter().map(|line| line + before).collect(),
            atomic: told.atomic,
            message: told.message.clone(),
        }));
    }
    let names: Vec<String> = kernels.iter().map(|(name, ..)| format!("run_{name}")).collect();
    text.push_str(&main_text(&names));
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    let program = Program { path, kernels };
    Ok(match observe(&program, Mode::Run) {
        Ok(observed) => {
            let mut tally = Tally::default();
            tally.program(&program, &claims, &observed);
            Outcome::Compared(Box::new(tally))
        }
        Err(why) => Outcome::Failed(why),
    })
}
