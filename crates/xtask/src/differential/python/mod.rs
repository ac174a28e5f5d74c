//! `cargo xtask differential --host --python`: random host programs in Python are replayed, and run with modules that stand for
//! Numba, `CuPy` and `PyCUDA`. What the replay holds for a fact has to be what ran; no GPU is needed.

mod language;

use super::calls::{Log, Run, Tally, compare};
use super::random_of;
use super::total::conclude;
use super::writing::{Parts, Writer, read};
use crate::each::each;
use cudalint_findings::LineIndex;
use cudalint_program::{ProjectOptions, load_texts};
use cudalint_replay::facts::{Event, Site};
use cudalint_replay::{ReplayOptions, replay_all};
use language::{Program, Python};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Programs that one process of Python runs.
const BATCH: usize = 50;

/// What stands for the packages counts lines of a program's second file from here.
const SECOND_FILE: u32 = 100_000;

/// What there is to run.
pub struct Plan {
    /// Folder for the programs; those that show a mistake stay there.
    pub out: PathBuf,
    /// The interpreter, which needs `NumPy`.
    pub interpreter: PathBuf,
    pub count: usize,
    pub seed: u64,
    pub jobs: usize,
    /// Only the program of this number.
    pub only: Option<usize>,
}

/// Generates, replays, builds, runs and compares.
///
/// # Errors
/// When there is no compiler, a program does not build or run, or a fact was not what ran.
pub fn run(mut plan: Plan) -> Result<(), String> {
    plan.out = std::path::absolute(&plan.out).map_err(|error| error.to_string())?;
    let parts = Parts { features: read(include_str!("features.txt"))?, uses: read(include_str!("uses.txt"))? };
    prepare(&plan)?;
    let numbers: Vec<usize> = plan.only.map_or_else(|| (0..plan.count).collect(), |only| vec![only]);
    let batches: Vec<&[usize]> = numbers.chunks(BATCH).collect();
    let results = each(batches.len(), plan.jobs, &|batch| {
        let programs: Vec<(usize, Program)> =
            batches[batch].iter().map(|number| (*number, program(&plan, &parts, *number))).collect();
        let logs = plan.run_all(&programs);
        let judged =
            programs.iter().zip(logs).map(|((number, program), log)| Ok(judge(&plan, *number, program, &log?)));
        judged.collect::<Vec<_>>()
    });
    conclude(&format!("{} host programs, seed {}", numbers.len(), plan.seed), results.into_iter().flatten())
}

/// The program of a number.
fn program(plan: &Plan, parts: &Parts, number: usize) -> Program {
    let mut random = random_of(plan.seed, number);
    let library = format!("lib{number:05}");
    let mut writer = Writer::new(&mut random, &Python, &parts.features, &library);
    let scenes = writer.scenes(&parts.uses, number);
    language::program(writer, &scenes, &library)
}

/// Writes what stands for the packages.
fn prepare(plan: &Plan) -> Result<(), String> {
    let out = &plan.out;
    fs::create_dir_all(out).map_err(|error| format!("{}: {error}", out.display()))?;
    fs::write(out.join("stand_in.py"), include_str!("stand_in.py")).map_err(|error| error.to_string())
}

impl Plan {
    fn path(&self, number: usize) -> PathBuf {
        self.out.join(format!("host{number:05}.py"))
    }

    /// A program's files.
    fn files(&self, number: usize, program: &Program) -> Vec<(PathBuf, String)> {
        let others = program.others.iter().map(|(name, text)| (self.out.join(name), text.clone()));
        std::iter::once((self.path(number), program.main.clone())).chain(others).collect()
    }

    /// Writes and runs programs; what each of them wrote.
    fn run_all(&self, programs: &[(usize, Program)]) -> Vec<Result<String, String>> {
        for (path, text) in programs.iter().flat_map(|(number, program)| self.files(*number, program)) {
            if let Err(error) = fs::write(&path, text) {
                return vec![Err(format!("{}: {error}", path.display())); programs.len()];
            }
        }
        let said = self.run_python(programs);
        let log = |number: &usize| {
            let said = said.as_ref().map_err(Clone::clone)?;
            let mark = format!("P {number}\n");
            let (_, log) = said.split_once(&mark).ok_or_else(|| format!("program {number} was not run"))?;
            let log = log.split("\nP ").next().unwrap_or_default();
            match log.lines().find_map(|line| line.strip_prefix("E ")) {
                Some(error) => Err(format!("{}: {error}", self.path(*number).display())),
                None => Ok(log.to_owned()),
            }
        };
        programs.iter().map(|(number, _)| log(number)).collect()
    }

    fn run_python(&self, programs: &[(usize, Program)]) -> Result<String, String> {
        let interpreter = &self.interpreter;
        let fail = |error: &dyn std::fmt::Display| format!("{}: {error}", interpreter.display());
        let names: Vec<String> =
            programs.iter().map(|(number, _)| format!("{number} {}", self.path(*number).display())).collect();
        let mut child = Command::new(interpreter)
            .args(["-B", "-W", "ignore", "stand_in.py"])
            .current_dir(&self.out)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| fail(&error))?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(names.join("\n").as_bytes()).map_err(|error| fail(&error))?;
        }
        let ran = child.wait_with_output().map_err(|error| fail(&error))?;
        if !ran.status.success() {
            return Err(fail(&String::from_utf8_lossy(&ran.stderr)));
        }
        Ok(format!("{}\n", String::from_utf8_lossy(&ran.stdout)))
    }
}

/// Holds what the replay sees in a program to what it wrote. A program without a mistake does not stay.
fn judge(plan: &Plan, number: usize, program: &Program, log: &str) -> Tally {
    let tally = compare_with(program, log);
    let files = plan.files(number, program);
    for ((file, line), wrong) in &tally.wrong {
        println!("{}:{line}: {wrong}", files[*file as usize].0.display());
    }
    if tally.wrong.is_empty() && plan.only.is_none() {
        for (path, _) in files {
            let _ = fs::remove_file(path);
        }
    }
    tally
}

fn compare_with(program: &Program, log: &str) -> Tally {
    let others = program.others.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let files: Vec<(&str, &str)> = std::iter::once(("a.py", program.main.as_str())).chain(others).collect();
    let lines: Vec<LineIndex> = files.iter().map(|(_, text)| LineIndex::new(text)).collect();
    let Ok(loaded) = load_texts(&files, &ProjectOptions::default()) else {
        return Tally { wrong: vec![((0, 1), "not read".into())], ..Tally::default() };
    };
    let project = &loaded.project;
    let place = |site: Site| {
        let path = project.path(site.module);
        let file = files.iter().position(|(name, _)| *name == &**path).unwrap_or_default();
        Some((file as u32, lines[file].line(site.span.start as usize) as u32 + 1))
    };
    let log = Log::read(log, &|word| {
        // Lines of the second file are counted from there.
        word.parse::<u32>().map(|line| (line / SECOND_FILE, line % SECOND_FILE)).into_iter().collect()
    });
    let facts = replay_all(project, &ReplayOptions::default());
    let all: Vec<Event> = facts.into_iter().flat_map(|facts| facts.events).collect();
    let run = Run {
        log: &log,
        place: &place,
        without_arguments: false,
        complete: true,
        lines: 0,
        in_order: true,
        surely_ran: &|_| true,
    };
    compare(&all, &run)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAIN: &str = "import numpy as np
from numba import cuda
@cuda.jit
def k(*args):
    pass
d = cuda.to_device(np.arange(6, dtype=np.int32).reshape(2, 3))
k[3, (8, 2), 0, 16](d, 5, np.float32(2.5), None)
for i in range(2):
    k[i + 1, 32](d[1:, ::2], i)
";

    const LOG: &str = "\
L 7 k 3 1 1 8 2 1 16 ( @int32:24:0:2x3:12x4:000000000100000002000000030000000400000005000000 int64=5 float32=2.5 none )
L 9 k 1 1 1 32 1 1 0 ( @int32:24:12:1x2:12x8: int64=0 )
L 9 k 2 1 1 32 1 1 0 ( @int32:24:12:1x2:12x8: int64=1 )";

    fn tally(log: &str) -> Tally {
        compare_with(&Program { main: MAIN.into(), ..Program::default() }, log)
    }

    #[test]
    fn what_ran_is_what_is_known() {
        let tally = tally(LOG);
        assert!(tally.wrong.is_empty(), "{:?}", tally.wrong);
        assert_eq!((tally.calls, tally.seen, tally.unknown), (3, 3, 0));
    }

    #[test]
    fn each_fact_that_is_not_what_ran_is_found() {
        for (fact, other) in [
            ("L 7", "L 6"),
            ("k 3 1 1", "k 4 1 1"),
            ("8 2 1 16", "8 3 1 16"),
            ("8 2 1 16", "8 2 1 17"),
            ("int64=5", "int64=6"),
            ("int64=5", "int32=5"),
            ("float32=2.5", "float32=2.25"),
            ("float32=2.5", "float64=2.5"),
            (" none )", " int64=0 )"),
            (" none )", " )"),
            ("@int32:24:0", "@uint32:24:0"),
            ("@int32:24:0", "@int32:28:0"),
            ("@int32:24:0", "@int32:24:4"),
            ("2x3:12x4", "3x2:12x4"),
            ("2x3:12x4", "2x3:4x8"),
            (":0000000001", ":0000000002"),
            ("1x2:12x8", "1x2:12x4"),
            ("24:12:1x2", "24:8:1x2"),
            ("k 2 1 1 32", "k 3 1 1 32"),
            ("( @int32:24:0", "( none @int32:24:0"),
        ] {
            let changed = LOG.replacen(fact, other, 1);
            assert_ne!(changed, LOG, "{fact}");
            assert!(!tally(&changed).wrong.is_empty(), "{fact} as {other}");
        }
        let mut lines: Vec<&str> = LOG.lines().collect();
        lines.swap(1, 2);
        assert!(!tally(&lines.join("\n")).wrong.is_empty(), "the other order");
    }
}
