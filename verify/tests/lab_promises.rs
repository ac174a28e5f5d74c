//! What docs/verify.md promises of programs that are run, each promise against a program that tries to break it. Where
//! the system has no means for one, the run has to say so, and the test says on standard error that nothing was shown.
//! These tests are in a program of their own because they set variables of this process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

mod lab_support;

use cudalint_verify::lab::{End, Lab, Launcher, Limits, RunOutcome};
use cudalint_verify::run::{Error, Request, verify};
use lab_support::{Place, findings, gone, limits, run};
use std::process::Command;

/// Prints the environment of each process above it that it can read.
const ANCESTORS: &str = r"
import os
process = os.getppid()
while process > 0:
    try:
        print(process, open(f'/proc/{process}/environ', 'rb').read())
    except OSError as error:
        print(process, error)
    text = open(f'/proc/{process}/stat').read()
    process = int(text.rpartition(')')[2].split()[1])
print('all asked')
";

/// Runs a Python program in a lab.
fn python(lab: &Lab, script: &str) -> RunOutcome {
    let bench = lab.bench("one").unwrap();
    bench.write("tries.py".into(), script).unwrap();
    bench.run(&run("tries", &["python3", "tries.py"]))
}

/// Runs one of the ignored tests below in a process whose environment has a secret.
fn with_secret(test: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("GITHUB_TOKEN", "hunter2")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    eprintln!("{said}");
    assert!(output.status.success() && text.contains("1 passed"), "{text}{said}");
}

/// Whether the lab's run shows no secret; where the system cannot hide it the run has to say so.
fn hides_the_secret(lab: &Lab) {
    let outcome = python(lab, ANCESTORS);
    assert!(outcome.stdout.contains("all asked"), "{outcome:?}");
    if lab.notes().iter().any(|note| note.contains("can read the environment")) {
        eprintln!("not shown: this system has nothing that hides the environment of other processes");
        return;
    }
    assert!(!outcome.stdout.contains("hunter2"), "{}", outcome.stdout);
}

#[test]
fn the_environment_of_no_process_above_can_be_read() {
    with_secret("a_program_reads_the_processes_above");
}

#[test]
#[ignore = "started by another test"]
fn a_program_reads_the_processes_above() {
    let place = Place::new();
    hides_the_secret(&place.lab(place.machine("", ""), limits()));
}

#[test]
fn it_cannot_be_read_without_namespaces_either() {
    with_secret("a_program_with_the_network_reads_the_processes_above");
}

#[test]
#[ignore = "started by another test"]
fn a_program_with_the_network_reads_the_processes_above() {
    let place = Place::new();
    let real = lab_support::launcher().program;
    let refuses = "if [ \"$1\" = try ] && [ \"$2\" != kept ]; then echo refused; exit 1; fi";
    let program = place.script("launcher", &format!("{refuses}\nexec {real} \"$@\""));
    let launcher = Launcher { program, arguments: Vec::new() };
    let lab = Lab::new(place.machine("", ""), place.path.join("out"), limits(), launcher);
    hides_the_secret(&lab);
    let notes = lab.notes();
    assert!(notes[0].starts_with("programs keep the network") && notes[0].contains("refused"), "{notes:?}");
}

#[test]
fn a_program_is_not_taken_for_a_child_of_ours() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let outcome = lab.bench("one").unwrap().run(&run("asks", &["/usr/bin/env"]));
    assert!(outcome.stdout.contains("PATH=") && !outcome.stdout.contains("CUDALINT"), "{}", outcome.stdout);
}

#[test]
fn what_was_left_open_is_closed() {
    // A shell that leaves a file open for all that it starts, the lab among them.
    let place = Place::new();
    std::fs::write(place.path.join("secret"), "hunter2").unwrap();
    let output = Command::new("/bin/sh")
        .args(["-c", "exec 7<\"$1\" \"$0\" --exact a_program_lists_its_files --ignored --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(place.path.join("secret"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "started by another test"]
fn a_program_lists_its_files() {
    assert!(std::path::Path::new("/proc/self/fd/7").exists(), "the shell left it open");
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let outcome = lab.bench("one").unwrap().run(&run("lists", &["/bin/sh", "-c", "cat <&7"]));
    assert!(outcome.failed() && !outcome.stdout.contains("hunter2"), "{outcome:?}");
}

#[test]
fn a_program_that_takes_too_much_memory_is_ended() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { memory_bytes: 200 << 20, ..limits() });
    // Two processes of 150 MiB each: it is their sum that counts.
    let script = "import os, time\nos.fork()\nkept = b'x' * (150 << 20)\ntime.sleep(60)";
    assert_eq!(python(&lab, script).end, End::OverLimit("took more than 200 MiB of memory and was ended".to_owned()));
    // What is only reserved is not taken: CUDA reserves more than there is.
    let script = "import mmap\nmmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | 0x4000)\nkept = b'x' * (50 << 20)";
    assert_eq!(python(&lab, script).end, End::Exit(0));
}

#[test]
fn a_program_that_multiplies_is_ended() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { processes: 50, ..limits() });
    let body = "i=0; while [ $i -lt 200 ]; do sleep 918001 & i=$((i+1)); done; wait";
    let outcome = lab.bench("one").unwrap().run(&run("forks", &["/bin/sh", "-c", body]));
    assert_eq!(outcome.end, End::OverLimit("had more than 50 processes at one time and was ended".to_owned()));
    assert!(gone("918001"));
}

#[test]
fn a_program_that_fills_its_folder_is_ended() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), Limits { disk_bytes: 20 << 20, file_bytes: 4 << 20, ..limits() });
    let body = "i=0; mkdir a; while :; do head -c 4000000 /dev/zero > a/$i; i=$((i+1)); sleep 0.05; done";
    let bench = lab.bench("one").unwrap();
    let end = || bench.run(&run("fills", &["/bin/sh", "-c", body])).end;
    let wanted = End::OverLimit("wrote more than 20 MiB into its folder and was ended".to_owned());
    assert_eq!(end(), wanted);
    // What an earlier program left there is not held against the next.
    assert_eq!(bench.run(&run("ends", &["/bin/sleep", "1"])).end, End::Exit(0));
}

#[test]
fn an_outcome_folder_that_is_a_link_is_refused() {
    let place = Place::new();
    let findings = findings(&place, 1);
    let (real, link) = (place.path.join("elsewhere"), place.path.join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    for out in [link.clone(), format!("{link}/").into()] {
        let request = Request::new(&findings, place.machine("", ""), lab_support::launcher(), out);
        let refused = verify(&request, &()).unwrap_err();
        assert!(matches!(&refused, Error::Link(path) if *path == link), "{refused}");
    }
    assert_eq!(real.read_dir().unwrap().count(), 0, "nothing was written there");
    // Nor is what an earlier run left moved along a link.
    let out = place.path.join("out");
    std::fs::write(out.join("run.json"), r#"{"tool": "cudalint"}"#).unwrap();
    std::os::unix::fs::symlink(&real, place.path.join("out.old")).unwrap();
    let request = Request::new(&findings, place.machine("", ""), lab_support::launcher(), out);
    assert!(matches!(verify(&request, &()).unwrap_err(), Error::Link(_)));
}
