//! The words that the catalogue says of a function: what it returns, where it may be called, and what it does.

pub use super::args::Arg;
pub use super::device_ops::{AtomicOp, Bits, DeviceOp, Number, Rounding, Scope, Shuffle, Vote};
use super::packages::PythonOp;

/// The package that a function belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Library {
    Runtime,
    /// The runtime of AMD's devices, which has CUDA's functions under names of its own.
    Hip,
    Driver,
    Nvrtc,
    NvJitLink,
    CuBlas,
    CuFft,
    CuRand,
    CuSparse,
    CuSolver,
    CuDnn,
    Nccl,
    Npp,
    Nvml,
    Cupti,
    Nvtx,
    CuPy,
    PyCuda,
    Numba,
    CudaCore,
    NumPy,
    /// The library that comes with Python.
    Python,
    /// Functions that device code calls: barriers, atomics, conversions.
    Device,
    /// CUDA's mathematics, for both sides.
    Math,
    /// The C library, POSIX, and what is declared beside them.
    C,
    /// The C++ standard library and thrust.
    Cpp,
}

impl Library {
    /// Whether it is a runtime: that of CUDA, or HIP's.
    pub const fn is_runtime(self) -> bool {
        matches!(self, Self::Runtime | Self::Hip)
    }

    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runtime => "CUDA runtime",
            Self::Hip => "HIP runtime",
            Self::Driver => "CUDA driver",
            Self::Nvrtc => "NVRTC",
            Self::NvJitLink => "nvJitLink",
            Self::CuBlas => "cuBLAS",
            Self::CuFft => "cuFFT",
            Self::CuRand => "cuRAND",
            Self::CuSparse => "cuSPARSE",
            Self::CuSolver => "cuSOLVER",
            Self::CuDnn => "cuDNN",
            Self::Nccl => "NCCL",
            Self::Npp => "NPP",
            Self::Nvml => "NVML",
            Self::Cupti => "CUPTI",
            Self::Nvtx => "NVTX",
            Self::CuPy => "CuPy",
            Self::PyCuda => "PyCUDA",
            Self::Numba => "Numba",
            Self::CudaCore => "cuda.core",
            Self::NumPy => "NumPy",
            Self::Python => "Python",
            Self::Device => "CUDA device code",
            Self::Math => "CUDA Math API",
            Self::C => "C library",
            Self::Cpp => "C++ library",
        }
    }
}

impl Library {
    /// CUDA's own libraries with the beginning that the names of all their functions have.
    const PREFIXES: [(Self, &'static str); 15] = [
        (Self::Runtime, "cuda"),
        (Self::Driver, "cu"),
        (Self::Nvrtc, "nvrtc"),
        (Self::NvJitLink, "nvJitLink"),
        (Self::CuBlas, "cublas"),
        (Self::CuFft, "cufft"),
        (Self::CuRand, "curand"),
        (Self::CuSparse, "cusparse"),
        (Self::CuSolver, "cusolver"),
        (Self::CuDnn, "cudnn"),
        (Self::Nccl, "nccl"),
        (Self::Npp, "npp"),
        (Self::Nvml, "nvml"),
        (Self::Cupti, "cupti"),
        (Self::Nvtx, "nvtx"),
    ];

    /// The library of CUDA's in whose manner a function is named, listed or not: its beginning, then a capital. `cuMemAlloc`
    /// is the driver's, `cublasSgemm` is not.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::within(name).map(|(library, _)| library)
    }

    /// The same, with what follows the beginning: `MemAlloc`.
    pub fn within(name: &str) -> Option<(Self, &str)> {
        Self::PREFIXES.iter().find_map(|(library, prefix)| {
            let rest = name.strip_prefix(prefix)?;
            rest.starts_with(|letter: char| letter.is_ascii_uppercase()).then_some((*library, rest))
        })
    }
}

/// The side that a function can be called from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Never from device code.
    Host,
    /// Never from host code.
    Device,
    /// From both, or not known for sure.
    Both,
    /// Nothing is said.
    Open,
}

/// What a call gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Returns {
    /// A status of this type: success or an error.
    Status(&'static str),
    /// A status of this type, where the call is given a handle; the first generation of the library (cuBLAS before
    /// `cublas_v2.h`) has none and returns nothing.
    StatusByHandle(&'static str),
    /// Text about a status.
    Text,
    /// Nothing.
    Nothing,
    /// Something else: a size, a handle, a pointer.
    Other,
}

/// What a call has to do with errors of work that was started before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorRole {
    /// Returns the last error and forgets it.
    Clears,
    /// Returns the last error and leaves it.
    Peeks,
    /// Waits for the device or asks it, so that its status carries asynchronous errors.
    Synchronizes,
    /// Waits in practice and returns errors of earlier work, but not for that purpose: frees and resets.
    Settles,
    /// Starts a kernel.
    Launches,
    /// None of these: its status is its own.
    Plain,
}

/// Memory that an allocation gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Of the host.
    Host,
    /// Of the host, locked in place, so that the device can reach it.
    Pinned,
    /// Of the device.
    Device,
    /// For both.
    Managed,
}

/// What memory holds when it comes into being.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holds {
    /// Nothing that anybody has written.
    Nothing,
    /// Zeros.
    Zeros,
    /// Something that its maker has written.
    Something,
}

/// The direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// An argument says it; where it is left out, nothing is known.
    By(Arg),
    /// Each pointer says for itself where it points.
    Any,
    /// To the device from the host.
    HostToDevice,
    /// To the host from the device.
    DeviceToHost,
    /// On the device.
    DeviceToDevice,
}

/// How many bytes a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// As many as the argument says.
    Bytes(Arg),
    /// So many elements of so many bytes.
    Product(Arg, Arg),
    /// Rows of `width` bytes, that lie a pitch apart.
    Rows {
        /// Bytes of a row that are touched.
        width: Arg,
        /// How many rows.
        rows: Arg,
        /// From the start of a row to the next: of the destination, of the source.
        pitch: [Arg; 2],
    },
    /// Rows whose pitch the call chooses and stores.
    Pitched {
        /// Bytes of a row that are asked for.
        width: Arg,
        /// How many rows.
        rows: Arg,
        /// Where the pitch is stored.
        pitch: Arg,
    },
    /// An array of the host language says it.
    Whole(Arg),
    /// As many elements as a shape says, of the type that the parameter `dtype` says.
    Elements(Arg),
    /// As many elements, of the same type, as an array has.
    Like(Arg),
    /// Not said by the arguments alone.
    Open,
}

/// Handles that calls make and give back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Handle {
    Stream,
    Event,
    Graph,
    Executable,
    Module,
    Context,
    Texture,
    Array,
    Pool,
    Library,
    Program,
}

/// What work a call waits for, or asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// All work on the device.
    Device,
    /// The work of a stream.
    Stream(Arg),
    /// The work before an event.
    Event(Arg),
    /// Its own.
    Own,
}

/// A launch as a call states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaunchArgs {
    /// The kernel.
    pub kernel: Arg,
    /// Grid and block, where they are one argument each.
    pub extents: Option<[Arg; 2]>,
    /// A structure that holds the configuration.
    pub config: Option<Arg>,
    /// The first of the kernel's arguments, or the array of their addresses.
    pub args: Arg,
    /// Whether `args` is an array of addresses.
    pub packed: bool,
    /// Dynamic shared memory.
    pub shared: Option<Arg>,
    /// Whether the whole grid may meet; unknown where attributes say it.
    pub cooperative: Option<bool>,
}

/// Structures that say what is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structure {
    /// The runtime's `cudaMemcpy3DParms`.
    Runtime,
    /// The driver's `CUDA_MEMCPY2D`.
    Plane,
    /// The driver's `CUDA_MEMCPY3D`.
    Volume,
}

/// One thing that a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Memory comes into being; its address is stored through `out`, or returned.
    Allocates {
        /// Where it lives.
        space: Space,
        /// What receives the address.
        out: Arg,
        /// How much.
        size: Size,
        /// What it holds.
        holds: Holds,
    },
    /// Memory is given back.
    Frees(Arg),
    /// Bytes are copied between two addresses.
    Copies {
        /// Where to.
        to: Arg,
        /// Where from.
        from: Arg,
        /// How many.
        size: Size,
        /// Between which sides.
        direction: Direction,
    },
    /// Bytes are copied to or from a `__device__` variable.
    CopiesSymbol {
        /// The variable.
        symbol: Arg,
        /// The other side.
        other: Arg,
        /// How many bytes.
        bytes: Arg,
        /// Bytes from the variable's start.
        offset: Arg,
        /// The direction.
        kind: Arg,
        /// Whether the variable is written.
        to_symbol: bool,
    },
    /// A structure says what is copied.
    CopiesDescribed(Arg, Structure),
    /// Elements are set to a value.
    Sets {
        /// The first.
        pointer: Arg,
        /// The value of each.
        value: Arg,
        /// How many elements; of rows, how many in each.
        size: Size,
        /// Bytes of one.
        unit: u8,
    },
    /// Memory of the host becomes reachable from the device.
    Pins(Arg),
    /// It is no longer.
    Unpins(Arg),
    /// Stores another address of the same memory.
    Maps {
        /// Where it is stored.
        out: Arg,
        /// The memory.
        of: Arg,
    },
    /// Stores the address of a `__device__` variable.
    AddressOfSymbol {
        /// Where it is stored.
        out: Arg,
        /// The variable.
        symbol: Arg,
    },
    /// Stores the address of a `__device__` variable that text names.
    FindsSymbol(Arg),
    /// Starts a kernel.
    Launches(LaunchArgs),
    /// Sets an attribute of a kernel.
    SetsAttribute {
        /// The kernel.
        kernel: Arg,
        /// Which attribute.
        attribute: Arg,
        /// Its value.
        value: Arg,
    },
    /// From here on, work is recorded instead of run.
    Captures,
    /// A program is compiled at run time.
    Compiles(Arg),
    /// A program is asked to keep the name of a kernel, before it is compiled.
    AddsName {
        /// The program.
        program: Arg,
        /// The name.
        name: Arg,
    },
    /// A program is asked what the name of a kernel has become.
    AsksName {
        /// The program.
        program: Arg,
        /// The name.
        name: Arg,
    },
    /// No work is recorded any more.
    Captured,
    /// The host waits.
    Waits(Work),
    /// The host asks whether work is done.
    Polls(Work),
    /// Work of a stream waits for an event.
    Orders {
        /// The stream.
        stream: Arg,
        /// The event.
        event: Arg,
    },
    /// An event is put behind the work of a stream.
    Records {
        /// The event.
        event: Arg,
        /// The stream.
        stream: Arg,
    },
    /// The device changes that calls of this thread of the host mean from here on.
    SelectsDevice(Arg),
    /// A handle comes into being and is stored through the argument.
    Creates(Handle, Arg),
    /// A handle is given back.
    Destroys(Handle, Arg),
    /// All memory and all handles of a device or a context are given back.
    Resets,
    /// Host memory behind the argument is read.
    Reads(Arg),
    /// Host memory behind the argument is written.
    Writes(Arg),
    /// Host memory behind the argument is written with what comes from a file or the user: numbers there are inputs.
    Inputs(Arg),
    /// Memory of either side behind the argument is read, in no order with streams: it is handed to others.
    Sends(Arg),
    /// Memory of either side behind the argument is written, in no order with streams.
    Receives(Arg),
    /// An operation of device code.
    Device(DeviceOp),
    /// What only a package of Python does.
    Python(PythonOp),
}
