//! What a program that came with a source tree gets to see: no secrets, no network beside loopback, folders of its own.
//! These tests are in a program of their own because they set variables of this process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lab_support;

use cudalint_verify::lab::End;
use lab_support::{Place, limits, run};
use std::process::Command;

/// Runs this test program again with variables in its environment, for one of the ignored tests below.
fn again(test: &str, variables: &[(&str, &str)]) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn secrets_of_the_session_are_not_passed_on() {
    let secrets = [("GITHUB_TOKEN", "hunter2"), ("AWS_SECRET_ACCESS_KEY", "hunter2"), ("CUDA_TEST", "goes-along")];
    again("a_child_prints_its_environment", &secrets);
}

#[test]
#[ignore = "started by another test"]
fn a_child_prints_its_environment() {
    let place = Place::new();
    let nvcc =
        format!("env > {}/compiler-environment; cat /proc/$PPID/environ >> {0}/compiler-environment", place.path);
    let lab = place.lab(place.machine(&nvcc, ""), limits());
    let bench = lab.bench("one").unwrap();
    let mut prints = run("prints", &["/bin/sh", "-c", "env; tr '\\0' '\\n' < /proc/$PPID/environ"]);
    prints.environment = vec![("OF_THE_RUN".to_owned(), "too".to_owned())];
    let seen = bench.run(&prints).stdout;
    assert!(
        seen.contains("PATH=") && seen.contains("CUDA_TEST=goes-along") && seen.contains("OF_THE_RUN=too"),
        "{seen}"
    );
    assert!(seen.contains(&format!("TMPDIR={}/tmp\n", bench.folder)), "{seen}");
    assert!(!seen.contains("hunter2"), "{seen}");
    drop(bench.build(&lab_support::build("program", "a.cu", &[])));
    let seen = place.read("compiler-environment");
    assert!(seen.contains("PATH=") && !seen.contains("hunter2"), "{seen}");
}

#[test]
fn a_gpu_is_named_as_the_users_own_choice_names_it() {
    again("a_child_prints_its_gpu", &[("CUDA_VISIBLE_DEVICES", "5,GPU-abc,7")]);
}

#[test]
#[ignore = "started by another test"]
fn a_child_prints_its_gpu() {
    let place = Place::new();
    let mut machine = place.machine("", "");
    machine.devices = vec![lab_support::device(1)];
    let lab = place.lab(machine, limits());
    let asks =
        cudalint_verify::lab::Run { device: true, ..run("asks", &["/bin/sh", "-c", "echo $CUDA_VISIBLE_DEVICES"]) };
    assert_eq!(lab.bench("one").unwrap().run(&asks).stdout, "GPU-abc\n");
}

#[test]
fn loopback_is_all_the_network_there_is() {
    let script = r"
import socket
server = socket.socket()
server.bind(('127.0.0.1', 0))
server.listen(1)
socket.create_connection(server.getsockname(), 5).close()
print('loopback works')
print(sorted(name for _, name in socket.if_nameindex()))
try:
    socket.create_connection(('192.0.2.1', 80), 3)
    print('connected')
except OSError as error:
    print(type(error).__name__, error.errno)
";
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    bench.write("tries.py".into(), script).unwrap();
    let outcome = bench.run(&run("tries", &["python3", "tries.py"]));
    if lab.notes().iter().any(|note| note.contains("programs keep the network")) {
        // The kernel forbids it: the run says so, once, and goes on.
        assert_eq!((outcome.end, lab.notes().len()), (End::Exit(0), 1));
        return;
    }
    assert_eq!(outcome.end, End::Exit(0), "{}", outcome.stderr);
    // 101 is ENETUNREACH: there is no way out at all, not merely nobody who answers.
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines, ["loopback works", "['lo']", "OSError 101"]);
}

#[test]
fn nothing_is_read_from_the_terminal() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let outcome = lab.bench("one").unwrap().run(&run("reads", &["/bin/sh", "-c", "cat; echo end"]));
    assert_eq!((outcome.end, outcome.stdout.as_str()), (End::Exit(0), "end\n"));
}

#[test]
fn files_are_written_below_the_scenarios_folder_only() {
    let place = Place::new();
    let lab = place.lab(place.machine("", ""), limits());
    let bench = lab.bench("one").unwrap();
    assert!(bench.write("../escape".into(), "x").is_err());
    assert!(bench.write("/tmp/cudalint-escape".into(), "x").is_err());
    assert_eq!(bench.relative(&bench.write("sub/file".into(), "x").unwrap()), "scenarios/one/sub/file");
}

#[test]
fn a_gpu_that_needs_the_network_keeps_it_and_the_run_says_so() {
    // A launcher for which a GPU can be opened only where there is more than loopback.
    let place = Place::new();
    let real = lab_support::launcher().program;
    let wrapper = format!("if [ \"$1\" = device ]; then\n  [ \"$2\" = kept ]\nelse\n  exec {real} \"$@\"\nfi");
    let launcher =
        cudalint_verify::lab::Launcher { program: place.script("launcher", &wrapper), arguments: Vec::new() };
    let machine = place.machine("", "");
    let lab = cudalint_verify::lab::Lab::new(machine, place.path.join("out"), limits(), launcher);
    let bench = lab.bench("one").unwrap();
    let interfaces = |device| {
        let asks =
            cudalint_verify::lab::Run { device, ..run("asks", &["/bin/sh", "-c", "readlink /proc/self/ns/net"]) };
        bench.run(&asks).stdout
    };
    let own = std::fs::read_link("/proc/self/ns/net").unwrap().to_string_lossy().into_owned();
    assert_eq!(interfaces(true).trim(), own);
    let first = lab.notes();
    assert_eq!(first.len(), 1, "{first:?}");
    if first[0].contains("programs that use the GPU keep the network") {
        assert_ne!(interfaces(false).trim(), own);
    }
}
