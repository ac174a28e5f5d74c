//! Watchpoints: a copy of the source that logs who touches the flagged memory in which barrier interval.

mod script;

use super::{Judgement, driver};
use crate::lab::{Bench, Build, End, Run, RunOutcome};
use crate::scenario::{CudaProgram, Program};
use crate::subject::{Stretch, Subject};
use crate::watch::copy::{self, Copy};
use crate::watch::judge::{Answer, Question};
use crate::watch::log::{Log, Logged};
use crate::watch::order::{identifiers, unfollowed};
use crate::watch::{HEADER, HEADER_NAME, flags, whole};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::Shows;
use cudalint_findings::claim::AccessFault;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};
use cudalint_program::Project;
use cudalint_syntax::Span;
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) use script::look;

/// What evidence calls it.
const BACK_END: &str = "cudalint watchpoints";
/// The folder of the copies, below the scenario's.
const FOLDER: &str = "watch";
/// The status of a harness whose launch the device cannot run.
const HARNESS_SKIPPED: i32 = 77;
/// Bytes of a log that are read.
const MAX_LOG: u64 = 256 << 20;
/// Files of one program that are looked at, at most.
const MAX_FILES: usize = 200;

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let program = match program {
        Program::Cuda(program) => program,
        Program::Python(program) => return script::perform(finding, program, bench),
        Program::Kernel(_) => {
            return Judgement::without_run(Verdict::Unsupported, "watchpoints are put into whole programs only");
        }
    };
    for file in &program.files {
        if let Err(error) = bench.write(&file.path, &file.text) {
            return Judgement::without_run(Verdict::Unviable, format!("{}: {error}", file.path));
        }
    }
    let watched = match Watched::write(finding, program, bench) {
        Ok(watched) => watched,
        Err(reason) => return Judgement::without_run(Verdict::Unviable, reason),
    };
    let built = match bench.build(&watched.build) {
        Ok(built) => built,
        Err(failure) => return Judgement::of_build(&failure),
    };
    let log_file = bench.folder.join("watch.log");
    drop(std::fs::remove_file(&log_file));
    let mut environment = vec![("CUDALINT_WATCH_LOG".to_owned(), log_file.to_string())];
    let focus = focus(finding);
    if !focus.is_empty() {
        environment.push(("CUDALINT_WATCH_FOCUS".to_owned(), focus));
    }
    let mut command = vec![built.to_string()];
    command.extend(program.arguments.iter().cloned());
    let run = bench.run(&Run { label: "watch".to_owned(), command, environment, watcher: None, device: true });
    if let Some(judgement) = Judgement::of_end(&run, BACK_END) {
        return judgement;
    }
    if run.end == End::Exit(HARNESS_SKIPPED) && run.stderr.contains("harness: skipped") {
        let reason = run.stderr.lines().find(|line| line.starts_with("harness: ")).unwrap_or("harness: skipped");
        return Judgement::of_run(Verdict::Unsupported, reason, BACK_END, &run, Vec::new());
    }
    let log = Log::read(&read(&log_file));
    let question = Question {
        finding,
        sites: &watched.copy.sites,
        kernels: &watched.copy.kernels,
        unfollowed: watched.unfollowed.as_deref(),
        log: &log,
    };
    let answer = Asked::of(finding).answer(&question);
    judgement(finding, &question, answer, &run, &bench.relative(&log_file))
}

/// What a finding says of the logged accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// One access goes beyond its object.
    Bounds,
    /// One access reads an element within its object, in shared memory, that nobody has written.
    Unwritten,
    /// Two accesses have no order.
    Race,
}

impl Asked {
    fn of(finding: &FindingEntry) -> Self {
        match finding.claim.shows {
            Shows::Access { fault: AccessFault::Unwritten, .. } => Self::Unwritten,
            Shows::Access { .. } => Self::Bounds,
            _ => Self::Race,
        }
    }

    fn answer(self, question: &Question<'_>) -> Answer {
        match self {
            Self::Bounds => question.bounds(),
            Self::Unwritten => question.unwritten(),
            Self::Race => question.race(),
        }
    }
}

/// The header of a copy. Where nobody may have written an element, all accesses of the witness's block are logged.
fn header_for(finding: &FindingEntry) -> String {
    match witnessed_block(finding) {
        Some([x, y, z]) => format!("#define CUDALINT_WATCH_BLOCK {x}u, {y}u, {z}u\n{HEADER}"),
        None => HEADER.to_owned(),
    }
}

/// The block whose accesses are all logged; none where accesses on some lines are, of all blocks.
fn witnessed_block(finding: &FindingEntry) -> Option<[u64; 3]> {
    finding.claim.accesses().first().map(|access| access.block).filter(|_| Asked::of(finding) == Asked::Unwritten)
}

/// The copy of a subject's text. `number_of` gives a line (from 1) its line in the user's file.
fn copy_of(
    finding: &FindingEntry,
    subject: &Subject,
    stretch: &Stretch,
    number_of: impl Fn(u32) -> Option<u32>,
) -> Result<Copy, String> {
    let module = subject.module(stretch).ok_or_else(|| format!("{}: no CUDA C++", subject.path))?;
    let (text, root) = (&subject.text, stretch.parsed.root());
    if Asked::of(finding) == Asked::Unwritten {
        let (start, end) = (finding.range.start, finding.range.end);
        let (first, last) = driver::lines(&finding.range);
        let line_of =
            |shown: u32| (1..).zip(text.lines()).map(|(line, _)| line).find(|line| number_of(*line) == Some(shown));
        let (Some(from), Some(to)) = (line_of(first), line_of(last)) else {
            return Err(format!("the program has no line {first} of {}", finding.path));
        };
        let to = if last < end.line { subject.offset(to + 1, 1) } else { subject.offset(to, end.column) };
        let span = Span::new(subject.offset(from, start.column) as usize, to as usize);
        let places = whole::of_shared_array(module, text, span)?;
        return Ok(copy::at_places(text, module, root, &places, number_of));
    }
    let wanted = wanted_lines(finding);
    let copy =
        copy::with_watchpoints(text, module, root, |line| number_of(line).filter(|shown| wanted.contains(shown)));
    if copy.sites.is_empty() {
        let line = finding.range.start.line;
        return Err(format!("no access to memory that could be watched stands at line {line}"));
    }
    Ok(copy)
}

/// The witness's threads, whose accesses must not be lost. Where a whole block's are logged, none of it is left out.
fn focus(finding: &FindingEntry) -> String {
    if Asked::of(finding) == Asked::Unwritten {
        return String::new();
    }
    let accesses = finding.claim.accesses();
    let threads: Vec<String> = accesses
        .iter()
        .map(|access| {
            let numbers: Vec<String> = access.block.iter().chain(&access.thread).map(u64::to_string).collect();
            numbers.join(",")
        })
        .collect();
    threads.join(";")
}

fn judgement(
    finding: &FindingEntry,
    question: &Question<'_>,
    answer: Answer,
    run: &RunOutcome,
    log: &str,
) -> Judgement {
    let record = |kind: &str, access: &Logged| EvidenceRecord {
        kind: kind.to_owned(),
        cell: None,
        kernel: question.kernel(access).map(str::to_owned),
        path: Some(finding.path.clone()),
        line: question.site(access).map(|site| site.line),
        block: Some(access.block),
        thread: Some(access.thread),
        text: question.described(access),
    };
    let (verdict, reason, records) = match answer {
        Answer::Race(a, b) => (
            Verdict::Confirmed,
            "two threads touch the same bytes, one of them writes, and no barrier stands between".to_owned(),
            vec![record("race", &a), record("race", &b)],
        ),
        Answer::Outside(access, (base, bytes)) => (
            Verdict::Confirmed,
            format!("the access lies outside its object, {bytes} bytes at {base:#x}"),
            vec![record("out of bounds", &access)],
        ),
        Answer::Unwritten(access) => (
            Verdict::Confirmed,
            "no thread of the block has written what is read there, and all accesses of the block are logged"
                .to_owned(),
            vec![record("uninitialized read", &access)],
        ),
        Answer::Inside(access) => (
            Verdict::Refuted,
            "the witness's own access was made, and lies within its object".to_owned(),
            vec![record("in bounds", &access)],
        ),
        Answer::NotSeen(reason) => (Verdict::NotObserved, reason, Vec::new()),
        Answer::NotReached => {
            let reason = match &question.log.off {
                Some(why) => format!("nothing was logged at the finding's lines: {why}"),
                None if question.log.launches.is_empty() => "the program launches no kernel".to_owned(),
                None => "the finding's lines were not reached".to_owned(),
            };
            (Verdict::Unviable, reason, Vec::new())
        }
    };
    let mut judgement = Judgement::of_run(verdict, reason, BACK_END, run, records);
    if !question.log.launches.is_empty() {
        judgement.evidence.log = Some(log.to_owned());
    }
    judgement
}

/// The head of a log.
fn read(file: &Utf8Path) -> String {
    use std::io::Read;
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(file) {
        // What could not be read is as if it had not been written.
        drop(file.take(MAX_LOG).read_to_end(&mut bytes));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A program with watchpoints, written out.
struct Watched {
    build: Build,
    copy: Copy,
    unfollowed: Option<String>,
}

/// A file of a program.
struct File {
    path: Utf8PathBuf,
    text: String,
    /// The file that includes it, by number.
    parent: Option<usize>,
}

impl Watched {
    fn write(finding: &FindingEntry, program: &CudaProgram, bench: &Bench<'_>) -> Result<Self, String> {
        let unit = bench.folder.join(&program.unit);
        let folders = include_folders(&program.flags, &bench.folder);
        let files = files(&unit, &folders)?;
        let wanted = wanted_lines(finding);
        let holds = |file: &File| !lines_of(&file.text, &file.path, finding, |line| wanted.contains(&line)).is_empty();
        let target =
            files.iter().position(holds).ok_or_else(|| format!("the program does not include {}", finding.path))?;
        let file = files.get(target).ok_or_else(|| "no file".to_owned())?;
        let beside = file.path.parent().unwrap_or(Utf8Path::new("/"));
        let subject = Subject::read(beside, file.path.as_str(), &program.flags)?;
        let stretch = subject.stretches.first().ok_or_else(|| format!("{}: no CUDA C++", file.path))?;
        let shown = lines_of(&file.text, &file.path, finding, |_| true);
        let copy = copy_of(finding, &subject, stretch, |line| shown.get(&line).copied())?;
        let io = |error: std::io::Error| error.to_string();
        let folder = Utf8Path::new(FOLDER);
        bench.write(&folder.join(HEADER_NAME), &header_for(finding)).map_err(io)?;
        // The file with watchpoints, then what includes it, up to the unit.
        let mut text = copy.text.clone();
        let mut at = target;
        let mut copied: Option<(Utf8PathBuf, Utf8PathBuf)> = None;
        let unit_copy = loop {
            let Some(file) = files.get(at) else { return Err("no file".to_owned()) };
            if let Some((from, to)) = &copied {
                let beside = file.path.parent().unwrap_or(Utf8Path::new(""));
                text = copy::redirected(&file.text, beside, &folders, from, to);
            }
            let source = file.path.as_str();
            let head = if file.parent.is_none() { copy::unit_head(source) } else { copy::included_head(source) };
            let name = format!("{at}_{}", file.path.file_name().unwrap_or("file.cu"));
            let path = bench.write(&folder.join(name), &(head + &text)).map_err(io)?;
            let Some(parent) = file.parent else { break path };
            copied = Some((file.path.clone(), path));
            at = parent;
        };
        let mut flags_of_build = vec![format!("-I{}", bench.folder.join(FOLDER))];
        flags_of_build.extend(files.first().and_then(|unit| unit.path.parent()).map(|folder| format!("-I{folder}")));
        flags_of_build.extend(program.flags.iter().cloned());
        flags_of_build.extend(flags());
        // The kernels that lead to a header's function are those of the unit.
        let of_unit = match (target, files.first()) {
            (0, _) | (_, None) => None,
            (_, Some(unit)) => {
                let beside = unit.path.parent().unwrap_or(Utf8Path::new("/"));
                Subject::read(beside, unit.path.as_str(), &program.flags).ok()
            }
        };
        let unfollowed = hidden_order(&of_unit.as_ref().unwrap_or(&subject).project, &copy);
        let build = Build { label: "watched".to_owned(), units: vec![unit_copy], flags: flags_of_build };
        Ok(Self { build, copy, unfollowed })
    }
}

/// The lines at which a finding's accesses stand.
fn wanted_lines(finding: &FindingEntry) -> BTreeSet<u32> {
    let range = |range: &cudalint_findings::model::Range| {
        let whole = range.end.column == 1 && range.end.line > range.start.line;
        range.start.line..=if whole { range.end.line - 1 } else { range.end.line }
    };
    let mut lines: BTreeSet<u32> = range(&finding.range).collect();
    let accesses = finding.claim.accesses();
    if accesses.is_empty() {
        let sites = finding.claim.sites.iter().filter(|site| site.path == finding.path);
        lines.extend(sites.flat_map(|site| range(&site.range)));
    }
    lines.extend(accesses.iter().filter(|access| access.site.path == finding.path).map(|access| access.site.line()));
    lines
}

/// The lines of a text (from 1) that are wanted lines of the finding's file, with these. `#line` directives count.
fn lines_of(text: &str, path: &Utf8Path, finding: &FindingEntry, wanted: impl Fn(u32) -> bool) -> BTreeMap<u32, u32> {
    let mut found = BTreeMap::new();
    let mut inside = same_file(path, &finding.path);
    let mut shown = 0;
    for (number, line) in (1..).zip(text.lines()) {
        shown += 1;
        if let Some((next, file)) = line_directive(line) {
            shown = next - 1;
            if let Some(file) = file {
                inside = same_file(Utf8Path::new(file), &finding.path);
            }
            continue;
        }
        if inside && wanted(shown) {
            found.insert(number, shown);
        }
    }
    found
}

/// `#line 12 "path"`: the number of the next line, and the path.
fn line_directive(line: &str) -> Option<(u32, Option<&str>)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("line")?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim();
    let (number, path) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
    let path = path.trim().strip_prefix('"').and_then(|path| path.strip_suffix('"'));
    Some((number.parse().ok()?, path))
}

/// Whether two paths, of which either may be relative, name one file as far as they can be compared.
fn same_file(a: &Utf8Path, b: &str) -> bool {
    let (a, b) = (copy::clean(a), copy::clean(Utf8Path::new(b)));
    let (longer, shorter) = if a.components().count() >= b.components().count() { (a, b) } else { (b, a) };
    longer == shorter || (shorter.is_relative() && longer.ends_with(&shorter))
}

/// The unit and what it includes in quotes, each once, with the file that includes it.
fn files(unit: &Utf8Path, folders: &[Utf8PathBuf]) -> Result<Vec<File>, String> {
    let read = |path: &Utf8Path| -> Result<String, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        String::from_utf8(bytes).map_err(|_| format!("{path}: not UTF-8"))
    };
    let mut found = vec![File { path: copy::clean(unit), text: read(unit)?, parent: None }];
    let mut next = 0;
    while next < found.len() && found.len() < MAX_FILES {
        let Some(file) = found.get(next) else { break };
        let beside = file.path.parent().map(Utf8Path::to_owned).unwrap_or_default();
        let whole = Span::new(0, file.text.len());
        let includes = cudalint_syntax::scan_directives(&file.text, whole).includes;
        for include in includes.iter().filter(|include| !include.system) {
            if let Some(path) = copy::resolved(&include.path, &beside, folders)
                && !found.iter().any(|file| file.path == path)
                && let Ok(text) = read(&path)
            {
                found.push(File { path, text, parent: Some(next) });
            }
        }
        next += 1;
    }
    Ok(found)
}

/// The folders of `-I` flags, joined (`-Ifolder`) or apart.
fn include_folders(flags: &[String], base: &Utf8Path) -> Vec<Utf8PathBuf> {
    let mut folders = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        match flag.strip_prefix("-I") {
            Some("") => folders.extend(flags.next().map(|folder| base.join(folder))),
            Some(folder) => folders.push(base.join(folder)),
            None => {}
        }
    }
    folders
}

/// Something in the device functions around the sites, their callers and what those call that may order accesses in a way
/// that is not followed.
fn hidden_order(project: &Project, copy: &Copy) -> Option<String> {
    struct Reached {
        words: BTreeSet<String>,
        unfollowed: Option<String>,
        name: String,
    }
    let mut functions: Vec<Reached> = Vec::new();
    let mut bodies: HashMap<String, String> = HashMap::new();
    for id in project.modules() {
        let module = project.module(id);
        for (function_id, function) in module.functions.iter_enumerated() {
            if function.body.is_some() && crate::watch::sites::runs_on_device(module, function_id) {
                let text = project.text(id, function.span);
                let name = function.name.as_str().to_owned();
                functions.push(Reached { words: identifiers(text), unfollowed: unfollowed(text), name });
            }
        }
        for definition in &module.macros {
            bodies.entry(definition.name.as_str().to_owned()).or_default().push_str(&definition.body);
        }
    }
    // Up to the kernels that lead to the sites.
    let mut names: BTreeSet<String> = copy.sites.iter().map(|site| site.function.clone()).collect();
    loop {
        let callers: Vec<String> = functions
            .iter()
            .filter(|function| !names.contains(&function.name) && !function.words.is_disjoint(&names))
            .map(|function| function.name.clone())
            .collect();
        if callers.is_empty() {
            break;
        }
        names.extend(callers);
    }
    // And down to all that these call, macros included.
    let mut open: Vec<String> = names.into_iter().collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(name) = open.pop() {
        let called = functions.iter().filter(|function| function.name == name);
        for function in called {
            if function.unfollowed.is_some() {
                return function.unfollowed.clone();
            }
            open.extend(function.words.iter().filter(|word| seen.insert((*word).clone())).cloned());
        }
        if let Some(body) = bodies.get(&name) {
            if let Some(word) = unfollowed(body) {
                return Some(word);
            }
            open.extend(identifiers(body).into_iter().filter(|word| seen.insert(word.clone())));
        }
    }
    None
}
