//! GPUs and NVRTC, asked of their libraries in a child: a library that is missing, does not fit or hangs ends the child.

use super::Device;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What the child says of the driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DriverAnswer {
    /// The newest CUDA that it supports: 13000 for 13.0.
    pub cuda: Option<u32>,
    /// The GPUs that may be used.
    pub devices: Vec<Found>,
    /// What is wrong, in one line each.
    pub problems: Vec<String>,
}

/// A GPU and what is known of it beside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Found {
    /// The GPU. Its free memory is 0 until someone has asked for it.
    pub device: Device,
    /// Its identity, by which other tools know it.
    pub uuid: String,
}

/// What the child says of NVRTC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct NvrtcAnswer {
    /// Its version: `13.0`.
    pub version: Option<String>,
    /// The file that was opened, where the system tells.
    pub library: Option<String>,
    /// The architectures that it compiles for.
    pub architectures: Vec<u32>,
    /// What is wrong, in one line.
    pub problem: Option<String>,
}

/// The child's main function. `arguments` are those after the hidden word: `devices`, `memory` (devices with their free
/// memory, which takes longer) or `nvrtc`. Prints one line of JSON.
pub fn probe_main(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    // The parent keeps the other end open as long as it wants an answer.
    std::thread::spawn(|| {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        std::process::exit(1);
    });
    let answer = match arguments.next().as_deref() {
        Some("devices") => serde_json::to_string(&devices(false)),
        Some("memory") => serde_json::to_string(&devices(true)),
        Some("nvrtc") => serde_json::to_string(&nvrtc()),
        _ => return ExitCode::from(2),
    };
    let written = answer.map(|line| writeln!(std::io::stdout(), "{line}"));
    if matches!(written, Ok(Ok(()))) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Asks the driver.
fn devices(memory: bool) -> DriverAnswer {
    let mut answer = DriverAnswer::default();
    let driver = match cudalint_gpu::driver::Driver::start() {
        None => {
            answer.problems.push("there is no NVIDIA driver: its library cannot be opened".to_owned());
            return answer;
        }
        Some(Err(failure)) => {
            answer.problems.push(failure.to_string());
            return answer;
        }
        Some(Ok(driver)) => driver,
    };
    answer.cuda = driver.version().ok();
    let devices = match driver.devices() {
        Ok(devices) => devices,
        Err(failure) => {
            answer.problems.push(failure.to_string());
            return answer;
        }
    };
    for found in devices {
        let named = format!("GPU {} ({})", found.index, found.name);
        if found.prohibited {
            answer
                .problems
                .push(format!("{named}: its compute mode is `prohibited`: `nvidia-smi -c 0` allows programs"));
            continue;
        }
        if found.exclusive {
            let mode = "its compute mode is `exclusive process`: programs that run at one time fail";
            answer.problems.push(format!("{named}: {mode}"));
        }
        let mut device = Device {
            index: found.index,
            name: found.name,
            architecture: found.architecture,
            memory: found.memory,
            free_memory: 0,
            threads_per_block: found.threads_per_block,
            shared_bytes_per_block: found.shared_bytes_per_block,
            shared_bytes_per_block_opt_in: found.shared_bytes_per_block_opt_in,
        };
        if memory {
            match driver.open(device.index).and_then(|context| context.free_memory()) {
                Ok(free) => device.free_memory = free,
                Err(failure) => {
                    answer.problems.push(format!("{named}: {failure}"));
                    continue;
                }
            }
        }
        answer.devices.push(Found { device, uuid: found.uuid });
    }
    answer
}

/// Asks NVRTC.
fn nvrtc() -> NvrtcAnswer {
    let mut answer = NvrtcAnswer::default();
    if !cudalint_gpu::nvrtc::present() {
        answer.problem = Some("its library cannot be opened".to_owned());
        return answer;
    }
    match cudalint_gpu::nvrtc::version() {
        Ok((major, minor)) => answer.version = Some(format!("{major}.{minor}")),
        Err(problem) => answer.problem = Some(problem),
    }
    match cudalint_gpu::nvrtc::architectures() {
        Ok(architectures) => answer.architectures = architectures,
        Err(problem) => answer.problem = Some(problem),
    }
    answer.library = opened("libnvrtc.so");
    answer
}

/// The file behind an open library, from the process's own memory map, `proc_pid_maps(5)`.
fn opened(name: &str) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().find_map(|line| line.find('/').map(|at| &line[at..]).filter(|path| path.contains(name)))?;
    Some(path.to_owned())
}

/// Asks the child and waits for its line.
///
/// # Errors
/// Why there is no answer, in one line.
pub(super) fn ask<A: serde::de::DeserializeOwned>(
    prober: &[String],
    question: &str,
    environment: &[(String, String)],
    limit: Duration,
) -> Result<A, String> {
    let Some((program, arguments)) = prober.split_first() else { return Err("an empty command".to_owned()) };
    let mut command = Command::new(program);
    command.env(crate::lab::CHILD, "1");
    command.args(arguments).arg(question).envs(environment.iter().map(|(name, value)| (name, value)));
    // It ends when its standard input does: no limits, no groups, since the driver may have to load kernel modules through
    // a program that needs its rights.
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = piped.map_err(|error| format!("{program}: {error}"))?;
    let (sender, output) = std::sync::mpsc::channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
    for (number, stream) in streams.into_iter().enumerate() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stream) = stream {
                drop(stream.take(1 << 20).read_to_end(&mut bytes));
            }
            drop(sender.send((number, String::from_utf8_lossy(&bytes).into_owned())));
        });
    }
    let deadline = Instant::now() + limit;
    let mut texts = [String::new(), String::new()];
    let mut complete = true;
    for _ in 0..2 {
        match output.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((number, text)) => texts[number] = text,
            Err(_) => complete = false,
        }
    }
    if !complete {
        drop(child.kill());
    }
    let status = child.wait();
    if !complete {
        return Err(format!("did not answer within {:.0} s and was ended", limit.as_secs_f64()));
    }
    let [stdout, stderr] = &texts;
    let said = || {
        let line = stderr.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("thread "));
        line.map_or_else(String::new, |line| format!(": {}", crate::lab::readable(line)))
    };
    match stdout.lines().find_map(|line| serde_json::from_str(line).ok()) {
        Some(answer) => Ok(answer),
        None => match status {
            Ok(status) => Err(format!("no answer: {status}{}", said())),
            Err(error) => Err(format!("no answer: {error}")),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{DriverAnswer, ask};
    use std::time::Duration;

    fn answer(script: &str) -> Result<DriverAnswer, String> {
        let prober = ["/bin/sh", "-c", script].map(str::to_owned);
        ask(&prober, "devices", &[], Duration::from_secs(1))
    }

    #[test]
    fn a_child_that_says_nothing_useful_is_a_problem_in_one_line() {
        assert_eq!(answer("exec sleep 30").unwrap_err(), "did not answer within 1 s and was ended");
        let crashed = answer("echo 'Unable to load cuInit' >&2; exit 101").unwrap_err();
        assert_eq!(crashed, "no answer: exit status: 101: Unable to load cuInit");
        assert!(answer("echo nonsense").unwrap_err().starts_with("no answer: exit status: 0"));
    }

    #[test]
    fn an_answer_may_stand_among_other_words() {
        let told = answer("echo a driver says hello; echo '{\"cuda\":13000,\"devices\":[],\"problems\":[]}'");
        assert_eq!(told.unwrap().cuda, Some(13000));
    }
}
