//! The process that feeds inputs one after another. It reports each before and after; when it dies or falls silent,
//! its parent finds the input where it was written.

use super::mutate::mutate;
use super::targets::Target;
use crate::random::Random;
use cudalint_engine::Engine;
use std::collections::HashSet;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

/// Inputs that did something new and are changed further: more would be read from old ones too seldom.
const POOL: usize = 4_000;

/// Feeds inputs until it is ended.
///
/// # Errors
/// When there is nothing to make inputs from.
pub fn run(target: Target, work: &Path, seeds: &Path, seed: u64) -> Result<(), String> {
    let engine = Engine::new(cudalint_rules::RULES);
    let mut pool = read_seeds(target, seeds)?;
    in_thread(|| {
        pool.extend(target.own_seeds(&engine, work));
        let _ = fs::remove_file(work.join(Target::Cuda.file()));
        if pool.is_empty() {
            return Err(format!("{target:?}: no seeds"));
        }
        let mut random = Random::new(seed);
        let mut known: HashSet<u64> = HashSet::new();
        for number in 0u64.. {
            let input = mutate(&mut random, &pool);
            say(&format!("run {number}"));
            let start = Instant::now();
            let marks = target.run(&engine, work, &input);
            let micros = start.elapsed().as_micros();
            let fresh = marks.into_iter().filter(|mark| known.insert(*mark)).count();
            say(&format!("did {micros} {} {}", input.len(), known.len()));
            if fresh > 0 {
                if pool.len() < POOL {
                    pool.push(input);
                } else {
                    let at = random.index(POOL);
                    pool[at] = input;
                }
            }
        }
        Ok(())
    })
}

/// Feeds one input.
pub fn run_one(target: Target, work: &Path, input: &Path) -> Result<(), String> {
    let input = fs::read(input).map_err(|error| format!("{}: {error}", input.display()))?;
    let engine = Engine::new(cudalint_rules::RULES);
    in_thread(|| {
        target.run(&engine, work, &input);
        Ok(())
    })
}

/// Runs work where the program runs it: on a thread of a pool, with a stack as large as there.
fn in_thread<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    let pool = cudalint_engine::threads(Some(1)).map_err(|error| error.0)?;
    pool.install(work)
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

/// The files whose paths stand in a list.
fn read_seeds(target: Target, list: &Path) -> Result<Vec<Vec<u8>>, String> {
    let list = fs::read_to_string(list).map_err(|error| format!("{}: {error}", list.display()))?;
    Ok(list
        .lines()
        .map(Path::new)
        .filter(|path| target.wants(path))
        .filter_map(|path| cudalint_files::read_file(path).ok())
        .collect())
}
