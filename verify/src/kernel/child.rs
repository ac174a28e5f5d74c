//! The child: compiles a kernel, gives it memory and arguments, launches it once and says what came of it.

use super::report::{Call, KernelReport, Problem};
use super::{Plan, options};
use crate::scenario::{KernelArgument, KernelProgram};
use cudalint_gpu::driver::{Buffer, Context, Driver, Failure, Kernel, NotLaunched};
use cudalint_gpu::nvrtc::{Compiled, Refusal, Source};
use cudalint_gpu::{Kind, Parameter, nvrtc};
use std::io::Write;
use std::process::ExitCode;

/// Shared memory of a block that every kernel may use: *CUDA C++ Programming Guide*, section Compute Capabilities. More,
/// what the kernel declares included, must be asked for.
const SHARED_BYTES: u64 = 48 << 10;
/// Filled buffers are written in pieces of so many elements, a multiple of the pattern's seven.
const PIECE: usize = 7 << 16;

/// The child's main function. `arguments` are those after the hidden word: the plan's file. Prints a [`KernelReport`] as
/// its last line, and ends with its status.
pub fn kernel_main(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let mut report = KernelReport::default();
    let done = match arguments.next().map(|file| read(&file)) {
        Some(Ok(plan)) => carry_out(&plan, &mut report),
        Some(Err(problem)) => Err(problem),
        None => Err(Problem::Plan("no plan is given".to_owned())),
    };
    report.problem = done.err();
    let mut out = std::io::stdout().lock();
    let written = out.write_all(report.line().as_bytes()).and_then(|()| out.flush());
    // Nobody reads it: that is no success.
    ExitCode::from(if written.is_ok() { report.exit_status() } else { 2 })
}

fn read(file: &str) -> Result<Plan, Problem> {
    let text = std::fs::read_to_string(file).map_err(|error| Problem::Plan(format!("{file}: {error}")))?;
    serde_json::from_str(&text).map_err(|error| Problem::Plan(format!("{file}: {error}")))
}

#[expect(clippy::needless_pass_by_value, reason = "a mapping of errors")]
fn on_machine(failure: Failure) -> Problem {
    Problem::Machine(failure.to_string())
}

fn carry_out(plan: &Plan, report: &mut KernelReport) -> Result<(), Problem> {
    if !nvrtc::present() {
        return Err(Problem::Machine("NVRTC's library cannot be opened".to_owned()));
    }
    let (major, minor) = nvrtc::version().map_err(Problem::Machine)?;
    report.nvrtc = Some(format!("{major}.{minor}"));
    if let Some(architecture) = plan.compile_for {
        return compile(plan, architecture, report).map(drop);
    }
    let driver = Driver::start().ok_or_else(|| Problem::Machine("there is no NVIDIA driver".to_owned()))?;
    let driver = driver.map_err(on_machine)?;
    let device = driver.device(0).map_err(on_machine)?;
    report.device = Some(device.name);
    let compiled = compile(plan, device.architecture, report)?;
    let context = driver.open(0).map_err(on_machine)?;
    let kernel = context.load(&compiled).map_err(on_machine)?;
    set_globals(&plan.program, &compiled, &kernel)?;
    launch(&plan.program, &compiled, &context, &kernel, report)
}

/// Compiles the kernel.
fn compile(plan: &Plan, architecture: u32, report: &mut KernelReport) -> Result<Compiled, Problem> {
    let program = &plan.program;
    let options = options::options(&program.flags, &plan.headers);
    let globals: Vec<String> = program.globals.iter().map(|(name, _)| name.clone()).collect();
    let text = format!("{}#line 1 \"{}\"\n{}", options::BEFORE, plan.file, program.source);
    let source = Source {
        file: &plan.file,
        text: &text,
        kernel: &program.name,
        globals: &globals,
        options: &options.options,
        headers: &options::stand_ins(!plan.headers.is_empty()),
        architecture,
    };
    report.options.clone_from(&options.options);
    report.left_out = options.left_out;
    match nvrtc::compile(&source) {
        Ok(compiled) => {
            report.options.clone_from(&compiled.options);
            report.kernel = Some(compiled.kernel().to_owned());
            report.bytes = compiled.size();
            report.log.clone_from(&compiled.log);
            Ok(compiled)
        }
        Err(Refusal::Source(log)) => {
            let problem = refused(&program.name, &log);
            report.log = log;
            Err(problem)
        }
        Err(Refusal::Broken(reason)) => Err(Problem::Machine(reason)),
    }
}

/// Why the compiler refuses, by its first error: in the source, or in the lines that ask for the kernel by its name.
fn refused(kernel: &str, log: &str) -> Problem {
    let mut errors = log.lines().map(str::trim).filter(|line| line.contains("error"));
    let asked = |line: &&str| line.starts_with("cudalint(") || line.starts_with("__nv_name_map(");
    match errors.next() {
        Some(error) if asked(&error) => match errors.find(|line| !asked(line) && line.contains(": error")) {
            Some(error) => Problem::Source(error.to_owned()),
            None => Problem::Plan(format!("`{kernel}` or a global is not in the source: {error}")),
        },
        Some(error) => Problem::Source(error.to_owned()),
        None => Problem::Source("the compiler names no error".to_owned()),
    }
}

fn set_globals(program: &KernelProgram, compiled: &Compiled, kernel: &Kernel<'_>) -> Result<(), Problem> {
    for ((name, bytes), lowered) in program.globals.iter().zip(&compiled.globals) {
        let size = kernel.set_global(lowered, bytes).map_err(on_machine)?;
        if bytes.len() > size {
            let given = bytes.len();
            return Err(Problem::Plan(format!("`{name}` has {size} bytes, and {given} are given for it")));
        }
    }
    Ok(())
}

/// Makes the arguments, launches and waits. A call that fails from the launch on is what the run is for; one that fails
/// before is a problem.
fn launch(
    program: &KernelProgram,
    compiled: &Compiled,
    context: &Context,
    kernel: &Kernel<'_>,
    report: &mut KernelReport,
) -> Result<(), Problem> {
    let grid = dimensions("grid", program.grid)?;
    let block = dimensions("block", program.block)?;
    let shared_bytes = u32::try_from(program.shared_bytes)
        .map_err(|_| Problem::Plan(format!("{} bytes of shared memory are no launch", program.shared_bytes)))?;
    let mut buffers = Vec::new();
    let mut arguments = Vec::new();
    for (number, argument) in program.arguments.iter().enumerate() {
        // A kernel that takes fewer arguments refuses the launch.
        let parameter = compiled.parameters().get(number).copied();
        let parameter = parameter.unwrap_or(Parameter { size: 0, kind: Kind::Other, bytes: 0 });
        arguments.push(made(argument, parameter, context, &mut buffers)?);
    }
    let declared = kernel.declared_shared_bytes().map_err(on_machine)?;
    if program.shared_opt_in && program.shared_bytes + u64::from(declared) > SHARED_BYTES {
        let allowed = kernel.allow_shared_bytes(shared_bytes);
        let refused = allowed.is_err();
        report.calls.push(call("cuFuncSetAttribute", allowed));
        if refused {
            return Ok(());
        }
    }
    match kernel.launch(grid, block, shared_bytes, &arguments) {
        Ok(()) => report.calls.push(call("cuLaunchKernel", Ok(()))),
        Err(NotLaunched::Arguments(how)) => return Err(Problem::Plan(how)),
        Err(NotLaunched::Failed(failure)) => {
            report.calls.push(call("cuLaunchKernel", Err(failure)));
            return Ok(());
        }
    }
    report.calls.push(call("cuCtxSynchronize", context.synchronize()));
    // After a fault every call fails, and each failure would be one more record of a watcher.
    if report.failure().is_none() {
        for buffer in buffers {
            context.free(buffer).map_err(on_machine)?;
        }
    }
    Ok(())
}

fn dimensions(what: &str, numbers: [u64; 3]) -> Result<[u32; 3], Problem> {
    let mut dimensions = [0; 3];
    for (dimension, number) in dimensions.iter_mut().zip(numbers) {
        *dimension = u32::try_from(number)
            .map_err(|_| Problem::Plan(format!("a {what} with {number} along one axis is no launch")))?;
    }
    Ok(dimensions)
}

fn call(name: &str, result: Result<(), Failure>) -> Call {
    match result {
        Ok(()) => Call { call: name.to_owned(), code: 0, name: "CUDA_SUCCESS".to_owned(), text: "no error".to_owned() },
        Err(failure) => Call { call: name.to_owned(), code: failure.code, name: failure.name, text: failure.text },
    }
}

/// The bytes of an argument, with the memory behind it.
fn made(
    argument: &KernelArgument,
    parameter: Parameter,
    context: &Context,
    buffers: &mut Vec<Buffer>,
) -> Result<Vec<u8>, Problem> {
    let mut buffer = |bytes: u64, filled: bool| {
        let bytes = usize::try_from(bytes).map_err(|_| Problem::Plan(format!("{bytes} bytes are no buffer")))?;
        let buffer = context.allocate(bytes).map_err(on_machine)?;
        if filled {
            fill(context, &buffer, bytes, parameter).map_err(on_machine)?;
        }
        let address = buffer.address();
        buffers.push(buffer);
        Ok(address)
    };
    match argument {
        KernelArgument::Value(bytes) => Ok(bytes.clone()),
        KernelArgument::Buffer { bytes, filled } => Ok(buffer(*bytes, *filled)?.to_ne_bytes().to_vec()),
        KernelArgument::Pointers(sizes) => {
            let mut addresses = Vec::new();
            for size in sizes {
                addresses.extend(buffer(*size, true)?.to_ne_bytes());
            }
            let array = context.allocate(addresses.len()).map_err(on_machine)?;
            context.write(&array, 0, &addresses).map_err(on_machine)?;
            let address = array.address();
            buffers.push(array);
            Ok(address.to_ne_bytes().to_vec())
        }
    }
}

/// Fills a buffer: numbers become 1, 2, … 7, 1, 2, …, as in harnesses; anything else becomes zero bytes.
fn fill(context: &Context, buffer: &Buffer, bytes: usize, parameter: Parameter) -> Result<(), Failure> {
    let pattern = pattern(parameter);
    let mut at = 0;
    while at < bytes {
        let length = pattern.len().min(bytes - at);
        context.write(buffer, at, pattern.get(..length).unwrap_or_default())?;
        at += length;
    }
    Ok(())
}

/// One piece of a filled buffer.
fn pattern(parameter: Parameter) -> Vec<u8> {
    let mut piece = Vec::with_capacity(PIECE * parameter.bytes.max(1));
    for number in (1..=7u8).cycle().take(PIECE) {
        match (parameter.kind, parameter.bytes) {
            (Kind::Floating, 4) => piece.extend(f32::from(number).to_ne_bytes()),
            (Kind::Floating, 8) => piece.extend(f64::from(number).to_ne_bytes()),
            (Kind::Integer, 1) => piece.push(number),
            (Kind::Integer, 2) => piece.extend(u16::from(number).to_ne_bytes()),
            (Kind::Integer, 4) => piece.extend(u32::from(number).to_ne_bytes()),
            (Kind::Integer, 8) => piece.extend(u64::from(number).to_ne_bytes()),
            _ => piece.push(0),
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::{Kind, Parameter, dimensions, pattern};

    #[test]
    fn numbers_are_small_in_their_own_type() {
        let of = |kind, bytes| pattern(Parameter { size: 8, kind, bytes });
        let floats: Vec<f32> = of(Kind::Floating, 4)
            .chunks_exact(4)
            .take(8)
            .filter_map(|bytes| Some(f32::from_ne_bytes(bytes.try_into().ok()?)))
            .collect();
        assert_eq!(floats, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 1.0]);
        assert_eq!(&of(Kind::Integer, 2)[..6], &[1, 0, 2, 0, 3, 0]);
        assert!(of(Kind::Other, 0).iter().all(|byte| *byte == 0));
        // A piece ends where the pattern does.
        assert_eq!(of(Kind::Integer, 1).last(), Some(&7));
    }

    #[test]
    fn what_no_launch_can_have_is_a_problem() {
        assert!(dimensions("grid", [1 << 40, 1, 1]).is_err());
        assert_eq!(dimensions("grid", [4, 2, 1]), Ok([4, 2, 1]));
    }
}
