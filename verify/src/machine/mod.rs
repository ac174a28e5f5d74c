//! The machine: devices, compilers and tools that a run can use, as a [`probe`] found them, and what a person should know
//! of them ([`doctor`]).

mod compilers;
mod devices;
pub mod doctor;
mod fault;
mod options;
mod probe;
mod python;
mod search;
mod versions;

pub(crate) use compilers::library_path;
pub use devices::probe_main;
pub use fault::{Fault, Part};
pub use options::ProbeOptions;
pub use probe::{Survey, probe, survey};
pub use search::Surroundings;

use camino::Utf8PathBuf;
use serde::{Deserialize, Serialize};

/// A program of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Where it is.
    pub path: Utf8PathBuf,
    /// Its version, as it names it: `13.0.88`, `2025.3.1`.
    pub version: String,
}

/// A GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Number by which the driver knows it.
    pub index: u32,
    /// `NVIDIA H200`.
    pub name: String,
    /// Compute capability as `major * 10 + minor`: 90 for `sm_90`.
    pub architecture: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of memory that are free.
    pub free_memory: u64,
    /// Threads of a block at most.
    pub threads_per_block: u32,
    /// Bytes of shared memory of a block: without asking, and at most.
    pub shared_bytes_per_block: u32,
    /// The most that a kernel may be allowed with `cudaFuncAttributeMaxDynamicSharedMemorySize`, in bytes.
    pub shared_bytes_per_block_opt_in: u32,
}

/// A Python interpreter and its GPU packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Python {
    /// The interpreter.
    pub program: Program,
    /// Names and versions of the packages that import, and why others do not: numpy, numba, cupy, pycuda. Empty where
    /// nobody asked for packages.
    pub packages: Vec<Package>,
    /// Whether its packages are its own: a virtual environment.
    #[serde(default)]
    pub own_packages: bool,
    /// Whether the system manages its packages and `pip` refuses to (PEP 668).
    #[serde(default)]
    pub managed: bool,
}

/// A Python package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its version; none where it is not installed.
    pub version: Option<String>,
    /// Why it does not work although it is there, in one line.
    pub problem: Option<String>,
}

/// What a probe found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Version of the driver: `580.159`.
    pub driver: Option<String>,
    /// The newest CUDA that the driver supports, as CUDA counts: 13000 for 13.0.
    #[serde(default)]
    pub driver_cuda: Option<u32>,
    /// GPUs that can be used, in the driver's order.
    pub devices: Vec<Device>,
    /// The CUDA compiler.
    pub nvcc: Option<Program>,
    /// The compiler that nvcc calls for host code.
    #[serde(default)]
    pub host_compiler: Option<Program>,
    /// The run-time compiler's library.
    pub nvrtc: Option<Program>,
    /// Folders of CUDA's headers, for the run-time compiler.
    #[serde(default)]
    pub headers: Vec<Utf8PathBuf>,
    /// The tools that watch kernels.
    pub compute_sanitizer: Option<Program>,
    /// `addr2line`, which gives return addresses their source lines.
    pub addr2line: Option<Program>,
    /// Python.
    pub python: Option<Python>,
    /// What was looked for and is not usable, in one line each with the reason.
    pub problems: Vec<String>,
}

impl Machine {
    /// The architecture to compile for: that of the first device, else `sm_80`, which every supported one can run.
    pub fn architecture(&self) -> u32 {
        self.devices.first().map_or(80, |device| device.architecture)
    }
}
