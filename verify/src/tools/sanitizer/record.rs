//! What a report of compute-sanitizer is made of.

use super::spelling::{self, base_name};
use std::fmt;

/// What a report says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SanitizerReport {
    /// In the order of the report.
    pub records: Vec<Record>,
    /// How program and tool ended, as far as the tool says.
    pub notices: Vec<Notice>,
    /// What could not be read, in one line each.
    pub problems: Vec<String>,
    /// Whether the tool came to its end: its XML is closed, or its text has a summary.
    pub complete: bool,
    /// Records that the tool counted and did not print, because there were more than `--print-limit`.
    pub unprinted: u64,
}

/// What a tool says beside its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The program ended by a signal: the tool's words.
    ProcessEnded(String),
    /// The program ended with a status other than 0.
    ReturnedError,
    /// The program ended without a call of CUDA.
    NoCuda,
    /// The tool says that it cannot work here (a device it does not support, a missing library, a failed connection): its
    /// words.
    Refused(String),
    /// The tool does not understand its command line: its words.
    Usage(String),
    /// Another sentence of the tool's.
    Said(String),
}

/// A record of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What was seen.
    pub category: Category,
    /// Whether the tool calls it a warning rather than an error.
    pub warning: bool,
    /// The kernel: its outermost device frame.
    pub kernel: Option<Kernel>,
    /// Device frames, innermost first: inlined and called functions, then the kernel.
    pub device: Vec<Frame>,
    /// Host frames, innermost first.
    pub host: Vec<Frame>,
    /// When the host frames were taken: `kernel launch time`, `error`, `allocation time`.
    pub moment: Option<String>,
    /// Block index.
    pub block: Option<[u64; 3]>,
    /// Thread index.
    pub thread: Option<[u64; 3]>,
    /// The address that was touched; in shared and local memory counted from its window's start.
    pub address: Option<u64>,
    /// The allocation next to the address.
    pub nearest: Option<Nearest>,
    /// The tool's headline.
    pub headline: String,
    /// The tool's words below the headline, frames left out.
    pub details: Vec<String>,
}

/// A kernel as a tool names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// As the tool writes it: `void blur<float, (int)16>(Plane<T1>)`.
    pub full: String,
    /// Its name alone: `blur`; of a Numba kernel the Python function's.
    pub base: String,
}

/// A frame of a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// As the tool writes it.
    pub function: String,
    /// As the compiler was told.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// The library or program.
    pub module: Option<String>,
}

/// The allocation next to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// Its first address.
    pub base: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Where the address lies.
    pub side: Side,
    /// Bytes between the address and it, as the tool counts: 1 for the byte behind its end. 0 inside.
    pub distance: u64,
}

/// Where an address lies with respect to an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Below its first byte.
    Before,
    /// In it.
    Inside,
    /// Above its last byte.
    After,
}

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Global memory.
    Global,
    /// Shared memory of the own block.
    Shared,
    /// Shared memory of another block of the cluster.
    RemoteShared,
    /// Local memory.
    Local,
    /// Another, or none named.
    Other,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes as one.
    Atomic,
    /// Another: a prefetch, a copy engine's.
    Other,
}

/// Why an access is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Outside every allocation.
    OutOfBounds,
    /// Not a multiple of its size.
    Misaligned,
    /// Before its stream-ordered allocation, or after its free.
    Lifetime,
    /// Another reason: permissions, an atomic on memory that has none.
    Other,
}

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    /// What it does.
    pub access: Access,
    /// Where it stands.
    pub frame: Frame,
    /// The thread, in a record of a single hazard.
    pub thread: Option<[u64; 3]>,
}

/// What a record is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Category {
    /// memcheck: an access that must not be.
    InvalidAccess {
        /// Memory touched.
        space: Space,
        /// What was done.
        access: Access,
        /// Bytes touched.
        bytes: u64,
        /// Why it is invalid.
        fault: Fault,
    },
    /// memcheck: a call of the runtime or driver that returned an error.
    ApiError {
        /// The call: `cudaMemcpy`, `cuLaunchKernelEx`.
        function: String,
        /// The error's number; none where it is not given.
        code: Option<i64>,
        /// The error's name: `cudaErrorInvalidValue`.
        name: String,
    },
    /// leak check: memory that nobody gave back.
    Leak {
        /// Its size.
        bytes: u64,
    },
    /// racecheck: accesses to shared memory that no barrier separates. The first races with each of the others.
    Race {
        /// The accesses, with the number of hazards between the first and this one (0 for the first).
        accesses: Vec<(RaceAccess, u64)>,
    },
    /// initcheck: a kernel reads global memory that nothing wrote.
    Uninitialized {
        /// What was done.
        access: Access,
        /// Bytes touched.
        bytes: u64,
    },
    /// initcheck: a copy reads device memory that nothing wrote.
    UninitializedCopy {
        /// Bytes of the copy.
        bytes: u64,
        /// The first of them that nothing wrote.
        error_address: Option<u64>,
    },
    /// initcheck: memory that nothing touched.
    Unused,
    /// synccheck: a barrier that some threads miss, or wrong arguments of one.
    Barrier {
        /// `Divergent thread(s) in warp`.
        problem: String,
    },
    /// memcheck: a stream-ordered allocation used before it is there or after its free, or freed before it is there.
    StreamOrder {
        /// `Use-after-free`.
        problem: String,
    },
    /// memcheck: the heap of device code.
    DeviceHeap {
        /// `Device-side double free`.
        problem: String,
    },
    /// A fault of the device without an access: a trap, an assertion, a full stack.
    DeviceFault {
        /// `Warp assert`.
        problem: String,
    },
    /// A record of another kind.
    Other,
}

impl Record {
    /// A record that says nothing yet.
    pub(super) fn new(headline: &str) -> Self {
        Self {
            category: Category::Other,
            warning: false,
            kernel: None,
            device: Vec::new(),
            host: Vec::new(),
            moment: None,
            block: None,
            thread: None,
            address: None,
            nearest: None,
            headline: headline.to_owned(),
            details: Vec::new(),
        }
    }

    /// Where the record happened: the innermost device frame of the user's code, of a race its first access, of a record
    /// about the host its call.
    pub fn place(&self) -> Option<&Frame> {
        if let Category::Race { accesses } = &self.category {
            return accesses.first().map(|(access, _)| &access.frame);
        }
        let own = self.device.iter().find(|frame| frame.line.is_some() && !frame.is_toolkit());
        own.or_else(|| self.device.first()).or_else(|| self.call_sites().first().copied())
    }

    /// The host frames of which one is the call's: the innermost one of the user's code, past the stub that the compiler
    /// makes for a kernel (it has the kernel's name and line), and in a script past compiled modules. Where a shortened stack leaves open whether the innermost
    /// one is such a stub, that one and the next.
    pub fn call_sites(&self) -> Vec<&Frame> {
        let glue = self.host.iter().rposition(Frame::is_stub_glue);
        let past_glue = glue.map_or(0, |at| at + 1);
        let own = |frame: &&Frame| frame.line.is_some() && !frame.is_toolkit();
        // Between a script and the driver stand the modules that were compiled from other languages: CuPy's are C++.
        let script = self.host.iter().skip(past_glue).filter(own).any(Frame::is_python);
        let mut frames = self.host.iter().skip(past_glue).filter(own).filter(|frame| !script || frame.is_python());
        let Some(first) = frames.next() else { return Vec::new() };
        let second = frames.next();
        if glue.is_some() {
            return second.into_iter().collect();
        }
        match &self.category {
            Category::ApiError { function, .. }
                if function.contains("Launch") && !first.is_python() && !self.has_call_frame() =>
            {
                [Some(first), second].into_iter().flatten().collect()
            }
            Category::ApiError { .. } => vec![first],
            _ => {
                let is_kernel = self.kernel.as_ref().is_some_and(|kernel| kernel.base == base_name(&first.function));
                if is_kernel { second.into_iter().collect() } else { vec![first] }
            }
        }
    }

    /// Whether the stack has the frame of the failing call itself: then nothing of it was left out.
    fn has_call_frame(&self) -> bool {
        matches!(&self.category, Category::ApiError { function, .. } if self.host.iter().any(|frame| frame.function == *function))
    }

    /// All of the tool's words, in one line.
    pub fn words(&self) -> String {
        let mut words = self.headline.trim_end_matches('.').to_owned();
        for detail in &self.details {
            words.push_str(if detail.starts_with("and ") { " " } else { "; " });
            words.push_str(detail);
        }
        words
    }
}

impl Kernel {
    /// A kernel with this name.
    pub fn new(full: &str) -> Self {
        Self { full: full.to_owned(), base: base_name(full) }
    }
}

impl Frame {
    /// Whether the frame stands in a header of the toolkit, in an installed Python package, or in the compiler's glue.
    pub fn is_toolkit(&self) -> bool {
        let Some(file) = self.file.as_deref() else {
            return !self.function.is_empty() && self.module.as_deref().is_some_and(spelling::is_toolkit_module);
        };
        spelling::is_toolkit_file(file) || self.is_stub_glue()
    }

    /// Whether the frame is one of Python's.
    pub fn is_python(&self) -> bool {
        self.file.as_deref().is_some_and(|file| file.rsplit('.').next() == Some("py"))
    }

    /// Whether the frame is glue that the compiler makes for launches, below the stub.
    fn is_stub_glue(&self) -> bool {
        self.function.contains("__device_stub_")
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => f.write_str(file),
            _ => write!(f, "`{}`", base_name(&self.function)),
        }
    }
}
