//! `cargo xtask differential --unlaunched`: each random kernel also as a file without its launch. What is found there must be a fault under
//! some launch of those that the finding's assumption describes: our own executor is asked for launches with the block and the
//! numbers that are named, and with `--gpu` the tools of compute-sanitizer. What the kernel's own launch shows and the file
//! without it does not is counted by what stands against it.

mod fault;
mod gpu;
mod launches;
mod look;
mod tally;

use super::PER_PROGRAM;
use super::generate::{self, HELPERS, Kernel};
use super::total::Total as _;
use crate::each::each;
use crate::random::Random;
use cudalint_findings::Confidence;
use fault::Class;
use gpu::Shown;
use launches::{Launch, assumed, launched};
use look::{Seen, Told, look};
use std::path::Path;
use std::time::Instant;
use std::{fmt, fs};
use tally::{Outcome, Tally};

/// Numbers with which it is asked whether a fault shows in the guessed block.
const NUMBERS: [i64; 4] = [1, 40, 100, 2048];

/// What is done.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Folder for programs and what is wrong.
    pub out: &'a Path,
    /// Kernels, and the seed that they are made from.
    pub count: usize,
    pub seed: u64,
    /// Threads.
    pub jobs: usize,
    /// Seconds after which no more kernels are begun; what was compared until then is told.
    pub seconds: Option<u64>,
    /// Whether this machine's GPU is asked, too.
    pub gpu: bool,
}

/// What came of some kernels that stand in one program for the GPU.
struct Group {
    tally: Tally,
    kernels: usize,
    gpu: Option<gpu::Outcome>,
}

/// Generates kernels, lints them without their launches, and compares with executions of launches. Each group of kernels is told of as
/// soon as it is through.
///
/// # Errors
/// When files cannot be written, the tools are missing, or a finding is one that no launch shows.
pub fn run(plan: &Plan<'_>) -> Result<(), String> {
    let out = std::path::absolute(plan.out).map_err(|error| error.to_string())?;
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let begin = Instant::now();
    let is_over = || plan.seconds.is_some_and(|seconds| begin.elapsed().as_secs() >= seconds);
    let mut random = Random::new(plan.seed);
    let kernels: Vec<Kernel> = (0..plan.count).map(|number| generate::kernel(&mut random, number)).collect();
    let groups: Vec<&[Kernel]> = kernels.chunks(PER_PROGRAM).collect();
    let results = each(groups.len(), plan.jobs, &|number| {
        let group = group(&out, number, groups[number], plan.gpu, &is_over)?;
        if group.kernels > 0 {
            println!("[{} s] group {number}: {group}", begin.elapsed().as_secs());
        }
        Ok::<_, String>(group)
    });
    let (mut tally, mut done, mut gpu) = (Tally::default(), 0, gpu::Total::default());
    for result in results {
        let group = result?;
        tally.add(group.tally);
        done += group.kernels;
        gpu.add(group.gpu);
    }
    println!("{done} kernels without their launches, seed {}: {tally}", plan.seed);
    if plan.gpu {
        print!("{gpu}");
    }
    if tally.wrong() + gpu.absent() == 0 { Ok(()) } else { Err("a finding is one that no launch shows".into()) }
}

/// Compares the kernels of a group until the time is over.
fn group(
    out: &Path,
    number: usize,
    kernels: &[Kernel],
    gpu: bool,
    is_over: &dyn Fn() -> bool,
) -> Result<Group, String> {
    let mut group = Group { tally: Tally::default(), kernels: 0, gpu: None };
    let mut shown = Vec::new();
    for kernel in kernels {
        if is_over() {
            break;
        }
        let (own, told, launches) = one(out, kernel)?;
        group.tally.add(own);
        group.kernels += 1;
        if !told.is_empty() {
            shown.push(Shown { kernel, told, launches });
        }
    }
    if gpu && !shown.is_empty() && !is_over() {
        group.gpu = Some(gpu::compare(out, number, &shown)?);
    }
    Ok(group)
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kernels, {}", self.kernels, self.tally.short())?;
        self.gpu.as_ref().map_or(Ok(()), |gpu| write!(f, "; {gpu}"))
    }
}

/// The kernel's own launch, the file without it, and the launches that what is told there describes.
fn one(out: &Path, kernel: &Kernel) -> Result<(Tally, Vec<Told>, Vec<Launch>), String> {
    let mut tally = Tally::default();
    let bare = format!("{HELPERS}{}", kernel.device);
    let unlaunched = look(&bare)?;
    let own = look(&format!("{bare}{}int main() {{\n    run_{}();\n    return 0;\n}}\n", kernel.host, kernel.name))?;
    let mut shown_with = Vec::new();
    let mut found = Vec::new();
    for told in unlaunched.told.iter().filter(|told| told.confidence != Confidence::Possible) {
        let Some(run) = &unlaunched.guessed else { continue };
        let launches = assumed(run, told);
        let mut showing = None;
        for (number, launch) in launches.iter().enumerate() {
            let seen = look(&format!("{bare}{}", launched(kernel, launch)))?;
            if seen.faults.iter().any(|fault| fault.is(&told.fault)) {
                showing = Some((number, launch));
                break;
            }
        }
        match showing {
            Some((number, launch)) => {
                tally.shown(told, number == 0);
                if let (0, Some(least)) = (number, told.least) {
                    for n in [least + 1, least + 2, 2 * least + 1, 1024.max(least)] {
                        let seen = look(&format!("{bare}{}", launched(kernel, &Launch { n, ..launch.clone() })))?;
                        tally.larger(seen.faults.iter().any(|fault| fault.is(&told.fault)));
                    }
                }
                found.push(told.clone());
                if !shown_with.contains(launch) {
                    shown_with.push(launch.clone());
                }
            }
            None => {
                let file = out.join(format!("{}.cu", kernel.name));
                fs::write(&file, &bare).map_err(|error| format!("{}: {error}", file.display()))?;
                tally.not_shown(&file, told);
            }
        }
    }
    for told in own.told.iter().filter(|told| told.confidence == Confidence::Definite) {
        let answer = |is: &dyn Fn(&Told) -> bool| unlaunched.told.iter().any(is);
        let outcome = if answer(&|it| it.confidence != Confidence::Possible && it.fault.is(&told.fault)) {
            Outcome::Told
        } else if answer(&|it| it.confidence != Confidence::Possible && it.fault.class == told.fault.class) {
            Outcome::OtherPlace
        } else {
            Outcome::Silent(silence(kernel, &bare, &unlaunched, told)?)
        };
        let sample = tally.launched(kernel, told, outcome);
        if sample {
            let file = out.join(format!("silent_{}.cu", kernel.name));
            fs::write(&file, format!("{bare}{}", kernel.host))
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
    }
    Ok((tally, found, shown_with))
}

/// Why a file without a launch tells nothing of a fault that the kernel's own launch shows.
fn silence(kernel: &Kernel, bare: &str, unlaunched: &Seen, told: &Told) -> Result<String, String> {
    if let Some(why) = told.fault.by_design() {
        return Ok(why.to_owned());
    }
    if unlaunched.told.iter().any(|it| it.fault.class == told.fault.class) {
        return Ok("told as possible".to_owned());
    }
    let Some(run) = &unlaunched.guessed else {
        return Ok("not executed: no block is guessed".to_owned());
    };
    let turned = run.block[1] == 1 && kernel.device.contains("threadIdx.y");
    let mut shown = Vec::new();
    let mut leaves = false;
    for n in NUMBERS {
        for blocks in [1, 3] {
            let launch = Launch { grid: [blocks, 1, 1], block: run.block, n };
            let seen = look(&format!("{bare}{}", launched(kernel, &launch)))?;
            leaves |= seen.faults.iter().any(|fault| fault.class == Class::SharedBounds);
            let races = seen.faults.iter().filter(|fault| fault.is(&told.fault)).map(|fault| (n, blocks, fault.race));
            shown.extend(races.collect::<Vec<_>>());
        }
    }
    let against =
        if unlaunched.causes.is_empty() { String::new() } else { format!("; {}", unlaunched.causes.join(", ")) };
    if shown.is_empty() && turned {
        return Ok("taken for a kernel of one row of threads, since its rows all do the same".to_owned());
    }
    if shown.is_empty() {
        return Ok(format!("shows with other blocks or numbers than those that are guessed{against}"));
    }
    if leaves {
        return Ok("the kernel leaves its shared arrays with the guessed block".to_owned());
    }
    if shown.iter().all(|(.., race)| race.alike) {
        return Ok("both threads store, perhaps the same value".to_owned());
    }
    if shown.iter().all(|(.., race)| race.between_blocks || race.alike) {
        return Ok(format!("shows between two blocks alone{against}"));
    }
    let with = |number: i64| shown.iter().any(|(n, blocks, race)| *n == number && *blocks == 1 && !race.alike);
    let when = if NUMBERS.into_iter().all(with) { "with every `n`" } else { "with some `n`" };
    Ok(format!("shows with the guessed block {when}{against}"))
}
