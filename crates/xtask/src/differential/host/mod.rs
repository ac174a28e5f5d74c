//! `cargo xtask differential --host`: random host programs are replayed, built with the host's compiler against a header that
//! stands for the CUDA runtime, and run. What the replay holds for a fact has to be what ran; no GPU is needed.

pub mod compare;
pub mod entries;
pub mod generate;
mod headers;
pub mod log;

use crate::random::Random;
use compare::{Run, Tally, compare};
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_replay::facts::{Event, Site};
use cudalint_replay::{ReplayOptions, replay_all};
use cudalint_syntax::BuildMacros;
use headers::Program;
use log::Log;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Flags of the compiler: what C++ does not define ends the run, so that nothing is compared with it.
const FLAGS: &[&str] = &[
    "-std=c++20",
    "-O0",
    "-w",
    "-fsanitize=signed-integer-overflow,shift,integer-divide-by-zero,bounds,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",
];

/// Generates, replays, builds, runs and compares; programs that show a mistake stay in `out`.
///
/// # Errors
/// When there is no compiler, a program does not build or run, or a fact was not what ran.
pub fn run(out: &Path, count: usize, seed: u64, jobs: usize, headers: bool) -> Result<(), String> {
    let out = std::path::absolute(out).map_err(|error| error.to_string())?;
    let (features, uses) = (entries::features()?, entries::uses()?);
    prepare(&out)?;
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
                    let alone = number < features.len() + uses.len();
                    let program = if headers {
                        headers::program(&mut random, &format!("host{number:05}"))
                    } else if alone {
                        Program { main: generate::alone(&mut random, &features, &uses, number), ..Program::default() }
                    } else {
                        Program { main: generate::mixed(&mut random, &features, &uses), ..Program::default() }
                    };
                    let result = one(&out, number, &program);
                    let Ok(mut total) = total.lock() else { break };
                    match result {
                        Ok(tally) => {
                            for ((_, line), wrong) in &tally.wrong {
                                println!("{}:{line}: {wrong}", path(&out, number, "cu").display());
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
    println!("{count} host programs, seed {seed}: {tally}; {} did not build or run", failures.len());
    if tally.wrong.is_empty() && failures.is_empty() { Ok(()) } else { Err("facts that are not what ran".into()) }
}

/// The header that all programs begin with, compiled once.
fn prepare(out: &Path) -> Result<(), String> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let write = |name: &str, text: &str| fs::write(out.join(name), text).map_err(|error| format!("{name}: {error}"));
    write("cuda_runtime.h", "#pragma once\n")?;
    write("stand_in.h", include_str!("stand_in.h"))?;
    let all: Vec<String> = generate::HEADERS.iter().map(|header| format!("#include <{header}>")).collect();
    write("all.h", &format!("{}\n#include \"stand_in.h\"\n", all.join("\n")))?;
    let built = Command::new("g++").args(FLAGS).args(["-x", "c++-header", "all.h"]).current_dir(out).output();
    let built = built.map_err(|error| format!("g++ is needed: {error}"))?;
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

fn path(out: &Path, number: usize, extension: &str) -> PathBuf {
    out.join(format!("host{number:05}.{extension}"))
}

fn one(out: &Path, number: usize, program: &Program) -> Result<Tally, String> {
    let (cuda, host, binary) = (path(out, number, "cu"), path(out, number, "cpp"), path(out, number, "bin"));
    let fail = |what: &str, error: &[u8]| {
        let error = String::from_utf8_lossy(error);
        format!("{}: {what}: {}", host.display(), error.lines().take(3).collect::<Vec<_>>().join(" / "))
    };
    let main = program.main.as_str();
    let headers = program.headers.iter().map(|(name, text)| (out.join(name), text.clone()));
    let files: Vec<(PathBuf, String)> =
        headers.chain([(host.clone(), generate::for_host(main)), (cuda.clone(), main.to_owned())]).collect();
    for (path, text) in &files {
        fs::write(path, text).map_err(|error| fail("not written", error.to_string().as_bytes()))?;
    }
    let built = Command::new("g++")
        .args(FLAGS)
        .args(["-include", "all.h", "-I", "."])
        .args(program.defines.iter().map(|define| format!("-D{define}")))
        .arg(&host)
        .arg("-o")
        .arg(&binary)
        .current_dir(out)
        .output()
        .map_err(|error| fail("no compiler", error.to_string().as_bytes()))?;
    if !built.status.success() {
        return Err(fail("does not build", &built.stderr));
    }
    let ran = Command::new(&binary)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| fail("does not start", error.to_string().as_bytes()))?;
    if !ran.status.success() {
        return Err(fail(&format!("ended with {}", ran.status), &ran.stderr));
    }
    let log = Log::read(&String::from_utf8_lossy(&ran.stdout), &|word| {
        word.parse().map(|line| (0, line)).into_iter().collect()
    });
    let starts: Vec<u32> = std::iter::once(0)
        .chain(main.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1))
        .collect();
    let place = |site: Site| Some((0, starts.partition_point(|start| *start <= site.span.start) as u32));
    let run = Run { log: &log, place: &place, without_arguments: false, complete: true, surely_ran: &|_| true };
    let tally = compare(&events(program), &run);
    let _ = fs::remove_file(&binary);
    if tally.wrong.is_empty() {
        for (path, _) in &files {
            let _ = fs::remove_file(path);
        }
    }
    Ok(tally)
}

/// What the replay sees in the program.
fn events(program: &Program) -> Vec<Event> {
    let main = ("a.cu", program.main.as_str());
    let headers = program.headers.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<(&str, &str)> = std::iter::once(main).chain(headers).collect();
    let build = Arc::new(BuildMacros::with_defines(program.defines.iter().map(String::as_str)));
    let Ok(loaded) = load_texts(&files, &ProjectOptions { build, ..ProjectOptions::default() }) else {
        return Vec::new();
    };
    let facts = replay_all(&loaded.project, &ReplayOptions::default()).into_iter().next();
    facts.map(|facts| facts.events).unwrap_or_default()
}
