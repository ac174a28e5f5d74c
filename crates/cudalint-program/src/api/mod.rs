//! The catalogue: what each function of CUDA, of its libraries and of what programs use beside them is and does. The data
//! stand in `catalogue/*.txt`, where people edit them; the build (`build/main.rs`) makes the tables of them. No analysis spells a
//! function to decide what it does: a name becomes an [`ApiId`] where it is resolved, and what is asked of that id is here.

mod args;
pub mod device_ops;
pub mod effects;
mod function;
pub mod packages;
pub mod python;
pub mod spaces;
/// What the build made of the catalogue.
mod table {
    #![allow(clippy::wildcard_imports)]
    use super::effects::*;
    use super::function::*;
    use super::packages::*;

    include!(concat!(env!("OUT_DIR"), "/table.rs"));
}

use effects::Returns;
pub use function::{Constant, End, Function, Until};

/// A function of the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApiId(u16);

impl ApiId {
    /// The function that a name of C or C++ means in its library, or one of Python with its modules
    /// (`cupy.cuda.runtime.malloc`). The caller has made sure that the project does not define it.
    pub fn named(name: &str) -> Option<Self> {
        let mut slot = function::hash(name.as_bytes());
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
        let first = name.as_bytes().first()?;
        let is_of = |start: &str| start.as_bytes().first() == Some(first) && name.starts_with(start) && name != start;
        let (_, id) = table::FAMILIES.iter().find(|(start, _)| is_of(start))?;
        Some(Self(*id))
    }

    /// Whether it returns a status of the libraries whose statuses are looked after.
    pub fn has_known_status(self) -> bool {
        match self.returns {
            Returns::Status(ty) | Returns::StatusByHandle(ty) => is_status_type(ty),
            _ => false,
        }
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

/// Whether a name asks if a device reaches all memory of the host: an attribute of devices or a member of their properties.
pub fn is_pageable_access(name: &str) -> bool {
    PAGEABLE_ACCESS.contains(&name)
}

/// The attribute in the runtime and in the driver, and the members.
const PAGEABLE_ACCESS: [&str; 6] = [
    "cudaDevAttrPageableMemoryAccess",
    "cudaDevAttrPageableMemoryAccessUsesHostPageTables",
    "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS",
    "CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES",
    "pageableMemoryAccess",
    "pageableMemoryAccessUsesHostPageTables",
];

/// Whether a name is a type whose values are statuses.
pub fn is_status_type(name: &str) -> bool {
    table::STATUS_TYPES.contains(&name)
}

/// Whether a name is a plain structure of CUDA's headers, whose fields stores and loads can be told apart by.
pub fn is_plain_record(name: &str) -> bool {
    table::RECORDS.contains(&name)
}

/// Whether a name is a type of CUDA's headers for C: a handle, a plain structure, a number. None has a destructor.
pub fn is_plain_type(name: &str) -> bool {
    const FAMILIES: [&str; 9] = ["cuda", "hip", "cublas", "cusparse", "cufft", "curand", "cusolver", "cudnn", "nvrtc"];
    let family = FAMILIES.iter().any(|family| name.starts_with(family));
    is_plain_record(name)
        || name.starts_with("CU")
        || (family
            && !name.contains("::")
            && ["_t", "Handle", "Program", "Parms", "Desc"].iter().any(|end| name.ends_with(end)))
}

/// Whether a name is a status that says success.
pub fn is_success(name: &str) -> bool {
    constant(name).is_some_and(|constant| constant.value == 0 && constant.ty != DIRECTION)
}

/// The type of a copy's direction.
pub const DIRECTION: &str = "cudaMemcpyKind";

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
        assert_eq!(ApiId::named("MPI_Comm_dup").unwrap().name(), "MPI_*");
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
