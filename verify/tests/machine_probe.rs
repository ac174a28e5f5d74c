//! The probe finds tools wherever they are put, says their versions, and is hurt by none of them.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::unnecessary_wraps)]

mod lab_support;
mod machine_support;

use cudalint_verify::machine::{Part, ProbeOptions, Program, Surroundings, probe, survey};
use lab_support::{Place, alive};
use machine_support::{NVCC, SANITIZER, all_tools, impatient, options, prober, script_below, tool, tools};
use std::time::{Duration, Instant};

/// No NVIDIA driver, no NVRTC.
const NOTHING: &str = r#"case $1 in nvrtc) echo '{"version":null,"library":null,"architectures":[],"problem":null}';;
    *) echo '{"cuda":null,"devices":[],"problems":["there is no NVIDIA driver: its library cannot be opened"]}';; esac"#;

fn found(place: &Place, name: &str, version: &str) -> Option<Program> {
    Some(Program { path: tools(place).join(name), version: version.to_owned() })
}

#[test]
fn everything_is_found_with_its_version() {
    let place = Place::new();
    all_tools(&place);
    let machine = probe(&options(&place, &prober()));
    assert_eq!(machine.nvcc, found(&place, "nvcc", "13.0.88"));
    assert_eq!(machine.compute_sanitizer, found(&place, "compute-sanitizer", "2025.3.1"));
    assert_eq!(machine.host_compiler, found(&place, "g++", "12.2.0"));
    assert_eq!(machine.addr2line, found(&place, "addr2line", "2.40"));
    assert_eq!(machine.driver.as_deref(), Some("580.159.03"));
    assert_eq!(machine.driver_cuda, Some(13000));
    let python = machine.python.unwrap();
    assert_eq!(python.program, found(&place, "python3", "3.12.1").unwrap());
    let packages: Vec<_> =
        python.packages.iter().map(|package| (package.name.as_str(), package.version.as_deref())).collect();
    let wanted = [
        ("numpy", Some("2.4.6")),
        ("numba", Some("0.68.0")),
        ("cupy", None),
        ("pycuda", None),
        ("cuda-python", Some("13.0.3")),
    ];
    assert_eq!(packages, wanted);
    // `nvidia-smi` tells the free memory of each, in mebibytes, by what the driver calls it.
    let free: Vec<u64> = machine.devices.iter().map(|device| device.free_memory).collect();
    assert_eq!(free, [143_000 << 20, 1000 << 20]);
    assert_eq!(
        machine.problems,
        ["NVRTC: is neither where the loader looks nor where CUDA's installers and packages put it"]
    );
}

#[test]
fn a_machine_without_anything_says_so_in_a_line_each() {
    let place = Place::new();
    let survey = survey(&options(&place, NOTHING));
    let parts: Vec<(Part, bool)> = survey.faults.iter().map(|fault| (fault.part, fault.missing)).collect();
    let wanted = [
        Part::Driver,
        Part::Python,
        Part::Nvcc,
        Part::HostCompiler,
        Part::Nvrtc,
        Part::ComputeSanitizer,
        Part::Addr2line,
    ];
    assert_eq!(parts, wanted.map(|part| (part, true)));
    assert!(
        survey.machine.problems[0].starts_with("driver: there is no NVIDIA driver"),
        "{:?}",
        survey.machine.problems
    );
    assert!(survey.machine.devices.is_empty() && survey.machine.nvcc.is_none() && survey.machine.python.is_none());
}

#[test]
fn a_tool_that_hangs_is_ended_and_the_others_are_found() {
    for (name, mark) in [
        ("nvcc", "931001"),
        ("compute-sanitizer", "931002"),
        ("python3", "931003"),
        ("addr2line", "931004"),
        ("nvidia-smi", "931005"),
    ] {
        let place = Place::new();
        all_tools(&place);
        // Its own child must go with it.
        tool(&place, name, &format!("/bin/sleep {mark} & /bin/sleep {mark}"));
        let started = Instant::now();
        let machine = probe(&impatient(&place, &prober()));
        assert!(started.elapsed() < Duration::from_secs(20), "{name}: {:?}", started.elapsed());
        assert!(!alive(mark), "{name} lives on");
        assert_eq!(machine.nvcc.is_some(), name != "nvcc");
        assert_eq!(machine.compute_sanitizer.is_some(), name != "compute-sanitizer");
        assert_eq!(machine.python.is_some(), name != "python3");
        assert_eq!(machine.devices.len(), 2, "{name}");
        let said = machine.problems.iter().any(|problem| problem.contains("took longer than 4 s and was ended"));
        // Without `nvidia-smi` the driver itself tells the free memory.
        assert_eq!(said, name != "nvidia-smi", "{name}: {:?}", machine.problems);
        if name == "nvidia-smi" {
            assert_eq!(machine.devices[0].free_memory, 7_000_000_000);
        }
    }
}

#[test]
fn a_driver_that_hangs_or_crashes_is_no_gpu_but_a_reason() {
    for (script, wanted) in [
        ("exec /bin/sleep 931010", "driver: did not answer within 4 s and was ended"),
        ("echo 'CUDA panicked' >&2; kill -SEGV $$", "driver: no answer: signal: 11 (SIGSEGV)"),
        ("echo '{\"cuda\":'", "driver: no answer: exit status: 0"),
        (
            r#"echo '{"cuda":13000,"devices":[],"problems":["cuInit returns CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected"]}'"#,
            "driver: cuInit returns CUDA_ERROR_NO_DEVICE (100): no CUDA-capable device is detected",
        ),
    ] {
        let place = Place::new();
        all_tools(&place);
        let machine = probe(&impatient(&place, script));
        assert!(machine.problems.iter().any(|problem| problem.starts_with(wanted)), "{:?}", machine.problems);
        assert!(machine.devices.is_empty());
        assert!(machine.nvcc.is_some());
        assert!(!alive("931010"));
    }
}

#[test]
fn a_tool_that_prints_garbage_or_fails_is_reported_as_broken() {
    let cases = [
        ("printf 'GIF89a\\001\\377\\033[31m'", "does not say its version, but `GIF89a"),
        ("exit 0", "does not say its version, but ``"),
        ("echo 'cannot open shared object file' >&2; exit 127", "ends with status 127: cannot open shared object file"),
        ("kill -ABRT $$", "was ended by signal 6"),
        ("/bin/cat /dev/zero", "was ended"),
    ];
    for (script, wanted) in cases {
        let place = Place::new();
        all_tools(&place);
        tool(&place, "nvcc", script);
        tool(&place, "compute-sanitizer", script);
        let endless = script.contains("/dev/zero");
        let survey = survey(&if endless { impatient(&place, &prober()) } else { options(&place, &prober()) });
        assert_eq!((survey.machine.nvcc, survey.machine.compute_sanitizer), (None, None), "{script}");
        for part in [Part::Nvcc, Part::ComputeSanitizer] {
            let fault = survey.faults.iter().find(|fault| fault.part == part).unwrap();
            assert!(!fault.missing && fault.reason.contains(wanted), "{script}: {}", fault.reason);
            assert!(!fault.reason.contains('\u{1b}') && fault.reason.len() < 600, "{}", fault.reason);
        }
    }
}

#[test]
fn the_first_that_works_is_taken_and_the_others_are_told() {
    let place = Place::new();
    all_tools(&place);
    tool(&place, "nvcc", "exit 3");
    let toolkit = place.path.join("toolkit");
    script_below(&toolkit.join("bin/nvcc"), NVCC);
    let mut options = options(&place, &prober());
    options.surroundings.variables.push(("CUDA_HOME".to_owned(), toolkit.to_string()));
    let survey = survey(&options);
    assert_eq!(survey.machine.nvcc.unwrap().path, toolkit.join("bin/nvcc"));
    let fault = survey.faults.iter().find(|fault| fault.part == Part::Nvcc).unwrap();
    assert!(fault.reason.ends_with("/bin/nvcc ends with status 3"), "{}", fault.reason);
}

#[test]
fn a_compiler_for_other_gpus_or_drivers_is_passed_over() {
    let versions = [
        (
            "release 14.0, V14.0.10",
            "compute_90",
            "(14.0.10) builds what only a driver for CUDA 14 runs, and this one is for 13.0",
        ),
        ("release 11.2, V11.2.152", "compute_86", "(11.2.152) does not compile for NVIDIA H200 (sm_90)"),
    ];
    for (release, architecture, wanted) in versions {
        let place = Place::new();
        all_tools(&place);
        tool(&place, "nvcc", &format!("case $1 in --version) echo '{release}';; *) echo {architecture};; esac"));
        script_below(&place.path.join("root/usr/local/cuda-13.0/bin/nvcc"), NVCC);
        let survey = survey(&options(&place, &prober()));
        assert_eq!(survey.machine.nvcc.unwrap().version, "13.0.88");
        let fault = survey.faults.iter().find(|fault| fault.part == Part::Nvcc).unwrap();
        assert!(fault.reason.ends_with(wanted), "{}", fault.reason);
    }
}

#[test]
fn toolkits_are_looked_for_where_installers_put_them() {
    let layouts = [
        "root/usr/local/cuda/bin",
        "root/usr/local/cuda-12.4/bin",
        "root/opt/cuda/bin",
        "environment/lib/python3.12/site-packages/nvidia/cu13/bin",
        "environment/lib/python3.9/site-packages/nvidia/cuda_sanitizer_api/bin",
        "home/bin",
    ];
    for layout in layouts {
        let place = Place::new();
        script_below(&place.path.join(layout).join("compute-sanitizer"), SANITIZER);
        let mut options = options(&place, NOTHING);
        let variable = |name: &str, folder: &str| (name.to_owned(), place.path.join(folder).into_string());
        options.surroundings.variables = vec![variable("VIRTUAL_ENV", "environment"), variable("CUDA_PATH", "home")];
        let sanitizer = probe(&options).compute_sanitizer.unwrap();
        assert_eq!(sanitizer.path, place.path.join(layout).join("compute-sanitizer"));
    }
    // The newest of several.
    let place = Place::new();
    for version in ["9.0", "13.1", "12.8"] {
        script_below(&place.path.join(format!("root/usr/local/cuda-{version}/bin/compute-sanitizer")), SANITIZER);
    }
    let sanitizer = probe(&options(&place, NOTHING)).compute_sanitizer.unwrap();
    assert!(sanitizer.path.as_str().contains("cuda-13.1"), "{}", sanitizer.path);
}

#[test]
fn packages_of_python_are_found_where_python_says_and_bring_their_headers() {
    let place = Place::new();
    let packages = place.path.join("anywhere");
    let toolkit = packages.join("nvidia/cu13");
    script_below(&toolkit.join("bin/nvcc"), NVCC);
    std::fs::create_dir_all(toolkit.join("include/cccl")).unwrap();
    std::fs::write(toolkit.join("include/cuda_runtime.h"), "").unwrap();
    let where_ = format!(
        r#"echo 'cudalint {{"version": "3.12.1", "executable": null, "folders": ["{packages}"], "own_packages": true, "managed": false}}'"#
    );
    tool(&place, "python3", &where_);
    let options = ProbeOptions { python: false, ..options(&place, NOTHING) };
    let machine = probe(&options);
    assert_eq!(machine.nvcc.unwrap().path, toolkit.join("bin/nvcc"));
    assert_eq!(machine.headers, [toolkit.join("include"), toolkit.join("include/cccl")]);
    assert!(machine.python.unwrap().packages.is_empty());
}

#[test]
fn nvrtc_is_asked_of_each_library_until_one_fits() {
    let place = Place::new();
    for folder in ["old/lib64", "new/lib"] {
        std::fs::create_dir_all(place.path.join(folder)).unwrap();
        std::fs::write(place.path.join(folder).join("libnvrtc.so.13"), "").unwrap();
    }
    // The child loads what the loader's path says first.
    let prober = format!(
        r#"case $1 in nvrtc) case $LD_LIBRARY_PATH in
        {0}/old/lib64*) echo '{{"version":"14.0","library":"{0}/old/lib64/libnvrtc.so.13","architectures":[90],"problem":null}}';;
        {0}/new/lib*) echo '{{"version":"13.0","library":"{0}/new/lib/libnvrtc.so.13","architectures":[80,90],"problem":null}}';;
        esac;; *) {1};; esac"#,
        place.path,
        prober()
    );
    let mut options = options(&place, &prober);
    let variable = |name: &str, folder: &str| (name.to_owned(), place.path.join(folder).into_string());
    options.surroundings.variables = vec![variable("CUDA_HOME", "old"), variable("CUDA_PATH", "new")];
    let survey = survey(&options);
    let wanted = Program { path: place.path.join("new/lib/libnvrtc.so.13"), version: "13.0".to_owned() };
    assert_eq!(survey.machine.nvrtc, Some(wanted));
    let fault = survey.faults.iter().find(|fault| fault.part == Part::Nvrtc).unwrap();
    assert!(fault.reason.contains("old/lib64: (14.0) builds what only a driver for CUDA 14 runs"), "{}", fault.reason);
}

/// Python's answer to `packages`, after a good answer to `where`.
fn python(place: &Place, packages: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let where_ = r#"echo 'cudalint {"version": "3.12.1", "executable": null, "folders": [], "own_packages": false, "managed": true}'"#;
    tool(place, "python3", &format!("case $3 in where) {where_};; packages) {packages};; esac"));
    let machine = probe(&impatient(place, NOTHING));
    let packages = machine.python.unwrap().packages;
    packages.into_iter().map(|package| (package.name, package.version, package.problem)).collect()
}

#[test]
fn a_package_that_ends_python_is_named() {
    let place = Place::new();
    let found = python(
        &place,
        r#"echo 'cudalint {"name": "numpy", "version": "2.4.6", "problem": null}'
        echo noise >&2; echo 'cudalint {"name": "numba", "begins": true}'; kill -SEGV $$"#,
    );
    let problem = |index: usize| found[index].2.clone().unwrap_or_default();
    assert_eq!((found[0].0.as_str(), problem(0).as_str()), ("numpy", ""));
    assert_eq!(found[1].0, "numba");
    assert_eq!(problem(1), "while `numba` was imported, Python was ended by signal 11: noise");
    // Of the others nothing is known, and that is said.
    assert_eq!((found[2].0.as_str(), found[2].1.clone()), ("cupy", None));
    assert_eq!(problem(2), "was not asked for: Python ended before");
}

#[test]
fn a_package_that_hangs_is_named_and_ended() {
    let place = Place::new();
    let found = python(&place, r#"echo 'cudalint {"name": "numpy", "begins": true}'; /bin/sleep 931020"#);
    assert_eq!(found[0].0, "numpy");
    let problem = found[0].2.clone().unwrap();
    assert_eq!(problem, "while `numpy` was imported, Python took longer than 4 s and was ended");
    assert!(!alive("931020"));
}

#[test]
fn a_python_that_is_none_is_passed_over() {
    let place = Place::new();
    all_tools(&place);
    script_below(&place.path.join("environment/bin/python3"), "echo hello");
    let mut options = options(&place, &prober());
    options.surroundings.variables = vec![("VIRTUAL_ENV".to_owned(), place.path.join("environment").into_string())];
    let machine = probe(&options);
    assert_eq!(machine.python.unwrap().program.path, tools(&place).join("python3"));
    let wanted = format!("Python: {}/environment/bin/python3 does not say what it is, but `hello`", place.path);
    assert!(machine.problems.contains(&wanted), "{:?}", machine.problems);
}

#[test]
fn where_the_executable_is_unknown_nothing_is_looked_for() {
    let options = ProbeOptions { launcher: None, surroundings: Surroundings::default(), ..ProbeOptions::default() };
    let machine = probe(&options);
    assert_eq!(machine.problems, ["nothing can be looked for: the system does not say where this program lies"]);
}
