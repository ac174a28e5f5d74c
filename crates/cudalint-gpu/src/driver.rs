//! The CUDA driver: devices, modules, memory, launches. Functions and their meaning: *CUDA Driver API*, sections Device
//! Management, Primary Context Management, Module Management, Memory Management and Execution Control.

use crate::nvrtc::{Compiled, Image};
use crate::signature::Parameter;
use cudarc::driver::{DriverError, result, sys};
use std::ffi::{CStr, CString, c_void};

/// A call of the driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The function: `cuLaunchKernel`.
    pub call: String,
    /// Its status, as a number.
    pub code: u32,
    /// Its status: `CUDA_ERROR_INVALID_VALUE`.
    pub name: String,
    /// What the driver says of it: `invalid argument`.
    pub text: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} returns {} ({}): {}", self.call, self.name, self.code, self.text)
    }
}

impl Failure {
    fn new(call: &str, error: DriverError) -> Self {
        let owned = |text: Result<&CStr, DriverError>| {
            text.map_or_else(|_| "an unknown error".to_owned(), |text| text.to_string_lossy().into_owned())
        };
        Self {
            call: call.to_owned(),
            code: error.0 as u32,
            name: owned(error.error_name()),
            text: owned(error.error_string()),
        }
    }
}

/// Gives a status the name of its call.
fn named<T>(call: &str, result: Result<T, DriverError>) -> Result<T, Failure> {
    result.map_err(|error| Failure::new(call, error))
}

/// Whether the driver's library can be opened.
pub fn present() -> bool {
    // SAFETY: opening a library runs its initializers; the driver's are safe to run, and whoever can put another library
    // of that name on the loader's path can do worse.
    unsafe { sys::is_culib_present() }
}

/// The driver, started.
#[derive(Debug)]
pub struct Driver(());

/// A GPU, as the driver knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its number.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its identity, as `nvidia-smi` writes it behind `GPU-`.
    pub uuid: String,
    /// Compute capability as `major * 10 + minor`.
    pub architecture: u32,
    /// Bytes of memory.
    pub memory: u64,
    /// Threads of a block at most.
    pub threads_per_block: u32,
    /// Bytes of shared memory of a block, without asking.
    pub shared_bytes_per_block: u32,
    /// The same, asked for.
    pub shared_bytes_per_block_opt_in: u32,
    /// Whether nobody may use it (compute mode *prohibited*).
    pub prohibited: bool,
    /// Whether one process at a time may use it (compute mode *exclusive process*).
    pub exclusive: bool,
}

impl Driver {
    /// Starts the driver (`cuInit`). None where its library is missing.
    pub fn start() -> Option<Result<Self, Failure>> {
        present().then(|| named("cuInit", result::init()).map(Self))
    }

    /// The newest CUDA that the driver supports: 13000 for 13.0.
    pub fn version(&self) -> Result<u32, Failure> {
        let mut version = 0;
        // SAFETY: the pointer is to an `int` that lives through the call.
        named("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&raw mut version) }.result())?;
        Ok(version as u32)
    }

    /// The GPUs that this process may use.
    pub fn devices(&self) -> Result<Vec<Device>, Failure> {
        let count = named("cuDeviceGetCount", result::device::get_count())?;
        (0..count).map(|index| self.device(index as u32)).collect()
    }

    /// One of them.
    pub fn device(&self, index: u32) -> Result<Device, Failure> {
        use sys::CUdevice_attribute as Attribute;
        let handle = named("cuDeviceGet", result::device::get(index as i32))?;
        let attribute = |attribute| {
            // SAFETY: the handle comes from `cuDeviceGet`.
            let value = unsafe { result::device::get_attribute(handle, attribute) };
            named("cuDeviceGetAttribute", value).map(|value| value as u32)
        };
        let uuid = named("cuDeviceGetUuid", result::device::get_uuid(handle))?;
        // SAFETY: as above.
        let memory = named("cuDeviceTotalMem", unsafe { result::device::total_mem(handle) })?;
        let mode = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)?;
        Ok(Device {
            index,
            name: named("cuDeviceGetName", result::device::get_name(handle))?,
            uuid: shown_uuid(uuid.bytes.map(|byte| byte as u8)),
            architecture: attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)? * 10
                + attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            memory: memory as u64,
            threads_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)?,
            shared_bytes_per_block_opt_in: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            prohibited: mode == sys::CUcomputemode::CU_COMPUTEMODE_PROHIBITED as u32,
            exclusive: mode == sys::CUcomputemode::CU_COMPUTEMODE_EXCLUSIVE_PROCESS as u32,
        })
    }

    /// Opens a GPU: makes its primary context this thread's. It stays open until the process ends.
    pub fn open(&self, index: u32) -> Result<Context, Failure> {
        let handle = named("cuDeviceGet", result::device::get(index as i32))?;
        // SAFETY: the handle comes from `cuDeviceGet`, and the context from the call before; nothing releases it.
        unsafe {
            let context = named("cuDevicePrimaryCtxRetain", result::primary_ctx::retain(handle))?;
            named("cuCtxSetCurrent", result::ctx::set_current(context))?;
        }
        Ok(Context { _of_this_thread: std::marker::PhantomData })
    }
}

/// A UUID's bytes as text, as RFC 9562 groups them.
fn shown_uuid(bytes: [u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    text
}

/// An open GPU, this thread's own.
#[derive(Debug)]
pub struct Context {
    /// The driver keeps the current context for each thread.
    _of_this_thread: std::marker::PhantomData<*const ()>,
}

/// Device memory of one allocation.
#[derive(Debug, PartialEq, Eq)]
pub struct Buffer {
    address: sys::CUdeviceptr,
    bytes: usize,
}

impl Buffer {
    /// Its address on the device; 0 for one of no bytes.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Context {
    /// Bytes of memory that are free.
    pub fn free_memory(&self) -> Result<u64, Failure> {
        named("cuMemGetInfo", result::mem_get_info()).map(|(free, _)| free as u64)
    }

    /// An allocation of its own. One of no bytes is the null pointer, as `cudaMalloc` gives it.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Failure> {
        if bytes == 0 {
            return Ok(Buffer { address: 0, bytes });
        }
        // SAFETY: there is a current context.
        let address = named("cuMemAlloc", unsafe { result::malloc_sync(bytes) })?;
        Ok(Buffer { address, bytes })
    }

    /// Copies bytes into a buffer, from byte `at` on; those that would not fit are left out.
    pub fn write(&self, buffer: &Buffer, at: usize, data: &[u8]) -> Result<(), Failure> {
        let room = buffer.bytes.saturating_sub(at);
        let data = data.get(..room).unwrap_or(data);
        if data.is_empty() {
            return Ok(());
        }
        // SAFETY: the slice lives through the call, which is over when the bytes were read; the buffer is as large.
        named("cuMemcpyHtoD", unsafe { result::memcpy_htod_sync(buffer.address + at as u64, data) })
    }

    /// Frees a buffer.
    #[expect(clippy::needless_pass_by_value, reason = "what is freed is gone")]
    pub fn free(&self, buffer: Buffer) -> Result<(), Failure> {
        let Buffer { address, .. } = buffer;
        if address == 0 {
            return Ok(());
        }
        // SAFETY: the address is one that `cuMemAlloc` gave, and the buffer is gone with this call.
        named("cuMemFree", unsafe { result::free_sync(address) })
    }

    /// Waits for all that was launched.
    pub fn synchronize(&self) -> Result<(), Failure> {
        named("cuCtxSynchronize", result::ctx::synchronize())
    }

    /// Loads a program and finds its kernel.
    pub fn load(&self, compiled: &Compiled) -> Result<Kernel<'_>, Failure> {
        let module = match &compiled.image {
            // SAFETY: NVRTC made the image, and the driver copies it.
            Image::Binary(bytes) => unsafe { result::module::load_data(bytes.as_ptr().cast()) },
            Image::Ptx(text) => load_ptx(text),
        };
        let module = named("cuModuleLoadData", module)?;
        let name = CString::new(compiled.kernel.as_str()).unwrap_or_default();
        // SAFETY: the module was loaded and is never unloaded.
        let function = named("cuModuleGetFunction", unsafe { result::module::get_function(module, name) })?;
        Ok(Kernel { context: self, module, function, parameters: compiled.parameters.clone() })
    }
}

/// Loads PTX, which the driver then compiles, with the lines of the source.
fn load_ptx(text: &CStr) -> Result<sys::CUmodule, DriverError> {
    let mut module = std::ptr::null_mut();
    let mut options = [sys::CUjit_option::CU_JIT_GENERATE_LINE_INFO];
    // A value of the options' array is a number in the place of a pointer.
    let mut values = [std::ptr::without_provenance_mut::<c_void>(1)];
    // SAFETY: the text ends with a zero byte; both arrays have the one element that is announced.
    unsafe {
        sys::cuModuleLoadDataEx(&raw mut module, text.as_ptr().cast(), 1, options.as_mut_ptr(), values.as_mut_ptr())
            .result()?;
    }
    Ok(module)
}

/// A kernel of a loaded program.
#[derive(Debug)]
pub struct Kernel<'context> {
    context: &'context Context,
    module: sys::CUmodule,
    function: sys::CUfunction,
    parameters: Vec<Parameter>,
}

/// Why a kernel was not launched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotLaunched {
    /// The arguments are not the kernel's: how.
    Arguments(String),
    /// The driver refused.
    Failed(Failure),
}

impl Kernel<'_> {
    /// Sets a global of the program, by its name in the image, and gives its size in bytes; bytes beyond are left out.
    ///
    /// # Errors
    /// The program has no such global, or the copy failed.
    pub fn set_global(&self, name: &str, data: &[u8]) -> Result<usize, Failure> {
        let name = CString::new(name).unwrap_or_default();
        // SAFETY: the module was loaded and is never unloaded.
        let global = unsafe { result::module::get_global(self.module, name) };
        let (address, bytes) = named("cuModuleGetGlobal", global)?;
        self.context.write(&Buffer { address, bytes }, 0, data)?;
        Ok(bytes)
    }

    /// Bytes of shared memory that the kernel declares itself.
    pub fn declared_shared_bytes(&self) -> Result<u32, Failure> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function belongs to a module that is never unloaded.
        let bytes = unsafe { result::function::get_function_attribute(self.function, attribute) };
        named("cuFuncGetAttribute", bytes).map(|bytes| bytes as u32)
    }

    /// Allows launches with so many bytes of dynamic shared memory.
    pub fn allow_shared_bytes(&self, bytes: u32) -> Result<(), Failure> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: as above.
        let set = unsafe { result::function::set_function_attribute(self.function, attribute, bytes) };
        named("cuFuncSetAttribute", set)
    }

    /// Launches the kernel. Each argument is its bytes, as many as its parameter has.
    pub fn launch(
        &self,
        grid: [u32; 3],
        block: [u32; 3],
        shared_bytes: u32,
        arguments: &[Vec<u8>],
    ) -> Result<(), NotLaunched> {
        if arguments.len() != self.parameters.len() {
            let (given, taken) = (arguments.len(), self.parameters.len());
            return Err(NotLaunched::Arguments(format!("the kernel takes {taken} arguments, and {given} are given")));
        }
        for (number, (argument, parameter)) in arguments.iter().zip(&self.parameters).enumerate() {
            if argument.len() != parameter.size {
                return Err(NotLaunched::Arguments(format!(
                    "argument {} has {} bytes, and its parameter {}",
                    number + 1,
                    argument.len(),
                    parameter.size
                )));
            }
        }
        // The driver copies bytes; where they lie does not matter to it.
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| argument.as_ptr().cast_mut().cast()).collect();
        let of = |[x, y, z]: [u32; 3]| (x, y, z);
        // SAFETY: there are as many pointers as parameters, each to as many bytes as the compiler says that its parameter
        // has; the driver reads them during the call and writes to none. What the kernel does, it does on the device.
        let launched = unsafe {
            let stream = result::stream::null();
            result::launch_kernel(self.function, of(grid), of(block), shared_bytes, stream, &mut pointers)
        };
        named("cuLaunchKernel", launched).map_err(NotLaunched::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::shown_uuid;

    #[test]
    fn a_uuid_is_written_as_tools_write_it() {
        let bytes = [0x4f, 0x0a, 0x11, 0, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd];
        assert_eq!(shown_uuid(bytes), "4f0a1100-2233-4455-6677-8899aabbccdd");
    }
}
