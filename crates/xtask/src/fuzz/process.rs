//! The processes that inputs are fed to, with bounds on time and memory, and what came of them.

use super::targets::Target;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How a run of the fuzzer is set up.
pub struct Plan {
    /// Folders of sources.
    pub folders: Vec<PathBuf>,
    /// Where inputs that fail are kept.
    pub out: PathBuf,
    pub seed: u64,
    pub minutes: u64,
    pub jobs: u64,
    pub targets: Vec<Target>,
    /// Seconds after which an input counts as one that never ends.
    pub hang: u64,
    /// Milliseconds above which an input is kept as a slow one.
    pub slow: u64,
    /// Megabytes that a process may take.
    pub memory: u64,
}

/// What a process did that fed inputs of one target.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub executions: u64,
    pub seconds: f64,
    pub behaviours: u64,
    /// Microseconds and bytes of the slowest input.
    pub slowest: (u64, u64),
    pub failures: Vec<String>,
}

/// A process of this program with a bound on its memory.
pub struct Process {
    pub child: Child,
    pub lines: Receiver<String>,
}

impl Process {
    pub fn start(megabytes: u64, args: &[&str]) -> Result<Self, String> {
        let own = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = if cfg!(unix) {
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("ulimit -v {}; ulimit -c 0; exec \"$0\" \"$@\"", megabytes * 1024)]).arg(own);
            shell
        } else {
            Command::new(own)
        };
        command.arg("fuzz-child").args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("no process: {error}"))?;
        let (sender, lines) = channel();
        if let Some(out) = child.stdout.take() {
            std::thread::spawn(move || {
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Self { child, lines })
    }

    pub fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Counts what the process feeds. `None` when the time is over, else how the process failed.
    pub fn watch(
        &mut self,
        plan: &Plan,
        target: Target,
        out: &Path,
        work: &Path,
        until: Instant,
        tally: &mut Tally,
    ) -> Option<&'static str> {
        loop {
            let line = match self.lines.recv_timeout(Duration::from_secs(plan.hang)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) => return Some("hang"),
                Err(RecvTimeoutError::Disconnected) => return Some("crash"),
            };
            let Some(did) = line.strip_prefix("did ") else { continue };
            let numbers: Vec<u64> = did.split(' ').filter_map(|word| word.parse().ok()).collect();
            let [micros, bytes, behaviours] = numbers[..] else { continue };
            tally.executions += 1;
            tally.behaviours = tally.behaviours.max(behaviours);
            tally.slowest = tally.slowest.max((micros, bytes));
            if micros / 1000 > plan.slow {
                // The next input may be on its way already: what is kept then is told by its time when it is looked at.
                let kept = out.join(format!("slow-{}ms-{}", micros / 1000, target.file()));
                let _ = fs::copy(work.join(target.file()), kept);
            }
            if Instant::now() >= until {
                self.end();
                return None;
            }
        }
    }
}
