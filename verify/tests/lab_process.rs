//! Processes of the lab: they end with their time, leave nothing, keep their bounds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lab_support;

use cudalint_verify::lab::{End, Limits};
use lab_support::{AT_ONCE, Place, alive, device, gone, limits, run};
use std::time::{Duration, Instant};

#[test]
fn a_program_gives_its_output_and_status() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    let outcome = bench.run(&run("plain", &["/bin/sh", "-c", "echo out; echo err >&2; pwd; exit 7"]));
    assert_eq!(outcome.end, End::Exit(7));
    assert_eq!(outcome.stdout, format!("out\n{}\n", bench.folder));
    assert_eq!(outcome.stderr, "err\n");
    assert_eq!(outcome.log, "scenarios/one/plain.stderr");
    assert!(outcome.seconds > 0.0 && outcome.seconds < 10.0);
    assert_eq!(lab.notes(), Vec::<String>::new());
}

#[test]
fn a_signal_is_told_from_a_status() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    assert_eq!(bench.run(&run("dies", &["/bin/sh", "-c", "kill -SEGV $$"])).end, End::Signal(11));
    assert_eq!(bench.run(&run("status", &["/bin/sh", "-c", "exit 127"])).end, End::Exit(127));
    match bench.run(&run("missing", &["/no/such/program"])).end {
        End::NotStarted(reason) => assert!(reason.contains("/no/such/program"), "{reason}"),
        end => panic!("{end:?}"),
    }
}

#[test]
fn a_program_that_never_ends_is_ended_with_all_that_it_started() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { run: Duration::from_secs(1), ..limits() });
    let bench = lab.bench("one").unwrap();
    // A child, a grandchild in a session of its own that ignores polite requests, and one that became an orphan.
    let body = "trap '' TERM; sleep 917001 & setsid sh -c \"trap '' TERM; sleep 917002 & wait\" & \
                (setsid sleep 917003 &) ; while :; do sleep 917004; done";
    let started = Instant::now();
    let outcome = bench.run(&run("hangs", &["/bin/sh", "-c", body]));
    assert_eq!(outcome.end, End::TimedOut);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    assert!(!alive("91700"));
}

#[test]
fn what_a_program_leaves_behind_is_ended_too() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    let started = Instant::now();
    let outcome = bench.run(&run("leaves", &["/bin/sh", "-c", "(setsid sleep 918001 &) ; echo done"]));
    assert_eq!((outcome.end, outcome.stdout.as_str()), (End::Exit(0), "done\n"));
    assert!(started.elapsed() < AT_ONCE);
    assert!(!alive("918001"));
}

#[test]
fn endless_output_does_not_fill_the_disk() {
    let place = Place::new();
    let bounds = Limits { run: Duration::from_secs(2), output_bytes: 1 << 20, ..limits() };
    let lab = place.lab(place.machine("", ""), bounds);
    let bench = lab.bench("one").unwrap();
    let outcome = bench.run(&run("prints", &["/bin/sh", "-c", "yes; exit 0"]));
    assert_eq!(outcome.end, End::TimedOut);
    assert_eq!(outcome.stdout.len(), 1 << 20);
    assert_eq!(std::fs::metadata(bench.folder.join("prints.stdout")).unwrap().len(), 1 << 20);
}

#[test]
fn a_file_does_not_grow_beyond_its_bound() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { file_bytes: 1 << 20, ..limits() });
    let bench = lab.bench("one").unwrap();
    let outcome = bench.run(&run("writes", &["/bin/dd", "if=/dev/zero", "of=big", "bs=65536", "count=64"]));
    assert_ne!(outcome.end, End::Exit(0));
    assert_eq!(std::fs::metadata(bench.folder.join("big")).unwrap().len(), 1 << 20);
}

#[test]
fn no_core_file_and_no_new_privileges() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let outcome = lab.bench("one").unwrap().run(&run("asks", &["/bin/sh", "-c", "ulimit -c; cat /proc/self/status"]));
    assert!(outcome.stdout.starts_with("0\n"), "{}", outcome.stdout);
    assert!(outcome.stdout.contains("NoNewPrivs:\t1"), "{}", outcome.stdout);
}

#[test]
fn an_interrupted_lab_ends_its_programs_at_once_and_starts_none() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    let stop = lab.stop.clone();
    let waker = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        stop.request();
    });
    let started = Instant::now();
    assert_eq!(bench.run(&run("hangs", &["/bin/sleep", "919001"])).end, End::Interrupted);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
    waker.join().unwrap();
    assert!(!alive("919001"));
    assert_eq!(bench.run(&run("again", &["/bin/sh", "-c", "echo x"])).end, End::Interrupted);
    assert!(bench.times().interrupted);
}

#[test]
fn a_short_first_run_bounds_the_next() {
    let place = Place::new();
    let bounds = Limits { least: Duration::from_secs(1), factor: 3.0, ..limits() };
    let lab = place.lab(place.machine("", ""), bounds);
    let bench = lab.bench("one").unwrap();
    bench.write("job.sh".into(), "test -e again && exec sleep 920001; touch again").unwrap();
    assert_eq!(bench.run(&run("baseline", &["/bin/sh", "job.sh"])).end, End::Exit(0));
    let started = Instant::now();
    assert_eq!(bench.run(&run("again", &["/bin/sh", "job.sh"])).end, End::TimedOut);
    assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
}

#[test]
fn a_run_on_a_gpu_needs_one_and_any_other_sees_none() {
    let place = Place::new();
    let mut machine = place.machine("", "");
    machine.devices = vec![device(3)];
    let lab = place.lab(machine.clone(), limits());
    let bench = lab.bench("one").unwrap();
    let mut asks = run("asks", &["/bin/sh", "-c", "echo $CUDA_VISIBLE_DEVICES"]);
    assert_eq!(bench.run(&asks).stdout, "-1\n");
    asks.device = true;
    let outcome = bench.run(&asks);
    assert_eq!((outcome.stdout.as_str(), outcome.device.as_deref()), ("3\n", Some("GPU 3")));
    machine.devices.clear();
    let lab = place.lab(machine, limits());
    assert_eq!(lab.bench("two").unwrap().run(&asks).end, End::NotStarted("there is no GPU".to_owned()));
}

#[test]
fn a_program_whose_launcher_is_ended_ends_with_it() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    for (signal, reason) in [("KILL", "the launcher did not answer"), ("TERM", "someone else ended its launcher")] {
        let started = Instant::now();
        let ends = std::thread::scope(|scope| {
            let program =
                run("waits", &["/bin/sh", "-c", "echo $PPID > parent.new; mv parent.new parent; exec sleep 921001"]);
            let waiter = &bench;
            let waits = scope.spawn(move || waiter.run(&program).end);
            let parent = bench.folder.join("parent");
            while !parent.exists() && started.elapsed() < AT_ONCE {
                std::thread::sleep(Duration::from_millis(10));
            }
            let number = std::fs::read_to_string(&parent).unwrap();
            std::fs::remove_file(&parent).unwrap();
            std::process::Command::new("kill").args([&format!("-{signal}"), number.trim()]).status().unwrap();
            waits.join().unwrap()
        });
        match ends {
            End::NotStarted(said) => assert!(said.contains(reason), "{said}"),
            end => panic!("{end:?}"),
        }
        assert!(started.elapsed() < AT_ONCE, "{:?}", started.elapsed());
        // After a killed launcher nobody waits for the program: the kernel has been asked to kill it, and does so soon.
        assert!(gone("exec sleep 921001") && gone("sleep\u{0}921001"));
    }
    assert!(!bench.times().interrupted);
    // A program that tries it itself is kept from it by kernels that know how (Landlock's scope of signals), else it ends, too.
    let script = "kill -TERM $PPID || exit 9; exec sleep 921002";
    match bench.run(&run("turns", &["/bin/sh", "-c", script])).end {
        End::Exit(9) => {}
        End::NotStarted(said) => assert!(said.contains("someone else ended its launcher"), "{said}"),
        end => panic!("{end:?}"),
    }
}
