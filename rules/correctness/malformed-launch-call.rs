//! A launch from Python whose configuration or arguments have the wrong form.

use cudalint_engine::{ModuleContext, Rule, Sink, rule};
use cudalint_findings::{Confidence, Label, Shows, Witness};
use cudalint_program::python::{Dimensions, Framework, LaunchProblem, MalformedLaunch};

/// The rule.
pub static RULE: Rule = rule!("malformed-launch-call", Correctness, Exception)
    .summary("A kernel is launched from Python in a form that its framework refuses.")
    .guidelines(&["CUDA-4.1"])
    .cwe(685)
    .facts(check);

fn check(context: &ModuleContext<'_>, sink: &mut Sink<'_>) {
    let Some(names) = &context.module.python_names else { return };
    for launch in &names.launches {
        let confidence = if launch.assumption.is_some() { Confidence::Likely } else { Confidence::Definite };
        let (message, help) = words(launch, context.text(launch.span));
        let (class, said) = refusal(launch);
        let claim = Shows::exception(&[class], said);
        let mut finding = RULE.finding(confidence, context.place(launch.span), claim, message);
        // Python names a line of the launch.
        finding.claim.sites = vec![context.place(launch.launch.cover(launch.span))];
        finding.label = raises(launch).to_owned();
        finding.help = Some(help);
        finding.function.clone_from(&launch.function);
        finding.related = vec![Label {
            place: context.place(launch.definition),
            message: format!("`{}` is a kernel of {}", launch.kernel, framework(launch.framework)),
        }];
        finding.witness =
            Some(Witness { assumptions: launch.assumption.iter().cloned().collect(), ..Witness::default() });
        sink.report(finding);
    }
}

fn framework(framework: Framework) -> &'static str {
    match framework {
        Framework::Numba => "Numba",
        Framework::CupyRaw => "CuPy",
        Framework::CupyJit => "cupyx.jit",
        Framework::PyCuda => "PyCUDA",
    }
}

fn name(dimensions: Dimensions) -> &'static str {
    match dimensions {
        Dimensions::Grid => "grid",
        Dimensions::Block => "block",
    }
}

/// What Python says when it gets there.
fn raises(launch: &MalformedLaunch) -> &'static str {
    match (&launch.problem, launch.framework) {
        (LaunchProblem::ElementCount(_), Framework::Numba) => {
            "ValueError: must specify at least the griddim and blockdim"
        }
        (LaunchProblem::ElementCount(0 | 1), _) => "ValueError: not enough values to unpack",
        (LaunchProblem::ElementCount(_), _) => "ValueError: too many values to unpack",
        (LaunchProblem::NotATuple, Framework::Numba) => "TypeError: a number has no len()",
        (LaunchProblem::NotATuple, _) => "TypeError: cannot unpack non-iterable object",
        (LaunchProblem::Unconfigured, _) => "ValueError: Kernel launch configuration was not specified",
        (LaunchProblem::FloatDimension(_), Framework::Numba) => "TypeError: must be a sequence of integers",
        (LaunchProblem::FloatDimension(_), _) => "TypeError: a float is no integer",
        (LaunchProblem::TooManyDimensions(..), _) => "ValueError: must be a sequence of 1, 2 or 3 integers",
        (LaunchProblem::DimensionsNotTuple(Dimensions::Block), Framework::PyCuda) => {
            "TypeError: argument after * must be an iterable"
        }
        (LaunchProblem::DimensionsNotTuple(Dimensions::Grid), Framework::PyCuda) => "TypeError: it has no len()",
        (LaunchProblem::DimensionsNotTuple(_), _) => "TypeError: expected tuple",
        (LaunchProblem::ArgumentsNotTuple, _) => "not a tuple of arguments",
        (LaunchProblem::ArgumentCount(_), _) => "TypeError: takes exactly 3 positional arguments",
        (LaunchProblem::NotSubscriptable, _) => "TypeError: object is not subscriptable",
        (LaunchProblem::MissingBlock, _) => "ValueError: must specify block size",
    }
}

/// The class that a framework raises for a malformed launch, and words that it always has.
fn refusal(launch: &MalformedLaunch) -> (&'static str, &'static [&'static str]) {
    match (&launch.problem, launch.framework) {
        (LaunchProblem::ElementCount(_), Framework::Numba) => ("ValueError", &["griddim and blockdim"]),
        (LaunchProblem::ElementCount(_), _) => ("ValueError", &["to unpack"]),
        (LaunchProblem::NotATuple, Framework::Numba) => ("TypeError", &["has no len()"]),
        (LaunchProblem::NotATuple, _) => ("TypeError", &["cannot unpack"]),
        (LaunchProblem::Unconfigured, _) => ("ValueError", &["launch configuration"]),
        (LaunchProblem::FloatDimension(_), Framework::Numba) => ("TypeError", &["must be a sequence of integers"]),
        (LaunchProblem::FloatDimension(_) | LaunchProblem::ArgumentsNotTuple, _) => ("TypeError", &[]),
        (LaunchProblem::TooManyDimensions(..), _) => ("ValueError", &["1, 2 or 3 integers"]),
        // `*block`; the grid is asked for its length.
        (LaunchProblem::DimensionsNotTuple(Dimensions::Block), Framework::PyCuda) => {
            ("TypeError", &["must be an iterable"])
        }
        (LaunchProblem::DimensionsNotTuple(Dimensions::Grid), Framework::PyCuda) => ("TypeError", &["has no len()"]),
        (LaunchProblem::DimensionsNotTuple(_), _) => ("TypeError", &["tuple"]),
        (LaunchProblem::ArgumentCount(_), _) => ("TypeError", &["positional argument"]),
        (LaunchProblem::NotSubscriptable, _) => ("TypeError", &["not subscriptable"]),
        (LaunchProblem::MissingBlock, _) => ("ValueError", &["block"]),
    }
}

/// The message and the help.
fn words(launch: &MalformedLaunch, part: &str) -> (String, String) {
    let kernel = &launch.kernel;
    let subscript = format!("write `{kernel}[grid, block](…)`");
    let called = format!("write `{kernel}((grid,), (block,), (a, b))`: three tuples");
    match &launch.problem {
        LaunchProblem::ElementCount(1) => (
            format!("`{kernel}[…]` has one element: the block size is missing, so the launch raises an exception"),
            subscript,
        ),
        LaunchProblem::ElementCount(count) if launch.framework == Framework::Numba => (
            format!("`{kernel}[…]` has {count} elements: a launch takes two to four"),
            format!("{subscript}, and if needed the stream and the bytes of dynamic shared memory after them"),
        ),
        LaunchProblem::ElementCount(count) => {
            (format!("`{kernel}[…]` has {count} elements: a launch takes the grid and the block, two"), subscript)
        }
        LaunchProblem::NotATuple => {
            (format!("`{kernel}[…]` has a number between its brackets: the block size is missing"), subscript)
        }
        LaunchProblem::Unconfigured => {
            (format!("`{kernel}` is a kernel and is called without a grid and a block"), subscript)
        }
        LaunchProblem::FloatDimension(which) => (
            format!("`{part}` gives the {} of `{kernel}` a float: `/` never gives an integer", name(*which)),
            "divide with `//`, and round up so that the last elements get a thread too: `(n + block - 1) // block`"
                .to_owned(),
        ),
        LaunchProblem::TooManyDimensions(which, count) => {
            (format!("the {} of `{kernel}` has {count} dimensions: three are the most", name(*which)), subscript)
        }
        LaunchProblem::DimensionsNotTuple(which) if launch.framework == Framework::PyCuda => (
            format!("the {} of `{kernel}` is `{part}`, not a tuple", name(*which)),
            "write `block=(x, y, z)`".to_owned(),
        ),
        LaunchProblem::DimensionsNotTuple(which) => {
            (format!("the {} of `{kernel}` is `{part}`, not a tuple", name(*which)), called)
        }
        LaunchProblem::ArgumentsNotTuple => (
            format!(
                "the arguments of `{kernel}` are `{part}`, not a tuple: its elements would be taken for the arguments"
            ),
            format!("write `({},)`", part.trim_start_matches('(').trim_end_matches(')')),
        ),
        LaunchProblem::ArgumentCount(count) => (
            format!(
                "`{kernel}(…)` gets {count} positional arguments: it takes the grid, the block and the tuple of arguments"
            ),
            called,
        ),
        LaunchProblem::NotSubscriptable if launch.framework == Framework::PyCuda => (
            format!("`{kernel}[…]` is Numba's spelling: a PyCUDA function has no subscript"),
            format!("write `{kernel}(…, block=(x, y, z), grid=(x, y))`"),
        ),
        LaunchProblem::NotSubscriptable => {
            (format!("`{kernel}[…]` is Numba's spelling: a CuPy RawKernel has no subscript"), called)
        }
        LaunchProblem::MissingBlock => (
            format!("`{kernel}(…)` is called without `block=`"),
            format!("write `{kernel}(…, block=(x, y, z), grid=(x, y))`"),
        ),
    }
}
