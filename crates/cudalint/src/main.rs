//! The program: arguments, printing, exit codes.

mod args;
mod cache;
mod check;
mod clean;
mod command;
mod coverage;
mod edit;
mod explain;
mod facts;
mod first_word;
mod init;
mod out;
mod progress;
mod show;
mod verify;
mod watch;

use args::{Cli, Command};
use clap::{CommandFactory as _, Parser as _};
use cudalint_engine::Engine;
use cudalint_findings::plain::one_line;
use std::ffi::OsString;
use std::process::ExitCode;

/// The walk of host code makes and drops many small values; this allocator is faster at that than the system's. Where it
/// takes the place of the C library's `malloc`, the parser is served by it too, and Rust comes to it by the same short way:
/// through `GlobalAlloc` it would be asked for aligned memory, which costs twice as much.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Named, so that the linker takes it before it comes to the C library.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[used]
static ALLOCATOR: &(dyn std::alloc::GlobalAlloc + Sync) = &mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = cudalint_verify::child(std::env::args().skip(1)) {
        return code;
    }
    // A fault in one file is reported in one line and does not end the run; see the engine's faults.
    cudalint_engine::keep_panics_quiet();
    let cli = match parse(first_word::as_meant(std::env::args_os().collect())) {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { check::TROUBLE } else { check::CLEAN });
        }
    };
    let engine = Engine::new(cudalint_rules::RULES).with_unproven(cudalint_rules::UNPROVEN);
    let run = std::panic::catch_unwind(|| match cli.command {
        None => command::run(&engine, &cli.check),
        Some(Command::Check(args)) => command::run(&engine, &args),
        Some(Command::Clean(args)) => clean::run(&engine, &args),
        Some(Command::Coverage(args)) => coverage::run(&engine, &args),
        Some(Command::Verify(args)) => verify::run(&engine, &args),
        Some(Command::Doctor(args)) => verify::doctor(args.format),
        Some(Command::Explain(args)) => explain::explain(&engine, &args),
        Some(Command::Facts(args)) => facts::run(&engine, &args),
        Some(Command::Init(args)) => init::run(&engine, &args),
        Some(Command::Man { subcommand }) => manual(subcommand.as_deref()),
        Some(Command::Rules(args)) => explain::list(&engine, args.format),
        Some(Command::Server) => server(engine),
        Some(Command::Completions { shell }) => completions(shell),
    });
    ExitCode::from(run.unwrap_or_else(|_| {
        out::message("error", "internal fault: please report it");
        check::TROUBLE
    }))
}

/// Reads the command line. A mistake is reported with arguments that cannot steer a terminal: a shell may have put names of
/// files there.
fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    Cli::try_parse_from(&arguments).map_err(|error| {
        let plain = |word: OsString| one_line(&word.to_string_lossy()).into_owned();
        Cli::try_parse_from(arguments.into_iter().map(plain)).err().unwrap_or(error)
    })
}

/// Serves an editor until it says goodbye.
fn server(engine: Engine) -> u8 {
    match cudalint_server::serve(cudalint_server::Program { engine, page: explain::markdown }) {
        Ok(()) => check::CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            check::TROUBLE
        }
    }
}

/// The manual page: that of the program, with its subcommands named, which is that of `check`, or that of a subcommand.
fn manual(subcommand: Option<&str>) -> u8 {
    let mut program = Cli::command();
    // Names of subcommands get the program's in front of them.
    program.build();
    let command = match subcommand {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                out::message("error", &format!("`{name}` is no subcommand: `cudalint help` names them"));
                return check::TROUBLE;
            }
        },
    };
    let mut page = Vec::new();
    let written =
        clap_mangen::Man::new(command).source(concat!("cudalint ", env!("CARGO_PKG_VERSION"))).render(&mut page);
    let problem = written.map_err(|error| error.to_string());
    match problem.and_then(|()| out::print(&String::from_utf8_lossy(&page))) {
        Ok(()) => check::CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            check::TROUBLE
        }
    }
}

fn completions(shell: clap_complete::Shell) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cudalint", &mut script);
    match out::print(&String::from_utf8_lossy(&script)) {
        Ok(()) => check::CLEAN,
        Err(problem) => {
            out::message("error", &problem);
            check::TROUBLE
        }
    }
}
