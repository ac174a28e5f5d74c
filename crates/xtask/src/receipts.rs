//! `cargo xtask receipts`: runs the `verify=` fences of the pages on this machine's GPU, both sides, in one batch, and
//! writes the receipts beside the rules.

use crate::each::each;
use camino::Utf8PathBuf;
use cudalint_engine::{Engine, Rule};
use cudalint_findings::Shows;
use cudalint_findings::claim::Cost;
use cudalint_findings::model::{FindingEntry, Launch, Method, Position, Range, Site, Verdict};
use cudalint_findings::{Finding, RULES_URL, Sources};
use cudalint_pages::Page;
use cudalint_pages::experiments::{Experiment, Side, experiments};
use cudalint_verify::experiment::clean;
use cudalint_verify::lab::{Lab, Launcher, Limits};
use cudalint_verify::machine::{Machine, ProbeOptions, probe};
use cudalint_verify::receipt::{ExampleResult, Receipt, ReceiptEntry};
use cudalint_verify::run;
use cudalint_verify::subject::Subject;
use cudalint_verify::{Outcome, harness};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A page with what its experiments gave.
struct Sheet {
    rule: &'static Rule,
    /// Text of the page.
    page: Page,
}

/// One experiment of the batch.
struct Job<'page> {
    rule: &'static Rule,
    experiment: Experiment<'page>,
    /// Folder of its files, relative to the batch's folder.
    folder: String,
    /// The page's own findings in it, of a bad example.
    findings: Vec<FindingEntry>,
}

/// Runs the experiments of the rules named (of all when none is) and writes their receipts.
pub fn run(root: &Path, rules: &[String], out: &Path, jobs: Option<usize>) -> Result<(), String> {
    let machine = probe(&ProbeOptions { python: true, ..ProbeOptions::default() });
    if machine.devices.is_empty() {
        return Err(
            "there is no GPU here; receipts come from a machine with one (`cudalint doctor` says more)".to_owned()
        );
    }
    let out = Utf8PathBuf::from_path_buf(std::path::absolute(out).map_err(|error| error.to_string())?)
        .map_err(|path| format!("{}: the path is not UTF-8", path.display()))?;
    let sources = out.join("pages");
    let engine = Engine::new(cudalint_rules::RULES);
    let mut sheets = Vec::new();
    for rule in cudalint_rules::RULES {
        if rules.is_empty() || rules.iter().any(|name| name == rule.info.name) {
            let page = Page::parse(rule.info.page).map_err(|error| format!("{}: {error}", rule.info.name))?;
            sheets.push(Sheet { rule, page });
        }
    }
    let mut batch = Vec::new();
    for sheet in &sheets {
        for experiment in experiments(&sheet.page) {
            batch.push(prepare(&engine, sheet, experiment, &sources)?);
        }
    }
    // What is about more devices than there are keeps the receipt that it has.
    let rules = sheets.iter().map(|sheet| sheet.rule);
    let lacking: Vec<&str> =
        rules.filter(|rule| devices(&batch, rule) > machine.devices.len()).map(|rule| rule.info.name).collect();
    for rule in &lacking {
        println!("{rule}: its examples are about more GPUs than there are here; its receipt stays as it is");
    }
    batch.retain(|job| !lacking.contains(&job.rule.info.name));
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let launcher = Launcher::current().map_err(|error| error.to_string())?;
    let bad = bad_side(&batch, &sources, &machine, &launcher, &out, jobs)?;
    let good = good_side(&batch, &sources, (&machine, &launcher), &out, jobs)?;
    let mut failed = 0;
    for sheet in &sheets {
        let entries: Vec<ReceiptEntry> = batch
            .iter()
            .enumerate()
            .filter(|(_, job)| job.rule.info.name == sheet.rule.info.name)
            .map(|(index, job)| entry(job, bad.get(&index), good.get(&index), &sources))
            .collect();
        for (entry, job) in entries
            .iter()
            .zip(batch.iter().filter(|job| job.rule.info.name == sheet.rule.info.name))
            .filter(|(entry, _)| !entry.result.is_good())
        {
            failed += 1;
            let line = job.experiment.line;
            println!("{}.md, line {line}: {:?}", sheet.rule.info.name, entry.result);
            for line in &entry.evidence {
                println!("    {line}");
            }
        }
        if entries.is_empty() {
            continue;
        }
        let receipt = Receipt {
            rule: sheet.rule.info.name.to_owned(),
            method: sheet.rule.info.method,
            date: jiff::Zoned::now().date().to_string(),
            device: machine.devices.first().map(|device| device.name.clone()).unwrap_or_default(),
            tools: tools(&machine, sheet),
            experiments: entries,
        };
        let file = root
            .join("rules")
            .join(sheet.rule.info.group.name())
            .join(format!("{}.receipt.toml", sheet.rule.info.name));
        fs::write(&file, receipt.to_text()?).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let changed = cudalint_pages::derive::sync(root).map_err(|error| error.to_string())?;
    for path in &changed {
        println!("rewrote {}", path.display());
    }
    println!("{} examples ran, {failed} did not come out as their pages say", batch.len());
    if failed == 0 { Ok(()) } else { Err("some pages are not borne out; their receipts say so".to_owned()) }
}

/// Writes an example's files and lints them.
fn prepare<'page>(
    engine: &Engine,
    sheet: &Sheet,
    experiment: Experiment<'page>,
    sources: &Utf8PathBuf,
) -> Result<Job<'page>, String> {
    let folder = format!("{}/{}", sheet.rule.info.name, experiment.line);
    let mut texts = Sources::new();
    let mut files = Vec::new();
    for (name, text) in &experiment.files {
        let path = format!("{folder}/{name}");
        let file = sources.join(&path);
        file.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| format!("{file}: {error}"))?;
        fs::write(&file, text).map_err(|error| format!("{file}: {error}"))?;
        texts.insert(path.as_str().into(), (*text).into());
        files.push((path, *text));
    }
    let found = engine.lint_texts(&files, experiment.settings)?;
    let own = |finding: &&Finding| finding.rule.name == sheet.rule.info.name;
    let launch = launch_of(&experiment, &format!("{folder}/{}", experiment.files.first().map_or("", |(name, _)| name)));
    let entry = |finding: &Finding| {
        let mut entry = FindingEntry::new(finding, &texts, RULES_URL);
        // The page says how a kernel is launched that the example only defines.
        if entry.witness.is_some() && entry.claim.launch.is_none() {
            entry.claim.launch.clone_from(&launch);
        }
        entry
    };
    let findings = found.iter().filter(own).map(entry).collect();
    Ok(Job { rule: sheet.rule, experiment, folder, findings })
}

/// The launch that an example's fence states.
fn launch_of(experiment: &Experiment<'_>, path: &str) -> Option<Launch> {
    let (grid, block) = experiment.launched()?;
    let start = Position { cell: None, line: 1, column: 1 };
    Some(Launch {
        site: Site { path: path.to_owned(), range: Range { start, end: start } },
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        shared_bytes: 0,
    })
}

/// Verifies every finding of the bad examples; outcomes by the job's place.
fn bad_side(
    batch: &[Job<'_>],
    sources: &Utf8PathBuf,
    machine: &Machine,
    launcher: &Launcher,
    out: &Utf8PathBuf,
    jobs: usize,
) -> Result<BTreeMap<usize, Vec<(u32, Outcome)>>, String> {
    let mut findings = Vec::new();
    let mut owners = Vec::new();
    for (index, job) in batch.iter().enumerate().filter(|(_, job)| job.experiment.side == Side::Bad) {
        for finding in &job.findings {
            findings.push(finding.clone());
            owners.push(index);
        }
    }
    let request = run::Request {
        root: sources.clone(),
        jobs,
        ..run::Request::new(&findings, machine.clone(), launcher.clone(), out.join("bad"))
    };
    let report = run::verify(&request, &()).map_err(|error| error.to_string())?;
    let mut found: BTreeMap<usize, Vec<(u32, Outcome)>> = BTreeMap::new();
    for (index, outcome) in report.outcomes {
        if let (Some(owner), Some(finding)) = (owners.get(index), findings.get(index)) {
            found.entry(*owner).or_default().push((finding.range.start.line, outcome));
        }
    }
    println!(
        "bad side: {} findings in {:.1} s ({:.1} s compiling, {:.1} s running, {:.1} s waiting)",
        findings.len(),
        report.times.wall,
        report.times.build,
        report.times.run,
        report.times.wait
    );
    Ok(found)
}

/// Runs every good example under all tools; a line a tool, or why nothing could be said, by the job's place.
fn good_side(
    batch: &[Job<'_>],
    sources: &Utf8PathBuf,
    (machine, launcher): (&Machine, &Launcher),
    out: &Utf8PathBuf,
    jobs: usize,
) -> Result<BTreeMap<usize, Result<Vec<clean::ToolRun>, String>>, String> {
    let folder = out.join("good");
    fs::create_dir_all(&folder).map_err(|error| format!("{folder}: {error}"))?;
    let lab = Lab::new(machine.clone(), folder, Limits::default(), launcher.clone());
    let good: Vec<(usize, &Job<'_>)> =
        batch.iter().enumerate().filter(|(_, job)| job.experiment.side == Side::Good).collect();
    let results = each(good.len(), jobs, &|at| one_good(good[at].1, batch, sources, &lab));
    Ok(good.iter().map(|(index, _)| *index).zip(results).collect())
}

/// What a profiler counts of the bad examples of a page: of its good ones there must not be too much of it.
fn counted(batch: &[Job<'_>], rule: &Rule) -> Vec<Cost> {
    let own = batch.iter().filter(|job| job.rule.info.name == rule.info.name).flat_map(|job| &job.findings);
    let mut found = Vec::new();
    for finding in own.filter(|finding| finding.verification.method == Method::Counters) {
        if let Shows::Cost { of } = finding.claim.shows
            && !found.contains(&of)
        {
            found.push(of);
        }
    }
    found
}

/// How many devices the examples of a page are about.
fn devices(batch: &[Job<'_>], rule: &Rule) -> usize {
    let own = batch.iter().filter(|job| job.rule.info.name == rule.info.name).flat_map(|job| &job.findings);
    own.map(|finding| finding.claim.devices as usize).max().unwrap_or(1)
}

fn one_good(job: &Job<'_>, batch: &[Job<'_>], sources: &Utf8PathBuf, lab: &Lab) -> Result<Vec<clean::ToolRun>, String> {
    let (name, _) = job.experiment.files.first().ok_or("an example without a file")?;
    let subject = Subject::read(sources, &format!("{}/{name}", job.folder), &[])?;
    let stretch = subject.stretch_at(1).ok_or("no code stands in the example")?;
    let launch = launch_of(&job.experiment, &subject.path);
    let program = harness::drive_all_with(&subject, stretch, launch.as_ref())?;
    let mut bench = lab.bench(&job.folder.replace('/', "-")).map_err(|error| error.to_string())?;
    bench.devices = devices(batch, job.rule);
    clean::perform(&program, &bench, &counted(batch, job.rule))
}

fn entry(
    job: &Job<'_>,
    bad: Option<&Vec<(u32, Outcome)>>,
    good: Option<&Result<Vec<clean::ToolRun>, String>>,
    sources: &Utf8PathBuf,
) -> ReceiptEntry {
    let (result, evidence) = match job.experiment.side {
        Side::Bad => {
            let outcomes = bad.map_or(&[][..], Vec::as_slice);
            let verdicts: Vec<Verdict> =
                outcomes.iter().filter_map(|(_, outcome)| outcome.verification.verdict).collect();
            (
                ExampleResult::of_verdicts(&verdicts),
                outcomes.iter().map(|(line, outcome)| words(*line, outcome, sources)).collect(),
            )
        }
        Side::Good => match good {
            Some(Ok(tools)) => {
                let clean = tools.iter().all(|tool| tool.problem.is_none());
                let lines = tools
                    .iter()
                    .map(|tool| {
                        let said = tool.said.as_ref().map_or_else(String::new, |said| format!(", {said}"));
                        format!("{}: {}{said}", tool.tool, tool.problem.as_deref().unwrap_or("clean"))
                    })
                    .collect();
                (if clean { ExampleResult::Clean } else { ExampleResult::NotClean }, lines)
            }
            Some(Err(problem)) => (ExampleResult::NotClean, vec![problem.clone()]),
            None => (ExampleResult::NotClean, vec!["it was not run".to_owned()]),
        },
    };
    ReceiptEntry { section: job.experiment.section.to_owned(), hash: job.experiment.hash(), result, evidence }
}

/// One line about a finding: its line in the example, the verdict, why, by what, and the first record.
fn words(line: u32, outcome: &Outcome, sources: &Utf8PathBuf) -> String {
    let verdict = outcome.verification.verdict.map_or("none", Verdict::name);
    let evidence = outcome.verification.evidence.as_ref();
    let back_end = evidence.map_or("none", |evidence| evidence.back_end.as_str());
    let record = evidence
        .and_then(|evidence| evidence.records.first())
        .and_then(|record| record.text.lines().next())
        .filter(|text| !outcome.reason.contains(text))
        .map(|text| format!("; {text}"))
        .unwrap_or_default();
    // Where the batch lay on its machine is nobody's business.
    format!("line {line}: {verdict} by {back_end}: {}{record}", outcome.reason).replace(&format!("{sources}/"), "")
}

/// Names and versions of what took part.
fn tools(machine: &Machine, sheet: &Sheet) -> Vec<String> {
    let named = |name: &str, program: &Option<cudalint_verify::machine::Program>| {
        program.as_ref().map(|program| format!("{name} {}", program.version))
    };
    let mut tools: Vec<String> = machine.driver.iter().map(|driver| format!("driver {driver}")).collect();
    let python = sheet.page.fences.iter().any(|fence| fence.language == "python" && fence.verify.is_some());
    let cuda = sheet.page.fences.iter().any(|fence| fence.language == "cuda" && fence.verify.is_some());
    tools.extend(named("nvcc", &machine.nvcc).filter(|_| cuda));
    tools.extend(named("compute-sanitizer", &machine.compute_sanitizer));
    if let Some(found) = machine.python.as_ref().filter(|_| python) {
        tools.push(format!("Python {}", found.program.version));
        tools.extend(
            found
                .packages
                .iter()
                .filter_map(|package| package.version.as_ref().map(|version| format!("{} {version}", package.name))),
        );
    }
    tools
}
