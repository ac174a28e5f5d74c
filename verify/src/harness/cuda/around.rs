//! Programs around the user's file: it is included as it is, its `main` out of the way, and a `main` of the harness
//! calls or launches what is to be shown with made-up arguments.

use super::arguments::Writer;
use super::base::Base;
use super::helpers::Helper;
use super::numbers::{Open, Variant};
use super::start::Start;
use super::template::{self, Templates};
use super::{launch, numbers, page};
use crate::scenario::{CudaProgram, Program, ScenarioFile};
use crate::subject::{PointerUses, Signature, Stretch, Subject, Uses, Var, variable_uses};
use camino::Utf8PathBuf;
use cudalint_findings::model::{FindingEntry, Method};
use cudalint_program::ir::{FunctionRole, Space};
use cudalint_program::types::{Ty, TypeEnv};
use cudalint_program::{Entry, Name, Scope};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The file name of a harness.
pub(super) const FILE: &str = "harness.cu";

/// Programs that start these functions in order; further ones with other values where values were made up.
///
/// # Errors
/// Which argument cannot be made, and why.
pub(super) fn programs(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    base: &Base,
    starts: &[Start],
) -> Result<Vec<Program>, String> {
    let of = |variant| program(finding, subject, stretch, base, starts, variant);
    let (first, open) = of(Variant::Usual)?;
    let mut programs = vec![first];
    if open.size && finding.is_some_and(|finding| finding.verification.method == Method::ApiError) {
        programs.push(of(Variant::Large)?.0);
    }
    if open.truth && finding.is_some() {
        programs.push(of(Variant::False)?.0);
    }
    Ok(programs)
}

fn program(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    base: &Base,
    starts: &[Start],
    variant: Variant,
) -> Result<(Program, Open), String> {
    let mut helpers: BTreeSet<Helper> = [Helper::Check].into();
    let mut calls = String::new();
    let mut open = Open::default();
    for start in starts {
        let mut writer = Writer::new(finding, subject);
        let block = start_block(&mut writer, subject, stretch, *start, variant)?;
        open.truth |= block.open.truth;
        open.size |= block.open.size;
        helpers.extend(&writer.helpers);
        let indent = if starts.len() > 1 { "        " } else { "    " };
        if starts.len() > 1 {
            calls.push_str("    {\n");
        }
        let check = "harness_check(cudaDeviceSynchronize(), \"after the call\");".to_owned();
        for line in writer.lines.iter().chain(&block.lines).chain([&check]).chain(&writer.after) {
            let _ = writeln!(calls, "{indent}{line}");
        }
        if starts.len() > 1 {
            calls.push_str("    }\n");
        }
    }
    calls.push_str("    harness_check(cudaDeviceReset(), \"cudaDeviceReset\");\n    return 0;\n");
    Ok((assemble(finding, subject, stretch, base, helpers.into_iter().collect(), &calls), open))
}

/// A harness from its parts: `body` is what its `main` does.
pub(super) fn assemble(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    base: &Base,
    helpers: Vec<Helper>,
    body: &str,
) -> Program {
    let mut text = page::head(finding, subject, stretch, FILE, (base.origin, &base.flags));
    shared(&mut text, helpers.into_iter().chain(base.helpers.iter().copied()).collect());
    text.push_str(&base.text);
    let _ = writeln!(text, "{}", page::HERE);
    let _ = write!(text, "\nint main() {{\n{body}}}\n");
    harness(base, &text)
}

/// Writes the shared functions. They stand before the user's text, whose macros may have any name.
fn shared(text: &mut String, helpers: BTreeSet<Helper>) {
    for helper in helpers {
        text.push_str(helper.text());
        text.push('\n');
    }
}

/// The program of a base whose own `main` runs.
pub(super) fn with_own_main(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    base: &Base,
) -> Program {
    let mut text = page::head(finding, subject, stretch, FILE, (base.origin, &base.flags));
    shared(&mut text, base.helpers.clone());
    text.push_str(&base.text);
    harness(base, &text)
}

fn harness(base: &Base, text: &str) -> Program {
    let unit = Utf8PathBuf::from(FILE);
    let mut files = vec![ScenarioFile { path: unit.clone(), text: page::placed(text, FILE) }];
    files.extend(base.files.iter().cloned());
    Program::Cuda(CudaProgram {
        origin: base.origin,
        unit: unit.clone(),
        files,
        flags: base.flags.clone(),
        arguments: Vec::new(),
        reproducer: Some(unit),
        project: None,
    })
}

/// What a harness does for one start, behind the declarations that its writer has.
struct Block {
    lines: Vec<String>,
    open: Open,
}

/// Declares the arguments of a call or launch and gives it.
fn start_block(
    writer: &mut Writer<'_>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
    variant: Variant,
) -> Result<Block, String> {
    let signature = subject
        .signature(stretch, start.function)
        .ok_or_else(|| format!("{}: the function is out of sight", subject.path))?;
    let templates = template::choose(subject, stretch, start.function, &signature)?;
    writer.lines.extend(templates.lines.iter().cloned());
    let (chosen, open) = numbers::choose(writer.finding, subject, stretch, start, &signature, variant);
    writer.numbers = chosen;
    writer.extents = numbers::extents(writer.finding, subject, stretch, start);
    writer.sizes = numbers::sizes(&signature);
    let uses = stretch.module.map(|id| variable_uses(&subject.project, id, start.function)).unwrap_or_default();
    globals(writer, subject, stretch, &uses);
    let lines = if start.direct {
        let arguments = arguments(writer, &signature, |_| device_only())?;
        launch::lines(writer, subject, stretch, start, &signature, &templates, &arguments)
    } else {
        vec![call(writer, subject, stretch, &signature, &templates, &uses)?]
    };
    Ok(Block { lines, open })
}

fn device_only() -> PointerUses {
    PointerUses::with(Uses { device: true, ..Uses::default() })
}

/// The call of a host function, method or constructor.
fn call(
    writer: &mut Writer<'_>,
    subject: &Subject,
    stretch: &Stretch,
    signature: &Signature,
    templates: &Templates,
    uses: &BTreeMap<Var, PointerUses>,
) -> Result<String, String> {
    let of = |local| uses.get(&Var::Local(local)).cloned().unwrap_or_default();
    let arguments = arguments(writer, signature, of)?.join(", ");
    let targs = &templates.arguments;
    let plain = signature.name.rsplit("::").next().unwrap_or("");
    // A function that hands a failure to its caller has not dropped it.
    let shows = writer.finding.is_some_and(|finding| finding.verification.method == Method::FaultInjection);
    let shown = if shows { format!("harness_returned{{\"{plain}\"}}, ") } else { String::new() };
    if shows {
        writer.need(&[Helper::Returned]);
    }
    Ok(match (&signature.role, &signature.class) {
        (FunctionRole::Constructor, Some(class)) => {
            let class = class_template(writer, subject, stretch, class);
            let object = writer.fresh("object", 0);
            if arguments.is_empty() {
                format!("{class} {object}{{}};")
            } else {
                format!("{class} {object}({arguments});")
            }
        }
        (FunctionRole::Destructor, Some(class)) => {
            // Called by hand it would run twice, and the second time free what is free already.
            let object = object(writer, subject, stretch, class)?;
            format!("// The destructor of `{object}` runs at the end of this block.")
        }
        (FunctionRole::Method, Some(class)) => {
            let object = object(writer, subject, stretch, class)?;
            format!("{shown}{object}.{plain}{targs}({arguments});")
        }
        (FunctionRole::StaticMethod, Some(class)) => {
            let class = class_template(writer, subject, stretch, class);
            format!("{shown}{class}::{plain}{targs}({arguments});")
        }
        _ => format!("{shown}{}{targs}({arguments});", signature.name),
    })
}

/// Declares an object of a class and gives its name.
fn object(writer: &mut Writer<'_>, subject: &Subject, stretch: &Stretch, class: &str) -> Result<String, String> {
    let spelled = class_template(writer, subject, stretch, class);
    let name = writer.fresh("object", 0);
    match record(subject, stretch, class) {
        Some(entry) => writer.construct(&name, &spelled, entry, &TypeEnv::default())?,
        None => writer.lines.push(format!("{spelled} {name}{{}};")),
    }
    Ok(name)
}

/// The record of a class's name.
fn record(subject: &Subject, stretch: &Stretch, class: &str) -> Option<Entry> {
    use cudalint_program::ir::Path;
    let path = Path { segments: class.split("::").map(Name::from).collect() };
    subject.project.record(stretch.module?, &Path::default(), &path)
}

/// A class as it is written in a declaration: with arguments where it is a template.
fn class_template(writer: &mut Writer<'_>, subject: &Subject, stretch: &Stretch, class: &str) -> String {
    let Some(record) = record(subject, stretch, class).and_then(|entry| subject.project.record_at(entry)) else {
        return class.to_owned();
    };
    if record.template_params.is_empty() {
        return class.to_owned();
    }
    let mut names = Vec::new();
    for parameter in record.template_params.iter().take_while(|parameter| !parameter.pack) {
        writer.lines.push(match parameter.value_type {
            None => format!("using {} = {};", parameter.name, template::usual_type(&parameter.name)),
            Some(_) => format!("constexpr int {} = 32;", parameter.name),
        });
        names.push(parameter.name.to_string());
    }
    format!("{class}<{}>", names.join(", "))
}

fn arguments(
    writer: &mut Writer<'_>,
    signature: &Signature,
    uses: impl Fn(cudalint_program::ir::LocalId) -> PointerUses,
) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    for (position, parameter) in signature.parameters.iter().enumerate() {
        if parameter.has_default && signature.parameters.iter().skip(position).all(|later| later.has_default) {
            break;
        }
        arguments.push(writer.argument(parameter, position, &uses(parameter.local))?);
    }
    Ok(arguments)
}

/// Gives variables of the file values that a function reads and that nothing in it sets: the program's own `main`, which
/// would have, is not run.
fn globals(writer: &mut Writer<'_>, subject: &Subject, stretch: &Stretch, uses: &BTreeMap<Var, PointerUses>) {
    let (Some(id), Some(module)) = (stretch.module, subject.module(stretch)) else { return };
    let scope = Scope::new(&subject.project, id, None, &TypeEnv::default());
    for (var, uses) in uses {
        let Var::Global(index) = var else { continue };
        let Some(variable) = module.globals.get(*index as usize) else { continue };
        if variable.init.is_some() || uses.assigned || variable.is_constexpr || variable.name.is_empty() {
            continue;
        }
        let scoped = variable.scope.segments.iter().filter(|name| !name.is_empty()).map(Name::as_str);
        let name: String = scoped.chain([variable.name.as_str()]).collect::<Vec<_>>().join("::");
        let resolved = scope.resolve(variable.ty);
        match (&variable.space, &resolved) {
            (Space::Constant | Space::Device, Ty::Int { bytes: 4.., .. }) if variable.space == Space::Constant => {
                let value = writer.number(&variable.name, 4).value;
                let spelled = crate::subject::spelled(module, variable.ty, 0);
                writer.need(&[Helper::Check]);
                writer.lines.push(format!("const {spelled} {}_value = {value};", variable.name));
                writer.lines.push(format!(
                    "harness_check(cudaMemcpyToSymbol({name}, &{0}_value, sizeof({0}_value)), \"cudaMemcpyToSymbol\");",
                    variable.name
                ));
            }
            (Space::Constant | Space::Device, Ty::Pointer(_)) => {
                let device = device_only();
                let spelled = crate::subject::spelled(module, variable.ty, 0);
                if let Some(made) = writer.memory_for(&name, &resolved, &spelled, &device) {
                    writer.need(&[Helper::Check]);
                    writer.lines.push(format!("const auto {}_memory = {made};", variable.name));
                    writer.lines.push(format!(
                        "harness_check(cudaMemcpyToSymbol({name}, &{0}_memory, sizeof({0}_memory)), \"cudaMemcpyToSymbol\");",
                        variable.name
                    ));
                }
            }
            (Space::Constant, Ty::Array(..) | Ty::Float { .. }) => {
                writer.need(&[Helper::Symbol]);
                writer.lines.push(format!("harness_symbol({name});"));
            }
            (Space::Ordinary | Space::Static, Ty::Pointer(_)) => {
                let spelled = crate::subject::spelled(module, variable.ty, 0);
                if let Some(made) = writer.memory_for(&name, &resolved, &spelled, uses) {
                    writer.lines.push(format!("{name} = {made};"));
                }
            }
            (Space::Ordinary | Space::Static, Ty::Int { bytes: 4.., .. }) => {
                let chosen = writer.number(&variable.name, 4);
                writer.lines.push(format!("{name} = {}; // {}", chosen.value, chosen.why));
            }
            _ => {}
        }
    }
}
