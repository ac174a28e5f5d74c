//! Programs and NVRTC: of those that lie around, the first that works here.

use super::devices::{self, NvrtcAnswer};
use super::fault::{Fault, Part};
use super::options::ProbeOptions;
use super::search::{Places, headers_beside};
use super::versions::{self, major, version_in};
use super::{Machine, Program};
use crate::lab::{Lab, readable};
use camino::{Utf8Path, Utf8PathBuf};

/// What tools are asked with.
pub(super) struct Asker<'a> {
    pub options: &'a ProbeOptions,
    pub lab: &'a Lab,
    pub places: &'a Places<'a>,
    pub environment: &'a [(String, String)],
}

/// What became of a search.
pub(super) struct Outcome {
    pub program: Option<Program>,
    pub faults: Vec<Fault>,
}

impl Asker<'_> {
    /// What a program says when it is called so, all of its words.
    ///
    /// # Errors
    /// Why it says nothing.
    fn words(&self, part: Part, program: &Utf8Path, arguments: &[&str]) -> Result<String, String> {
        let command: Vec<String> =
            std::iter::once(program.as_str()).chain(arguments.iter().copied()).map(str::to_owned).collect();
        let name = format!("{} {}", part.name(), arguments.join(" "));
        let answer = self.lab.ask(&name, &command, self.environment, self.options.limit);
        match answer.failure() {
            Some(failure) => Err(failure),
            None => Ok(format!("{}\n{}", answer.stdout, answer.stderr)),
        }
    }

    /// The first of these programs that says its version and passes a check.
    fn first(
        &self,
        part: Part,
        candidates: &[Utf8PathBuf],
        version: impl Fn(&str) -> Option<String>,
        check: impl Fn(&Utf8Path, &str) -> Result<(), String>,
    ) -> Outcome {
        let mut faults = Vec::new();
        for path in candidates {
            let works = self.words(part, path, &["--version"]).and_then(|words| {
                let version = version(&words)
                    .ok_or_else(|| format!("does not say its version, but `{}`", readable(first_line(&words))))?;
                check(path, &version).map(|()| version)
            });
            match works {
                Ok(version) => return Outcome { program: Some(Program { path: path.clone(), version }), faults },
                Err(reason) => faults.push(Fault::broken(part, format!("{path} {reason}"))),
            }
        }
        if candidates.is_empty() {
            faults.push(Fault::missing(part, "is neither on PATH nor where CUDA's installers and packages put it"));
        }
        Outcome { program: None, faults }
    }

    /// nvcc, one that compiles for the GPU that is here and whose programs its driver can run.
    pub fn nvcc(&self, machine: &Machine) -> Outcome {
        let check = |path: &Utf8Path, version: &str| {
            fits_driver(machine, version)?;
            let Some(device) = machine.devices.first() else { return Ok(()) };
            let Ok(words) = self.words(Part::Nvcc, path, &["--list-gpu-arch"]) else {
                // CUDA before 11.5 does not know the question. The compiler itself will say.
                return Ok(());
            };
            let wanted = format!("compute_{}", device.architecture);
            let knows = words.split_whitespace().any(|word| word == wanted);
            if knows { Ok(()) } else { Err(format!("({version}) does not compile for {}", of_device(device))) }
        };
        self.first(Part::Nvcc, &self.places.programs("nvcc"), versions::of_nvcc, check)
    }

    /// The compiler that nvcc calls: the one that its variable names, else `g++`.
    pub fn host_compiler(&self) -> Outcome {
        let candidates = match self.places.surroundings.variable("NVCC_CCBIN") {
            Some(chosen) => {
                let chosen = Utf8PathBuf::from(chosen);
                let inside = chosen.join("g++");
                if inside.is_file() {
                    vec![inside]
                } else if chosen.is_absolute() {
                    vec![chosen]
                } else {
                    self.places.programs(chosen.as_str())
                }
            }
            None if cfg!(windows) => self.places.programs("cl"),
            None => self.places.programs("g++"),
        };
        // Microsoft's compiler knows no such question, and there is nothing to learn from its answer.
        if cfg!(windows) {
            let program = candidates.first().map(|path| Program { path: path.clone(), version: String::new() });
            return Outcome { program, faults: Vec::new() };
        }
        self.first(Part::HostCompiler, &candidates, version_in, |_, _| Ok(()))
    }

    pub fn compute_sanitizer(&self) -> Outcome {
        let candidates = self.places.programs("compute-sanitizer");
        self.first(Part::ComputeSanitizer, &candidates, versions::of_sanitizer, |_, _| Ok(()))
    }

    pub fn addr2line(&self) -> Outcome {
        self.first(Part::Addr2line, &self.places.programs("addr2line"), version_in, |_, _| Ok(()))
    }

    /// NVRTC, one whose programs the GPU's driver can run.
    pub fn nvrtc(&self, machine: &Machine) -> Outcome {
        let mut faults = Vec::new();
        // None: the loader's own choice, which may know folders that are not looked into here.
        let folders = self.places.nvrtc_folders();
        for folder in folders.iter().map(Some).chain([None]) {
            let mut environment = self.environment.to_vec();
            if let Some(folder) = folder {
                environment.retain(|(name, _)| name != "LD_LIBRARY_PATH");
                let known = self.places.surroundings.variable("LD_LIBRARY_PATH");
                environment.push(("LD_LIBRARY_PATH".to_owned(), library_path(folder, known)));
            }
            match self.try_nvrtc(machine, &environment) {
                Ok(program) => return Outcome { program: Some(program), faults },
                Err(Some(reason)) => {
                    let place = folder.map_or("the loader's library", |folder| folder.as_str());
                    faults.push(Fault::broken(Part::Nvrtc, format!("{place}: {reason}")));
                }
                Err(None) => {}
            }
        }
        if faults.is_empty() {
            faults.push(Fault::missing(
                Part::Nvrtc,
                "is neither where the loader looks nor where CUDA's installers and packages put it",
            ));
        }
        Outcome { program: None, faults }
    }

    /// One of them; no reason where there is none at all.
    fn try_nvrtc(&self, machine: &Machine, environment: &[(String, String)]) -> Result<Program, Option<String>> {
        let answer: NvrtcAnswer =
            devices::ask(&self.options.prober(), "nvrtc", environment, self.options.limit).map_err(Some)?;
        let Some(version) = answer.version else { return Err(None) };
        if let Some(problem) = answer.problem {
            return Err(Some(problem));
        }
        fits_driver(machine, &version).map_err(Some)?;
        if let Some(device) = machine.devices.first()
            && answer.architectures.iter().all(|known| *known > device.architecture)
        {
            return Err(Some(format!("({version}) does not compile for {}", of_device(device))));
        }
        let path = answer.library.map_or_else(|| Utf8PathBuf::from("libnvrtc"), Utf8PathBuf::from);
        Ok(Program { path, version })
    }
}

/// Folders of CUDA's headers: those that belong to the run-time compiler, else to nvcc.
pub(super) fn headers(machine: &Machine) -> Vec<Utf8PathBuf> {
    let folders = [&machine.nvrtc, &machine.nvcc].into_iter().flatten().filter_map(|program| program.path.parent());
    folders.map(headers_beside).find(|found| !found.is_empty()).unwrap_or_default()
}

/// The loader's folders with one more before them.
pub(crate) fn library_path(folder: &Utf8Path, known: Option<&str>) -> String {
    match known {
        Some(known) if !known.is_empty() => format!("{folder}:{known}"),
        _ => folder.to_string(),
    }
}

/// Whether what this version of CUDA builds can run here: a driver runs what its own major version and older ones build.
fn fits_driver(machine: &Machine, version: &str) -> Result<(), String> {
    match (major(version), machine.driver_cuda) {
        (Some(tool), Some(driver)) if tool > driver / 1000 => Err(format!(
            "({version}) builds what only a driver for CUDA {tool} runs, and this one is for {}.{}",
            driver / 1000,
            driver % 1000 / 10
        )),
        _ => Ok(()),
    }
}

fn of_device(device: &super::Device) -> String {
    format!("{} (sm_{})", device.name, device.architecture)
}

fn first_line(words: &str) -> &str {
    words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
}
