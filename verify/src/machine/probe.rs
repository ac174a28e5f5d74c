//! The probe: looks for everything at once and says what of it works here.

use super::compilers::{self, Asker, Outcome};
use super::devices::{self, DriverAnswer};
use super::fault::{Fault, Part};
use super::options::ProbeOptions;
use super::search::{Places, Surroundings};
use super::{Device, Machine, python, versions};
use crate::lab::{Lab, Limits};
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// A machine and what is wrong with it, by part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survey {
    /// What can be used.
    pub machine: Machine,
    /// What cannot. [`Machine::problems`] has the same as text.
    pub faults: Vec<Fault>,
}

/// What this machine has. Takes less than a second where tools answer at once and Python's packages are not asked for.
pub fn probe(options: &ProbeOptions) -> Machine {
    survey(options).machine
}

/// The same, with what is wrong by part.
pub fn survey(options: &ProbeOptions) -> Survey {
    let nowhere = |reason: String| Survey {
        machine: Machine { problems: vec![reason], ..Machine::default() },
        faults: Vec::new(),
    };
    let Some(launcher) = options.launcher.clone() else {
        return nowhere("nothing can be looked for: the system does not say where this program lies".to_owned());
    };
    let folder = match tempfile::Builder::new().prefix("cudalint-probe").tempdir() {
        Ok(folder) => folder,
        Err(error) => return nowhere(format!("nothing can be looked for: no temporary folder: {error}")),
    };
    let Ok(path) = Utf8PathBuf::from_path_buf(folder.path().to_owned()) else {
        return nowhere("nothing can be looked for: the path of the temporary folder is not UTF-8".to_owned());
    };
    // Nothing of the user's project runs here: no need to ask how the network could be taken away.
    let lab = Lab::new(Machine::default(), path, Limits::default(), launcher).with_network();
    look(options, &lab)
}

/// Looks for everything, in two steps: what the second looks for depends on what the first finds.
fn look(options: &ProbeOptions, lab: &Lab) -> Survey {
    let environment = &options.surroundings.environment();
    let mut survey = Survey::default();
    let (driver, listed, found) = std::thread::scope(|scope| {
        let driver = scope.spawn(|| devices::ask(&options.prober(), "devices", environment, options.limit));
        let listed = scope.spawn(|| listed(options, lab, environment));
        let found = python::find(options, lab, &options.surroundings, environment);
        (driver.join(), listed.join(), found)
    });
    let listed = listed.unwrap_or_default();
    let driver = driver.unwrap_or_else(|_| Err("an internal fault ended the question".to_owned()));
    let driver = driver.and_then(|answer| with_memory(options, environment, answer, &listed));
    take_driver(&mut survey, driver, &options.surroundings, &listed);
    survey.faults.extend(found.faults);
    survey.machine.python = found.python;

    let machine = &survey.machine;
    let places = &Places::new(&options.surroundings, &found.folders);
    let asker = &Asker { options, lab, places, environment };
    let none = || Outcome { program: None, faults: Vec::new() };
    let (tools, packages) = std::thread::scope(|scope| {
        let searches = [
            scope.spawn(move || asker.nvcc(machine)),
            scope.spawn(|| asker.host_compiler()),
            scope.spawn(|| asker.nvrtc(machine)),
            scope.spawn(|| asker.compute_sanitizer()),
            scope.spawn(|| asker.addr2line()),
        ];
        let packages = machine
            .python
            .as_ref()
            .filter(|_| options.python)
            .map(|python| python::packages(options, lab, environment, &python.program, machine.architecture()));
        (searches.map(|search| search.join().unwrap_or_else(|_| none())), packages)
    });
    let [nvcc, host_compiler, nvrtc, compute_sanitizer, addr2line] = tools;
    let mut take = |outcome: Outcome| {
        survey.faults.extend(outcome.faults);
        outcome.program
    };
    let machine = Machine {
        nvcc: take(nvcc),
        host_compiler: take(host_compiler),
        nvrtc: take(nvrtc),
        compute_sanitizer: take(compute_sanitizer),
        addr2line: take(addr2line),
        ..std::mem::take(&mut survey.machine)
    };
    survey.machine = Machine { headers: compilers::headers(&machine), ..machine };
    if let (Some(python), Some(packages)) = (&mut survey.machine.python, packages) {
        python.packages = packages;
    }
    survey.machine.problems = problems(&survey);
    survey
}

/// What is wrong, as text.
fn problems(survey: &Survey) -> Vec<String> {
    let of_packages = survey.machine.python.iter().flat_map(|python| &python.packages).filter_map(|package| {
        let problem = package.problem.as_ref()?;
        Some(format!("{} {}: {problem}", package.name, package.version.as_deref().unwrap_or_default()))
    });
    survey.faults.iter().map(ToString::to_string).chain(of_packages).collect()
}

/// What `nvidia-smi` says of a GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Listed {
    uuid: String,
    driver: String,
    free_memory: Option<u64>,
}

/// All that `nvidia-smi` knows; empty where there is none or it fails. It says within a fraction of the time of a context
/// on each GPU how much memory is free.
fn listed(options: &ProbeOptions, lab: &Lab, environment: &[(String, String)]) -> Vec<Listed> {
    let places = Places::new(&options.surroundings, &[]);
    let Some(program) = places.programs("nvidia-smi").into_iter().next() else { return Vec::new() };
    let command = [program.as_str(), "--query-gpu=uuid,driver_version,memory.free", "--format=csv,noheader,nounits"]
        .map(str::to_owned);
    let answer = lab.ask("nvidia-smi", &command, environment, options.limit);
    if answer.failure().is_some() {
        return Vec::new();
    }
    let rows = answer.stdout.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        let [uuid, driver, free] = *cells.as_slice() else { return None };
        Some(Listed {
            uuid: uuid.strip_prefix("GPU-")?.to_owned(),
            driver: versions::version_in(driver)?,
            free_memory: free.parse::<u64>().ok().map(|mebibytes| mebibytes << 20),
        })
    });
    rows.collect()
}

/// Gives each GPU its free memory: as it is listed, else as a context on each says.
fn with_memory(
    options: &ProbeOptions,
    environment: &[(String, String)],
    mut answer: DriverAnswer,
    listed: &[Listed],
) -> Result<DriverAnswer, String> {
    for found in &mut answer.devices {
        let row = listed.iter().find(|row| row.uuid == found.uuid);
        found.device.free_memory = row.and_then(|row| row.free_memory).unwrap_or(0);
    }
    if answer.devices.iter().any(|found| found.device.free_memory == 0) {
        return devices::ask(&options.prober(), "memory", environment, options.limit);
    }
    Ok(answer)
}

/// Puts down what is known of the driver and its GPUs.
fn take_driver(
    survey: &mut Survey,
    driver: Result<DriverAnswer, String>,
    surroundings: &Surroundings,
    listed: &[Listed],
) {
    let file = std::fs::read_to_string(surroundings.root.join("proc/driver/nvidia/version")).unwrap_or_default();
    let version = listed.first().map(|row| row.driver.clone()).or_else(|| versions::of_driver(&file));
    match driver {
        Ok(answer) => {
            let missing = answer.cuda.is_none() && version.is_none();
            survey.machine.driver_cuda = answer.cuda;
            survey.machine.driver = version;
            survey.faults.extend(answer.problems.into_iter().map(|reason| Fault {
                part: Part::Driver,
                missing,
                reason,
            }));
            survey.machine.devices = answer.devices.into_iter().map(|found| found.device).collect::<Vec<Device>>();
            if survey.machine.devices.is_empty() && survey.faults.is_empty() {
                survey.faults.push(Fault::broken(Part::Driver, "it knows no GPU that may be used"));
            }
        }
        Err(problem) => {
            survey.machine.driver = version;
            survey.faults.push(Fault::broken(Part::Driver, problem));
        }
    }
}
