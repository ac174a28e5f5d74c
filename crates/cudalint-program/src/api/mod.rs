//! The catalogue: what each function of CUDA, of its libraries and of what programs use beside them is and does. The data
//! stand in `catalogue/*.txt`, where people edit them; `cargo xtask sync` makes `table.rs` of them. No analysis spells a
//! function to decide what it does: a name becomes an [`ApiId`] where it is resolved, and what is asked of that id is here.

pub mod effects;
pub mod spaces;
// Derived: neither laid out nor imported by hand.
#[rustfmt::skip]
#[allow(clippy::wildcard_imports)]
mod table;

use effects::{DeviceOp, Effect, ErrorRole, Handle, LaunchArgs, Library, Number, Returns, Side, Space};

/// A function of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiId(u16);

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
    pub flags: u16,
    /// The names of its parameters; empty where nothing is said of them.
    pub params: &'static [&'static str],
    /// Those that are results in Python, as bits: what the function stores through an address.
    pub outs: u16,
    /// What a call does.
    pub effects: &'static [Effect],
}

/// A dropped status leaves something unset or unreleased, but moves no data.
const QUIET: u16 = 1;
/// A project's own declaration of it (a stub header) is the same function.
const CORE: u16 = 2;
/// Neither keeps nor changes anything that its arguments lead to.
const PURE: u16 = 4;
/// Control does not come back.
const ENDS: u16 = 8;
/// Looks at no error of CUDA.
const UNRELATED: u16 = 16;
/// May return before the work is done.
const ASYNCHRONOUS: u16 = 32;
/// Reads a number from text.
const NUMBER: u16 = 64;
/// An interface of C: what it is given by address it may keep and write.
const PLAIN_C: u16 = 128;
/// Makes a value of what it is given.
const BUILDS: u16 = 256;
/// Has to do with memory, launches or what a launch may ask for; queries, streams and events do not.
const MEMORY: u16 = 512;

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
            )
        };
        self.is_cuda_host()
            && (self.flags & MEMORY != 0 || self.role == ErrorRole::Launches || self.effects.iter().any(effect))
    }

    /// Whether it sets an attribute of a kernel.
    pub fn sets_attribute(&self) -> bool {
        self.effects.iter().any(|effect| matches!(effect, Effect::SetsAttribute { .. }))
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

    /// Whether it returns a status of the libraries whose statuses are looked after.
    pub fn has_known_status(&self) -> bool {
        match self.returns {
            Returns::Status(ty) | Returns::StatusByHandle(ty) => is_status_type(ty),
            _ => false,
        }
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
        matches!(self.library, Library::CuPy | Library::PyCuda | Library::Numba | Library::NumPy | Library::CudaCore)
    }

    /// What it is in device code.
    pub fn device_op(&self) -> Option<DeviceOp> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::Device(op) => Some(*op),
            _ => None,
        })
    }

    /// The position in Python of an argument: what is stored through an address in C is returned there.
    pub fn python_position(&self, arg: effects::Arg) -> Option<usize> {
        if self.is_out(arg) {
            return None;
        }
        let before = self.outs & ((1_u32 << arg.at().min(16)) - 1) as u16;
        Some(arg.at() - before.count_ones() as usize)
    }

    /// Whether an argument is an address that a result is stored through.
    pub const fn is_out(&self, arg: effects::Arg) -> bool {
        arg.0 < 16 && self.outs >> arg.0 & 1 != 0
    }
}

impl ApiId {
    /// The function that a name of C or C++ means in its library, or one of Python with its modules
    /// (`cupy.cuda.runtime.malloc`). The caller has made sure that the project does not define it.
    pub fn named(name: &str) -> Option<Self> {
        let mut slot = hash(name.as_bytes());
        loop {
            let at = table::SLOTS[slot & (table::SLOTS.len() - 1)];
            if at == u16::MAX {
                return Self::of_family(name);
            }
            if table::NAMES[at as usize].0 == name {
                return Some(Self(
                    table::ALIASES.get((at as usize).wrapping_sub(table::FUNCTIONS)).copied().unwrap_or(at),
                ));
            }
            slot = slot.wrapping_add(1);
        }
    }

    /// The entry for all names that begin alike, where a library has too many to list.
    fn of_family(name: &str) -> Option<Self> {
        let (_, id) = table::FAMILIES.iter().find(|(start, _)| name.starts_with(start) && name.len() > start.len())?;
        Some(Self(*id))
    }

    /// The function that a name means, where it returns a status that a program should look at.
    pub fn with_status(name: &str) -> Option<Self> {
        Self::named(name).filter(|api| api.has_known_status())
    }

    /// All functions.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..table::FUNCTIONS as u16).map(Self)
    }

    /// All spellings of all functions, with what they mean.
    pub fn spellings() -> impl Iterator<Item = (&'static str, Self)> {
        table::NAMES.iter().enumerate().map(|(at, (name, _))| {
            let id = table::ALIASES.get(at.wrapping_sub(table::FUNCTIONS)).copied().unwrap_or(at as u16);
            (*name, Self(id))
        })
    }

    /// The places in a text where functions of a kind are named, each with where it begins.
    pub fn mentions(text: &str, kind: impl Fn(Self) -> bool) -> impl Iterator<Item = (usize, Self)> {
        let bytes = text.as_bytes();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let mut at = 0;
        std::iter::from_fn(move || {
            loop {
                at += bytes.get(at..)?.iter().position(is_word)?;
                let length = bytes[at..].iter().position(|byte| !is_word(byte)).unwrap_or(bytes.len() - at);
                let (start, word) = (at, text.get(at..at + length));
                at += length;
                if let Some(id) = word.and_then(Self::named).filter(|id| kind(*id)) {
                    return Some((start, id));
                }
            }
        })
    }

    /// Its first spelling.
    pub fn name(self) -> &'static str {
        table::NAMES[self.0 as usize].0
    }

    /// What the catalogue says of it.
    pub fn function(self) -> &'static Function {
        &table::ROWS[table::NAMES[self.0 as usize].1 as usize]
    }
}

impl std::ops::Deref for ApiId {
    type Target = Function;
    fn deref(&self) -> &Function {
        self.function()
    }
}

impl std::fmt::Debug for ApiId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
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

/// A constant of CUDA's headers by name: statuses that say success, directions of copies.
pub fn constant(name: &str) -> Option<Constant> {
    table::CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, constant)| *constant)
}

/// Whether a name is the attribute of a kernel that says how much dynamic shared memory a launch may ask for.
pub fn is_dynamic_shared_attribute(name: &str) -> bool {
    DYNAMIC_SHARED.contains(&name)
}

/// The attribute in the runtime and in the driver.
pub const DYNAMIC_SHARED: [&str; 2] =
    ["cudaFuncAttributeMaxDynamicSharedMemorySize", "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"];

/// Whether a name is a type whose values are statuses.
pub fn is_status_type(name: &str) -> bool {
    table::STATUS_TYPES.contains(&name)
}

/// Whether a name is a plain structure of CUDA's headers, whose fields stores and loads can be told apart by.
pub fn is_plain_record(name: &str) -> bool {
    table::RECORDS.contains(&name)
}

/// Whether a name is a status that says success.
pub fn is_success(name: &str) -> bool {
    constant(name).is_some_and(|constant| constant.value == 0 && constant.ty != DIRECTION)
}

/// The type of a copy's direction.
pub const DIRECTION: &str = "cudaMemcpyKind";

/// A place for each name, by its hash; those that meet stand in the places behind.
const fn slots<const N: usize>(names: &[(&str, u16)]) -> [u16; N] {
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
const fn hash(bytes: &[u8]) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 15) as usize
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::effects::{Arg, ErrorRole, Library, Side};
    use super::*;

    #[test]
    fn every_spelling_means_its_function() {
        for (name, id) in ApiId::spellings() {
            assert_eq!(ApiId::named(name), Some(id), "{name}");
        }
        assert!(ApiId::all().all(|id| ApiId::named(id.name()) == Some(id)));
        assert_eq!(ApiId::named("cuMemAlloc_v2"), ApiId::named("cuMemAlloc"));
        assert_eq!(ApiId::named("cudaMallocAndCopy"), None);
    }

    #[test]
    fn what_functions_are() {
        let malloc = ApiId::named("cudaMalloc").unwrap();
        assert_eq!((malloc.library, malloc.side), (Library::Runtime, Side::Both));
        assert!(malloc.returns_status() && malloc.allocates() && malloc.is_core() && !malloc.is_quiet());
        let free = ApiId::named("cudaFree").unwrap();
        assert_eq!((free.role, free.is_quiet(), free.frees()), (ErrorRole::Settles, true, true));
        assert_eq!(ApiId::named("cudaDeviceSynchronize").unwrap().role, ErrorRole::Synchronizes);
        assert_eq!(ApiId::named("cudaMallocAsync").unwrap().since, (11, 2));
        assert_eq!(ApiId::named("MPI_Sendrecv").unwrap().name(), "MPI_*");
        for name in ["cudaGetErrorString", "cudnnGetVersion", "cudaCreateChannelDesc"] {
            assert!(!ApiId::named(name).unwrap().returns_status(), "{name}");
        }
    }

    #[test]
    fn arguments_of_python_are_those_that_are_no_results() {
        let copy = ApiId::named("cudaMallocPitch").unwrap();
        assert_eq!(copy.python_position(Arg(0)), None);
        assert_eq!(copy.python_position(Arg(2)), Some(0));
        assert_eq!(copy.python_position(Arg(3)), Some(1));
    }

    #[test]
    fn constants() {
        assert!(
            is_success("cudaSuccess") && is_success("CUBLAS_STATUS_SUCCESS") && !is_success("cudaMemcpyHostToHost")
        );
        assert_eq!(constant("cudaMemcpyDeviceToHost").map(|it| it.value), Some(2));
        assert!(is_status_type("cudaError_t") && !is_status_type("cudaMemcpyKind"));
    }
}
