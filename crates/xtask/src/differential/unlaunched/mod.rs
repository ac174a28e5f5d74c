//! `cargo xtask differential --unlaunched`: each random kernel also as a file without its launch. What is found there must be a fault under
//! some launch of those that the finding's assumption describes: our own executor is asked for launches with the block and the
//! numbers that are named, and with `--gpu` the tools of compute-sanitizer. What the kernel's own launch shows and the file
//! without it does not is counted by what stands against it.

mod fault;
mod launches;
mod look;
mod tally;

use super::compare::{self, Claim};
use super::generate::{self, HELPERS, Kernel};
use super::run::main_text;
use super::total::Total as _;
use super::{Mode, PER_PROGRAM, Program, observe};
use crate::each::each;
use crate::random::Random;
use cudalint_findings::Confidence;
use fault::Class;
use launches::{Launch, assumed, launched};
use look::{Seen, Told, look};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tally::{Outcome, Tally};

/// Numbers with which it is asked whether a fault shows in the guessed block.
const NUMBERS: [i64; 4] = [1, 40, 100, 2048];

/// A kernel of which something is told, with launches that show it.
struct Shown {
    kernel: Kernel,
    /// What is told, with the number of a launch that shows it.
    told: Vec<Told>,
    launches: Vec<Launch>,
}

/// Generates kernels, lints them without their launches, and compares with executions of launches.
///
/// # Errors
/// When files cannot be written, the tools are missing, or a finding is one that no launch shows.
pub fn run(out: &Path, count: usize, seed: u64, jobs: usize, gpu: bool) -> Result<(), String> {
    let out = std::path::absolute(out).map_err(|error| error.to_string())?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut random = Random::new(seed);
    let kernels: Vec<Kernel> = (0..count).map(|number| generate::kernel(&mut random, number)).collect();
    let results = each(count, jobs, &|number| one(&out, &kernels[number]));
    let mut tally = Tally::default();
    let mut shown = Vec::new();
    for (kernel, result) in kernels.into_iter().zip(results) {
        let (own, told, launches) = result?;
        tally.add(own);
        if !told.is_empty() {
            shown.push(Shown { kernel, told, launches });
        }
    }
    println!("{count} kernels without their launches, seed {seed}: {tally}");
    let absent = if gpu { on_gpu(&out, shown, jobs)? } else { 0 };
    if tally.wrong() + absent == 0 { Ok(()) } else { Err("a finding is one that no launch shows".into()) }
}

/// The kernel's own launch, the file without it, and the launches that what is told there describes.
fn one(out: &Path, kernel: &Kernel) -> Result<(Tally, Vec<Told>, Vec<Launch>), String> {
    let mut tally = Tally::default();
    let bare = format!("{HELPERS}{}", kernel.device);
    let unlaunched = look(&bare)?;
    let own = look(&format!("{bare}{}int main() {{\n    run_{}();\n    return 0;\n}}\n", kernel.host, kernel.name))?;
    let mut shown_with = Vec::new();
    let mut found = Vec::new();
    for told in unlaunched.told.iter().filter(|told| told.confidence != Confidence::Possible) {
        let Some(run) = &unlaunched.guessed else { continue };
        let launches = assumed(run, told);
        let mut showing = None;
        for (number, launch) in launches.iter().enumerate() {
            let seen = look(&format!("{bare}{}", launched(kernel, launch)))?;
            if seen.faults.iter().any(|fault| fault.is(&told.fault)) {
                showing = Some((number, launch));
                break;
            }
        }
        match showing {
            Some((number, launch)) => {
                tally.shown(told, number == 0);
                if let (0, Some(least)) = (number, told.least) {
                    for n in [least + 1, least + 2, 2 * least + 1, 1024.max(least)] {
                        let seen = look(&format!("{bare}{}", launched(kernel, &Launch { n, ..launch.clone() })))?;
                        tally.larger(seen.faults.iter().any(|fault| fault.is(&told.fault)));
                    }
                }
                found.push(told.clone());
                if !shown_with.contains(launch) {
                    shown_with.push(launch.clone());
                }
            }
            None => {
                let file = out.join(format!("{}.cu", kernel.name));
                fs::write(&file, &bare).map_err(|error| format!("{}: {error}", file.display()))?;
                tally.not_shown(&file, told);
            }
        }
    }
    for told in own.told.iter().filter(|told| told.confidence == Confidence::Definite) {
        let answer = |is: &dyn Fn(&Told) -> bool| unlaunched.told.iter().any(|other| is(other));
        let outcome = if answer(&|it| it.confidence != Confidence::Possible && it.fault.is(&told.fault)) {
            Outcome::Told
        } else if answer(&|it| it.confidence != Confidence::Possible && it.fault.class == told.fault.class) {
            Outcome::OtherPlace
        } else {
            Outcome::Silent(silence(kernel, &bare, &unlaunched, told)?)
        };
        let sample = tally.launched(kernel, told, outcome);
        if sample {
            let file = out.join(format!("silent_{}.cu", kernel.name));
            fs::write(&file, format!("{bare}{}", kernel.host))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok((tally, found, shown_with))
}

/// Why a file without a launch tells nothing of a fault that the kernel's own launch shows.
fn silence(kernel: &Kernel, bare: &str, unlaunched: &Seen, told: &Told) -> Result<String, String> {
    if let Some(why) = told.fault.by_design() {
        return Ok(why.to_owned());
    }
    if unlaunched.told.iter().any(|it| it.fault.class == told.fault.class) {
        return Ok("told as possible".to_owned());
    }
    let Some(run) = &unlaunched.guessed else {
        return Ok("not executed: no block is guessed".to_owned());
    };
    let turned = run.block[1] == 1 && kernel.device.contains("threadIdx.y");
    let mut shown = Vec::new();
    let mut leaves = false;
    for n in NUMBERS {
        for blocks in [1, 3] {
            let launch = Launch { grid: [blocks, 1, 1], block: run.block, n };
            let seen = look(&format!("{bare}{}", launched(kernel, &launch)))?;
            leaves |= seen.faults.iter().any(|fault| fault.class == Class::SharedBounds);
            let races = seen.faults.iter().filter(|fault| fault.is(&told.fault)).map(|fault| (n, blocks, fault.race));
            shown.extend(races.collect::<Vec<_>>());
        }
    }
    let against =
        if unlaunched.causes.is_empty() { String::new() } else { format!("; {}", unlaunched.causes.join(", ")) };
    if shown.is_empty() && turned {
        return Ok("taken for a kernel of one row of threads, since its rows all do the same".to_owned());
    }
    if shown.is_empty() {
        return Ok(format!("shows with other blocks or numbers than those that are guessed{against}"));
    }
    if leaves {
        return Ok("the kernel leaves its shared arrays with the guessed block".to_owned());
    }
    if shown.iter().all(|(.., race)| race.alike) {
        return Ok("both threads store, perhaps the same value".to_owned());
    }
    if shown.iter().all(|(.., race)| race.between_blocks || race.alike) {
        return Ok(format!("shows between two blocks alone{against}"));
    }
    let with = |number: i64| shown.iter().any(|(n, blocks, race)| *n == number && *blocks == 1 && !race.alike);
    let when = if NUMBERS.into_iter().all(with) { "with every `n`" } else { "with some `n`" };
    Ok(format!("shows with the guessed block {when}{against}"))
}

/// Builds programs that launch the kernels as their findings describe, and runs them under the tools; how many findings were not there.
fn on_gpu(out: &Path, shown: Vec<Shown>, jobs: usize) -> Result<usize, String> {
    let mut programs = Vec::new();
    let mut claims = Vec::new();
    for group in shown.chunks(PER_PROGRAM) {
        let path = out.join(format!("u{:03}.cu", programs.len()));
        let mut text = format!("#include <cstdio>\n#include <cstdlib>\n{HELPERS}");
        let mut kernels = Vec::new();
        for Shown { kernel, told, launches } in group {
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
        programs.push(Program { path, kernels });
    }
    let seen = each(programs.len(), jobs, &|index| observe(&programs[index], Mode::Run));
    let mut tally = compare::Tally::default();
    for (program, observed) in programs.iter().zip(seen) {
        match observed {
            Ok(observed) => tally.program(program, &claims, &observed),
            Err(failure) => println!("not compared: {failure}"),
        }
    }
    print!("{tally}");
    Ok(tally.absent())
}
