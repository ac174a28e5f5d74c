//! Watchpoints: a copy of the source that logs who touches the flagged memory in which barrier interval.

mod asked;
mod look;
mod script;

use super::{Judgement, driver};
use crate::lab::{Bench, Build, End, Run, RunOutcome, head_of};
use crate::paths::clean;
use crate::project;
use crate::scenario::{CudaProgram, Program, Project};
use crate::subject::{Subject, flag_values};
use crate::watch::copy::{self, Copy};
use crate::watch::hidden::hidden_order;
use crate::watch::judge::{Answer, Question};
use crate::watch::log::Log;
use crate::watch::{HEADER_NAME, flags};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_syntax::Span;
use std::collections::BTreeMap;

pub(super) use look::look;

use asked::{Asked, BACK_END, copy_of, header_for, judgement, wanted_lines};

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
    if let Some(project) = &program.project {
        return in_project(finding, program, project, bench);
    }
    if let Err(problem) = bench.write_all(&program.files) {
        return Judgement::without_run(Verdict::Unviable, problem);
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
    let environment = variables(finding, &log_file);
    let mut command = vec![built.to_string()];
    command.extend(program.arguments.iter().cloned());
    let of_copy = Run::on_device("watch", command, environment);
    let run = bench
        .run_until(&of_copy, &log_file, &|text| is_shown(finding, &watched.copy, watched.unfollowed.as_deref(), text));
    judged(finding, &watched.copy, watched.unfollowed.as_deref(), &run, &log_file, bench)
}

/// What a run with watchpoints is told.
fn variables(finding: &FindingEntry, log_file: &Utf8Path) -> Vec<(String, String)> {
    let mut variables = vec![("CUDALINT_WATCH_LOG".to_owned(), log_file.to_string())];
    // Where a whole block's accesses are logged, none of it is left out.
    let focus = driver::witnesses(finding);
    if !focus.is_empty() && Asked::of(finding) != Asked::Unwritten {
        variables.push(("CUDALINT_WATCH_FOCUS".to_owned(), focus));
    }
    variables
}

/// What the log of a run says of a finding.
fn judged(
    finding: &FindingEntry,
    copy: &Copy,
    unfollowed: Option<&str>,
    run: &RunOutcome,
    log_file: &Utf8Path,
    bench: &Bench<'_>,
) -> Judgement {
    if let Some(judgement) = Judgement::of_end(run, BACK_END) {
        return judgement;
    }
    if run.end == End::Exit(HARNESS_SKIPPED) && run.stderr.contains("harness: skipped") {
        let reason = run.stderr.lines().find(|line| line.starts_with("harness: ")).unwrap_or("harness: skipped");
        return Judgement::of_run(Verdict::Unsupported, reason, BACK_END, run, Vec::new());
    }
    let log = Log::read(&head_of(log_file, MAX_LOG));
    let question = Question { finding, sites: &copy.sites, kernels: &copy.kernels, unfollowed, log: &log };
    let answer = Asked::of(finding).answer(&question);
    judgement(finding, &question, answer, run, &bench.relative(log_file))
}

/// Whether what is logged so far shows the finding.
fn is_shown(finding: &FindingEntry, copy: &Copy, unfollowed: Option<&str>, text: &str) -> bool {
    // The last line may be half of one.
    let whole = text.rfind('\n').and_then(|end| text.get(..=end)).unwrap_or("");
    let log = Log::read(whole);
    let question = Question { finding, sites: &copy.sites, kernels: &copy.kernels, unfollowed, log: &log };
    matches!(
        Asked::of(finding).answer(&question),
        Answer::Race(..) | Answer::Outside(..) | Answer::Unwritten(_) | Answer::Arrivals(..)
    )
}

/// The project's own build, with the finding's file replaced by its copy.
fn in_project(finding: &FindingEntry, program: &CudaProgram, project: &Project, bench: &Bench<'_>) -> Judgement {
    let unviable = |reason: String| Judgement::without_run(Verdict::Unviable, reason);
    let (copy, unfollowed, replaced) = match project_copy(finding, program, project, bench) {
        Ok(copied) => copied,
        Err(reason) => return unviable(reason),
    };
    let with_copy = Project { replaced: Some(replaced), ..project.clone() };
    let built = match project::built(bench, &with_copy, project::Put::Watchpoints) {
        Ok(built) => built,
        Err(failure) => return Judgement::of_project(&failure),
    };
    let log_file = bench.folder.join("watch.log");
    drop(std::fs::remove_file(&log_file));
    let decided = |text: &str| is_shown(finding, &copy, unfollowed.as_deref(), text);
    let run = project::with_variables(bench, &built, "watch", variables(finding, &log_file), (&log_file, &decided));
    judged(finding, &copy, unfollowed.as_deref(), &run, &log_file, bench)
}

/// The copy of a finding's file for its project; what may order accesses unseen; and the file of the project that the copy
/// takes the place of, with the copy.
type ProjectCopy = (Copy, Option<String>, (Utf8PathBuf, Utf8PathBuf));

fn project_copy(
    finding: &FindingEntry,
    program: &CudaProgram,
    project: &Project,
    bench: &Bench<'_>,
) -> Result<ProjectCopy, String> {
    let source = &program.unit;
    // What a header's functions are called from stands in several units.
    if source.extension() != Some("cu") {
        return Err(format!("{source}: watchpoints are put into `.cu` files of a project"));
    }
    let inside = source.strip_prefix(&project.base).map_err(|_| format!("{source}: outside of the project"))?;
    let beside = source.parent().unwrap_or(Utf8Path::new("/"));
    let subject = Subject::read(beside, source.as_str(), &program.flags)?;
    let stretch = subject.stretches.first().ok_or_else(|| format!("{source}: no CUDA C++"))?;
    let copy = copy_of(finding, &subject, stretch, Some)?;
    let io = |error: std::io::Error| error.to_string();
    let folder = Utf8Path::new(FOLDER);
    let header = bench.write(&folder.join(HEADER_NAME), &header_for(finding)).map_err(io)?;
    let head = format!("#include \"{header}\"\n#line 1 \"{source}\"\n");
    let name = source.file_name().unwrap_or("source.cu");
    let file = bench.write(&folder.join(name), &(head + &copy.text)).map_err(io)?;
    let unfollowed = hidden_order(&subject.project, &copy);
    Ok((copy, unfollowed, (inside.to_owned(), file)))
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
        let folders: Vec<Utf8PathBuf> =
            flag_values(&program.flags, "-I").iter().map(|folder| bench.folder.join(folder)).collect();
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
    let (a, b) = (clean(a), clean(Utf8Path::new(b)));
    let (longer, shorter) = if a.components().count() >= b.components().count() { (a, b) } else { (b, a) };
    longer == shorter || (shorter.is_relative() && longer.ends_with(&shorter))
}

/// The unit and what it includes in quotes, each once, with the file that includes it.
fn files(unit: &Utf8Path, folders: &[Utf8PathBuf]) -> Result<Vec<File>, String> {
    let read = |path: &Utf8Path| -> Result<String, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        String::from_utf8(bytes).map_err(|_| format!("{path}: not UTF-8"))
    };
    let mut found = vec![File { path: clean(unit), text: read(unit)?, parent: None }];
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
