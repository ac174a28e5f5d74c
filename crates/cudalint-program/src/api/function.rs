//! A row of the catalogue: what it says of a function, and how a name finds its row.

use super::effects::{
    Arg, DeviceOp, Effect, ErrorRole, Handle, LaunchArgs, Library, Number, Returns, Side, Space, Work,
};

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

/// A dropped status leaves something unset or unreleased, but moves no data.
pub(super) const QUIET: u16 = 1;
/// A project's own declaration of it (a stub header) is the same function.
pub(super) const CORE: u16 = 2;
/// Neither keeps nor changes anything that its arguments lead to.
pub(super) const PURE: u16 = 4;
/// Control does not come back.
pub(super) const ENDS: u16 = 8;
/// Looks at no error of CUDA.
pub(super) const UNRELATED: u16 = 16;
/// May return before the work is done.
pub(super) const ASYNCHRONOUS: u16 = 32;
/// Reads a number from text.
pub(super) const NUMBER: u16 = 64;
/// An interface of C: what it is given by address it may keep and write.
pub(super) const PLAIN_C: u16 = 128;
/// Makes a value of what it is given.
pub(super) const BUILDS: u16 = 256;
/// Has to do with memory, launches or what a launch may ask for; queries, streams and events do not.
pub(super) const MEMORY: u16 = 512;
/// Gives an array of the host whose memory the device reaches through the array itself.
pub(super) const MAPPED: u16 = 1024;
/// What it frees is memory of the host that was locked in place.
pub(super) const PINNED: u16 = 2048;

impl Function {
    /// Whether a dropped status matters little: what was asked or released moves no data.
    pub const fn is_quiet(&self) -> bool {
        self.flags & QUIET != 0
    }

    /// Whether it is so well known that a project's own declaration of it is the same function.
    pub const fn is_core(&self) -> bool {
        self.flags & CORE != 0
    }

    /// Whether it neither keeps nor changes anything that its arguments lead to.
    pub const fn is_pure(&self) -> bool {
        self.flags & PURE != 0
    }

    /// Whether control does not come back.
    pub const fn ends(&self) -> bool {
        self.flags & ENDS != 0
    }

    /// Whether it is known to look at no error of CUDA.
    pub const fn checks_nothing(&self) -> bool {
        self.flags & UNRELATED != 0
    }

    /// Whether it may return before the work is done.
    pub const fn is_asynchronous(&self) -> bool {
        self.flags & ASYNCHRONOUS != 0
    }

    /// Whether it reads a number from text.
    pub const fn reads_number(&self) -> bool {
        self.flags & NUMBER != 0
    }

    /// Whether it belongs to an interface of C that may keep and write what it is given by address.
    pub const fn is_plain_c(&self) -> bool {
        self.flags & PLAIN_C != 0
    }

    /// Whether it makes a value of what it is given, and does nothing else.
    pub const fn builds_value(&self) -> bool {
        self.flags & BUILDS != 0
    }

    /// Whether it gives an array of the host whose memory the device reaches through the array itself.
    pub const fn is_mapped(&self) -> bool {
        self.flags & MAPPED != 0
    }

    /// Whether a host program moves memory with it, launches, or changes what a launch may ask for.
    pub fn moves_memory(&self) -> bool {
        let effect = |effect: &Effect| {
            !matches!(
                effect,
                Effect::Waits(_)
                    | Effect::Polls(_)
                    | Effect::Orders { .. }
                    | Effect::Creates(..)
                    | Effect::Destroys(..)
                    | Effect::Captures
                    | Effect::Reads(_)
                    | Effect::Writes(_)
                    | Effect::Device(_)
                    | Effect::Python(_)
            )
        };
        self.is_cuda_host()
            && (self.flags & MEMORY != 0 || self.role == ErrorRole::Launches || self.effects.iter().any(effect))
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

    /// Whether what it frees is memory of the host that was locked in place.
    pub const fn frees_pinned(&self) -> bool {
        self.flags & PINNED != 0
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
            Effect::Orders { stream, .. } if stream.at() == at => Some(Handle::Stream),
            Effect::Orders { event, .. } if event.at() == at => Some(Handle::Event),
            _ => None,
        });
        by_effect.or_else(|| match *self.params.get(at)? {
            "stream" | "hStream" => Some(Handle::Stream),
            "event" | "hEvent" | "startEvent" | "endEvent" => Some(Handle::Event),
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

    /// Whether it creates a handle of this kind.
    pub fn creates(&self, kind: Handle) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::Creates(made, _) if *made == kind))
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

/// FNV-1a, folded.
pub(super) const fn hash(bytes: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 15) as usize
}
