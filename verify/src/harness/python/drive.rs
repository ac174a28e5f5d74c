//! All of a script that must be clean: it is run, and functions that it only defines are called with made-up arguments.

use super::cut::Uses;
use super::names::{each_node, reads};
use super::{imported_packages, lines, prediction, whole};
use crate::scenario::{Candidate, Origin, Program, PythonProgram, ScenarioFile};
use crate::subject::{Stretch, Subject};
use camino::Utf8PathBuf;
use cudalint_syntax::Node;
use cudalint_syntax::kinds::{PythonKind, python_kind};
use std::collections::HashMap;

/// The script.
pub(super) fn candidate(subject: &Subject, stretch: &Stretch) -> Candidate {
    let root = stretch.parsed.root().ok_or_else(|| "the code could not be parsed".to_owned())?;
    let packages = prediction::facts(subject, stretch).map(|names| imported_packages(&names)).unwrap_or_default();
    let with_cupy = packages.iter().any(|package| package == "cupy");
    let mut sheet = whole(subject, stretch);
    if with_cupy {
        // CuPy's pool rounds allocations up, which hides accesses beyond their ends.
        let exact = "import cupy; cupy.cuda.set_allocator(None)";
        match sheet.free_before(lines(subject, stretch).0) {
            Some(free) => sheet.place(free, 0, exact),
            None => sheet.prefix_import(exact),
        }
    }
    for call in calls(root, &subject.text, with_cupy) {
        sheet.set(sheet.after(), &call);
    }
    let script = Utf8PathBuf::from("drive.py");
    let (first, last) = lines(subject, stretch);
    let comments = [
        format!(
            "Lines {first} to {last} of {}, at their own line numbers, and calls of what they define.",
            subject.path
        ),
        format!("Run it with: python {script}"),
    ];
    Ok(Program::Python(PythonProgram {
        origin: Origin::Around,
        files: vec![ScenarioFile { path: script.clone(), text: sheet.render(&comments) }],
        packages,
        reproducer: Some(script.clone()),
        script,
        raises: None,
        control: None,
        made_up: Vec::new(),
    }))
}

/// Calls of the plain functions that nothing else calls and whose parameters are plainly numbers or arrays.
fn calls(root: Node<'_>, text: &str, with_cupy: bool) -> Vec<String> {
    let statements: Vec<Node<'_>> =
        (0..root.named_child_count()).filter_map(|index| root.named_child(index as u32)).collect();
    // How many statements read each name.
    let mut readers: HashMap<&str, usize> = HashMap::new();
    for statement in &statements {
        for name in reads(*statement, text) {
            *readers.entry(name).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for function in statements {
        if python_kind(function) != PythonKind::FunctionDefinition {
            continue;
        }
        let part = |field: &str| function.child_by_field_name(field);
        let (Some(name), Some(parameters), Some(body)) = (part("name"), part("parameters"), part("body")) else {
            continue;
        };
        let name = text.get(name.byte_range()).unwrap_or("");
        // Its own definition reads it once.
        let is_used = readers.get(name).copied().unwrap_or(0) > 1;
        if is_used || is_kernel(body, text) {
            continue;
        }
        if let Some(arguments) = arguments(parameters, body, text, with_cupy) {
            found.push(format!("{name}({arguments})"));
        }
    }
    found
}

/// Whether a function asks where its thread is: a kernel that something else must decorate.
fn is_kernel(body: Node<'_>, text: &str) -> bool {
    let mut found = false;
    each_node(body, |node| {
        if python_kind(node) == PythonKind::Attribute
            && let Some(name) = node.child_by_field_name("attribute")
        {
            found |= matches!(text.get(name.byte_range()), Some("grid" | "threadIdx" | "blockIdx" | "gridsize"));
        }
    });
    found
}

/// Values for all parameters without defaults.
fn arguments(parameters: Node<'_>, body: Node<'_>, text: &str, with_cupy: bool) -> Option<String> {
    let array = if with_cupy {
        "cupy.ones(1000, dtype=cupy.float32)"
    } else {
        "__import__(\"numba.cuda\").cuda.to_device(__import__(\"numpy\").ones(1000, dtype=\"float32\"))"
    };
    let mut values = Vec::new();
    for index in 0..parameters.named_child_count() {
        let parameter = parameters.named_child(index as u32)?;
        let name = match python_kind(parameter) {
            PythonKind::Identifier => parameter,
            PythonKind::TypedParameter => parameter.named_child(0)?,
            PythonKind::Comment => continue,
            // The rest have defaults, or are splats, which may be empty.
            _ => break,
        };
        let mut uses = Uses::default();
        uses.read(body, text.get(name.byte_range())?, text);
        match (uses.called, uses.as_array, uses.as_number) {
            (false, true, _) => values.push(array),
            (false, false, true) => values.push("128"),
            _ => return None,
        }
    }
    Some(values.join(", "))
}
