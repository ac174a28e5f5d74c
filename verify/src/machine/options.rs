//! What is looked for on a machine.

use super::search::Surroundings;
use crate::lab::Launcher;
use camino::Utf8PathBuf;
use std::time::Duration;

/// What is looked for, and how long it may take.
#[derive(Clone, Debug)]
pub struct ProbeOptions {
    /// Whether Python's packages are imported, which takes seconds; Python itself is always looked for.
    pub python: bool,
    /// This Python and no other.
    pub interpreter: Option<Utf8PathBuf>,
    /// Where the search begins.
    pub surroundings: Surroundings,
    /// How this executable, or another that knows the hidden words, is started; none where the system does not say.
    pub launcher: Option<Launcher>,
    /// In place of the child that asks the driver and NVRTC: a command that is given its question as one more word.
    pub prober: Option<Vec<String>>,
    /// A tool that takes longer is ended and does not count.
    pub limit: Duration,
    /// As `limit`, for the import of all of Python's packages.
    pub import_limit: Duration,
}

impl Default for ProbeOptions {
    fn default() -> Self {
        Self {
            python: true,
            interpreter: None,
            surroundings: Surroundings::of_this_process(),
            launcher: Launcher::current().ok(),
            prober: None,
            limit: Duration::from_secs(10),
            import_limit: Duration::from_secs(90),
        }
    }
}

impl ProbeOptions {
    /// The command of the child that asks libraries.
    pub(super) fn prober(&self) -> Vec<String> {
        match (&self.prober, &self.launcher) {
            (Some(prober), _) => prober.clone(),
            (None, Some(launcher)) => vec![launcher.program.to_string(), "__probe".to_owned()],
            (None, None) => Vec::new(),
        }
    }
}
