//! Something in a Numba kernel that Numba cannot compile for the GPU.

use crate::{parts, python};
use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Label, Shows, Witness};
use cudalint_program::python::compiled::{FaultKind, Unsupported, faults};

/// The rule.
pub static RULE: Rule = rule!("unsupported-in-kernel", Correctness, Exception)
    .summary("A Numba kernel contains something that cannot be compiled for the GPU, or returns a value.")
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    for fault in faults(context.module) {
        let name = context.function_name(fault.function);
        let (message, label, help) = match &fault.kind {
            FaultKind::Shape { .. } => continue,
            FaultKind::Returns => (
                format!("`{name}` is a kernel and returns a value"),
                "TypeError: CUDA kernel must have void return type",
                "write the result into an array that is a parameter, or make it a device function: `device=True`",
            ),
            FaultKind::Unsupported(what) => {
                let (what, label, help) = said(what);
                (format!("`{name}` cannot be compiled for the GPU: {what}"), label, help)
            }
        };
        let assumptions: Vec<String> =
            fault.assumes.iter().map(|assumed| python::compile_assumption(*assumed, &name)).collect();
        let Some(confidence) = parts::confidence_for(&assumptions) else { continue };
        let claim = Shows::exception(&python::REFUSALS, &[]);
        let mut finding = RULE.finding(confidence, context.place(fault.span), claim, message);
        finding.function = name;
        finding.label = label.to_owned();
        finding.help = Some(help.to_owned());
        let mut witness = Witness { assumptions, ..Witness::default() };
        if let FaultKind::Unsupported(Unsupported::PlainFunction { name, definition }) = &fault.kind {
            let label = Label { place: context.place(*definition), message: format!("`{name}` is defined here") };
            finding.related.push(label.clone());
            witness.path.push(label);
        }
        finding.witness = Some(witness);
        sink.report(finding);
    }
}

/// What it is, what is raised, and what to do.
fn said(what: &Unsupported) -> (String, &'static str, &'static str) {
    const TYPING: &str = "TypingError";
    const BYTECODE: &str = "UnsupportedBytecodeError";
    const LOOP: &str = "write a loop, and keep results in `cuda.local.array`";
    const TUPLE: &str = "use a tuple, or `cuda.local.array`";
    const OUTSIDE: &str = "do it outside the kernel";
    const STRINGS: &str = "hand `print` the parts as arguments: `print(\"i =\", i)`";
    match what {
        Unsupported::Try => ("it has `try`".to_owned(), "no exception is caught in a kernel", "check before"),
        Unsupported::With => ("it has `with`".to_owned(), "no context manager works in a kernel", OUTSIDE),
        Unsupported::Import => ("it imports".to_owned(), BYTECODE, "import at the top of the file"),
        Unsupported::Class => ("it defines a class".to_owned(), BYTECODE, OUTSIDE),
        Unsupported::GlobalAssigned(name) => (
            format!("it assigns to the global `{name}`"),
            BYTECODE,
            "globals are constants in a kernel: write into an array that is a parameter",
        ),
        Unsupported::StarredTarget => ("it unpacks into `*…`".to_owned(), BYTECODE, "name each element"),
        Unsupported::ListComprehension => ("a list is put together".to_owned(), TYPING, LOOP),
        Unsupported::SetComprehension => ("a set is put together".to_owned(), TYPING, LOOP),
        Unsupported::DictComprehension => ("a dictionary is put together".to_owned(), TYPING, LOOP),
        Unsupported::GeneratorExpression => {
            ("it has a generator expression".to_owned(), "UnsupportedError", "write a loop")
        }
        Unsupported::Yield => ("it yields".to_owned(), "a kernel cannot be a generator", "write into an array"),
        Unsupported::Dict => ("it has a dictionary".to_owned(), TYPING, "use arrays that are parameters"),
        Unsupported::Set => ("it has a set".to_owned(), "AttributeError", TUPLE),
        Unsupported::EmptyList => ("it has an empty list".to_owned(), TYPING, TUPLE),
        Unsupported::RepeatedList => ("a list is repeated".to_owned(), TYPING, TUPLE),
        Unsupported::Builtin(name) => (format!("`{name}` does not exist there"), TYPING, OUTSIDE),
        Unsupported::Package(path) => {
            let help = match path.split('.').next() {
                Some("numpy" | "random") => "use `numba.cuda.random`, with states that are made before the launch",
                Some("cupy") => "hand the kernel an array, and loop over its elements",
                _ => OUTSIDE,
            };
            (format!("`{path}` does not exist there"), TYPING, help)
        }
        Unsupported::ArrayCreation(path) => (
            format!("`{path}` makes an array"),
            TYPING,
            "use `cuda.local.array` or `cuda.shared.array`, or an array that is a parameter",
        ),
        Unsupported::PlainFunction { name, .. } => {
            (format!("`{name}` is a plain Python function"), TYPING, "decorate it with `@cuda.jit(device=True)`")
        }
        Unsupported::Launch(name) => {
            (format!("it launches the kernel `{name}`"), TYPING, "launch from the host, or make it a device function")
        }
        Unsupported::StringFormatting => ("a string is formatted".to_owned(), TYPING, STRINGS),
        Unsupported::FormattedString => ("a string is formatted".to_owned(), TYPING, STRINGS),
        Unsupported::PrintKeyword(name) => {
            (format!("`print` takes no `{name}` there"), "UnsupportedError", "hand it nothing but what to print")
        }
    }
}
