//! Uses of names that GPU packages do not have.

use super::fields::{Field, field};
use super::resolve::chain;
use super::scope::File;
use super::tables;
use super::value::Kind;
use super::{NameUsage, PointerAsArray, PythonNames, UnknownName};
use crate::api::ApiId;
use crate::api::packages::{Compiler, Making, PythonOp};
use cudalint_syntax::kinds::{PythonKind, python_kind};
use cudalint_syntax::{Node, Span, named_children};
use rustc_hash::FxHashSet;

/// Looks at imports, attributes, keywords and array conversions.
pub(super) fn uses(file: &File<'_>, names: &mut PythonNames) {
    // Attributes that the file adds to a package, or takes away.
    let patched: FxHashSet<String> = file.stored.iter().filter_map(|(node, scope)| file.path(*scope, *node)).collect();
    for (node, scope, namespace, name) in &file.imported {
        if lacks(file, &patched, namespace, name) && !guarded(file, *node) {
            let span = Span::from(*node);
            report(file, *scope, span, namespace, name, NameUsage::Import, None, names);
        }
    }
    for (node, scope) in &file.attributes {
        attribute(file, *scope, *node, &patched, names);
    }
    for (call, scope) in &file.calls {
        let Some(function) = field(*call, Field::Function) else { continue };
        let Some(path) = file.path(*scope, function) else { continue };
        let Some(api) = ApiId::of_python(&path) else { continue };
        let wants_array =
            |op| matches!(op, PythonOp::ArrayOf(Making::Copy | Making::Same | Making::Rows | Making::Columns));
        if api.compiler() == Some(Compiler::Jit) {
            keywords(file, *scope, *call, api.name(), names);
        } else if api.python_ops().any(wants_array) {
            pointer(file, *scope, *call, path, names);
        }
    }
}

/// Whether no version has the name, and nothing in the file says that somebody knows.
fn lacks(file: &File<'_>, patched: &FxHashSet<String>, namespace: &str, name: &str) -> bool {
    !name.starts_with('_')
        && tables::namespace(namespace).is_some_and(|names| !names.contains(name))
        && !file.asked.contains(name)
        && (patched.is_empty() || !patched.contains(&format!("{namespace}.{name}")))
}

fn attribute<'t>(file: &File<'t>, scope: usize, node: Node<'t>, patched: &FxHashSet<String>, names: &mut PythonNames) {
    let Some((root, attributes)) = chain(node) else { return };
    let Some(imported) = file.import_path(scope, file.text_of(root)) else { return };
    let mut path = imported.to_owned();
    for (index, attribute) in attributes.iter().enumerate() {
        let name = file.text_of(*attribute);
        if lacks(file, patched, &path, name) {
            let last = index + 1 == attributes.len();
            let stored = last && file.stored.iter().any(|(stored, _)| *stored == node);
            if !stored && !guarded(file, node) {
                let span = Span::new(root.start_byte(), attribute.end_byte());
                let star = file.stars.iter().find(|star| star.start_byte() < node.start_byte());
                let assumption =
                    star.map(|star| format!("`{}` does not rebind `{}`", file.text_of(*star), file.text_of(root)));
                report(file, scope, span, &path, name, NameUsage::Attribute, assumption, names);
            }
            return;
        }
        path.push('.');
        path.push_str(name);
    }
}

#[allow(clippy::too_many_arguments)]
fn report(
    file: &File<'_>,
    scope: usize,
    span: Span,
    namespace: &str,
    name: &str,
    usage: NameUsage,
    assumption: Option<String>,
    names: &mut PythonNames,
) {
    names.unknown.push(UnknownName {
        span,
        written: file.text.get(span.range()).unwrap_or("").to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        usage,
        assumption,
        function: file.function_name(scope),
    });
}

/// Whether a node is reached only where somebody has looked first: under a condition on versions or on the package, in
/// a `try` that catches what a missing name raises, or in a block that waits for an exception.
fn guarded<'t>(file: &File<'t>, node: Node<'t>) -> bool {
    let mut child = node;
    for current in file.ancestors(node) {
        let header = |until: Option<Node<'t>>| {
            let end = until.map_or(current.end_byte(), |until| until.start_byte());
            file.text.get(current.start_byte()..end).unwrap_or("")
        };
        match python_kind(current) {
            PythonKind::TryStatement if field(current, Field::Body) == Some(child) => {
                let mut cursor = current.walk();
                if current.children(&mut cursor).any(|clause| catches_missing_names(file, clause)) {
                    return true;
                }
            }
            // What is done where a name is missing is for versions that have another.
            PythonKind::ExceptClause if catches_missing_names(file, current) => return true,
            // The alternative of a guard is guarded too.
            PythonKind::IfStatement | PythonKind::ConditionalExpression | PythonKind::WhileStatement => {
                let text = match python_kind(current) {
                    PythonKind::ConditionalExpression => header(None),
                    _ => header(field(current, Field::Consequence)),
                };
                let words = ["version", "VERSION", "hasattr", "getattr", "is_hip", "dir(", "CUDASIM", "_available"];
                if words.iter().any(|word| text.contains(word)) {
                    return true;
                }
            }
            PythonKind::WithStatement if header(field(current, Field::Body)).contains("aises") => return true,
            _ => {}
        }
        child = current;
    }
    false
}

/// Whether a node is a handler of what a missing name raises.
fn catches_missing_names(file: &File<'_>, clause: Node<'_>) -> bool {
    let text = file.text.get(clause.byte_range()).unwrap_or("");
    let head = text.split(':').next().unwrap_or("").trim();
    let raised = ["AttributeError", "ImportError", "ModuleNotFoundError", "Exception"];
    python_kind(clause) == PythonKind::ExceptClause
        && (head == "except" || raised.iter().any(|name| head.contains(name)))
}

/// Keywords of `cuda.jit(…)` that no version takes: they are refused when the kernel is compiled.
fn keywords<'t>(file: &File<'t>, scope: usize, call: Node<'t>, function: &str, names: &mut PythonNames) {
    let Some(known) = tables::namespace(&format!("{function}()")) else { return };
    let Some(arguments) = field(call, Field::Arguments) else { return };
    let device = file.text.get(arguments.byte_range()).is_some_and(|text| text.contains("device"));
    if device || guarded(file, call) {
        return;
    }
    for argument in named_children(arguments) {
        if python_kind(argument) != PythonKind::KeywordArgument {
            continue;
        }
        let Some(name) = field(argument, Field::Name) else { continue };
        let text = file.text.get(name.byte_range()).unwrap_or("");
        if !text.is_empty() && !known.contains(text) {
            report(file, scope, Span::from(argument), function, text, NameUsage::Keyword, None, names);
        }
    }
}

/// `cupy.asarray(pointer)`.
fn pointer<'t>(file: &File<'t>, scope: usize, call: Node<'t>, callee: String, names: &mut PythonNames) {
    let Some(argument) = field(call, Field::Arguments)
        .and_then(|arguments| arguments.named_child(0))
        .filter(|argument| python_kind(*argument) != PythonKind::KeywordArgument)
    else {
        return;
    };
    if let Kind::Pointer(origin) = file.kind_of(scope, argument) {
        names.pointers_as_arrays.push(PointerAsArray {
            callee,
            written: file.text.get(argument.byte_range()).unwrap_or("").to_owned(),
            span: Span::from(call),
            origin: Span::from(origin),
            function: file.function_name(scope),
        });
    }
}
