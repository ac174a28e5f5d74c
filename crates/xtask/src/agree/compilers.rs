//! How a program's sources are compiled and linked: by clang, the host's part alone, or by nvcc, for a GPU.

use super::headers::Headers;
use super::tools::{Machine, Tools};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Folders that are put in for a program, at most.
const MAX_FOLDERS: usize = 24;

/// Libraries of the toolkit that programs use, where they are there.
const LIBRARIES: [&str; 8] = ["cublas", "cusparse", "cusolver", "cufft", "curand", "nvrtc", "nppc", "cuda"];

/// The host's part of a source, by clang.
fn clang(tools: &Tools, is_c: bool) -> Command {
    let mut command = Command::new(&tools.compiler);
    if is_c {
        command.args(["-x", "c", "-std=gnu11"]);
    } else {
        command.args(["-x", "cuda", "-std=c++17", "--cuda-host-only", "-nocudalib", "--cuda-gpu-arch=sm_80"]);
        command.arg(format!("--cuda-path={}", tools.toolkit.display()));
        command.args(["-Xclang", "-fcuda-include-gpubinary", "-Xclang"]).arg(&tools.device);
        command.args(["-include", "prelude.h", "-idirafter"]).arg(&tools.extra);
    }
    command.args(&tools.defines).args([
        "-O0",
        "-gline-tables-only",
        "-w",
        "-Wno-error",
        "-Wno-c++11-narrowing",
        "-ferror-limit=3",
    ]);
    command.args(["-fno-omit-frame-pointer", "-I"]).arg(tools.toolkit.join("include"));
    command
}

/// A source, by nvcc, whose line tables name the source's own lines.
fn nvcc(tools: &Tools, is_c: bool) -> Command {
    let mut command = Command::new(&tools.compiler);
    if !is_c {
        command.args(["-std=c++17", "-arch=native"]);
    }
    // Readers of line tables that are not the newest take files of version 5 for each other.
    command.args(&tools.defines).args(["-g", "-w", "-Xcompiler", "-fno-omit-frame-pointer,-fno-pie,-gdwarf-4"]);
    command
}

/// Compiles a source, with the folders of the project that its includes need.
pub fn compile(
    tools: &Tools,
    headers: &Headers,
    source: &Path,
    folders: &mut Vec<PathBuf>,
    object: &Path,
) -> Result<(), String> {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    loop {
        let mut command = match tools.machine {
            Machine::None => clang(tools, is_c),
            Machine::Gpu => nvcc(tools, is_c),
        };
        for folder in folders.iter() {
            command.arg("-I").arg(folder);
        }
        let output = bounded(command.arg("-c").arg(source).arg("-o").arg(object), 90)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let missing = said.lines().find_map(|line| {
            let (_, what) = line.split_once("error: ")?;
            what.strip_suffix(": No such file or directory")
                .or_else(|| what.strip_prefix('\'')?.strip_suffix("' file not found"))
        });
        let found = missing.and_then(|name| headers.folder(name, source));
        match found {
            Some(folder) if !folders.contains(&folder) && folders.len() < MAX_FOLDERS => folders.push(folder),
            _ => {
                let first = said.lines().find_map(|line| line.split_once("error: ")).map(|(_, what)| what.to_owned());
                return Err(first.unwrap_or(said));
            }
        }
    }
}

/// Links; functions of CUDA and its libraries that `runtime.cpp` does not have give 0. What else is missing is handed back.
pub fn link(tools: &Tools, folder: &Path, objects: &[PathBuf], binary: &Path) -> Result<Vec<String>, String> {
    let mut stubs: BTreeSet<String> = BTreeSet::new();
    let mut libraries: Vec<&str> = Vec::new();
    if tools.machine == Machine::Gpu {
        return link_for_gpu(tools, objects, binary);
    }
    loop {
        let mut code = "void stand_in_unknown(const char *);\n".to_owned();
        for name in &stubs {
            let _ = writeln!(code, "long {name}(void) {{ stand_in_unknown(\"{name}\"); return 0; }}");
        }
        let source = folder.join("stubs.c");
        fs::write(&source, code).map_err(|error| error.to_string())?;
        let mut command = Command::new(&tools.compiler);
        command.args(["-no-pie", "-w", "-O0", "-fno-builtin"]).args(objects).arg(&tools.runtime);
        command.args(["-x", "c"]).arg(&source).args(["-lm", "-lpthread"]).args(&libraries).arg("-o").arg(binary);
        let output = bounded(&mut command, 60)?;
        if output.status.success() {
            return Ok(Vec::new());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let names = undefined(&said);
        let is_library = |name: &&String| {
            let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            plain && ["cu", "nvtx", "nvml", "npp", "nvrtc", "gl", "__cuda"].iter().any(|start| name.starts_with(start))
        };
        let more: Vec<String> = names.iter().filter(is_library).cloned().collect();
        let others: Vec<String> = names.iter().filter(|name| !is_library(name)).cloned().collect();
        if libraries.is_empty() && names.iter().any(|name| name.starts_with("omp_")) {
            libraries.push("-lgomp");
            continue;
        }
        if names.is_empty() {
            return Err(said.lines().last().unwrap_or("not linked").to_owned());
        }
        if !others.is_empty() || more.iter().all(|name| stubs.contains(name)) {
            return Ok(if others.is_empty() { more } else { others });
        }
        stubs.extend(more);
    }
}

/// Links for a GPU: `forward.cpp` stands before the runtime, which is a shared library so that both can have a function of one name.
fn link_for_gpu(tools: &Tools, objects: &[PathBuf], binary: &Path) -> Result<Vec<String>, String> {
    let mut command = Command::new(&tools.compiler);
    command.args(["-cudart", "shared", "-Xcompiler", "-no-pie", "-w"]).args(objects).arg(&tools.runtime);
    for folder in tools.library_folders() {
        command.arg("-L").arg(&folder).arg("-L").arg(folder.join("stubs"));
    }
    command.args(["-Xlinker", "--as-needed"]).args(LIBRARIES.iter().filter_map(|name| tools.library(name)));
    command.args(["-lgomp", "-lm", "-lpthread", "-ldl", "-o"]).arg(binary);
    let output = bounded(&mut command, 90)?;
    if output.status.success() {
        return Ok(Vec::new());
    }
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let names = undefined(&said);
    if names.is_empty() {
        Err(said.lines().last().unwrap_or("not linked").to_owned())
    } else {
        Ok(names.into_iter().collect())
    }
}

/// The names that a linker found nowhere.
fn undefined(said: &str) -> BTreeSet<String> {
    let names = said.lines().filter_map(|line| line.split_once("undefined reference to `"));
    names.map(|(_, name)| name.trim_end_matches('\'').trim_end_matches('`').to_owned()).collect()
}

/// A tool's run with a bound on its time.
fn bounded(command: &mut Command, seconds: u32) -> Result<Output, String> {
    let mut inner = Command::new("timeout");
    inner.args(["-s", "KILL", &seconds.to_string()]).arg(command.get_program()).args(command.get_args());
    inner.stdin(Stdio::null()).output().map_err(|error| error.to_string())
}
