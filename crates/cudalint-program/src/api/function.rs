//! A row of the catalogue: what it says of a function, and how a name finds its row.

use super::effects::{
    Arg, DeviceOp, Effect, ErrorRole, Handle, LaunchArgs, Library, Number, Returns, Side, Space, Work,
};
use super::packages::PythonOp;

/// What the catalogue says of a function. Many functions share all of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Function {
    /// The package that has it.
    pub library: Library,
    /// The section of its manual.
    pub section: &'static str,
    /// The first version of CUDA (of cuDNN, NCCL, … where the library has versions of its own) that has it; zeros where
    /// that is long ago.
    pub since: (u8, u8),
    /// Where it ends; `None` for one that is still there.
    pub until: Option<Until>,
    /// Where it can be called.
    pub side: Side,
    /// What it returns.
    pub returns: Returns,
    /// The type of number that it computes from its arguments and nothing else.
    pub gives: Option<Number>,
    /// What it has to do with errors of earlier work.
    pub role: ErrorRole,
    /// Its flags.
    pub(super) flags: u16,
    /// The names of its parameters; empty where nothing is said of them.
    pub params: &'static [&'static str],
    /// Those that are results in Python, as bits: what the function stores through an address.
    pub outs: u16,
    /// What a call does.
    pub effects: &'static [Effect],
}

/// Where a function ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Until {
    /// What no longer has it.
    pub end: End,
    /// The function that does the same; empty where there is none.
    pub instead: &'static str,
}

/// What no longer has a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// This version of CUDA, major and minor, and newer ones.
    Toolkit(u8, u8),
    /// Code for this compute capability, as `major * 10 + minor`, and for newer ones.
    Architecture(u8),
}

/// The flags of a function: the bit by the name that the catalogue's generator writes, and the question that it answers.
macro_rules! flags {
    ($($(#[$doc:meta])* $flag:ident = $bit:literal, $asked:ident;)*) => {
        $(pub(super) const $flag: u16 = 1 << $bit;)*

        impl Function {
            $($(#[$doc])*
            pub const fn $asked(&self) -> bool {
                self.flags & $flag != 0
            })*
        }
    };
}

flags! {
    /// Whether a dropped status matters little: it leaves something unset or unreleased, but moves no data.
    QUIET = 0, is_quiet;
    /// Whether it is so well known that a project's own declaration of it (a stub header) is the same function.
    CORE = 1, is_core;
    /// Whether it neither keeps nor changes anything that its arguments lead to.
    PURE = 2, is_pure;
    /// Whether control does not come back.
    ENDS = 3, ends;
    /// Whether it is known to look at no error of CUDA.
    UNRELATED = 4, checks_nothing;
    /// Whether it may return before the work is done.
    ASYNCHRONOUS = 5, is_asynchronous;
    /// Whether it reads a number from text.
    NUMBER = 6, reads_number;
    /// Whether it belongs to an interface of C that may keep and write what it is given by address.
    PLAIN_C = 7, is_plain_c;
    /// Whether it makes a value of what it is given, and does nothing else.
    BUILDS = 8, builds_value;
    /// Whether it has to do with memory, launches or what a launch may ask for; queries, streams and events do not.
    MEMORY = 9, is_about_memory;
    /// Whether it gives an array of the host whose memory the device reaches through the array itself.
    MAPPED = 10, is_mapped;
    /// Whether what it frees is memory of the host that was locked in place.
    PINNED = 11, frees_pinned;
    /// Whether it looks at a clock of the host.
    CLOCK = 12, is_clock;
}

impl Function {
    /// Whether a host program moves memory with it, launches, or changes what a launch may ask for.
    pub fn moves_memory(&self) -> bool {
        let effect = |effect: &Effect| {
            !matches!(
                effect,
                Effect::Waits(_)
                    | Effect::Polls(_)
                    | Effect::Orders { .. }
                    | Effect::Records { .. }
                    | Effect::SelectsDevice(_)
                    | Effect::Creates(..)
                    | Effect::Destroys(..)
                    | Effect::Captures
                    | Effect::Reads(_)
                    | Effect::Writes(_)
                    | Effect::Inputs(_)
                    | Effect::Sends(_)
                    | Effect::Receives(_)
                    | Effect::Device(_)
                    | Effect::Python(_)
            )
        };
        self.is_cuda_host()
            && (self.is_about_memory() || self.role == ErrorRole::Launches || self.effects.iter().any(effect))
    }

    /// Whether it hands a `__device__` variable to the host: what it names can be written from there.
    pub fn reaches_symbol(&self) -> bool {
        self.effects.iter().any(|effect| match effect {
            Effect::CopiesSymbol { to_symbol, .. } => *to_symbol,
            Effect::AddressOfSymbol { .. } | Effect::FindsSymbol(_) => true,
            _ => false,
        })
    }

    /// Whether it allocates memory that the device can reach: such memory begins at a multiple of 256 bytes.
    pub fn allocates_for_device(&self) -> bool {
        let device = |effect: &Effect| matches!(effect, Effect::Allocates { space, .. } if *space != Space::Host);
        self.effects.iter().any(device)
    }

    /// Whether it returns a status.
    pub const fn returns_status(&self) -> bool {
        matches!(self.returns, Returns::Status(_) | Returns::StatusByHandle(_))
    }

    /// Whether it belongs to the part of the runtime or the driver for another interface of graphics, whose functions are
    /// declared in headers of their own.
    pub fn is_for_graphics(&self) -> bool {
        self.section.ends_with(" Interoperability") && self.section != "Graphics Interoperability"
    }

    /// The kind of handle that an argument is: by what the call does with it, else by the parameter's name.
    pub fn handle_at(&self, at: usize) -> Option<Handle> {
        let by_effect = self.effects.iter().find_map(|effect| match effect {
            Effect::Creates(kind, arg) | Effect::Destroys(kind, arg) if arg.at() == at => Some(*kind),
            Effect::Waits(Work::Stream(arg)) | Effect::Polls(Work::Stream(arg)) if arg.at() == at => {
                Some(Handle::Stream)
            }
            Effect::Waits(Work::Event(arg)) | Effect::Polls(Work::Event(arg)) if arg.at() == at => Some(Handle::Event),
            Effect::Orders { stream, .. } | Effect::Records { stream, .. } if stream.at() == at => Some(Handle::Stream),
            Effect::Orders { event, .. } | Effect::Records { event, .. } if event.at() == at => Some(Handle::Event),
            _ => None,
        });
        by_effect.or_else(|| match *self.params.get(at)? {
            "stream" | "hStream" => Some(Handle::Stream),
            "event" | "hEvent" | "startEvent" | "endEvent" => Some(Handle::Event),
            _ => None,
        })
    }

    /// The argument that is an array of the addresses of a kernel's parameters.
    pub fn packed_at(&self) -> Option<usize> {
        self.params.iter().position(|param| *param == "kernelParams")
    }

    /// The argument that is the text of a program, of a function that makes a program of it.
    pub fn source_at(&self) -> Option<usize> {
        self.params.iter().position(|param| *param == "src")
    }

    /// The argument that is a compiled program, of a function that loads it.
    pub fn image_at(&self) -> Option<usize> {
        self.params.iter().position(|param| ["image", "code"].contains(param))
    }

    /// Whether it gives what the compiler of a program said.
    pub fn gives_log(&self) -> bool {
        self.params.contains(&"log")
    }

    /// The program and the memory that is filled with what it was compiled to.
    pub fn renders(&self) -> Option<(Arg, Arg)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Python(PythonOp::Renders { program, into }) => Some((*program, *into)),
            _ => None,
        })
    }

    /// The loaded module and the name by which a kernel is looked up in it.
    pub fn finds_kernel(&self) -> Option<(Arg, Arg)> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Python(PythonOp::Kernel { of, name }) => Some((*of, *name)),
            _ => None,
        })
    }

    /// Whether an argument is a pointer to memory that the call allocates, frees, copies or sets.
    pub fn takes_memory(&self, at: usize) -> bool {
        self.effects.iter().any(|effect| match effect {
            Effect::Allocates { out: arg, .. } | Effect::Frees(arg) | Effect::Sets { pointer: arg, .. } => {
                arg.at() == at
            }
            Effect::Copies { to, from, .. } => to.at() == at || from.at() == at,
            _ => false,
        })
    }

    /// Whether it asks whether work is done: how often a program asks says nothing.
    pub fn polls(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Polls(_)))
    }

    /// Whether it waits for the device.
    pub fn waits(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Waits(_)))
    }

    /// Whether it copies memory.
    pub fn copies(&self) -> bool {
        self.effects.iter().any(|effect| {
            matches!(effect, Effect::Copies { .. } | Effect::CopiesSymbol { .. } | Effect::CopiesDescribed(..))
        })
    }

    /// Whether it sets memory.
    pub fn sets(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Sets { .. }))
    }

    /// Whether it gives memory back.
    pub fn frees(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Frees(_)))
    }

    /// Whether it gives back something that lives until then: memory or a handle.
    pub fn releases(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Frees(_) | Effect::Destroys(..)))
    }

    /// Whether it selects the device that later calls mean.
    pub fn selects_device(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::SelectsDevice(_)))
    }

    /// Whether it creates a handle of this kind.
    pub fn creates(&self, kind: Handle) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Creates(made, _) if *made == kind))
    }

    /// Whether it makes a handle.
    pub fn makes_handle(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Creates(..)))
    }

    /// Whether it gives back a handle of this kind.
    pub fn destroys(&self, kind: Handle) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Destroys(made, _) if *made == kind))
    }

    /// How it starts a kernel.
    pub fn launches(&self) -> Option<LaunchArgs> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Launches(how) => Some(*how),
            _ => None,
        })
    }

    /// Whether it returns the last error.
    pub const fn is_last_error(&self) -> bool {
        matches!(self.role, ErrorRole::Clears | ErrorRole::Peeks)
    }

    /// Whether it allocates memory.
    pub fn allocates(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Allocates { .. }))
    }

    /// Whether it belongs to the interfaces of CUDA that a host program calls.
    pub const fn is_cuda_host(&self) -> bool {
        !matches!(self.library, Library::C | Library::Cpp | Library::Device | Library::Math) && !self.is_of_python()
    }

    /// Whether it belongs to a package of Python that has functions of its own.
    pub const fn is_of_python(&self) -> bool {
        matches!(
            self.library,
            Library::CuPy | Library::PyCuda | Library::Numba | Library::NumPy | Library::CudaCore | Library::Python
        )
    }

    /// What it is in device code.
    pub fn device_op(&self) -> Option<DeviceOp> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Device(op) => Some(*op),
            _ => None,
        })
    }

    /// The position in Python of an argument: what is stored through an address in C is returned there.
    pub fn python_position(&self, arg: Arg) -> Option<usize> {
        if self.is_out(arg) {
            return None;
        }
        let before = self.outs & ((1_u32 << arg.at().min(16)) - 1) as u16;
        Some(arg.at() - before.count_ones() as usize)
    }

    /// Whether an argument is an address that a result is stored through.
    pub const fn is_out(&self, arg: Arg) -> bool {
        arg.0 < 16 && self.outs >> arg.0 & 1 != 0
    }
}

/// A constant that a header of CUDA defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its type.
    pub ty: &'static str,
    /// Its value.
    pub value: i64,
}

/// A place for each name, by its hash; those that meet stand in the places behind.
pub(super) const fn slots<const N: usize>(names: &[(&str, u16)]) -> [u16; N] {
    let mut slots = [u16::MAX; N];
    let mut at = 0;
    while at < names.len() {
        let mut slot = hash(names[at].0.as_bytes());
        while slots[slot & (N - 1)] != u16::MAX {
            slot = slot.wrapping_add(1);
        }
        slots[slot & (N - 1)] = at as u16;
        at += 1;
    }
    slots
}

/// A multiplication for every eight bytes, folded.
pub(super) const fn hash(bytes: &[u8]) -> usize {
    const fn mixed(hash: u64, part: u64) -> u64 {
        (hash.rotate_left(5) ^ part).wrapping_mul(0x517c_c1b7_2722_0a95)
    }
    let (mut hash, mut rest) = (bytes.len() as u64, bytes);
    while let Some((part, behind)) = rest.split_first_chunk::<8>() {
        hash = mixed(hash, u64::from_le_bytes(*part));
        rest = behind;
    }
    let mut last = 0;
    while let Some((byte, behind)) = rest.split_first() {
        last = last << 8 | *byte as u64;
        rest = behind;
    }
    hash = mixed(hash, last);
    ((hash ^ hash >> 32) >> 16) as usize
}
