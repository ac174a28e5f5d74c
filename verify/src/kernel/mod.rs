//! A kernel without a host program: NVRTC compiles it, the driver launches it, in a child process of its own, which a
//! watcher can watch like any other program.
//!
//! The lab writes a plan and starts the child with it; the child ends by printing what it came to, a [`KernelReport`].

mod child;
mod options;
mod report;

pub use child::kernel_main;
pub use report::{Call, KernelReport, Problem};

use crate::lab::{Bench, CHILD, End, Run};
use crate::machine::library_path;
use crate::scenario::KernelProgram;
use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// The plan's file in the scenario's folder.
const PLAN: &str = "kernel.json";
/// The source's file there: what places say that no `#line` names.
const SOURCE: &str = "kernel.cu";

/// What the child shall do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The kernel and its launch.
    pub program: KernelProgram,
    /// The source's name, for places that no `#line` names.
    pub file: String,
    /// Folders of CUDA's headers.
    #[serde(default)]
    pub headers: Vec<Utf8PathBuf>,
    /// Compile for this architecture and do not launch: 90 for `sm_90`. Needs no GPU.
    #[serde(default)]
    pub compile_for: Option<u32>,
}

/// Writes a kernel's plan into a scenario's folder and gives the run that carries it out, watched by nothing. Without a
/// GPU on the machine the run compiles and launches nothing.
///
/// # Errors
/// There is no NVRTC, or the plan cannot be written: in one line.
pub fn kernel_command(bench: &Bench<'_>, program: &KernelProgram) -> Result<Run, String> {
    let machine = &bench.lab.machine;
    let Some(nvrtc) = &machine.nvrtc else { return Err("there is no NVRTC to compile a kernel with".to_owned()) };
    let here = machine.devices.first();
    let plan = Plan {
        program: program.clone(),
        file: SOURCE.to_owned(),
        headers: machine.headers.clone(),
        compile_for: here.is_none().then(|| machine.architecture()),
    };
    let text = serde_json::to_string_pretty(&plan).map_err(|error| format!("{PLAN}: {error}"))?;
    let written = bench.write(SOURCE.into(), &program.source).and_then(|_| bench.write(PLAN.into(), &text));
    written.map_err(|error| format!("{}: {error}", bench.folder))?;
    let folder = nvrtc.path.parent().filter(|folder| folder.is_absolute());
    let known = std::env::var("LD_LIBRARY_PATH").ok();
    let libraries = folder.map(|folder| ("LD_LIBRARY_PATH".to_owned(), library_path(folder, known.as_deref())));
    let environment = libraries.into_iter().chain([(CHILD.to_owned(), "1".to_owned())]).collect();
    let command = vec![bench.lab.launcher().program.to_string(), "__kernel".to_owned(), PLAN.to_owned()];
    Ok(Run { device: here.is_some(), ..Run::on_device("kernel", command, environment) })
}

/// Compiles a kernel where there is no GPU to launch it on: gives what was done, in words, and the log, relative to the
/// outcome folder.
///
/// # Errors
/// Why it was not compiled, in one line; the compiler's refusal too.
pub fn compile_only(bench: &Bench<'_>, program: &KernelProgram) -> Result<(String, String), String> {
    let outcome = bench.run(&kernel_command(bench, program)?);
    if let End::NotStarted(reason) = &outcome.end {
        return Err(reason.clone());
    }
    let report = KernelReport::read(&outcome.stdout)
        .ok_or_else(|| format!("the kernel's process ends without a report: {:?}", outcome.end))?;
    match report.problem {
        Some(Problem::Source(error)) => Err(format!("the run-time compiler refuses it: {error}")),
        Some(problem) => Err(problem.text().to_owned()),
        None => {
            let (architecture, version) = (bench.lab.machine.architecture(), report.nvrtc.unwrap_or_default());
            Ok((format!("compiles for sm_{architecture} (NVRTC {version})"), outcome.log.to_string()))
        }
    }
}
