//! One finding with the programs that would show it.

use camino::Utf8PathBuf;
use cudalint_findings::model::FindingEntry;

/// A finding to verify and the programs that would show it, best first.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the scenario's folder below `scenarios/`: rule, then the first characters of the fingerprint. Unique in a run.
    pub id: String,
    /// The finding.
    pub finding: FindingEntry,
    /// Programs to try in order, until one decides.
    pub programs: Vec<Candidate>,
}

/// A way to a program: the program, or why there is none.
pub type Candidate = Result<Program, String>;

/// A program that would show a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// CUDA C++, to be built by nvcc.
    Cuda(CudaProgram),
    /// One kernel with data in place of a host program: what NVRTC can build.
    Kernel(KernelProgram),
    /// A Python script.
    Python(PythonProgram),
}

/// How a program came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's file, unchanged.
    AsWritten,
    /// The user's file, included, with its `main` renamed, and a `main` that calls the finding's function or launches
    /// its kernel.
    Around,
    /// The kernel or the statements that matter, cut out of a file that cannot be built.
    Cut,
    /// The user's project, built and run by the user's own commands.
    Project,
}

/// A text that a scenario writes below its own folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioFile {
    /// Relative to the scenario's folder.
    pub path: Utf8PathBuf,
    /// What it holds.
    pub text: String,
}

/// A CUDA C++ program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaProgram {
    /// How it came about.
    pub origin: Origin,
    /// The translation unit: absolute for a user's file, else relative to the scenario's folder.
    pub unit: Utf8PathBuf,
    /// What is written before building.
    pub files: Vec<ScenarioFile>,
    /// Compiler flags of the user's build and of the harness (`-I`, `-D`, `-std`, libraries), without architecture and output.
    pub flags: Vec<String>,
    /// Arguments of the run.
    pub arguments: Vec<String>,
    /// The file of `files` that shows the defect again and stands alone; none for a program as written.
    pub reproducer: Option<Utf8PathBuf>,
    /// The project whose own build makes it, where one does: then `unit` is the finding's file in it, and no flags count.
    pub project: Option<Project>,
}

/// A project that commands of its own build and run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Project {
    /// The folder, absolute, from which commands start.
    pub folder: Utf8PathBuf,
    /// What is copied with it: a folder above, where its files may name others in it; or the same.
    pub base: Utf8PathBuf,
    /// The folder, absolute, that findings' paths start from.
    pub root: Utf8PathBuf,
    /// What removes what an earlier build left, as a shell reads it.
    pub clean: Option<String>,
    /// What builds it; none where nothing is built. `{build}` is a folder of its own: then the project's folder is not
    /// copied.
    pub build: Option<String>,
    /// What runs it, one after the other. None where that is what was built.
    pub run: Vec<String>,
    /// Whether the user has given these commands; else they are what its files suggest.
    pub given: bool,
    /// A file of it, relative to what is copied, and the file that takes its place in the copy.
    pub replaced: Option<(Utf8PathBuf, Utf8PathBuf)>,
}

/// What stands in commands for a folder of their own.
pub const BUILD_FOLDER: &str = "{build}";

impl Project {
    /// Whether its commands keep what they make in a folder of their own.
    pub fn in_place(&self) -> bool {
        self.clean.iter().chain(&self.build).chain(&self.run).any(|command| command.contains(BUILD_FOLDER))
    }
}

/// A kernel and its launch as data.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct KernelProgram {
    /// Device code: the kernel and all it needs, with `#line` directives that keep the user's places.
    pub source: String,
    /// The C++ expression that names the kernel, template arguments included: `scale<float, 4>`.
    pub name: String,
    /// `-D` and `-std` flags.
    pub flags: Vec<String>,
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Dynamic shared memory in bytes.
    pub shared_bytes: u64,
    /// Whether the host program asks for more than 48 KiB of it where that is needed, with
    /// `cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)`. One that does not sees its launch fail.
    pub shared_opt_in: bool,
    /// The arguments in order.
    pub arguments: Vec<KernelArgument>,
    /// `__constant__` and `__device__` globals to set before the launch, with their bytes.
    pub globals: Vec<(String, Vec<u8>)>,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum KernelArgument {
    /// A value: its bytes as the kernel sees them.
    Value(Vec<u8>),
    /// A pointer to device memory of so many bytes, filled with small numbers or left uninitialized.
    Buffer {
        /// Size in bytes.
        bytes: u64,
        /// Whether it is filled before the launch.
        filled: bool,
    },
    /// A pointer to an array of pointers to device buffers of so many bytes each.
    Pointers(Vec<u64>),
}

/// A Python script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PythonProgram {
    /// How it came about.
    pub origin: Origin,
    /// The script: absolute for a user's file, else relative to the scenario's folder.
    pub script: Utf8PathBuf,
    /// What is written before running.
    pub files: Vec<ScenarioFile>,
    /// Packages that must import for the run to say anything: `numba`, `cupy`.
    pub packages: Vec<String>,
    /// As for CUDA programs.
    pub reproducer: Option<Utf8PathBuf>,
    /// What the finding says that it will raise; none where the method is another.
    pub raises: Option<Raise>,
    /// A script of `files` that has what is wrong replaced by what is right, and must end without an exception. Only for
    /// scripts that are cut out.
    pub control: Option<Utf8PathBuf>,
    /// What the script sets by itself, for want of a value in the file: `n = 128`.
    pub made_up: Vec<String>,
    /// The folder of the user's file, where modules lie that it imports; none for a script that lies there itself.
    pub beside: Option<Utf8PathBuf>,
    /// The project whose commands run it, where they do: then `script` is the finding's file in it, and the driver comes into
    /// each Python that they start.
    pub project: Option<Project>,
}

/// How a line of standard output begins that a cut script prints where a value, not an exception, shows the defect.
pub const OBSERVED: &str = "cudalint observed: ";

/// What a finding says that Python will raise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    /// Classes of which one must be raised, without their packages: `AttributeError`, `TypingError`. None where the finding
    /// names none: then nothing can confirm it.
    pub classes: Vec<String>,
    /// What the exception's words must hold: the name that does not exist, in quotes.
    pub words: Vec<String>,
    /// First and last lines of the places where it is raised.
    pub lines: Vec<(u32, u32)>,
}
