//! The rows of a diagnosis, and what follows from them.

use super::{Row, State, Trial, Trials};
use crate::machine::{Fault, Machine, Package, Part, Program, Survey};

const GPU: &str = "GPU";
const CUDA: &str = "CUDA C++";
const TOOLS: &str = "tools";
const PYTHON: &str = "Python";

/// What people who have no GPU in reach can do.
const ELSEWHERE: &str = "verify on a machine with a GPU: write the findings here with `cudalint check --output-format \
                         json`, run `cudalint verify FINDINGS.json` there, with the sources beside it";

/// All rows.
pub(super) fn rows(survey: &Survey, trials: &Trials) -> Vec<Row> {
    let mut rows = gpus(survey);
    rows.extend(compilers(survey, trials));
    rows.extend(tools(survey, trials));
    rows.extend(python(survey, trials));
    rows
}

/// Whether a CUDA C++ program, or a kernel alone, ran on the GPU.
pub(super) fn verifies_cuda(trials: &Trials) -> bool {
    matches!(trials.program, Some(Ok(_))) || (trials.nvrtc_ran && matches!(trials.nvrtc, Some(Ok(_))))
}

/// Whether a kernel was launched from Python.
pub(super) fn verifies_python(trials: &Trials) -> bool {
    trials.python.iter().any(|(_, trial)| trial.is_ok())
}

/// What can be verified and what cannot.
pub(super) fn conclusions(machine: &Machine, trials: &Trials) -> Vec<String> {
    let Some(device) = machine.devices.first() else {
        return vec![
            "Nothing can be verified here: there is no GPU that can be used. `cudalint verify` compiles what it can, \
             and confirms nothing."
                .to_owned(),
        ];
    };
    let mut conclusions = Vec::new();
    conclusions.push(match (&trials.program, &trials.nvrtc) {
        (Some(Ok(_)), _) => format!("Findings in CUDA C++ can be verified on {}.", device.name),
        (_, Some(Ok(_))) if trials.nvrtc_ran => {
            format!(
                "Findings in CUDA C++ can be verified on {}, in kernels alone: without nvcc no host code runs.",
                device.name
            )
        }
        _ => "Findings in CUDA C++ cannot be verified here.".to_owned(),
    });
    let works: Vec<&str> =
        trials.python.iter().filter(|(_, trial)| trial.is_ok()).map(|(name, _)| name.as_str()).collect();
    conclusions.push(if works.is_empty() {
        "Findings in Python cannot be verified here.".to_owned()
    } else {
        format!("Findings in Python can be verified on {}, with {}.", device.name, works.join(", "))
    });
    if (verifies_cuda(trials) || verifies_python(trials)) && !matches!(trials.compute_sanitizer, Some(Ok(_))) {
        conclusions.push(
            "Without compute-sanitizer, memory errors and races are looked for with watchpoints, which see less."
                .to_owned(),
        );
    }
    conclusions
}

fn row(group: &str, name: &str, state: State, detail: impl Into<String>, remedy: Remedy<'_>) -> Row {
    let (remedy, installed_by_command) = match remedy {
        Remedy::None => (None, false),
        Remedy::Person(text) => (Some(text.to_owned()), false),
        Remedy::Command => (None, true),
    };
    let (group, name, detail) = (group.to_owned(), name.to_owned(), detail.into());
    Row { group, name, state, detail, remedy, installed_by_command }
}

/// What can be done about a row.
#[derive(Clone, Copy, Debug)]
enum Remedy<'t> {
    None,
    /// By a person: in words.
    Person(&'t str),
    /// By the command.
    Command,
}

/// Says of each row that the command installs that it does; where there is no command, where things come from.
pub(super) fn name_command(rows: &mut [Row], given: bool) {
    for row in rows.iter_mut().filter(|row| row.installed_by_command) {
        row.installed_by_command = given;
        let remedy = match (given, row.state) {
            (true, State::Broken) => "repaired by the command below",
            (true, _) => "installed by the command below",
            (false, _) => "install it from PyPI or with the CUDA Toolkit, in a version that fits the driver",
        };
        row.remedy = Some(remedy.to_owned());
    }
}

fn of_part(survey: &Survey, part: Part) -> impl Iterator<Item = &Fault> {
    survey.faults.iter().filter(move |fault| fault.part == part)
}

fn gpus(survey: &Survey) -> Vec<Row> {
    let machine = &survey.machine;
    let faults: Vec<&Fault> = of_part(survey, Part::Driver).collect();
    let reasons = faults.iter().map(|fault| fault.reason.as_str()).collect::<Vec<_>>().join("; ");
    let cuda = machine.driver_cuda.map(|cuda| format!("for CUDA {}.{}", cuda / 1000, cuda % 1000 / 10));
    let versions: Vec<String> = machine.driver.clone().into_iter().chain(cuda).collect();
    let facts: Vec<String> = Some(versions.join(", ")).filter(|fact| !fact.is_empty()).into_iter().collect();
    let mut rows = Vec::new();
    if machine.devices.is_empty() {
        let all: Vec<&str> =
            facts.iter().map(String::as_str).chain([reasons.as_str()]).filter(|fact| !fact.is_empty()).collect();
        let none = faults.iter().any(|fault| fault.missing) || faults.is_empty();
        let remedy = if cfg!(target_os = "macos") {
            format!("there is no CUDA for this system: {ELSEWHERE}")
        } else if none {
            format!("install NVIDIA's driver, 580 or later for CUDA 13, or {ELSEWHERE}")
        } else {
            format!(
                "see whether `nvidia-smi` works; a container must be started with its GPUs (`docker run --gpus all`); or {ELSEWHERE}"
            )
        };
        let state = if none { State::Missing } else { State::Broken };
        let detail = if all.is_empty() { "there is none".to_owned() } else { all.join("; ") };
        rows.push(row(GPU, "driver", state, detail, Remedy::Person(&remedy)));
        return rows;
    }
    let detail = facts.into_iter().chain((!reasons.is_empty()).then_some(reasons)).collect::<Vec<_>>().join("; ");
    rows.push(row(GPU, "driver", State::Ok, detail, Remedy::None));
    for device in &machine.devices {
        let detail = format!(
            "{}, sm_{}; {} of memory, {} free; blocks of {} threads and {} of shared memory ({} when asked for)",
            device.name,
            device.architecture,
            size(device.memory),
            size(device.free_memory),
            device.threads_per_block,
            size(device.shared_bytes_per_block.into()),
            size(device.shared_bytes_per_block_opt_in.into()),
        );
        rows.push(row(GPU, &format!("GPU {}", device.index), State::Ok, detail, Remedy::None));
    }
    rows
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    let (unit, name) = if bytes >= 1 << 30 { (1u64 << 30, "GiB") } else { (1 << 10, "KiB") };
    if bytes.is_multiple_of(unit) {
        format!("{} {name}", bytes / unit)
    } else {
        format!("{:.1} {name}", bytes as f64 / unit as f64)
    }
}

/// A row of a program that was looked for and, if there, tried. `remedies`: when it is missing, when it is broken.
fn tried(
    survey: &Survey,
    (group, part): (&str, Part),
    program: Option<&Program>,
    trials: &[Option<&Trial>],
    remedies: [Remedy<'_>; 2],
) -> Row {
    let reasons: Vec<&str> = of_part(survey, part).map(|fault| fault.reason.as_str()).collect();
    let missing = of_part(survey, part).all(|fault| fault.missing);
    let [when_missing, when_broken] = remedies;
    let Some(program) = program else {
        let (state, remedy) = if missing { (State::Missing, when_missing) } else { (State::Broken, when_broken) };
        let detail = if reasons.is_empty() { "was not found".to_owned() } else { reasons.join("; ") };
        return row(group, part.name(), state, detail, remedy);
    };
    let mut facts = vec![format!("{} at {}", program.version, program.path).trim().to_owned()];
    let failed = trials.iter().flatten().find_map(|trial| trial.as_ref().err());
    if let Some(reason) = failed {
        facts.push(reason.clone());
        return row(group, part.name(), State::Broken, facts.join("; "), when_broken);
    }
    facts.extend(trials.iter().flatten().filter_map(|trial| trial.as_ref().ok().cloned()));
    // Others that lie around and do not work are named, in case one of them was meant.
    facts.extend(reasons.iter().map(|reason| format!("passed over: {reason}")));
    row(group, part.name(), State::Ok, facts.join("; "), Remedy::None)
}

fn compilers(survey: &Survey, trials: &Trials) -> Vec<Row> {
    let machine = &survey.machine;
    let host =
        Remedy::Person("install a C++ compiler (`apt install g++`, `dnf install gcc-c++`), or name one in NVCC_CCBIN");
    let toolkit = Remedy::Person(
        "this driver needs an older CUDA Toolkit, from developer.nvidia.com/cuda-toolkit-archive; or update the driver to \
         580 or later",
    );
    // PyPI has nvcc of CUDA 13 alone.
    let missing = if machine.driver_cuda.is_some_and(|cuda| cuda < 13000) { toolkit } else { Remedy::Command };
    let broken = match (&trials.nvcc, &trials.program) {
        (Some(Err(_)), _) if machine.host_compiler.is_none() => host,
        // What it builds does not run: another one builds nothing else.
        (Some(Ok(_)), Some(Err(_))) => Remedy::Person("see whether another program of CUDA runs on this GPU"),
        _ => missing,
    };
    let nvcc = [trials.nvcc.as_ref(), trials.program.as_ref()];
    vec![
        tried(survey, (CUDA, Part::Nvcc), machine.nvcc.as_ref(), &nvcc, [missing, broken]),
        tried(survey, (CUDA, Part::HostCompiler), machine.host_compiler.as_ref(), &[], [host; 2]),
        tried(survey, (CUDA, Part::Nvrtc), machine.nvrtc.as_ref(), &[trials.nvrtc.as_ref()], [Remedy::Command; 2]),
    ]
}

fn tools(survey: &Survey, trials: &Trials) -> Vec<Row> {
    let machine = &survey.machine;
    let binutils =
        Remedy::Person("install binutils (`apt install binutils`): without it places of host calls have no lines");
    let (sanitizer, trial) = (machine.compute_sanitizer.as_ref(), trials.compute_sanitizer.as_ref());
    let mut rows = vec![
        tried(survey, (TOOLS, Part::ComputeSanitizer), sanitizer, &[trial], [Remedy::Command; 2]),
        tried(survey, (TOOLS, Part::Addr2line), machine.addr2line.as_ref(), &[], [binutils; 2]),
    ];
    match &trials.network {
        Some(Ok(detail)) => rows.push(row(TOOLS, "network", State::Ok, detail.clone(), Remedy::None)),
        Some(Err(reason)) => {
            let remedy = Remedy::Person("verify only code that you would run yourself, or allow user namespaces");
            rows.push(row(TOOLS, "network", State::Missing, reason.clone(), remedy));
        }
        None => {}
    }
    rows
}

fn python(survey: &Survey, trials: &Trials) -> Vec<Row> {
    let Some(python) = &survey.machine.python else {
        let remedies = ["install Python 3.10 or later", "repair it, or activate an environment with another"];
        return vec![tried(survey, (PYTHON, Part::Python), None, &[], remedies.map(Remedy::Person))];
    };
    let mut rows = vec![tried(survey, (PYTHON, Part::Python), Some(&python.program), &[], [Remedy::None; 2])];
    for package in &python.packages {
        let trial = trials.python.iter().find(|(name, _)| *name == package.name).map(|(_, trial)| trial);
        rows.push(of_package(package, trial));
    }
    rows
}

fn of_package(package: &Package, trial: Option<&Trial>) -> Row {
    let name = &package.name;
    let remedy = match name.as_str() {
        // No wheel: it is built on the machine, and few programs use it.
        "pycuda" => {
            Remedy::Person("only programs of PyCUDA need it: `pip install pycuda` builds it, with nvcc and g++")
        }
        // Its version is that of CUDA, and numba-cuda brings its parts in one that fits.
        "cuda-python" => Remedy::Person(
            "only programs that call the driver or NVRTC from Python need it: `pip install \"cuda-python==13.*\"`, or 12.* for a driver of CUDA 12",
        ),
        _ => Remedy::Command,
    };
    let version = package.version.clone().unwrap_or_default();
    match (&package.problem, &package.version, trial) {
        (Some(problem), _, _) => {
            let facts = [version.as_str(), problem].into_iter().filter(|fact| !fact.is_empty()).collect::<Vec<_>>();
            row(PYTHON, name, State::Broken, facts.join("; "), remedy)
        }
        (None, None, _) => row(PYTHON, name, State::Missing, "is not installed", remedy),
        (None, Some(_), Some(Err(reason))) => row(PYTHON, name, State::Broken, format!("{version}; {reason}"), remedy),
        (None, Some(_), Some(Ok(detail))) => row(PYTHON, name, State::Ok, format!("{version}; {detail}"), Remedy::None),
        (None, Some(_), None) => row(PYTHON, name, State::Ok, version, Remedy::None),
    }
}
