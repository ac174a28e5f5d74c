//! Variables that a text uses and does not declare: what they must be, by what is done with them.

use super::arguments::Writer;
use super::helpers::Helper;
use crate::subject::{PointerUses, Scan, Stretch, Subject, Var, calls, spelled, variable_uses};
use cudalint_program::api::ApiId;
use cudalint_program::api::effects::{Handle, Library, Returns};
use cudalint_program::ir::{Expr, ExprId, Function, FunctionId, Module, Path};
use cudalint_program::types::Ty;
use cudalint_program::visit::{self, Item};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of one name.
#[derive(Debug, Default)]
struct Known {
    uses: PointerUses,
    /// The type of a parameter that it is passed for, as written, and as the program knows it.
    passed_as: Option<(String, Ty)>,
    /// The element type that stands in a `sizeof` beside it.
    element: Option<String>,
    /// It is followed or indexed, copied from or to, or allocated.
    is_pointer: bool,
    /// A type that a call or the place says.
    ty: Option<&'static str>,
}

/// Declarations for all undeclared variables of a stretch, as variables of the file.
pub(super) fn variables(subject: &Subject, stretch: &Stretch, helpers: &mut BTreeSet<Helper>, lines: &mut Vec<String>) {
    let (Some(id), Some(module)) = (stretch.module, subject.module(stretch)) else { return };
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        let on_host = !function.space.global && (function.space.host || !function.space.device);
        if function.body.is_none() || !on_host {
            continue;
        }
        for (var, uses) in variable_uses(&subject.project, id, FunctionId(index as u32)) {
            if let Var::Undeclared(name) = var
                && !may_be_declared(subject, stretch, subject.slice(function.span), &name)
            {
                known.entry(name.to_string()).or_default().uses.merge(&uses);
            }
        }
        look(subject, stretch, module, function, &mut known);
    }
    let mut writer = Writer::new(None, subject);
    for (name, known) in known {
        lines.push(declaration(&mut writer, &name, &known));
    }
    helpers.extend(writer.helpers);
}

/// Whether a function's head has the name, or a macro gets just it for an argument: either may declare it.
fn may_be_declared(subject: &Subject, stretch: &Stretch, text: &str, name: &str) -> bool {
    let Some(id) = stretch.module else { return false };
    // Parameters are declared, however they are written.
    if super::page::has_word(text.split('{').next().unwrap_or(""), name) {
        return true;
    }
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.match_indices('(').any(|(open, _)| {
        let before = text.get(..open).unwrap_or("");
        let start = before.bytes().rposition(|byte| !is_word(byte)).map_or(0, |at| at + 1);
        let called = before.get(start..).unwrap_or("");
        if called.is_empty() || !subject.project.has_macro(id, called) {
            return false;
        }
        let mut scan = Scan { bytes: text.as_bytes(), at: open };
        scan.matching();
        let end = scan.at.saturating_sub(1);
        let mut inner = Scan { bytes: text.as_bytes().get(..end).unwrap_or(&[]), at: open + 1 };
        let mut from = inner.at;
        let is_name = |from: usize, to: usize| text.get(from..to).is_some_and(|argument| argument.trim() == name);
        while let Some(byte) = inner.skip_blank() {
            if byte == b',' {
                if is_name(from, inner.at) {
                    return true;
                }
                inner.at += 1;
                from = inner.at;
            } else {
                inner.step();
            }
        }
        is_name(from, end)
    })
}

fn declaration(writer: &mut Writer<'_>, name: &str, known: &Known) -> String {
    const WHY: &str = "not declared in the text";
    let passed_pointer = known.passed_as.as_ref().is_some_and(|(_, ty)| ty.is_pointer());
    if let Some(ty) = known.ty.filter(|_| !passed_pointer) {
        return format!("static {ty} {name}{{}}; // {WHY}");
    }
    if passed_pointer || known.is_pointer {
        let (text, ty) = match &known.passed_as {
            Some((text, ty)) if passed_pointer && !text.is_empty() => (text.clone(), ty.clone()),
            _ => {
                let element = known.element.clone().unwrap_or_else(|| "float".to_owned());
                (format!("{element} *"), Ty::pointer_to(Ty::Unknown))
            }
        };
        let element = super::spelling::Spelling::new(&text).element();
        if known.uses.assigned {
            return format!("static {element} *{name} = nullptr; // {WHY}");
        }
        let made = writer.memory_for(name, &ty, &format!("{element} *"), &known.uses);
        return match made {
            Some(made) => format!("static {element} *{name} = {made}; // {WHY}"),
            None => format!("static {element} *{name} = nullptr; // {WHY}"),
        };
    }
    match &known.passed_as {
        Some((text, Ty::Record(..) | Ty::Library(..))) => {
            format!("static {} {name}{{}}; // {WHY}", super::spelling::Spelling::new(text).without_const())
        }
        Some((_, Ty::Float { .. })) => format!("static float {name} = 1.0f; // {WHY}"),
        _ => {
            let value = writer.number(name, 4).value;
            let constant = if known.uses.assigned { "" } else { "const " };
            format!("static {constant}int {name} = {value}; // {WHY}")
        }
    }
}

/// Notes what a function's calls and launches say of undeclared names.
fn look(
    subject: &Subject,
    stretch: &Stretch,
    module: &Module,
    function: &Function,
    known: &mut BTreeMap<String, Known>,
) {
    let Some(own) = stretch.module else { return };
    let name_of = |id: ExprId| name_of(module, id);
    for call in calls(module, function) {
        let (callee, args) = match module.exprs.get(call).map(|node| &node.kind) {
            Some(Expr::Call { callee, args }) => (*callee, args),
            Some(Expr::Launch(launch)) => {
                if let Some(stream) = launch.config.get(3).and_then(|id| name_of(*id)).and_then(|it| known.get_mut(&it))
                {
                    stream.ty = Some("cudaStream_t");
                }
                (launch.kernel, &launch.args)
            }
            _ => continue,
        };
        let Some(Expr::Name { path, .. }) = module.exprs.get(callee).map(|node| &node.kind) else { continue };
        let target = subject.project.function(own, &function.scope, path, args.len());
        let signature = target.and_then(|(module, id)| subject.signature_in(module, id));
        for (index, arg) in args.iter().enumerate() {
            let Some(found) = name_of(*arg).and_then(|name| known.get_mut(&name)) else { continue };
            if let Some(parameter) = signature.as_ref().and_then(|signature| signature.parameters.get(index)) {
                found.passed_as = Some((parameter.ty.clone(), parameter.resolved.clone()));
            } else {
                by_runtime(module, path, args, index, found);
            }
        }
    }
    if let Some(body) = &function.body {
        visit::walk(module, function, body, |item| {
            if let Item::Expr(id) = item {
                by_shape(module, id, known);
            }
            true
        });
    }
}

/// What the place of an argument in a call of the CUDA runtime or the C library says.
fn by_runtime(module: &Module, path: &Path, args: &[ExprId], index: usize, found: &mut Known) {
    let Some(api) = path.last().and_then(|name| ApiId::named(name)) else { return };
    if api.takes_memory(index) {
        found.is_pointer = true;
        found.element = found.element.take().or_else(|| args.iter().find_map(|arg| size_of(module, *arg)));
    }
    let of_runtime = match api.handle_at(index) {
        Some(Handle::Stream) => Some("cudaStream_t"),
        Some(Handle::Event) => Some("cudaEvent_t"),
        _ if api.returns == Returns::Text && index == 0 => Some("cudaError_t"),
        _ => None,
    };
    if let Some(ty) = of_runtime.filter(|_| api.library == Library::Runtime) {
        found.ty = Some(ty);
    }
}

/// What an expression says of a name in it by its shape.
fn by_shape(module: &Module, id: ExprId, known: &mut BTreeMap<String, Known>) {
    let name_of = |id: ExprId| name_of(module, id);
    match module.exprs.get(id).map(|node| &node.kind) {
        Some(Expr::Index { base, .. } | Expr::Deref(base) | Expr::Member { base, arrow: true, .. }) => {
            if let Some(found) = name_of(*base).and_then(|name| known.get_mut(&name)) {
                found.is_pointer = true;
            }
        }
        Some(Expr::Member { base, name, arrow: false }) if matches!(name.as_str(), "x" | "y" | "z") => {
            if let Some(found) = name_of(*base).and_then(|name| known.get_mut(&name)) {
                found.ty = Some("dim3");
            }
        }
        Some(Expr::Assign { target, value, .. }) => {
            let of_runtime = match module.exprs.get(*value).map(|node| &node.kind) {
                Some(Expr::Call { callee, .. }) => match module.exprs.get(*callee).map(|node| &node.kind) {
                    Some(Expr::Name { path, .. }) => {
                        path.last().is_some_and(|name| Library::of_name(name) == Some(Library::Runtime))
                    }
                    _ => false,
                },
                _ => false,
            };
            if let Some(found) = name_of(*target).filter(|_| of_runtime).and_then(|name| known.get_mut(&name)) {
                found.ty = Some("cudaError_t");
            }
        }
        _ => {}
    }
}

/// The name that an expression is, casts, `&` and sums with a number aside.
fn name_of(module: &Module, mut id: ExprId) -> Option<String> {
    for _ in 0..8 {
        match &module.exprs.get(id)?.kind {
            Expr::Name { path, targs } if targs.is_empty() => match &*path.segments {
                [name] => return Some(name.to_string()),
                _ => return None,
            },
            Expr::Cast { value, .. } => id = *value,
            Expr::AddressOf(inner) => id = *inner,
            Expr::Binary(_, a, _) => id = *a,
            _ => return None,
        }
    }
    None
}

/// The type of a `sizeof` in an expression.
fn size_of(module: &Module, id: ExprId) -> Option<String> {
    let mut found = None;
    visit::walk_expr(module, id, |_, expr| {
        if let Expr::SizeOfType(ty) = expr {
            found = found.take().or_else(|| Some(spelled(module, *ty, 0)).filter(|text| !text.is_empty()));
        }
        true
    });
    found
}
