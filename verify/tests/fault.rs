//! Fault injection judged from what programs did, as their probes wrote it down: programs here are scripts that leave such
//! logs, so that no compiler and no GPU is needed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod fault_support;
mod lab_support;

use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::{Confidence, Verdict};
use cudalint_findings::{Claim, Fault};
use cudalint_verify::experiment::{self, Judgement};
use cudalint_verify::scenario::{CudaProgram, Origin, Program, Project, ScenarioFile};
use fault_support::{addr2line, call, calls, finding, launch, site, words};
use lab_support::{Place, compiler, limits};
use std::fmt::Write as _;

/// The program that the logs are of.
const SOURCE: &str = "\
#include <cuda_runtime.h>
__global__ void set(int *value) { *value = 1; }
int main() {
    int *value;
    cudaMalloc(&value, 4);
    set<<<1, 1>>>(value);
    cudaMemset(value, 0, 4);
    return 0;
}
";

/// How one kind of run goes.
#[derive(Clone, Default)]
struct Goes {
    log: Vec<String>,
    stdout: &'static str,
    stderr: &'static str,
    ends: &'static str,
}

impl Goes {
    fn log(lines: &[String]) -> Self {
        Self { log: lines.to_vec(), ends: "exit 0", ..Self::default() }
    }
    fn says(mut self, stdout: &'static str) -> Self {
        self.stdout = stdout;
        self
    }
    fn complains(mut self, stderr: &'static str) -> Self {
        self.stderr = stderr;
        self
    }
    fn ends(mut self, how: &'static str) -> Self {
        self.ends = how;
        self
    }
}

/// A program by what its runs do.
#[derive(Clone, Default)]
struct Runs {
    baseline: Goes,
    injected: Goes,
    /// As `injected`, without the last error.
    quiet: Option<Goes>,
    twin: Goes,
}

const STOP: &str = r#"{"event":"stop","function":"cudaMalloc","file":"program.cu","line":5,"code":2}"#;
const STOP_OF_LAUNCH: &str = r#"{"event":"stop","function":"set(int*)","at":[4096],"code":9}"#;

fn stopped(lines: &[String], stop: &str) -> Goes {
    let mut goes = Goes::log(lines).ends("exit 86");
    goes.log.retain(|line| !line.contains("exit"));
    goes.log.push(stop.to_owned());
    goes
}

/// The status of line 5 dropped, by everyone.
fn silent() -> Runs {
    Runs {
        baseline: Goes::log(&calls(&[call("cudaMalloc", 5, 0, 0, 0), call("cudaMemset", 7, 1, 0, 0)])),
        injected: Goes::log(&calls(&[call("cudaMalloc", 5, 0, 0, 2), call("cudaMemset", 7, 1, 0, 0)])),
        quiet: None,
        twin: stopped(&calls(&[call("cudaMalloc", 5, 0, 0, 2)]), STOP),
    }
}

/// A program whose runs go so, as a shell reads it. Each program of a project's run has a log of its own.
fn shell(runs: &Runs, folder: &Utf8Path, of_program: &str) -> String {
    let mut script = String::from("case \"$CUDALINT_PROBE_MODE-$CUDALINT_PROBE_CHECKED-$CUDALINT_PROBE_SILENT\" in\n");
    let kinds = [
        ("trace--", &runs.baseline),
        ("*-1-*", &runs.twin),
        ("*--1", runs.quiet.as_ref().unwrap_or(&runs.injected)),
        ("*", &runs.injected),
    ];
    for (index, (pattern, goes)) in kinds.into_iter().enumerate() {
        let log = folder.join(format!("log-{index}"));
        std::fs::write(&log, goes.log.join("\n") + "\n").unwrap();
        let _ = writeln!(
            script,
            "{pattern}) cat {log} > \"$CUDALINT_PROBE_LOG{of_program}\"; printf '%b' \"{}\"; printf '%b' '{}' >&2; {};;",
            goes.stdout, goes.stderr, goes.ends
        );
    }
    script + "esac"
}

fn judge_with(runs: &Runs, fault: Fault, change: impl Fn(&mut cudalint_findings::model::FindingEntry)) -> Judgement {
    let place = Place::new();
    judge_program(&place, &shell(runs, &place.path, ""), None, fault, change)
}

/// The same in a project's own run.
fn judge_in_project(
    runs: &Runs,
    fault: Fault,
    change: impl Fn(&mut cudalint_findings::model::FindingEntry),
) -> Judgement {
    let place = Place::new();
    let folder = place.path.join("project");
    std::fs::create_dir_all(&folder).unwrap();
    lab_support::script(&folder.join("tests"), &shell(runs, &place.path, ".1"));
    let project = Project {
        folder: folder.clone(),
        base: folder.clone(),
        root: folder,
        clean: None,
        build: None,
        run: vec!["./tests".to_owned()],
        given: true,
        replaced: None,
    };
    judge_program(&place, "exit 1", Some(project), fault, change)
}

fn judge_program(
    place: &Place,
    script: &str,
    project: Option<Project>,
    fault: Fault,
    change: impl Fn(&mut cudalint_findings::model::FindingEntry),
) -> Judgement {
    let mut machine = place.machine(&compiler(script), "exit 1");
    machine.addr2line = Some(lab_support::program(place.script("addr2line", addr2line())));
    let lab = place.lab(machine, limits());
    let bench = lab.bench("one").unwrap();
    let unit = Utf8PathBuf::from("program.cu");
    let program = Program::Cuda(CudaProgram {
        origin: if project.is_some() { Origin::Project } else { Origin::AsWritten },
        unit: unit.clone(),
        files: vec![ScenarioFile { path: unit, text: format!("#line 1 \"program.cu\"\n{SOURCE}") }],
        flags: Vec::new(),
        arguments: Vec::new(),
        reproducer: None,
        project,
    });
    let mut finding = finding(fault, (5, 5), (5, 26));
    change(&mut finding);
    experiment::perform(&finding, &program, &bench)
}

fn judge(runs: &Runs) -> Judgement {
    judge_with(runs, Fault::Status, |_| {})
}

#[test]
fn a_program_that_goes_on_as_before_beside_a_twin_that_stops_confirms() {
    let judgement = judge(&silent());
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let [failure, twin] = judgement.evidence.records.as_slice() else { panic!("{:?}", judgement.evidence) };
    assert_eq!((failure.path.as_deref(), failure.line), (Some("program.cu"), Some(5)));
    assert!(failure.text.contains("cudaMalloc") && twin.kind == "checked twin", "{failure:?} {twin:?}");
    assert!(judgement.evidence.log.as_deref().is_some_and(|log| log.contains("injected")), "{:?}", judgement.evidence);
}

#[test]
fn another_exit_status_refutes() {
    let mut runs = silent();
    runs.injected = runs.injected.ends("exit 1");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("exit status 1"), "{}", judgement.reason);
}

#[test]
fn a_program_that_crashes_by_itself_decides_nothing() {
    for crash in ["exit 139", "kill -SEGV $$"] {
        let mut runs = silent();
        runs.baseline = runs.baseline.ends(crash);
        runs.injected = runs.injected.ends("exit 1");
        let judgement = judge(&runs);
        assert!(!matches!(judgement.verdict, Verdict::Refuted | Verdict::Confirmed), "{crash}: {}", judgement.reason);
    }
}

/// What happens once may be the program's own doing: it draws, or its threads come in another order.
#[test]
fn what_does_not_happen_again_refutes_nothing() {
    let mut runs = silent();
    runs.injected = runs.injected.ends("case \"$CUDALINT_PROBE_LOG\" in *again*) exit 0;; *) exit 1;; esac");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("changes from run to run"), "{}", judgement.reason);
}

#[test]
fn a_message_refutes() {
    for runs in [
        Runs { injected: silent().injected.complains("out of memory\\n"), ..silent() },
        Runs { injected: silent().injected.says("failed\\n"), ..silent() },
    ] {
        assert_eq!(judge(&runs).verdict, Verdict::Refuted);
    }
}

#[test]
fn a_text_of_the_error_that_is_asked_for_refutes() {
    let mut runs = silent();
    runs.injected.log.insert(2, words(5, 2));
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("cudaGetErrorString(2)"), "{}", judgement.reason);
}

#[test]
fn calls_that_are_left_out_refute() {
    let mut runs = silent();
    runs.injected.log.retain(|line| !line.contains("cudaMemset"));
    assert_eq!(judge(&runs).verdict, Verdict::Refuted);
}

#[test]
fn a_crash_refutes() {
    let mut crash = silent();
    crash.injected = crash.injected.ends("kill -SEGV $$");
    assert_eq!(judge(&crash).verdict, Verdict::Refuted);
}

#[test]
fn numbers_that_change_from_run_to_run_are_not_held_against_a_program() {
    let mut runs = silent();
    runs.baseline = runs.baseline.says("took $$ ms\\n");
    runs.injected = runs.injected.says("took $$ ms\\n");
    assert_eq!(judge(&runs).verdict, Verdict::Confirmed);
    runs.injected = runs.injected.says("gave up after $$ ms\\n");
    assert_eq!(judge(&runs).verdict, Verdict::Refuted);
}

#[test]
fn words_that_change_from_run_to_run_tell_nothing() {
    let mut runs = silent();
    let changing = "$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \\\\n' | tr '0-9a-f' 'g-v')\\n";
    runs.baseline = runs.baseline.says(changing);
    runs.injected = runs.injected.says(changing);
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
}

/// A program that does one thing or the other, and has done the same twice by chance.
#[test]
fn words_that_are_alike_twice_by_chance_do_not_refute() {
    const ALIKE_TWICE: &str = "$(case \"$CUDALINT_PROBE_LOG\" in *-2.*) echo right;; *) echo left;; esac)\\n";
    let mut runs = silent();
    runs.baseline = runs.baseline.says(ALIKE_TWICE);
    runs.injected = runs.injected.says("right\\n");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
}

/// Three lines that begin with another one in each run, as of tests that run beside one another.
const IN_ANOTHER_ORDER: &str = "$(n=$(cat turn 2>/dev/null || echo 0); echo $(((n + 1) % 3)) > turn; \
    echo abcab | cut -c$((n + 1))-$((n + 3)) | fold -w1)\\n";

#[test]
fn lines_in_another_order_from_run_to_run_are_not_held_against_a_program() {
    let mut runs = silent();
    runs.baseline = runs.baseline.says(IN_ANOTHER_ORDER);
    runs.injected = runs.injected.says(IN_ANOTHER_ORDER);
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    runs.injected = runs.injected.says("a\\nb\\nfailed\\n");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
}

#[test]
fn a_failure_that_is_noticed_where_the_last_error_cannot_be_told_apart_does_not_refute() {
    let mut runs = silent();
    let changing = "$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \\\\n' | tr '0-9a-f' 'g-v')\\n";
    runs.baseline = runs.baseline.says(changing);
    runs.quiet = Some(runs.injected.clone().says(changing));
    runs.injected = runs.injected.says(changing).ends("exit 8");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("cannot be told"), "{}", judgement.reason);
}

#[test]
fn tests_that_look_at_the_last_error_of_a_launch_do_not_refute() {
    let look = |file: &str| {
        let mut looks = call("cudaPeekAtLastError", 44, 7, 9, 9);
        looks = looks.replace("program.cu", file);
        let mut runs = launches();
        runs.injected = Goes::log(&calls(&[launch(0, 9), looks])).ends("exit 8");
        for goes in [&mut runs.baseline, &mut runs.injected] {
            goes.log[0] = r#"{"event":"begin","program":"/nowhere/tests"}"#.to_owned();
        }
        runs
    };
    let judgement = judge_in_project(&look("tests/check.h"), Fault::Launch, at_launch);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("by `cudaPeekAtLastError` at tests/check.h:44"), "{}", judgement.reason);
    let judgement = judge_in_project(&look("program.cu"), Fault::Launch, at_launch);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    let judgement = judge_with(&look("tests/check.h"), Fault::Launch, at_launch);
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
}

/// A program that ends badly by itself, and well where something fails, has noticed nothing.
#[test]
fn a_failure_that_makes_a_program_end_well_is_not_noticed() {
    let mut runs = silent();
    runs.baseline = runs.baseline.ends("exit 1");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("ends with success"), "{}", judgement.reason);
}

#[test]
fn a_place_that_is_not_reached_decides_nothing() {
    let mut runs = silent();
    runs.baseline.log.retain(|line| !line.contains("cudaMalloc"));
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
    assert!(judgement.reason.contains("does not come to program.cu:5"), "{}", judgement.reason);
}

#[test]
fn a_call_that_fails_without_help_is_told_of_success() {
    let logs = |handed| calls(&[call("cudaMalloc", 5, 0, 2, handed), call("cudaMemset", 7, 1, 0, 0)]);
    let runs = || Runs {
        baseline: Goes::log(&logs(2)),
        injected: Goes::log(&logs(0)),
        twin: stopped(&calls(&[call("cudaMalloc", 5, 0, 2, 2)]), STOP),
        ..Runs::default()
    };
    let judgement = judge(&runs());
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert!(judgement.reason.contains("by itself (status 2)"), "{}", judgement.reason);
    // It looks at the status.
    let mut looks = runs();
    looks.baseline = looks.baseline.complains("no memory\\n").ends("exit 1");
    assert_eq!(judge(&looks).verdict, Verdict::Refuted);
    // Something else looks at what has failed.
    let mut elsewhere = looks;
    elsewhere.injected = elsewhere.injected.complains("no memory\\n").ends("exit 1");
    assert_eq!(judge(&elsewhere).verdict, Verdict::NotObserved);
}

#[test]
fn a_failure_that_was_not_handed_over_decides_nothing() {
    let mut runs = silent();
    runs.injected = runs.baseline.clone();
    assert_eq!(judge(&runs).verdict, Verdict::Unviable);
}

#[test]
fn a_twin_that_does_not_stop_confirms_nothing() {
    let mut runs = silent();
    runs.twin = runs.injected.clone();
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    let mut elsewhere = silent();
    elsewhere.twin = stopped(&[], &STOP.replace("\"line\":5", "\"line\":7"));
    assert_eq!(judge(&elsewhere).verdict, Verdict::NotObserved);
}

#[test]
fn a_failure_that_only_the_last_error_tells_is_neither_confirmed_nor_refuted() {
    let mut runs = silent();
    runs.quiet = Some(runs.injected.clone());
    runs.injected = runs.injected.complains("too late\\n").ends("exit 1");
    let judgement = judge(&runs);
    assert_eq!(judgement.verdict, Verdict::NotObserved, "{}", judgement.reason);
    assert!(judgement.reason.contains("last error"), "{}", judgement.reason);
}

#[test]
fn one_of_several_places_that_reacts_refutes_and_is_named() {
    let mut runs = silent();
    let both = [call("cudaMalloc", 5, 0, 0, 2), call("cudaMemset", 7, 1, 0, 1)];
    runs.injected = Goes::log(&calls(&both)).ends("case $CUDALINT_PROBE_SITES in *call:1*) exit 3;; esac; exit 0");
    let judgement = judge_with(&runs, Fault::Status, |finding| finding.claim.sites.push(site((7, 5), (7, 28))));
    assert_eq!(judgement.verdict, Verdict::Refuted, "{}", judgement.reason);
    assert!(judgement.reason.contains("program.cu:7"), "{}", judgement.reason);
    runs.injected = Goes::log(&calls(&both));
    let judgement = judge_with(&runs, Fault::Status, |finding| finding.claim.sites.push(site((7, 5), (7, 28))));
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    assert_eq!(judgement.evidence.records.len(), 3);
}

fn launches() -> Runs {
    Runs {
        baseline: Goes::log(&calls(&[launch(0, 0)])),
        injected: Goes::log(&calls(&[launch(0, 9)])),
        quiet: None,
        twin: stopped(&calls(&[launch(0, 9)]), STOP_OF_LAUNCH),
    }
}

fn at_launch(finding: &mut cudalint_findings::model::FindingEntry) {
    finding.range = fault_support::range((6, 5), (6, 25));
}

#[test]
fn a_launch_is_known_by_its_line() {
    let judgement = judge_with(&launches(), Fault::Launch, at_launch);
    assert_eq!(judgement.verdict, Verdict::Confirmed, "{}", judgement.reason);
    let record = judgement.evidence.records.first().unwrap();
    assert_eq!((record.kernel.as_deref(), record.line), (Some("set"), Some(6)));
    let elsewhere = judge_with(&launches(), Fault::Launch, |finding| {
        finding.range = fault_support::range((7, 5), (7, 25));
    });
    assert_eq!(elsewhere.verdict, Verdict::Unviable, "{}", elsewhere.reason);
}

#[test]
fn a_reaction_on_a_path_that_the_finding_rules_out_does_not_refute() {
    let mut runs = launches();
    runs.injected = runs.injected.ends("exit 1");
    assert_eq!(judge_with(&runs, Fault::Launch, at_launch).verdict, Verdict::Refuted);
    let assuming = judge_with(&runs, Fault::Launch, |finding| {
        at_launch(finding);
        finding.confidence = Confidence::Likely;
    });
    assert_eq!(assuming.verdict, Verdict::NotObserved, "{}", assuming.reason);
}

#[test]
fn a_kernel_that_fails_while_it_runs_is_confirmed_when_nobody_waits() {
    let mut runs = launches();
    runs.injected = Goes::log(&calls(&[launch(0, 719)]));
    assert_eq!(judge_with(&runs, Fault::Asynchronous, at_launch).verdict, Verdict::Confirmed);
    runs.injected = runs.injected.ends("exit 4");
    assert_eq!(judge_with(&runs, Fault::Asynchronous, at_launch).verdict, Verdict::Refuted);
}

#[test]
fn a_log_of_garbage_decides_nothing() {
    let garbage = Goes::log(&["{\"event\":\"call\"".to_owned(), "\u{0}\u{7}".to_owned(), "null".to_owned()]);
    let judgement = judge(&Runs { baseline: garbage.clone(), injected: garbage.clone(), quiet: None, twin: garbage });
    assert_eq!(judgement.verdict, Verdict::Unviable, "{}", judgement.reason);
}

#[test]
fn a_finding_that_does_not_say_what_fails_is_unsupported() {
    let judgement = judge_with(&silent(), Fault::Status, |finding| finding.claim = Claim::default());
    assert_eq!(judgement.verdict, Verdict::Unsupported);
}
