//! One program: found, compiled, linked with what it needs of its folder, and run with bounds.

use super::compilers::{compile, link};
use super::headers::Headers;
use super::places;
use super::tools::{Machine, Tools};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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

/// Files of its folder that are linked with a program, at most.
const MAX_SIBLINGS: usize = 24;
/// Seconds, kilobytes of address space, and blocks of 512 bytes of a file that a run may take.
const SECONDS: u32 = 10;
const MEMORY: u64 = 6 << 20;
const BLOCKS: u64 = 1 << 17;

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

/// Runs the executable in a folder of its own, and reads where its calls stand.
fn start(tools: &Tools, folder: &Path, binary: &Path) -> Result<(), String> {
    let (log, work) = (folder.join("log"), tempfile::tempdir().map_err(|error| error.to_string())?);
    // What programs ask their user for are mostly sizes.
    let typed = folder.join("typed");
    fs::write(&typed, "16\n".repeat(400)).map_err(|error| error.to_string())?;
    // Without the network where the system lets us.
    // A GPU's driver takes far more addresses than memory.
    let memory = if tools.machine == Machine::Gpu { String::new() } else { format!("ulimit -v {MEMORY}; ") };
    let script = format!(
        "{memory}ulimit -c 0; ulimit -t {SECONDS}; ulimit -f {BLOCKS}; \
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
        .envs(tools.libraries().map(|folders| ("LD_LIBRARY_PATH", folders)))
        .current_dir(work.path())
        .stdin(File::open(&typed).map_err(|error| error.to_string())?)
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
