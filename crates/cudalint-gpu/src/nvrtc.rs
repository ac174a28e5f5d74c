//! NVRTC, the compiler of kernels at run time. Functions and options: *NVRTC*, sections Compilation and Supported Compile
//! Options.

use crate::signature::{self, Parameter};
use cudarc::nvrtc::result::{self, NvrtcError};
use cudarc::nvrtc::sys;
use std::ffi::{CStr, CString, c_char};

/// Whether the library can be opened.
pub fn present() -> bool {
    // SAFETY: opening a library runs its initializers; NVRTC's are safe to run.
    unsafe { sys::is_culib_present() }
}

/// The library's version. It must be [`present`].
pub fn version() -> Result<(u32, u32), String> {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both pointers are to `int`s that live through the call.
    named("nvrtcVersion", unsafe { sys::nvrtcVersion(&raw mut major, &raw mut minor) }.result())?;
    Ok((major as u32, minor as u32))
}

/// The architectures that it compiles for, smallest first: 90 for `sm_90`. It must be [`present`].
pub fn architectures() -> Result<Vec<u32>, String> {
    let mut count = 0;
    // SAFETY: the pointer is to an `int` that lives through the call.
    named("nvrtcGetNumSupportedArchs", unsafe { sys::nvrtcGetNumSupportedArchs(&raw mut count) }.result())?;
    let mut numbers = vec![0; usize::try_from(count).unwrap_or_default()];
    // SAFETY: the array has as many elements as the library says that it writes.
    named("nvrtcGetSupportedArchs", unsafe { sys::nvrtcGetSupportedArchs(numbers.as_mut_ptr()) }.result())?;
    Ok(numbers.into_iter().map(|number| number as u32).collect())
}

/// A kernel to compile.
#[derive(Clone, Copy, Debug)]
pub struct Source<'source> {
    /// The source's name, for places that no `#line` names.
    pub file: &'source str,
    /// Its text.
    pub text: &'source str,
    /// The C++ expression that names the kernel: `scale<float, 4>`.
    pub kernel: &'source str,
    /// Names of `__constant__` and `__device__` globals that will be set.
    pub globals: &'source [String],
    /// Options beside the architecture.
    pub options: &'source [String],
    /// Headers by the names under which they are included.
    pub headers: &'source [(&'source str, &'source str)],
    /// What to compile for: 90 for `sm_90`.
    pub architecture: u32,
}

/// What the driver loads.
#[derive(Clone, Debug)]
pub(crate) enum Image {
    /// Machine code.
    Binary(Vec<u8>),
    /// PTX: for GPUs that are newer than the compiler.
    Ptx(CString),
}

/// A compiled kernel. What it takes is the compiler's word and cannot be changed: launches rely on it.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub(crate) image: Image,
    pub(crate) kernel: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The globals' names in the image, in the source's order.
    pub globals: Vec<String>,
    /// What the compiler says.
    pub log: String,
    /// The options that it was given.
    pub options: Vec<String>,
}

impl Compiled {
    /// The kernel's name in the image.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// What the kernel takes.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Bytes of the image.
    pub fn size(&self) -> usize {
        match &self.image {
            Image::Binary(bytes) => bytes.len(),
            Image::Ptx(text) => text.as_bytes().len(),
        }
    }
}

/// Why there is no compiled kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The compiler refuses the source: what it says.
    Source(String),
    /// The compiler itself failed, or was called wrongly: in one line.
    Broken(String),
}

/// Gives a status the name of its call.
fn named<T>(call: &str, result: Result<T, NvrtcError>) -> Result<T, String> {
    result.map_err(|error| {
        // SAFETY: the library gives a text that lives as long as itself, for every value.
        let text = unsafe { CStr::from_ptr(sys::nvrtcGetErrorString(error.0)) };
        format!("{call} returns {}", text.to_string_lossy())
    })
}

/// A program of the library, freed with its last use. The texts that it may refer to live as long.
struct Program<'texts> {
    handle: sys::nvrtcProgram,
    _texts: std::marker::PhantomData<&'texts CStr>,
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle came from `nvrtcCreateProgram` and is destroyed once.
        let _ = unsafe { result::destroy_program(self.handle) };
    }
}

impl<'texts> Program<'texts> {
    fn new(text: &'texts CStr, file: &'texts CStr, headers: &'texts [(CString, CString)]) -> Result<Self, String> {
        let names: Vec<*const c_char> = headers.iter().map(|(name, _)| name.as_ptr()).collect();
        let texts: Vec<*const c_char> = headers.iter().map(|(_, text)| text.as_ptr()).collect();
        let mut handle = std::ptr::null_mut();
        // SAFETY: every text ends with a zero byte and outlives the program; both arrays have as many elements as is said.
        let made = unsafe {
            let count = i32::try_from(headers.len()).unwrap_or_default();
            sys::nvrtcCreateProgram(
                &raw mut handle,
                text.as_ptr(),
                file.as_ptr(),
                count,
                texts.as_ptr(),
                names.as_ptr(),
            )
        };
        named("nvrtcCreateProgram", made.result())?;
        Ok(Self { handle, _texts: std::marker::PhantomData })
    }

    fn name(&self, expression: &CStr) -> Result<(), String> {
        // SAFETY: the program lives, and the library copies the expression.
        let added = unsafe { sys::nvrtcAddNameExpression(self.handle, expression.as_ptr()) };
        named("nvrtcAddNameExpression", added.result())
    }

    fn lowered(&self, expression: &CStr) -> Result<String, String> {
        let mut name = std::ptr::null();
        // SAFETY: the program lives and is compiled; the name belongs to it and is copied before it goes.
        unsafe {
            let found = sys::nvrtcGetLoweredName(self.handle, expression.as_ptr(), &raw mut name);
            named("nvrtcGetLoweredName", found.result())?;
            Ok(CStr::from_ptr(name).to_string_lossy().into_owned())
        }
    }

    fn log(&self) -> String {
        // SAFETY: the program lives.
        text(unsafe { result::get_program_log(self.handle) }.unwrap_or_default()).to_string_lossy().into_owned()
    }

    fn ptx(&self) -> Result<CString, String> {
        // SAFETY: as above.
        named("nvrtcGetPTX", unsafe { result::get_ptx(self.handle) }).map(text)
    }

    fn binary(&self) -> Result<Vec<u8>, String> {
        let mut size = 0;
        // SAFETY: the program lives, and the array is as large as the library says that it must be.
        unsafe {
            named("nvrtcGetCUBINSize", sys::nvrtcGetCUBINSize(self.handle, &raw mut size).result())?;
            let mut bytes = vec![0u8; size];
            named("nvrtcGetCUBIN", sys::nvrtcGetCUBIN(self.handle, bytes.as_mut_ptr().cast()).result())?;
            Ok(bytes)
        }
    }
}

/// A C string out of an array that one fills, to its first zero byte.
fn text(array: Vec<c_char>) -> CString {
    let bytes = array.into_iter().map(|byte| byte as u8).take_while(|byte| *byte != 0).collect::<Vec<u8>>();
    CString::new(bytes).unwrap_or_default()
}

/// Compiles a kernel, with the lines of its source. The library must be [`present`].
pub fn compile(source: &Source<'_>) -> Result<Compiled, Refusal> {
    let c_text =
        |text: String| CString::new(text).map_err(|_| Refusal::Source("the source has a zero byte".to_owned()));
    let text = c_text(format!("{}{}", source.text, signature::lines(source.kernel)))?;
    let file = c_text(source.file.to_owned())?;
    let headers = source
        .headers
        .iter()
        .map(|(name, text)| Ok((c_text((*name).to_owned())?, c_text((*text).to_owned())?)))
        .collect::<Result<Vec<_>, _>>()?;
    let kernel = c_text(source.kernel.to_owned())?;
    let globals = source.globals.iter().map(|name| c_text(format!("&{name}"))).collect::<Result<Vec<_>, _>>()?;
    let table = c_text(format!("&{}", signature::TABLE))?;
    let mut options = source.options.to_vec();
    let known = architectures().map_err(Refusal::Broken)?;
    let binary = known.contains(&source.architecture);
    let best = known.iter().copied().filter(|known| *known < source.architecture).max();
    match (binary, best) {
        (true, _) => options.push(format!("-arch=sm_{}", source.architecture)),
        // What the compiler does not know yet, the driver compiles from the PTX of an older architecture.
        (false, Some(best)) => options.push(format!("-arch=compute_{best}")),
        (false, None) => {
            return Err(Refusal::Broken(format!("NVRTC does not compile for sm_{}", source.architecture)));
        }
    }
    if options.iter().any(|option| option.contains('\0')) {
        return Err(Refusal::Source("an option has a zero byte".to_owned()));
    }
    let program = Program::new(&text, &file, &headers).map_err(Refusal::Broken)?;
    for expression in globals.iter().chain([&kernel, &table]) {
        program.name(expression).map_err(Refusal::Broken)?;
    }
    // SAFETY: the program lives.
    let compiled = unsafe { result::compile_program(program.handle, &options) };
    let log = program.log();
    match compiled {
        Ok(()) => {}
        Err(NvrtcError(
            sys::nvrtcResult::NVRTC_ERROR_COMPILATION | sys::nvrtcResult::NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID,
        )) => return Err(Refusal::Source(log)),
        Err(error) => {
            let reason = named("nvrtcCompileProgram", Err::<(), _>(error)).err().unwrap_or_default();
            let first = log.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(Refusal::Broken(format!("{reason}: {first}")));
        }
    }
    let ptx = program.ptx().map_err(Refusal::Broken)?;
    let parameters = signature::read(&ptx.to_string_lossy())
        .ok_or_else(|| Refusal::Broken("the compiled kernel does not say what it takes".to_owned()))?;
    let image = if binary { Image::Binary(program.binary().map_err(Refusal::Broken)?) } else { Image::Ptx(ptx) };
    Ok(Compiled {
        image,
        kernel: program.lowered(&kernel).map_err(Refusal::Broken)?,
        parameters,
        globals: globals.iter().map(|name| program.lowered(name)).collect::<Result<_, _>>().map_err(Refusal::Broken)?,
        log,
        options,
    })
}
