//! Runs cudalint on public projects found in a folder and compares with what was accepted last.

use cudalint_engine::{Configuration, Engine, Request};
use cudalint_findings::Confidence;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
struct Projects {
    project: Vec<Project>,
}

#[derive(Deserialize)]
struct Project {
    name: String,
    paths: Vec<String>,
    #[serde(default, rename = "max-damaged")]
    max_damaged: Option<f64>,
    /// Least share of launches that are executed on facts alone, in percent.
    #[serde(default, rename = "min-facts")]
    min_facts: Option<f64>,
    /// Least share of launches that are executed at all with their grid, assumptions included, in percent.
    #[serde(default, rename = "min-executed")]
    min_executed: Option<f64>,
    /// Least share of accesses in executed kernels whose address is known, in percent.
    #[serde(default, rename = "min-known")]
    min_known: Option<f64>,
}

/// Lints every project of `test-corpus/projects.toml` that has a folder below `folder`, prints the difference to
/// `test-corpus/accepted/<project>.txt`, and with `accept` writes that file. A share of damaged files above the
/// project's ratchet is an error, and so is a share of executed launches or known addresses below its own.
///
/// # Errors
/// When a file cannot be read or written, a run is impossible, or a ratchet is exceeded.
pub fn run(root: &Path, folder: &Path, accept: bool) -> Result<(), String> {
    let listing = root.join("test-corpus/projects.toml");
    let text = fs::read_to_string(&listing).map_err(|error| format!("{}: {error}", listing.display()))?;
    let projects: Projects = toml::from_str(&text).map_err(|error| format!("{}: {error}", listing.display()))?;
    let mut worse = Vec::new();
    let mut table = String::new();
    for project in &projects.project {
        let base = folder.join(&project.name);
        if !base.is_dir() {
            println!("{}: not below {}", project.name, folder.display());
            continue;
        }
        let request = Request {
            paths: project.paths.iter().map(|path| base.join(path)).collect(),
            configuration: Configuration::Isolated,
            ..Request::default()
        };
        let outcome = Engine::new(cudalint_rules::RULES).check(&request, &|_| {}).map_err(|error| error.to_string())?;
        let prefix = format!("{}/", base.display());
        let mut lines: Vec<String> = outcome
            .report
            .findings
            .iter()
            .map(|finding| {
                let start = outcome.report.sources.start(&finding.place);
                let confidence = match finding.confidence {
                    Confidence::Definite => "definite",
                    Confidence::Likely => "likely",
                    Confidence::Possible => "possible",
                };
                let path = finding.place.path.strip_prefix(&prefix).unwrap_or(&finding.place.path);
                format!("{path}:{}: {} {confidence}", start.line, finding.rule.name)
            })
            .collect();
        lines.sort();
        let now = lines.join("\n") + "\n";
        let accepted_file = root.join("test-corpus/accepted").join(format!("{}.txt", project.name));
        let accepted = fs::read_to_string(&accepted_file).unwrap_or_default();
        print_difference(&project.name, &accepted, &now);
        let files = outcome.report.files;
        let damaged = if files.checked == 0 { 0.0 } else { 100.0 * files.damaged as f64 / files.checked as f64 };
        if let Some(limit) = project.max_damaged.filter(|limit| damaged > *limit + 0.005) {
            worse.push(format!("{}: {damaged:.2} % of the files are damaged, the ratchet is {limit} %", project.name));
        }
        let kernels = &outcome.statistics.kernels;
        let share = |part: u64, all: u64| if all == 0 { 100.0 } else { 100.0 * part as f64 / all as f64 };
        let shares = [
            (
                "of the launches are executed on facts alone",
                share(kernels.with_facts, kernels.launches),
                project.min_facts,
            ),
            (
                "of the launches are executed with all of their grid",
                share(kernels.with_facts + kernels.assumed, kernels.launches),
                project.min_executed,
            ),
            (
                "of the accesses have a known address",
                share(kernels.known_accesses, kernels.accesses),
                project.min_known,
            ),
        ];
        for (words, now, limit) in shares {
            if let Some(limit) = limit.filter(|limit| now < limit - 0.005) {
                worse.push(format!("{}: {now:.2} % {words}, the ratchet is {limit} %", project.name));
            }
        }
        let mut by_rule: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
        for finding in &outcome.report.findings {
            by_rule.entry(finding.rule.name).or_default()[finding.confidence as usize] += 1;
        }
        let _ = writeln!(table, "{}: {} files, {damaged:.2} % damaged", project.name, files.checked);
        for (words, now, _) in shares {
            let _ = writeln!(table, "  {now:.2} % {words}");
        }
        for (rule, [_, likely, definite]) in by_rule {
            let _ = writeln!(table, "  {rule}: {definite} definite, {likely} likely");
        }
        for fault in &outcome.faults {
            let _ = writeln!(table, "  fault: {}: {}", fault.path, fault.message);
        }
        if accept {
            if let Some(parent) = accepted_file.parent() {
                fs::create_dir_all(parent).map_err(|error| error.to_string())?;
            }
            fs::write(&accepted_file, &now).map_err(|error| format!("{}: {error}", accepted_file.display()))?;
        }
    }
    print!("{table}");
    if worse.is_empty() { Ok(()) } else { Err(worse.join("\n")) }
}

fn print_difference(project: &str, before: &str, now: &str) {
    let count = |text: &str| {
        let mut lines: BTreeMap<String, i64> = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty()) {
            *lines.entry(line.to_owned()).or_default() += 1;
        }
        lines
    };
    let (before, now) = (count(before), count(now));
    for (line, number) in &now {
        if *number > before.get(line).copied().unwrap_or(0) {
            println!("+ {project}: {line}");
        }
    }
    for (line, number) in &before {
        if *number > now.get(line).copied().unwrap_or(0) {
            println!("- {project}: {line}");
        }
    }
}
