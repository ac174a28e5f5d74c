//! A machine in a folder: tools are shell scripts on a path of their own, and another script answers for the driver.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use crate::lab_support::{Place, launcher, script};
use camino::Utf8Path;
use cudalint_verify::machine::{ProbeOptions, Surroundings};
use std::time::Duration;

pub const NVCC: &str = "case $1 in --version) echo 'nvcc: NVIDIA (R) Cuda compiler driver'; \
                        echo 'Cuda compilation tools, release 13.0, V13.0.88';; \
                        --list-gpu-arch) echo compute_80; echo compute_90;; esac";
pub const SANITIZER: &str =
    "echo 'NVIDIA (R) Compute Sanitizer'; echo 'Version 2025.3.1.0 (build 36400806) (public-release)'";
pub const GXX: &str = "echo 'g++ (Debian 12.2.0-14) 12.2.0'";
pub const ADDR2LINE: &str = "echo 'GNU addr2line (GNU Binutils for Debian) 2.40'";
/// Its arguments are `-c SCRIPT QUESTION …`.
pub const PYTHON: &str = r#"case $3 in
where) echo 'cudalint {"version": "3.12.1", "executable": null, "folders": [], "own_packages": true, "managed": false}';;
packages) echo "architecture $4"
echo 'cudalint {"name": "numpy", "begins": true}'
echo 'cudalint {"name": "numpy", "version": "2.4.6", "problem": null}'
echo 'cudalint {"name": "numba", "begins": true}'
echo 'cudalint {"name": "numba", "version": "0.68.0", "problem": null}'
echo 'cudalint {"name": "cupy", "version": null, "problem": null}'
echo 'cudalint {"name": "pycuda", "version": null, "problem": null}'
echo 'cudalint {"name": "cuda-python", "version": "13.0.3", "problem": null}';; esac"#;
pub const NVIDIA_SMI: &str = "echo 'GPU-aaaa, 580.159.03, 143000'; echo 'GPU-bbbb, 580.159.03, 1000'";

/// A driver for CUDA 13.0 with two GPUs, and no NVRTC.
pub fn prober() -> String {
    let device = |index: u32, uuid: &str| {
        format!(
            r#"{{"device":{{"index":{index},"name":"NVIDIA H200","architecture":90,"memory":150000000000,"free_memory":0,"threads_per_block":1024,"shared_bytes_per_block":49152,"shared_bytes_per_block_opt_in":232448}},"uuid":"{uuid}"}}"#
        )
    };
    let answer = format!(r#"{{"cuda":13000,"devices":[{},{}],"problems":[]}}"#, device(0, "aaaa"), device(1, "bbbb"));
    let none = r#"{"version":null,"library":null,"architectures":[],"problem":"its library cannot be opened"}"#;
    format!(
        "case $1 in devices) echo '{answer}';; memory) echo '{}';; nvrtc) echo '{none}';; esac",
        answer.replace(r#""free_memory":0"#, r#""free_memory":7000000000"#)
    )
}

/// The folder of the path.
pub fn tools(place: &Place) -> camino::Utf8PathBuf {
    let folder = place.path.join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Puts a tool on the path.
pub fn tool(place: &Place, name: &str, text: &str) {
    script(&tools(place).join(name), text);
}

/// Puts a working tool of every kind on the path.
pub fn all_tools(place: &Place) {
    for (name, text) in [
        ("nvcc", NVCC),
        ("compute-sanitizer", SANITIZER),
        ("g++", GXX),
        ("addr2line", ADDR2LINE),
        ("python3", PYTHON),
        ("nvidia-smi", NVIDIA_SMI),
    ] {
        tool(place, name, text);
    }
}

/// Options that look nowhere but into the place.
pub fn options(place: &Place, prober: &str) -> ProbeOptions {
    let prober = place.script("prober", prober);
    ProbeOptions {
        surroundings: Surroundings {
            path: vec![tools(place)],
            variables: Vec::new(),
            root: place.path.join("root"),
            executable_folder: None,
        },
        launcher: Some(launcher()),
        prober: Some(vec![prober.into_string()]),
        limit: Duration::from_secs(30),
        import_limit: Duration::from_secs(30),
        ..ProbeOptions::default()
    }
}

/// The same, in no mood to wait: for tools that hang. The others must answer in this time on a busy machine too.
pub fn impatient(place: &Place, prober: &str) -> ProbeOptions {
    let limit = Duration::from_secs(4);
    ProbeOptions { limit, import_limit: limit, ..options(place, prober) }
}

/// A script with its folders.
pub fn script_below(path: &Utf8Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    script(path, text);
}
