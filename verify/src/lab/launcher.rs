//! How the launcher is started, and what it can take from a program on this system.

use super::environment::{self, CHILD};
use super::launch::{EXPOSED, TRY};
use super::sandbox::Network;
use camino::Utf8PathBuf;
use std::process::{Command, Stdio};

/// How this executable, or another, is started as a launcher ([`super::launch_main`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The executable.
    pub program: Utf8PathBuf,
    /// Arguments that make it a launcher.
    pub arguments: Vec<String>,
}

impl Launcher {
    /// This executable, with the hidden word `__launch`.
    ///
    /// # Errors
    /// The system does not say where the executable is, or its path is no text.
    pub fn current() -> std::io::Result<Self> {
        let path = std::env::current_exe()?;
        let program = Utf8PathBuf::from_path_buf(path)
            .map_err(|path| std::io::Error::other(format!("{}: not UTF-8", path.display())))?;
        Ok(Self { program, arguments: vec!["__launch".to_owned()] })
    }

    pub(super) fn words(&self) -> Vec<String> {
        std::iter::once(self.program.to_string()).chain(self.arguments.iter().cloned()).collect()
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command.env_clear().envs(environment::passed_on()).env(CHILD, "1");
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    /// The best way to take the network from a program here; with what the whole run should say of it: why the network
    /// stays, or that the environment of the processes above can be read.
    pub(super) fn network(&self) -> (Network, Vec<String>) {
        if !cfg!(target_os = "linux") {
            let system = "only Linux can take it away";
            return (Network::Kept, vec![format!("programs keep the network: {system}"), READABLE.to_owned()]);
        }
        let mut refusal = None;
        for network in [Network::User, Network::Privileged] {
            match self.trial(network) {
                Ok(notes) => return (network, notes),
                Err(reason) => refusal = refusal.or(Some(reason)),
            }
        }
        let refusal = refusal.unwrap_or_default();
        let mut notes =
            vec![format!("programs keep the network: this system does not let cudalint take it ({refusal})")];
        notes.extend(self.trial(Network::Kept).unwrap_or_else(|_| vec![READABLE.to_owned()]));
        (Network::Kept, notes)
    }

    /// Tries out how a program is started that loses the network this way: what should be said of it, or why it does not
    /// work.
    pub(super) fn trial(&self, network: Network) -> Result<Vec<String>, String> {
        let mut command = self.command();
        command.args([TRY, network.word()]).stdin(Stdio::null()).stderr(Stdio::null());
        let output = command.output().map_err(|error| format!("{}: {error}", self.program))?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        match output.status.success() {
            true if said == EXPOSED => Ok(vec![READABLE.to_owned()]),
            true => Ok(Vec::new()),
            false => Err(said),
        }
    }
}

/// What a run says when programs can read what the user's session has set.
const READABLE: &str = "programs can read the environment of the processes that started cudalint, with any token in it: \
                        this system has neither user namespaces nor Landlock for cudalint to hide it with";
