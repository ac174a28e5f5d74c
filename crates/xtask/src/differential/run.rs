//! Builds a program of kernels and runs it under the tools of compute-sanitizer, kernel after kernel; where one takes the
//! context with it, a new process goes on with the next.

use cudalint_verify::tools::sanitizer::{Record, SanitizerReport};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One file of kernels.
pub struct Program {
    pub path: PathBuf,
    /// Name with first and last line, from 1.
    pub kernels: Vec<(String, usize, usize)>,
}

/// Tools of compute-sanitizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    Memcheck,
    Racecheck,
    Synccheck,
}

impl Tool {
    const fn word(self) -> &'static str {
        match self {
            Self::Memcheck => "memcheck",
            Self::Racecheck => "racecheck",
            Self::Synccheck => "synccheck",
        }
    }
}

/// What one tool saw in one program.
#[derive(Debug, Default)]
pub struct Observed {
    /// Records of all its processes.
    pub records: Vec<Record>,
    /// Kernels, by their number in the program, that ended badly: what the tool says of them may be cut short.
    pub lost: Vec<usize>,
    /// Kernels that did not end in time.
    pub hung: Vec<usize>,
}

/// A `main` that runs the kernels whose numbers it is given, and says which.
pub fn main_text(names: &[String]) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "typedef void (*Run)();");
    let _ = writeln!(text, "static const Run runs[] = {{{}}};", names.join(", "));
    let _ = writeln!(text, "int main(int argc, char** argv) {{");
    let _ = writeln!(text, "    for (int at = 1; at < argc; ++at) {{");
    let _ = writeln!(text, "        int k = atoi(argv[at]);");
    let _ = writeln!(text, "        printf(\"[run %d]\\n\", k);");
    let _ = writeln!(text, "        fflush(stdout);");
    let _ = writeln!(text, "        runs[k]();");
    let _ = writeln!(text, "        cudaGetLastError();");
    let _ = writeln!(text, "        int* probe = nullptr;");
    let _ =
        writeln!(text, "        if (cudaMalloc(&probe, 4) != cudaSuccess || cudaFree(probe) != cudaSuccess) return 3;");
    let _ = writeln!(text, "    }}");
    let _ = writeln!(text, "    printf(\"[done]\\n\");");
    let _ = writeln!(text, "    return 0;\n}}");
    text
}

/// Compiles without optimization, so that every access of the source is one of the program.
pub fn build(source: &Path) -> Result<PathBuf, String> {
    let binary = source.with_extension("bin");
    let output = Command::new("nvcc")
        .args(["-G", "-arch=native", "-o"])
        .arg(&binary)
        .arg(source)
        .output()
        .map_err(|error| format!("nvcc: {error}"))?;
    if output.status.success() {
        return Ok(binary);
    }
    Err(format!("{}: {}", source.display(), String::from_utf8_lossy(&output.stderr).trim()))
}

/// Runs kernels under a tool.
pub fn watch(binary: &Path, tool: Tool, kernels: &[usize]) -> Result<Observed, String> {
    let mut observed = Observed::default();
    let mut left = kernels;
    while let Some(first) = left.first() {
        let xml = report_file(binary, tool, *first);
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "40", "compute-sanitizer", "--tool", tool.word()]);
        match tool {
            Tool::Memcheck => command.args(["--padding", "65536", "--destroy-on-device-error", "kernel"]),
            // A race whose values happen to be equal is reported at this level only.
            Tool::Racecheck => command.args(["--racecheck-report", "analysis", "--print-level", "info"]),
            Tool::Synccheck => &mut command,
        };
        let output = command
            .args(["--print-limit", "100000", "--xml", "--save"])
            .arg(&xml)
            .arg(binary)
            .args(left.iter().map(ToString::to_string))
            .output()
            .map_err(|error| format!("compute-sanitizer: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let saved = fs::read_to_string(&xml).ok();
        fs::write(xml.with_extension("txt"), printed.as_bytes()).map_err(|error| error.to_string())?;
        let report = SanitizerReport::read(saved.as_deref(), &printed);
        if let Some(refusal) = report.refusal() {
            return Err(format!("{}: {refusal}", tool.word()));
        }
        observed.records.extend(report.records);
        if printed.contains("[done]") {
            break;
        }
        let last =
            printed.lines().filter_map(|line| line.strip_prefix("[run ")?.strip_suffix(']')?.parse().ok()).next_back();
        let Some(last) = last else {
            return Err(format!("{} did not run under {}: {}", binary.display(), tool.word(), printed.trim()));
        };
        let timed_out = matches!(output.status.code(), Some(124 | 137));
        if timed_out { &mut observed.hung } else { &mut observed.lost }.push(last);
        left = left.iter().position(|kernel| *kernel == last).map_or(&[], |at| &left[at + 1..]);
    }
    Ok(observed)
}

/// What an earlier run left: the reports of a tool beside a program.
pub fn reread(binary: &Path, tool: Tool, kernels: &[usize]) -> Observed {
    let mut observed = Observed::default();
    for kernel in kernels {
        let file = report_file(binary, tool, *kernel);
        let Ok(printed) = fs::read_to_string(file.with_extension("txt")) else { continue };
        observed.records.extend(SanitizerReport::read(fs::read_to_string(file).ok().as_deref(), &printed).records);
        // A report that begins later is that of a process which went on behind a kernel that had ended badly.
        if let Some(before) = kernels.iter().take_while(|other| *other < kernel).last() {
            observed.lost.push(*before);
        }
    }
    observed
}

fn report_file(binary: &Path, tool: Tool, first: usize) -> PathBuf {
    binary.with_extension(format!("{}.{first}.xml", tool.word()))
}
