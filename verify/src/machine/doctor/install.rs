//! The one command that installs what is missing: packages of `PyPI`, in versions that work with each other and with the
//! driver.

use super::Row;
use crate::machine::{Python, Survey};

/// CUDA 13's compiler. Its parts must be of one version: a newer NVVM writes PTX that an older assembler refuses.
const NVCC_13: &[&str] = &[
    "nvidia-cuda-nvcc==13.0.88",
    "nvidia-nvvm==13.0.88",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-cccl==13.0.85",
    "nvidia-curand==10.4.0.35",
];
const NVRTC_13: &[&str] = &[
    "nvidia-cuda-nvrtc==13.0.88",
    "nvidia-cuda-runtime==13.0.96",
    "nvidia-cuda-crt==13.0.88",
    "nvidia-cuda-cccl==13.0.85",
];
const SANITIZER_13: &[&str] = &["nvidia-cuda-sanitizer-api==13.0.85"];
/// numba 0.68 calls a function that numpy 2.5 no longer has.
const NUMPY: &[&str] = &["numpy<2.5"];
const NUMBA_13: &[&str] =
    &["numba==0.68.0", "numba-cuda[cu13]==0.30.4", "nvidia-nvjitlink==13.0.88", "nvidia-nvvm==13.0.88", "numpy<2.5"];
const CUPY_13: &[&str] = &["cupy-cuda13x==14.2.0", "nvidia-cuda-nvrtc==13.0.88", "nvidia-cuda-runtime==13.0.96"];

/// For drivers of CUDA 12. `PyPI` has no nvcc of that version.
const NVRTC_12: &[&str] =
    &["nvidia-cuda-nvrtc-cu12==12.*", "nvidia-cuda-runtime-cu12==12.*", "nvidia-cuda-cccl-cu12==12.*"];
const SANITIZER_12: &[&str] = &["nvidia-cuda-sanitizer-api-cu12==12.*"];
const NUMBA_12: &[&str] = &["numba==0.68.0", "numba-cuda[cu12]==0.30.4", "numpy<2.5"];
const CUPY_12: &[&str] = &["cupy-cuda12x==14.2.0", "nvidia-cuda-nvrtc-cu12==12.*", "nvidia-cuda-runtime-cu12==12.*"];

/// What to install for a row that is not as it should be.
fn packages(row: &Row, older: bool) -> &'static [&'static str] {
    let pick = |for_13, for_12| if older { for_12 } else { for_13 };
    match row.name.as_str() {
        "nvcc" => pick(NVCC_13, &[]),
        "NVRTC" => pick(NVRTC_13, NVRTC_12),
        "compute-sanitizer" => pick(SANITIZER_13, SANITIZER_12),
        "numpy" => NUMPY,
        "numba" if row.detail.contains("module 'numpy'") => NUMPY,
        "numba" => pick(NUMBA_13, NUMBA_12),
        "cupy" => pick(CUPY_13, CUPY_12),
        _ => &[],
    }
}

/// The command; none when nothing that `PyPI` has is missing, or there is no Python to install it.
pub(super) fn command(survey: &Survey, rows: &[Row]) -> Option<String> {
    let python = survey.machine.python.as_ref()?;
    // NVIDIA makes no CUDA for it, and before CUDA 12 its packages have other names and no longer fit numba's and CuPy's.
    if cfg!(target_os = "macos") || survey.machine.driver_cuda.is_some_and(|cuda| cuda < 12000) {
        return None;
    }
    let older = survey.machine.driver_cuda.is_some_and(|cuda| cuda < 13000);
    let mut wanted: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.installed_by_command) {
        for package in packages(row, older) {
            if !wanted.contains(package) {
                wanted.push(package);
            }
        }
    }
    if wanted.is_empty() {
        return None;
    }
    let words: Vec<String> = wanted.into_iter().map(crate::lab::quoted).collect();
    Some(format!("{} {}", installer(python), words.join(" ")))
}

/// How this Python installs packages. One whose packages the system manages refuses to: then it makes an environment of
/// the user's, which must be active when cudalint looks.
fn installer(python: &Python) -> String {
    let interpreter = crate::lab::quoted(python.program.path.as_str());
    if python.managed {
        format!("{interpreter} -m venv .venv && . .venv/bin/activate && pip install")
    } else {
        format!("{interpreter} -m pip install")
    }
}
