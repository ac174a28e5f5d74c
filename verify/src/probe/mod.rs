//! The probe: C++ that is put before a program's own code and linked with it. It writes down each call of the CUDA
//! runtime and driver and each launch, with place and status, and does what an experiment asks at one of them: hand
//! another status back, leave a real error behind a launch, read memory back. The program's files stay as they are.

pub mod headers;

use crate::lab::{Bench, Run};
use crate::tools::probe_log::{self, Place, Trace};
use crate::{api, spelled};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Library, Side};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Error, Result};

const HEADER: &str = include_str!("cudalint_probe.cuh");
const INTERNAL: &str = include_str!("cudalint_probe_internal.h");
const SOURCE: &str = include_str!("cudalint_probe.cpp");
const MEMORY: &str = include_str!("cudalint_probe_memory.h");
const DELAY: &str = include_str!("cudalint_probe_delay.h");
const TIME: &str = include_str!("cudalint_probe_time.h");
const PAIR: &str = include_str!("cudalint_probe_pair.cuh");
const TOUCH: &str = include_str!("cudalint_probe_touch.cuh");

/// What a header of the probe is to do beside reporting CUDA's own functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// Functions of the project, or of libraries, whose calls are reported on these lines.
    pub functions: Vec<WatchedFunction>,
    /// Two shared arrays whose addresses a kernel notes.
    pub pair: Option<WatchedPair>,
    /// A pointer or array of the host whose uses are reported.
    pub touch: Option<WatchedTouch>,
    /// A call that is left out of the program.
    pub without: Option<LeftOut>,
    /// Headers of CUDA's libraries that the program includes: [`headers::of`].
    pub headers: Vec<String>,
}

/// A function whose calls are reported on some lines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WatchedFunction {
    /// Its name without qualification.
    pub name: String,
    /// Whether template arguments follow the name, so that a macro with parameters would not see the call.
    pub is_template: bool,
    /// The lines.
    pub lines: Vec<u32>,
}

/// Two arrays that are visible on a line that uses the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedPair {
    /// The one that the line need not name.
    pub first: String,
    /// The one that the line uses.
    pub second: String,
    /// The line.
    pub line: u32,
}

/// A pointer or array of the host that is used on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedTouch {
    /// Its name.
    pub name: String,
    /// The lines.
    pub lines: Vec<u32>,
}

/// A call that is left out: of a status the program gets success, of a barrier nothing is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The function's name.
    pub name: String,
    /// Whether it returns a status.
    pub is_status: bool,
    /// The line.
    pub line: u32,
}

/// What a run is asked to do at its site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Task {
    /// Nothing: the log alone.
    #[default]
    Trace,
    /// The call reports a failure.
    Status,
    /// A launch that the runtime refuses follows the launch.
    Launch,
    /// Calls that wait after the launch report that its kernel failed.
    Asynchronous,
    /// What memsets and copies write is read back; fresh device memory holds words of 1.
    Memory,
    /// The launch is compared with one of more threads; fresh device memory holds words of 1.
    Cover,
    /// Addresses that a kernel noted are read back after each launch.
    Pair,
    /// The launch is not made; what copies bring to the host is hashed.
    Skip,
    /// One piece of work waits in its stream, and what is done before its end is looked at.
    Delay,
    /// One piece of work is repeated, and what that takes is measured.
    Time,
}

/// Where a run does something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// The call of this number.
    Call(u64),
    /// The launch at this offset.
    Launch(u64),
}

/// What may come before the end of work that is delayed, as a run without a delay has numbered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// Work that is started: a launch, a copy, a set, a free in a stream's order.
    Work(u64),
    /// A use of the pointer that is watched, by which the host reads or writes.
    Touch {
        /// Its number.
        number: u64,
        /// Whether it reads.
        reads: bool,
    },
    /// The call of a function that is no status.
    Look(u64),
}

/// Work that waits in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delayed {
    /// Its number.
    pub work: u64,
    /// What may come too early.
    pub moment: Moment,
    /// Whether that waits for the device first.
    pub waits: bool,
}

/// What a run is asked to do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What.
    pub task: Task,
    /// Where, each with the status that it hands back; tasks that look at every call need none. At most 64.
    pub sites: Vec<(Site, i64)>,
    /// Which turn of a site, from 1, counted over all sites; 0 for every one.
    pub turn: u64,
    /// Whether the failure is kept out of the last error, where a real one would stay.
    pub silent: bool,
    /// Whether the program stops where the site fails: the checked twin.
    pub checked: bool,
    /// The end of a file's path whose calls see real statuses: that of the harness.
    pub blind: Option<String>,
    /// Threads that a covering launch needs at least.
    pub threads: u64,
    /// What is delayed; none of a run that only numbers.
    pub delayed: Option<Delayed>,
    /// The number of the work that is measured; none of a run that only numbers.
    pub measured: Option<u64>,
}

/// Whether the probe reports calls of this function without being asked: it returns a status in one of the headers that
/// the probe includes.
fn is_reported(api: ApiId) -> bool {
    matches!(api.library, Library::Runtime | Library::Driver | Library::Nvrtc)
        && api.returns_status()
        && api.side != Side::Device
        && !api.is_for_graphics()
}

/// Whether the probe reports calls of a function of this name without being asked.
pub fn reports(function: &str) -> bool {
    api::is(function, is_reported)
}

/// The flags that put the probe into a program: give them to [`Bench::build`] after the program's own. They name files
/// to compile as well.
///
/// # Errors
/// Those of the file system.
pub fn flags(bench: &Bench<'_>) -> Result<Vec<String>> {
    flags_for(bench, &Watch::default())
}

/// As [`flags`], with more to watch.
///
/// # Errors
/// Those of the file system.
pub fn flags_for(bench: &Bench<'_>, watch: &Watch) -> Result<Vec<String>> {
    let folder = bench.lab.folder.join("probe");
    let source = source(&folder)?;
    let hooks = header(&folder, watch)?;
    let mut flags: Vec<String> = ["-include", hooks.as_str(), source.as_str()].map(str::to_owned).into();
    // Places of launches come from the host's debug information, without inlining.
    flags.extend(["-g", "-Xcompiler", "-O0", "-Xcompiler", "-fno-omit-frame-pointer"].map(str::to_owned));
    flags.extend(spelled::probed());
    Ok(flags)
}

/// Writes the half of the probe that is linked, and gives its path.
///
/// # Errors
/// Those of the file system.
pub(crate) fn source(folder: &Utf8Path) -> Result<Utf8PathBuf> {
    std::fs::create_dir_all(folder)?;
    keep(&folder.join("cudalint_probe_internal.h"), INTERNAL)?;
    keep(&folder.join("cudalint_probe_memory.h"), MEMORY)?;
    keep(&folder.join("cudalint_probe_delay.h"), DELAY)?;
    keep(&folder.join("cudalint_probe_time.h"), TIME)?;
    keep(&folder.join("cudalint_probe.cpp"), SOURCE)
}

/// Writes the header that is put before the user's code, and gives its path.
///
/// # Errors
/// Those of the file system.
pub(crate) fn header(folder: &Utf8Path, watch: &Watch) -> Result<Utf8PathBuf> {
    std::fs::create_dir_all(folder)?;
    keep(&folder.join("cudalint_probe.cuh"), HEADER)?;
    keep(&folder.join("cudalint_probe_pair.cuh"), PAIR)?;
    keep(&folder.join("cudalint_probe_touch.cuh"), TOUCH)?;
    let hooks = hooks(watch);
    keep(&folder.join(format!("hooks_{}.cuh", crate::receipt::hash([hooks.as_str()]))), &hooks)
}

/// The header that is put before the user's code.
fn hooks(watch: &Watch) -> String {
    const AT: &str = "__FILE__, __LINE__, __COUNTER__";
    let mut text = String::new();
    for header in &watch.headers {
        // In plain C++ a header of kernels would be refused, and the program's own files with it.
        let compiler = if headers::holds_kernels(header) { "defined(__CUDACC__) && " } else { "" };
        let _ = write!(text, "#if {compiler}__has_include(<{header}>)\n#include <{header}>\n#endif\n");
    }
    text.push_str("#include \"cudalint_probe.cuh\"\n");
    for name in ApiId::all().filter(|api| is_reported(*api)).map(ApiId::name) {
        // Headers turn a name into that of a version, or of the per-thread default stream: the macro stands for what a
        // name becomes in the end.
        for suffix in ["", "_v2", "_v3", "_v4", "_ptds", "_ptsz", "_v2_ptds", "_v2_ptsz"] {
            let _ = write!(
                text,
                "#ifndef {name}{suffix}\n#define {name}{suffix}(...) cudalint_probe_after({name}{suffix}(__VA_ARGS__), \"{name}\", {AT})\n#endif\n"
            );
        }
    }
    for (name, call) in spelled::PROBE_MEMSETS {
        let _ = write!(
            text,
            "#undef {name}\n#define {name}(...) cudalint_probe_after(cudalint_probe::{call}(__VA_ARGS__), \"{name}\", {AT})\n"
        );
    }
    for (name, call) in spelled::PROBE_WORDS {
        let _ = writeln!(text, "#define {name}(...) cudalint_probe_{call}(\"{name}\", {AT}, __VA_ARGS__)");
    }
    text.push_str(&watched(watch));
    text
}

/// Macros for names that are not CUDA's: each acts on its lines only, so that a declaration of the name stays one.
fn watched(watch: &Watch) -> String {
    let mut text = String::new();
    let mut lines: Vec<u32> = Vec::new();
    let mut templates: Vec<u32> = Vec::new();
    for function in &watch.functions {
        let name = &function.name;
        if function.is_template {
            let _ = writeln!(text, "#define {name} CUDALINT_PROBE_BEFORE_ON_LINES(\"{name}\") {name}");
            templates.extend(&function.lines);
        } else {
            let hook = |called: &str| {
                format!("#define {name}(...) {called}(__VA_ARGS__) CUDALINT_PROBE_BEHIND_ON_LINES(\"{name}\")\n")
            };
            // Where a header makes a later version of the name, that is what is called.
            if let Some(later) = later_version(name) {
                let _ = write!(text, "#ifdef {name}\n#undef {name}\n{}#else\n{}#endif\n", hook(&later), hook(name));
            } else {
                text.push_str(&hook(name));
            }
            lines.extend(&function.lines);
        }
    }
    for (lines, position) in [(&mut lines, "BEHIND"), (&mut templates, "BEFORE")] {
        lines.sort_unstable();
        lines.dedup();
        for line in lines {
            let _ = writeln!(text, "#define CUDALINT_PROBE_{position}_{line} ~, CUDALINT_PROBE_{position}");
        }
    }
    if let Some(WatchedPair { first, second, line }) = &watch.pair {
        let _ = write!(
            text,
            "#include \"cudalint_probe_pair.cuh\"\n#define CUDALINT_PROBE_PAIR_{line} ~, CUDALINT_PROBE_NOTE\n\
             #define {second} CUDALINT_PROBE_PAIR_ON_LINES({first}, {second})\n"
        );
    }
    if let Some(LeftOut { name, is_status, line }) = &watch.without {
        let nothing = if *is_status { "(::cudaSuccess)" } else { "((void)0)" };
        // A call that the probe reports is one of its macros already.
        let kept = format!("cudalint_probe_after({name}(__VA_ARGS__), \"{name}\", __FILE__, __LINE__, __COUNTER__)");
        let kept = if *is_status { kept } else { format!("{name}(__VA_ARGS__)") };
        let _ = write!(
            text,
            "#undef {name}\n#define CUDALINT_PROBE_LEAVES_OUT_{line} ~, CUDALINT_PROBE_LEAVES_OUT\n\
             #define CUDALINT_PROBE_LEAVES_OUT(...) {nothing}\n#define CUDALINT_PROBE_KEEPS(...) __VA_ARGS__\n\
             #define {name}(...) CUDALINT_PROBE_SECOND(CUDALINT_PROBE_JOIN(CUDALINT_PROBE_LEAVES_OUT_, __LINE__), \
             CUDALINT_PROBE_KEEPS, ~)({kept})\n"
        );
    }
    if let Some(WatchedTouch { name, lines }) = &watch.touch {
        text.push_str("#include \"cudalint_probe_touch.cuh\"\n");
        for line in lines {
            let _ = writeln!(text, "#define CUDALINT_PROBE_TOUCH_{line} ~, CUDALINT_PROBE_TOUCH");
        }
        let _ = writeln!(text, "#define {name} CUDALINT_PROBE_TOUCH_ON_LINES({name})");
    }
    text
}

/// The name of a library's function that `cublas_v2.h` and its like make of another: `cublasSaxpy_v2`, `cublasSaxpy_v2_64`.
fn later_version(name: &str) -> Option<String> {
    let later = name.strip_suffix("_64").map_or_else(|| format!("{name}_v2"), |stem| format!("{stem}_v2_64"));
    ApiId::named(&later).is_some().then_some(later)
}

/// Writes a file that other scenarios may be reading: complete or not at all, and only when it changes.
fn keep(file: &Utf8Path, text: &str) -> Result<Utf8PathBuf> {
    if std::fs::read_to_string(file).is_ok_and(|there| there == text) {
        return Ok(file.to_owned());
    }
    let folder = file.parent().ok_or_else(|| Error::other(format!("{file}: no folder")))?;
    let temporary = tempfile::NamedTempFile::new_in(folder)?;
    std::fs::write(temporary.path(), text)?;
    temporary.persist(file).map_err(|error| error.error)?;
    Ok(file.to_owned())
}

/// The file of a run's log.
pub fn log(bench: &Bench<'_>, label: &str) -> Utf8PathBuf {
    bench.folder.join(format!("{label}.probe.jsonl"))
}

/// The file of the memory that a run with a delay has left.
pub fn memory(bench: &Bench<'_>, label: &str) -> Utf8PathBuf {
    bench.folder.join(format!("{label}.probe.jsonl.memory"))
}

/// The variables of a run with this label. Removes the log of an earlier one.
pub fn environment(bench: &Bench<'_>, label: &str, plan: &Plan) -> Vec<(String, String)> {
    let log = log(bench, label);
    drop(std::fs::remove_file(&log));
    let mode = match plan.task {
        Task::Trace => "trace",
        Task::Status => "status",
        Task::Launch => "launch",
        Task::Asynchronous => "asynchronous",
        Task::Memory => "memory",
        Task::Cover => "cover",
        Task::Pair => "pair",
        Task::Skip => "skip",
        Task::Delay => "delay",
        Task::Time => "time",
    };
    let mut variables = vec![("LOG", log.to_string()), ("MODE", mode.to_owned())];
    if !plan.sites.is_empty() {
        let sites: Vec<String> = plan
            .sites
            .iter()
            .map(|(site, code)| match site {
                Site::Call(id) => format!("call:{id}={code}"),
                Site::Launch(offset) => format!("launch:{offset:x}={code}"),
            })
            .collect();
        variables.push(("SITES", sites.join(",")));
    }
    if plan.turn != 0 {
        variables.push(("TURN", plan.turn.to_string()));
    }
    if plan.silent {
        variables.push(("SILENT", "1".to_owned()));
    }
    if plan.checked {
        variables.push(("CHECKED", "1".to_owned()));
    }
    if let Some(blind) = &plan.blind {
        variables.push(("BLIND", blind.clone()));
    }
    if plan.threads != 0 {
        variables.push(("THREADS", plan.threads.to_string()));
    }
    if let Some(number) = plan.measured {
        variables.push(("PLACE", format!("work:{number}")));
    }
    if let Some(Delayed { work, moment, waits }) = plan.delayed {
        variables.push(("DELAYED", work.to_string()));
        let (place, reads) = match moment {
            Moment::Work(number) => (format!("work:{number}"), false),
            Moment::Touch { number, reads } => (format!("touch:{number}"), reads),
            Moment::Look(number) => (format!("look:{number}"), false),
        };
        variables.push(("PLACE", place));
        for (name, holds) in [("READS", reads), ("WAITS", waits)] {
            if holds {
                variables.push((name, "1".to_owned()));
            }
        }
    }
    let mut variables: Vec<(String, String)> =
        variables.into_iter().map(|(name, value)| (format!("CUDALINT_PROBE_{name}"), value)).collect();
    if matches!(plan.task, Task::Delay | Task::Time) {
        // The first launch of a kernel would wait for what is delayed, where it has to load the kernel.
        variables.push(("CUDA_MODULE_LOADING".to_owned(), "EAGER".to_owned()));
    }
    variables
}

/// A log without places of launches.
pub fn trace(log_text: &str) -> Trace {
    probe_log::read(log_text)
}

/// The log of a run that has ended, with the places of its launches where `addr2line` is there to find them.
pub fn read(bench: &Bench<'_>, label: &str, program: &Utf8Path) -> Trace {
    let bytes = std::fs::read(log(bench, label)).unwrap_or_default();
    let mut trace = trace(&String::from_utf8_lossy(&bytes));
    let places = places(bench, label, program, &trace.offsets());
    trace.place(|offset| places.get(&offset).cloned());
    trace
}

/// The places of offsets in a program's file.
fn places(bench: &Bench<'_>, label: &str, program: &Utf8Path, offsets: &[u64]) -> HashMap<u64, Place> {
    let Some(addr2line) = &bench.lab.machine.addr2line else { return HashMap::new() };
    let mut found = HashMap::new();
    for some in offsets.chunks(500) {
        let mut command = vec![addr2line.path.to_string(), "-f".to_owned(), "-e".to_owned(), program.to_string()];
        // A return address is that of the instruction behind the call.
        command.extend(some.iter().map(|offset| format!("{:x}", offset.saturating_sub(1))));
        let outcome =
            bench.run(&Run { device: false, ..Run::on_device(format!("{label}.addr2line"), command, Vec::new()) });
        let places = probe_log::places(&outcome.stdout);
        found.extend(some.iter().zip(places).filter_map(|(offset, place)| Some((*offset, place?))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Watch, WatchedFunction, hooks};

    #[test]
    fn names_of_which_a_header_makes_later_versions() {
        let watch = |name: &str| {
            let function = WatchedFunction { name: name.to_owned(), is_template: false, lines: vec![7] };
            hooks(&Watch { functions: vec![function], ..Watch::default() })
        };
        for (name, later) in [("cublasSaxpy", "cublasSaxpy_v2("), ("cublasSaxpy_64", "cublasSaxpy_v2_64(")] {
            let text = watch(name);
            assert!(text.contains(&format!("#ifdef {name}\n#undef {name}\n#define {name}(...) {later}")), "{name}");
        }
        assert!(!watch("cufftExecC2C").contains("#ifdef cufftExecC2C"));
    }
}
