//! One program: found, compiled, linked with what it needs of its folder, and run with bounds.

use super::places;
use super::tools::Tools;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A file with a `main`.
pub struct Program {
    pub source: PathBuf,
    pub text: String,
}

/// What a run left.
pub struct Built {
    pub folder: PathBuf,
    /// What `runtime.cpp` wrote.
    pub log: String,
    /// The lines of the log's addresses.
    pub places: String,
    /// Whether it said that all is well.
    pub ended_well: bool,
}

/// Why there is nothing to compare.
pub struct Failure {
    pub cause: String,
    /// Whether it was built.
    pub built: bool,
}

/// All files of the projects that may be included, by their own names.
pub struct Headers(HashMap<String, Vec<PathBuf>>);

/// Folders that are put in for a program, and files of its folder that are linked with it, at most.
const MAX_FOLDERS: usize = 24;
const MAX_SIBLINGS: usize = 24;
/// Seconds, kilobytes of address space, and blocks of 512 bytes of a file that a run may take.
const SECONDS: u32 = 10;
const MEMORY: u64 = 6 << 20;
const BLOCKS: u64 = 1 << 17;

impl Headers {
    /// Reads the names below folders.
    pub fn below(folders: &[PathBuf]) -> Self {
        let mut all: HashMap<String, Vec<PathBuf>> = HashMap::new();
        let mut folders = folders.to_vec();
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name().to_string_lossy().into_owned();
                if kind.is_dir() && name != ".git" {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    all.entry(name).or_default().push(entry.path());
                }
            }
        }
        Self(all)
    }

    /// The folder by which `#include "name"` finds a file: of several, the one that shares most of its path with `near`.
    fn folder(&self, name: &str, near: &Path) -> Option<PathBuf> {
        let wanted = Path::new(name);
        let file = wanted.file_name()?.to_str()?;
        let shared = |path: &PathBuf| path.components().zip(near.components()).take_while(|(a, b)| a == b).count();
        let found = self.0.get(file)?.iter().filter(|path| path.ends_with(wanted));
        let best = found.max_by_key(|path| (shared(path), std::cmp::Reverse(path.as_os_str().len())))?;
        best.ancestors().nth(wanted.components().count()).map(Path::to_owned)
    }
}

impl Program {
    /// Builds and runs, or takes over what an earlier run left.
    pub fn run(&self, tools: &Tools, headers: &Headers) -> Result<Built, Failure> {
        let mut hasher = DefaultHasher::new();
        (&self.source, &self.text, tools.basis).hash(&mut hasher);
        let folder = tools.out.join(format!("{:016x}", hasher.finish()));
        let fail = |built: bool| {
            move |cause: String| Failure {
                cause: cause.chars().take(160).collect::<String>().replace('\n', " "),
                built,
            }
        };
        if let Ok(cause) = fs::read_to_string(folder.join("cause")) {
            let (built, cause) = cause.split_once(' ').unwrap_or(("", &cause));
            return Err(fail(built == "built")(cause.to_owned()));
        }
        if !folder.join("end").is_file() {
            let built = self.make(tools, headers, &folder).map_err(fail(false));
            let ran = built.and_then(|binary| start(tools, &folder, &binary).map_err(fail(true)));
            if let Err(failure) = ran {
                let word = if failure.built { "built" } else { "failed" };
                let _ = fs::write(folder.join("cause"), format!("{word} {}", failure.cause));
                return Err(failure);
            }
        }
        let read = |name: &str| fs::read(folder.join(name)).map(|text| String::from_utf8_lossy(&text).into_owned());
        let ended_well = read("end").is_ok_and(|end| end == "0");
        Ok(Built {
            log: read("log").unwrap_or_default(),
            places: read("places").unwrap_or_default(),
            ended_well,
            folder,
        })
    }

    /// The executable.
    fn make(&self, tools: &Tools, headers: &Headers, folder: &Path) -> Result<PathBuf, String> {
        fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        let mut folders = Vec::new();
        let mut objects = vec![folder.join("main.o")];
        compile(tools, headers, &self.source, &mut folders, &objects[0])?;
        let binary = folder.join("program");
        let mut missing = link(tools, folder, &objects, &binary)?;
        if !missing.is_empty() {
            for (at, sibling) in siblings(&self.source).into_iter().take(MAX_SIBLINGS).enumerate() {
                let object = folder.join(format!("{at}.o"));
                if compile(tools, headers, &sibling, &mut folders, &object).is_ok() {
                    objects.push(object);
                }
            }
            missing = link(tools, folder, &objects, &binary)?;
        }
        for object in &objects {
            let _ = fs::remove_file(object);
        }
        match missing.first() {
            None => Ok(binary),
            Some(first) => Err(format!("not found when linked: {first}")),
        }
    }
}

/// Sources beside a program that may belong to it: those without a `main`.
fn siblings(source: &Path) -> Vec<PathBuf> {
    let entries = source.parent().and_then(|folder| fs::read_dir(folder).ok());
    let mut all: Vec<PathBuf> = entries.into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    all.retain(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        let text = || fs::read(path).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
        path != source && ["cu", "cpp", "cc", "cxx", "c"].contains(&extension) && !text().contains(" main(")
    });
    all.sort();
    all
}

/// Compiles a source, with the folders of the project that its includes need.
fn compile(
    tools: &Tools,
    headers: &Headers,
    source: &Path,
    folders: &mut Vec<PathBuf>,
    object: &Path,
) -> Result<(), String> {
    let is_c = source.extension().is_some_and(|extension| extension == "c");
    loop {
        let mut command = Command::new(&tools.clang);
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
        for folder in folders.iter() {
            command.arg("-I").arg(folder);
        }
        let output = bounded(command.arg("-c").arg(source).arg("-o").arg(object), 90)?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let missing = said.lines().find_map(|line| line.split_once("error: '")?.1.split_once("' file not found"));
        let found = missing.and_then(|(name, _)| headers.folder(name, source));
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
fn link(tools: &Tools, folder: &Path, objects: &[PathBuf], binary: &Path) -> Result<Vec<String>, String> {
    let mut stubs: BTreeSet<String> = BTreeSet::new();
    let mut libraries: Vec<&str> = Vec::new();
    loop {
        let mut code = "void stand_in_unknown(const char *);\n".to_owned();
        for name in &stubs {
            let _ = writeln!(code, "long {name}(void) {{ stand_in_unknown(\"{name}\"); return 0; }}");
        }
        let source = folder.join("stubs.c");
        fs::write(&source, code).map_err(|error| error.to_string())?;
        let mut command = Command::new(&tools.clang);
        command.args(["-no-pie", "-w", "-O0", "-fno-builtin"]).args(objects).arg(&tools.runtime);
        command.args(["-x", "c"]).arg(&source).args(["-lm", "-lpthread"]).args(&libraries).arg("-o").arg(binary);
        let output = bounded(&mut command, 60)?;
        if output.status.success() {
            return Ok(Vec::new());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let names = said.lines().filter_map(|line| line.split_once("undefined reference to `"));
        let names: BTreeSet<String> =
            names.map(|(_, name)| name.trim_end_matches('\'').trim_end_matches('`').to_owned()).collect();
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

/// Runs the executable in a folder of its own, and reads where its calls stand.
fn start(tools: &Tools, folder: &Path, binary: &Path) -> Result<(), String> {
    let (log, work) = (folder.join("log"), tempfile::tempdir().map_err(|error| error.to_string())?);
    // Without the network where the system lets us.
    let script = format!(
        "ulimit -v {MEMORY}; ulimit -c 0; ulimit -t {SECONDS}; ulimit -f {BLOCKS}; \
         if unshare -n true 2>/dev/null; then exec unshare -n timeout -s KILL {} \"$0\"; fi; \
         exec timeout -s KILL {} \"$0\"",
        2 * SECONDS,
        2 * SECONDS
    );
    let status = Command::new("sh")
        .args(["-c", &script])
        .arg(binary)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("CUDALINT_LOG", &log)
        .current_dir(work.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|error| error.to_string())?;
    let text = fs::read(&log).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    let places = places::read(&tools.symbolizer, binary, &text)?;
    // Of the program's own files alone.
    let toolkit = tools.toolkit.display().to_string();
    let own: String = places
        .lines()
        .filter(|line| {
            let file = line.splitn(3, ' ').nth(2).unwrap_or("");
            !file.starts_with("/usr/") && !file.starts_with(&toolkit)
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    let _ = fs::remove_file(binary);
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).map_err(|error| error.to_string());
    write("places", &own)?;
    write("end", &status.code().map_or_else(|| "killed".to_owned(), |code| code.to_string()))
}

/// A tool's run with a bound on its time.
fn bounded(command: &mut Command, seconds: u32) -> Result<Output, String> {
    let mut inner = Command::new("timeout");
    inner.args(["-s", "KILL", &seconds.to_string()]).arg(command.get_program()).args(command.get_args());
    inner.stdin(Stdio::null()).output().map_err(|error| error.to_string())
}
