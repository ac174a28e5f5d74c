//! Measures the whole run against parsing alone, one thread against two, a run from the cache against one that fills it, and
//! peak memory.

use cudalint_syntax::kinds::{cuda_language, python_language};
use cudalint_syntax::{FileKind, SourceText, Span, scan_directives};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How often each measurement is taken; the median counts.
const ROUNDS: usize = 7;

/// A file with its text.
struct Read {
    kind: FileKind,
    text: String,
    /// Whether the run reports on it; else it is there because others include it.
    reported: bool,
}

/// The cargo profile whose binary is measured unless another is named: what users are given.
const PROFILE: &str = "dist";

/// The binary that is measured.
pub fn program(root: &Path) -> PathBuf {
    root.join("target").join(PROFILE).join("cudalint")
}

/// Benchmarks a program over folders and prints its ratios and the peak memory.
///
/// The parse alone is tree-sitter over the raw bytes, in this process, on one thread: once over the files that the run
/// reports on, once over all that it reads, which has the headers without GPU code that those include.
/// The whole run is the program, started anew each time, with everything on, reading and walking included.
///
/// # Errors
/// When the binary is missing, or a folder cannot be read.
pub fn run(program: &Path, folders: &[PathBuf]) -> Result<(), String> {
    if !program.is_file() {
        return Err(format!("{} is missing: run `cargo build --profile {PROFILE}` first", program.display()));
    }
    let mut found = BTreeMap::new();
    for folder in folders {
        collect(folder, &mut found)?;
    }
    let files = read_by_the_run(found);
    let reported: Vec<&Read> = files.iter().filter(|file| file.reported).collect();
    let all: Vec<&Read> = files.iter().collect();
    let mut parse_read = Vec::new();
    let mut parse = Vec::new();
    let mut one = Vec::new();
    let mut two = Vec::new();
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    let mut memory = 0;
    let cache = std::env::temp_dir().join(format!("cudalint-bench-{}", std::process::id()));
    let kept = ["--cache-dir", cache.to_str().ok_or("the folder for temporary files has a name that is no text")?];
    for round in 0..=ROUNDS {
        let parsed = parse_all(&reported)?;
        let parsed_read = parse_all(&all)?;
        let (single, peak) = whole(program, folders, 1, &["--no-cache"])?;
        let (double, _) = whole(program, folders, 2, &["--no-cache"])?;
        let (filling, _) = whole(program, folders, 1, &kept)?;
        let (filled, _) = whole(program, folders, 1, &kept)?;
        fs::remove_dir_all(&cache).map_err(|error| format!("{}: {error}", cache.display()))?;
        // The first round warms the caches.
        if round > 0 {
            parse.push(parsed);
            parse_read.push(parsed_read);
            one.push(single);
            two.push(double);
            cold.push(filling);
            warm.push(filled);
            memory = memory.max(peak);
        }
    }
    let (parse, one, two) = (median(&mut parse), median(&mut one), median(&mut two));
    let parse_read = median(&mut parse_read);
    let size = |files: &[&Read]| files.iter().map(|file| file.text.len()).sum::<usize>() as f64 / 1e6;
    println!("program          {} (parsing alone: that of xtask)", program.display());
    println!("files            {} ({:.2} MB)", reported.len(), size(&reported));
    println!("files read       {} ({:.2} MB)", all.len(), size(&all));
    println!("parse alone      {:.1} ms", milliseconds(parse));
    println!("parse all read   {:.1} ms", milliseconds(parse_read));
    println!("whole, 1 thread  {:.1} ms", milliseconds(one));
    println!("whole, 2 threads {:.1} ms", milliseconds(two));
    println!("whole / parse    {:.2} (files that are reported on)", one.as_secs_f64() / parse.as_secs_f64());
    println!("whole / parse    {:.2} (all files that are read)", one.as_secs_f64() / parse_read.as_secs_f64());
    println!("1 / 2 threads    {:.2}", one.as_secs_f64() / two.as_secs_f64());
    let (cold, warm) = (median(&mut cold), median(&mut warm));
    println!("cold cache       {:.1} ms", milliseconds(cold));
    println!("warm cache       {:.1} ms", milliseconds(warm));
    println!("warm / cold      {:.3}", warm.as_secs_f64() / cold.as_secs_f64());
    println!("peak memory      {:.1} MiB", memory as f64 / 1024.0);
    Ok(())
}

/// Compares deciding that Python files have no GPU code with parsing them, over all files below a folder without any, and
/// prints the ratio. Both work on texts in memory, on one thread.
///
/// # Errors
/// When the folder cannot be read, or has no such file.
pub fn python(folder: &Path) -> Result<(), String> {
    let mut found = BTreeMap::new();
    collect(folder, &mut found)?;
    let all = found.values().filter(|file| file.kind == FileKind::Python);
    let (with, files): (Vec<&Read>, Vec<&Read>) = all.partition(|file| file.reported);
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    if files.is_empty() {
        return Err(format!("{}: no Python without GPU code", folder.display()));
    }
    let mut parse = vec![];
    let mut decide = vec![];
    for _ in 0..ROUNDS {
        parse.push(parse_all(&files)?);
        let start = Instant::now();
        for file in &files {
            std::hint::black_box(cudalint_syntax::contains_gpu_python(std::hint::black_box(&file.text)));
        }
        decide.push(start.elapsed());
    }
    let (parse, decide) = (median(&mut parse), median(&mut decide));
    println!("files            {} ({:.2} MB) without GPU code, {} with", files.len(), bytes as f64 / 1e6, with.len());
    println!("parse            {:.1} ms", milliseconds(parse));
    println!("decide           {:.2} ms", milliseconds(decide));
    println!("parse / decide   {:.0}", parse.as_secs_f64() / decide.as_secs_f64());
    Ok(())
}

/// Reads every source below a folder.
fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Read>) -> Result<(), String> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Some(kind) = FileKind::of(&path) else { continue };
            let Ok(bytes) = cudalint_files::read_file(&path) else { continue };
            let Ok(source) = SourceText::from_bytes(bytes) else { continue };
            let Ok(path) = path.canonicalize() else { continue };
            let text = source.text().to_string();
            let reported = match kind {
                FileKind::Cuda => true,
                FileKind::CFamily => cudalint_syntax::contains_cuda(&text),
                FileKind::Python => cudalint_syntax::contains_gpu_python(&text),
                FileKind::Notebook | FileKind::Markdown => false,
            };
            found.insert(path, Read { kind, text, reported });
        }
    }
    Ok(())
}

/// The files that are reported on, and those that they include at any depth: beside the includer, or else whatever ends
/// in the path as written. So does the run where it knows of no include folder.
fn read_by_the_run(mut found: BTreeMap<PathBuf, Read>) -> Vec<Read> {
    let mut open: Vec<PathBuf> = found.iter().filter(|(_, file)| file.reported).map(|(path, _)| path.clone()).collect();
    let mut files = Vec::new();
    while let Some(path) = open.pop() {
        let Some(file) = found.remove(&path) else { continue };
        if matches!(file.kind, FileKind::Cuda | FileKind::CFamily) {
            for include in scan_directives(&file.text, Span::new(0, file.text.len())).includes {
                let beside = path.parent().map(|folder| folder.join(&include.path));
                match beside.filter(|_| !include.system).and_then(|path| path.canonicalize().ok()) {
                    Some(path) => open.push(path),
                    None => {
                        let target = Path::new(include.path.trim_start_matches("../"));
                        open.extend(found.keys().filter(|path| path.ends_with(target)).cloned());
                    }
                }
            }
        }
        files.push(file);
    }
    files
}

fn parse_all(files: &[&Read]) -> Result<Duration, String> {
    let mut cuda = tree_sitter::Parser::new();
    cuda.set_language(&cuda_language()).map_err(|error| error.to_string())?;
    let mut python = tree_sitter::Parser::new();
    python.set_language(&python_language()).map_err(|error| error.to_string())?;
    let start = Instant::now();
    for file in files {
        let parser = if file.kind == FileKind::Python { &mut python } else { &mut cuda };
        std::hint::black_box(parser.parse(&file.text, None));
    }
    Ok(start.elapsed())
}

/// One run of the program: its wall time, and its peak resident memory in KiB as the system last told it.
fn whole(program: &Path, folders: &[PathBuf], threads: u32, cache: &[&str]) -> Result<(Duration, u64), String> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["check", "--isolated", "--exit-zero", "--output-format", "json", "--threads", &threads.to_string()])
        .args(cache)
        .args(folders)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let status = format!("/proc/{}/status", child.id());
    let watcher = thread::spawn(move || {
        let mut peak = 0;
        while let Ok(text) = fs::read_to_string(&status) {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            match line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse().ok()) {
                Some(now) => peak = now,
                None => break,
            }
            thread::sleep(Duration::from_millis(2));
        }
        peak
    });
    child.wait().map_err(|error| error.to_string())?;
    let elapsed = start.elapsed();
    Ok((elapsed, watcher.join().unwrap_or(0)))
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
