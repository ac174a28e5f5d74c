//! Builds and runs broken programs on this machine's GPU under compute-sanitizer: which changes the hardware shows.

use super::counts::Counts;
use super::points::Kind;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Seconds for one build, and for one run.
const BUILD: &str = "240";
const RUN: &str = "60";
/// Most sources of a program that is built.
const MOST_SOURCES: usize = 40;

/// A program that one change breaks.
pub struct Broken {
    /// The folder that was copied.
    pub folder: PathBuf,
    /// The file below it.
    pub file: PathBuf,
    /// Where it is changed.
    pub line: u32,
    /// How it was found, if it was.
    pub counts: Counts,
    pub kind: Kind,
    /// The file with the change.
    pub text: String,
}

impl Broken {
    /// The file that is changed.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.file)
    }
}

/// What a tool said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The program cannot be built here by itself, or does not run without help: why.
    Unviable(String),
    /// No more than of the program as it was.
    Nothing,
    /// More than that.
    Change,
}

impl Shown {
    fn words(&self) -> String {
        match self {
            Self::Unviable(why) => why.clone(),
            Self::Nothing => "nothing shown".to_owned(),
            Self::Change => "shown".to_owned(),
        }
    }
}

/// Runs every broken program, so many at a time, and reports each as it ends; those whose change was found first.
pub fn run(all: &[Broken], jobs: usize) -> Vec<Shown> {
    let mut unbroken: BTreeMap<(PathBuf, PathBuf, &'static str), Vec<usize>> = BTreeMap::new();
    for (at, one) in all.iter().enumerate() {
        unbroken.entry((one.folder.clone(), one.file.clone(), tool(one.kind))).or_default().push(at);
    }
    let mut queue: Vec<_> = unbroken.into_iter().collect();
    // Taken from the end.
    queue.sort_by_key(|(_, changes)| changes.iter().any(|at| all.get(*at).is_some_and(|one| one.counts.definite > 0)));
    let queue = Mutex::new(queue);
    let shown = Mutex::new(vec![Shown::Unviable("not tried".to_owned()); all.len()]);
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                // A copy of each folder that is this job's own.
                let mut copies: BTreeMap<PathBuf, tempfile::TempDir> = BTreeMap::new();
                loop {
                    let Some(((folder, file, tool), changes)) = queue.lock().ok().and_then(|mut it| it.pop()) else {
                        return;
                    };
                    if !copies.contains_key(&folder) {
                        let Ok(copied) = tempfile::tempdir() else { continue };
                        if copy(&folder, copied.path(), 0).is_none() {
                            continue;
                        }
                        copies.insert(folder.clone(), copied);
                    }
                    let Some(top) = copies.get(&folder).map(tempfile::TempDir::path) else { continue };
                    let file = top.join(file);
                    let Ok(unbroken) = cudalint_files::read_file(&file) else { continue };
                    let before = errors(top, &file, tool);
                    for at in changes {
                        let Some(one) = all.get(at) else { continue };
                        let verdict = before.clone().and_then(|before| {
                            fs::write(&file, &one.text).map_err(|error| error.to_string())?;
                            let after = errors(top, &file, tool)?;
                            Ok(if after > before { Shown::Change } else { Shown::Nothing })
                        });
                        let verdict = verdict.unwrap_or_else(Shown::Unviable);
                        println!("{}: {}: {}:{}", verdict.words(), one.counts.found(), one.path().display(), one.line);
                        if let Ok(mut shown) = shown.lock() {
                            shown[at] = verdict;
                        }
                    }
                    if fs::write(&file, unbroken).is_err() {
                        return;
                    }
                }
            });
        }
    });
    shown.into_inner().unwrap_or_default()
}

const fn tool(kind: Kind) -> &'static str {
    match kind {
        Kind::BarrierRemoved => "racecheck",
        _ => "memcheck",
    }
}

/// How many errors and warnings the tool counts in the program around a file, and one more where the program fails: what
/// goes wrong may end it before the tool has said anything, or its own check of the result sees it.
fn errors(top: &Path, file: &Path, tool: &str) -> Result<u64, String> {
    let Program { root, sources } = program_of(file, top).ok_or("no program that is built by itself")?;
    let work = tempfile::tempdir().map_err(|error| error.to_string())?;
    let binary = work.path().join("binary");
    let mut refusal = String::new();
    let built = [&["-lineinfo"][..], &["-lineinfo", "-rdc=true", "-lcudadevrt"]].iter().any(|flags| {
        let mut command = Command::new("timeout");
        command.args([BUILD, "nvcc", "-std=c++17", "-arch=native", "-w"]).args(*flags).arg("-o").arg(&binary);
        let own = ["", "inc", "include", "common"].map(|folder| root.join(folder));
        let shared = ["Common", "common", "cpp/common/inc"].map(|folder| top.join(folder));
        for include in own.iter().chain(&shared) {
            command.arg("-I").arg(include);
        }
        command.args(&sources).current_dir(&root);
        command.args(["-lcublas", "-lcufft", "-lcurand", "-lcusparse", "-lcusolver", "-lnvrtc", "-lcuda"]);
        command.output().is_ok_and(|output| {
            let printed = String::from_utf8_lossy(&output.stderr);
            refusal = printed
                .lines()
                .find(|line| line.contains("error") || line.contains("undefined"))
                .unwrap_or("")
                .to_owned();
            output.status.success()
        })
    });
    if !built {
        return Err(format!("not built: {refusal}"));
    }
    let output = Command::new("timeout")
        .args(["--kill-after=5", RUN, "compute-sanitizer", "--tool", tool, "--print-limit", "5000"])
        .arg(&binary)
        .args(arguments(&root))
        .current_dir(&root)
        .output()
        .map_err(|error| format!("compute-sanitizer: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    // `RACECHECK SUMMARY: 3 hazards displayed (1 error, 2 warnings)`, `ERROR SUMMARY: 0 errors`
    let line = printed.lines().rev().find_map(|line| line.split("SUMMARY:").nth(1));
    let count = line.and_then(|counts| counts.split_whitespace().next()?.parse().ok());
    let failed = u64::from(!output.status.success());
    count.map(|count: u64| count + failed).ok_or_else(|| format!("not run to its end: {:?}", output.status.code()))
}

/// The arguments that a script called `run` beside a program gives it.
fn arguments(root: &Path) -> Vec<String> {
    let script = fs::read_to_string(root.join("run")).unwrap_or_default();
    let line = script.lines().find_map(|line| line.trim().strip_prefix("./"));
    line.unwrap_or_default().split_whitespace().skip(1).map(str::to_owned).collect()
}

/// The sources that are built together.
struct Program {
    root: PathBuf,
    sources: Vec<PathBuf>,
}

/// The program that a file belongs to: the nearest folder above it with a `main`, the file's own or the only one, and all
/// other sources there that nobody includes and that have no `main` of their own.
fn program_of(file: &Path, top: &Path) -> Option<Program> {
    for root in file.ancestors().skip(1).take_while(|folder| folder.starts_with(top) && *folder != top) {
        let mut sources = Vec::new();
        list(root, root, &mut sources, 0);
        if sources.len() > MOST_SOURCES {
            return None;
        }
        let texts: Vec<String> =
            sources.iter().map(|source| cudalint_files::read_text(&root.join(source)).unwrap_or_default()).collect();
        let has_main = |text: &str| text.lines().any(|line| line.contains(" main(") && !line.trim_end().ends_with(';'));
        let mains: Vec<usize> = (0..sources.len()).filter(|at| has_main(&texts[*at])).collect();
        if mains.is_empty() {
            continue;
        }
        let own = file.strip_prefix(root).ok()?;
        let main = mains.iter().copied().find(|at| sources[*at] == own).or(match mains.as_slice() {
            [one] => Some(*one),
            _ => None,
        })?;
        let included = |source: &Path| {
            let name = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            texts.iter().any(|text| {
                let mut lines = text.lines().filter(|line| line.trim_start().starts_with("#include"));
                lines.any(|line| line.contains(&format!("{name}\"")))
            })
        };
        let wanted = |at: &usize| *at == main || (!mains.contains(at) && !included(&sources[*at]));
        let sources = (0..sources.len()).filter(wanted).map(|at| sources[at].clone()).collect();
        return Some(Program { root: root.to_owned(), sources });
    }
    None
}

/// Adds the sources below a folder, as paths from the root.
fn list(root: &Path, folder: &Path, into: &mut Vec<PathBuf>, depth: usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() && depth < 4 {
            list(root, &path, into, depth + 1);
        } else if path.extension().is_some_and(|end| ["cu", "cpp", "cc", "c"].iter().any(|kind| end == *kind))
            && let Ok(path) = path.strip_prefix(root)
        {
            into.push(path.to_owned());
        }
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path, depth: usize) -> Option<()> {
    fs::create_dir_all(to).ok()?;
    for entry in fs::read_dir(from).ok()?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() && depth < 6 {
            copy(&path, &target, depth + 1)?;
        } else if path.is_file() {
            fs::copy(&path, &target).ok()?;
        }
    }
    Some(())
}
