//! What programs are built with: clang, its reader of line tables, the headers of a toolkit, and `runtime.cpp` as a library.

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
    /// The CUDA toolkit whose headers programs are built with.
    pub toolkit: PathBuf,
    /// Macros that programs are built and read with.
    pub defines: Vec<String>,
    /// Macros that they are built with and not read with: then facts are wrong, as they should be.
    pub misread: Vec<String>,
    /// Only programs whose path contains this.
    pub only: Option<String>,
}

/// What stands for the CUDA runtime.
pub const RUNTIME: &str = include_str!("runtime.cpp");

/// What nvcc puts before a program and clang does not.
const PRELUDE: &str = include_str!("prelude.h");

/// A header of two functions that wheels of the toolkit leave out.
const PROFILER: &str = "#pragma once\n#include <cuda_runtime_api.h>\n\
    extern \"C\" cudaError_t cudaProfilerStart(void);\nextern \"C\" cudaError_t cudaProfilerStop(void);\n";

/// The tools, found once.
pub struct Tools {
    pub clang: String,
    pub symbolizer: String,
    pub toolkit: PathBuf,
    pub out: PathBuf,
    /// `runtime.cpp`, compiled.
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
        let clang = newest("clang++").ok_or("clang++ is needed, 16 or newer")?;
        let symbolizer = newest("llvm-symbolizer").ok_or("llvm-symbolizer is needed")?;
        fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
        let mut hasher = DefaultHasher::new();
        let defines: Vec<String> =
            plan.defines.iter().chain(&plan.misread).map(|define| format!("-D{define}")).collect();
        (RUNTIME, PRELUDE, &clang, &toolkit, &defines).hash(&mut hasher);
        let basis = hasher.finish();
        let (source, runtime) = (out.join("runtime.cpp"), out.join(format!("runtime-{basis:016x}.o")));
        let (device, extra) = (out.join("device"), out.join("extra"));
        fs::create_dir_all(&extra).map_err(|error| error.to_string())?;
        let write = |path: &PathBuf, text: &str| fs::write(path, text).map_err(|error| error.to_string());
        write(&source, RUNTIME)?;
        write(&device, "")?;
        write(&extra.join("curand_mtgp32_kernel.h"), "")?;
        write(&extra.join("cuda_profiler_api.h"), PROFILER)?;
        write(&extra.join("prelude.h"), PRELUDE)?;
        if !runtime.is_file() {
            let mut command = Command::new(&clang);
            command.args(["-std=c++17", "-O1", "-w", "-c", "-I"]).arg(toolkit.join("include"));
            let built = command.arg(&source).arg("-o").arg(&runtime).output().map_err(|error| error.to_string())?;
            if !built.status.success() {
                return Err(String::from_utf8_lossy(&built.stderr).into_owned());
            }
        }
        Ok(Self { clang, symbolizer, toolkit, out, runtime, extra, device, defines, basis })
    }
}

/// The newest version of a program of LLVM that is there.
fn newest(name: &str) -> Option<String> {
    let versions = (16..40).rev().map(|version| format!("{name}-{version}"));
    versions.chain([name.to_owned()]).find(|name| Command::new(name).arg("--version").output().is_ok())
}
