//! Measures the whole run against parsing alone, one thread against two, and peak memory.

use cudalint_syntax::kinds::{cuda_language, python_language};
use cudalint_syntax::{FileKind, SourceText};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How often each measurement is taken; the median counts.
const ROUNDS: usize = 7;

/// Benchmarks the release binary over folders and prints both ratios and the peak memory.
///
/// The parse alone is tree-sitter over the raw bytes of the files that the run lints, in this process, on one thread.
/// The whole run is the program, started anew each time, with everything on, reading and walking included.
///
/// # Errors
/// When the binary is missing, or a folder cannot be read.
pub fn run(root: &Path, folders: &[PathBuf]) -> Result<(), String> {
    let program = root.join("target/release/cudalint");
    if !program.is_file() {
        return Err(format!("{} is missing: run `cargo build --release` first", program.display()));
    }
    let mut files = Vec::new();
    for folder in folders {
        collect(folder, &mut files)?;
    }
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    let mut parse = Vec::new();
    let mut one = Vec::new();
    let mut two = Vec::new();
    let mut memory = 0;
    for round in 0..=ROUNDS {
        let parsed = parse_all(&files)?;
        let (single, peak) = whole(&program, folders, 1)?;
        let (double, _) = whole(&program, folders, 2)?;
        // The first round warms the caches.
        if round > 0 {
            parse.push(parsed);
            one.push(single);
            two.push(double);
            memory = memory.max(peak);
        }
    }
    let (parse, one, two) = (median(&mut parse), median(&mut one), median(&mut two));
    println!("files            {} ({:.2} MB)", files.len(), bytes as f64 / 1e6);
    println!("parse alone      {:.1} ms", milliseconds(parse));
    println!("whole, 1 thread  {:.1} ms", milliseconds(one));
    println!("whole, 2 threads {:.1} ms", milliseconds(two));
    println!("whole / parse    {:.2}", one.as_secs_f64() / parse.as_secs_f64());
    println!("1 / 2 threads    {:.2}", one.as_secs_f64() / two.as_secs_f64());
    println!("peak memory      {:.1} MiB", memory as f64 / 1024.0);
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<(FileKind, String)>) -> Result<(), String> {
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
            let Ok(bytes) = fs::read(&path) else { continue };
            let Ok(source) = SourceText::from_bytes(bytes) else { continue };
            let text = source.text().to_string();
            let linted = match kind {
                FileKind::Cuda => true,
                FileKind::CFamily => cudalint_syntax::contains_cuda(&text),
                FileKind::Python => cudalint_syntax::contains_gpu_python(&text),
                FileKind::Markdown => false,
            };
            if linted {
                files.push((kind, text));
            }
        }
    }
    Ok(())
}

fn parse_all(files: &[(FileKind, String)]) -> Result<Duration, String> {
    let mut cuda = tree_sitter::Parser::new();
    cuda.set_language(&cuda_language()).map_err(|error| error.to_string())?;
    let mut python = tree_sitter::Parser::new();
    python.set_language(&python_language()).map_err(|error| error.to_string())?;
    let start = Instant::now();
    for (kind, text) in files {
        let parser = if *kind == FileKind::Python { &mut python } else { &mut cuda };
        std::hint::black_box(parser.parse(text, None));
    }
    Ok(start.elapsed())
}

/// One run of the program: its wall time, and its peak resident memory in KiB as the system last told it.
fn whole(program: &Path, folders: &[PathBuf], threads: u32) -> Result<(Duration, u64), String> {
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(["check", "--isolated", "--exit-zero", "--output-format", "json", "--threads", &threads.to_string()])
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
