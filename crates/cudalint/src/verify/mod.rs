//! `cudalint verify`: findings of a check or of a document, run on a GPU, and shown with their verdicts.

mod again;
mod bars;
mod input;
mod only;
mod projects;
mod table;

use crate::args::{CheckArgs, ListFormat, VerifyArgs};
use crate::check::{self, CLEAN, FOUND, TROUBLE};
use crate::out;
use again::Again;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_engine::{Engine, Reading};
use cudalint_findings::format::html;
use cudalint_findings::model::Document;
use cudalint_findings::{Format, Options, RULES_URL, Report, Verdict, Verification};
use cudalint_verify::lab::{Launcher, Limits};
use cudalint_verify::machine::Machine;
use cudalint_verify::run;
use cudalint_verify::stop::Stop;
use cudalint_verify::{exit_status, machine};
use input::Input;
use projects::Projects;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// Exit code after Ctrl-C, as shells give it.
const INTERRUPTED: u8 = 130;

/// Runs `verify` and gives its exit code.
pub fn run(engine: &Engine, args: &VerifyArgs) -> u8 {
    match verify(engine, args) {
        Ok(code) => code,
        Err(problem) => {
            out::message("error", &problem);
            TROUBLE
        }
    }
}

/// Runs `doctor` and gives its exit code.
pub fn doctor(format: ListFormat) -> u8 {
    let diagnosis = machine::doctor::diagnose();
    let text = match format {
        ListFormat::Text => diagnosis.to_text(),
        ListFormat::Json => format!("{:#}\n", serde_json::to_value(&diagnosis).unwrap_or_default()),
    };
    match out::print(&text) {
        Ok(()) => diagnosis.exit_status(),
        Err(problem) => {
            out::message("error", &problem);
            TROUBLE
        }
    }
}

fn verify(engine: &Engine, args: &VerifyArgs) -> Result<u8, String> {
    let mut input = input::read(engine, args)?;
    let document = Document::new(&input.report, RULES_URL);
    let again = Again::new(engine, &args.check, &input);
    let quiet = args.check.quiet;
    let mut unknown = false;
    for unmatched in only::unmatched(engine, &args.only, &document.findings) {
        // That a rule has found nothing is an answer; a word that names nothing is a mistake.
        unknown |= unmatched.is_mistake;
        if unmatched.is_mistake || !quiet {
            out::message(if unmatched.is_mistake { "error" } else { "note" }, &unmatched.words);
        }
    }
    let stop = Stop::install().map_err(|error| format!("Ctrl-C cannot be watched for: {error}"))?;
    if !quiet && !document.findings.is_empty() {
        out::message(
            "note",
            "verify compiles and runs code from these files: with limits of time, memory and size, and with your rights",
        );
    }
    let machine = if document.findings.is_empty() { Machine::default() } else { probe(&document) };
    let as_linted =
        engine.reading(input.root.as_std_path(), &check::project(&args.check)).map_err(|error| error.to_string())?;
    let Reading { options, flags, .. } = &as_linted;
    let paths = document.findings.iter().map(|finding| finding.path.as_str());
    let projects = Projects::of(engine, args, &input.root, paths)?;
    let request = run::Request {
        root: input.root.clone(),
        limits: Limits { run: Duration::from_secs(args.timeout), ..Limits::default() },
        jobs: args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from),
        resume: args.resume,
        only: args.only.clone(),
        keep: args.keep,
        ledger: args.ledger.as_deref().map(absolute).transpose()?,
        stop,
        options: serde_json::json!({
            "only": args.only, "timeout": args.timeout, "fixed": args.fixed, "build": args.build, "run": args.run,
        }),
        flags_for: &|_| flags.clone(),
        options_for: &|_| Some(options.clone()),
        project_for: &|path| projects.of_path(path),
        replay: &|finding| again.replay(finding),
        fixed: if args.fixed { Some(&|finding| again.fixed(finding)) } else { None },
        ..run::Request::new(
            &document.findings,
            machine.clone(),
            Launcher::current().map_err(|error| format!("programs cannot be started: {error}"))?,
            absolute(&args.out)?,
        )
    };
    let bars = bars::Bars::new(!quiet);
    let outcome = run::verify(&request, &bars);
    bars.clear();
    let outcome = outcome.map_err(|error| error.to_string())?;
    fill(&mut input.report, &outcome);
    let verdicts = outcome.verdicts();
    let report = selected(input.report, args, &outcome);
    if let Some(file) = &args.report {
        write_html(file, &report, &machine, &outcome, &request.out)?;
    }
    show(args, &report, &outcome)?;
    if !quiet {
        outcome.notes.iter().for_each(|note| out::message("note", note));
    }
    for fault in &input.faults {
        out::message("error", fault);
    }
    if machine.devices.is_empty() && !verdicts.is_empty() && outcome.taken_over < outcome.selected {
        out::message(
            "note",
            "no GPU has confirmed anything: there is none here that can be used (`cudalint doctor` says more)",
        );
    }
    Ok(match exit_status(&verdicts) {
        _ if unknown || !input.faults.is_empty() => TROUBLE,
        _ if outcome.interrupted => {
            out::message("note", "interrupted: `--resume` goes on");
            INTERRUPTED
        }
        1 if args.check.exit_zero => CLEAN,
        1 => FOUND,
        code => code,
    })
}

/// What this machine has, Python only when a finding needs it.
fn probe(document: &Document) -> Machine {
    let may_be_python = |path: &str| {
        Utf8Path::new(path)
            .extension()
            .is_some_and(|word| ["py", "md", "ipynb"].iter().any(|kind| word.eq_ignore_ascii_case(kind)))
    };
    let python = document.findings.iter().any(|finding| may_be_python(&finding.path));
    machine::probe(&machine::ProbeOptions { python, ..machine::ProbeOptions::default() })
}

fn absolute(path: &std::path::Path) -> Result<Utf8PathBuf, String> {
    let whole = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Utf8PathBuf::from_path_buf(whole).map_err(|path| format!("{}: the path is not UTF-8", path.display()))
}

/// Puts what the run said into the findings. A finding is known by its place in the document, which has the report's order.
fn fill(report: &mut Report, outcome: &run::RunReport) {
    for (index, outcome) in &outcome.outcomes {
        if let Some(finding) = report.findings.get_mut(*index) {
            finding.verification =
                outcome.verification.restore().map(|done| Verification { reason: outcome.reason.clone(), ..done });
        }
    }
}

/// The findings that are shown.
fn selected(mut report: Report, args: &VerifyArgs, outcome: &run::RunReport) -> Report {
    let mut place = 0;
    report.findings.retain(|finding| {
        let verified = outcome.outcomes.iter().any(|(index, _)| *index == place);
        place += 1;
        let confirmed = finding.verification.as_ref().is_some_and(|done| done.verdict == Verdict::Confirmed);
        (args.only.is_empty() || verified) && (!args.only_confirmed || confirmed)
    });
    report
}

/// Prints the findings, and for people the table.
fn show(args: &VerifyArgs, report: &Report, outcome: &run::RunReport) -> Result<(), String> {
    let CheckArgs { output_format, output_file, color, quiet, .. } = &args.check;
    let options = Options {
        color: output_file.is_none() && check::use_color(*color),
        width: check::terminal_width(),
        root: std::env::current_dir().ok().map(|folder| folder.to_string_lossy().replace('\\', "/")),
        ..Options::default()
    };
    let mut text = output_format.render(report, &options);
    let table = table::of(report, outcome);
    if matches!(output_format, Format::Full | Format::Concise) {
        if !quiet {
            let _ = write!(text, "{table}");
        }
    } else if !quiet {
        table.lines().for_each(|line| out::message("note", line));
    }
    match output_file {
        None => out::print(&text),
        Some(file) => std::fs::write(file, &text)
            .map_err(|error| format!("--output-file {}: cannot be written: {error}", file.display())),
    }
}

fn write_html(
    file: &std::path::Path,
    report: &Report,
    machine: &Machine,
    outcome: &run::RunReport,
    out: &Utf8Path,
) -> Result<(), String> {
    let named = |name: &str, found: &Option<machine::Program>| {
        found.as_ref().map(|found| (name.to_owned(), found.version.clone()))
    };
    let mut facts: Vec<(String, String)> = Vec::new();
    let mut devices: BTreeMap<&str, usize> = BTreeMap::new();
    for device in &machine.devices {
        *devices.entry(&device.name).or_default() += 1;
    }
    let devices: Vec<String> = devices
        .iter()
        .map(|(name, count)| if *count == 1 { (*name).to_owned() } else { format!("{count} × {name}") })
        .collect();
    facts.push(("GPU".to_owned(), if devices.is_empty() { "none".to_owned() } else { devices.join(", ") }));
    facts.extend(machine.driver.clone().map(|driver| ("driver".to_owned(), driver)));
    facts.extend(named("nvcc", &machine.nvcc));
    facts.extend(named("compute-sanitizer", &machine.compute_sanitizer));
    facts.push(("time".to_owned(), table::times(outcome)));
    let whole = absolute(file)?;
    let base = match out.strip_prefix(whole.parent().unwrap_or(Utf8Path::new(""))) {
        Ok(relative) if relative.as_str().is_empty() => String::new(),
        Ok(relative) => format!("{}/", relative.as_str().replace('\\', "/")),
        // The report lies in the outcome folder or elsewhere.
        Err(_) => match whole.parent().and_then(|folder| folder.strip_prefix(out).ok()) {
            Some(below) => "../".repeat(below.components().count()),
            None => format!("file://{out}/"),
        },
    };
    let text = html::render(report, &html::Page { facts, base, rules_url: String::new() });
    std::fs::write(file, text).map_err(|error| format!("--report {}: cannot be written: {error}", file.display()))
}
