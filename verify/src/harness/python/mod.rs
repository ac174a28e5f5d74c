//! Programs for Python: the script as written, then what matters cut out of it, with its lines at their own numbers.

mod arguments;
mod bindings;
mod calls;
mod cut;
mod functions;
mod packages;
mod prediction;
mod sheet;
mod slice;
mod whole;

use crate::scenario::{Candidate, Origin, Program, PythonProgram, Raise, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_findings::model::{FindingEntry, Launch, Method};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{FileKind, Node, named_children};
use packages::imported_packages;
use whole::{beside, lines, whole};

/// The programs for a finding in Python, best first.
pub(super) fn candidates(finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Vec<Candidate> {
    let names = prediction::facts(subject, stretch);
    let fact = names.as_ref().and_then(|names| prediction::at(names, subject.span_of(finding)));
    let by_exception = finding.verification.method == Method::Exception;
    let raises = by_exception.then(|| match fact {
        Some(fact) => with_launches(prediction::raise(finding), fact, subject, stretch),
        None => {
            let raises = with_launches_of_kernel(prediction::raise(finding), finding, subject, stretch);
            with_calls_of_made(raises, finding, subject, stretch)
        }
    });
    let packages = match fact {
        // Python stops before it imports anything.
        Some(prediction::Fact::Chevron(_)) => Vec::new(),
        _ => names.as_ref().map(imported_packages).unwrap_or_default(),
    };
    let written = Ok(Program::Python(as_written(subject, stretch, packages, raises.clone())));
    let mut found = Vec::new();
    let acts = stretch.parsed.root().is_none_or(|root| acts(root, subject));
    if let (true, Some(names), Some(fact)) = (by_exception, names.as_ref(), fact) {
        found.push(written);
        found.push(cut::candidate(finding, subject, stretch, names, fact));
        return found;
    }
    if by_exception {
        // A compiler stops at the first statement that it refuses, and does not always say which it was.
        found.extend(calls::statement(finding, subject, stretch, raises.as_ref()).map(Ok));
    }
    found.extend(acts.then_some(written.clone()));
    found.extend(calls::programs(finding, subject, stretch, raises.as_ref()));
    if found.is_empty() {
        found.push(written);
    }
    found
}

/// Whether a file does anything but define.
fn acts(root: Node<'_>, subject: &Subject) -> bool {
    let functions = functions::Functions::read(root, &subject.text);
    if (0..functions.all.len()).any(|index| functions.is_used_at_module_level(index)) {
        return true;
    }
    named_children(root).any(|statement| {
        match python_kind(statement) {
            PythonKind::ImportStatement
            | PythonKind::ImportFromStatement
            | PythonKind::FunctionDefinition
            | PythonKind::ClassDefinition
            | PythonKind::DecoratedDefinition
            | PythonKind::Comment => false,
            // A name for a number, or a kernel in a string, is a definition too.
            PythonKind::ExpressionStatement => !statement
                .named_child(0)
                .is_some_and(|inner| matches!(python_kind(inner), PythonKind::Assignment | PythonKind::String)),
            _ => true,
        }
    })
}

/// A script that runs all of a stretch; a kernel that nothing launches is launched as said.
pub(super) fn drive_all(subject: &Subject, stretch: &Stretch, launch: Option<&Launch>) -> Candidate {
    calls::all(subject, stretch, launch)
}

/// The user's file where it lies; of a document, the fence as a file.
fn as_written(subject: &Subject, stretch: &Stretch, packages: Vec<String>, raises: Option<Raise>) -> PythonProgram {
    let written = PythonProgram {
        origin: Origin::AsWritten,
        script: subject.file.clone(),
        files: Vec::new(),
        packages,
        reproducer: None,
        raises,
        control: None,
        made_up: Vec::new(),
        beside: None,
        project: None,
    };
    if subject.kind == FileKind::Python {
        return written;
    }
    let script = Utf8PathBuf::from("as_written.py");
    let (first, last) = lines(subject, stretch);
    let comments = [format!("{}.", subject.lines_in_words(first, last)), format!("Run it with: python {script}")];
    let text = whole(subject, stretch).render(&comments);
    PythonProgram {
        files: vec![ScenarioFile { path: script.clone(), text }],
        reproducer: Some(script.clone()),
        script,
        beside: beside(subject),
        ..written
    }
}

/// What cannot be compiled shows at the launches of the kernel around it.
fn with_launches_of_kernel(mut raises: Raise, finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Raise {
    let Some(root) = stretch.parsed.root() else { return raises };
    let functions = functions::Functions::read(root, &subject.text);
    let Some(index) = functions.around(subject.span_of(finding).start as usize) else { return raises };
    let Some(kernel) = functions.all.get(index).filter(|function| function.role != functions::Role::Host) else {
        return raises;
    };
    for launch in cut::launches_of(root, kernel.name, &subject.text) {
        raises.lines.push((subject.line_of(launch.start), subject.line_of(launch.end.max(launch.start + 1) - 1)));
    }
    // The words of a compiler may name any line of the statement.
    if let Some(statement) = slice::statement_at(kernel.node, subject.span_of(finding).start as usize) {
        let last = subject.line_of(statement.end_byte().saturating_sub(1) as u32);
        raises.lines.push((subject.line_of(statement.start_byte() as u32), last));
    }
    // A kernel with a signature is compiled where it is decorated.
    let first = subject.line_of(kernel.outer.start_byte() as u32);
    raises.lines.push((first, subject.line_of(kernel.node.start_byte() as u32)));
    raises
}

/// What is compiled or looked up when it is first needed shows at the calls of what the statement makes.
fn with_calls_of_made(mut raises: Raise, finding: &FindingEntry, subject: &Subject, stretch: &Stretch) -> Raise {
    let Some(root) = stretch.parsed.root() else { return raises };
    let offset = subject.span_of(finding).start as usize;
    let at = root.descendant_for_byte_range(offset, offset);
    let made = std::iter::successors(at, Node::parent)
        .find(|node| python_kind(*node) == PythonKind::Assignment)
        .and_then(|assignment| assignment.child_by_field_name("left"))
        .filter(|left| python_kind(*left) == PythonKind::Identifier);
    let Some(name) = made.and_then(|made| subject.text.get(made.byte_range())) else { return raises };
    for call in cut::calls_of(root, name, &subject.text) {
        raises.lines.push((subject.line_of(call.start), subject.line_of(call.end.max(call.start + 1) - 1)));
    }
    raises
}

/// A keyword that a kernel's decorator does not take shows where the kernel is compiled: at its launches.
fn with_launches(mut raises: Raise, fact: prediction::Fact<'_>, subject: &Subject, stretch: &Stretch) -> Raise {
    let prediction::Fact::Name(unknown) = fact else { return raises };
    let Some(root) = stretch.parsed.root() else { return raises };
    let Some(definition) = cut::decorated_definition(root, unknown.span) else { return raises };
    let Some(name) = cut::defined_name(definition, &subject.text) else { return raises };
    for launch in cut::launches_of(root, name, &subject.text) {
        raises.lines.push((subject.line_of(launch.start), subject.line_of(launch.end.max(launch.start + 1) - 1)));
    }
    raises
}
