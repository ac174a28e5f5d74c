//! Trials: a tiny program is compiled, run and watched, as a run would do it, and a tiny kernel launched from Python.

use super::super::{Machine, ProbeOptions};
use crate::kernel::{KernelReport, kernel_command};
use crate::lab::{Bench, Build, BuildFailure, End, Lab, Limits, Run, RunOutcome, Watcher, readable};
use crate::scenario::{KernelArgument, KernelProgram};
use camino::{Utf8Path, Utf8PathBuf};
use std::time::Duration;

/// What a trial showed: what it took, or why it failed, in one line.
pub type Trial = Result<String, String>;

/// What was tried. What could not be tried, for want of a part, is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trials {
    /// nvcc compiled a program.
    pub nvcc: Option<Trial>,
    /// Its program ran on the GPU.
    pub program: Option<Trial>,
    /// NVRTC compiled a kernel, and where there is a GPU the kernel ran.
    pub nvrtc: Option<Trial>,
    /// Whether the trial of NVRTC had a GPU.
    pub nvrtc_ran: bool,
    /// compute-sanitizer saw the overrun of a kernel, with its line.
    pub compute_sanitizer: Option<Trial>,
    /// Kernels that were launched from Python, by package.
    pub python: Vec<(String, Trial)>,
    /// How programs are kept from the network; none where nothing ran.
    pub network: Option<Trial>,
}

/// A program that writes within its memory, and with any argument beyond it.
const PROGRAM: &str = include_str!("trial.cu");
/// What it and the scripts print when all went well.
const WORKS: &str = "cudalint works";
/// The line of the program that writes.
const LINE: &str = "6";

const NUMBA: &str = include_str!("trial_numba.py");
const CUPY: &str = include_str!("trial_cupy.py");
const PYCUDA: &str = include_str!("trial_pycuda.py");

/// Tries out all that a machine has.
pub(super) fn perform(options: &ProbeOptions, machine: &Machine) -> Trials {
    let Some(launcher) = options.launcher.clone() else { return Trials::default() };
    let folder = tempfile::Builder::new().prefix("cudalint-doctor").tempdir();
    let Some((_folder, path)) = folder.ok().and_then(|folder| {
        let path = Utf8PathBuf::from_path_buf(folder.path().canonicalize().ok()?).ok()?;
        Some((folder, path))
    }) else {
        return Trials::default();
    };
    let limits = Limits { run: Duration::from_secs(60), build: Duration::from_secs(120), ..Limits::default() };
    let lab = Lab::new(machine.clone(), path, limits, launcher);
    let environment = options.surroundings.environment();
    let mut trials = try_all(&lab, machine, &environment);
    let anything_ran = trials.nvcc.is_some() || trials.nvrtc.is_some() || !trials.python.is_empty();
    let kept = lab.notes().into_iter().find(|note| note.contains("keep the network"));
    trials.network = anything_ran.then(|| match kept {
        Some(note) => Err(note),
        None => Ok("programs run without it".to_owned()),
    });
    trials
}

fn try_all(lab: &Lab, machine: &Machine, environment: &[(String, String)]) -> Trials {
    let gpu = !machine.devices.is_empty();
    let broken = || Err("an internal fault ended the trial".to_owned());
    let scripts = [("numba", NUMBA), ("cupy", CUPY), ("pycuda", PYCUDA)].into_iter().filter_map(|(name, script)| {
        let python = machine.python.as_ref().filter(|_| gpu)?;
        let works = |package: &&super::super::Package| package.name == name && package.problem.is_none();
        let found = python.packages.iter().find(works)?;
        found.version.is_some().then_some((name, script, &python.program.path))
    });
    let scripts: Vec<_> = scripts.collect();
    std::thread::scope(|scope| {
        let kernel = scope.spawn(|| machine.nvrtc.as_ref().map(|_| try_nvrtc(lab, gpu)));
        let python: Vec<_> = scripts
            .iter()
            .map(|(name, script, python)| (*name, scope.spawn(|| try_python(lab, name, script, python, environment))))
            .collect();
        let (nvcc, program) = match &machine.nvcc {
            Some(_) => try_nvcc(lab, gpu),
            None => (None, None),
        };
        let nvrtc = kernel.join().unwrap_or_else(|_| Some(broken()));
        let built = matches!(nvcc, Some(Ok(_)));
        let compute_sanitizer = (gpu && machine.compute_sanitizer.is_some() && (built || matches!(nvrtc, Some(Ok(_)))))
            .then(|| try_sanitizer(lab, built));
        let python = python
            .into_iter()
            .map(|(name, trial)| (name.to_owned(), trial.join().unwrap_or_else(|_| broken())))
            .collect();
        Trials { nvcc, program, nvrtc, nvrtc_ran: gpu, compute_sanitizer, python, network: None }
    })
}

/// Compiles the program, and runs it where there is a GPU.
fn try_nvcc(lab: &Lab, gpu: bool) -> (Option<Trial>, Option<Trial>) {
    let bench = match program(lab, "nvcc") {
        Ok(bench) => bench,
        Err(problem) => return (Some(Err(problem)), None),
    };
    let compiled = match bench.build(&build()) {
        Ok(_) => Ok(format!("compiled a program in {:.1} s", bench.times().build)),
        Err(BuildFailure::Refused { error, .. }) => Err(readable(&error)),
        Err(BuildFailure::TimedOut) => Err("the compiler took too long and was ended".to_owned()),
        Err(BuildFailure::NoCompiler) => Err("there is no compiler".to_owned()),
        Err(BuildFailure::Broken(reason)) => Err(readable(&reason)),
        Err(BuildFailure::Interrupted) => Err("interrupted".to_owned()),
    };
    let ran = (gpu && compiled.is_ok()).then(|| said_works(&bench.run(&run("program", &["trial"], None))));
    (Some(compiled), ran)
}

/// Compiles a kernel by NVRTC, and launches it where there is a GPU.
fn try_nvrtc(lab: &Lab, gpu: bool) -> Trial {
    let bench = lab.bench("nvrtc").map_err(|error| error.to_string())?;
    let outcome = bench.run(&kernel_command(&bench, &kernel(255))?);
    let report = KernelReport::read(&outcome.stdout).ok_or_else(|| last_words(&outcome))?;
    if let Some(problem) = &report.problem {
        return Err(readable(problem.text()));
    }
    match report.failure() {
        Some(call) => Err(format!("{} returns {}: {}", call.call, call.name, call.text)),
        None if gpu => Ok(format!("compiled and launched a kernel in {:.1} s", outcome.seconds)),
        None => Ok(format!("compiled a kernel in {:.1} s", outcome.seconds)),
    }
}

/// Runs the overrun under memcheck, which must see it and name its line.
fn try_sanitizer(lab: &Lab, built: bool) -> Trial {
    let outcome = if built {
        let bench = program(lab, "memcheck")?;
        bench.build(&build()).map_err(|failure| format!("{failure:?}"))?;
        bench.run(&run("memcheck", &["trial", "beyond"], Some(Watcher::Memcheck)))
    } else {
        let bench = lab.bench("memcheck").map_err(|error| error.to_string())?;
        bench.run(&Run { watcher: Some(Watcher::Memcheck), ..kernel_command(&bench, &kernel(256))? })
    };
    let report = outcome.report.clone().unwrap_or_default();
    if !report.contains("Invalid __global__ write") {
        let heard = complaint(&report).or_else(|| complaint(&outcome.stderr)).or_else(|| complaint(&outcome.stdout));
        return Err(heard.unwrap_or_else(|| match &outcome.end {
            End::Exit(0) => "memcheck does not see a write beyond an allocation".to_owned(),
            _ => last_words(&outcome),
        }));
    }
    let lines = [format!("<line>{LINE}</line>"), format!("trial.cu:{LINE}")];
    if !lines.iter().any(|line| report.contains(line)) {
        return Err("memcheck sees a write beyond an allocation, but not its line".to_owned());
    }
    Ok(format!("memcheck saw a write beyond an allocation, with its line, in {:.1} s", outcome.seconds))
}

/// What a watcher complains of: the words of its first record, or its first line with an error.
fn complaint(said: &str) -> Option<String> {
    let record = |line: &str| Some(line.trim().strip_prefix("<text>")?.split("</text>").next()?.to_owned());
    let error = |line: &&str| line.contains("Error:") || line.contains("not supported") || line.contains("terminated");
    let told = || said.lines().find(error).map(|line| line.trim_start_matches('=').to_owned());
    said.lines().find_map(record).or_else(told).map(|words| readable(&words))
}

fn try_python(lab: &Lab, name: &str, script: &str, python: &Utf8Path, environment: &[(String, String)]) -> Trial {
    let bench = lab.bench(name).map_err(|error| error.to_string())?;
    let file = format!("{name}_trial.py");
    bench.write(Utf8Path::new(&file), script).map_err(|error| error.to_string())?;
    let command = [python.as_str(), &file];
    said_works(&bench.run(&Run { environment: environment.to_vec(), ..run("script", &command, None) }))
        .map(|words| format!("a kernel {words}"))
}

/// A bench with the program's source.
fn program<'lab>(lab: &'lab Lab, id: &str) -> Result<Bench<'lab>, String> {
    let bench = lab.bench(id).map_err(|error| error.to_string())?;
    bench.write("trial.cu".into(), PROGRAM).map_err(|error| error.to_string())?;
    Ok(bench)
}

fn build() -> Build {
    Build { label: "trial".to_owned(), units: vec!["trial.cu".into()], flags: Vec::new() }
}

fn run(label: &str, command: &[&str], watcher: Option<Watcher>) -> Run {
    Run {
        label: label.to_owned(),
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        environment: Vec::new(),
        watcher,
        device: true,
        kernels: Vec::new(),
    }
}

/// The program's kernel alone, writing to this cell of 256.
fn kernel(cell: i32) -> KernelProgram {
    // Behind the head and its blank line, at line 4.
    let source = PROGRAM.split("\n\n").nth(1).unwrap_or_default();
    KernelProgram {
        source: format!("#line 4 \"trial.cu\"\n{source}\n"),
        name: "write<int>".to_owned(),
        flags: Vec::new(),
        grid: [1, 1, 1],
        block: [1, 1, 1],
        shared_bytes: 0,
        shared_opt_in: false,
        arguments: vec![
            KernelArgument::Buffer { bytes: 1024, filled: true },
            KernelArgument::Value(cell.to_ne_bytes().to_vec()),
        ],
        globals: Vec::new(),
    }
}

/// Whether a run printed the words of success.
fn said_works(outcome: &RunOutcome) -> Trial {
    if outcome.end == End::Exit(0) && outcome.stdout.lines().any(|line| line.trim() == WORKS) {
        Ok(format!("ran in {:.1} s", outcome.seconds))
    } else {
        Err(last_words(outcome))
    }
}

/// What a run that failed said last.
fn last_words(outcome: &RunOutcome) -> String {
    let last = |text: &str| text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(readable);
    let said = last(&outcome.stderr).or_else(|| last(&outcome.stdout));
    match (&outcome.end, said) {
        (End::Exit(_) | End::Signal(_), Some(said)) => said,
        (End::Exit(status), None) => format!("it ends with status {status} and says nothing"),
        (End::Signal(signal), None) => format!("it is ended by signal {signal}"),
        (End::TimedOut, _) => format!("it took longer than {:.0} s and was ended", outcome.seconds),
        (End::OverLimit(problem), _) => format!("it {problem}"),
        (End::NotStarted(reason), _) => reason.clone(),
        (End::Interrupted | End::Enough, _) => "interrupted".to_owned(),
    }
}
