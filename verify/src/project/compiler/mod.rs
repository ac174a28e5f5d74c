//! A compiler of the user's build, as the build calls it: the same command with lines, debug information and the probe in
//! it, and where the compiler refuses that, with less, down to what the build has asked for. Each command is written down.

mod architectures;
mod attempts;
mod record;
mod words;

pub use record::{Compiled, With};

use super::tools::{ANY, CompilePlan};
use attempts::{Attempt, attempts};
use camino::{Utf8Path, Utf8PathBuf};
use std::io::Write as _;
use std::process::{Command, ExitCode, ExitStatus};

/// The main function of the hidden word: `<plan> <tool> <arguments>`.
pub fn compile_main(arguments: impl IntoIterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.into_iter().collect();
    let [plan, tool, rest @ ..] = arguments.as_slice() else { return ExitCode::from(2) };
    let read = cudalint_files::read_file(Utf8Path::new(plan).as_std_path()).ok();
    let Some(plan) = read.and_then(|text| serde_json::from_slice::<CompilePlan>(&text).ok()) else {
        drop(writeln!(std::io::stderr(), "cudalint: {plan}: cannot be read"));
        return ExitCode::from(2);
    };
    let (program, rest) = match (tool.as_str(), rest) {
        (ANY, [program, rest @ ..]) => (Utf8PathBuf::from(program), rest),
        (ANY, []) => return ExitCode::from(2),
        (tool, rest) => match plan.tools.get(tool) {
            Some(program) => (program.clone(), rest),
            None => return ExitCode::from(127),
        },
    };
    // A name that stands for one of ours does by itself what is to be done.
    let ours = program.starts_with(&plan.own) || !program.is_absolute();
    let attempts =
        if ours { vec![Attempt::plain(rest)] } else { attempts(&plan, program.file_name().unwrap_or(""), rest) };
    perform(&plan, &program, &attempts, ours)
}

/// Makes one attempt after the other until one is done.
fn perform(plan: &CompilePlan, program: &Utf8Path, attempts: &[Attempt], ours: bool) -> ExitCode {
    let mut refused = None;
    for (index, attempt) in attempts.iter().enumerate() {
        let mut command = Command::new(program);
        command.args(&attempt.words).env_remove(crate::lab::CHILD);
        if !ours {
            // The compiler's own calls of others are none of the build's, and what a variable adds stands in the command.
            command.env("PATH", &plan.path).env_remove("NVCC_APPEND_FLAGS");
            if let Some(own) = &plan.append {
                command.env("NVCC_APPEND_FLAGS", own);
            }
        }
        let last = index + 1 == attempts.len();
        let status = if last {
            command.status().map_err(|error| error.to_string())
        } else {
            command.output().map_err(|error| error.to_string()).map(|output| {
                if output.status.success() {
                    drop(std::io::stdout().write_all(&output.stdout));
                    drop(std::io::stderr().write_all(&output.stderr));
                } else {
                    let said = [output.stdout.as_slice(), b"\n", output.stderr.as_slice()].concat();
                    refused = refused.take().or(crate::lab::first_error(&String::from_utf8_lossy(&said)));
                }
                output.status
            })
        };
        let done = status.as_ref().is_ok_and(ExitStatus::success);
        if done || last {
            if let Some(note) = &attempt.note {
                write_down(plan, &Compiled { refused, done, ..note.clone() });
            }
            return match status {
                Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
                Err(problem) => {
                    drop(writeln!(std::io::stderr(), "{program}: {problem}"));
                    ExitCode::from(127)
                }
            };
        }
    }
    ExitCode::from(1)
}

fn write_down(plan: &CompilePlan, compiled: &Compiled) {
    let Ok(mut line) = serde_json::to_string(compiled) else { return };
    line.push('\n');
    // One write for a line: others write at the same time.
    if let Ok(mut file) = std::fs::File::options().append(true).create(true).open(&plan.log) {
        drop(file.write_all(line.as_bytes()));
    }
}
