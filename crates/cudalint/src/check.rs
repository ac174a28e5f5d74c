//! `cudalint check`: arguments to a run, its result to text and an exit code.

use crate::args::{CheckArgs, ColorChoice, Confidence, FailOn, LinkChoice};
use crate::{cache, out, progress};
use cudalint_engine::{
    Baseline, BaselineChoice, Choices, Configuration, Cut, Engine, KernelCounts, Level, MinConfidence, Outcome,
    Request, StandardInput, Statistics, UsageError,
};
use cudalint_findings::plain::one_line;
use cudalint_findings::{Confidence as Certainty, Finding, Options, RULES_URL, Severity};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// Exit code when nothing at level error is left.
pub const CLEAN: u8 = 0;
/// Exit code when something is.
pub const FOUND: u8 = 1;
/// Exit code for bad arguments, settings or input, and for faults of cudalint itself.
pub const TROUBLE: u8 = 2;

/// Findings above which their numbers by rule are shown at the end.
const MANY: usize = 9;

/// Lints once and gives the exit code.
pub fn run_once(engine: &Engine, args: &CheckArgs) -> u8 {
    let request = request(args).map(|request| Request { cache: cache::choice(args), ..request });
    let outcome = match request.and_then(|request| lint(engine, args, &request)) {
        Ok(outcome) => outcome,
        Err(error) => {
            out::message("error", &error.0);
            return TROUBLE;
        }
    };
    if let Some(file) = &args.write_baseline {
        return write_baseline(file, &outcome);
    }
    let text = render(args, &outcome);
    let written = match &args.output_file {
        None => out::print(&text),
        Some(file) => std::fs::write(file, &text)
            .map_err(|error| format!("--output-file {}: cannot be written: {error}", file.display())),
    };
    report_problems(&outcome);
    if !args.quiet {
        for note in &outcome.notes {
            out::message("note", note);
        }
        if outcome.statistics.capped_projects > 0 {
            out::message(
                "note",
                "the project is larger than `index.max-bytes`: only the given paths and what they include were indexed",
            );
        }
        known(args, &outcome);
        if args.verbose {
            for detail in &outcome.details {
                out::message("note", detail);
            }
            for (cause, count) in &outcome.statistics.skipped {
                out::message("note", &format!("not linted: {count} ({cause})"));
            }
            for (Cut { path, phase, cause }, count) in &outcome.statistics.cuts {
                out::message("note", &format!("{path}: cut short in the {phase}: {cause} ({count})"));
            }
        }
    }
    if let Err(problem) = written {
        out::message("error", &problem);
        return TROUBLE;
    }
    let code = exit_code(args, &outcome);
    // The program ends: taking everything down piece by piece would only take time.
    std::mem::forget(outcome);
    code
}

/// Says what was not read or not analysed as a whole, quiet or not: who reads findings has to know where some may be
/// missing.
pub fn report_problems(outcome: &Outcome) {
    for fault in &outcome.faults {
        out::message("error", &format!("{}: {}", fault.path, fault.message));
    }
    outcome.incomplete().for_each(|entry| out::message("warning", &format!("{}: {}", entry.path, entry.reason)));
}

/// Says what a baseline kept quiet, and what of it no longer occurs.
fn known(args: &CheckArgs, outcome: &Outcome) {
    for known in &outcome.known {
        let here = std::env::current_dir().unwrap_or_default();
        let file = known.file.strip_prefix(here).unwrap_or(&known.file).display();
        if known.hidden > 0 {
            out::message("note", &format!("{} known to {file}", counted(known.hidden, "finding")));
        }
        let gone: usize = known.gone.iter().map(|entry| entry.count).sum();
        if gone > 0 {
            let occur = if gone == 1 { "occurs" } else { "occur" };
            out::message(
                "note",
                &format!(
                    "{} of {file} no longer {occur}: `--write-baseline {file}` leaves them out{}",
                    counted(gone, "finding"),
                    if args.verbose { "" } else { ", `--verbose` names them" }
                ),
            );
        }
        for entry in known.gone.iter().filter(|_| args.verbose) {
            out::message("note", &format!("gone: {}", entry.words()));
        }
    }
}

/// Keeps the findings of a run as known ones.
fn write_baseline(file: &Path, outcome: &Outcome) -> u8 {
    report_problems(outcome);
    let baseline = Baseline::of(&outcome.report, file);
    if let Err(error) = std::fs::write(file, baseline.text()) {
        out::message("error", &format!("--write-baseline {}: cannot be written: {error}", file.display()));
        return TROUBLE;
    }
    let found = counted(baseline.len(), "finding");
    let file = file.display();
    out::message(
        "note",
        &format!("{found} written to {file}; `--baseline {file}`, or `baseline = …` in the settings, keeps them quiet"),
    );
    if outcome.faults.is_empty() { CLEAN } else { TROUBLE }
}

fn exit_code(args: &CheckArgs, outcome: &Outcome) -> u8 {
    if !outcome.faults.is_empty() {
        return TROUBLE;
    }
    // What nobody asked for and people are not shown fails no run.
    let folded = |finding: &&Finding| {
        finding.severity < Severity::Error && outcome.unasked.contains(&finding.rule.name) && finding.is_unread_status()
    };
    let mut counted = outcome.report.findings.iter().filter(|finding| !folded(finding));
    let fails = |finding: &Finding| match args.fail_on {
        None | Some(FailOn::Error) => finding.severity == Severity::Error,
        Some(FailOn::Warning) => finding.severity >= Severity::Warning,
        Some(FailOn::Definite) => finding.confidence == Certainty::Definite,
        Some(FailOn::Likely) => finding.confidence >= Certainty::Likely,
    };
    if !args.exit_zero && counted.any(fails) { FOUND } else { CLEAN }
}

pub fn request(args: &CheckArgs) -> Result<Request, UsageError> {
    let dash = Path::new("-");
    let piped = args.stdin_filename.is_some() || args.paths.iter().any(|path| path == dash);
    if piped && args.paths.iter().any(|path| path != dash) {
        return Err(UsageError("standard input is linted alone: give no other paths with it".to_owned()));
    }
    let standard_input = if piped {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| UsageError(format!("standard input cannot be read: {error}")))?;
        Some(StandardInput { filename: args.stdin_filename.clone(), bytes })
    } else {
        None
    };
    let mut levels = Vec::new();
    for (names, level) in [(&args.info, Level::Info), (&args.warn, Level::Warning), (&args.error, Level::Error)] {
        levels.extend(names.iter().map(|name| (name.clone(), level)));
    }
    Ok(Request {
        paths: if piped { Vec::new() } else { args.paths.clone() },
        standard_input,
        choices: Choices {
            select: args.select.clone(),
            ignore: args.ignore.clone(),
            levels,
            min_confidence: args.min_confidence.map(|confidence| match confidence {
                Confidence::Definite => MinConfidence::Definite,
                Confidence::Likely => MinConfidence::Likely,
                Confidence::Possible => MinConfidence::Possible,
            }),
        },
        force_exclude: args.force_exclude,
        baseline: match &args.baseline {
            Some(file) => BaselineChoice::File(file.clone()),
            None if args.no_baseline || args.write_baseline.is_some() => BaselineChoice::None,
            None => BaselineChoice::Settings,
        },
        since: args.since.clone(),
        ..project(args)
    })
}

/// What the arguments say about projects, whatever is linted.
pub fn project(args: &CheckArgs) -> Request {
    Request {
        architectures: args.arch.clone(),
        build: args.build_dir.clone(),
        defines: args.define.clone(),
        configuration: match &args.config {
            Some(file) => Configuration::File(PathBuf::from(file)),
            None if args.isolated => Configuration::Isolated,
            None => Configuration::Nearest,
        },
        ..Request::default()
    }
}

pub fn lint(engine: &Engine, args: &CheckArgs, request: &Request) -> Result<Outcome, UsageError> {
    let pool = cudalint_engine::threads(args.threads.map(usize::from))?;
    let progress = progress::Line::new(!args.quiet);
    let outcome = pool.install(|| engine.check(request, &|step| progress.show(step)));
    progress.clear();
    // Nor do the threads need to be wound up.
    std::mem::forget(pool);
    outcome
}

fn render(args: &CheckArgs, outcome: &Outcome) -> String {
    let report = &outcome.report;
    if args.statistics {
        return statistics(outcome);
    }
    let options = Options {
        color: args.output_file.is_none() && use_color(args.color),
        links: args.output_file.is_none() && use_links(args.hyperlinks),
        fold: outcome.unasked.clone(),
        rules_url: outcome.rules_url.clone().unwrap_or_else(|| RULES_URL.to_owned()),
        width: terminal_width(),
        root: std::env::current_dir().ok().map(|folder| folder.to_string_lossy().replace('\\', "/")),
    };
    let mut text = args.output_format.render(report, &options);
    if args.output_format.is_for_people() && !args.quiet {
        if report.findings.len() > MANY {
            text.push_str(&cudalint_findings::format::statistics::render(report, &[]));
            text.push('\n');
        }
        let summary = report.summary();
        let counts = [(summary.error, "error"), (summary.warning, "warning"), (summary.info, "note")]
            .iter()
            .enumerate()
            .filter(|(place, (count, _))| *place < 2 || *count > 0)
            .map(|(_, (count, word))| counted(*count, word))
            .collect::<Vec<_>>();
        let _ = writeln!(text, "Found {} in {}.", counts.join(", "), counted(report.files.checked, "file"));
    }
    text
}

/// `--statistics`: everything that a run counts; the same for the same input.
fn statistics(outcome: &Outcome) -> String {
    let Statistics { suppressed, cuts, skipped, indexed_files, indexed_bytes, capped_projects, .. } =
        &outcome.statistics;
    let mut limits: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (cut, count) in cuts {
        *limits.entry((cut.phase, cut.cause)).or_default() += *count as usize;
    }
    let limits: Vec<(String, usize)> =
        limits.into_iter().map(|((phase, cause), count)| (format!("{phase}: {cause}"), count)).collect();
    let mut text = cudalint_findings::format::statistics::render(&outcome.report, &limits);
    for (Cut { path, phase, cause }, count) in cuts {
        let _ = writeln!(text, "cut short: {}: {phase}: {cause}: {count}", one_line(path));
    }
    let files = &outcome.report.files;
    let _ = writeln!(
        text,
        "files: {} checked, {} with parts that could not be parsed, {} skipped, {} incomplete",
        files.checked,
        files.damaged,
        files.skipped,
        outcome.report.incomplete_files()
    );
    for (cause, count) in skipped {
        let _ = writeln!(text, "skipped: {count} {cause}");
    }
    let _ = writeln!(text, "index: {} of {indexed_bytes} bytes", counted(*indexed_files, "file"));
    if *capped_projects > 0 {
        let _ = writeln!(text, "index cut short by `index.max-bytes`: {}", counted(*capped_projects, "project"));
    }
    let _ = writeln!(text, "suppressed by comments: {suppressed}");
    kernels(&outcome.statistics.kernels, &mut text);
    text
}

/// How kernels were executed: one `name: value` a line, so that shares can be computed from it.
fn kernels(counts: &KernelCounts, text: &mut String) {
    if counts.launches == 0 && counts.unlaunched == 0 {
        return;
    }
    let numbers = [
        ("launches", counts.launches),
        ("launches executed with facts", counts.with_facts),
        ("launches executed with assumptions", counts.assumed),
        ("launches executed with facts in their first block only", counts.first_block),
        ("launches executed with a guessed block", counts.guessed),
        ("kernels without a launch in sight", counts.unlaunched),
        ("kernels without a launch in sight executed", counts.unlaunched_executed),
        ("accesses in executed kernels", counts.accesses),
        ("accesses in executed kernels with a known address", counts.known_accesses),
        ("lane-operations", counts.operations),
    ];
    for (name, value) in numbers {
        let _ = writeln!(text, "{name}: {value}");
    }
    let by_count = |causes: &BTreeMap<&'static str, u64>| {
        let mut list: Vec<(&'static str, u64)> = causes.iter().map(|(cause, count)| (*cause, *count)).collect();
        list.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        list
    };
    for (cause, count) in by_count(&counts.not_executed) {
        let _ = writeln!(text, "not executed, {cause}: {count}");
    }
    for (cause, count) in by_count(&counts.causes) {
        let _ = writeln!(text, "not followed, {cause}: {count}");
    }
}

pub fn counted(count: usize, word: &str) -> String {
    if count == 1 { format!("1 {word}") } else { format!("{count} {word}s") }
}

/// Whether standard output gets colours.
pub fn use_color(choice: ColorChoice) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR") => false,
        ColorChoice::Auto
            if std::env::var_os("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") =>
        {
            true
        }
        ColorChoice::Auto => {
            std::io::stdout().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Whether standard output gets links. Terminals that do not know them mostly hide them, but some show their letters, so that
/// it takes one that says who it is.
pub fn use_links(choice: LinkChoice) -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let knows = || {
        let vte =
            set("VTE_VERSION").and_then(|version| version.parse::<u32>().ok()).is_some_and(|version| version >= 5000);
        let program = set("TERM_PROGRAM").is_some_and(|name| {
            ["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "rio"].contains(&name.as_str())
        });
        let term = set("TERM")
            .is_some_and(|term| ["kitty", "alacritty", "ghostty", "foot"].iter().any(|it| term.contains(it)));
        vte || program || term || ["WT_SESSION", "KONSOLE_VERSION", "DOMTERM"].iter().any(|name| set(name).is_some())
    };
    match choice {
        LinkChoice::Always => true,
        LinkChoice::Never => false,
        // Inside of `screen` and old `tmux` links do not arrive; a build server's log is no terminal.
        LinkChoice::Auto => std::io::stdout().is_terminal() && set("CI").is_none() && set("STY").is_none() && knows(),
    }
}

/// Columns of the terminal where the shell tells them, else a page's width.
pub fn terminal_width() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse::<usize>().ok());
    given.filter(|_| std::io::stdout().is_terminal()).unwrap_or(100).clamp(40, 160)
}
