//! Programs around the user's file: it is included as it is, its `main` out of the way, and a `main` of the harness
//! calls what is to be shown with made-up arguments.

use super::arguments::{Helper, Writer};
use super::{Start, page};
use crate::scenario::{CudaProgram, Origin, Program, ScenarioFile};
use crate::subject::{Signature, Stretch, Subject, parameter_uses};
use camino::{Utf8Path, Utf8PathBuf};
use cudalint_findings::model::FindingEntry;
use cudalint_program::ir::FunctionRole;
use cudalint_program::types::Ty;
use cudalint_syntax::FileKind;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The file name of a harness.
pub(super) const FILE: &str = "harness.cu";

/// Programs around `file` (the subject's own, or one that includes it) that call these functions in order; a second one where truth values were made up, with the other value.
///
/// # Errors
/// Which argument cannot be made, and why.
pub(super) fn programs(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    file: &Utf8Path,
    starts: &[Start],
) -> Result<Vec<Program>, String> {
    let (first, other_value) = program(finding, subject, stretch, file, starts, true)?;
    let mut programs = vec![first];
    if other_value && finding.is_some() {
        programs.push(program(finding, subject, stretch, file, starts, false)?.0);
    }
    Ok(programs)
}

fn program(
    finding: Option<&FindingEntry>,
    subject: &Subject,
    stretch: &Stretch,
    file: &Utf8Path,
    starts: &[Start],
    truth: bool,
) -> Result<(Program, bool), String> {
    let own = file == subject.file;
    let has_main = if own { super::has_main(subject, stretch) } else { subject.file_has_main(file) };
    let linked = if subject.kind == FileKind::Markdown { Vec::new() } else { subject.linked_with(file) };
    let flags = page::flags(subject, stretch, &linked);
    let mut helpers: BTreeSet<Helper> = BTreeSet::new();
    let mut calls = String::new();
    let mut used_truth = false;
    for start in starts {
        let mut writer = Writer::new(finding, subject, truth);
        let call = call(&mut writer, subject, stretch, *start)?;
        used_truth |= writer.used_truth;
        helpers.extend(&writer.helpers);
        let indent = if starts.len() > 1 { "        " } else { "    " };
        if starts.len() > 1 {
            calls.push_str("    {\n");
        }
        for line in writer.lines.iter().chain(std::iter::once(&call)) {
            let _ = writeln!(calls, "{indent}{line}");
        }
        let _ = writeln!(calls, "{indent}harness_check(cudaDeviceSynchronize(), \"after the call\");");
        for line in &writer.after {
            let _ = writeln!(calls, "{indent}{line}");
        }
        if starts.len() > 1 {
            calls.push_str("    }\n");
        }
    }
    let mut text = page::head(finding, subject, stretch, FILE, &flags);
    text.push_str(&page::user_text(subject, stretch, file, has_main));
    let _ = write!(text, "#line {} \"{FILE}\"\n\n", text.lines().count() + 2);
    text.push_str(page::CHECK);
    for helper in helpers {
        text.push('\n');
        text.push_str(helper.text());
    }
    text.push_str("\nint main() {\n");
    text.push_str(&calls);
    text.push_str("    harness_check(cudaDeviceReset(), \"cudaDeviceReset\");\n    return 0;\n}\n");
    let unit = Utf8PathBuf::from(FILE);
    let program = Program::Cuda(CudaProgram {
        origin: Origin::Around,
        unit: unit.clone(),
        files: vec![ScenarioFile { path: unit.clone(), text }],
        flags,
        arguments: Vec::new(),
        reproducer: Some(unit),
    });
    Ok((program, used_truth))
}

/// Declares the arguments of a call and gives the call.
fn call(writer: &mut Writer<'_>, subject: &Subject, stretch: &Stretch, start: Start) -> Result<String, String> {
    let signature = subject
        .signature(stretch, start.function)
        .ok_or_else(|| format!("{}: the function is out of sight", subject.path))?;
    let targs = template_arguments(writer, &signature)?;
    let arguments = arguments(writer, subject, stretch, start, &signature)?;
    let arguments = arguments.join(", ");
    Ok(match (&signature.role, &signature.class) {
        (FunctionRole::Constructor, Some(class)) => {
            let object = writer.fresh("object", 0);
            if arguments.is_empty() {
                format!("{class} {object}{{}};")
            } else {
                format!("{class} {object}({arguments});")
            }
        }
        (FunctionRole::Destructor, Some(class)) => {
            let object = writer.fresh("object", 0);
            format!("{{ {class} {object}{{}}; }}")
        }
        (FunctionRole::Method, Some(class)) => {
            let object = writer.fresh("object", 0);
            writer.lines.push(format!("{class} {object}{{}};"));
            let name = signature.name.rsplit("::").next().unwrap_or("");
            format!("{object}.{name}{targs}({arguments});")
        }
        _ => format!("{}{targs}({arguments});", signature.name),
    })
}

/// Names for the template parameters, so that the parameters' types can be written as the source writes them.
fn template_arguments(writer: &mut Writer<'_>, signature: &Signature) -> Result<String, String> {
    let mut names = Vec::new();
    for parameter in &signature.template {
        if parameter.pack {
            return Err(format!("no arguments can be made for the template parameters `{}...`", parameter.name));
        }
        if parameter.has_default && parameter.name.is_empty() {
            break;
        }
        match &parameter.value_type {
            None => writer.lines.push(format!("using {} = float;", parameter.name)),
            Some(ty) if ty == "bool" => writer.lines.push(format!("constexpr bool {} = true;", parameter.name)),
            Some(ty) if ty.is_empty() => {
                return Err(format!("no argument can be made for the template parameter `{}`", parameter.name));
            }
            Some(ty) => writer.lines.push(format!("constexpr {ty} {} = 32;", parameter.name)),
        }
        names.push(parameter.name.clone());
    }
    Ok(if names.is_empty() { String::new() } else { format!("<{}>", names.join(", ")) })
}

fn arguments(
    writer: &mut Writer<'_>,
    subject: &Subject,
    stretch: &Stretch,
    start: Start,
    signature: &Signature,
) -> Result<Vec<String>, String> {
    let uses =
        stretch.module.map(|module| parameter_uses(&subject.project, module, start.function)).unwrap_or_default();
    writer.sizes = signature
        .parameters
        .iter()
        .filter(|parameter| matches!(parameter.resolved.value(), Ty::Int { bytes: 4.., .. }))
        .count();
    let mut arguments = Vec::new();
    for (position, parameter) in signature.parameters.iter().enumerate() {
        if parameter.has_default && signature.parameters.iter().skip(position).all(|later| later.has_default) {
            break;
        }
        let uses = uses.get(&parameter.local).cloned().unwrap_or_default();
        arguments.push(writer.argument(parameter, position, &uses)?);
    }
    Ok(arguments)
}
