//! Chores of the project: `cargo xtask agree`, `new-rule`, `sync`, `corpus`, `blind`, `losses`, `receipts`, `bench`, `edits`, `fuzz`, `modules`, `python-tables`, `release`. Not part of the product.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod agree;
mod bench;
mod blind;
mod corpus;
mod differential;
mod each;
mod edits;
mod fuzz;
mod latency;
mod losses;
mod modules;
mod mutants;
mod new_rule;
mod python_tables;
mod random;
mod receipts;
mod release;

use clap::{Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of the cudalint project")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Writes both files of a new rule and enters it everywhere.
    NewRule {
        /// Group: correctness, suspicious, portability, performance, pedantic, preview.
        group: String,
        /// Name in kebab-case; it names the bad thing.
        name: String,
    },
    /// Derives the names of GPU packages for Python from unpacked versions of them.
    PythonTables {
        /// Folders called `<package>-<version>`.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
    /// Edits files of a project at random, and compares what a session says of them, which keeps what it has found out, with what a run
    /// says that knows nothing of earlier ones.
    Edits {
        /// The project.
        folder: PathBuf,
        #[arg(long, default_value_t = 200)]
        edits: usize,
        /// Edits from one comparison to the next.
        #[arg(long, default_value_t = 1)]
        every: usize,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Finds circles between the modules of a crate.
    Modules,
    /// Rewrites the files that are derived from the rules.
    Sync,
    /// Builds the program for a release, unless a page's examples lack their run on a GPU.
    Release,
    /// Lints the projects of `test-corpus/projects.toml` found below a folder and prints what changed.
    Corpus {
        /// The folder that holds the projects.
        folder: PathBuf,
        /// Write the findings as the new accepted state.
        #[arg(long)]
        accept: bool,
    },
    /// Draws findings of projects that were never run, for reading in the source, and counts how many are right.
    Blind {
        /// The folder that holds a checkout `owner/name` of each project.
        folder: PathBuf,
        #[arg(long)]
        round: u32,
        /// Folder for the sheet and the list of what was drawn: outside of the repository.
        #[arg(long)]
        out: PathBuf,
        /// What was said of the findings that were drawn: count it, and draw nothing.
        #[arg(long, value_name = "FILE")]
        verdicts: Option<PathBuf>,
        /// The projects.
        #[arg(long, default_value = "test-corpus/blind.toml")]
        list: PathBuf,
        /// The cudalint to run; one is built when none is named.
        #[arg(long)]
        program: Option<PathBuf>,
        /// Findings outside error handling, at most.
        #[arg(long, default_value_t = 150)]
        most: usize,
        /// Findings of error handling, at most.
        #[arg(long, default_value_t = 40)]
        errors: usize,
        /// Findings of one rule in one project, at most.
        #[arg(long, default_value_t = 5)]
        same: usize,
    },
    /// Lists declarations that the text of projects has and the program form lacks, by cause.
    Losses {
        /// Folders of projects, each read by itself.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Places that are shown of each cause, at most.
        #[arg(long, default_value_t = 12)]
        samples: usize,
    },
    /// Runs the `verify=` examples of the rule pages on this machine's GPU and writes the receipts.
    Receipts {
        /// Rules; all when none is named.
        rules: Vec<String>,
        /// Folder for what the runs leave.
        #[arg(long, default_value = "target/receipts")]
        out: PathBuf,
        /// Examples at one time.
        #[arg(long)]
        jobs: Option<usize>,
    },
    /// Breaks correct programs in one place each and counts how many of the broken ones get a finding.
    Mutants {
        /// Folders of programs.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Places of each kind that are broken in a file, at most.
        #[arg(long, default_value_t = 4)]
        rounds: usize,
        /// How many survivors are shown.
        #[arg(long, default_value_t = 50)]
        survivors: usize,
        /// Only these kinds.
        #[arg(long = "kind", value_enum)]
        kinds: Vec<mutants::Kind>,
        /// Build and run the broken programs on this machine's GPU, so many at a time.
        #[arg(long, value_name = "JOBS")]
        gpu: Option<usize>,
    },
    /// Replays random small kernels, runs them on this machine's GPU, and compares.
    Differential {
        /// How many kernels.
        #[arg(long, default_value_t = 2000)]
        count: usize,
        /// Another seed makes other kernels.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Folder for programs and reports.
        #[arg(long, default_value = "target/differential")]
        out: PathBuf,
        /// Programs at one time.
        #[arg(long, default_value_t = 1)]
        jobs: usize,
        /// Replay only: for a machine without a GPU.
        #[arg(long)]
        lint_only: bool,
        /// Read the reports that an earlier run left in the folder.
        #[arg(long, conflicts_with = "lint_only")]
        reread: bool,
        /// Random host programs instead, run without a GPU against a header that stands for the CUDA runtime.
        #[arg(long, conflicts_with_all = ["lint_only", "reread"])]
        host: bool,
        /// Programs of several files instead, which hold the reading of `#if`, macros and headers to a compiler.
        #[arg(long, requires = "host")]
        headers: bool,
        /// Programs in Python instead, with modules that stand for Numba, `CuPy` and `PyCUDA`.
        #[arg(long, requires = "host", conflicts_with = "headers")]
        python: bool,
        /// The interpreter for them, with `NumPy`; `.ci/tools` makes one.
        #[arg(long, requires = "python", default_value = "target/test-tools/bin/python3")]
        interpreter: PathBuf,
        /// Begin with the program of this number.
        #[arg(long, requires = "host", conflicts_with = "python", default_value_t = 0)]
        first: usize,
        /// Only the program of this number, whose files stay.
        #[arg(long, requires = "python")]
        only: Option<usize>,
        /// Random kernels in all of the device's language instead, run by the host's compiler without a GPU.
        #[arg(long, conflicts_with_all = ["lint_only", "reread", "host"])]
        device: bool,
        /// The kernels without their launches instead: what is told of them must show with some launch that it describes, for which our own
        /// executor is asked.
        #[arg(long, conflicts_with_all = ["lint_only", "reread", "host", "device"])]
        unlaunched: bool,
        /// Ask this machine's GPU, too.
        #[arg(long, requires = "unlaunched")]
        gpu: bool,
        /// Begin no more kernels, or programs of `--host`, after so many seconds.
        #[arg(long)]
        seconds: Option<u64>,
    },
    /// Builds programs of real projects with clang, runs them without a GPU against a library that stands for the CUDA runtime, and
    /// compares what the replay holds for facts with what ran; with `--gpu` nvcc builds them, and they run on this machine's GPU.
    Agree {
        /// Folders of projects.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// A CUDA toolkit, of which `include` is enough.
        #[arg(long, default_value = "/usr/local/cuda")]
        toolkit: PathBuf,
        /// Folder for logs and the list of wrong facts; what an earlier run left there is taken over.
        #[arg(long, default_value = "target/agree")]
        out: PathBuf,
        /// Build with the toolkit's nvcc, and run on this machine's GPU.
        #[arg(long)]
        gpu: bool,
        /// A macro that programs are built and read with.
        #[arg(long = "define", value_name = "NAME[=VALUE]")]
        defines: Vec<String>,
        /// A macro that they are built with and not read with: shows that the comparison can fail.
        #[arg(long, value_name = "NAME[=VALUE]", hide = true)]
        misread: Vec<String>,
        /// Only programs whose path contains this.
        #[arg(long)]
        only: Option<String>,
    },
    /// Feeds changed sources, settings, documents and reports to their readers, and keeps what fails.
    Fuzz {
        /// Folders of sources to change.
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// Folder for what fails.
        #[arg(long, default_value = "target/fuzz")]
        out: PathBuf,
        /// Another seed makes other inputs.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Time for all targets together, in minutes.
        #[arg(long, default_value_t = 10)]
        minutes: u64,
        /// Processes at one time.
        #[arg(long, default_value_t = 1)]
        jobs: u64,
        /// Only these.
        #[arg(long = "target", value_enum)]
        targets: Vec<fuzz::Target>,
        /// Seconds after which an input counts as one that never ends.
        #[arg(long, default_value_t = 20)]
        hang: u64,
        /// Milliseconds above which an input is kept as a slow one.
        #[arg(long, default_value_t = 2_000)]
        slow: u64,
        /// Megabytes that a process may take.
        #[arg(long, default_value_t = 4_000)]
        memory: u64,
    },
    /// How `fuzz` starts itself.
    #[command(hide = true)]
    FuzzChild { words: Vec<String> },
    /// Compares the whole run with parsing alone, one thread with two, and a run from the cache with one that fills it.
    Bench {
        /// Folders to lint.
        #[arg(required_unless_present_any = ["python", "editor"])]
        folders: Vec<PathBuf>,
        /// Compares deciding that a Python file has no GPU code with parsing it instead, over a folder such as Python's
        /// standard library.
        #[arg(long, value_name = "FOLDER", conflicts_with = "folders")]
        python: Option<PathBuf>,
        /// Times edits in the language server to a file of 3,000 lines, made of the code below a folder.
        #[arg(long, value_name = "FOLDER", conflicts_with_all = ["folders", "python"])]
        editor: Option<PathBuf>,
        /// The folder is a project, and its longest file of at most 3,000 lines is edited.
        #[arg(long, requires = "editor")]
        project: bool,
        /// The cudalint that is timed [default: that of the profile `dist`].
        #[arg(long, value_name = "FILE", conflicts_with = "python")]
        program: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    if let Some(code) = cudalint_verify::child(std::env::args().skip(1)) {
        return code;
    }
    let root = root();
    let result = match Arguments::parse().chore {
        Chore::NewRule { group, name } => new_rule::create(&root, &group, &name),
        Chore::PythonTables { folders } => python_tables::write(&root, &folders),
        Chore::Sync => cudalint_pages::derive::sync(&root)
            .map(|changed| changed.iter().for_each(|path| println!("rewrote {}", path.display())))
            .map_err(|error| error.to_string()),
        Chore::Modules => modules::run(&root),
        Chore::Release => release::run(&root),
        Chore::Corpus { folder, accept } => corpus::run(&root, &folder, accept),
        Chore::Blind { folder, round, out, verdicts, list, program, most, errors, same } => {
            blind::run(&root, &blind::Plan { folder, list, round, program, out, verdicts, most, errors, same })
        }
        Chore::Losses { folders, samples } => losses::run(&folders, samples),
        Chore::Receipts { rules, out, jobs } => receipts::run(&root, &rules, &out, jobs),
        Chore::Differential { count, seed, out, jobs, python: true, interpreter, only, .. } => {
            differential::python::run(differential::python::Plan { out, interpreter, count, seed, jobs, only })
        }
        Chore::Differential { count, seed, out, jobs, host: true, headers, first, seconds, .. } => {
            let out = &out;
            differential::host::run(&differential::host::Plan { out, first, count, seed, jobs, headers, seconds })
        }
        Chore::Differential { count, seed, out, jobs, device: true, .. } => {
            differential::device::run(&out, count, seed, jobs)
        }
        Chore::Differential { count, seed, out, jobs, unlaunched: true, gpu, seconds, .. } => {
            differential::unlaunched::run(&differential::unlaunched::Plan {
                out: &out,
                count,
                seed,
                jobs,
                seconds,
                gpu,
            })
        }
        Chore::Differential { count, seed, out, jobs, lint_only, reread, .. } => {
            let mode = match (lint_only, reread) {
                (true, _) => differential::Mode::Lint,
                (_, true) => differential::Mode::Reread,
                _ => differential::Mode::Run,
            };
            differential::run(&out, count, seed, jobs, mode)
        }
        Chore::Mutants { folders, rounds, survivors, kinds, gpu } => {
            mutants::run(&folders, rounds, survivors, &kinds, gpu)
        }
        Chore::Fuzz { folders, out, seed, minutes, jobs, targets, hang, slow, memory } => {
            let targets = if targets.is_empty() { fuzz::Target::ALL.to_vec() } else { targets };
            fuzz::run(&fuzz::Plan { folders, out, seed, minutes, jobs, targets, hang, slow, memory })
        }
        Chore::Agree { folders, toolkit, out, gpu, defines, misread, only } => {
            let machine = if gpu { agree::Machine::Gpu } else { agree::Machine::None };
            agree::run(&agree::Plan { folders, out, toolkit, machine, defines, misread, only })
        }
        Chore::Edits { folder, edits, every, seed } => edits::run(&folder, edits, every, seed),
        Chore::FuzzChild { words } => fuzz::child(&words),
        Chore::Bench { python: Some(folder), .. } => bench::python(&folder),
        Chore::Bench { editor: Some(folder), project, program, .. } => {
            let program = program.unwrap_or_else(|| bench::program(&root));
            if project { latency::run_in_project(&program, &folder) } else { latency::run(&program, &folder) }
        }
        Chore::Bench { folders, program, .. } => {
            bench::run(&program.unwrap_or_else(|| bench::program(&root)), &folders)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository: here when this is one (the binary may have been built elsewhere), else where it was built.
fn root() -> PathBuf {
    if let Ok(here) = std::env::current_dir()
        && here.join("crates/xtask/Cargo.toml").is_file()
    {
        return here;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}
