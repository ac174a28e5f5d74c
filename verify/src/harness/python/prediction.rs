//! What a finding says that Python will raise, read from the program text at its place.

use crate::scenario::Raise;
use crate::subject::{Stretch, Subject};
use cudalint_findings::model::FindingEntry;
use cudalint_program::python::{
    ChevronLaunch, Dimensions, Framework, LaunchProblem, LocalPackages, MalformedLaunch, NameUsage, PointerAsArray,
    PythonNames, UndecoratedKernel, UnknownName,
};
use cudalint_syntax::Span;

/// What stands at a finding's place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fact<'f> {
    /// A launch in CUDA C++ spelling.
    Chevron(&'f ChevronLaunch),
    /// A launch that its framework refuses.
    Launch(&'f MalformedLaunch),
    /// A name that its package does not have.
    Name(&'f UnknownName),
    /// A plain function launched like a kernel.
    Undecorated(&'f UndecoratedKernel),
    /// A memory pointer handed to a function that wants an array.
    Pointer(&'f PointerAsArray),
}

/// The facts of a stretch; none where it has no tree.
pub(super) fn facts(subject: &Subject, stretch: &Stretch) -> Option<PythonNames> {
    Some(PythonNames::read(stretch.parsed.root()?, &subject.text, &LocalPackages::default()))
}

/// The fact that stands exactly at a span.
pub(super) fn at(names: &PythonNames, span: Span) -> Option<Fact<'_>> {
    let chevron = names.chevrons.iter().find(|fact| fact.parts.span() == span).map(Fact::Chevron);
    let launch = || names.launches.iter().find(|fact| fact.span == span).map(Fact::Launch);
    let unknown = || names.unknown.iter().find(|fact| fact.span == span).map(Fact::Name);
    let undecorated = || names.undecorated.iter().find(|fact| fact.span == span).map(Fact::Undecorated);
    let pointer = || names.pointers_as_arrays.iter().find(|fact| fact.span == span).map(Fact::Pointer);
    chevron.or_else(launch).or_else(unknown).or_else(undecorated).or_else(pointer)
}

/// What Python raises for a fact.
pub(super) fn raise(fact: Fact<'_>, subject: &Subject) -> Raise {
    let lines = |span: Span| (subject.line_of(span.start), subject.line_of(span.end.max(span.start + 1) - 1));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let classes = words;
    match fact {
        Fact::Chevron(chevron) => {
            Raise { classes: classes(&["SyntaxError"]), words: Vec::new(), lines: vec![lines(chevron.parts.span())] }
        }
        Fact::Launch(launch) => {
            let (class, word) = refusal(launch);
            Raise {
                classes: classes(&[class]),
                words: words(word),
                lines: vec![lines(launch.launch.cover(launch.span))],
            }
        }
        Fact::Name(unknown) => match unknown.usage {
            NameUsage::Attribute => Raise {
                classes: classes(&["AttributeError", "TypingError"]),
                words: vec![format!("'{}'", unknown.name)],
                lines: vec![lines(unknown.span)],
            },
            NameUsage::Import => Raise {
                classes: classes(&["ImportError", "ModuleNotFoundError"]),
                words: vec![format!("{}'", unknown.name)],
                lines: vec![lines(unknown.span)],
            },
            NameUsage::Keyword => Raise {
                classes: classes(&["TypeError"]),
                words: vec![format!("'{}'", unknown.name)],
                lines: vec![lines(unknown.span)],
            },
        },
        Fact::Undecorated(kernel) => Raise {
            classes: classes(&["TypeError"]),
            words: words(&["'function' object is not subscriptable"]),
            lines: vec![lines(kernel.launch)],
        },
        Fact::Pointer(pointer) => Raise {
            classes: classes(&["TypeError", "OverflowError", "ValueError"]),
            words: Vec::new(),
            lines: vec![lines(pointer.span)],
        },
    }
}

/// What a finding without a known fact at its place says in its own words: the exceptions that it names.
pub(super) fn in_words(finding: &FindingEntry) -> Raise {
    let mut classes: Vec<String> = finding
        .message
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.starts_with(char::is_uppercase) && (word.ends_with("Error") || word.ends_with("Exception")))
        .map(str::to_owned)
        .collect();
    classes.dedup();
    let end = if finding.range.end.column == 1 { finding.range.end.line - 1 } else { finding.range.end.line };
    let lines = vec![(finding.range.start.line, end.max(finding.range.start.line))];
    Raise { classes, words: Vec::new(), lines }
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
        (LaunchProblem::FloatDimension(_), _) => ("TypeError", &[]),
        (LaunchProblem::TooManyDimensions(..), _) => ("ValueError", &["1, 2 or 3 integers"]),
        // `*block`; the grid is asked for its length.
        (LaunchProblem::DimensionsNotTuple(Dimensions::Block), Framework::PyCuda) => {
            ("TypeError", &["must be an iterable"])
        }
        (LaunchProblem::DimensionsNotTuple(Dimensions::Grid), Framework::PyCuda) => ("TypeError", &["has no len()"]),
        (LaunchProblem::DimensionsNotTuple(_), _) => ("TypeError", &["tuple"]),
        (LaunchProblem::ArgumentsNotTuple, _) => ("TypeError", &[]),
        (LaunchProblem::ArgumentCount(_), _) => ("TypeError", &["positional argument"]),
        (LaunchProblem::NotSubscriptable, _) => ("TypeError", &["not subscriptable"]),
        (LaunchProblem::MissingBlock, _) => ("ValueError", &["block"]),
    }
}
