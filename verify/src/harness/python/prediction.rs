//! What a finding claims that Python will raise, and what stands at its place.

use crate::scenario::Raise;
use crate::subject::{Stretch, Subject};
use cudalint_findings::Shows;
use cudalint_findings::model::{FindingEntry, Range};
use cudalint_program::python::{
    ChevronLaunch, LocalPackages, MalformedLaunch, PointerAsArray, PythonNames, UndecoratedKernel, UnknownName,
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

/// The exception that a finding claims, at its own place and the claim's other sites in the file.
pub(super) fn raise(finding: &FindingEntry) -> Raise {
    let (classes, words) = match &finding.claim.shows {
        Shows::Exception { classes, words } => (classes.clone(), words.clone()),
        _ => Default::default(),
    };
    let sites = finding.claim.sites.iter().filter(|site| site.path == finding.path).map(|site| &site.range);
    Raise { classes, words, lines: std::iter::once(&finding.range).chain(sites).map(Range::lines).collect() }
}
