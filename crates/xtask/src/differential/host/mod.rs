//! `cargo xtask differential --host`: random host programs are replayed, built with the host's compiler against a header that
//! stands for the CUDA runtime, and run. What the replay holds for a fact has to be what ran; no GPU is needed.

mod headers;
pub mod language;
mod together;

use super::calls::{Log, MACRO_LINES, Run, Tally, compare, ran_in};
use super::total::conclude;
use super::writing::{Parts, Writer, read};
use super::{compiler, random_of};
use crate::each::each;
use cudalint_findings::LineIndex;
use cudalint_program::ir::ModuleId;
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_replay::facts::{Facts, Site};
use cudalint_replay::{ReplayOptions, replay_all};
use cudalint_syntax::BuildMacros;
use headers::Program;
use language::{Cpp, HEADERS};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;
use together::TOGETHER;

/// What is generated, and how long.
pub struct Plan<'a> {
    /// Folder for programs; one that shows a mistake stays there.
    pub out: &'a Path,
    /// The number of the first program, and how many there are.
    pub first: usize,
    pub count: usize,
    /// Another seed makes other programs.
    pub seed: u64,
    /// Programs at one time.
    pub jobs: usize,
    /// Programs of several files, which hold the reading of `#if`, macros and headers to the compiler.
    pub headers: bool,
    /// Seconds after which no more programs are begun; what was compared until then is told.
    pub seconds: Option<u64>,
}

/// Generates, replays, builds, runs and compares.
///
/// # Errors
/// When there is no compiler, a program does not build or run, or a fact was not what ran.
pub fn run(plan: &Plan<'_>) -> Result<(), String> {
    let Plan { first, count, seed, jobs, headers, .. } = *plan;
    let begin = Instant::now();
    let is_over = || plan.seconds.is_some_and(|seconds| begin.elapsed().as_secs() >= seconds);
    let out = std::path::absolute(plan.out).map_err(|error| error.to_string())?;
    let parts = Parts { features: read(include_str!("features.txt"))?, uses: read(include_str!("uses.txt"))? };
    prepare(&out)?;
    // Programs of several files are built with flags of their own.
    let size = if headers { 1 } else { TOGETHER };
    let results = each(count.div_ceil(size), jobs, &|group| {
        if is_over() {
            return Vec::new();
        }
        let numbers = first + group * size..first + ((group + 1) * size).min(count);
        let programs: Vec<(usize, Program)> =
            numbers.map(|number| (number, generate(&parts, headers, seed, number))).collect();
        let printed = if headers {
            vec![None]
        } else {
            let sources: Vec<&str> = programs.iter().map(|(_, program)| program.main.as_str()).collect();
            together::run(compiler_in(&out), &out, &format!("group{group:05}"), &sources)
        };
        let results = programs.iter().zip(printed).map(|((number, program), printed)| {
            let tally = printed.map(|printed| judge(program, &printed));
            // What is told of a program holds where it is built by itself.
            let (tally, alone) = match tally {
                Some(tally) if tally.wrong.is_empty() => (Ok(tally), false),
                _ => (one(&out, *number, program), true),
            };
            for ((_, line), wrong) in tally.iter().flat_map(|tally| &tally.wrong) {
                println!("{}:{line}: {wrong}", path(&out, *number, "cu").display());
            }
            (tally, alone)
        });
        results.collect::<Vec<_>>()
    });
    let (done, alone): (Vec<_>, Vec<bool>) = results.into_iter().flatten().unzip();
    let alone = alone.iter().filter(|alone| **alone).count();
    conclude(&format!("{} host programs, seed {seed}, {alone} built by themselves", done.len()), done)
}

/// The program of this number.
fn generate(parts: &Parts, headers: bool, seed: u64, number: usize) -> Program {
    let mut random = random_of(seed, number);
    if headers {
        return headers::program(&mut random, &format!("host{number:05}"));
    }
    let mut writer = Writer::new(&mut random, &Cpp, &parts.features, "");
    let scenes = writer.scenes(&parts.uses, number);
    Program { main: language::program(writer, &scenes), ..Program::default() }
}

/// The header that all programs begin with, compiled once.
fn prepare(out: &Path) -> Result<(), String> {
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    let write = |name: &str, text: &str| fs::write(out.join(name), text).map_err(|error| format!("{name}: {error}"));
    write("cuda_runtime.h", "#pragma once\n")?;
    write("stand_in.h", include_str!("stand_in.h"))?;
    let all: Vec<String> = HEADERS.iter().map(|header| format!("#include <{header}>")).collect();
    write("all.h", &format!("{}\n#include \"stand_in.h\"\n", all.join("\n")))?;
    let built = compiler::compiler().args(["-x", "c++-header", "all.h"]).current_dir(out).output();
    let built = built.map_err(|error| format!("g++ is needed: {error}"))?;
    if built.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&built.stderr).into_owned()) }
}

fn path(out: &Path, number: usize, extension: &str) -> PathBuf {
    out.join(format!("host{number:05}.{extension}"))
}

fn one(out: &Path, number: usize, program: &Program) -> Result<Tally, String> {
    let host = path(out, number, "cpp");
    let main = program.main.as_str();
    let headers = program.headers.iter().map(|(name, text)| (out.join(name), text.clone()));
    let sources = [(host.clone(), language::for_host(main)), (path(out, number, "cu"), main.to_owned())];
    let files: Vec<(PathBuf, String)> = headers.chain(sources).collect();
    for (path, text) in &files {
        fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let mut build = compiler_in(out);
    build.args(program.defines.iter().map(|define| format!("-D{define}")));
    let tally = judge(program, &compiler::run(build, &host, &path(out, number, "bin"))?);
    if tally.wrong.is_empty() {
        for (path, _) in &files {
            let _ = fs::remove_file(path);
        }
    }
    Ok(tally)
}

/// The compiler, with the header that all programs begin with.
fn compiler_in(out: &Path) -> Command {
    let mut build = compiler::compiler();
    build.args(["-include", "all.h", "-I", "."]).current_dir(out);
    build
}

/// Holds what the replay sees in a program to what it printed.
fn judge(program: &Program, printed: &str) -> Tally {
    let log = Log::read(printed, &|word| word.parse().map(|line| (0, line)).into_iter().collect());
    let lines = LineIndex::new(&program.main);
    let place = |site: Site| Some((0, lines.line(site.span.start as usize) as u32 + 1));
    let run = Run {
        log: &log,
        place: &place,
        without_arguments: false,
        complete: true,
        lines: MACRO_LINES,
        in_order: false,
        surely_ran: &|_| true,
    };
    let facts = facts(program);
    let mut tally = compare(&facts.events, &run);
    ran_in(&facts.never_run, ModuleId(0), &run, &mut tally);
    tally
}

/// What the replay sees in the program.
fn facts(program: &Program) -> Facts {
    let main = ("a.cu", program.main.as_str());
    let headers = program.headers.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<(&str, &str)> = std::iter::once(main).chain(headers).collect();
    let build = Arc::new(BuildMacros::with_defines(program.defines.iter().map(String::as_str)));
    let Ok(loaded) = load_texts(&files, &ProjectOptions { build, ..ProjectOptions::default() }) else {
        return Facts::default();
    };
    replay_all(&loaded.project, &ReplayOptions::default()).into_iter().next().unwrap_or_default()
}
