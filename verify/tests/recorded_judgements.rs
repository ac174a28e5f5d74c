//! Verdicts of whole experiments under compute-sanitizer, on a machine whose tools are scripts: the compiler makes programs
//! that leave a probe's log, and the tool hands out what a real one said (`recorded/`), hangs, crashes or talks nonsense.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fault_support;
mod lab_support;
mod recorded_support;

use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::lab::Limits;
use cudalint_verify::machine::{Machine, Python};
use cudalint_verify::scenario::{CudaProgram, Origin, Program, PythonProgram, ScenarioFile};
use fault_support::{addr2line, calls};
use lab_support::{Place, compiler, limits, program};
use recorded_support::claim_support::{bad_address, failed_call, refused_launch};
use recorded_support::{accesses, finding, launch};
use serde_json::json;
use std::path::Path;
use std::time::Duration;

/// What the tool and the program do.
struct Scene {
    place: Place,
    /// Lines of the probe's log.
    log: Vec<String>,
    /// How the program ends, alone.
    ends: &'static str,
    /// What the program says on standard error, alone.
    complains: String,
    /// What the compiler does, where it is not the usual one.
    nvcc: Option<String>,
    /// The tool: a shell script that finds its files in `$report` and `$text`.
    tool: String,
    origin: Origin,
    limits: Limits,
}

impl Scene {
    /// A program whose run alone leaves these lines, under a tool that says what was recorded.
    fn new(recorded: &str, log: &[String]) -> Self {
        Self {
            place: Place::new(),
            log: calls(log),
            ends: "exit 0",
            complains: String::new(),
            nvcc: None,
            tool: says(recorded),
            origin: Origin::AsWritten,
            limits: limits(),
        }
    }

    fn machine(&self) -> Machine {
        let log = self.place.path.join("probe.log");
        std::fs::write(&log, self.log.join("\n") + "\n").unwrap();
        let complaint = self.place.path.join("complaint");
        std::fs::write(&complaint, &self.complains).unwrap();
        let body = format!(
            "test -z \"$CUDALINT_PROBE_LOG\" || cat {log} > \"$CUDALINT_PROBE_LOG\"\ncat {complaint} >&2\n{}",
            self.ends
        );
        let nvcc = self.nvcc.clone().unwrap_or_else(|| compiler(&body));
        let tool = format!(
            "echo run >> {}/tool-runs\n\
             while [ $# -gt 0 ]; do case $1 in --save) report=$2; shift;; --log-file) text=$2; shift;; esac; shift; done\n{}",
            self.place.path, self.tool
        );
        let mut machine = self.place.machine(&nvcc, &tool);
        machine.addr2line = Some(program(self.place.script("addr2line", addr2line())));
        machine.compute_sanitizer.as_mut().unwrap().version = "2025.3.1".to_owned();
        machine
    }

    fn judge_on(&self, machine: Machine, finding: &FindingEntry) -> Judgement {
        let lab = self.place.lab(machine, self.limits.clone());
        let bench = lab.bench("one").unwrap();
        let unit = camino::Utf8PathBuf::from(finding.path.as_str());
        let program = Program::Cuda(CudaProgram {
            origin: self.origin,
            unit: unit.clone(),
            files: vec![ScenarioFile { path: unit, text: "// a program\n".repeat(40) }],
            flags: Vec::new(),
            arguments: Vec::new(),
            reproducer: None,
            project: None,
        });
        experiment::perform(finding, &program, &bench)
    }

    fn judge(&self, finding: &FindingEntry) -> Judgement {
        self.judge_on(self.machine(), finding)
    }

    /// How often the tool was started.
    fn tool_runs(&self) -> usize {
        self.place.read("tool-runs").lines().count()
    }
}

/// A tool that says what was recorded.
fn says(recorded: &str) -> String {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(recorded);
    let base = base.to_str().unwrap();
    format!("test -e {base}.xml && cat {base}.xml > $report\ncat {base}.txt > $text")
}

/// A launch of a kernel, as the probe writes it down; that of line 6 of `program.cu` where `at` is 4096.
fn launched(kernel: &str, real: i64) -> String {
    json!({
        "event": "launch", "sequence": 6, "thread": 0, "kernel": kernel, "grid": [4, 1, 1], "block": [256, 1, 1],
        "shared": 0, "real": real, "handed": real, "at": 4096, "frames": [],
    })
    .to_string()
}

/// A call in a file, as the probe writes it down.
fn called(function: &str, file: &str, line: u32, real: i64) -> String {
    json!({
        "event": "call", "sequence": line, "thread": 0, "function": function, "file": file, "line": line, "id": line,
        "kind": 1, "real": real, "handed": real,
    })
    .to_string()
}

fn overrun(line: u32, function: &str) -> FindingEntry {
    let witness = accesses(&[("read", line, 1000, 1000, 3, 240)]);
    finding("memcheck", "global_read.cu", line, json!({"function": function, "witness": witness}))
}

#[test]
fn a_matching_report_confirms() {
    let scene = Scene::new("global_read.memcheck", &[launched("scale(float const*, float*)", 0)]);
    let judgement = scene.judge(&overrun(6, "scale"));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let evidence = &judgement.evidence;
    assert_eq!(evidence.back_end, "compute-sanitizer memcheck 2025.3.1");
    assert_eq!(
        (evidence.device.as_deref(), evidence.log.as_deref()),
        (Some("GPU 0"), Some("scenarios/one/memcheck.xml"))
    );
    let record = &evidence.records[0];
    assert_eq!((record.path.as_deref(), record.line), (Some("global_read.cu"), Some(6)));
    assert_eq!(record.kernel.as_deref(), Some("scale(const float *, float *)"));
    assert!(evidence.records.len() <= 8 && record.thread.is_some());
    assert!(evidence.command.as_deref().unwrap().contains("--tool memcheck"));
}

#[test]
fn another_line_kernel_or_kind_is_told_and_confirms_nothing() {
    let witness = accesses(&[("write", 6, 1000, 1000, 3, 240)]);
    let wrong_kind = finding("memcheck", "global_read.cu", 6, json!({"function": "scale", "witness": witness}));
    for wrong in [overrun(5, "scale"), overrun(6, "unscale"), wrong_kind] {
        let scene = Scene::new("global_read.memcheck", &[launched("scale(float const*, float*)", 0)]);
        let judgement = scene.judge(&wrong);
        assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
        let words = "memcheck saw an invalid global read of 4 bytes in `scale` at /project/global_read.cu:6, which ";
        assert!(judgement.reason.contains(words), "{}", judgement.reason);
        assert!(!judgement.evidence.records.is_empty());
    }
}

#[test]
fn a_clean_report_of_a_run_that_came_there_is_not_observed() {
    let reached = Scene::new("clean.memcheck", &[launched("scale(float const*, float*)", 0)]);
    let judgement = reached.judge(&overrun(6, "scale"));
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.starts_with("the run came to the finding's place"), "{}", judgement.reason);
    assert!(judgement.evidence.records.is_empty());
    // Nothing tells whether an inlined function was reached, but the program ran to its end.
    let unknown = Scene::new("clean.memcheck", &[launched("scale(float const*, float*)", 0)]);
    let judgement = unknown.judge(&overrun(6, "inlined"));
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.starts_with("the program ran to its end"), "{}", judgement.reason);
}

#[test]
fn a_run_that_never_came_there_decides_nothing() {
    let failed = Scene::new("clean.memcheck", &[launched("scale(float const*, float*)", 1)]);
    let judgement = failed.judge(&overrun(6, "scale"));
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    assert!(judgement.reason.contains("a launch failed with status 1"), "{}", judgement.reason);
    let mut scene = Scene::new("exit_status.memcheck", &[]);
    scene.ends = "exit 3";
    let judgement = scene.judge(&overrun(6, "scale"));
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    let none = Scene::new("no_cuda.memcheck", &[]).judge(&overrun(6, "scale"));
    assert_eq!(none.verdict, Verdict::Unviable);
    assert!(none.reason.contains("without a call of CUDA"), "{}", none.reason);
}

#[test]
fn a_fault_before_the_place_decides_nothing() {
    // The finding's kernel is another one, which was launched after the fault and never ran.
    let scene = Scene::new("two_launches.memcheck", &[launched("fill(int*, int)", 0), launched("later(int*)", 0)]);
    let later = finding("memcheck", "two_launches.cu", 30, json!({"function": "later", "witness": accesses(&[])}));
    let judgement = scene.judge(&later);
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    assert!(judgement.reason.contains("another fault"), "{}", judgement.reason);
    // Where the kernel alone is ended, later ones have run.
    let scene = Scene::new("inlined.memcheck-kernel", &[launched("later(int*)", 0)]);
    let later = FindingEntry { path: "inlined.cu".to_owned(), ..later };
    assert_eq!(scene.judge(&later).verdict, Verdict::NotObserved);
}

#[test]
fn records_that_were_left_out_decide_nothing() {
    let scene = Scene::new("many_errors.memcheck", &[launched("fill(int*)", 0)]);
    let judgement = scene.judge(&finding("memcheck", "many_errors.cu", 20, json!({"function": "fill"})));
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    assert!(judgement.reason.contains("left out 1317 records"), "{}", judgement.reason);
}

/// A finding that no watchpoint can show.
fn uninitialized() -> FindingEntry {
    finding("initcheck", "uninitialized_read.cu", 5, json!({"function": "add"}))
}

#[test]
fn a_tool_that_is_missing_refuses_crashes_or_talks_nonsense_is_unsupported() {
    let scene = |tool: &str| {
        let mut scene = Scene::new("clean.initcheck", &[launched("add(float const*, float*)", 0)]);
        scene.tool = tool.to_owned();
        scene
    };
    let missing = scene("");
    let machine = Machine { compute_sanitizer: None, ..missing.machine() };
    let judgement = missing.judge_on(machine, &uninitialized());
    assert_eq!((judgement.verdict, judgement.reason.as_str()), (Verdict::Unsupported, "there is no compute-sanitizer"));
    for (tool, words) in [
        (
            "printf '========= COMPUTE-SANITIZER\\n========= Error: Device not supported.\\n' > $text",
            "Device not supported",
        ),
        ("echo \"unrecognised option '--xml'\" > $text; exit 255", "unrecognised option"),
        ("exit 1", "did not come to its end"),
        ("kill -SEGV $$", "did not come to its end"),
        ("head -c 300000 /dev/urandom > $report; head -c 300000 /dev/urandom > $text", "did not come to its end"),
        ("echo '<html>not found</html>' > $report", "did not come to its end"),
        ("printf '<?xml version=\"1.0\"?><ComputeSanitizerOutput><record><kind>Init' > $report", "cut off"),
    ] {
        let judgement = scene(tool).judge(&uninitialized());
        assert_eq!(judgement.verdict, Verdict::Unsupported, "{tool}: {}", judgement.reason);
        assert!(judgement.reason.contains(words), "{tool}: {}", judgement.reason);
    }
}

#[test]
fn a_run_that_takes_too_long_is_a_timeout_unless_it_has_already_shown_the_finding() {
    let mut scene = Scene::new("clean.initcheck", &[launched("add(float const*, float*)", 0)]);
    scene.limits = Limits { run: Duration::from_secs(2), least: Duration::from_secs(2), ..limits() };
    scene.tool = "echo '========= COMPUTE-SANITIZER' > $text; sleep 60".to_owned();
    let judgement = scene.judge(&uninitialized());
    assert_eq!(judgement.verdict, Verdict::Timeout, "{}", judgement.reason);
    // What it printed before it was ended counts: the recorded run took longer than it was given, too.
    scene.tool = format!("{}; sleep 60", says("api_copy_short.initcheck"));
    let own = finding("initcheck", "api_copy_short.cu", 5, json!({"function": "scale"}));
    let judgement = scene.judge(&own);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let mut alone = Scene::new("clean.initcheck", &[]);
    alone.limits = scene.limits.clone();
    alone.ends = "sleep 60";
    assert_eq!(alone.judge(&uninitialized()).verdict, Verdict::Timeout);
    assert_eq!(alone.tool_runs(), 0);
}

#[test]
fn each_tool_confirms_its_own_findings() {
    let race = [("write", 9, 1, 256, 0, 1), ("read", 10, 1, 256, 0, 0)];
    for (recorded, kernel, own) in [
        (
            "race_shared.racecheck",
            "reduce(int const*, int*)",
            finding("racecheck", "race_shared.cu", 10, json!({"function": "reduce", "witness": accesses(&race)})),
        ),
        ("uninitialized_read.initcheck", "add(float const*, float*)", uninitialized()),
        (
            "barrier_warp.synccheck",
            "half(int*)",
            finding("synccheck", "barrier_warp.cu", 8, json!({"function": "half"})),
        ),
        ("leak.leakcheck", "", finding("leakcheck", "leak.cu", 5, json!({"function": "make"}))),
    ] {
        let log = if kernel.is_empty() { called("cudaMalloc", "leak.cu", 5, 0) } else { launched(kernel, 0) };
        let judgement = Scene::new(recorded, std::slice::from_ref(&log)).judge(&own);
        assert_eq!(judgement.verdict, Verdict::Confirmed, "{recorded}: {}", judgement.reason);
        let tool = recorded.rsplit('.').next().unwrap();
        let named = if tool == "leakcheck" { "memcheck --leak-check full" } else { tool };
        assert_eq!(judgement.evidence.back_end, format!("compute-sanitizer {named} 2025.3.1"));
        let clean = Scene::new("clean.memcheck", &[log]).judge(&own);
        assert_eq!(clean.verdict, Verdict::NotObserved, "{recorded}: {}", clean.reason);
    }
}

#[test]
fn a_program_that_the_probe_spoils_is_built_without_it() {
    let mut scene = Scene::new("global_read.memcheck", &[]);
    let plain = compiler("exit 0");
    scene.nvcc =
        Some(format!("case \"$*\" in *cudalint_probe*) echo 'hooks.cuh(1): error: no' >&2; exit 1;; esac\n{plain}"));
    assert_eq!(scene.judge(&overrun(6, "scale")).verdict, Verdict::Confirmed);
    scene.nvcc = Some("echo 'a.cu(3): error: expected a \";\"' >&2; exit 1".to_owned());
    let refused = scene.judge(&overrun(6, "scale"));
    assert_eq!(refused.verdict, Verdict::Unviable);
    assert!(refused.reason.contains("the compiler refuses it"), "{}", refused.reason);
}

#[test]
fn the_host_touching_device_memory_is_known_by_its_signal_and_line() {
    // `addr2line` says that 4096 is on line 6 of program.cu.
    let signal = |number: i32| json!({"event": "signal", "number": number, "frames": [99, 4096]}).to_string();
    let shows = bad_address(json!({"kind": "host"}));
    let own = |line| finding("memcheck", "program.cu", line, json!({"function": "main", "shows": shows}));
    let scene = |number| {
        let mut scene = Scene::new("host_fault.memcheck", &[signal(number)]);
        scene.log.retain(|line| !line.contains("exit"));
        scene.ends = "kill -SEGV $$";
        scene
    };
    let judgement = scene(11).judge(&own(6));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = &judgement.evidence.records[0];
    assert_eq!((record.kind.as_str(), record.path.as_deref(), record.line), ("SIGSEGV", Some("program.cu"), Some(6)));
    assert!(judgement.evidence.log.as_deref().unwrap().contains("alone.probe.jsonl"));
    let elsewhere = scene(11).judge(&own(7));
    assert_eq!(elsewhere.verdict, Verdict::Unviable, "{}", elsewhere.reason);
    assert!(elsewhere.reason.contains("program.cu:6, before"), "{}", elsewhere.reason);
    assert_eq!(scene(6).judge(&own(6)).verdict, Verdict::Unviable);
}

/// A finding about a call of `program.cu`.
fn failing(line: u32, function: &str) -> FindingEntry {
    finding("api-error", "program.cu", line, json!({"function": "main", "shows": failed_call(function)}))
}

const COPY: &str = "cudaMemcpy";

#[test]
fn a_call_that_fails_confirms_and_one_that_succeeds_refutes() {
    let scene = |real| Scene::new("clean.memcheck", &[called("cudaMemset", "/src/program.cu", 12, real)]);
    let judgement = scene(1).judge(&failing(12, "cudaMemset"));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("`cudaMemset` returned cudaErrorInvalidValue (error 1)"), "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].line, Some(12));
    let succeeded = scene(0).judge(&failing(12, "cudaMemset"));
    assert_eq!(succeeded.verdict, Verdict::Refuted, "{}", succeeded.reason);
    // With values that a harness made up, the success of a call says less of a finding with assumptions.
    let mut harness = scene(0);
    harness.origin = Origin::Around;
    let likely = FindingEntry { confidence: cudalint_findings::model::Confidence::Likely, ..failing(12, "cudaMemset") };
    assert_eq!(harness.judge(&likely).verdict, Verdict::NotObserved);
    let elsewhere = scene(1).judge(&failing(13, "cudaMemset"));
    assert_eq!(elsewhere.verdict, Verdict::Unviable, "{}", elsewhere.reason);
    assert!(elsewhere.reason.contains("never came to program.cu:13"), "{}", elsewhere.reason);
    let another = scene(1).judge(&failing(12, "cudaMalloc"));
    assert_eq!(another.verdict, Verdict::Unviable, "{}", another.reason);
    for (status, words) in [(719, "after a kernel has failed"), (2, "a reason of the machine's")] {
        let judgement = scene(status).judge(&failing(12, "cudaMemset"));
        assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
        assert!(judgement.reason.contains(words), "{}", judgement.reason);
    }
    assert_eq!(scene(1).tool_runs(), 0, "no tool is needed");
}

/// A tool that says what was recorded, less the end, and goes on for so many seconds.
fn goes_on(place: &Place, recorded: &str, seconds: u32) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(format!("{recorded}.txt"));
    format!("grep -v SUMMARY {} > $text\nsleep {seconds}\ntouch {}/finished", file.display(), place.path)
}

#[test]
fn a_run_under_a_tool_is_ended_when_it_has_shown_its_finding() {
    let scene = |seconds| {
        let mut scene = Scene::new("clean.memcheck", &[launched("scale(float const*, float*)", 0)]);
        scene.tool = goes_on(&scene.place, "global_read.memcheck", seconds);
        let long = Duration::from_secs(300);
        scene.limits = Limits { run: long, least: long, ..scene.limits };
        scene
    };
    let long = scene(60);
    let judgement = long.judge(&overrun(6, "scale"));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(!long.place.path.join("finished").exists(), "it came to its end");
    // What shows something else ends nothing.
    let other = scene(4);
    let judgement = other.judge(&overrun(3, "scale"));
    assert_ne!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(other.place.path.join("finished").exists(), "it was ended");
}

#[test]
fn a_call_that_succeeds_is_refuted_when_the_tool_sees_no_failure_of_it_either() {
    let own = finding("api-error", "api_errors.cu", 16, json!({"function": "main", "shows": failed_call(COPY)}));
    let scene = |recorded: &str| Scene::new(recorded, &[called(COPY, "/project/api_errors.cu", 16, 0)]);
    let agreed = scene("clean.memcheck");
    let judgement = agreed.judge(&own);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("succeeded; memcheck: "), "{}", judgement.reason);
    assert_eq!(agreed.tool_runs(), 1);
    let judgement = scene("api_errors.memcheck").judge(&own);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("`cudaMemcpy` at api_errors.cu:16 succeeded; but memcheck says otherwise: "));
    assert!(!judgement.evidence.records.is_empty());
    // A tool that is not there is asked nothing, and one that saw no call at all says nothing.
    let without = scene("clean.memcheck");
    let machine = Machine { compute_sanitizer: None, ..without.machine() };
    let judgement = without.judge_on(machine, &own);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("memcheck cannot be asked: "), "{}", judgement.reason);
    let judgement = scene("no_cuda.memcheck").judge(&own);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("memcheck was asked too, and decides nothing"), "{}", judgement.reason);
}

#[test]
fn a_launch_that_is_refused_confirms() {
    let own = |line| {
        let witness = launch("program.cu", line);
        finding("api-error", "program.cu", line, json!({"shows": refused_launch("threads"), "witness": witness}))
    };
    let scene = |real| Scene::new("clean.memcheck", &[launched("set(int*)", real)]);
    let judgement = scene(9).judge(&own(6));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(
        judgement.reason.contains("the launch of `set` returned cudaErrorInvalidConfiguration"),
        "{}",
        judgement.reason
    );
    assert_eq!(judgement.evidence.records[0].kernel.as_deref(), Some("set(int*)"));
    assert_eq!(scene(0).judge(&own(6)).verdict, Verdict::Refuted);
    assert_eq!(scene(9).judge(&own(8)).verdict, Verdict::Unviable);
}

#[test]
fn a_copy_that_succeeds_may_have_overrun_the_host() {
    // What the check before each copy printed, on a machine without a GPU.
    let said = |line: u32| {
        format!(
            "warming up\n\ncudalint host range: cudaMemcpy writes 512 bytes of host memory at 0x7ffd, of which only 64 belong to the object\n    \
             #0 0x7f529ccc476a in __sanitizer_print_stack_trace ../../../../src/libsanitizer/asan/asan_stack.cpp:87\n    \
             #1 0x55aca3e934e7 in within /out/cudalint_host_bounds.cpp:39\n    \
             #2 0x55aca3e93653 in __wrap_cudaMemcpy /out/cudalint_host_bounds.cpp:88\n    \
             #3 0x55aca3e91fb3 in download(float const*) /src/program.cu:{line}\n    \
             #4 0x55aca3e92214 in main /src/program.cu:20\n\
             Address 0x7ffd is located in stack of thread T0 at offset 192 in frame\n    \
             #0 0x55aca3e91eb1 in download(float const*) /src/program.cu:5\n\
             cudalint host range ends\nbye\n"
        )
    };
    let scene = |complains: String| {
        let mut scene = Scene::new("clean.memcheck", &[called("cudaMemcpy", "program.cu", 12, 0)]);
        scene.complains = complains;
        scene
    };
    let judgement = scene(said(12)).judge(&failing(12, COPY));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(
        judgement.evidence.records[0].text.contains("of which only 64 belong to the object; Address 0x7ffd is located")
    );
    let other = scene(said(14)).judge(&failing(12, COPY));
    assert_eq!(other.verdict, Verdict::NotObserved, "{}", other.reason);
    assert!(other.reason.contains("another copy leaves its object"), "{}", other.reason);
    assert_eq!(scene(String::new()).judge(&failing(12, COPY)).verdict, Verdict::Refuted);
}

#[test]
fn a_kernel_that_does_not_assemble_is_refused_by_the_compiler() {
    let mut scene = Scene::new("clean.memcheck", &[]);
    scene.nvcc = Some(
        "echo \"ptxas error   : Entry function '_Z4tilePf' uses too much shared data (0x10000 bytes, 0xc000 max)\" >&2; exit 255"
            .to_owned(),
    );
    let own = |function: &str, method: &str| {
        let shows = refused_launch("shared-memory");
        finding(method, "program.cu", 4, json!({"function": function, "shows": shows}))
    };
    let judgement = scene.judge(&own("tile", "api-error"));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.back_end, "nvcc 13.0.88");
    assert_eq!(scene.judge(&own("other", "api-error")).verdict, Verdict::Unviable);
    assert_eq!(scene.judge(&own("tile", "memcheck")).verdict, Verdict::Unviable);
}

#[test]
fn findings_written_by_hand_are_confirmed_when_they_are_right_alone() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/record/cuda");
    for (name, recorded, kernel, verdict) in [
        ("racecheck-right-1", "race_shared.racecheck", "reduce(int const*, int*)", Verdict::Confirmed),
        ("racecheck-right-2", "race_write_after_read.racecheck", "shift(int*)", Verdict::Confirmed),
        ("racecheck-wrong", "race_write_write.racecheck", "last_wins(int*)", Verdict::NotObserved),
        ("initcheck-right-1", "uninitialized_read.initcheck", "add(float const*, float*)", Verdict::Confirmed),
        ("initcheck-right-2", "uninitialized_copy.initcheck", "", Verdict::Confirmed),
        ("initcheck-wrong", "uninitialized_copy.initcheck", "", Verdict::NotObserved),
        ("synccheck-right-1", "barrier_warp.synccheck", "half(int*)", Verdict::Confirmed),
        ("synccheck-right-2", "barrier_mask.synccheck", "masked(int*)", Verdict::Confirmed),
        ("synccheck-wrong", "barrier_exit.synccheck", "leave(int*, int)", Verdict::NotObserved),
    ] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.json"))).unwrap();
        let document: cudalint_findings::model::Document = serde_json::from_str(&text).unwrap();
        let own = &document.findings[0];
        let log = if kernel.is_empty() {
            called("cudaMemset", &own.path, own.range.start.line, 0)
        } else {
            launched(kernel, 0)
        };
        let judgement = Scene::new(recorded, &[log]).judge(own);
        assert_eq!(judgement.verdict, verdict, "{name}: {}", judgement.reason);
    }
}

/// A machine with a Python that does this.
fn with_python(scene: &Scene, body: &str) -> Machine {
    let python: Python = serde_json::from_value(json!({
        "program": {"path": scene.place.script("python", body), "version": "3.12.3"},
        "packages": [{"name": "numba", "version": "0.68.0", "problem": null}],
    }))
    .unwrap();
    Machine { python: Some(python), ..scene.machine() }
}

fn script(script: &str, packages: &[&str]) -> Program {
    Program::Python(PythonProgram {
        origin: Origin::AsWritten,
        script: script.into(),
        files: vec![ScenarioFile { path: script.into(), text: "import numba\n".to_owned() }],
        packages: packages.iter().map(|name| (*name).to_owned()).collect(),
        reproducer: None,
        raises: None,
        control: None,
        made_up: Vec::new(),
        beside: None,
        project: None,
    })
}

#[test]
fn a_python_script_is_judged_by_what_the_tool_says_of_its_kernels() {
    let judge = |recorded: &str, body: &str, name: &str, packages: &[&str], finding: &FindingEntry| {
        let scene = Scene::new(recorded, &[]);
        let lab = scene.place.lab(with_python(&scene, body), scene.limits.clone());
        let bench = lab.bench("one").unwrap();
        experiment::perform(finding, &script(name, packages), &bench)
    };
    let own = |path: &str, function: &str| {
        let witness = accesses(&[("read", 9, 1000, 1000, 3, 232)]);
        finding("memcheck", path, 9, json!({"function": function, "witness": witness}))
    };
    let numba = own("numba_bounds.py", "scale");
    let judgement = judge("numba_bounds.memcheck", "exit 0", "numba_bounds.py", &["numba"], &numba);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("names no line of the script"), "{}", judgement.reason);
    assert!(judgement.evidence.command.as_deref().unwrap().contains("cudalint_watched.py"), "{:?}", judgement.evidence);
    let clean = judge("clean.memcheck", "exit 0", "numba_bounds.py", &["numba"], &numba);
    assert_eq!(clean.verdict, Verdict::NotObserved, "{}", clean.reason);
    let broken = judge("clean.memcheck", "echo 'NameError: x' >&2; exit 1", "numba_bounds.py", &["numba"], &numba);
    assert_eq!(broken.verdict, Verdict::Unviable, "{}", broken.reason);
    assert!(broken.reason.contains("NameError: x"), "{}", broken.reason);
    let absent = judge("clean.memcheck", "exit 0", "numba_bounds.py", &["cupy"], &numba);
    assert_eq!(absent.verdict, Verdict::Unsupported);
    assert!(absent.reason.starts_with("Python has no cupy"), "{}", absent.reason);
    // A script that stands for a fence of a document has the document's lines.
    let fence = finding("api-error", "guide.md", 12, json!({"shows": refused_launch("threads")}));
    let mut scene = Scene::new("clean.memcheck", &[]);
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/numba_launch.memcheck");
    let recorded = recorded.to_str().unwrap();
    scene.tool = format!(
        "for end in xml txt; do sed \"s,/project,$PWD,g\" {recorded}.$end > said.$end; done; mv said.xml $report; mv said.txt $text"
    );
    let lab = scene.place.lab(with_python(&scene, "exit 1"), scene.limits.clone());
    let judgement = experiment::perform(&fence, &script("numba_launch.py", &["numba"]), &lab.bench("one").unwrap());
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records[0].path.as_deref(), Some("guide.md"));
}
