//! Whole runs: verdicts merged, outcomes on disk as they come, interrupted and resumed, faults of ours and of the disk.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lab_support;

use cudalint_findings::model::{FindingEntry, Verdict};
use cudalint_verify::experiment::Judgement;
use cudalint_verify::lab::{Bench, Build, End, Run};
use cudalint_verify::outcome::{Outcome, Replay};
use cudalint_verify::run::{Error, FixedSource, Observer, Request, RunReport, verify};
use cudalint_verify::scenario::{Origin, Program};
use cudalint_verify::stop::Stop;
use lab_support::{
    AT_ONCE, Place, SOURCE, alive, compiler, finding, findings, gone, launcher, limits, one_program, run,
};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A request for these findings in a place, with one program a finding and a compiler that works.
fn request<'a>(place: &Place, findings: &'a [FindingEntry]) -> Request<'a> {
    let mut request =
        Request::new(findings, place.machine(&compiler("echo ran"), ""), launcher(), place.path.join("out"));
    request.root = place.path.clone();
    request.limits = limits();
    request.candidates = &|_, _| vec![Ok(one_program())];
    request.perform = &|_, program, bench| build_and_run(program, bench, Verdict::NotObserved);
    request
}

/// Builds and runs a program, and judges as told when both worked.
fn build_and_run(program: &Program, bench: &Bench<'_>, verdict: Verdict) -> Judgement {
    let Program::Cuda(program) = program else { panic!("{program:?}") };
    let build = Build { label: "program".to_owned(), units: vec![program.unit.clone()], flags: program.flags.clone() };
    let built = match bench.build(&build) {
        Ok(built) => built,
        Err(failure) => return Judgement::of_build(&failure),
    };
    let outcome = bench.run(&Run { device: true, ..run("plain", &[built.as_str()]) });
    Judgement::of_end(&outcome, "plain run")
        .unwrap_or_else(|| Judgement::of_run(verdict, "as told", "plain run", &outcome, Vec::new()))
}

fn verdicts(report: &RunReport) -> Vec<Verdict> {
    report.verdicts()
}

#[test]
fn outcomes_are_on_disk_in_the_end_and_name_what_they_rest_on() {
    let place = Place::new();
    let findings = findings(&place, 3);
    let mut request = request(&place, &findings);
    let told = request.replay;
    request.replay = &|_| Replay::Agrees;
    let report = verify(&request, &()).unwrap();
    assert_eq!(verdicts(&report), [Verdict::NotObserved; 3]);
    assert!(!report.interrupted && report.times.build > 0.0 && report.times.run > 0.0 && report.times.wall > 0.0);
    let (_, outcome) = &report.outcomes[0];
    assert_eq!(outcome.id, "some-rule-00000000");
    let evidence = outcome.verification.evidence.as_ref().unwrap();
    assert_eq!(evidence.reproducer.as_deref(), Some("scenarios/some-rule-00000000/1-cut/harness.cu"));
    assert_eq!(evidence.log.as_deref(), Some("scenarios/some-rule-00000000/1-cut/plain.stderr"));
    assert_eq!(outcome.attempts[0].program, "cut out");
    assert_eq!(outcome.place, "file0.cu:1");
    // A verdict of the GPU has no words of the CPU in it.
    assert_eq!((outcome.reason.as_str(), &outcome.replay), ("as told", &Some(Replay::Agrees)));
    let written: Outcome = serde_json::from_str(&place.read("out/scenarios/some-rule-00000000/outcome.json")).unwrap();
    assert_eq!(written, *outcome);
    assert_eq!(place.read("out/outcomes.jsonl").lines().count(), 3);
    let about: serde_json::Value = serde_json::from_str(&place.read("out/run.json")).unwrap();
    assert_eq!((&about["tool"], &about["state"]), (&"cudalint".into(), &"finished".into()));
    assert!(place.read("out/machine.json").contains("GPU 0"));
    // Reproducers and logs stay, programs and what only the run needed do not.
    assert!(place.path.join("out/scenarios/some-rule-00000000/1-cut/harness.cu").is_file());
    assert!(place.path.join("out/scenarios/some-rule-00000000/1-cut/program.build.log").is_file());
    for gone in
        ["scenarios/some-rule-00000000/1-cut/program", "scenarios/some-rule-00000000/1-cut/tmp", "builds", "cache"]
    {
        assert!(!place.path.join("out").join(gone).exists(), "{gone}");
    }
    request.replay = told;
    request.keep = true;
    verify(&request, &()).unwrap();
    assert!(place.path.join("out/scenarios/some-rule-00000000/1-cut/program").is_file());
    // What the first run left was put aside, whole.
    assert!(place.path.join("out.old/scenarios/some-rule-00000000/outcome.json").is_file());
}

#[test]
fn the_first_program_that_decides_ends_the_search_else_the_best_counts() {
    use Verdict::{Confirmed, NotObserved, Refuted, Timeout, Unsupported, Unviable};
    let place = Place::new();
    let findings = findings(&place, 1);
    let of = |verdicts: &[Option<Verdict>]| {
        let mut request = request(&place, &findings);
        let candidates = |_: &FindingEntry, _: &_| {
            let program = |place: usize, verdict: &Option<Verdict>| {
                let Program::Cuda(mut program) = one_program() else { panic!() };
                program.origin = [Origin::AsWritten, Origin::Around, Origin::Cut][place];
                verdict.map(|_| Program::Cuda(program)).ok_or_else(|| "no way to a program".to_owned())
            };
            verdicts.iter().enumerate().map(|(place, verdict)| program(place, verdict)).collect()
        };
        request.candidates = &candidates;
        let perform = |_: &FindingEntry, program: &Program, _: &Bench<'_>| {
            let Program::Cuda(program) = program else { panic!() };
            let verdict = verdicts[program.origin as usize].unwrap();
            Judgement::without_run(verdict, format!("{:?}", program.origin))
        };
        request.perform = &perform;
        let report = verify(&request, &()).unwrap();
        let outcome = report.outcomes[0].1.clone();
        (outcome.verification.verdict.unwrap(), outcome.reason, outcome.attempts.len())
    };
    let word = str::to_owned;
    assert_eq!(of(&[Some(NotObserved), Some(Confirmed), Some(Refuted)]), (Confirmed, word("Around"), 2));
    assert_eq!(of(&[Some(Unviable), Some(Refuted), Some(Confirmed)]), (Refuted, word("Around"), 2));
    assert_eq!(of(&[Some(Unviable), Some(Timeout), Some(NotObserved)]), (NotObserved, word("Cut"), 3));
    assert_eq!(of(&[Some(NotObserved), Some(NotObserved)]), (NotObserved, word("AsWritten"), 2));
    assert_eq!(of(&[Some(Unsupported), None, Some(Timeout)]), (Timeout, word("Cut"), 3));
    assert_eq!(of(&[None, Some(Unviable)]), (Unviable, word("no way to a program; around the file: Around"), 2));
}

#[test]
fn scenarios_of_one_program_share_its_build() {
    let place = Place::new();
    let findings = findings(&place, 8);
    let mut request = request(&place, &findings);
    let nvcc = format!("echo x >> {}/count; sleep 0.3; {}", place.path, compiler("echo ran"));
    request.machine = place.machine(&nvcc, "");
    request.jobs = 8;
    let report = verify(&request, &()).unwrap();
    assert_eq!(verdicts(&report), [Verdict::NotObserved; 8]);
    assert_eq!(place.read("count"), "x\n");
    assert!(report.times.wait > 0.3, "{:?}", report.times);
}

#[test]
fn a_method_of_none_an_unread_source_and_a_fault_of_ours_are_outcomes() {
    let place = Place::new();
    let mut findings = findings(&place, 3);
    findings[0].verification.method = cudalint_findings::model::Method::None;
    findings[1].path = "missing.cu".to_owned();
    let mut request = request(&place, &findings);
    request.perform = &|_, _, _| panic!("of our own");
    request.replay = &|_| Replay::Disagrees("nothing is written".to_owned());
    let report = verify(&request, &()).unwrap();
    assert_eq!(verdicts(&report), [Verdict::Unsupported, Verdict::Unviable, Verdict::Unviable]);
    let reasons: Vec<&str> = report.outcomes.iter().map(|(_, outcome)| outcome.reason.as_str()).collect();
    let says = "its witness, evaluated again on the CPU, does not hold: nothing is written";
    assert_eq!(reasons[0], format!("no run can show findings of this rule; {says}"));
    assert!(reasons[1].starts_with("missing.cu: "), "{}", reasons[1]);
    assert_eq!(reasons[2], "internal fault: of our own");
}

#[test]
fn without_a_gpu_programs_are_compiled_and_nothing_is_confirmed() {
    let place = Place::new();
    let findings = findings(&place, 1);
    let mut request = request(&place, &findings);
    request.machine.devices.clear();
    request.replay = &|_| Replay::Agrees;
    request.perform = &|_, _, _| Judgement::without_run(Verdict::Confirmed, "never asked");
    let reason = |request: &Request<'_>| {
        let report = verify(request, &()).unwrap();
        assert_eq!(verdicts(&report), [Verdict::Unsupported]);
        report.outcomes[0].1.reason.clone()
    };
    let agrees = "its witness, evaluated again on the CPU, shows the defect";
    assert_eq!(
        reason(&request),
        format!("there is no GPU: nothing was run; the program, cut out, compiles for sm_80 (nvcc 13.0.88); {agrees}")
    );
    assert!(place.path.join("out/scenarios/some-rule-00000000/1-cut/harness.cu").is_file());
    request.machine = place.machine("echo 'harness.cu(1): error: no' >&2; exit 1", "");
    request.machine.devices.clear();
    assert!(
        reason(&request).contains("the compiler refuses the program, cut out: harness.cu(1): error: no; its witness")
    );
    request.machine.nvcc = None;
    assert!(reason(&request).contains("there is no CUDA compiler either"));
}

#[test]
fn only_some_findings_are_verified_by_rule_or_fingerprint() {
    let place = Place::new();
    let mut findings = findings(&place, 4);
    findings[2].rule = "other-rule".to_owned();
    let mut request = request(&place, &findings);
    let indices = |request: &Request<'_>| {
        let report = verify(request, &()).unwrap();
        report.outcomes.iter().map(|(index, _)| *index).collect::<Vec<_>>()
    };
    request.only = vec!["other-rule".to_owned()];
    assert_eq!(indices(&request), [2]);
    request.only = vec![findings[3].fingerprint.chars().take(8).collect()];
    assert_eq!(indices(&request), [3]);
    request.only = vec!["3000".to_owned()];
    assert!(indices(&request).is_empty());
}

#[test]
fn scenarios_of_equal_names_have_folders_of_their_own() {
    let place = Place::new();
    std::fs::write(place.path.join("a.cu"), SOURCE).unwrap();
    let findings = [
        finding("r", "aaaaaaaabbbbbbbb", "a.cu"),
        finding("r", "aaaaaaaacccccccc", "a.cu"),
        finding("r", "aaaaaaaabbbbbbbb", "a.cu"),
        finding("../../r", "../../../etc", "a.cu"),
    ];
    let report = verify(&request(&place, &findings), &()).unwrap();
    let ids: Vec<&str> = report.outcomes.iter().map(|(_, outcome)| outcome.id.as_str()).collect();
    assert_eq!(ids, ["r-aaaaaaaa", "r-aaaaaaaac", "r-aaaaaaaab", "r-etc"]);
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let place = Place::new();
    let findings = findings(&place, 1);
    std::fs::write(place.path.join("out/thesis.tex"), "years of work").unwrap();
    let error = verify(&request(&place, &findings), &()).unwrap_err();
    assert!(matches!(error, Error::NotOurs(_)), "{error}");
    assert_eq!(place.read("out/thesis.tex"), "years of work");
}

#[test]
fn two_runs_do_not_share_a_folder() {
    struct Second<'a>(&'a Place, &'a [FindingEntry], Mutex<Option<Error>>);
    impl Observer for Second<'_> {
        fn started(&self, _: &str, _: &str) {
            *self.2.lock().unwrap() = verify(&request(self.0, self.1), &()).err();
        }
    }
    let place = Place::new();
    let findings = findings(&place, 1);
    let second = Second(&place, &findings, Mutex::new(None));
    verify(&request(&place, &findings), &second).unwrap();
    let error = second.2.into_inner().unwrap().unwrap();
    assert!(matches!(error, Error::Locked(_)), "{error}");
    // Its lock went with it.
    verify(&request(&place, &findings), &()).unwrap();
}

#[test]
fn a_resumed_run_does_again_only_what_has_changed() {
    let place = Place::new();
    let mut findings = findings(&place, 4);
    let mut request = request(&place, &findings);
    let asked = Mutex::new(Vec::new());
    let perform = |finding: &FindingEntry, program: &Program, bench: &Bench<'_>| {
        asked.lock().unwrap().push(finding.path.clone());
        let mut judgement = build_and_run(program, bench, Verdict::NotObserved);
        if finding.path == "file3.cu" {
            judgement.verdict = Verdict::Timeout;
        }
        judgement
    };
    request.perform = &perform;
    request.jobs = 1;
    let first = verify(&request, &()).unwrap();
    let taken = || std::mem::take(&mut *asked.lock().unwrap());
    assert_eq!(taken().len(), 4);
    request.resume = true;
    let second = verify(&request, &()).unwrap();
    assert_eq!((taken(), second.taken_over), (Vec::<String>::new(), 4));
    assert_eq!(second.outcomes, first.outcomes);
    assert_eq!(place.read("out/outcomes.jsonl").lines().count(), 4);

    // A source was edited, an outcome was damaged, and there is more time for the one that ran out of it.
    std::fs::write(place.path.join("file1.cu"), format!("{SOURCE}// edited\n")).unwrap();
    std::fs::write(place.path.join("out/scenarios/some-rule-20000000/outcome.json"), "{\"id\": \"some-r").unwrap();
    request.limits.run += Duration::from_secs(1);
    let third = verify(&request, &()).unwrap();
    assert_eq!((taken(), third.taken_over), (["file1.cu", "file2.cu", "file3.cu"].map(str::to_owned).to_vec(), 1));

    // Another driver: everything.
    request.machine.driver = Some("999.1".to_owned());
    verify(&request, &()).unwrap();
    assert_eq!(taken().len(), 4);

    // Another finding of the same fingerprint is another basis.
    let machine = request.machine.clone();
    findings[0].claim.inputs.push(("n".to_owned(), 7));
    findings[1].message.push_str(", in other words");
    let mut request = self::request(&place, &findings);
    request.perform = &perform;
    request.resume = true;
    request.machine = machine;
    verify(&request, &()).unwrap();
    assert_eq!(taken(), ["file0.cu"]);
}

#[test]
fn ctrl_c_ends_a_run_at_once_and_resume_goes_on() {
    let place = Place::new();
    let begun = Instant::now();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_run_that_is_interrupted", "--ignored", "--nocapture"])
        .env("CUDALINT_TEST_PLACE", &place.path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let finished = |place: &Place| place.read("out/outcomes.jsonl").lines().count();
    while finished(&place) < 2 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run does not get anywhere");
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    assert!(interrupted.elapsed() < AT_ONCE, "{:?}", interrupted.elapsed());
    assert!(!alive("940001"));
    let about: serde_json::Value = serde_json::from_str(&place.read("out/run.json")).unwrap();
    assert_eq!(about["state"], "interrupted");
    let before = finished(&place);
    assert!((2..12).contains(&before), "{before}");
    let done: Vec<String> = place.read("done").lines().map(str::to_owned).collect();
    assert_eq!(done.len(), before);

    let findings = findings(&place, 12);
    let mut request = interruptible(&place, &findings, Stop::new());
    request.resume = true;
    request.perform = &quick;
    let report = verify(&request, &()).unwrap();
    assert_eq!((report.taken_over, report.outcomes.len(), report.interrupted), (before, 12, false));
    let mut all: Vec<String> = place.read("done").lines().map(str::to_owned).collect();
    assert_eq!(all.len(), 12, "each is done once");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 12);
}

/// A run of twelve findings whose programs take their time.
fn interruptible<'a>(place: &Place, findings: &'a [FindingEntry], stop: Stop) -> Request<'a> {
    let mut request = request(place, findings);
    request.stop = stop;
    request.jobs = 2;
    request.perform = &slow;
    request
}

fn slow(finding: &FindingEntry, _: &Program, bench: &Bench<'_>) -> Judgement {
    let late = if finding.path == "file2.cu" { "exec sleep 940001" } else { "sleep 0.2" };
    job(finding, bench, late)
}

fn quick(finding: &FindingEntry, _: &Program, bench: &Bench<'_>) -> Judgement {
    job(finding, bench, ":")
}

/// A program that writes its finding's name once it is done.
fn job(finding: &FindingEntry, bench: &Bench<'_>, work: &str) -> Judgement {
    let done = bench.lab.folder.parent().unwrap().join("done");
    let script = format!("{work}; echo {} >> {done}", finding.path);
    let outcome = bench.run(&run("job", &["/bin/sh", "-c", &script]));
    Judgement::of_end(&outcome, "plain run")
        .unwrap_or_else(|| Judgement::of_run(Verdict::NotObserved, "ran", "plain run", &outcome, Vec::new()))
}

#[test]
#[ignore = "started by another test"]
fn a_run_that_is_interrupted() {
    let path = std::env::var("CUDALINT_TEST_PLACE").unwrap();
    let mut request_place = Place::new();
    request_place.path = path.into();
    let findings = findings(&request_place, 12);
    let report = verify(&interruptible(&request_place, &findings, Stop::install().unwrap()), &()).unwrap();
    assert!(report.interrupted);
}

#[test]
fn a_killed_run_leaves_no_process() {
    let place = Place::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_run_that_is_killed", "--ignored", "--nocapture"])
        .env("CUDALINT_TEST_PLACE", &place.path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !alive("950001") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the run does not get anywhere");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(gone("950001"), "a program outlives the run");
    // The folder can be used again at once.
    let findings = findings(&place, 1);
    let mut request = request(&place, &findings);
    request.resume = true;
    assert_eq!(verify(&request, &()).unwrap().outcomes.len(), 1);
}

#[test]
#[ignore = "started by another test"]
fn a_run_that_is_killed() {
    let path = std::env::var("CUDALINT_TEST_PLACE").unwrap();
    let mut place = Place::new();
    place.path = path.into();
    let findings = findings(&place, 1);
    let mut request = request(&place, &findings);
    request.perform = &|finding, _, bench| job(finding, bench, "setsid sleep 950001");
    drop(verify(&request, &()));
}

#[test]
fn an_outcome_that_cannot_be_written_ends_the_run_and_its_programs() {
    /// Puts a folder where the outcome's file should come.
    struct InTheWay<'a>(&'a Place);
    impl Observer for InTheWay<'_> {
        fn phase(&self, id: &str, _: cudalint_verify::lab::Phase) {
            if id.ends_with("30000000") {
                drop(std::fs::create_dir_all(self.0.path.join("out/scenarios").join(id).join("outcome.json/x")));
            }
        }
    }
    let place = Place::new();
    let findings = findings(&place, 6);
    let mut request = request(&place, &findings);
    request.jobs = 6;
    request.perform =
        &|finding, _, bench| job(finding, bench, if finding.path == "file3.cu" { "sleep 0.5" } else { "sleep 960001" });
    let begun = Instant::now();
    let error = verify(&request, &InTheWay(&place)).unwrap_err();
    assert!(matches!(error, Error::Unwritten { .. }), "{error}");
    assert!(error.to_string().contains("outcome.json: the outcome cannot be written"), "{error}");
    assert!(begun.elapsed() < AT_ONCE);
    assert!(!alive("960001"));
}

#[test]
fn a_full_disk_ends_the_run_and_resume_goes_on() {
    let place = Place::new();
    let small = place.path.join("out");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "none", small.as_str()]).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        // Mounting takes privileges; the test before this one fills no disk but shows the same way out.
        return;
    }
    let mut findings = findings(&place, 3);
    findings.truncate(2);
    let mut request = request(&place, &findings);
    request.jobs = 1;
    request.perform = &|_, _, bench| {
        let outcome = bench.run(&run("prints", &["/bin/sh", "-c", "head -c 4000000 /dev/zero"]));
        assert_eq!(outcome.end, End::Exit(0));
        Judgement::of_run(Verdict::NotObserved, "ran", "plain run", &outcome, Vec::new())
    };
    let error = verify(&request, &()).map(|report| report.outcomes);
    let resized = Command::new("mount").args(["-o", "remount,size=64m", small.as_str()]).status().unwrap();
    request.resume = true;
    let resumed = verify(&request, &()).map(|report| report.outcomes.len());
    drop(Command::new("umount").arg(&small).status());
    let error = error.unwrap_err();
    assert!(matches!(error, Error::NoSpace(_)), "{error}");
    assert!(resized.success());
    assert_eq!(resumed.unwrap(), 2);
}

#[test]
fn a_fix_holds_when_the_defect_is_gone_and_nothing_new_appears() {
    let place = Place::new();
    let mut findings = findings(&place, 1);
    findings[0].fix = serde_json::from_value(serde_json::json!({
        "applicability": "unsafe", "message": "guard it",
        "edits": [{"path": "file0.cu", "text": "// guard\n", "range": {"start": {"line": 1, "column": 1}, "end": {"line": 1, "column": 1}}}]
    }))
    .unwrap();
    let of = |text: &str, new: &[&str]| {
        let mut request = request(&place, &findings);
        let fixed = |_: &FindingEntry| {
            let new_findings = new.iter().map(|text| (*text).to_owned()).collect();
            Some(FixedSource { text: text.to_owned(), new_findings })
        };
        request.fixed = Some(&fixed);
        let candidates = |_: &FindingEntry, subject: &cudalint_verify::subject::Subject| {
            let Program::Cuda(mut program) = one_program() else { panic!() };
            program.files[0].text = subject.text.to_string();
            vec![Ok(Program::Cuda(program))]
        };
        request.candidates = &candidates;
        let perform = |finding: &FindingEntry, _: &Program, bench: &Bench<'_>| {
            let text = std::fs::read_to_string(bench.folder.join("harness.cu")).unwrap();
            let there = !text.contains("guard");
            // The finding stands where its statement now is.
            let line = text.lines().nth(finding.range.start.line as usize - 1).unwrap();
            assert!(line.starts_with("__global__"), "{line}");
            let verdict = if there { Verdict::Confirmed } else { Verdict::NotObserved };
            Judgement::without_run(verdict, "looked")
        };
        request.perform = &perform;
        verify(&request, &()).unwrap().outcomes[0].1.fixed.clone().unwrap()
    };
    let good = of(&format!("// guard\n{SOURCE}"), &[]);
    assert_eq!((good.holds, good.verdict), (Some(true), Some(Verdict::NotObserved)), "{}", good.reason);
    assert!(place.path.join("out").join(&good.source).is_file());
    let useless = of(&format!("\n{SOURCE}"), &[]);
    assert_eq!((useless.holds, useless.verdict), (Some(false), Some(Verdict::Confirmed)));
    let harmful = of(&format!("// guard\n{SOURCE}"), &["file0.cu:2: something else"]);
    assert_eq!(harmful.holds, Some(false));
    assert!(harmful.reason.contains("something else"));
}

#[test]
fn more_jobs_make_a_run_shorter() {
    let place = Place::new();
    let findings = findings(&place, 16);
    let wall = |jobs: usize| {
        let mut request = request(&place, &findings);
        request.jobs = jobs;
        request.limits.runs_per_device = 16;
        request.perform = &|_, _, bench| {
            let sleeps = Run { device: true, ..run("sleeps", &["/bin/sleep", "0.3"]) };
            let outcome = bench.run(&sleeps);
            Judgement::of_run(Verdict::NotObserved, "ran", "plain run", &outcome, Vec::new())
        };
        verify(&request, &()).unwrap().times.wall
    };
    let (one, many) = (wall(1), wall(16));
    assert!(many * 4.0 < one, "{many} seconds with sixteen jobs, {one} with one");
}
