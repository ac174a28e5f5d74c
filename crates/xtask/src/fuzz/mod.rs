//! `cargo xtask fuzz`: feeds changed sources, settings, documents and reports to their readers, in processes with bounds on
//! time and memory. An input that ends its process, or takes far longer than its size is worth, is made smaller and kept.

mod child;
mod mutate;
mod process;
mod reduce;
mod targets;

pub use child::{run as feed, run_one as feed_one};
pub use process::Plan;
pub use targets::Target;

use process::{Process, Tally};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Feeds all targets for the time that was given and prints what came out.
///
/// # Errors
/// When files cannot be written or no process can be started, and at the end when an input failed.
pub fn run(plan: &Plan) -> Result<(), String> {
    let out = std::path::absolute(&plan.out).map_err(|error| error.to_string())?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let list = out.join("seeds.txt");
    let mut seeds = Vec::new();
    for folder in &plan.folders {
        collect(folder, &mut seeds, 0);
    }
    seeds.sort();
    let lines: Vec<String> = seeds.iter().map(|path| path.display().to_string()).collect();
    fs::write(&list, lines.join("\n")).map_err(|error| format!("{}: {error}", list.display()))?;
    let shares: u32 = plan.targets.iter().map(|target| target.share()).sum();
    let mut failed = 0;
    let mut total = Tally::default();
    println!("target            executions  core-hours  behaviours  failures  slowest");
    for (place, target) in plan.targets.iter().enumerate() {
        if !target.has_own_seeds() && !seeds.iter().any(|path| target.wants(path)) {
            println!("{:<16} no file to change: none of the folders has one of this kind", format!("{target:?}"));
            continue;
        }
        let time = Duration::from_secs(plan.minutes * 60) * target.share() / shares.max(1);
        let before = seconds_of_children();
        let tallies: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
            let jobs: Vec<_> = (0..plan.jobs)
                .map(|job| {
                    let (out, list) = (&out, &list);
                    let seed = plan.seed ^ (job << 32) ^ ((place as u64) << 48);
                    scope.spawn(move || feed_target(plan, *target, out, list, job, seed, time))
                })
                .collect();
            jobs.into_iter().map(|job| job.join().unwrap_or_else(|_| Err("a job failed".to_owned()))).collect()
        });
        let mut sum = Tally::default();
        for tally in tallies {
            sum.add(&tally?);
        }
        sum.seconds = seconds_of_children() - before;
        println!(
            "{:<16} {:>11} {:>11.2} {:>11} {:>9}  {} ms for {} bytes",
            format!("{target:?}"),
            sum.executions,
            sum.seconds / 3600.0,
            sum.behaviours,
            sum.failures.len(),
            sum.slowest.0 / 1000,
            sum.slowest.1
        );
        for failure in &sum.failures {
            println!("  {failure}");
        }
        failed += sum.failures.len();
        total.add(&sum);
    }
    println!("all: {} executions, {:.2} core-hours", total.executions, total.seconds / 3600.0);
    if failed > 0 { Err(format!("{failed} inputs failed; they are in {}", out.display())) } else { Ok(()) }
}

/// Seconds of processors' time that ended processes took: on a busy machine less than the clock tells. Nothing where the system
/// does not tell.
fn seconds_of_children() -> f64 {
    #[cfg(unix)]
    if let Ok(usage) = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN) {
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        return seconds(usage.user_time()) + seconds(usage.system_time());
    }
    0.0
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        self.seconds += other.seconds;
        self.behaviours = self.behaviours.max(other.behaviours);
        self.slowest = self.slowest.max(other.slowest);
        self.failures.extend(other.failures.iter().cloned());
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>, depth: u32) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth < 24 {
            collect(&path, found, depth + 1);
        } else if kind.is_file() && Target::ALL.iter().any(|target| target.wants(&path)) {
            let small = entry.metadata().is_ok_and(|data| data.len() < 200_000);
            found.extend(small.then_some(path));
        }
    }
}

/// Feeds one target, in one process after another: a new one after each that ended.
fn feed_target(
    plan: &Plan,
    target: Target,
    out: &Path,
    seeds: &Path,
    job: u64,
    seed: u64,
    time: Duration,
) -> Result<Tally, String> {
    let work = out.join(format!("work-{target:?}-{job}").to_lowercase());
    let until = Instant::now() + time;
    let mut tally = Tally::default();
    let mut round = 0;
    while Instant::now() < until {
        // Each process has a project folder of its own, which the input before has not changed.
        let _ = fs::remove_dir_all(&work);
        fs::create_dir_all(work.join(".git")).map_err(|error| format!("{}: {error}", work.display()))?;
        let round_seed = (seed + round).to_string();
        let (work_name, list) = (work.display().to_string(), seeds.display().to_string());
        let mut process = Process::start(plan.memory, &["feed", target.file(), &work_name, &list, &round_seed])?;
        round += 1;
        let ended = process.watch(plan, target, out, &work, until, &mut tally);
        let Some(why) = ended else { break };
        process.end();
        let name = format!("{why}-{target:?}-{job}-{round}-{}", target.file()).to_lowercase();
        let kept = out.join(&name);
        if fs::copy(work.join(target.file()), &kept).is_ok() {
            let size = reduce::reduce(plan, target, &kept, &work, until)?;
            tally.failures.push(format!("{name}: {size} bytes"));
        } else {
            tally.failures.push(format!("{why}: before the first input"));
            break;
        }
    }
    Ok(tally)
}

/// The hidden words with which the fuzzer starts itself.
///
/// # Errors
/// When they are not what the parent writes.
pub fn child(words: &[String]) -> Result<(), String> {
    cudalint_engine::keep_panics_quiet();
    let of_file = |file: &String| Target::ALL.into_iter().find(|target| target.file() == file);
    match words {
        [what, file, work, seeds, seed] if what == "feed" => {
            let target = of_file(file).ok_or("no such target")?;
            feed(target, Path::new(work), Path::new(seeds), seed.parse().map_err(|_| "no seed")?)
        }
        [what, file, work, input] if what == "one" => {
            feed_one(of_file(file).ok_or("no such target")?, Path::new(work), Path::new(input))
        }
        _ => Err("not meant to be called by hand".to_owned()),
    }
}
