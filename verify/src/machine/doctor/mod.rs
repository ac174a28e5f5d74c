//! `doctor`: what of this machine a run can use, tried out, what is missing, and the one command that installs it.

mod install;
mod row;
mod rows;
mod text;
mod trials;

pub use row::{Row, State};
pub use trials::{Trial, Trials};

use super::{Machine, ProbeOptions, Survey, survey};
use serde::Serialize;

/// All of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnosis {
    /// Whether findings can be verified on a GPU here, in one language at least.
    pub ready: bool,
    /// What can be verified here and what cannot, in one sentence each.
    pub conclusions: Vec<String>,
    /// The parts, in the order in which they are shown.
    pub rows: Vec<Row>,
    /// The command that installs what is missing and can be had from `PyPI`; none when nothing is to be installed.
    pub install: Option<String>,
    /// The machine, as a run sees it.
    pub machine: Machine,
}

/// Looks at this machine and tries it out. Takes seconds.
pub fn diagnose() -> Diagnosis {
    diagnose_with(&ProbeOptions::default())
}

/// The same, looking elsewhere.
pub fn diagnose_with(options: &ProbeOptions) -> Diagnosis {
    let survey = survey(options);
    let trials = trials::perform(options, &survey.machine);
    Diagnosis::of(survey, &trials)
}

impl Diagnosis {
    /// The diagnosis of what a survey found and trials showed.
    pub fn of(survey: Survey, trials: &Trials) -> Self {
        let mut rows = rows::rows(&survey, trials);
        let install = install::command(&survey, &rows);
        rows::name_command(&mut rows, install.is_some());
        let conclusions = rows::conclusions(&survey.machine, trials);
        Self {
            ready: rows::verifies_cuda(trials) || rows::verifies_python(trials),
            conclusions,
            rows,
            install,
            machine: survey.machine,
        }
    }

    /// 0 when findings can be verified on a GPU here, else 3.
    pub fn exit_status(&self) -> u8 {
        if self.ready { 0 } else { 3 }
    }
}
