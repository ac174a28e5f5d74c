//! The probe's log, read: a JSON object a line, one for each call, launch and end that a program came to. A line that is
//! cut off or is no such object is counted and skipped.

use super::sanitizer::same_path;
use serde::Deserialize;

/// What a program did, as its probe wrote it down.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Calls, launches and error texts in the order in which they were written.
    pub events: Vec<Event>,
    /// Comparisons of a launch with one of more threads.
    pub covers: Vec<Cover>,
    /// Addresses of two shared arrays, as a kernel noted them.
    pub pairs: Vec<Pair>,
    /// What was done while work was delayed.
    pub early: Option<Early>,
    /// What work took when it was repeated.
    pub time: Option<Time>,
    /// Where the checked twin stopped the program.
    pub stop: Option<Stop>,
    /// The signal that ended the program.
    pub signal: Option<Signal>,
    /// Whether the probe began: a log without this is that of a program that never started.
    pub began: bool,
    /// The file of the program, or of the library, whose offsets the log has.
    pub program: Option<String>,
    /// Whether the program came to its end: `main` returned or `exit` was called.
    pub ended: bool,
    /// How many more calls and launches there were than the log holds, and their hash.
    pub more: Option<(u64, String)>,
    /// Lines that could not be read.
    pub unread: usize,
    /// Sources of the program whose calls and launches the log may lack, with the reason in words. A path that is empty stands
    /// for all that is not known.
    pub unseen: Vec<(String, String)>,
}

impl Trace {
    /// Why the log may lack what is done in a file, in words; none where it has all of that. Code of a header stands in any
    /// source.
    pub fn may_lack(&self, path: &str) -> Option<String> {
        if let Some((count, _)) = &self.more {
            return Some(format!("the log does not hold the last {count} calls and launches"));
        }
        let source = [".cu", ".cpp", ".cc", ".cxx", ".c", ".C"].iter().any(|ending| path.ends_with(ending));
        let of = |(file, _): &&(String, String)| !source || file.is_empty() || same_path(file, path);
        self.unseen.iter().find(of).map(|(_, why)| why.clone())
    }
}

/// A call, a launch, or an error text that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A call of a function that returns a status.
    Call(Call),
    /// A kernel launch.
    Launch(ProbedLaunch),
    /// `cudaGetErrorString` or `cudaGetErrorName`.
    Words(Words),
    /// The host has used a pointer that is watched.
    Touch(Touch),
}

/// A use of a pointer that is watched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Touch {
    /// Its number.
    pub number: u64,
    /// The file as the compiler was told.
    pub file: String,
    /// Its line.
    pub line: u32,
}

/// What was done while work was delayed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Early {
    /// Whether the device was waited for first.
    pub waits: bool,
    /// Whether the work was done by then.
    pub done: bool,
    /// Microseconds between the start of the work and that.
    pub elapsed: u64,
    /// Microseconds between the start of the work and its end, at most.
    pub took: u64,
    /// Microseconds that the work waits in its stream.
    pub delay: u64,
    /// Why nothing could be seen; empty where it could.
    pub problem: String,
    /// What was seen of memory.
    #[serde(default)]
    pub seen: SeenMemory,
}

/// What work took when it was repeated, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Time {
    /// How often.
    pub rounds: u64,
    /// The shortest of them.
    pub least: u64,
    /// That in the middle.
    pub median: u64,
    /// That in the middle of those behind a wait for the device, of a copy.
    #[serde(default)]
    pub waiting: u64,
    /// Why nothing was measured; empty where it was.
    pub problem: String,
}

/// Memory that was looked at in one run: what the host reads before and after the work, or memory that was freed and belongs to
/// another by now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct SeenMemory {
    /// Bytes looked at.
    pub bytes: u64,
    /// How many changed.
    pub changed: u64,
    /// The first of them.
    pub first: u64,
    /// Where `was` and `is` begin.
    pub from: u64,
    /// The first bytes before, in hexadecimal.
    pub was: String,
    /// And after.
    pub is: String,
    /// Whether the next owner of freed memory got the same address.
    pub same: bool,
    /// Whether the work was not done yet when the next owner had written.
    pub late: bool,
}

/// A call of a function that returns a status.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Call {
    /// Of all events of the program.
    pub sequence: u64,
    /// The thread, in the order in which threads first did something.
    pub thread: u32,
    /// The function, without the suffix of a version.
    pub function: String,
    /// The file as the compiler was told.
    pub file: String,
    /// Its line, from 1: that on which the call, or the use of the macro around it, begins.
    pub line: u32,
    /// The call's number in the translation unit, in the order of the text: two calls with one number are one call,
    /// evaluated twice.
    pub id: u64,
    /// 1 for an enumeration, 2 for an `int` of the project's own, 3 for what has no failure that is known.
    pub kind: u8,
    /// What the function returned.
    pub real: i64,
    /// What the program got.
    pub handed: i64,
    /// What the call did to memory, where the run was asked to look.
    pub memory: Option<Memory>,
    /// Its number as work, where work is numbered.
    #[serde(default)]
    pub work: Option<u64>,
    /// Hash of what a copy has brought to the host, where that is asked.
    #[serde(default)]
    pub brought: Option<u64>,
    /// Its number among the calls of what is no status.
    #[serde(default)]
    pub look: Option<u64>,
}

/// What a memset or copy did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Memory {
    /// `set` or `copy`.
    pub does: String,
    /// The bytes it was told.
    pub count: u64,
    /// Bytes of the destination's allocation; 0 where the destination is no device memory.
    pub allocation: u64,
    /// Where in it the destination begins.
    pub offset: u64,
    /// Whether memory was compared before and after.
    pub compared: bool,
    /// Bytes of the allocation behind those of the call.
    pub behind: u64,
    /// How many of them changed.
    pub changed: u64,
    /// Bytes of the source's allocation from the source on; 0 where it is no device memory.
    pub source: u64,
    /// A memset: what it was given, the size of an element of the pointer's type (0 where the type says nothing), and
    /// whether that is a floating-point type.
    pub value: i64,
    /// See `value`.
    pub element: u64,
    /// See `value`.
    pub floating: bool,
    /// The first bytes at the destination afterwards, in hexadecimal.
    pub bytes: String,
}

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ProbedLaunch {
    /// Of all events of the program.
    pub sequence: u64,
    /// The thread.
    pub thread: u32,
    /// The kernel, demangled: `void scale<float>(float*, int)`.
    pub kernel: String,
    /// Blocks along x, y, z.
    pub grid: [u64; 3],
    /// Threads of a block along x, y, z.
    pub block: [u64; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u64,
    /// What the launch returned.
    pub real: i64,
    /// What the program can see of it.
    pub handed: i64,
    /// Where `<<<…>>>` stands, as an offset in the program's file; none for launches by a function.
    pub at: Option<u64>,
    /// Its number as work, where work is numbered.
    #[serde(default)]
    pub work: Option<u64>,
    /// The calls that led here, innermost first, as such offsets.
    pub frames: Vec<u64>,
    /// The place of `at`, and the places of `frames`, once resolved.
    #[serde(skip)]
    pub place: Option<Place>,
    /// See `place`.
    #[serde(skip)]
    pub callers: Vec<Place>,
}

/// An error text that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Words {
    /// Of all events of the program.
    pub sequence: u64,
    /// The thread.
    pub thread: u32,
    /// `cudaGetErrorString` or `cudaGetErrorName`.
    pub function: String,
    /// As for calls.
    pub file: String,
    /// As for calls.
    pub line: u32,
    /// The status whose text was asked for.
    pub code: i64,
}

/// Where the checked twin stopped the program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Stop {
    /// The function or kernel that failed.
    pub function: String,
    /// The place of a call.
    pub file: Option<String>,
    /// The place of a call.
    pub line: Option<u32>,
    /// The offset of a launch.
    #[serde(default)]
    pub at: Vec<u64>,
    /// The status.
    pub code: i64,
}

/// The signal that ended a program.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Signal {
    /// Its number.
    pub number: i32,
    /// The calls that led there, innermost first.
    pub frames: Vec<u64>,
    /// Their places, once resolved.
    #[serde(skip)]
    pub callers: Vec<Place>,
}

/// A launch beside one of more threads on the same memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Cover {
    /// The kernel.
    pub kernel: String,
    /// Where `<<<…>>>` stands.
    pub at: u64,
    /// What both left different, an entry an allocation.
    #[serde(default)]
    pub different: Vec<Difference>,
    /// Bytes in which two launches as it stands differ.
    #[serde(default)]
    pub unstable: u64,
    /// Bytes compared.
    #[serde(default)]
    pub compared: u64,
    /// Blocks of the launch as it stands.
    pub grid: [u64; 3],
    /// Blocks of the other.
    pub wider: [u64; 3],
    /// Threads of a block.
    pub block: [u64; 3],
    /// Why nothing was compared; empty when it was.
    pub problem: String,
}

/// What two launches left different in an allocation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Difference {
    /// Its size in bytes.
    pub allocation: u64,
    /// Offset of the first byte that differs.
    pub first: u64,
    /// Of the last.
    pub last: u64,
    /// How many differ.
    pub bytes: u64,
}

/// Addresses of two shared arrays.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Pair {
    /// The kernel.
    pub kernel: String,
    /// Their addresses within shared memory.
    pub addresses: [u64; 2],
    /// The line at which they were noted.
    pub line: u32,
}

/// A place in a source file, as the debug information names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// The function around it.
    pub function: String,
    /// The file.
    pub file: String,
    /// Its line, from 1; 0 where it is not known.
    pub line: u32,
}

/// Any line of a log.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line {
    Begin {
        #[serde(default)]
        program: Option<String>,
    },
    Call(Call),
    Launch(ProbedLaunch),
    Words(Words),
    Cover(Cover),
    Pair(Pair),
    Touch(Touch),
    Early(Early),
    Time(Time),
    Stop(Stop),
    Signal(Signal),
    More {
        count: u64,
        digest: String,
    },
    Exit,
}

/// Reads a log.
pub fn read(text: &str) -> Trace {
    let mut trace = Trace::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(Line::Begin { program }) => {
                trace.began = true;
                trace.program = program;
            }
            Ok(Line::Call(call)) => trace.events.push(Event::Call(call)),
            Ok(Line::Launch(launch)) => trace.events.push(Event::Launch(launch)),
            Ok(Line::Words(words)) => trace.events.push(Event::Words(words)),
            Ok(Line::Cover(cover)) => trace.covers.push(cover),
            Ok(Line::Pair(pair)) => trace.pairs.push(pair),
            Ok(Line::Touch(touch)) => trace.events.push(Event::Touch(touch)),
            Ok(Line::Early(early)) => trace.early = Some(early),
            Ok(Line::Time(time)) => trace.time = Some(time),
            Ok(Line::Stop(stop)) => trace.stop = Some(stop),
            Ok(Line::Signal(signal)) => trace.signal = Some(signal),
            Ok(Line::More { count, digest }) => trace.more = Some((count, digest)),
            Ok(Line::Exit) => trace.ended = true,
            Err(_) => trace.unread += 1,
        }
    }
    trace
}

impl Trace {
    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.events.iter().filter_map(|event| match event {
            Event::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The launches, in order.
    pub fn launches(&self) -> impl Iterator<Item = &ProbedLaunch> {
        self.events.iter().filter_map(|event| match event {
            Event::Launch(launch) => Some(launch),
            _ => None,
        })
    }

    /// The offsets that have no place yet, each once.
    pub fn offsets(&self) -> Vec<u64> {
        let mut offsets: Vec<u64> = self
            .launches()
            .flat_map(|launch| launch.at.into_iter().chain(launch.frames.iter().copied()))
            .chain(self.signal.iter().flat_map(|signal| signal.frames.iter().copied()))
            .collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// Gives launches and signals their places.
    pub fn place(&mut self, place_of: impl Fn(u64) -> Option<Place>) {
        let known = |frames: &[u64]| frames.iter().filter_map(|frame| place_of(*frame)).collect();
        for event in &mut self.events {
            if let Event::Launch(launch) = event {
                launch.place = launch.at.and_then(&place_of);
                launch.callers = known(&launch.frames);
            }
        }
        if let Some(signal) = &mut self.signal {
            signal.callers = known(&signal.frames);
        }
    }
}

/// Reads what `addr2line -f` printed: two lines an address, `function` and `file:line`.
pub fn places(text: &str) -> Vec<Option<Place>> {
    let mut lines = text.lines();
    let mut places = Vec::new();
    while let (Some(function), Some(at)) = (lines.next(), lines.next()) {
        let at = at.split(" (discriminator").next().unwrap_or(at).trim_end();
        let place = at.rsplit_once(':').and_then(|(file, line)| {
            let line = line.parse().ok().filter(|line| *line > 0)?;
            (file != "??").then(|| Place { function: function.trim().to_owned(), file: file.to_owned(), line })
        });
        places.push(place);
    }
    places
}

/// `void ns::scale<float>(float*, int)` as `ns::scale<float>`.
pub fn plain_kernel(demangled: &str) -> String {
    let mut depth = 0_usize;
    let mut end = demangled.len();
    let mut start = 0;
    for (at, c) in demangled.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !demangled[at..].starts_with("(anonymous namespace)") => {
                end = at;
                break;
            }
            ' ' if depth == 0 && !demangled[..at].ends_with("(anonymous") => start = at + 1,
            _ => {}
        }
    }
    demangled.get(start..end).unwrap_or(demangled).to_owned()
}
