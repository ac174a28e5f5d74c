//! What a text leaves out: names that nothing declares, code that a comment stands for, functions and headers that are
//! elsewhere. The user's own lines stay as they are; what is supplied stands between them under the harness's name.

use super::arguments::Writer;
use super::base::Base;
use super::helpers::Helper;
use super::start::has_main;
use super::{library, page, undeclared};
use crate::scenario::{Origin, ScenarioFile};
use crate::subject::{Signature, Stretch, Subject, Var, calls, variable_uses};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_program::ir::{Expr, Function, FunctionId, FunctionRole, LocalId, Module, Stmt};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::visit::{self, Item};
use cudalint_program::{Project, Scope};
use cudalint_syntax::{FileKind, Include, Span, scan_directives};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Folder of stand-ins for headers, below the scenario's.
const HEADERS: &str = "missing";

/// What is supplied to one stretch.
#[derive(Debug, Default)]
struct Supply {
    helpers: BTreeSet<Helper>,
    /// Lines before the user's text.
    before: Vec<String>,
    /// Lines behind the line with this byte.
    within: BTreeMap<u32, Vec<String>>,
    /// Lines after the user's text.
    after: Vec<String>,
    /// Headers that are nowhere.
    headers: BTreeSet<String>,
}

/// The user's text with all that it leaves out; none where nothing is missing. With `run_main` its own `main` is the
/// program's, else it is out of the way.
pub(super) fn base(subject: &Subject, stretch: &Stretch, run_main: bool) -> Option<Base> {
    let supply = collect(subject, stretch)?;
    let has_main = has_main(subject, stretch);
    let mut text = String::new();
    for line in &supply.before {
        text.push_str(line);
        text.push('\n');
    }
    if has_main && !run_main {
        text.push_str("// The program's own `main` is kept out of the way.\n#define main cudalint_users_main\n");
    }
    text.push_str(&user_text(subject, stretch, &supply.within));
    if has_main && !run_main {
        let _ = writeln!(text, "{}\n#undef main", page::HERE);
    }
    if !supply.after.is_empty() {
        let _ = writeln!(text, "{}", page::HERE);
    }
    for line in &supply.after {
        text.push_str(line);
        text.push('\n');
    }
    let linked = if subject.kind == FileKind::Markdown { Vec::new() } else { subject.linked_with(&subject.file) };
    let mut flags = page::flags(subject, stretch, &linked);
    if subject.kind != FileKind::Markdown
        && let Some(folder) = subject.file.parent()
    {
        flags.push(format!("-I{folder}"));
    }
    if !supply.headers.is_empty() {
        flags.push(format!("-Xcompiler=-idirafter,{HEADERS}"));
    }
    let files = supply.headers.iter().map(|header| ScenarioFile {
        path: Utf8PathBuf::from(format!("{HEADERS}/{header}")),
        text: "// Stands for a header that was not found; what it would declare is missing.\n".to_owned(),
    });
    Some(Base { origin: Origin::Cut, text, flags, files: files.collect(), helpers: supply.helpers })
}

/// The stretch's text with lines put behind some of its lines, each with its own place told to the compiler.
fn user_text(subject: &Subject, stretch: &Stretch, within: &BTreeMap<u32, Vec<String>>) -> String {
    let span = stretch.region.span;
    let name = page::shown(&subject.path);
    let mut text = format!("#line {} \"{name}\"\n", subject.line_of(span.start));
    let mut at = span.start;
    for (offset, lines) in within {
        let line = subject.line_of(*offset);
        let end = (subject.lines.full_range(&subject.text, line as usize - 1).end as u32).min(span.end);
        text.push_str(subject.text.get(at as usize..end as usize).unwrap_or(""));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        let _ = writeln!(text, "{}\n// Stands for what the comment above leaves out.", page::HERE);
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        let _ = writeln!(text, "#line {} \"{name}\"", line + 1);
        at = end;
    }
    text.push_str(subject.text.get(at as usize..span.end as usize).unwrap_or(""));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

fn collect(subject: &Subject, stretch: &Stretch) -> Option<Supply> {
    let (own, module) = (stretch.module?, subject.module(stretch)?);
    let mut supply = Supply::default();
    for id in std::iter::once(own).chain(subject.included(own)) {
        let folder = Utf8Path::new(&**subject.project.path(id)).parent();
        let text = subject.project.source(id);
        let span = if id == own { stretch.region.span } else { Span::new(0, text.len()) };
        supply.headers.extend(missing_headers(subject, folder, &scan_directives(text, span).includes));
    }
    // Headers that were not found may declare what seems undeclared, so that nothing can be told of names.
    undeclared::variables(subject, stretch, &mut supply.helpers, &mut supply.before);
    for line in stand_ins(subject, stretch, module) {
        supply.before.push(line);
    }
    for (index, function) in module.functions.iter().enumerate().filter(|(_, function)| function.body.is_some()) {
        elided(subject, stretch, FunctionId(index as u32), function, &mut supply);
    }
    supply.after = definitions(subject, stretch);
    let empty =
        supply.before.is_empty() && supply.within.is_empty() && supply.after.is_empty() && supply.headers.is_empty();
    (!empty).then_some(supply)
}

/// Headers that a file of this folder includes and that are nowhere.
fn missing_headers(subject: &Subject, folder: Option<&Utf8Path>, includes: &[Include]) -> BTreeSet<String> {
    let plain = |target: &str| !target.starts_with('/') && !target.split('/').any(|part| part == "..");
    let beside = |target: &str| {
        let folders = subject.found_folders.iter().map(Utf8PathBuf::as_path).chain(folder);
        folders.into_iter().any(|folder| folder.join(target).is_file())
            || crate::subject::flag_values(&subject.flags, "-I")
                .iter()
                .any(|folder| Utf8PathBuf::from(folder).join(target).is_file())
    };
    includes
        .iter()
        // What is included under a condition may well be left out on purpose.
        .filter(|include| include.conditions.is_empty())
        .map(|include| include.path.clone())
        .filter(|target| plain(target) && target.contains('.') && !beside(target))
        .filter(|target| !is_toolkit_header(target))
        .collect()
}

/// Whether a header is the toolchain's or a well-known library's. Projects have their own whose names begin with `cu`.
pub(super) fn is_toolkit_header(target: &str) -> bool {
    const OWN: [&str; 14] = [
        "cuda.h",
        "cuda_",
        "cudaGL",
        "cudaEGL",
        "cudaProfiler",
        "cuComplex",
        "cublas",
        "cufft",
        "curand",
        "cusparse",
        "cusolver",
        "cudnn",
        "cupti",
        "cutensor",
    ];
    let is_other = !target.contains('/') && target.starts_with("cu") && !OWN.iter().any(|own| target.starts_with(own));
    !is_other && cudalint_program::includes::is_system_header(target)
}

/// A function that nothing declares, as it is used.
#[derive(Default)]
struct Used {
    /// Something is done with its value.
    value: bool,
    /// Code of the device calls it with so many arguments.
    device: BTreeSet<usize>,
}

/// Functions that are called and that nothing declares, as functions that do nothing. On the host they take anything by
/// `...`, which overload resolution never prefers to a real one; code of the device has no such functions, and is given some
/// whose arguments are converted by a class, which is hardly better.
fn stand_ins(subject: &Subject, stretch: &Stretch, module: &Module) -> Vec<String> {
    let Some(id) = stretch.module else { return Vec::new() };
    let mut names: BTreeMap<String, Used> = BTreeMap::new();
    for function in module.functions.iter().filter(|function| function.body.is_some()) {
        let bare = bare_calls(module, function);
        for call in calls(module, function) {
            let Some(Expr::Call { callee, args }) = module.exprs.get(call).map(|node| &node.kind) else {
                continue;
            };
            let Some(Expr::Name { path, targs }) = module.exprs.get(*callee).map(|node| &node.kind) else {
                continue;
            };
            let [name] = &*path.segments else { continue };
            let plain = targs.is_empty() && !name.is_empty();
            if plain && is_undeclared_function(&subject.project, id, module, function, name.as_str()) {
                let used = names.entry(name.to_string()).or_default();
                used.value |= !bare.contains(&call);
                if function.space.global || function.space.device {
                    used.device.insert(args.len());
                }
            }
        }
    }
    let mut lines = Vec::new();
    if names.values().any(|used| used.value) {
        lines.push("// The value of what is not known: zero of any type.".to_owned());
        lines.push(
            "struct harness_anything { template <typename T> __host__ __device__ operator T() const { return T(); } };"
                .to_owned(),
        );
    }
    if names.values().any(|used| !used.device.is_empty()) {
        lines.push(
            "struct harness_any_argument { template <typename T> __host__ __device__ harness_any_argument(const T &) {} };"
                .to_owned(),
        );
    }
    for (name, used) in names {
        let ty = if used.value { "harness_anything" } else { "int" };
        let on_device = used.device.iter().map(|count| {
            let parameters = vec!["harness_any_argument"; *count].join(", ");
            format!("static inline __host__ __device__ {ty} {name}({parameters})")
        });
        // As a template, since a call without arguments would suit it as well as what a header declares after all.
        let on_host = used.device.is_empty().then(|| format!("template <int = 0> static inline {ty} {name}(...)"));
        for head in on_device.chain(on_host) {
            lines.push(format!("{head} {{ return {{}}; }} // declared nowhere in sight: does nothing"));
        }
    }
    lines
}

/// Calls whose value is dropped.
fn bare_calls(module: &Module, function: &Function) -> BTreeSet<cudalint_program::ir::ExprId> {
    let mut found = BTreeSet::new();
    let Some(body) = &function.body else { return found };
    visit::walk(module, function, body, |item| {
        if let Item::Stmt(id) = item
            && let Some(Stmt::Expr(expr)) = module.stmts.get(id).map(|node| &node.kind)
        {
            found.insert(*expr);
        }
        true
    });
    found
}

fn is_undeclared_function(
    project: &Project,
    id: cudalint_program::ir::ModuleId,
    module: &Module,
    function: &Function,
    name: &str,
) -> bool {
    if library::is_known(name) || project.has_macro(id, name) || !project.functions_named(name).is_empty() {
        return false;
    }
    let path = cudalint_program::ir::Path::single(cudalint_program::Name::from(name));
    let is_value = function.locals.iter().any(|local| local.name == *name)
        || function.parent.is_some()
        || project.global(id, &function.scope, &path).is_some()
        || project.record(id, &function.scope, &path).is_some()
        || project.alias(id, &function.scope, &path).is_some();
    // A method of a base class that is out of sight.
    let in_class = function
        .scope
        .segments
        .iter()
        .any(|segment| module.records.iter().any(|record| record.name == *segment && !record.bases.is_empty()));
    !is_value && !in_class && !module.records.iter().any(|record| record.name == *name)
}

/// Values for locals of a function whose assignment a comment stands for.
fn elided(subject: &Subject, stretch: &Stretch, id: FunctionId, function: &Function, supply: &mut Supply) {
    let (Some(of), Some(module)) = (stretch.module, subject.module(stretch)) else { return };
    let mut comments: Vec<(u32, Vec<String>)> = Vec::new();
    if let Some(body) = &function.body {
        visit::walk(module, function, body, |item| {
            if let Item::Stmt(id) = item
                && let Some(node) = module.stmts.get(id)
                && let Stmt::Elided { names } = &node.kind
            {
                comments.push((node.span.end, names.iter().map(ToString::to_string).collect()));
            }
            true
        });
    }
    if comments.is_empty() {
        return;
    }
    let uses = variable_uses(&subject.project, of, id);
    let scope = Scope::new(&subject.project, of, Some(id), &TypeEnv::default());
    let mut writer = Writer::new(None, subject);
    for (index, local) in function.locals.iter().enumerate().skip(function.param_count as usize) {
        let found = uses.get(&Var::Local(LocalId(index as u32))).cloned().unwrap_or_default();
        if local.init.is_some() || found.assigned || local.name.is_empty() {
            continue;
        }
        let behind = comments.iter().filter(|(at, _)| *at > local.span.end);
        let named = behind.clone().find(|(_, names)| names.iter().any(|name| local.name == *name.as_str()));
        let Some((at, _)) = named.or_else(|| behind.clone().next()) else { continue };
        let resolved = scope.resolve(local.ty);
        let line = match &resolved {
            Ty::Pointer(_) => {
                let spelled = crate::subject::spelled(module, local.ty, 0);
                writer
                    .memory_for(&local.name, &resolved, &spelled, &found)
                    .map(|made| format!("{} = {made};", local.name))
            }
            Ty::Int { bytes, .. } => Some(format!("{} = {};", local.name, writer.number(&local.name, *bytes).value)),
            Ty::Float { .. } => Some(format!("{} = 1.0f;", local.name)),
            _ => None,
        };
        supply.within.entry(*at).or_default().extend(line);
    }
    supply.within.retain(|_, lines| !lines.is_empty());
    supply.helpers.extend(writer.helpers);
}

/// Definitions that do nothing for functions that the text declares and calls and that no file defines.
fn definitions(subject: &Subject, stretch: &Stretch) -> Vec<String> {
    let Some(own) = stretch.module else { return Vec::new() };
    let mut called: BTreeSet<String> = BTreeSet::new();
    for id in std::iter::once(own).chain(subject.included(own)) {
        let module = subject.project.module(id);
        for function in module.functions.iter().filter(|function| function.body.is_some()) {
            for call in calls(module, function) {
                if let Some(Expr::Call { callee, .. }) = module.exprs.get(call).map(|node| &node.kind)
                    && let Some(Expr::Name { path, .. }) = module.exprs.get(*callee).map(|node| &node.kind)
                    && let Some(name) = path.last()
                {
                    called.insert(name.to_string());
                }
            }
        }
    }
    let mut lines = Vec::new();
    for name in called {
        let all = subject.project.functions_named(&name);
        let defined = all.iter().any(|(module, id)| {
            subject.project.function_at(*module, *id).is_some_and(|function| function.body.is_some())
        });
        let Some((module, id)) = all.first().copied().filter(|_| !defined) else { continue };
        if library::is_known(&name) || (subject.kind != FileKind::Markdown && subject.is_defined_beside(&name)) {
            continue;
        }
        let Some(function) = subject.project.function_at(module, id) else { continue };
        let Some(signature) = subject.signature_in(module, id) else { continue };
        lines.extend(definition(function, &signature, subject.project.text(module, function.span)));
    }
    lines
}

/// `int f(int n);` with a body that does nothing.
fn definition(function: &Function, signature: &Signature, declaration: &str) -> Option<String> {
    if function.role != FunctionRole::Free || !function.template_params.is_empty() || function.variadic {
        return None;
    }
    let before = declaration.get(..(function.name_span.start - function.span.start) as usize)?;
    let returns: Vec<&str> = before
        .split_whitespace()
        .filter(|word| !matches!(*word, "extern" | "static" | "inline" | "\"C\"" | "virtual"))
        .collect();
    let returns = returns.join(" ");
    let parameters: Vec<&str> = signature.parameters.iter().map(|parameter| parameter.ty.as_str()).collect();
    if returns.is_empty() || returns.contains('#') || parameters.contains(&"") {
        return None;
    }
    let language = if function.extern_c { "extern \"C\" " } else { "" };
    // `__device__ void` as well.
    let body = if returns.ends_with("void") { "{}" } else { "{ return {}; }" };
    let mut text = format!("{language}{returns} {}({}) {body}", function.name, parameters.join(", "));
    for scope in function.scope.segments.iter().rev().filter(|name| !name.is_empty()) {
        text = format!("namespace {scope} {{ {text} }}");
    }
    Some(format!("{text} // defined nowhere in sight: does nothing"))
}
