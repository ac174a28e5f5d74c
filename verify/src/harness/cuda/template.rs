//! Template arguments: those of a call in the user's file, else plain ones.

use crate::subject::{Signature, Stretch, Subject, calls};
use cudalint_program::ir::{Expr, FunctionId, ModuleId, TemplateArg};
use cudalint_program::types::{Argument, Ty, TypeEnv};
use cudalint_program::{Name, Project, Scope};

/// Declarations that give template parameters their meaning, and the arguments to write: `<T, N>`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Templates {
    /// Lines of code.
    pub lines: Vec<String>,
    /// The arguments with their brackets; empty for what is no template.
    pub arguments: String,
    /// What each parameter stands for.
    pub values: Vec<(String, Value)>,
}

/// A template argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Value {
    /// As C++ spells it.
    pub text: String,
    /// As the program knows it.
    pub meaning: Argument,
}

/// Template arguments for a function, under the names of its template parameters, so that its parameters' types can be
/// written as the source writes them.
///
/// # Errors
/// Which template parameter nothing can be made for.
pub(super) fn choose(
    subject: &Subject,
    stretch: &Stretch,
    function: FunctionId,
    signature: &Signature,
) -> Result<Templates, String> {
    let mut chosen = Templates::default();
    if signature.template.is_empty() {
        return Ok(chosen);
    }
    let seen = stretch.module.and_then(|module| seen_arguments(subject, module, function)).unwrap_or_default();
    let mut names = Vec::new();
    for parameter in &signature.template {
        let name = &parameter.name;
        if parameter.pack {
            return Err(format!("no arguments can be made for the template parameters `{name}...`"));
        }
        if name.is_empty() {
            // Nothing in the signature can depend on it; it has a default or is a condition.
            break;
        }
        let known = seen.get(name);
        let (value, seen) = match (&parameter.value_type, known) {
            (None, Some(Argument::Type(ty))) if spelled_type(&subject.project, ty).is_some() => {
                let text = spelled_type(&subject.project, ty).unwrap_or_default();
                (Value { text, meaning: Argument::Type(ty.clone()) }, true)
            }
            (None, _) => {
                let text = usual_type(name);
                let ty = if text == "int" { Ty::INT } else { Ty::Float { bytes: 4 } };
                (Value { text: text.to_owned(), meaning: Argument::Type(ty) }, false)
            }
            (Some(_), Some(Argument::Value(value))) if value.known().is_some() => {
                (Value { text: value.to_string(), meaning: Argument::Value(value.clone()) }, true)
            }
            (Some(ty), _) if ty == "bool" => {
                (Value { text: "true".to_owned(), meaning: Argument::Value(1.into()) }, false)
            }
            (Some(ty), _) if ty.is_empty() || ty.contains('*') => {
                return Err(format!("no argument can be made for the template parameter `{name}`"));
            }
            (Some(_), _) => {
                let value = super::values::usual(name, 4, 1).value.clamp(0, 256);
                (Value { text: value.to_string(), meaning: Argument::Value(value.into()) }, false)
            }
        };
        let why = if seen { " // as in a call of the file" } else { "" };
        let line = match &parameter.value_type {
            None => format!("using {name} = {};{why}", value.text),
            Some(ty) => {
                let ty = if ty.is_empty() { "auto" } else { ty };
                format!("constexpr {ty} {name} = {};{why}", value.text)
            }
        };
        chosen.values.push((name.clone(), value));
        chosen.lines.push(line);
        names.push(name.clone());
    }
    if !names.is_empty() {
        chosen.arguments = format!("<{}>", names.join(", "));
    }
    Ok(chosen)
}

/// A type for a template parameter that nothing explains.
pub(super) fn usual_type(name: &str) -> &'static str {
    let words = super::values::words(name);
    let is_index = words.iter().any(|word| matches!(word.as_str(), "int" | "index" | "idx" | "size" | "integer"));
    if is_index { "int" } else { "float" }
}

/// How C++ spells a resolved type.
fn spelled_type(project: &Project, ty: &Ty) -> Option<String> {
    match ty {
        Ty::Record(entry, env) if env.iter().next().is_none() => {
            let record = project.record_at(*entry)?;
            let scope = record.scope.segments.iter().filter(|name| !name.is_empty());
            Some(scope.chain(std::iter::once(&record.name)).map(Name::as_str).collect::<Vec<_>>().join("::"))
        }
        Ty::Pointer(to) => spelled_type(project, to).map(|text| format!("{text} *")),
        Ty::Library(_, arguments) if !arguments.is_empty() => None,
        other => Some(other.name()).filter(|name| !name.is_empty()),
    }
}

/// What template parameters stand for at the first call or launch of the file that says all of them.
fn seen_arguments(subject: &Subject, module: ModuleId, target: FunctionId) -> Option<TypeEnv> {
    let lowered = subject.project.module(module);
    let mut partial = None;
    for (index, function) in lowered.functions.iter().enumerate() {
        let scope = Scope::new(&subject.project, module, Some(FunctionId(index as u32)), &TypeEnv::default());
        for call in calls(lowered, function) {
            let (callee, args) = match lowered.exprs.get(call).map(|node| &node.kind) {
                Some(Expr::Call { callee, args }) => (*callee, args.as_slice()),
                Some(Expr::Launch(launch)) => (launch.kernel, launch.args.as_slice()),
                _ => continue,
            };
            let Some(Expr::Name { path, targs }) = lowered.exprs.get(callee).map(|node| &node.kind) else {
                continue;
            };
            let found = subject.project.function(module, &function.scope, path, args.len());
            if found != Some((module, target)) {
                continue;
            }
            let targs: &[TemplateArg] = targs;
            let env = scope.bind((module, target), targs, args);
            if env.iter().all(|(_, argument)| *argument != Argument::Unknown) {
                return Some(env);
            }
            partial = partial.or(Some(env));
        }
    }
    partial
}
