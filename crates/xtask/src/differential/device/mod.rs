//! `cargo xtask differential --device`: random kernels in all the language that device code may use are run by the host's
//! compiler, one thread after another, and replayed by the linter. Which element each thread asks for is known then: an array
//! that is just large enough must not be told of, and what is told of a shorter one must be what that thread did. No GPU is needed.

mod compare;
mod kernels;
mod log;

use super::total::conclude;
use super::writing::read;
use super::{compiler, random_of};
use crate::each::each;
use crate::random::Random;
use compare::Tally;
use cudalint_engine::{Choices, Configuration, Engine, Request};
use kernels::{Extents, Program};
use log::Log;
use std::fs;
use std::path::Path;

/// Generates `count` programs of ten kernels each, builds, runs, replays and compares them; those with a mistake stay in `out`.
///
/// # Errors
/// When there is no compiler, a program does not build or run, or a finding says what no thread did.
pub fn run(out: &Path, count: usize, seed: u64, jobs: usize) -> Result<(), String> {
    let out = std::path::absolute(out).map_err(|error| error.to_string())?;
    let features = read(include_str!("features.txt"))?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    fs::write(out.join("device.h"), include_str!("stand_in.h")).map_err(|error| error.to_string())?;
    let results = each(count, jobs, &|number| {
        let mut random = random_of(seed, number);
        let program = kernels::program(&mut random, &features, number);
        let result = one(&out, number, &program, &mut random);
        result.iter().flat_map(|tally| &tally.wrong).for_each(|wrong| println!("{wrong}"));
        result
    });
    conclude(&format!("{count} programs of kernels, seed {seed}"), results)
}

fn one(out: &Path, number: usize, program: &Program, random: &mut Random) -> Result<Tally, String> {
    let file = |suffix: &str| out.join(format!("device{number:05}{suffix}"));
    let host = file(".cpp");
    let write =
        |path: &Path, text: String| fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()));
    write(&host, program.for_host())?;
    let mut build = compiler::compiler();
    build.arg("-I").arg(out);
    let log = Log::read(&compiler::run(build, &host, &file(".bin"))?);
    let mut tally = Tally::default();
    for (suffix, extents) in [("_exact.cu", Extents::exact(&log)), ("_short.cu", Extents::short(&log, random))] {
        let path = file(suffix);
        write(&path, program.for_device(&extents))?;
        let request = Request {
            paths: vec![path.clone()],
            choices: Choices::default(),
            configuration: Configuration::Isolated,
            ..Request::default()
        };
        let outcome = Engine::new(cudalint_rules::RULES).check(&request, &|_| {}).map_err(|error| error.to_string())?;
        let wrong = tally.wrong.len();
        tally.compare(&path.display().to_string(), program, &extents, &log, &outcome.report);
        if tally.wrong.len() == wrong {
            let _ = fs::remove_file(&path);
        }
    }
    if tally.wrong.is_empty() {
        let _ = fs::remove_file(&host);
    }
    Ok(tally)
}
