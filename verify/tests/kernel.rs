//! Kernels without a host program: what the lab is given to run, and what the child says where there is no GPU.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod lab_support;

use cudalint_verify::kernel::{KernelReport, Plan, Problem, kernel_command};
use cudalint_verify::lab::{End, Run, Watcher};
use cudalint_verify::machine::Machine;
use cudalint_verify::scenario::{KernelArgument, KernelProgram};
use lab_support::{Place, device, launcher, limits, program};

fn kernel() -> KernelProgram {
    KernelProgram {
        source: "__global__ void k(int *p, int n) { p[n] = 1; }\n".to_owned(),
        name: "k".to_owned(),
        flags: vec!["-DN=4".to_owned()],
        grid: [4, 1, 1],
        block: [256, 1, 1],
        shared_bytes: 0,
        shared_opt_in: false,
        arguments: vec![
            KernelArgument::Buffer { bytes: 4000, filled: true },
            KernelArgument::Value(1000i32.to_ne_bytes().to_vec()),
        ],
        globals: Vec::new(),
    }
}

fn machine(devices: usize) -> Machine {
    Machine {
        nvrtc: Some(program("/cuda/lib/libnvrtc.so.13".into())),
        headers: vec!["/cuda/include".into()],
        devices: (0..devices).map(|index| device(index as u32)).collect(),
        ..Machine::default()
    }
}

fn plan(place: &Place) -> Plan {
    serde_json::from_str(&place.read("out/scenarios/one/kernel.json")).unwrap()
}

#[test]
fn a_kernel_is_a_plan_and_a_run_that_a_watcher_can_watch() {
    let place = Place::new();
    let lab = place.lab(machine(1), limits());
    let bench = lab.bench("one").unwrap();
    let run = kernel_command(&bench, &kernel()).unwrap();
    assert_eq!(run.command, [launcher().program.as_str(), "__kernel", "kernel.json"]);
    assert!(run.device && run.watcher.is_none());
    let (name, value) = &run.environment[0];
    assert_eq!(name, "LD_LIBRARY_PATH");
    assert!(value == "/cuda/lib" || value.starts_with("/cuda/lib:"), "{value}");
    let wanted = Plan {
        program: kernel(),
        file: "kernel.cu".to_owned(),
        headers: vec!["/cuda/include".into()],
        compile_for: None,
    };
    assert_eq!(plan(&place), wanted);
    // The source lies beside the plan: places that no `#line` names are its lines.
    assert_eq!(place.read("out/scenarios/one/kernel.cu"), kernel().source);
}

#[test]
fn without_a_gpu_the_kernel_is_compiled_and_not_launched() {
    let place = Place::new();
    let lab = place.lab(machine(0), limits());
    let bench = lab.bench("one").unwrap();
    let run = kernel_command(&bench, &kernel()).unwrap();
    assert!(!run.device);
    assert_eq!(plan(&place).compile_for, Some(80));
}

#[test]
fn without_nvrtc_there_is_no_run() {
    let place = Place::new();
    let lab = place.lab(Machine::default(), limits());
    let reason = kernel_command(&lab.bench("one").unwrap(), &kernel()).unwrap_err();
    assert_eq!(reason, "there is no NVRTC to compile a kernel with");
}

/// What the child reports of a file that holds this text.
fn child(text: &str) -> (End, KernelReport) {
    let place = Place::new();
    let lab = place.lab(machine(1), limits());
    let bench = lab.bench("one").unwrap();
    let run = kernel_command(&bench, &kernel()).unwrap();
    bench.write("kernel.json".into(), text).unwrap();
    let outcome = bench.run(&Run { device: false, ..run });
    let report = KernelReport::read(&outcome.stdout).unwrap_or_else(|| panic!("{outcome:?}"));
    (outcome.end, report)
}

#[test]
fn a_plan_that_is_none_is_a_problem_and_no_crash() {
    for text in ["", "{", "[]", r#"{"program": 3}"#] {
        let (end, report) = child(text);
        assert_eq!(end, End::Exit(2), "{text}");
        match report.problem {
            Some(Problem::Plan(reason)) => assert!(reason.starts_with("kernel.json: "), "{reason}"),
            problem => panic!("{text}: {problem:?}"),
        }
    }
}

#[test]
fn where_a_library_is_missing_the_report_says_which() {
    if cudalint_gpu::driver::present() {
        // There is a driver: this is a machine with a GPU.
        return;
    }
    let plan = Plan { program: kernel(), file: "kernel.cu".to_owned(), headers: Vec::new(), compile_for: None };
    let (end, report) = child(&serde_json::to_string(&plan).unwrap());
    assert_eq!(end, End::Exit(2));
    let wanted = ["NVRTC's library cannot be opened", "there is no NVIDIA driver"];
    assert!(
        matches!(&report.problem, Some(Problem::Machine(reason)) if wanted.contains(&reason.as_str())),
        "{report:?}"
    );
}

#[test]
fn a_watched_kernel_is_the_watchers_program() {
    let place = Place::new();
    let mut machine = machine(1);
    let watcher = "while [ $1 != --xml ]; do shift; done; shift; echo \"$2 $3\"";
    machine.compute_sanitizer = Some(program(place.script("compute-sanitizer", watcher)));
    let lab = place.lab(machine, limits());
    let bench = lab.bench("one").unwrap();
    let run = kernel_command(&bench, &kernel()).unwrap();
    let outcome = bench.run(&Run { watcher: Some(Watcher::Memcheck), ..run });
    assert_eq!(outcome.stdout, "__kernel kernel.json\n");
}

#[test]
fn the_plans_that_are_tried_on_a_gpu_are_plans() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let script = std::fs::read_to_string(folder.join("try.sh")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let plan: Plan = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            assert!(plan.program.source.contains("__global__"), "{}", path.display());
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(script.contains(&format!("must {name} ")), "{name} is never tried");
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}
