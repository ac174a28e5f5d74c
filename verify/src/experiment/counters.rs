//! What code costs: the kernel runs under a profiler that counts for each instruction, and the instructions of the finding's
//! line are looked at; or it counts what a multiprocessor held of the launch.
// A judgement ends an experiment: it is made once, and its size does not matter.
#![allow(clippy::result_large_err)]

use super::Judgement;
use super::place::{Source, Spot, same_file};
use crate::lab::{Bench, Build, End, Run, RunOutcome, lock};
use crate::scenario::{CudaProgram, Program};
use crate::tools::counters::{Counted, Held, launches, read};
use crate::tools::probe_log::plain_kernel;
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::Shows;
use cudalint_findings::claim::Cost;
use cudalint_findings::model::{EvidenceRecord, FindingEntry, Verdict};

/// Launches of the kernel that are counted, at most.
const LAUNCHES: &str = "4";
/// Launches of a program that are counted, at most, where all its kernels are looked at.
const ALL_LAUNCHES: &str = "16";
/// The profiler's report, without its extension.
const REPORT: &str = "counters";
/// Sectors are too many from that many times the least on, as the rule counts them.
const SECTORS: u64 = 4;
/// Passes likewise.
const PASSES: u64 = 2;
/// Threads are too few where so many times as many would be a multiprocessor's.
const THREADS: f64 = 4.0;
/// What writes the records.
const BACK_END: &str = "Nsight Compute";

/// Performs the experiment on one program.
pub fn perform(finding: &FindingEntry, program: &Program, bench: &Bench<'_>) -> Judgement {
    let unsupported = |reason: &str| Judgement::without_run(Verdict::Unsupported, reason);
    let Program::Cuda(program) = program else {
        return unsupported("what code costs is counted in whole programs of CUDA C++ only");
    };
    let Shows::Cost { of } = finding.claim.shows else {
        return unsupported("the finding claims nothing that could be counted");
    };
    if program.project.is_some() {
        return Judgement::without_run(Verdict::Unviable, "nothing is counted in the project's own build");
    }
    let kernel = finding.claim.kernel.as_deref();
    let judged = Profile::take(program, bench, of, kernel).and_then(|profile| match of {
        Cost::Threads => profile.held(finding, program),
        _ => profile.counted(finding, of, program),
    });
    judged.unwrap_or_else(|judgement| judgement)
}

/// What is wrong with a program that must not cost too much, if anything is, and what was counted.
///
/// # Errors
/// Why nothing was counted.
pub fn of_clean(program: &CudaProgram, bench: &Bench<'_>, of: Cost) -> Result<(bool, String), String> {
    let profile = Profile::take(program, bench, of, None).map_err(|judgement| judgement.reason)?;
    if of == Cost::Threads {
        let all = profile.launches();
        // A grid that is small leaves a GPU empty by itself: of such the rule says nothing.
        let Some(least) = all.iter().map(resident).min_by(f64::total_cmp) else {
            return Err("the profiler shows no launches".to_owned());
        };
        let fine = least * THREADS >= 1.0;
        let text = format!(
            "{} launches, of which each has {:.0} % of a multiprocessor's threads or more",
            all.len(),
            least * 100.0
        );
        return Ok((fine, text));
    }
    let all = profile.instructions();
    let own: Vec<&Counted> = all.iter().filter(|it| it.executed > 0).collect();
    if own.is_empty() {
        return Err("the profiler shows no instructions with their lines".to_owned());
    }
    match own.iter().find_map(|it| Some((it, too_much(it, of)?))) {
        Some((it, said)) => Ok((false, format!("`{}` of {}:{} {said}", it.operation(), it.file, it.line))),
        None => Ok((true, format!("{} instructions: {}", own.len(), least(&own, of)))),
    }
}

/// Nsight Compute, which toolkits bring beside their compiler.
fn profiler(bench: &Bench<'_>) -> Option<Utf8PathBuf> {
    let beside = bench.lab.machine.nvcc.as_ref()?.path.parent()?.join("ncu");
    beside.is_file().then_some(beside)
}

/// A program that has run under the profiler.
struct Profile<'bench, 'lab> {
    bench: &'bench Bench<'lab>,
    profiler: Utf8PathBuf,
    run: RunOutcome,
}

impl<'bench, 'lab> Profile<'bench, 'lab> {
    /// Builds a program and runs it so that this is counted, of one kernel or of all.
    fn take(
        program: &CudaProgram,
        bench: &'bench Bench<'lab>,
        of: Cost,
        kernel: Option<&str>,
    ) -> Result<Self, Judgement> {
        let Some(profiler) = profiler(bench) else {
            let reason = "there is no `ncu` beside the CUDA compiler";
            return Err(Judgement::without_run(Verdict::Unsupported, reason));
        };
        let unviable = |problem: String| Judgement::without_run(Verdict::Unviable, problem);
        bench.write_all(&program.files).map_err(unviable)?;
        let build = Build { label: REPORT.to_owned(), units: vec![program.unit.clone()], flags: program.flags.clone() };
        let built = bench.build(&build).map_err(|failure| Judgement::of_build(&failure))?;
        let section = match of {
            Cost::Threads => &["--section", "Occupancy", "--section", "LaunchStats"][..],
            _ => &["--section", "SourceCounters", "--import-source", "yes"],
        };
        let count = if kernel.is_some() { LAUNCHES } else { ALL_LAUNCHES };
        let words = [&[profiler.as_str()][..], section, &["-f", "-o", REPORT, "-c", count]].concat();
        let mut command: Vec<String> = words.into_iter().map(str::to_owned).collect();
        if let Some(kernel) = kernel {
            command.extend(["-k".to_owned(), kernel_name(kernel)]);
        }
        command.push(built.to_string());
        command.extend(program.arguments.iter().cloned());
        if of != Cost::Threads {
            for path in sources(program) {
                quote(&path, program, bench);
            }
        }
        let run = {
            let _alone = lock(&bench.lab.counters);
            bench.run(&Run::on_device("counters".to_owned(), command, Vec::new()))
        };
        if let Some(judgement) = Judgement::of_end(&run, BACK_END) {
            return Err(judgement);
        }
        let told = run.stdout.lines().chain(run.stderr.lines()).find(|line| line.starts_with("==ERROR=="));
        if run.end != End::Exit(0) || told.is_some() {
            let told = told.map_or("", |line| line.trim_start_matches("==ERROR==").trim());
            // Who may not read counters learns nothing of the finding.
            let refused = ["ERR_NVGPUCTRPERM", "permission"].iter().any(|word| told.contains(word));
            let verdict = if refused { Verdict::Unsupported } else { Verdict::Unviable };
            return Err(Judgement::of_run(verdict, format!("nothing is counted: {told}"), BACK_END, &run, Vec::new()));
        }
        Ok(Self { bench, profiler, run })
    }

    /// A view of the report.
    fn view(&self, words: &[&str]) -> String {
        let report = format!("{REPORT}.ncu-rep");
        let command = [&[self.profiler.as_str(), "-i", &report, "--csv"][..], words].concat();
        let command = command.into_iter().map(str::to_owned).collect();
        let run = Run { device: false, ..Run::on_device("counters-view".to_owned(), command, Vec::new()) };
        self.bench.run(&run).stdout
    }

    fn instructions(&self) -> Vec<Counted> {
        read(&self.view(&["--page", "source", "--print-source", "cuda,sass"]))
    }

    fn launches(&self) -> Vec<Held> {
        launches(&self.view(&["--page", "raw", "--print-units", "base"]))
    }

    fn judge(&self, verdict: Verdict, reason: String, records: Vec<EvidenceRecord>) -> Judgement {
        Judgement::of_run(verdict, reason, BACK_END, &self.run, records)
    }

    /// The instructions of the finding's line.
    fn counted(&self, finding: &FindingEntry, of: Cost, program: &CudaProgram) -> Result<Judgement, Judgement> {
        let spot = Spot::primary(finding, program);
        let all = self.instructions();
        let here: Vec<&Counted> = all
            .iter()
            .filter(|it| it.executed > 0 && it.line == spot.line && same_file(&it.file, &spot.path))
            .collect();
        if here.is_empty() {
            let reason = match all.len() {
                0 => "the profiler shows no instructions with their lines".to_owned(),
                _ => format!("no instruction of {} is executed", spot.shown()),
            };
            return Err(self.judge(Verdict::Unviable, reason, Vec::new()));
        }
        let Some((worst, said)) =
            here.iter().filter_map(|it| Some((*it, too_much(it, of)?))).max_by_key(|(it, _)| weight(it, of))
        else {
            let reason = format!("the instructions of {} cost what they must: {}", spot.shown(), least(&here, of));
            return Ok(self.judge(Verdict::NotObserved, reason, Vec::new()));
        };
        let kernel = plain_kernel(&worst.kernel);
        let text = format!(
            "`{}` of `{kernel}` at {}, executed by {} warps, {said}",
            worst.operation(),
            spot.shown(),
            worst.executed
        );
        let record = EvidenceRecord {
            kernel: Some(kernel),
            ..EvidenceRecord::at("counters", &spot.path, spot.line, text.clone())
        };
        Ok(self.judge(Verdict::Confirmed, text, vec![record]))
    }

    /// What a multiprocessor held of the finding's launch.
    fn held(&self, finding: &FindingEntry, program: &CudaProgram) -> Result<Judgement, Judgement> {
        let spot = Spot::primary(finding, program);
        let all = self.launches();
        let threads = finding.claim.launch.as_ref().map(|launch| launch.block.iter().product::<u64>());
        let own = all.iter().filter(|held| threads.is_none_or(|threads| held.threads == threads));
        let Some(held) = own.min_by(|one, other| resident(one).total_cmp(&resident(other))) else {
            let reason = format!("the profiler shows no launch like that at {}", spot.shown());
            return Err(self.judge(Verdict::Unviable, reason, Vec::new()));
        };
        let kernel = plain_kernel(&held.kernel);
        let (there, most) = held.resident();
        let text = format!(
            "a launch of `{kernel}` with {} blocks of {} threads has {there:.0} of {most:.0} threads on a multiprocessor on average",
            held.blocks, held.threads
        );
        if resident(held) * THREADS >= 1.0 {
            return Ok(self.judge(Verdict::NotObserved, text, Vec::new()));
        }
        let record = EvidenceRecord::at("counters", &spot.path, spot.line, text.clone()).in_kernel(Some(kernel));
        Ok(self.judge(Verdict::Confirmed, text, vec![record]))
    }
}

/// The share of a multiprocessor's threads that a launch has.
fn resident(held: &Held) -> f64 {
    let (there, most) = held.resident();
    there / most.max(1.0)
}

/// The files that the program's text says that it is from.
fn sources(program: &CudaProgram) -> Vec<String> {
    let named = |line: &str| Some(line.strip_prefix("#line ")?.split_once(' ')?.1.trim().trim_matches('"').to_owned());
    let mut found: Vec<String> = program.files.iter().flat_map(|file| file.text.lines().filter_map(named)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The user's text under the name that the compiler knows it by, where the program has it inside of a harness: the profiler
/// shows lines of files that are there.
fn quote(path: &str, program: &CudaProgram, bench: &Bench<'_>) {
    let path = Utf8Path::new(path);
    if path.is_absolute() || program.unit == path || path.is_file() {
        return;
    }
    let mut text = String::new();
    let mut at = 1;
    for (number, line) in Source::find(path.as_str(), program).lines() {
        while at < number {
            text.push('\n');
            at += 1;
        }
        text.push_str(line);
        text.push('\n');
        at += 1;
    }
    if !bench.folder.join(path).exists() {
        drop(bench.write(path, &text));
    }
}

/// The name by which the profiler knows a kernel: without what it lies in and its template arguments.
fn kernel_name(kernel: &str) -> String {
    let name = kernel.split('<').next().unwrap_or(kernel);
    name.rsplit("::").next().unwrap_or(name).trim().to_owned()
}

/// What there is too much of in an instruction; none where it costs what it must.
fn too_much(it: &Counted, of: Cost) -> Option<String> {
    let each = |(much, least): (u64, u64)| (figure(much, it.executed), figure(least, it.executed));
    match of {
        Cost::Sectors if it.sectors.1 > 0 && it.sectors.0 >= SECTORS * it.sectors.1 => {
            let (much, least) = each(it.sectors);
            Some(format!(
                "asks for {} sectors of 32 bytes where {} would do: {much} for {least} each time",
                it.sectors.0, it.sectors.1
            ))
        }
        Cost::Passes if it.passes.1 > 0 && it.passes.0 >= PASSES * it.passes.1 => {
            let (much, least) = each(it.passes);
            Some(format!(
                "takes {} passes over shared memory where {} would do: {much} for {least} each time",
                it.passes.0, it.passes.1
            ))
        }
        Cost::Double if it.is_double() => Some("computes in double precision".to_owned()),
        _ => None,
    }
}

fn weight(it: &Counted, of: Cost) -> u64 {
    match of {
        Cost::Sectors => it.sectors.0,
        Cost::Passes => it.passes.0,
        Cost::Double | Cost::Threads | Cost::Wait | Cost::Barrier | Cost::Transfers => it.executed,
    }
}

/// What instructions cost that cost no more than they must.
fn least(all: &[&Counted], of: Cost) -> String {
    let sum = |number: &dyn Fn(&Counted) -> u64| all.iter().map(|it| number(it)).sum::<u64>();
    match of {
        Cost::Sectors => format!("{} sectors where {} would do", sum(&|it| it.sectors.0), sum(&|it| it.sectors.1)),
        Cost::Passes => format!("{} passes where {} would do", sum(&|it| it.passes.0), sum(&|it| it.passes.1)),
        Cost::Double => "none computes in double precision".to_owned(),
        Cost::Threads | Cost::Wait | Cost::Barrier | Cost::Transfers => String::new(),
    }
}

/// A count for each execution.
fn figure(count: u64, executed: u64) -> String {
    let each = count as f64 / executed.max(1) as f64;
    if each.fract() == 0.0 { format!("{each:.0}") } else { format!("{each:.1}") }
}

#[cfg(test)]
mod tests {
    use super::{Cost, Counted, kernel_name, too_much};

    #[test]
    fn what_costs_too_much_is_told_with_its_figures() {
        let store = Counted {
            executed: 32768,
            sectors: (1_048_576, 131_072),
            code: "STG.E [R4], R3".to_owned(),
            ..Counted::default()
        };
        let said = too_much(&store, Cost::Sectors).unwrap_or_default();
        assert!(said.contains("1048576 sectors of 32 bytes where 131072 would do: 32 for 4 each time"), "{said}");
        assert_eq!(too_much(&Counted { sectors: (131_072, 131_072), ..store.clone() }, Cost::Sectors), None);
        assert_eq!(too_much(&store, Cost::Passes), None);
        assert_eq!(too_much(&store, Cost::Double), None);
    }

    #[test]
    fn kernels_have_plain_names() {
        assert_eq!(kernel_name("ns::step<float>"), "step");
    }
}
