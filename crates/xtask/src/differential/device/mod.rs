//! `cargo xtask differential --device`: random kernels in all the language that device code may use are run by the host's
//! compiler, one thread after another, and replayed by the linter. Which element each thread asks for is known then: an array
//! that is just large enough must not be told of, and what is told of a shorter one must be what that thread did. No GPU is needed.

mod compare;
mod kernels;
mod log;

use super::host::entries::{self, Entry};
use crate::random::Random;
use compare::Tally;
use cudalint_engine::{Choices, Configuration, Engine, Request};
use kernels::{Extents, Program};
use log::Log;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Flags of the compiler: what C++ does not define ends the run, so that nothing is compared with it.
const FLAGS: &[&str] = &[
    "-std=c++20",
    "-O0",
    "-w",
    "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",
];

/// Ways of device code to compute a number.
fn features() -> Result<Vec<Entry>, String> {
    entries::read(include_str!("features.txt"))
}

/// Generates `count` programs of ten kernels each, builds, runs, replays and compares them; those with a mistake stay in `out`.
///
/// # Errors
/// When there is no compiler, a program does not build or run, or a finding says what no thread did.
pub fn run(out: &Path, count: usize, seed: u64, jobs: usize) -> Result<(), String> {
    let out = std::path::absolute(out).map_err(|error| error.to_string())?;
    let features = features()?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    fs::write(out.join("device.h"), include_str!("stand_in.h")).map_err(|error| error.to_string())?;
    let next = AtomicUsize::new(0);
    let total = Mutex::new((Tally::default(), Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let mut random = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
                    let program = kernels::program(&mut random, &features, number);
                    let result = one(&out, number, &program, &mut random);
                    let Ok(mut total) = total.lock() else { break };
                    match result {
                        Ok(tally) => {
                            for wrong in &tally.wrong {
                                println!("{wrong}");
                            }
                            total.0.add(tally);
                        }
                        Err(why) => total.1.push(why),
                    }
                }
            });
        }
    });
    let (tally, failures) = total.into_inner().map_err(|error| error.to_string())?;
    for failure in &failures {
        println!("{failure}");
    }
    println!("{count} programs of kernels, seed {seed}: {tally}; {} did not build or run", failures.len());
    if tally.wrong.is_empty() && failures.is_empty() { Ok(()) } else { Err("findings that are not what ran".into()) }
}

fn one(out: &Path, number: usize, program: &Program, random: &mut Random) -> Result<Tally, String> {
    let file = |suffix: &str| out.join(format!("device{number:05}{suffix}"));
    let (host, binary) = (file(".cpp"), file(".bin"));
    let fail = |what: &str, error: &[u8]| {
        let error = String::from_utf8_lossy(error);
        format!("{}: {what}: {}", host.display(), error.lines().take(3).collect::<Vec<_>>().join(" / "))
    };
    let write =
        |path: &Path, text: String| fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()));
    write(&host, program.for_host())?;
    let mut build = Command::new("g++");
    build.args(FLAGS).arg("-I").arg(out).arg(&host).arg("-o").arg(&binary);
    let built = build.output().map_err(|error| format!("g++ is needed: {error}"))?;
    if !built.status.success() {
        return Err(fail("does not build", &built.stderr));
    }
    let ran = Command::new(&binary).stdin(Stdio::null()).output();
    let ran = ran.map_err(|error| fail("does not start", error.to_string().as_bytes()))?;
    let _ = fs::remove_file(&binary);
    if !ran.status.success() {
        return Err(fail(&format!("ended with {}", ran.status), &ran.stderr));
    }
    let log = Log::read(&String::from_utf8_lossy(&ran.stdout));
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
