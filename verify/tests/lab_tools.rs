//! Compilers and watchers that are missing, slow, broken or say nonsense; builds that are shared; GPUs that are busy.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lab_support;

use cudalint_verify::lab::{BuildFailure, End, Limits, Run, Watcher};
use lab_support::{Place, alive, build, compiler, device, limits, run, watched};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[test]
fn a_program_is_built_for_the_machine_and_runs() {
    let place = Place::new();
    let nvcc = format!("echo \"$@\" > {}/asked; {}", place.path, compiler("echo built"));
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let bench = lab.bench("one").unwrap();
    bench.write("a.cu".into(), "int main() {}").unwrap();
    let program = bench.build(&build("program", "a.cu", &["-DX=1"])).unwrap();
    assert_eq!(program, bench.folder.join("program"));
    assert_eq!(place.read("asked"), "-o program -arch=sm_90 -lineinfo a.cu -DX=1\n");
    assert!(place.read("out/scenarios/one/program.build.log").contains("/nvcc -o program -arch=sm_90"));
    assert_eq!(bench.run(&run("baseline", &["program"])).stdout, "built\n");
    assert!(bench.times().build > 0.0 && bench.times().run > 0.0);
}

#[test]
fn the_users_own_architecture_and_debug_information_stay() {
    let place = Place::new();
    let nvcc = format!("echo \"$@\" > {}/asked; {}", place.path, compiler(""));
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let bench = lab.bench("one").unwrap();
    bench.write("a.cu".into(), "").unwrap();
    bench.build(&build("program", "a.cu", &["-gencode=arch=compute_80,code=sm_80", "-G"])).unwrap();
    assert_eq!(place.read("asked"), "-o program a.cu -gencode=arch=compute_80,code=sm_80 -G\n");
}

#[test]
fn a_refusal_gives_the_first_error_and_the_log() {
    let place = Place::new();
    let nvcc = "echo 'a.cu(3): error: identifier \"foo\" is undefined' >&2; echo '1 error detected' >&2; exit 2";
    let lab = place.lab(place.machine(nvcc, ""), limits());
    let bench = lab.bench("one").unwrap();
    let failure = bench.build(&build("program", "a.cu", &[])).unwrap_err();
    let log = "scenarios/one/program.build.log".into();
    let error = "a.cu(3): error: identifier \"foo\" is undefined".to_owned();
    assert_eq!(failure, BuildFailure::Refused { error, log });
    assert!(place.read("out/scenarios/one/program.build.log").contains("1 error detected"));
    // Another scenario is told of its own copy of the log.
    let other = lab.bench("two").unwrap();
    match other.build(&build("program", "a.cu", &[])).unwrap_err() {
        BuildFailure::Refused { log, .. } => assert_eq!(log, "scenarios/two/program.build.log"),
        failure => panic!("{failure:?}"),
    }
    assert!(place.read("out/scenarios/two/program.build.log").contains("1 error detected"));
}

#[test]
fn a_program_of_an_older_toolkit_is_built_with_what_took_its_place() {
    let place = Place::new();
    let nvcc = format!(
        "case \"$*\" in *-DclockRate=*--extended-lambda*) ;; \
         *-DclockRate=*) echo 'a.cu(9): error: annotation on lambda requires --extended-lambda nvcc flag' >&2; exit 2;; \
         *) echo 'a.cu(3): error: class \"cudaDeviceProp\" has no member \"clockRate\"' >&2; exit 2;; esac; {}",
        compiler("echo built")
    );
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let bench = lab.bench("one").unwrap();
    bench.write("a.cu".into(), "int main() {}").unwrap();
    bench.build(&build("program", "a.cu", &[])).unwrap();
    assert_eq!(bench.run(&run("baseline", &["program"])).stdout, "built\n");
    // What the compiler says of the program itself is asked without.
    let failure = bench.build_as_it_is(&build("compile", "a.cu", &[])).unwrap_err();
    assert!(matches!(failure, BuildFailure::Refused { error, .. } if error.contains("clockRate")));
}

#[test]
fn compilers_fail_in_their_own_ways() {
    let cases = [
        ("sleep 930001 & sleep 930002", BuildFailure::TimedOut),
        ("kill -SEGV $$", BuildFailure::Broken("the compiler was ended by signal 11".to_owned())),
        (
            "echo \"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\"; exit 9",
            BuildFailure::Broken(
                "the compiler broke: nvcc error   : 'cicc' died due to signal 9 (Kill signal)".to_owned(),
            ),
        ),
        ("exit 0", BuildFailure::Broken("the compiler says nothing and leaves no program".to_owned())),
    ];
    for (nvcc, wanted) in cases {
        let place = Place::new();
        let lab = place.lab(place.machine(nvcc, ""), Limits { build: Duration::from_secs(1), ..limits() });
        let failure = lab.bench("one").unwrap().build(&build("program", "a.cu", &[])).unwrap_err();
        assert_eq!(failure, wanted, "{nvcc}");
    }
    assert!(!alive("93000"));
    let place = Place::new();
    let mut machine = place.machine("", "");
    machine.nvcc = None;
    let lab = place.lab(machine.clone(), limits());
    let failure = lab.bench("one").unwrap().build(&build("program", "a.cu", &[])).unwrap_err();
    assert_eq!(failure, BuildFailure::NoCompiler);
    machine.nvcc = Some(lab_support::program("/no/such/nvcc".into()));
    let lab = place.lab(machine, limits());
    match lab.bench("two").unwrap().build(&build("program", "a.cu", &[])).unwrap_err() {
        BuildFailure::Broken(reason) => assert!(reason.contains("/no/such/nvcc"), "{reason}"),
        failure => panic!("{failure:?}"),
    }
}

#[test]
fn the_same_program_is_built_once_also_when_many_ask_at_once() {
    let place = Place::new();
    let nvcc = format!("echo x >> {}/count; sleep 0.5; {}", place.path, compiler("echo $0"));
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    std::thread::scope(|scope| {
        for number in 0..6 {
            let lab = &lab;
            scope.spawn(move || {
                let bench = lab.bench(&number.to_string()).unwrap();
                bench.write("a.cu".into(), "same").unwrap();
                let program = bench.build(&build("program", "a.cu", &[])).unwrap();
                assert_eq!(program, bench.folder.join("program"));
                assert!(bench.folder.join("program.build.log").is_file());
                assert_eq!(bench.run(&run("plain", &["./program"])).end, End::Exit(0));
            });
        }
    });
    assert_eq!(place.read("count"), "x\n");
}

#[test]
fn what_differs_is_built_again_and_a_product_stays_what_it_was() {
    let place = Place::new();
    let nvcc = format!(
        "all=\"$@\"; echo x >> {}/count; for f in a.cu parts/h.cuh; do all=\"$all $(cat $f)\"; done; \
         while [ $# -gt 0 ]; do case $1 in -o) out=$2;; esac; shift; done; \
         printf '#!/bin/sh\\necho \"%s\"\\n' \"$all\" > $out; chmod +x $out",
        place.path
    );
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let product = |id: &str, header: &str, flags: &[&str]| {
        let bench = lab.bench(id).unwrap();
        bench.write("a.cu".into(), "#include \"parts/h.cuh\"").unwrap();
        bench.write("parts/h.cuh".into(), header).unwrap();
        bench.build(&build("program", "a.cu", flags)).unwrap();
        bench.run(&run("plain", &["program"])).stdout
    };
    let first = product("one", "first", &["-DA"]);
    assert!(first.contains("first") && first.contains("-DA"));
    // The header alone differs; the flags alone differ; then the first is asked for again, elsewhere.
    assert!(product("two", "second", &["-DA"]).contains("second"));
    assert!(product("one", "first", &["-DB"]).contains("-DB"));
    assert_eq!(product("three", "first", &["-DA"]), first);
    assert_eq!(place.read("count"), "x\nx\nx\n");
}

/// A watcher that says how it was called, then runs the program.
const SANITIZER: &str = "while [ $# -gt 0 ]; do case $1 in --save) save=$2; shift 2;; --log-file) log=$2; shift 2;; \
                         --xml) shift; break;; *) echo \"$1\"; shift;; esac; done; \
                         echo '<ComputeSanitizerOutput/>' > $save; \"$@\"";

#[test]
fn a_watcher_has_its_options_and_gives_its_report() {
    let place = Place::new();
    let lab = place.lab(place.machine("", SANITIZER), limits());
    let bench = lab.bench("one").unwrap();
    let outcome = bench.run(&watched("memcheck", &["/bin/sh", "-c", "echo program $CUDA_VISIBLE_DEVICES; exit 3"]));
    assert_eq!(outcome.end, End::Exit(3));
    assert_eq!(outcome.report.as_deref(), Some("<ComputeSanitizerOutput/>\n"));
    assert_eq!(outcome.log, "scenarios/one/memcheck.xml");
    assert_eq!(outcome.device.as_deref(), Some("GPU 0"));
    let words: Vec<&str> = outcome.stdout.lines().collect();
    for pair in [["--tool", "memcheck"], ["--report-api-errors", "all"], ["--padding", "65536"]] {
        assert!(words.windows(2).any(|found| found == pair), "{pair:?} in {words:?}");
    }
    assert_eq!(words.last(), Some(&"program 0"));
    assert!(outcome.command.contains("/compute-sanitizer --tool memcheck"), "{}", outcome.command);
    let leak = Run { watcher: Some(Watcher::Leakcheck), ..watched("leakcheck", &["/bin/true"]) };
    assert!(bench.run(&leak).stdout.contains("--leak-check\nfull\n"));
    let race = Run { watcher: Some(Watcher::Racecheck), ..watched("racecheck", &["/bin/true"]) };
    let words = bench.run(&race).stdout;
    assert!(words.starts_with("--tool\nracecheck\n") && !words.contains("--padding"), "{words}");
}

#[test]
fn watchers_at_one_time_have_their_own_ports() {
    let place = Place::new();
    let sanitizer = "while [ $1 != --port ]; do shift; done; echo $2; sleep 1";
    let lab = place.lab(place.machine("", sanitizer), limits());
    let ports = std::sync::Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (lab, ports) = (&lab, &ports);
            scope.spawn(move || {
                let bench = lab.bench(&number.to_string()).unwrap();
                let port = bench.run(&watched("memcheck", &["/bin/true"])).stdout.trim().parse::<u32>().unwrap();
                ports.lock().unwrap().insert(port / 10);
            });
        }
    });
    assert_eq!(ports.into_inner().unwrap().len(), 4);
}

#[test]
fn watchers_fail_in_their_own_ways() {
    let place = Place::new();
    let mut machine = place.machine("", "");
    machine.compute_sanitizer = None;
    let lab = place.lab(machine, limits());
    let missing = lab.bench("missing").unwrap().run(&watched("memcheck", &["/bin/true"]));
    assert_eq!(missing.end, End::NotStarted("there is no compute-sanitizer".to_owned()));

    let place = Place::new();
    let lab = place.lab(place.machine("", "echo half; kill -ABRT $$"), limits());
    let crashed = lab.bench("crashes").unwrap().run(&watched("memcheck", &["/bin/true"]));
    assert_eq!((crashed.end, crashed.report), (End::Signal(6), None));

    let garbage =
        "while [ $1 != --save ]; do shift; done; head -c 3000000 /dev/urandom > $2; head -c 9000 /dev/urandom";
    let place = Place::new();
    let lab = place.lab(place.machine("", garbage), limits());
    let outcome = lab.bench("garbage").unwrap().run(&watched("memcheck", &["/bin/true"]));
    assert_eq!(outcome.end, End::Exit(0));
    assert!(outcome.report.is_some_and(|report| report.len() > 1000));

    let endless = "while [ $1 != --save ]; do shift; done; exec cat /dev/zero > $2";
    let place = Place::new();
    let lab = place.lab(place.machine("", endless), Limits { file_bytes: 1 << 20, ..limits() });
    let bench = lab.bench("endless").unwrap();
    let outcome = bench.run(&watched("memcheck", &["/bin/true"]));
    assert_eq!(outcome.end, End::Signal(25), "SIGXFSZ");
    assert_eq!(std::fs::metadata(bench.folder.join("memcheck.xml")).unwrap().len(), 1 << 20);
}

#[test]
fn a_report_of_an_earlier_run_is_not_taken_for_this_one() {
    let place = Place::new();
    let lab = place.lab(place.machine("", "exit 1"), limits());
    let bench = lab.bench("one").unwrap();
    bench.write("memcheck.xml".into(), "<old/>").unwrap();
    assert_eq!(bench.run(&watched("memcheck", &["/bin/true"])).report, None);
}

#[test]
fn a_busy_gpu_is_left_alone() {
    let place = Place::new();
    let mut machine = place.machine("", "");
    machine.devices = vec![device(0), device(1)];
    machine.devices[0].free_memory = 1 << 30;
    let lab = place.lab(machine.clone(), limits());
    let seen = |lab: &cudalint_verify::lab::Lab| {
        let seen = std::sync::Mutex::new(BTreeSet::new());
        std::thread::scope(|scope| {
            for number in 0..6 {
                let seen = &seen;
                scope.spawn(move || {
                    let bench = lab.bench(&number.to_string()).unwrap();
                    let asks = Run {
                        device: true,
                        ..run("asks", &["/bin/sh", "-c", "sleep 0.3; echo $CUDA_VISIBLE_DEVICES"])
                    };
                    let stdout = bench.run(&asks).stdout;
                    seen.lock().unwrap().insert(stdout);
                });
            }
        });
        seen.into_inner().unwrap()
    };
    assert_eq!(seen(&lab), BTreeSet::from(["1\n".to_owned()]));
    machine.devices[0].free_memory = 1 << 37;
    let lab = place.lab(machine, limits());
    assert_eq!(seen(&lab), BTreeSet::from(["0\n".to_owned(), "1\n".to_owned()]));
}

#[test]
fn no_more_programs_run_on_a_gpu_than_it_is_given() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { runs_per_device: 2, ..limits() });
    let started = Instant::now();
    let waits = std::sync::Mutex::new(0.0);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (lab, waits) = (&lab, &waits);
            scope.spawn(move || {
                let bench = lab.bench(&number.to_string()).unwrap();
                let sleeps = Run { device: true, ..run("sleeps", &["/bin/sleep", "1"]) };
                assert_eq!(bench.run(&sleeps).end, End::Exit(0));
                *waits.lock().unwrap() += bench.times().wait;
            });
        }
    });
    assert!(started.elapsed() >= Duration::from_secs(2));
    assert!(waits.into_inner().unwrap() > 1.5);
}
