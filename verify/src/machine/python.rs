//! Python, and its packages for GPUs.

use super::fault::{Fault, Part};
use super::options::ProbeOptions;
use super::search::Surroundings;
use super::{Package, Program, Python};
use crate::lab::{Answer, Lab};
use camino::Utf8PathBuf;
use serde::Deserialize;

/// The questions, as a script.
const SCRIPT: &str = include_str!("python.py");

/// What an interpreter says of itself.
#[derive(Clone, Debug, Deserialize)]
struct Itself {
    version: String,
    executable: Option<Utf8PathBuf>,
    folders: Vec<Utf8PathBuf>,
    own_packages: bool,
    managed: bool,
}

/// What it says of a package, before and after it is imported.
#[derive(Clone, Debug, Deserialize)]
struct Told {
    name: String,
    #[serde(default)]
    begins: bool,
    version: Option<String>,
    problem: Option<String>,
}

/// A Python that answers, and the folders of its packages in which there are NVIDIA's.
pub(super) struct Found {
    pub python: Option<Python>,
    pub folders: Vec<Utf8PathBuf>,
    pub faults: Vec<Fault>,
}

/// The first Python that answers: that of the active environment, else that of the path.
pub(super) fn find(
    options: &ProbeOptions,
    lab: &Lab,
    surroundings: &Surroundings,
    environment: &[(String, String)],
) -> Found {
    let suffix = std::env::consts::EXE_SUFFIX;
    let environments = ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|name| surroundings.variable(name));
    let in_environments = environments.flat_map(|prefix| {
        ["bin/python3", "bin/python", "Scripts/python", "python"]
            .map(|file| Utf8PathBuf::from(format!("{prefix}/{file}{suffix}")))
    });
    let on_path = ["python3", "python"]
        .into_iter()
        .flat_map(|name| surroundings.path.iter().map(move |folder| folder.join(format!("{name}{suffix}"))));
    let candidates = options.interpreter.clone().map_or_else(
        || in_environments.chain(on_path).filter(|path| path.is_file()).collect::<Vec<_>>(),
        |chosen| vec![chosen],
    );
    let mut faults = Vec::new();
    for (number, path) in candidates.iter().take(4).enumerate() {
        let answer = asked(options, lab, environment, path, &format!("python {number}"), &["where"]);
        let itself = lines(&answer).find_map(|line| serde_json::from_str::<Itself>(line).ok());
        match (itself, answer.failure()) {
            (Some(itself), None) => {
                let program =
                    Program { path: itself.executable.unwrap_or_else(|| path.clone()), version: itself.version };
                let python = Python {
                    program,
                    packages: Vec::new(),
                    own_packages: itself.own_packages,
                    managed: itself.managed,
                };
                return Found { python: Some(python), folders: itself.folders, faults };
            }
            (_, Some(failure)) => faults.push(Fault::broken(Part::Python, format!("{path} {failure}"))),
            (None, None) => {
                let said =
                    crate::lab::readable(answer.stdout.lines().find(|line| !line.trim().is_empty()).unwrap_or(""));
                faults.push(Fault::broken(Part::Python, format!("{path} does not say what it is, but `{said}`")));
            }
        }
    }
    if candidates.is_empty() {
        faults.push(Fault::missing(Part::Python, "there is no `python3` on PATH and no environment is active"));
    }
    Found { python: None, folders: Vec::new(), faults }
}

/// Asks which packages work, each tried for GPUs of an architecture.
pub(super) fn packages(
    options: &ProbeOptions,
    lab: &Lab,
    environment: &[(String, String)],
    python: &Program,
    architecture: u32,
) -> Vec<Package> {
    let words = ["packages", &architecture.to_string()];
    let answer = asked(options, lab, environment, &python.path, "python packages", &words);
    let mut packages: Vec<Package> = Vec::new();
    let mut trying: Option<String> = None;
    for told in lines(&answer).filter_map(|line| serde_json::from_str::<Told>(line).ok()) {
        if told.begins {
            trying = Some(told.name);
        } else {
            trying = None;
            packages.push(Package { name: told.name, version: told.version, problem: told.problem });
        }
    }
    // What was never reached is not known to be there; what ended the interpreter is known to be.
    let silent = Answer { stdout: String::new(), ..answer.clone() };
    if let Some(failure) = silent.failure() {
        let problem = |name: &str| format!("while `{name}` was imported, Python {failure}");
        match trying {
            Some(name) => {
                let problem = Some(problem(&name));
                packages.push(Package { name, version: Some("of unknown version".to_owned()), problem });
            }
            None if packages.is_empty() => {
                packages.push(Package {
                    name: "numpy".to_owned(),
                    version: None,
                    problem: Some(format!("Python {failure}")),
                });
            }
            None => {}
        }
    }
    for name in ["numpy", "numba", "cupy", "pycuda", "cuda-python"] {
        if !packages.iter().any(|package| package.name == name) {
            let problem = Some("was not asked for: Python ended before".to_owned());
            packages.push(Package { name: name.to_owned(), version: None, problem });
        }
    }
    packages
}

fn asked(
    options: &ProbeOptions,
    lab: &Lab,
    environment: &[(String, String)],
    python: &camino::Utf8Path,
    name: &str,
    words: &[&str],
) -> Answer {
    let mut command = vec![python.to_string(), "-c".to_owned(), SCRIPT.to_owned()];
    command.extend(words.iter().map(|word| (*word).to_owned()));
    let limit = if words.first() == Some(&"where") { options.limit } else { options.import_limit };
    lab.ask(name, &command, environment, limit)
}

/// The lines that count.
fn lines(answer: &Answer) -> impl Iterator<Item = &str> {
    answer.stdout.lines().filter_map(|line| line.strip_prefix("cudalint "))
}
