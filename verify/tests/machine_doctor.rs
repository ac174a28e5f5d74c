//! What `doctor` says of machines, and that it tries out what it finds.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unnecessary_wraps)]

mod lab_support;
mod machine_support;

use cudalint_verify::machine::doctor::{Diagnosis, State, Trials, diagnose_with};
use cudalint_verify::machine::{Fault, Machine, Package, Part, Program, Python, Survey};
use lab_support::{Place, compiler, device};
use machine_support::{all_tools, options, prober, tool};

fn program(path: &str, version: &str) -> Option<Program> {
    Some(Program { path: path.into(), version: version.to_owned() })
}

fn package(name: &str, version: Option<&str>, problem: Option<&str>) -> Package {
    Package { name: name.to_owned(), version: version.map(str::to_owned), problem: problem.map(str::to_owned) }
}

fn missing(part: Part, reason: &str) -> Fault {
    Fault { part, missing: true, reason: reason.to_owned() }
}

fn python(packages: Vec<Package>) -> Option<Python> {
    let program = program("/usr/bin/python3", "3.12.3").unwrap();
    Some(Python { program, packages, own_packages: false, managed: false })
}

/// A machine on which everything is there.
fn whole() -> Survey {
    let toolkit = "/usr/local/cuda";
    let machine = Machine {
        driver: Some("580.159.03".to_owned()),
        driver_cuda: Some(13000),
        devices: vec![device(0)],
        nvcc: program(&format!("{toolkit}/bin/nvcc"), "13.0.88"),
        host_compiler: program("/usr/bin/g++", "13.3.0"),
        nvrtc: program(&format!("{toolkit}/lib64/libnvrtc.so.13"), "13.0"),
        compute_sanitizer: program(&format!("{toolkit}/bin/compute-sanitizer"), "2025.3.1"),
        addr2line: program("/usr/bin/addr2line", "2.42"),
        python: python(vec![
            package("numpy", Some("2.3.5"), None),
            package("numba", Some("0.68.0"), None),
            package("cupy", Some("14.2.0"), None),
            package("pycuda", None, None),
        ]),
        ..Machine::default()
    };
    Survey { machine, faults: Vec::new() }
}

/// Trials of it that all went well.
fn well() -> Trials {
    let ok = |words: &str| Some(Ok(words.to_owned()));
    Trials {
        nvcc: ok("compiled a program in 1.2 s"),
        program: ok("ran in 0.3 s"),
        nvrtc: ok("compiled and launched a kernel in 0.6 s"),
        nvrtc_ran: true,
        compute_sanitizer: ok("memcheck saw a write beyond an allocation, with its line, in 1.1 s"),
        python: vec![
            ("numba".to_owned(), Ok("a kernel ran in 2.0 s".to_owned())),
            ("cupy".to_owned(), Ok("a kernel ran in 0.9 s".to_owned())),
        ],
        network: ok("programs run without it"),
    }
}

#[test]
fn a_machine_where_everything_is_there() {
    let diagnosis = Diagnosis::of(whole(), &well());
    assert_eq!((diagnosis.ready, diagnosis.exit_status()), (true, 0));
    insta::assert_snapshot!(diagnosis.to_text());
}

#[test]
fn a_machine_where_nothing_is_there() {
    let nowhere = "is neither on PATH nor where CUDA's installers and packages put it";
    let survey = Survey {
        machine: Machine {
            python: python(vec![package("numpy", None, None), package("numba", None, None)]),
            ..Machine::default()
        },
        faults: vec![
            missing(Part::Driver, "there is no NVIDIA driver: its library cannot be opened"),
            missing(Part::Nvcc, nowhere),
            missing(Part::HostCompiler, nowhere),
            missing(Part::Nvrtc, nowhere),
            missing(Part::ComputeSanitizer, nowhere),
            missing(Part::Addr2line, nowhere),
        ],
    };
    let diagnosis = Diagnosis::of(survey, &Trials::default());
    assert_eq!((diagnosis.ready, diagnosis.exit_status()), (false, 3));
    insta::assert_snapshot!(diagnosis.to_text());
}

#[test]
fn packages_that_only_some_programs_need_are_told_with_what_installs_them() {
    let mut survey = whole();
    let python = survey.machine.python.as_mut().unwrap();
    python.packages.push(package("cuda-python", None, None));
    let diagnosis = Diagnosis::of(survey, &well());
    let remedy = |name: &str| {
        let row = diagnosis.rows.iter().find(|row| row.name == name).unwrap();
        assert_eq!((row.state, row.installed_by_command), (State::Missing, false));
        row.remedy.clone().unwrap()
    };
    assert!(remedy("pycuda").contains("pip install pycuda"));
    assert!(remedy("cuda-python").contains("pip install \"cuda-python==13.*\""));
    assert_eq!(diagnosis.install, None);
}

#[test]
fn numba_that_does_not_get_along_with_its_numpy() {
    let mut survey = whole();
    let problem = "AttributeError: module 'numpy' has no attribute 'row_stack'";
    survey.machine.python = python(vec![
        package("numpy", Some("2.5.0"), None),
        package("numba", Some("0.68.0"), Some(problem)),
        package("cupy", Some("14.2.0"), None),
    ]);
    let trials = Trials { python: vec![("cupy".to_owned(), Ok("a kernel ran in 0.9 s".to_owned()))], ..well() };
    let diagnosis = Diagnosis::of(survey, &trials);
    assert!(diagnosis.ready);
    insta::assert_snapshot!(diagnosis.to_text());
}

#[test]
fn a_driver_of_cuda_12_gets_packages_of_cuda_12_and_no_nvcc() {
    let mut survey = whole();
    survey.machine = Machine {
        driver: Some("550.54".to_owned()),
        driver_cuda: Some(12040),
        nvcc: None,
        nvrtc: None,
        compute_sanitizer: None,
        ..survey.machine
    };
    let reason =
        "/usr/bin/nvcc (13.0.88) builds what only a driver for CUDA 13 runs, and this one is for 12.4".to_owned();
    survey.faults.push(Fault { part: Part::Nvcc, missing: false, reason });
    let diagnosis = Diagnosis::of(survey, &Trials { python: Vec::new(), ..Trials::default() });
    let install = diagnosis.install.unwrap();
    assert_eq!(
        install,
        "/usr/bin/python3 -m pip install 'nvidia-cuda-nvrtc-cu12==12.*' 'nvidia-cuda-runtime-cu12==12.*' \
         'nvidia-cuda-cccl-cu12==12.*' 'nvidia-cuda-sanitizer-api-cu12==12.*'"
    );
    let nvcc = diagnosis.rows.iter().find(|row| row.name == "nvcc").unwrap();
    assert_eq!(nvcc.state, State::Broken);
    assert!(nvcc.remedy.as_ref().unwrap().contains("needs an older CUDA Toolkit"));
}

#[test]
fn without_nvcc_kernels_alone_can_be_verified() {
    let mut survey = whole();
    survey.machine.nvcc = None;
    survey.faults.push(missing(Part::Nvcc, "is nowhere"));
    let trials =
        Trials { nvcc: None, program: None, compute_sanitizer: Some(Err("Device not supported".to_owned())), ..well() };
    let diagnosis = Diagnosis::of(survey, &trials);
    assert!(diagnosis.ready);
    assert_eq!(
        diagnosis.conclusions,
        [
            "Findings in CUDA C++ can be verified on GPU 0, in kernels alone: without nvcc no host code runs.",
            "Findings in Python can be verified on GPU 0, with numba, cupy.",
            "Without compute-sanitizer, memory errors and races are looked for with watchpoints, which see less.",
        ]
    );
    assert!(diagnosis.install.unwrap().contains("nvidia-cuda-sanitizer-api==13.0.85"));
}

#[test]
fn a_gpu_on_which_nothing_runs_verifies_nothing() {
    let failed = || Some(Err("no kernel image is available for execution on the device".to_owned()));
    let trials = Trials { program: failed(), nvrtc: failed(), compute_sanitizer: None, python: Vec::new(), ..well() };
    let diagnosis = Diagnosis::of(whole(), &trials);
    assert_eq!((diagnosis.ready, diagnosis.exit_status()), (false, 3));
    let broken: Vec<&str> =
        diagnosis.rows.iter().filter(|row| row.state == State::Broken).map(|row| row.name.as_str()).collect();
    assert_eq!(broken, ["nvcc", "NVRTC"]);
}

#[test]
fn a_python_whose_packages_the_system_manages_gets_an_environment() {
    let mut survey = whole();
    survey.machine.python = python(vec![package("cupy", None, None)]).map(|python| Python { managed: true, ..python });
    let install = Diagnosis::of(survey, &well()).install.unwrap();
    assert!(
        install.starts_with("/usr/bin/python3 -m venv .venv && . .venv/bin/activate && pip install cupy-cuda13x=="),
        "{install}"
    );
}

/// A compiler that answers as the real one does, and whose programs do this.
fn nvcc(place: &Place, program: &str) {
    let (answer, compile) = (machine_support::NVCC, compiler(program));
    let text = format!("PATH=/usr/bin:/bin\ncase $1 in --version|--list-gpu-arch) {answer};; *)\n{compile}\n;; esac");
    tool(place, "nvcc", &text);
}

/// A watcher that answers as the real one does, and watches like this.
fn watcher(place: &Place, watch: &str) {
    tool(
        place,
        "compute-sanitizer",
        &format!("case $1 in --version) {};; *) {watch};; esac", machine_support::SANITIZER),
    );
}

#[test]
fn what_is_found_is_tried_out() {
    let place = Place::new();
    all_tools(&place);
    nvcc(&place, "test $# -eq 0 || echo overrun; echo 'cudalint works'");
    // Watches, and reports what the program says of itself.
    let watch = "while [ $1 != --xml ]; do case $1 in --save) save=$2;; esac; shift; done; shift\n\
                 case $(\"$@\") in overrun*) echo 'Invalid __global__ write of size 4 bytes <line>6</line>' > $save;; esac";
    watcher(&place, watch);
    let script = "case $1 in numba_trial.py) echo 'cudalint works';; *) ";
    tool(&place, "python3", &format!("{script}{};; esac", machine_support::PYTHON));
    let diagnosis = diagnose_with(&options(&place, &prober()));
    let row = |name: &str| diagnosis.rows.iter().find(|row| row.name == name).unwrap();
    assert!(row("nvcc").detail.contains("compiled a program in"), "{}", row("nvcc").detail);
    assert!(row("nvcc").detail.contains("ran in"), "{}", row("nvcc").detail);
    let sanitizer = row("compute-sanitizer");
    assert!(sanitizer.detail.contains("saw a write beyond an allocation, with its line"), "{}", sanitizer.detail);
    assert!(row("numba").detail.contains("a kernel ran in"), "{}", row("numba").detail);
    assert_eq!(row("NVRTC").state, State::Missing);
    assert!(diagnosis.ready);
    let json = serde_json::to_value(&diagnosis).unwrap();
    assert_eq!(json["rows"][0]["state"], "ok");
    assert_eq!(json["machine"]["devices"][0]["architecture"], 90);
}

#[test]
fn a_watcher_that_sees_nothing_is_broken() {
    let place = Place::new();
    all_tools(&place);
    nvcc(&place, "echo 'cudalint works'");
    watcher(&place, "echo '========= Error: Device not supported' >&2; exit 1");
    let diagnosis = diagnose_with(&options(&place, &prober()));
    let row = diagnosis.rows.iter().find(|row| row.name == "compute-sanitizer").unwrap();
    assert_eq!(row.state, State::Broken);
    assert!(row.detail.ends_with("; Error: Device not supported"), "{}", row.detail);
    assert!(diagnosis.ready, "programs run all the same");
}
