//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use cudalint_findings::Format;
use std::path::PathBuf;

/// Finds defects in CUDA C++ and GPU Python and shows a witness for each.
///
/// `cudalint PATHS` is `cudalint check PATHS`. A folder with the name of a subcommand is written `./check`.
#[derive(Debug, Parser)]
#[command(name = "cudalint", version, args_conflicts_with_subcommands = true)]
#[command(
    after_help = "Exit status: 0 no error-level finding, 1 some, 2 bad arguments or settings, unreadable input or an internal fault."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Without a subcommand: `check`.
    #[command(flatten)]
    pub check: CheckArgs,
}

/// Subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lint files and folders
    Check(Box<CheckArgs>),
    /// Remove what runs have kept to be faster the next time: the caches of a project, and of those below it
    Clean(CleanArgs),
    /// Say of each kernel what it was checked for and how, what is shown of it, and why not more
    Coverage(CoverageArgs),
    /// Compile and run what is flagged, on a GPU, and say what really happened
    ///
    /// Runs code from the files that it is given: with limits of time, memory and size, without network where the
    /// system allows taking it away, but with your rights. Exit status: 0 nothing confirmed, 1 something confirmed, 2 as
    /// `check`, 3 nothing could be decided, 130 interrupted.
    Verify(Box<VerifyArgs>),
    /// Say what `verify` finds on this machine, what is missing, and how to install it
    Doctor(DoctorArgs),
    /// Show the page of a rule
    Explain(ExplainArgs),
    /// Print what rules may ask for of the files named: events of host code, launches, executed kernels, statuses
    ///
    /// For whoever writes a rule. The text may change with any version.
    #[command(hide = true)]
    Facts(Box<FactsArgs>),
    /// Draft a settings file after looking at the project: its build, its macros, how it handles errors
    ///
    /// Writes `cudalint.toml` where there is none, and never over one.
    Init(InitArgs),
    /// List the rules
    Rules(RulesArgs),
    /// Print the manual page, or that of a subcommand
    #[command(hide = true)]
    Man {
        /// The subcommand
        subcommand: Option<String>,
    },
    /// Serve an editor: findings while a file is written, over standard input and output
    ///
    /// Speaks the Language Server Protocol; `docs/editors.md` says how editors start it.
    Server,
    /// Write a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// Arguments of `check`.
#[derive(Clone, Debug, Default, Args)]
#[allow(clippy::struct_excessive_bools)]
pub struct CheckArgs {
    /// Files and folders to report on; `-` for standard input [default: .]
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,

    /// How findings are written
    #[arg(long, value_name = "FORMAT", default_value = "full", value_parser = format_parser())]
    pub output_format: Format,
    /// Write findings to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Count findings by rule, and what was skipped or cut short, instead of listing them
    #[arg(long)]
    pub statistics: bool,
    /// Exit with 0 even when findings at level error are left
    #[arg(long, conflicts_with = "fail_on")]
    pub exit_zero: bool,
    /// What makes the exit status 1 [default: error]
    #[arg(long, value_name = "WHAT", value_enum)]
    pub fail_on: Option<FailOn>,
    /// Print the settings that hold for these files, with what they come from, and lint nothing
    #[arg(long, conflicts_with = "show_files")]
    pub show_settings: bool,
    /// Print the files that would be linted, and lint nothing
    #[arg(long)]
    pub show_files: bool,

    /// Apply safe fixes, then report what is left
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["write_baseline", "add_ignores"])]
    pub fix: bool,
    /// Show what `--fix` would change, and change nothing; the exit status is 1 when there is something
    #[arg(long, help_heading = "Fixes", conflicts_with_all = ["fix", "write_baseline", "add_ignores"])]
    pub diff: bool,
    /// Also apply fixes that need review, as `--fix` or `--diff` does
    #[arg(long, help_heading = "Fixes")]
    pub unsafe_fixes: bool,

    /// Write a comment with this reason beside each finding, which keeps it quiet, and report nothing
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "not looked at yet", require_equals = true, help_heading = "Adoption", conflicts_with = "write_baseline")]
    pub add_ignores: Option<String>,
    /// Report only what this file does not list as known; `baseline` of the settings names one, too
    #[arg(long, value_name = "FILE", help_heading = "Adoption")]
    pub baseline: Option<PathBuf>,
    /// Write what is found now to this file as known, and report nothing
    #[arg(long, value_name = "FILE", help_heading = "Adoption", conflicts_with_all = ["baseline", "since"])]
    pub write_baseline: Option<PathBuf>,
    /// Report nothing as known, whatever the settings name
    #[arg(long, help_heading = "Adoption", conflicts_with = "baseline")]
    pub no_baseline: bool,
    /// Report only what a change touched since this revision of git, or since HEAD parted from it
    #[arg(long, value_name = "REV", visible_alias = "diff-base", help_heading = "Adoption")]
    pub since: Option<String>,

    /// Run only these rules or groups, or `all`; may be given several times, with commas too
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Rules")]
    pub select: Vec<String>,
    /// Do not run these rules or groups
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Rules")]
    pub ignore: Vec<String>,
    /// Run these rules or groups at level error
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Rules")]
    pub error: Vec<String>,
    /// Run these rules or groups at level warning
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Rules")]
    pub warn: Vec<String>,
    /// Run these rules or groups at level info
    #[arg(long, value_name = "RULES", value_delimiter = ',', help_heading = "Rules")]
    pub info: Vec<String>,
    /// The least confidence that is shown [default: likely]
    #[arg(long, value_name = "CONFIDENCE", value_enum, help_heading = "Rules")]
    pub min_confidence: Option<Confidence>,
    /// Architectures to judge limits by, as `sm_80,sm_90`; `__CUDA_ARCH__` tells the oldest [default: `sm_80` and newer]
    #[arg(long, value_name = "ARCHS", value_delimiter = ',', help_heading = "Rules")]
    pub arch: Vec<String>,
    /// Define a macro, as `NAME` or `NAME=VALUE`
    #[arg(short = 'D', long = "define", value_name = "MACRO", help_heading = "Files")]
    pub define: Vec<String>,
    /// Read the `compile_commands.json` of this folder [default: searched for in the project's folder, build/, out/ and their like]
    #[arg(short = 'p', long = "build-dir", value_name = "DIR", help_heading = "Files")]
    pub build_dir: Option<PathBuf>,

    /// Use this settings file for everything
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Files")]
    pub config: Option<PathBuf>,
    /// Use no settings file
    #[arg(long, help_heading = "Files")]
    pub isolated: bool,
    /// Leave out files that the settings exclude, or that are of another kind, even when they are named
    #[arg(long, help_heading = "Files")]
    pub force_exclude: bool,
    /// Read standard input and treat it as this file
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub stdin_filename: Option<PathBuf>,

    /// Lint anew what has not changed since the last run, and keep nothing for the next; so does `CUDALINT_NO_CACHE`
    #[arg(long, help_heading = "Cache")]
    pub no_cache: bool,
    /// Keep results in this folder [default: `CUDALINT_CACHE_DIR`, else `.cudalint_cache` in the project's root]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache", help_heading = "Cache")]
    pub cache_dir: Option<PathBuf>,

    /// When to use colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, help_heading = "Output")]
    pub color: ColorChoice,
    /// When rules and places are links that the terminal opens
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, help_heading = "Output")]
    pub hyperlinks: LinkChoice,
    /// Threads [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = "Output", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Lint again whenever a file changes
    #[arg(long, help_heading = "Output", conflicts_with_all = ["fix", "diff", "add_ignores", "write_baseline", "show_files", "show_settings"])]
    pub watch: bool,
    /// Print findings only: no summary, notes or progress
    #[arg(long, short, conflicts_with = "verbose", help_heading = "Output")]
    pub quiet: bool,
    /// Also say which files were not linted and why, which commands of a build count, and what of a baseline is gone
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
}

/// Arguments of `clean`.
#[derive(Clone, Debug, Args)]
pub struct CleanArgs {
    /// Folders of projects [default: .]
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,
    /// Remove the cache in this folder instead [default: `CUDALINT_CACHE_DIR`]
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
}

/// Arguments of `init`.
#[derive(Clone, Debug, Args)]
pub struct InitArgs {
    /// The project's folder
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Print the draft and write nothing
    #[arg(long)]
    pub print: bool,
}

/// Arguments of `facts`.
#[derive(Clone, Debug, Args)]
pub struct FactsArgs {
    /// As for `check`
    #[command(flatten)]
    pub check: CheckArgs,
    /// Also print the program form of each file
    #[arg(long)]
    pub program: bool,
}

/// Arguments of `coverage`.
#[derive(Clone, Debug, Args)]
pub struct CoverageArgs {
    /// Files and folders to look at [default: .]
    #[arg(value_name = "PATHS")]
    pub paths: Vec<PathBuf>,

    /// How it is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub output_format: CoverageFormat,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub output_file: Option<PathBuf>,
    /// Define a macro, as `NAME` or `NAME=VALUE`
    #[arg(short = 'D', long = "define", value_name = "MACRO", help_heading = "Files")]
    pub define: Vec<String>,
    /// Use this settings file for everything
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Files")]
    pub config: Option<PathBuf>,
    /// Use no settings file
    #[arg(long, help_heading = "Files")]
    pub isolated: bool,
}

impl CoverageArgs {
    /// As arguments of `check`.
    pub fn check(&self) -> CheckArgs {
        CheckArgs {
            paths: self.paths.clone(),
            define: self.define.clone(),
            config: self.config.clone(),
            isolated: self.isolated,
            ..CheckArgs::default()
        }
    }
}

/// Formats of `coverage`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CoverageFormat {
    /// A few lines a kernel
    #[default]
    Table,
    /// The coverage document
    Json,
    /// One page with the source coloured line by line
    Html,
}

/// Arguments of `verify`.
#[derive(Clone, Debug, Args)]
#[allow(clippy::struct_excessive_bools)]
pub struct VerifyArgs {
    /// As for `check`; a single `.json` file among the paths is a findings document of another run
    #[command(flatten)]
    pub check: CheckArgs,

    /// Build the project with this command, as a shell reads it, in a copy of this folder; `{build}` in it is a folder of its
    /// own, and then nothing is copied
    #[arg(long, value_name = "COMMAND", help_heading = "Verification", requires = "run")]
    pub build: Option<String>,
    /// Run the project with this command; may be given several times
    #[arg(long, value_name = "COMMAND", help_heading = "Verification")]
    pub run: Vec<String>,
    /// Before building, remove with this command what an earlier build has left
    #[arg(long, value_name = "COMMAND", help_heading = "Verification", requires = "build")]
    pub clean: Option<String>,
    /// Verify only findings of these rules, or with these fingerprints (eight characters suffice)
    #[arg(long, value_name = "RULE|FINGERPRINT", value_delimiter = ',', help_heading = "Verification")]
    pub only: Vec<String>,
    /// Findings at one time [default: one for each processor]
    #[arg(long, value_name = "N", help_heading = "Verification", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// End a program after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = "Verification", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Keep built programs and what they wrote, not reproducers, logs and outcomes alone
    #[arg(long, help_heading = "Verification")]
    pub keep: bool,
    /// Go on with an earlier run into the same outcome folder
    #[arg(long, help_heading = "Verification")]
    pub resume: bool,
    /// A record of proof: take over what it holds while the sources are the same, add what a GPU shows
    #[arg(long, value_name = "FILE", help_heading = "Verification")]
    pub ledger: Option<PathBuf>,
    /// The outcome folder
    #[arg(long, value_name = "DIR", default_value = "cudalint-out", help_heading = "Verification")]
    pub out: PathBuf,
    /// Print only findings that were confirmed
    #[arg(long, help_heading = "Verification")]
    pub only_confirmed: bool,
    /// Also verify the fixed source where a finding has a fix: the defect must be gone, and nothing new appear
    #[arg(long, help_heading = "Verification")]
    pub fixed: bool,
    /// The folder that the paths of a findings document start from [default: here, else the document's folder]
    #[arg(long, value_name = "DIR", help_heading = "Verification")]
    pub sources: Option<PathBuf>,
    /// Also write a report as one HTML page
    #[arg(long, value_name = "FILE", help_heading = "Verification")]
    pub report: Option<PathBuf>,
}

/// Arguments of `doctor`.
#[derive(Clone, Debug, Args)]
pub struct DoctorArgs {
    /// How the diagnosis is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Arguments of `explain`.
#[derive(Clone, Debug, Args)]
pub struct ExplainArgs {
    /// The rule
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    pub rule: Option<String>,
    /// Every rule
    #[arg(long)]
    pub all: bool,
    /// How the page is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: PageFormat,
}

/// Arguments of `rules`.
#[derive(Clone, Debug, Args)]
pub struct RulesArgs {
    /// How the list is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: ListFormat,
}

/// Formats of `rules`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// A table
    #[default]
    Text,
    /// A JSON array
    Json,
}

/// Formats of `explain`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PageFormat {
    /// Plain text
    #[default]
    Text,
    /// The page as it is
    Markdown,
    /// Name, group, confidence, fix and page
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set; also with `CLICOLOR_FORCE`
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// When places are links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LinkChoice {
    /// On a terminal that is known to open them
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What makes a run fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A finding at level error
    Error,
    /// A finding at level error or warning
    Warning,
    /// A definite finding, at any level
    Definite,
    /// A definite or likely finding, at any level
    Likely,
}

/// Confidences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Confidence {
    /// The witness follows from the source
    Definite,
    /// Rests on one named assumption
    Likely,
    /// Everything
    Possible,
}

fn format_parser() -> impl clap::builder::TypedValueParser<Value = Format> {
    use clap::builder::TypedValueParser as _;
    clap::builder::PossibleValuesParser::new(Format::names()).try_map(|name| name.parse::<Format>())
}
