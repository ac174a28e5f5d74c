//! `cargo xtask differential`: random small kernels, replayed and run on a GPU under memcheck, racecheck and synccheck.
//! A definite finding that the hardware does not show is a fault of the replay; what the hardware shows and the replay
//! does not is counted. `unlaunched` does the same for kernels without their launches.

pub mod calls;
mod compare;
mod compiler;
pub mod device;
mod generate;
pub mod host;
pub mod python;
mod run;
pub mod total;
pub mod unlaunched;
mod writing;

use crate::each::each;
use crate::random::Random;
use compare::{Claim, Tally};
use cudalint_engine::{Choices, Configuration, Engine, MinConfidence, Request};
use generate::Kernel;
use run::{Observed, Program, Tool};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Kernels in one program.
const PER_PROGRAM: usize = 50;

/// What is done with the generated programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They are linted only.
    Lint,
    /// They are built and run.
    Run,
    /// Reports of an earlier run are read again.
    Reread,
}

/// Generates, lints, runs and compares.
///
/// # Errors
/// When files cannot be written, the tools are missing, or a definite finding was not there on the GPU.
pub fn run(out: &Path, count: usize, seed: u64, jobs: usize, mode: Mode) -> Result<(), String> {
    let out = std::path::absolute(out).map_err(|error| error.to_string())?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let programs = generate(&out, count, seed)?;
    let claims = lint(&out, &programs)?;
    println!("{count} kernels in {} programs, seed {seed}: {}", programs.len(), compare::summary(&claims));
    if mode == Mode::Lint {
        return Ok(());
    }
    let seen = each(programs.len(), jobs, &|index| observe(&programs[index], mode));
    let mut tally = Tally::default();
    for (program, observed) in programs.iter().zip(seen) {
        let observed = match observed {
            Ok(observed) => observed,
            Err(failure) => {
                println!("not compared: {failure}");
                continue;
            }
        };
        tally.program(program, &claims, &observed);
    }
    print!("{tally}");
    if tally.absent() == 0 { Ok(()) } else { Err(format!("{} definite findings were not there", tally.absent())) }
}

/// The sequence by which the program of this number is chosen, which is the same in each run with this seed.
fn random_of(seed: u64, number: usize) -> Random {
    Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64))
}

fn generate(out: &Path, count: usize, seed: u64) -> Result<Vec<Program>, String> {
    let mut random = Random::new(seed);
    let mut programs = Vec::new();
    for first in (0..count).step_by(PER_PROGRAM) {
        let kernels: Vec<Kernel> =
            (first..(first + PER_PROGRAM).min(count)).map(|number| generate::kernel(&mut random, number)).collect();
        let mut text = format!("#include <cstdio>\n#include <cstdlib>\n{}", generate::HELPERS);
        let mut places = Vec::new();
        for kernel in &kernels {
            let start = text.lines().count() + 1;
            text.push_str(&kernel.device);
            text.push_str(&kernel.host);
            places.push((kernel.name.clone(), start, text.lines().count()));
        }
        let names: Vec<String> = kernels.iter().map(|kernel| format!("run_{}", kernel.name)).collect();
        let _ = write!(text, "{}", run::main_text(&names));
        let path = out.join(format!("d{:03}.cu", programs.len()));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        programs.push(Program { path, kernels: places });
    }
    Ok(programs)
}

/// What the rules say of the programs, by file, kernel and line.
fn lint(out: &Path, programs: &[Program]) -> Result<Vec<Claim>, String> {
    let choices = Choices { min_confidence: Some(MinConfidence::Possible), ..Choices::default() };
    let request =
        Request { paths: vec![out.to_owned()], choices, configuration: Configuration::Isolated, ..Request::default() };
    let outcome = Engine::new(cudalint_rules::RULES).check(&request, &|_| {}).map_err(|error| error.to_string())?;
    let mut claims = Vec::new();
    for finding in &outcome.report.findings {
        let Some(program) = programs.iter().find(|program| *program.path == *Path::new(&*finding.place.path)) else {
            continue;
        };
        let line = outcome.report.sources.start(&finding.place).line as usize;
        let related =
            finding.related.iter().map(|label| outcome.report.sources.start(&label.place).line as usize).collect();
        claims.push(Claim {
            path: program.path.clone(),
            rule: finding.rule.name,
            confidence: finding.confidence,
            line,
            related,
            atomic: finding.claim.accesses().iter().any(|access| access.kind == cudalint_findings::AccessKind::Atomic),
            message: finding.message.clone(),
        });
    }
    Ok(claims)
}

fn observe(program: &Program, mode: Mode) -> Result<Vec<(Tool, Observed)>, String> {
    let all: Vec<usize> = (0..program.kernels.len()).collect();
    if mode == Mode::Reread {
        let binary = program.path.with_extension("bin");
        let tools = [Tool::Memcheck, Tool::Racecheck, Tool::Synccheck];
        return Ok(tools.map(|tool| (tool, run::reread(&binary, tool, &all))).into());
    }
    let binary = run::build(&program.path)?;
    let memory = run::watch(&binary, Tool::Memcheck, &all)?;
    // A kernel that leaves its memory takes the other tools' contexts with it.
    let (sound, faulty): (Vec<usize>, Vec<usize>) = all.into_iter().partition(|kernel| {
        let (name, first, last) = &program.kernels[*kernel];
        !compare::is_faulty(&memory, name, (*first, *last))
            && !memory.lost.contains(kernel)
            && !memory.hung.contains(kernel)
    });
    let mut seen = vec![(Tool::Memcheck, memory)];
    for tool in [Tool::Racecheck, Tool::Synccheck] {
        let mut observed = run::watch(&binary, tool, &sound)?;
        observed.lost.extend(&faulty);
        seen.push((tool, observed));
    }
    Ok(seen)
}
