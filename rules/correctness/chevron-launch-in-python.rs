//! A launch in CUDA C++ spelling in a Python file.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Shows, Witness};
use cudalint_program::python::{ChevronLaunch, Framework};

/// The rule.
pub static RULE: Rule = rule!("chevron-launch-in-python", Correctness, Exception)
    .summary("A kernel is launched with `<<<…>>>` in Python, which is a syntax error.")
    .confidence(&[Confidence::Definite])
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let Some(names) = &context.module.python_names else { return };
    for launch in &names.chevrons {
        let kernel = context.text(launch.parts.kernel);
        let message = format!("`{kernel}<<<…>>>(…)` is not Python: nothing in this file runs");
        let claim = Shows::exception(&["SyntaxError"], &[]);
        let mut finding = RULE.finding(Confidence::Definite, context.place(launch.parts.span()), claim, message);
        finding.label = "SyntaxError: invalid syntax".to_owned();
        finding.function.clone_from(&launch.function);
        finding.help = Some(help(context, kernel, launch));
        finding.witness = Some(Witness::default());
        sink.report(finding);
    }
}

/// The launch as the kernel's framework spells it; of one that is not known, each that the file imports.
fn help(context: &ModuleContext<'_>, kernel: &str, launch: &ChevronLaunch) -> String {
    let text = |span: cudalint_syntax::Span| {
        let text = context.text(span);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let configuration = text(launch.parts.configuration);
    let arguments = text(launch.parts.arguments);
    let inner = arguments.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or("…").trim();
    let subscript = format!("`{kernel}[{configuration}]{arguments}`");
    // A tuple of one needs its comma.
    let comma = if inner.contains(',') { "" } else { "," };
    let raw = format!("`{kernel}((grid,), (block,), ({inner}{comma}))`");
    let pycuda = format!("`{kernel}({inner}, block=(x, y, z), grid=(x, y))`");
    match launch.framework {
        Some(Framework::Numba | Framework::CupyJit) => format!("write {subscript}"),
        Some(Framework::CupyRaw) => format!("write {raw}, with the grid and the block as tuples"),
        Some(Framework::PyCuda) => format!("write {pycuda}"),
        None if launch.imported == [Framework::Numba] => {
            format!("write {subscript}, and decorate the kernel with `@cuda.jit`")
        }
        None if launch.imported == [Framework::PyCuda] => format!("write {pycuda}"),
        None if launch.imported.is_empty() => format!("Numba spells it {subscript}, CuPy's RawKernel {raw}"),
        None => format!(
            "write {subscript} for a function under `@cupyx.jit.rawkernel()` or Numba's `@cuda.jit`, and {raw} for a `cupy.RawKernel`"
        ),
    }
}
