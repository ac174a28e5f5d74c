//! What programs are built with: clang or nvcc, a reader of line tables, a toolkit, and `runtime.cpp` or `forward.cpp` as a library.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::process::Command;

/// What is compared, and with what.
pub struct Plan {
    /// Folders of projects.
    pub folders: Vec<PathBuf>,
    /// Where programs, their logs and the list of wrong facts are left; what stands there is taken over.
    pub out: PathBuf,
    /// The CUDA toolkit whose headers programs are built with; on a GPU its compiler and libraries, too.
    pub toolkit: PathBuf,
    pub machine: Machine,
    /// Macros that programs are built and read with.
    pub defines: Vec<String>,
    /// Macros that they are built with and not read with: then facts are wrong, as they should be.
    pub misread: Vec<String>,
    /// Only programs whose path contains this.
    pub only: Option<String>,
}

/// What programs run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// Without a GPU: `runtime.cpp` stands for the CUDA runtime.
    None,
    /// On this machine's GPU: `forward.cpp` writes calls down and hands them on.
    Gpu,
}

/// What stands for the CUDA runtime, what stands before it, and what both write.
const RUNTIME: &str = include_str!("runtime.cpp");
const FORWARD: &str = include_str!("forward.cpp");
const LOG: &str = include_str!("log.h");

/// What nvcc puts before a program and clang does not.
const PRELUDE: &str = include_str!("prelude.h");

/// A header of two functions that wheels of the toolkit leave out.
const PROFILER: &str = "#pragma once\n#include <cuda_runtime_api.h>\n\
    extern \"C\" cudaError_t cudaProfilerStart(void);\nextern \"C\" cudaError_t cudaProfilerStop(void);\n";

/// The tools, found once.
pub struct Tools {
    pub machine: Machine,
    /// clang or nvcc.
    pub compiler: String,
    pub symbolizer: Symbolizer,
    pub toolkit: PathBuf,
    pub out: PathBuf,
    /// `runtime.cpp` or `forward.cpp`, compiled.
    pub runtime: PathBuf,
    /// A folder of headers: what nvcc puts before a program, and, empty, what clang includes by itself and a toolkit may lack.
    pub extra: PathBuf,
    /// A file of nothing, which stands for the device's code.
    pub device: PathBuf,
    /// Options of the compiler for macros.
    pub defines: Vec<String>,
    /// Changes when a build may give something else.
    pub basis: u64,
}

impl Tools {
    /// Looks for the tools, and compiles the library.
    pub fn find(plan: &Plan) -> Result<Self, String> {
        let absolute = |path: &PathBuf| std::path::absolute(path).map_err(|error| error.to_string());
        let (toolkit, out) = (absolute(&plan.toolkit)?, absolute(&plan.out)?);
        if !toolkit.join("include/cuda_runtime_api.h").is_file() {
            return Err(format!("{}: no include/cuda_runtime_api.h there", toolkit.display()));
        }
        let (compiler, symbolizer, code) = match plan.machine {
            Machine::None => {
                let symbolizer = newest("llvm-symbolizer").ok_or("llvm-symbolizer is needed")?;
                (newest("clang++").ok_or("clang++ is needed, 16 or newer")?, Symbolizer::Llvm(symbolizer), RUNTIME)
            }
            Machine::Gpu => {
                let nvcc = toolkit.join("bin/nvcc");
                if !nvcc.is_file() {
                    return Err(format!("{}: no bin/nvcc there", toolkit.display()));
                }
                (nvcc.display().to_string(), Symbolizer::Addr2line("addr2line".into()), FORWARD)
            }
        };
        fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        let mut hasher = DefaultHasher::new();
        let defines: Vec<String> =
            plan.defines.iter().chain(&plan.misread).map(|define| format!("-D{define}")).collect();
        (code, LOG, PRELUDE, &compiler, &toolkit, &defines).hash(&mut hasher);
        let basis = hasher.finish();
        let (source, runtime) = (out.join("runtime.cpp"), out.join(format!("runtime-{basis:016x}.o")));
        let (device, extra) = (out.join("device"), out.join("extra"));
        fs::create_dir_all(&extra).map_err(|error| error.to_string())?;
        let write = |path: &PathBuf, text: &str| fs::write(path, text).map_err(|error| error.to_string());
        write(&source, code)?;
        write(&out.join("log.h"), LOG)?;
        write(&device, "")?;
        write(&extra.join("curand_mtgp32_kernel.h"), "")?;
        write(&extra.join("cuda_profiler_api.h"), PROFILER)?;
        write(&extra.join("prelude.h"), PRELUDE)?;
        if !runtime.is_file() {
            let mut command = Command::new(&compiler);
            command.args(["-std=c++17", "-O1", "-w", "-c", "-I"]).arg(toolkit.join("include"));
            let built = command.arg(&source).arg("-o").arg(&runtime).output().map_err(|error| error.to_string())?;
            if !built.status.success() {
                return Err(String::from_utf8_lossy(&built.stderr).into_owned());
            }
        }
        let machine = plan.machine;
        Ok(Self { machine, compiler, symbolizer, toolkit, out, runtime, extra, device, defines, basis })
    }

    /// The folders of the toolkit's libraries.
    pub fn library_folders(&self) -> Vec<PathBuf> {
        let folders = ["lib64", "lib", "targets/x86_64-linux/lib"].map(|name| self.toolkit.join(name));
        folders.into_iter().filter(|folder| folder.is_dir()).collect()
    }

    /// The linker's option for a library, where it is there.
    pub fn library(&self, name: &str) -> Option<String> {
        let is_there = |folder: &PathBuf| {
            [folder.clone(), folder.join("stubs")].iter().any(|folder| folder.join(format!("lib{name}.so")).is_file())
        };
        self.library_folders().iter().any(is_there).then(|| format!("-l{name}"))
    }

    /// Where a program on a GPU finds its libraries, for `LD_LIBRARY_PATH`.
    pub fn libraries(&self) -> Option<OsString> {
        let mut folders = (self.machine == Machine::Gpu).then(|| self.library_folders())?;
        let others = std::env::var_os("LD_LIBRARY_PATH");
        folders.extend(others.iter().flat_map(std::env::split_paths));
        std::env::join_paths(folders).ok()
    }
}

/// What reads a program's line tables.
pub enum Symbolizer {
    Llvm(String),
    Addr2line(String),
}

/// The newest version of a program of LLVM that is there.
fn newest(name: &str) -> Option<String> {
    let versions = (16..40).rev().map(|version| format!("{name}-{version}"));
    versions.chain([name.to_owned()]).find(|name| Command::new(name).arg("--version").output().is_ok())
}
